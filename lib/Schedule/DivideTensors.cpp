// How the copies of a role share a tensor out.
#include "CopyRealiser.h"
#include "kiln/Dialect/Tile/IR/BareTypes.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

int kiln::findDividedDim(RankedTensorType tensor, RoleAttr role) {
  auto layout = dyn_cast_or_null<LayoutAttr>(tensor.getEncoding());
  if (!layout)
    return -1;
  LinearLayout whole = layout.toLinear(tensor.getShape());
  size_t ownBits = llvm::Log2_64_Ceil(role.getWarps());
  int dim = -1;
  for (const auto &basis :
       whole.getBases("warp").drop_front(std::min<size_t>(ownBits, whole.getInBits("warp"))))
    for (auto [at, value] : llvm::enumerate(basis))
      if (value)
        dim = at;
  return dim;
}

FailureOr<Share> kiln::divideTensor(Operation *op, RankedTensorType tensor, RoleAttr role) {
  auto layout = dyn_cast_or_null<LayoutAttr>(tensor.getEncoding());
  if (!layout)
    return op->emitOpError("expected a tensor with a layout in a role of several copies, got ")
           << tensor;
  LinearLayout whole = layout.toLinear(tensor.getShape());
  size_t ownBits = llvm::Log2_64_Ceil(role.getWarps());
  if (whole.getInBits("warp") <= ownBits)
    return Share{tensor, -1};
  size_t copyBits = whole.getInBits("warp") - ownBits;
  int dim = findDividedDim(tensor, role);
  SmallVector<int64_t> shape(tensor.getShape());
  SmallVector<LinearLayout::InDim> ins;
  bool isRegular = true;
  for (const LinearLayout::InDim &in : whole.getIns()) {
    ins.push_back({in.name, {}});
    for (auto [bit, basis] : llvm::enumerate(in.bases)) {
      if (in.name != "warp" || bit < ownBits) {
        ins.back().bases.push_back(basis);
        continue;
      }
      for (auto [at, value] : llvm::enumerate(basis))
        isRegular &= !value || dim == int(at);
    }
  }
  if (dim < 0) { // each copy holds all of it, as of a number that roles of other warps load, too
    std::optional<LinearLayout> own = LinearLayout::create(ins, getTensorOuts(shape));
    return Share{tensor.cloneWithEncoding(LayoutAttr::get(tensor.getContext(), *own)), -1};
  }
  if (copyBits != llvm::Log2_64_Ceil(role.getCopies()))
    return op->emitOpError("expected a layout of the ")
           << role.getTotalWarps() << " warps of role \"" << role.getName() << "\", got "
           << getBareType(tensor);
  // The bits of copies must be the highest of their dimension, in order.
  isRegular &= shape[dim] % role.getCopies() == 0;
  shape[dim] /= role.getCopies();
  for (auto [bit, basis] : llvm::enumerate(whole.getBases("warp").drop_front(ownBits)))
    isRegular &= basis[dim] == (shape[dim] << bit);
  std::optional<LinearLayout> own = LinearLayout::create(ins, getTensorOuts(shape));
  if (!isRegular || !own)
    return op->emitOpError("expected a layout by which each copy has consecutive rows or columns, "
                           "got ")
           << getBareType(tensor);
  return Share{RankedTensorType::get(shape, tensor.getElementType(),
                                     LayoutAttr::get(tensor.getContext(), *own)),
               dim};
}
