// Rewrites a kernel's body so that it does at once what several programs of it would.
#ifndef KILN_LIB_SCHEDULE_BATCH_BATCHER_H
#define KILN_LIB_SCHEDULE_BATCH_BATCHER_H

#include "Variation.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"

namespace kiln {

/// Of `count` programs that follow one another the first has the number `program_id x * count`.
/// What does not vary stays as it is, and so does the arithmetic of integers with a step, which
/// gives the first program's. Of all else that varies a tensor with one more dimension in front, of
/// `count` elements, takes the place: a scalar becomes a tensor, an operation that which works
/// element by element, or along the next axis.
class Batcher {
public:
  /// How many programs the grid has along x, which the last batch may not reach, is `extent`.
  Batcher(tile::KernelOp kernel, const Variation &variation, int64_t count, mlir::Value extent);

  void run();

private:
  void visit(mlir::Block &block);
  void visit(mlir::Operation *op);
  void visitLoop(mlir::scf::ForOp loop);
  void visitBranch(mlir::scf::IfOp branch);
  void visitLoad(tile::LoadOp load);
  void visitStore(tile::StoreOp store);
  void visitGather(tile::GatherOp gather);
  void visitScatter(tile::ScatterOp scatter);
  void visitShape(mlir::Operation *op);
  void visitElementwise(mlir::Operation *op);
  void visitPhilox(tile::PhiloxOp philox);
  void finish(mlir::Operation *op, mlir::ValueRange results);

  /// The type of all programs' values together.
  mlir::RankedTensorType widen(mlir::Type type) const;
  /// All programs' values of what varies, or as many times the one of what does not.
  mlir::Value lift(mlir::Value value);
  mlir::Value repeat(mlir::Value value);
  /// One number a program, repeated over a tile of this shape and as many programs.
  mlir::Value spread(mlir::Value numbers, llvm::ArrayRef<int64_t> shape);
  mlir::Value reshape(mlir::Value tensor, llvm::ArrayRef<int64_t> shape);
  mlir::Value makeConstant(mlir::RankedTensorType type, mlir::Attribute each);
  mlir::Value makeIota(mlir::RankedTensorType type, int64_t dim);
  /// The indices of a tile at an offset, along one of its dimensions.
  mlir::Value makeIndices(mlir::Value offset, llvm::ArrayRef<int64_t> shape, int64_t dim);
  /// Which programs there are, for a tile of this shape.
  mlir::Value makeMask(llvm::ArrayRef<int64_t> shape);
  /// A view that ends where the tile of the last program there is does.
  mlir::Value endView(mlir::Value view, mlir::Value offset, unsigned dim);

  tile::KernelOp kernel;
  const Variation &variation;
  int64_t count;
  mlir::Value first, extent;
  mlir::OpBuilder builder;
  mlir::Location loc;
  llvm::DenseMap<mlir::Value, mlir::Value> lifted;
  llvm::SmallVector<mlir::Operation *> replaced;
  /// The views that are stored to. What is loaded of one is loaded of the view that is stored to.
  llvm::DenseSet<mlir::Value> stored;
};

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_BATCH_BATCHER_H
