// Sinks reads of shared memory to what first needs them.
#ifndef KILN_LIB_TARGET_COMMON_THREADS_SINKREADS_H
#define KILN_LIB_TARGET_COMMON_THREADS_SINKREADS_H

#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseSet.h"

namespace kiln {

/// Values that were read from shared memory one after the other, but are needed bit by bit: each
/// read goes, with what is computed from it, to where its value is asked for first, so that
/// registers hold few of them at a time. What writes, or waits for others, stays in front of all
/// reads.
class ReadSinker {
public:
  /// Sinks, of the ops at the end of the builder's block, those that only `wanted` needs. The
  /// prologue, which ends with `prologueEnd`, grows later: what is in it stays.
  ReadSinker(mlir::OpBuilder &builder, mlir::Operation *prologueEnd,
             llvm::ArrayRef<mlir::Value> wanted, llvm::ArrayRef<mlir::Value> neededAtOnce);
  /// The value stands in front of the builder's place from here on.
  void need(mlir::Value value);
  /// What nobody asked for follows, in the order it had.
  void finish();

private:
  mlir::OpBuilder &builder;
  llvm::DenseSet<mlir::Operation *> waiting;
  llvm::SmallVector<mlir::Operation *> order; ///< the last op first
};

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_THREADS_SINKREADS_H
