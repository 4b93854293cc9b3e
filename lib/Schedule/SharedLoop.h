// Loops whose sums several programs make: what such a loop may be, and the memory in which programs
// leave what they have summed.
#ifndef KILN_LIB_SCHEDULE_SHAREDLOOP_H
#define KILN_LIB_SCHEDULE_SHAREDLOOP_H

#include "Decisions.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"

namespace kiln {

struct SharedLoop {
  mlir::scf::ForOp loop;
  /// The one that makes the sums; empty if nobody says.
  llvm::StringRef role;
};
/// The loop of a kernel whose trips programs share, each its number of them, or, if `isStream`, as
/// `"stream"` says; null if there is none. It stands in the body of a kernel with a grid and
/// carries nothing but sums, and neither a trip nor what stands in front of the loop has effects
/// that others see: an error at what is otherwise, and at a second loop.
mlir::FailureOr<SharedLoop> findSharedLoop(tile::KernelOp kernel, bool isStream);

/// How many trips a loop has.
mlir::Value countTrips(mlir::OpBuilder &builder, mlir::scf::ForOp loop);
/// Leaves a loop the trips from one number up to another of so many.
void narrowLoop(mlir::scf::ForOp loop, mlir::Value from, mlir::Value to, mlir::Value trips);

/// What programs leave of a loop's sums in memory that the launch gives, and how they count
/// themselves in there. The last to come adds up the pieces in an order that is the same for each
/// launch; or takes the one that all have added to as they came, which held zeros before.
class SharedSums {
public:
  SharedSums(tile::KernelOp kernel, mlir::scf::ForOp loop, llvm::StringRef role)
      : isAtomic(loop->hasAttr(tile::kShareAtomicAttrName)), kernel(kernel), loop(loop), role(role),
        loc(loop.getLoc()) {}

  /// Asks the launch for so many pieces and a counter for each program; there are so many of
  /// either in all.
  void allocate(mlir::OpBuilder &builder, int64_t perProgram, mlir::Value pieces,
                mlir::Value counters);
  /// Leaves what the loop has summed as a piece, or adds it to the piece.
  void leave(mlir::OpBuilder &builder, mlir::Value piece);
  /// Counts one more program, behind what it has left, and says whether so many came before it.
  mlir::Value countIn(mlir::OpBuilder &builder, mlir::Value counter, mlir::Value before);
  void reset(mlir::OpBuilder &builder, mlir::Value counter);
  /// What each sum begins with.
  mlir::SmallVector<mlir::Value> makeZeros(mlir::OpBuilder &builder);
  /// Adds the pieces of the programs from one up to another to what there is of each sum.
  using GetPiece = llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::Value program)>;
  mlir::SmallVector<mlir::Value> addUp(mlir::OpBuilder &builder, mlir::ValueRange sums,
                                       mlir::Value from, mlir::Value to, GetPiece getPiece);
  /// Takes the one piece, and leaves zeros.
  mlir::SmallVector<mlir::Value> take(mlir::OpBuilder &builder, mlir::Value piece);

  const bool isAtomic;

private:
  mlir::Value makeView(mlir::OpBuilder &builder, mlir::RankedTensorType type, int64_t perProgram,
                       mlir::Value pieces);
  mlir::SmallVector<mlir::Value> getOffsets(IndexMath math, mlir::RankedTensorType type,
                                            mlir::Value piece);
  mlir::Value load(mlir::OpBuilder &builder, mlir::RankedTensorType type, mlir::Value view,
                   mlir::Value piece);
  void store(mlir::OpBuilder &builder, mlir::Value tensor, mlir::Value view, mlir::Value piece);
  void addAtomically(mlir::OpBuilder &builder, mlir::Value view, mlir::Value sum,
                     mlir::Value piece);
  mlir::Value count(mlir::OpBuilder &builder, tile::AtomicKind kind, mlir::Value counter,
                    int64_t value, tile::MemoryOrder order);
  template <typename Op>
  Op own(Op op) {
    if (!role.empty())
      setRoleName(op, role);
    return op;
  }

  tile::KernelOp kernel;
  mlir::scf::ForOp loop;
  llvm::StringRef role;
  mlir::Location loc;
  mlir::SmallVector<mlir::Value> views; ///< of the sums
  mlir::Value counters;
};

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_SHAREDLOOP_H
