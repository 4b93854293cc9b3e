// Views that are arguments of a kernel, perhaps with their dimensions in another order.
#ifndef KILN_DIALECT_TILE_IR_ARGUMENTVIEWS_H
#define KILN_DIALECT_TILE_IR_ARGUMENTVIEWS_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include <optional>

namespace kiln::tile {

/// A whole argument, whose dimension `dims[i]` is the view's i-th.
struct ArgumentView {
  mlir::BlockArgument argument;
  llvm::SmallVector<int64_t> dims;
};

/// Which argument of a kernel, or of a role's region, a view is: itself, or a `tile.subview` that
/// names all of its dimensions in another order. Nothing for any other view.
std::optional<ArgumentView> findArgumentView(mlir::Value view);

/// The order of dimensions in which one of stride 1 comes last and all others stay behind one
/// another; empty if there is none.
llvm::SmallVector<int64_t> findRowOrder(ViewType type);
/// A view's type, and what is known of a view, with the dimensions in this order; null facts stay
/// null.
ViewType turnType(ViewType type, llvm::ArrayRef<int64_t> dims);
FactsAttr turnFacts(FactsAttr facts, llvm::ArrayRef<int64_t> dims);

/// An argument with its dimensions in this order.
SubviewOp turnView(mlir::OpBuilder &builder, mlir::Location loc, mlir::BlockArgument argument,
                   llvm::ArrayRef<int64_t> dims);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_ARGUMENTVIEWS_H
