// Which extents that are no powers of two products had best keep.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_EXACTEXTENTS_H
#define KILN_LIB_LAYOUT_TRANSFORMS_EXACTEXTENTS_H

#include "ExtentClasses.h"
#include "ProductCandidate.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

/// An extent is exact if a product has it that its instruction can make as it is, and all else that
/// has it can be made so as well. So each product is asked which of its classes it can keep, until
/// none refuses more. One whose extents are decided already keeps those.
///
/// By which instruction a product is made is the author's decision, or one that comes later. Of the
/// latter it must be said which instructions of the target may be thought of.
class ExactExtents {
public:
  using Open = OpenProducts;

  ExactExtents(tile::KernelOp kernel, TargetInterface target, const ExtentClasses &classes,
               Open open);

  /// How many extents of values are.
  size_t countExact() const;
  /// Whether an instruction that was thought of runs on beside its warps.
  bool thinksOfBeside() const { return hasBeside; }
  /// What is to be computed of a product, as `tile.extents` says it.
  llvm::SmallVector<int64_t> getExtents(tile::DotOp dot) const;

private:
  /// Which of a product's extents are kept, by bits, and the parts of k that it had best be cut
  /// into, so that others are exact; none if it is one.
  struct Kept {
    unsigned dims = 0;
    llvm::SmallVector<int64_t> pieces;
  };

  bool isExact(unsigned of) const { return may[of] && multiplied[of]; }
  bool decide(tile::DotOp dot);
  void addShared(tile::DotOp dot, const ProductCandidate &made);
  std::optional<ProductCandidate> choose(tile::DotOp dot, unsigned candidates, unsigned &kept);
  bool decideParts(mlir::Value value);

  TargetInterface target;
  const ExtentClasses &classes;
  Open open;
  bool hasBeside = false;
  /// Of the kernel, if its products are made by single warps.
  int64_t warps;
  /// By class: whether it may be exact, and a product has it.
  llvm::SmallVector<bool> may, multiplied;
  /// The classes that copies of a role share out.
  llvm::SmallBitVector ofCopies;
  llvm::MapVector<tile::DotOp, Kept> products;
  /// The operands that become parts.
  llvm::DenseSet<mlir::Value> cut;
};

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_EXACTEXTENTS_H
