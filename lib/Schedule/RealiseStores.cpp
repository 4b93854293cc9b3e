// Cuts stores by engines into boxes that go through shared memory, several in flight.
#include "Boxes.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_REALISESTORES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static LogicalResult realise(StoreOp store) {
  FailureOr<StoreBoxes> cut = cutIntoBoxes(store);
  if (failed(cut))
    return failure();
  auto buffer = cast<BufferType>(*store.getBuffer());

  Region *region = store->getParentRegion();
  while (!isa<WarpGroupsOp>(region->getParentOp()))
    region = region->getParentRegion();
  Location loc = store.getLoc();
  ArrayRef<SmallVector<int64_t>> boxes = cut->offsets;
  int64_t count = boxes.size(), buffers = *store.getInFlight() + 1;
  if (buffers > count)
    return store.emitOpError("expected in_flight below the boxes of each copy's tensor, ")
           << count << ", got " << *store.getInFlight();
  OpBuilder entry = OpBuilder::atBlockBegin(&region->front());
  SmallVector<Value> allocs;
  for (int64_t i = 0; i < buffers; ++i)
    allocs.push_back(AllocOp::create(entry, loc, buffer));
  OpBuilder builder(store);
  // Copies of one box, or of its pieces, are waited for one by one.
  SmallVector<int64_t> copies = llvm::map_to_vector(
      boxes, [&](const SmallVector<int64_t> &box) { return int64_t(countCopiesOut(store, box)); });
  for (auto [i, box] : llvm::enumerate(boxes)) {
    // The last store from this buffer was this many stores ago, perhaps in an earlier round.
    int64_t index = i % buffers, last = index;
    while (last + buffers < count)
      last += buffers;
    int64_t distance = int64_t(i) >= buffers ? buffers : int64_t(i) + count - last;
    Value tensor = takeBox(builder, store, *cut, box);
    int64_t since = 0;
    for (int64_t back = 1; back < distance; ++back)
      since += copies[(int64_t(i) + count - back) % count];
    WaitStoresOp::create(builder, loc, since);
    BarrierOp::create(builder, loc, /*publish=*/false, /*all_copies=*/false, /*global=*/false);
    WriteOp::create(builder, loc, tensor, allocs[index]);
    BarrierOp::create(builder, loc, /*publish=*/true, /*all_copies=*/false, /*global=*/false);
    copyOut(builder, store, allocs[index], box);
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
