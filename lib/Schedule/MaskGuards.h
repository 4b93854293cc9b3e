// Masks that only some trips of a loop need.
//
// A mask compares integers that are affine in the loop's variable with coefficient -1, 0 or 1.
// Their ranges over all elements give the trips in which every element passes: from `first` to
// `last`. Conditions mask in the trips in front and behind, so that the loop can be cut at both.
#ifndef KILN_LIB_SCHEDULE_MASKGUARDS_H
#define KILN_LIB_SCHEDULE_MASKGUARDS_H

#include "Decisions.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {

/// The range of an integer tensor's elements, or of a number: the loop's variable times `growth`
/// (-1, 0 or 1) plus `least` to `most`, which do not change in the loop and have the index type.
struct Interval {
  int growth;
  mlir::Value least, most;
  /// Whether arithmetic of 32 bits may have wrapped, so that only the lowest 32 bits are these.
  bool mayWrap = false;
};

/// One comparison that a mask is made of: each element of `x` is less than that of `y`, or, if not
/// `isStrict`, no greater.
struct Comparison {
  Interval x, y;
  bool isStrict, isNarrow;
};

/// The trips that need no mask; a null value stands for no limit. The select keeps its false value
/// in them if the mask is negated.
struct WholeTrips {
  mlir::Value first, last;
  bool isNegated = false;
};

/// Looks through the masks of one loop. What bounds trips is computed where `builder` stands, in
/// front of the loop.
class MaskFinder {
public:
  MaskFinder(mlir::scf::ForOp loop, mlir::OpBuilder builder)
      : loop(loop), builder(builder), math{this->builder, loop.getLoc()} {}
  /// The trips in which a select keeps one of its values whole; nothing if none are known.
  std::optional<WholeTrips> find(mlir::arith::SelectOp select);

private:
  std::optional<Interval> findInterval(mlir::Value value);
  std::optional<Interval> findSum(mlir::Operation *op, bool isDifference);
  bool findComparisons(mlir::Value mask, bool isNegated, llvm::SmallVectorImpl<Comparison> &found);
  bool changes(mlir::Value value);
  WholeTrips findWhole(llvm::ArrayRef<Comparison> comparisons);
  void collectFits(const Interval &interval, llvm::SmallVectorImpl<mlir::Value> &fits);

  mlir::Value isNoLess(mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpIOp::create(builder, loop.getLoc(), mlir::arith::CmpIPredicate::sge, x,
                                       y);
  }
  mlir::Value choose(mlir::Value condition, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(builder, loop.getLoc(), condition, x, y);
  }

  mlir::scf::ForOp loop;
  mlir::OpBuilder builder;
  IndexMath math;
  int64_t terms = 0;
  /// Numbers of 64 bits that intervals are made of.
  llvm::SetVector<mlir::Value> leaves;
};

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_MASKGUARDS_H
