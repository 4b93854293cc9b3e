// Views that a kernel makes, of pointers and of other views, and what is asked of views.
#include "ThreadLowering.h"
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

LogicalResult ThreadLowering::lowerMadeView(Operation *op) {
  Type i64 = builder.getI64Type();
  if (auto address = dyn_cast<AddressOp>(op)) {
    Value number = LLVM::PtrToIntOp::create(builder, loc, i64,
                                            views.find(address.getMemory())->second.pointer);
    set(address, arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number));
    return success();
  }
  if (auto pointer = dyn_cast<PointerFromAddressOp>(op)) {
    Value number = arith::IndexCastOp::create(builder, loc, i64, get(pointer.getAddress()));
    auto type = LLVM::LLVMPointerType::get(builder.getContext(), kGlobalSpace);
    views[pointer.getResult()] =
        View{LLVM::IntToPtrOp::create(builder, loc, type, number), {}, {}, std::nullopt, {}};
    return success();
  }
  View made{{}, {}, {}, std::nullopt, {}};
  auto fill = [&](ArrayRef<int64_t> known, ValueRange given, SmallVector<Value> &values) {
    for (int64_t value : known) {
      if (!ShapedType::isDynamic(value)) {
        values.push_back(index(value));
        continue;
      }
      values.push_back(get(given.front()));
      given = given.drop_front();
    }
  };
  auto fillSizes = [&](auto maker) {
    fill(maker.getType().getShape(), maker.getExtents(), made.extents);
    fill(maker.getType().getStrides(), maker.getStrides(), made.strides);
  };
  if (auto from = dyn_cast<ViewFromPointerOp>(op)) {
    made.pointer = views.find(from.getPointer())->second.pointer;
    fillSizes(from);
  } else {
    auto part = cast<SubviewOp>(op);
    unsigned bits = part.getType().getElementType().getIntOrFloatBitWidth();
    Value pointer = views.find(part.getView())->second.pointer, at = get(part.getOffset());
    if (bits < 8) // which begins on a byte
      at = arith::ShRSIOp::create(builder, loc,
                                  arith::MulIOp::create(builder, loc, at, index(bits)), index(3));
    at = arith::IndexCastOp::create(builder, loc, i64, at);
    made.pointer = LLVM::GEPOp::create(builder, loc, pointer.getType(),
                                       builder.getIntegerType(std::max(bits, 8u)), pointer,
                                       ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(at)});
    fillSizes(part);
    if (std::optional<ArgumentView> turned = findArgumentView(part)) {
      made.argument = views.find(part.getView())->second.argument;
      made.dims = turned->dims;
    }
  }
  views[op->getResult(0)] = made;
  return success();
}

LogicalResult ThreadLowering::lowerViewQuery(Operation *op) {
  if (auto dim = dyn_cast<DimOp>(op))
    set(dim, views.find(dim.getView())->second.extents[dim.getDim()]);
  if (auto stride = dyn_cast<StrideOp>(op))
    set(stride, views.find(stride.getView())->second.strides[stride.getDim()]);
  return success();
}
