// Elements of a tensor at computed positions, through shared memory: every thread writes the
// elements that it has, and reads those that it wants.
#include "../Scratch.h"
#include "../SharedAccess.h"
#include "../ThreadPatterns.h"
#include "../ViewAccess.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static void lowerTake(ThreadContext &context, TakeOp op) {
  RankedTensorType type = op.getInput().getType();
  int64_t axis = op.getAxis();
  SmallVector<int64_t> strides = getStrides(type.getShape()), acrossAxis(strides);
  acrossAxis[axis] = 0;
  Value base = getShared(context, op);
  scatterScratch(context, base, op.getInput(), strides);
  context.barrier();
  ThreadPlace place = context.getPlace(getLayout(op.getResult()));
  Type element = type.getElementType();
  Value zero;
  if (isa<FloatType>(element))
    zero =
        castBits(context, arith::ConstantIntOp::create(context, 0, element.getIntOrFloatBitWidth()),
                 element);
  else
    zero = arith::ConstantOp::create(context, context.getZeroAttr(element));
  SmallVector<Value> elements;
  for (auto [reg, position] : llvm::enumerate(context.getElements(op.getIndices()))) {
    // Unsigned, so that what lies below zero is outside as well.
    Value inside = arith::CmpIOp::create(context, arith::CmpIPredicate::ult, position,
                                         context.i32(type.getDimSize(axis)));
    Value at = arith::SelectOp::create(context, inside, position, context.i32(0));
    if (strides[axis] != 1)
      at = arith::MulIOp::create(context, at, context.i32(strides[axis]));
    at = arith::AddIOp::create(context, getFlatIndex(context, place, reg, acrossAxis), at);
    elements.push_back(
        arith::SelectOp::create(context, inside, loadScratch(context, base, at, element), zero));
  }
  context.setElements(op.getResult(), elements);
}

void kiln::populateTakePatterns(ThreadPatterns &patterns) {
  patterns.add<TakeOp>(lowerTake).needsScratch(
      [](TakeOp op) { return getTensorBytes(op.getInput()); });
}
