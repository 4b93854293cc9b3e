// Cuts a tensor into boxes.
#include "Boxes.h"
#include "kiln/Layout/Transforms/Layouts.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

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
  std::optional<LinearLayout> layout = getBoxLayout(getLayout(store.getValue()), buffer.getShape());
  if (!layout)
    return store.emitOpError("expected a buffer whose boxes are chosen among by registers of ")
           << type << ", got " << buffer;
  return StoreBoxes{withLayout(type.clone(buffer.getShape()), *layout),
                    getBoxes(type.getShape(), buffer.getShape())};
}
