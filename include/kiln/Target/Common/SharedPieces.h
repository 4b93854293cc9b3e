// What a kernel has in shared memory, in bytes.
#ifndef KILN_TARGET_COMMON_SHAREDPIECES_H
#define KILN_TARGET_COMMON_SHAREDPIECES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Schedule/Problem/SharedMemory.h"
#include "kiln/Target/TargetInterface.h"

namespace kiln {

/// Pieces of shared memory, and the op that has each of them.
struct SharedPieces {
  llvm::SmallVector<schedule::SharedPiece> pieces;
  llvm::SmallVector<mlir::Operation *> ops;

  schedule::SharedPiece &add(mlir::Operation *op, std::string name, int64_t bytes) {
    ops.push_back(op);
    return pieces.emplace_back(schedule::SharedPiece{std::move(name), bytes});
  }
  /// Says of each at its line how many bytes it takes.
  void list(mlir::InFlightDiagnostic &error) const;
};

/// What buffers in shared memory are aligned to where engines read them.
inline constexpr int64_t kEngineAlignment = 1024;

/// The bytes of a channel, with all its slots and their barriers.
int64_t getChannelBytes(tile::ChannelType type);
/// The bytes that an op needs to move elements through shared memory; zero if it needs none.
int64_t getScratchBytes(mlir::Operation *op);
/// Whether such an op is done once for all copies of a role, which then share its scratch.
bool isOfAllCopies(mlir::Operation *op);
/// The bytes that a role has of which each copy has so many for itself.
int64_t getBytesOfCopies(int64_t bytes, tile::RoleAttr role);

/// What errors call a buffer, of each of the role's copies if there is one, and the ring that a
/// channel is.
std::string nameBuffer(tile::BufferType type, tile::RoleAttr role = {});
std::string nameRing(tile::ChannelType type);

/// The channels, buffers and scratch of a kernel whose schedule is realised.
SharedPieces findSharedPieces(tile::KernelOp kernel);

} // namespace kiln

#endif // KILN_TARGET_COMMON_SHAREDPIECES_H
