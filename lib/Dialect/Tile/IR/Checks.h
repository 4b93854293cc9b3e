// Checks that ops of several groups make in the same words.
#ifndef KILN_LIB_DIALECT_TILE_IR_CHECKS_H
#define KILN_LIB_DIALECT_TILE_IR_CHECKS_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLExtras.h"
#include <optional>

namespace kiln::tile {

/// An axis is one of the dimensions of the tensor.
inline mlir::LogicalResult verifyAxis(mlir::Operation *op, int64_t axis,
                                      mlir::RankedTensorType tensor) {
  if (axis >= 0 && axis < tensor.getRank())
    return mlir::success();
  if (tensor.getRank() == 0)
    return op->emitOpError("expected a tensor of rank at least 1, got ") << tensor;
  return op->emitOpError("expected an axis from 0 to ")
         << tensor.getRank() - 1 << " of " << tensor << ", got " << axis;
}

/// An attribute that counts something, if it is there.
mlir::LogicalResult verifyCount(mlir::Operation *op, llvm::StringRef name,
                                std::optional<int64_t> value, int64_t least);
/// An op stands in a role's region, or in a kernel whose roles are decided and not realised yet.
mlir::LogicalResult verifyInRole(mlir::Operation *op);
/// Each role of a list has a name of its own.
mlir::LogicalResult verifyRoleNames(mlir::Operation *op, mlir::ArrayAttr roles);
/// Whether an attribute of this name says something beside decisions (Marks.h).
bool isMark(llvm::StringRef name);
/// Whether such an attribute stands on an op that it means something of, with a value of its type.
mlir::LogicalResult verifyMark(mlir::Operation *op, llvm::StringRef name, mlir::Attribute value);
/// A `tile.` attribute that decides about the schedule, or means nothing and is an error.
mlir::LogicalResult verifyDecision(mlir::Operation *op, llvm::StringRef name,
                                   mlir::Attribute value);
/// The same, of decisions about programs.
mlir::LogicalResult verifyGridDecision(mlir::Operation *op, llvm::StringRef name,
                                       mlir::Attribute value);
/// Axes of the grid, each once.
mlir::LogicalResult verifyMulticast(mlir::Operation *op, std::optional<mlir::ArrayAttr> axes);
/// What a launch makes stands behind what the caller gives.
mlir::LogicalResult verifyHidden(KernelOp kernel);
/// What `tile.dot` asks of operands, tensors or buffers, and of its accumulator. So many programs
/// may have a part each of b's columns. Scales are those of a and b, or none.
mlir::LogicalResult verifyDot(mlir::Operation *op, mlir::Type a, bool transposeA, mlir::Type b,
                              bool transposeB, mlir::RankedTensorType accumulator,
                              mlir::TypeRange scales, bool hasUnsigned, DotPrecision precision,
                              llvm::ArrayRef<unsigned> programs);

/// The extents of a tile that is smaller than its tensor; none is fine.
inline mlir::LogicalResult verifyExtents(mlir::Operation *op,
                                         std::optional<llvm::ArrayRef<int64_t>> extents,
                                         mlir::RankedTensorType tensor) {
  if (!extents)
    return mlir::success();
  bool fits = int64_t(extents->size()) == tensor.getRank();
  for (auto [extent, whole] : llvm::zip(*extents, tensor.getShape()))
    fits &= extent >= 1 && extent <= whole;
  if (fits)
    return mlir::success();
  mlir::InFlightDiagnostic error = op->emitOpError("expected extents from 1 to those of ")
                                   << tensor << ", got [";
  llvm::interleaveComma(*extents, error);
  return error << "]";
}

} // namespace kiln::tile

#endif // KILN_LIB_DIALECT_TILE_IR_CHECKS_H
