// The channels whose slots are one role's accumulators in tensor memory, and what is read there.
#ifndef KILN_LIB_SCHEDULE_SUMCHANNELS_H
#define KILN_LIB_SCHEDULE_SUMCHANNELS_H

#include "CarriedSums.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {

/// The life of an accumulator: from what first uses it, as this operand, to the wait for it; and
/// where it is handed to another role, which needs no wait.
struct SumLife {
  mlir::OpOperand *first = nullptr;
  tile::WaitOp wait;
  mlir::Attribute atom;
  tile::CommitOp commit = {};

  mlir::Operation *getBegin() const { return first->getOwner(); }
  mlir::Operation *getEnd() { return wait.getPending().getDefiningOp(); }
};

/// From where to where a slot is in use.
struct SlotSpan {
  mlir::Operation *first, *last;
};

/// The last of the releases, by commits, that follow a dot. Nobody waits for those of a program's
/// last dots, so they come in front of the commit that somebody does wait for: a program must not
/// end before they have arrived.
mlir::Operation *findLastRelease(mlir::Operation *end);

/// One role's. What is in use at different times shares a channel: the thread that starts the dots
/// of the one and the warps that fetch the other come to both in the same order, so that nobody
/// waits longer than in channels apart, and tensor memory is scarce. There is nothing to decide.
class SumChannels {
public:
  SumChannels(tile::WarpGroupsOp groups, mlir::Region &region, tile::RoleAttr role);

  /// One of slots of this type, with a slot for each copy, that is free from the span's begin to
  /// its end, or a new one. Those of sums that go from trip to trip, whose slots are filled in one
  /// trip and got in the next, are apart.
  mlir::Value get(mlir::Location loc, llvm::ArrayRef<mlir::Type> slot, SlotSpan span, int64_t full,
                  int64_t empty, bool isCarried = false);
  /// The place of a slot that is this copy's.
  tile::NextOp makeNext(mlir::Location loc, mlir::Value channel, bool fills = false);
  /// Gives what uses an accumulator first a slot, filled with what it begins as, if that is
  /// something.
  tile::FillOp acquire(mlir::OpOperand &user, mlir::Value channel, mlir::Value slot,
                       mlir::Value phase, mlir::Attribute atom);
  /// Of dots of two programs, those that read what is filled wait until both have; they have it
  /// until the last has ended.
  void awaitMate(tile::FillOp fill, SlotSpan span);
  /// Waits for a slot and fetches what it holds.
  tile::FetchOp fetchAndKeep(mlir::Location loc, mlir::Type type, mlir::Value channel,
                             tile::NextOp place, mlir::Attribute atom);
  /// And gives it back.
  mlir::Value fetch(mlir::Location loc, mlir::Type type, mlir::Value channel, tile::NextOp place,
                    mlir::Attribute atom);
  /// Where an op stands in the text.
  int64_t getNumber(mlir::Operation *op) const { return numbers.lookup(op); }
  /// An op made in place of another stands where that stood.
  void replace(mlir::Operation *op, mlir::Operation *made) { numbers[made] = numbers.lookup(op); }
  /// Each copy begins with the slot of its own number in all of them.
  void stepOverOthers();

  tile::RoleAttr role;
  mlir::IRRewriter rewriter;

private:
  int64_t getLastNumber(mlir::Operation *op);
  void stepOverOthers(mlir::BlockArgument channel);

  tile::WarpGroupsOp groups;
  mlir::Region &region;
  llvm::DenseMap<mlir::Operation *, int64_t> numbers; ///< in the order of the text
  /// Each with the numbers between which it is in use; of sums that go from trip to trip apart.
  llvm::SmallVector<std::pair<mlir::BlockArgument, llvm::SmallVector<std::pair<int64_t, int64_t>>>>
      channels[2];
};

/// What a loop begins with is written to a slot in front of it. Each trip fetches its sum where it
/// changes it, and what is behind the loop fetches the last.
void realiseCarriedSum(SumLife &life, const CarriedSum &found, SumChannels &channels);

/// What dots read as operand a, and warps have computed: it is written to tensor memory in front of
/// them, over a sum of the trip that has been fetched by then, or else to a slot of its own.
class TensorOperands {
public:
  /// The sums that no loop carries are those that operands may be written over.
  TensorOperands(mlir::Region &region, llvm::ArrayRef<SumLife *> sums, SumChannels &channels);

  /// The dots whose operand is written over a sum, as they follow one another; none if there are
  /// none.
  llvm::ArrayRef<tile::StartDotOp> getReaders(tile::WaitOp sum) const;
  /// Writes it there in front of them. The slot goes back by commit behind the last.
  void fillOver(llvm::ArrayRef<tile::StartDotOp> dots, tile::FetchOp sum, mlir::Value channel,
                mlir::Value slot);
  /// Gives the others slots.
  void fillSlots();

private:
  llvm::ArrayRef<tile::StartDotOp> findReaders(SumLife &sum, llvm::ArrayRef<SumLife *> others);
  void cover(llvm::ArrayRef<SumLife *> alike);
  mlir::Value turnRows(tile::StartDotOp dot);
  void fill(llvm::ArrayRef<tile::StartDotOp> dots, mlir::Value tensor, mlir::Value empty);
  void fillSlot(llvm::ArrayRef<tile::StartDotOp> dots);

  SumChannels &channels;
  mlir::IRRewriter &rewriter;
  using Dots = llvm::SmallVector<tile::StartDotOp>;
  /// By their block, the tensor, and which way they read it.
  llvm::MapVector<std::pair<std::pair<mlir::Block *, mlir::Value>, unsigned>, Dots> operands;
  llvm::DenseMap<mlir::Operation *, Dots> covers; ///< by the wait for the sum
};

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_SUMCHANNELS_H
