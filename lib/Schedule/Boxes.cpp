// Cuts a tensor into boxes.
#include "Boxes.h"
#include "kiln/Layout/Algebra/LinearLayout.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The layout of a box of a tensor: only registers choose among boxes. Null if other places do.
static LayoutAttr getBoxLayout(RankedTensorType tensor, ArrayRef<int64_t> box) {
  auto layout = cast<LayoutAttr>(tensor.getEncoding());
  SmallVector<LinearLayout::InDim> ins;
  LinearLayout whole = layout.toLinear(tensor.getShape());
  for (const LinearLayout::InDim &in : whole.getIns()) {
    ins.push_back({in.name, {}});
    for (const LinearLayout::Basis &basis : in.bases) {
      bool isInside = llvm::all_of(llvm::zip_equal(basis, box),
                                   [](auto pair) { return std::get<0>(pair) < std::get<1>(pair); });
      bool chooses = llvm::all_of(llvm::zip_equal(basis, box), [](auto pair) {
        return std::get<0>(pair) % std::get<1>(pair) == 0;
      });
      if (isInside)
        ins.back().bases.push_back(basis);
      else if (!chooses || in.name != "register")
        return {};
    }
  }
  std::optional<LinearLayout> part = LinearLayout::create(ins, getTensorOuts(box));
  return part ? LayoutAttr::get(tensor.getContext(), *part) : LayoutAttr();
}

static SmallVector<SmallVector<int64_t>> getBoxes(ArrayRef<int64_t> shape, ArrayRef<int64_t> box) {
  SmallVector<SmallVector<int64_t>> boxes = {{}};
  for (auto [extent, step] : llvm::zip_equal(shape, box)) {
    SmallVector<SmallVector<int64_t>> more;
    for (const SmallVector<int64_t> &prefix : boxes)
      for (int64_t at = 0; at < extent; at += step) {
        more.push_back(prefix);
        more.back().push_back(at);
      }
    boxes = std::move(more);
  }
  return boxes;
}

FailureOr<StoreBoxes> kiln::cutIntoBoxes(StoreOp store) {
  for (StringRef name : {"buffer", "in_flight"})
    if (failed(requireDecision(store, name)))
      return failure();
  auto buffer = cast<BufferType>(*store.getBuffer());
  RankedTensorType type = store.getValue().getType();
  if (!isa_and_nonnull<LayoutAttr>(type.getEncoding()))
    return store.emitOpError("expected a tensor with a layout, got ") << type;
  for (auto [extent, step] : llvm::zip_equal(type.getShape(), buffer.getShape()))
    if (extent % step)
      return store.emitOpError("expected a buffer of parts of each copy's ")
             << type << ", got " << buffer;
  LayoutAttr layout = getBoxLayout(type, buffer.getShape());
  if (!layout)
    return store.emitOpError("expected a buffer whose boxes are chosen among by registers of ")
           << type << ", got " << buffer;
  return StoreBoxes{RankedTensorType::get(buffer.getShape(), type.getElementType(), layout),
                    getBoxes(type.getShape(), buffer.getShape())};
}
