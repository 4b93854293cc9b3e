// Fast mathematics, as a kernel asks for it: how the stages tell one another.
#ifndef KILN_TARGET_COMMON_FASTMATH_H
#define KILN_TARGET_COMMON_FASTMATH_H

#include "kiln/Dialect/Tile/IR/Marks.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kiln {

using tile::kFlushAttrName;

/// Whether an op of `arith` or `math` may be approximated, and may take it that neither NaN nor
/// infinities occur.
inline bool isFast(mlir::arith::ArithFastMathInterface op) {
  constexpr auto all = mlir::arith::FastMathFlags::fast;
  mlir::arith::FastMathFlagsAttr flags = op.getFastMathFlagsAttr();
  return flags && mlir::arith::bitEnumContainsAll(flags.getValue(), all);
}

} // namespace kiln

#endif // KILN_TARGET_COMMON_FASTMATH_H
