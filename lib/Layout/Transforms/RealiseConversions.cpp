// Sends conversions across warps, or with too many candidates a lane, through shared memory.
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/Passes.h"

namespace kiln {
#define GEN_PASS_DEF_REALISECONVERSIONS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
struct RealiseConversions : kiln::impl::RealiseConversionsBase<RealiseConversions> {
  void runOnOperation() override {
    getOperation().walk([&](ConvertLayoutOp convert) {
      LinearLayout from = getLayout(convert.getInput()), to = getLayout(convert.getResult());
      if (classifyConversion(from, to).kind != ConversionKind::Memory)
        return;
      OpBuilder builder(convert);
      auto type = cast<RankedTensorType>(convert.getType());
      auto bufferType = BufferType::get(&getContext(), type.getShape(), type.getElementType(), {});
      Value buffer = AllocOp::create(builder, convert.getLoc(), bufferType);
      WriteOp::create(builder, convert.getLoc(), convert.getInput(), buffer);
      convert.replaceAllUsesWith(
          ReadOp::create(builder, convert.getLoc(), type, buffer).getResult());
      convert.erase();
    });
  }
};
} // namespace
