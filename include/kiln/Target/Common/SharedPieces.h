// What a kernel has in shared memory, in bytes.
#ifndef KILN_TARGET_COMMON_SHAREDPIECES_H
#define KILN_TARGET_COMMON_SHAREDPIECES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Schedule/Problem/SharedMemory.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/ADT/DenseMap.h"

namespace kiln {

/// Pieces of shared memory, and the op that has each of them.
struct SharedPieces {
  llvm::SmallVector<schedule::SharedPiece> pieces;
  llvm::SmallVector<mlir::Operation *> ops;
  /// Of what roles have: the op in front of which nobody uses it, and behind whose block's last op
  /// that does nobody has use for what is in it. Null if it is in use as long as roles run.
  llvm::SmallVector<mlir::Operation *> starts;

  schedule::SharedPiece &add(mlir::Operation *op, std::string name, int64_t bytes) {
    ops.push_back(op);
    starts.push_back(nullptr);
    return pieces.emplace_back(schedule::SharedPiece{std::move(name), bytes});
  }
  /// Says of each at its line how many bytes it takes.
  void list(mlir::InFlightDiagnostic &error) const;
};

/// The ops of a kernel, numbered in the order of the program.
class ProgramPoints {
public:
  explicit ProgramPoints(tile::KernelOp kernel);
  /// Where an op begins and where it ends.
  std::pair<int64_t, int64_t> of(mlir::Operation *op) const { return points.lookup(op); }
  /// The first and the last op that contain these, of the body of the loop through a persistent
  /// kernel's programs or of all that runs: what is in memory for them is written anew there, since
  /// nothing in front of the first has written any.
  static std::pair<mlir::Operation *, mlir::Operation *>
  findLife(llvm::ArrayRef<mlir::Operation *> users);
  /// Makes the last piece one of a role alone, in use from the first to the last of these.
  void setLife(SharedPieces &found, unsigned part, llvm::ArrayRef<mlir::Operation *> users) const;
  /// The same of scratch, with so many bytes for each of several copies.
  void setScratch(SharedPieces &found, unsigned part, tile::RoleAttr role, bool canMeet,
                  int64_t bytes) const;

private:
  llvm::DenseMap<mlir::Operation *, std::pair<int64_t, int64_t>> points;
};

/// Whether all warps of a role can meet between two uses of a place: copies that run programs of
/// their own, or lag behind one another, never do.
bool canMeetBetween(tile::KernelOp kernel, tile::RoleAttr role);

/// What buffers in shared memory are aligned to where engines read them.
inline constexpr int64_t kEngineAlignment = 1024;

/// The bytes of a channel, with all its slots and their barriers.
int64_t getChannelBytes(tile::ChannelType type);
/// The bytes that an op needs to move elements through shared memory; zero if it needs none.
int64_t getScratchBytes(mlir::Operation *op);
/// Whether such an op is done once for all copies of a role, which then share its scratch: of the
/// role whose region it stands in, or of one that shall run it.
bool isOfAllCopies(mlir::Operation *op);
bool isOfAllCopies(mlir::Operation *op, tile::RoleAttr role);
/// The bytes that a role has of which each copy has so many for itself.
int64_t getBytesOfCopies(int64_t bytes, tile::RoleAttr role);

/// What errors call a buffer, of each of the role's copies if there is one, and the ring that a
/// channel is.
std::string nameBuffer(tile::BufferType type, tile::RoleAttr role = {});
std::string nameRing(tile::ChannelType type);

/// The channels, buffers and scratch of a kernel whose schedule is realised.
SharedPieces findSharedPieces(tile::KernelOp kernel);

/// What a kernel has whose shared memory is planned, and which of it lies on which, by numbers.
/// Scratch that lies on scratch is ordered by the ops themselves.
struct PlacedPieces {
  SharedPieces found;
  llvm::SmallVector<std::pair<unsigned, unsigned>> overlaps;
};
/// Nothing of a kernel of which nothing has a place.
PlacedPieces findPlacedPieces(tile::KernelOp kernel);

} // namespace kiln

#endif // KILN_TARGET_COMMON_SHAREDPIECES_H
