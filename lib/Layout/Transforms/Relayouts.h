// Which layouts values can be given instead of those they have, and what follows for what they are
// made of.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_RELAYOUTS_H
#define KILN_LIB_LAYOUT_TRANSFORMS_RELAYOUTS_H

#include "kiln/Layout/Transforms/Layouts.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {

/// Whether the author has said who holds what of it.
bool isPinned(mlir::Operation *op);

/// Arithmetic on tensors of one shape, which any layout does as well as any other.
bool isArithmetic(mlir::Operation *op);

/// What has elements of its own, out of nothing.
bool isSource(mlir::Operation *op);

/// The layout that an op's operand has when its result has `layout` and nothing moves.
std::optional<LinearLayout> getOperandLayout(mlir::Operation *op, mlir::Value operand,
                                             const LinearLayout &layout);

/// By op, what its results have.
using Layouts = llvm::MapVector<mlir::Operation *, LinearLayout>;

/// What each op has that a value is made of if this has `wanted`, back to constants, scalars and
/// loads, or to conversions that may be to another layout; none if something does not move, or a
/// thread would come to hold more elements.
std::optional<Layouts> layOut(mlir::Value made, const LinearLayout &wanted,
                              llvm::function_ref<bool(tile::ConvertLayoutOp)> mayConvert = nullptr);

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_RELAYOUTS_H
