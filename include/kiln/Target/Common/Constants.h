// Constants of whatever shape an op has.
#ifndef KILN_TARGET_COMMON_CONSTANTS_H
#define KILN_TARGET_COMMON_CONSTANTS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kiln {

/// A constant of `type`, which is the value's own or a shaped type of it.
inline mlir::Value makeSplat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                             mlir::TypedAttr value) {
  if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type))
    value = mlir::DenseElementsAttr::get(shaped, mlir::Attribute(value));
  return mlir::arith::ConstantOp::create(builder, loc, value);
}

} // namespace kiln

#endif // KILN_TARGET_COMMON_CONSTANTS_H
