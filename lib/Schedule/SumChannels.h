// The channels whose slots are one role's accumulators in tensor memory, and what is read there.
#ifndef KILN_LIB_SCHEDULE_SUMCHANNELS_H
#define KILN_LIB_SCHEDULE_SUMCHANNELS_H

#include "TensorUses.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {

/// The last of the releases, by commits, that follow a dot. Nobody waits for those of a program's
/// last dots, so they come in front of the commit that somebody does wait for: a program must not
/// end before they have arrived.
mlir::Operation *findLastRelease(mlir::Operation *end);

/// What an op commits to a slot of a channel, or gets from one, if that is a sum; or null.
mlir::Value getHandedSum(mlir::Operation *op);
/// Makes of each slot of a channel whose roles' copies have shared the sums out one slot a copy.
void shareOutSlots(tile::WarpGroupsOp groups);

/// One role's.
class SumChannels {
public:
  SumChannels(tile::WarpGroupsOp groups, mlir::Region &region, tile::RoleAttr role);

  /// One with as many slots for each copy as the kind says.
  mlir::Value make(mlir::Location loc, SlotKind slot);
  /// The place of a slot that is this copy's.
  tile::NextOp makeNext(mlir::Location loc, mlir::Value channel, bool fills = false);
  /// Gives what uses an accumulator first a slot, filled with what it begins as, if that is
  /// something.
  tile::FillOp acquire(mlir::OpOperand &user, mlir::Value channel, mlir::Value slot,
                       mlir::Value phase, mlir::Attribute atom);
  /// Of dots of two programs, those that read what is filled wait until both have; they have it
  /// until the last has ended. The channel is that of the slot that is filled.
  void awaitMate(tile::FillOp fill, mlir::Value channel, mlir::Operation *last);
  /// Waits for a slot and fetches what it holds.
  tile::FetchOp fetchAndKeep(mlir::Location loc, mlir::Type type, mlir::Value channel,
                             tile::NextOp place, mlir::Attribute atom);
  /// And gives it back.
  mlir::Value fetch(mlir::Location loc, mlir::Type type, mlir::Value channel, tile::NextOp place,
                    mlir::Attribute atom);
  /// Each copy begins with the slot of its own number in all of them. So it does in those whose
  /// sums it hands over, or fetches from another role; there it steps from its uses over the
  /// others' now.
  void stepOverOthers();

  tile::RoleAttr role;
  mlir::IRRewriter rewriter;

private:
  mlir::BlockArgument add(mlir::Location loc, tile::ChannelType type, int64_t full, int64_t empty);
  void stepOverOthers(tile::NextOp next);
  void stepToOwn(mlir::BlockArgument channel);

  tile::WarpGroupsOp groups;
  mlir::Region &region;
  llvm::SmallVector<mlir::BlockArgument> channels;
  /// By which both programs say that a slot of a channel is filled.
  llvm::DenseMap<mlir::Value, mlir::BlockArgument> mates;
};

/// What a loop begins with is written to a slot in front of it. Each trip fetches its sum where it
/// changes it, and what is behind the loop fetches the last.
void realiseCarriedSum(const TensorUse &use, mlir::Value channel, SumChannels &channels);

/// Writes an operand over a sum that has been fetched, in front of the dots that read it. The slot
/// goes back by commit behind the last.
void fillOver(const TensorUse &operand, tile::FetchOp sum, mlir::Value channel, mlir::Value slot,
              SumChannels &channels);
/// Writes it to a slot of its own.
void fillSlot(const TensorUse &operand, mlir::Value channel, SumChannels &channels);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_SUMCHANNELS_H
