// Loads the boxes that are used of a tile one by one.
#include "BoxLoads.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEBOXLOADS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static LogicalResult realise(LoadOp load) {
  int64_t held = cast<IntegerAttr>(load->removeAttr(kHeldAttrName)).getInt();
  std::string expected;
  BoxUses boxes = findBoxUses(load, expected);
  if (boxes.empty() || held > int64_t(boxes.size()))
    return load.emitOpError("expected ")
           << (boxes.empty() ? expected : std::to_string(held) + " boxes or more") << ", since '"
           << kHeldAttrName << "' is " << held;
  for (auto [i, uses] : llvm::enumerate(boxes)) {
    SliceOp box = uses.front();
    Operation *place = load;
    if (int64_t(i) >= held)
      place = boxes[i - held + 1].front();
    OpBuilder builder(place);
    IndexMath math{builder, load.getLoc()};
    auto part = cast<LoadOp>(builder.clone(*load));
    for (auto [dim, by] : llvm::enumerate(box.getOffsets())) {
      OpOperand &offset = part.getOffsetsMutable()[dim];
      builder.setInsertionPoint(part);
      offset.set(math.shift(offset.get(), by));
    }
    part.getResult().setType(box.getType());
    for (SliceOp slice : uses)
      slice.replaceAllUsesWith(part.getResult());
  }
  for (ArrayRef<SliceOp> uses : boxes)
    for (SliceOp slice : uses)
      slice.erase();
  load.erase();
  return success();
}

namespace {
struct RealiseBoxLoads : kiln::impl::RealiseBoxLoadsBase<RealiseBoxLoads> {
  void runOnOperation() override {
    SmallVector<LoadOp> loads;
    getOperation().walk([&](LoadOp load) {
      if (load->hasAttr(kHeldAttrName))
        loads.push_back(load);
    });
    for (LoadOp load : loads)
      if (failed(realise(load)))
        return signalPassFailure();
  }
};
} // namespace
