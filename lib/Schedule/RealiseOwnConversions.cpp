// Conversions that a role makes of its own tensors, through a buffer of each copy.
#include "Decisions.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEOWNCONVERSIONS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static void realise(ConvertLayoutOp op, DenseMap<Type, Value> &buffers, Region &region) {
  ConversionAttr how = op.getHowAttr();
  auto type = cast<RankedTensorType>(op.getType());
  RankedTensorType stored = getStoredType(type);
  Type bufferType =
      BufferType::get(op.getContext(), stored.getShape(), stored.getElementType(), how.getBuffer());
  Location loc = op.getLoc();
  Value &buffer = buffers[bufferType];
  if (!buffer) {
    OpBuilder entry = OpBuilder::atBlockBegin(&region.front());
    buffer = AllocOp::create(entry, loc, bufferType);
  }
  OpBuilder builder(op);
  Value input = makeStored(builder, loc, op.getInput());
  BarrierOp::create(builder, loc, /*publish=*/false, /*all_copies=*/false, /*global=*/false);
  WriteOp::create(builder, loc, input, buffer, DenseI64ArrayAttr(), how.getWrite());
  BarrierOp::create(builder, loc, /*publish=*/false, /*all_copies=*/false, /*global=*/false);
  Value value = ReadOp::create(builder, loc, stored, buffer, DenseI64ArrayAttr(), how.getRead());
  op.getResult().replaceAllUsesWith(unmakeStored(builder, loc, value, type));
  op.erase();
}

namespace {
struct RealiseOwnConversions : kiln::impl::RealiseOwnConversionsBase<RealiseOwnConversions> {
  void runOnOperation() override {
    getOperation().walk([](WarpGroupsOp groups) {
      for (Region &region : groups.getBodies()) {
        DenseMap<Type, Value> buffers;
        region.walk([&](ConvertLayoutOp op) {
          if (ConversionAttr how = op.getHowAttr(); how.getKind() == ConversionKind::Memory)
            realise(op, buffers, region);
        });
      }
    });
  }
};
} // namespace
