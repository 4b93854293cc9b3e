// Views that a kernel makes, of pointers and of other views, and what is asked of views.
#include "../ThreadPatterns.h"
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static void lowerMadeView(ThreadContext &context, Operation *op) {
  Type i64 = context.getI64Type();
  if (auto address = dyn_cast<AddressOp>(op)) {
    Value number = LLVM::PtrToIntOp::create(
        context, i64, context.views.find(address.getMemory())->second.pointer);
    context.set(address, arith::IndexCastOp::create(context, context.getIndexType(), number));
    return;
  }
  if (auto pointer = dyn_cast<PointerFromAddressOp>(op)) {
    Value number = arith::IndexCastOp::create(context, i64, context.get(pointer.getAddress()));
    auto type = LLVM::LLVMPointerType::get(context.getContext(), kGlobalSpace);
    context.views[pointer.getResult()] =
        ThreadView{LLVM::IntToPtrOp::create(context, type, number), {}, {}, std::nullopt, {}};
    return;
  }
  ThreadView made{{}, {}, {}, std::nullopt, {}};
  auto fill = [&](ArrayRef<int64_t> known, ValueRange given, SmallVector<Value> &values) {
    for (int64_t value : known) {
      if (!ShapedType::isDynamic(value)) {
        values.push_back(context.index(value));
        continue;
      }
      values.push_back(context.get(given.front()));
      given = given.drop_front();
    }
  };
  auto fillSizes = [&](auto maker) {
    fill(maker.getType().getShape(), maker.getExtents(), made.extents);
    fill(maker.getType().getStrides(), maker.getStrides(), made.strides);
  };
  if (auto from = dyn_cast<ViewFromPointerOp>(op)) {
    made.pointer = context.views.find(from.getPointer())->second.pointer;
    fillSizes(from);
  } else {
    auto part = cast<SubviewOp>(op);
    unsigned bits = part.getType().getElementType().getIntOrFloatBitWidth();
    Value pointer = context.views.find(part.getView())->second.pointer,
          at = context.get(part.getOffset());
    if (bits < 8) // which begins on a byte
      at = arith::ShRSIOp::create(context, arith::MulIOp::create(context, at, context.index(bits)),
                                  context.index(3));
    at = arith::IndexCastOp::create(context, i64, at);
    made.pointer =
        LLVM::GEPOp::create(context, pointer.getType(), context.getIntegerType(std::max(bits, 8u)),
                            pointer, ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(at)});
    fillSizes(part);
    if (std::optional<ArgumentView> turned = findArgumentView(part)) {
      made.argument = context.views.find(part.getView())->second.argument;
      made.dims = turned->dims;
    }
  }
  context.views[op->getResult(0)] = made;
}

void kiln::populateViewPatterns(ThreadPatterns &patterns) {
  patterns.add<ViewFromPointerOp, SubviewOp, AddressOp, PointerFromAddressOp>(lowerMadeView);
  patterns.add<DimOp>([](ThreadContext &context, DimOp op) {
    context.set(op, context.views.find(op.getView())->second.extents[op.getDim()]);
  });
  patterns.add<StrideOp>([](ThreadContext &context, StrideOp op) {
    context.set(op, context.views.find(op.getView())->second.strides[op.getDim()]);
  });
}
