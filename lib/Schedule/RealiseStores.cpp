// Cuts stores by engines into boxes that go through shared memory, several in flight.
#include "Decisions.h"
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_REALISESTORES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

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

/// Offsets of all boxes, the last dimension fastest.
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

static LogicalResult realise(StoreOp store) {
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
  LayoutAttr boxLayout = getBoxLayout(type, buffer.getShape());
  if (!boxLayout)
    return store.emitOpError("expected a buffer whose boxes are chosen among by registers of ")
           << type << ", got " << buffer;
  auto boxType = RankedTensorType::get(buffer.getShape(), type.getElementType(), boxLayout);

  Region *region = store->getParentRegion();
  while (!isa<WarpGroupsOp>(region->getParentOp()))
    region = region->getParentRegion();
  Location loc = store.getLoc();
  SmallVector<SmallVector<int64_t>> boxes = getBoxes(type.getShape(), buffer.getShape());
  int64_t count = boxes.size(), buffers = *store.getInFlight() + 1;
  OpBuilder entry = OpBuilder::atBlockBegin(&region->front());
  SmallVector<Value> allocs;
  for (int64_t i = 0; i < std::min(buffers, count); ++i)
    allocs.push_back(AllocOp::create(entry, loc, buffer));
  OpBuilder builder(store);
  IndexMath math{builder, loc};
  for (auto [i, box] : llvm::enumerate(boxes)) {
    // The last store from this buffer was this many stores ago, perhaps in an earlier round.
    int64_t index = i % buffers, last = index;
    while (last + buffers < count)
      last += buffers;
    int64_t distance = int64_t(i) >= buffers ? buffers : int64_t(i) + count - last;
    Value tensor = store.getValue();
    if (count > 1)
      tensor = SliceOp::create(builder, loc, boxType, tensor, box);
    WaitStoresOp::create(builder, loc, distance - 1);
    BarrierOp::create(builder, loc, /*publish=*/false, /*all_copies=*/false);
    WriteOp::create(builder, loc, tensor, allocs[index]);
    BarrierOp::create(builder, loc, /*publish=*/true, /*all_copies=*/false);
    SmallVector<Value> offsets;
    for (auto [offset, by] : llvm::zip_equal(store.getOffsets(), box))
      offsets.push_back(math.shift(offset, by));
    CopyOutOp::create(builder, loc, allocs[index], store.getView(), offsets, store.getAtomAttr(),
                      store.getCacheAttr(), store.getEvictionAttr());
  }
  OpBuilder exit = OpBuilder::atBlockEnd(&region->front());
  if (region->front().empty() || !isa<WaitStoresOp>(region->front().back()))
    WaitStoresOp::create(exit, loc, 0);
  store.erase();
  return success();
}

namespace {
struct RealiseStores : kiln::impl::RealiseStoresBase<RealiseStores> {
  void runOnOperation() override {
    SmallVector<StoreOp> stores;
    getOperation().walk([&](StoreOp store) {
      if (store.getAtomAttr())
        stores.push_back(store);
    });
    for (StoreOp store : stores) {
      if (!WarpGroupsOp::getRoleOf(store)) {
        store.emitOpError("expected to stand in a role of tile.warp_groups, since 'atom' is "
                          "decided");
        return signalPassFailure();
      }
      if (failed(realise(store)))
        return signalPassFailure();
    }
  }
};
} // namespace
