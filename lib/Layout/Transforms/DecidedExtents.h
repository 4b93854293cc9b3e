// What is decided of products' extents.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_DECIDEDEXTENTS_H
#define KILN_LIB_LAYOUT_TRANSFORMS_DECIDEDEXTENTS_H

#include "ExtentClasses.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace kiln {

/// A product's `tile.extents`; null if it has none.
mlir::DenseI64ArrayAttr getDecidedExtents(tile::DotOp dot);

/// Holds the extents that products of a kernel say against the products, what else has these
/// extents, and the instructions that may make them.
llvm::LogicalResult checkDecidedExtents(tile::KernelOp kernel, TargetInterface target,
                                        const ExtentClasses &classes);

/// Which extents of a kernel's values stay as they are, by what its products say.
class KeptExtents {
public:
  /// All grow.
  KeptExtents() = default;
  KeptExtents(tile::KernelOp kernel, ExtentClasses classes);

  bool isKept(mlir::Value value, unsigned dim) const;

private:
  std::optional<ExtentClasses> classes;
  llvm::SmallVector<bool> kept;
};

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_DECIDEDEXTENTS_H
