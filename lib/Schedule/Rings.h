// What a loop's decisions say about its rings, checked before anything changes.
#ifndef KILN_LIB_SCHEDULE_RINGS_H
#define KILN_LIB_SCHEDULE_RINGS_H

#include "Decisions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

/// Loads of one role and stage, which become one channel.
struct Ring {
  llvm::SmallVector<tile::LoadOp> loads;
  tile::RoleAttr producer, consumer;
  int64_t stage = 0, readStage = 0;
  /// Whether the atoms count the bytes that they bring, so that one thread makes all copies.
  bool countsBytes = false;
  /// Whether a dot that is in flight from trip to trip reads it.
  bool isHeld = false;
  tile::ChannelOp channel;
  /// The slot and phase of a trip.
  mlir::Value slot, phase;
  /// The last op so far of a trip that reads the slot's buffers and is done when it ends.
  mlir::Operation *lastRead = nullptr;
};

struct RingPlan {
  int64_t depth = 0;
  llvm::SmallVector<Ring> rings;
  /// The dot whose accumulator stays in flight from trip to trip, which of the loop's values that
  /// is, and how many may be.
  tile::DotOp carried;
  unsigned carriedIndex = 0;
  int64_t inFlight = 0;
  /// Dots in flight that the trip itself waits for.
  llvm::SmallVector<tile::DotOp> immediate;

  /// Whether the role that reads is the one that fills.
  bool isOwn() const { return rings.front().producer == rings.front().consumer; }
  bool isInFlight(mlir::Operation *op) const {
    return op == static_cast<mlir::Operation *>(carried) ||
           llvm::any_of(immediate, [&](mlir::Operation *dot) { return dot == op; });
  }
};

/// The role of this name among the kernel's, or an error at the op that names it.
mlir::FailureOr<tile::RoleAttr> findRole(mlir::Operation *op, llvm::StringRef name);
/// Reads the decisions of a loop with `tile.depth`; errors name what is missing or contradictory.
mlir::FailureOr<RingPlan> planRings(mlir::scf::ForOp loop);

/// Realises a loop whose rings are filled by the role that reads them. Their channels exist.
llvm::LogicalResult realiseOwnRings(mlir::scf::ForOp loop, RingPlan &plan);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_RINGS_H
