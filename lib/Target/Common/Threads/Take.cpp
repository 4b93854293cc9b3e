// Elements of a tensor at computed positions, through shared memory: every thread writes the
// elements that it has, and reads those that it wants.
#include "ThreadLowering.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

LogicalResult ThreadLowering::lowerTake(TakeOp op) {
  RankedTensorType type = op.getInput().getType();
  int64_t axis = op.getAxis();
  SmallVector<int64_t> strides = getStrides(type.getShape()), acrossAxis(strides);
  acrossAxis[axis] = 0;
  Value base = getShared(op);
  barrier();
  scatterScratch(base, op.getInput(), strides);
  barrier();
  Place place = getPlace(getLayout(op.getResult()));
  Type element = type.getElementType();
  Value zero;
  if (isa<FloatType>(element))
    zero = castBits(builder, loc,
                    arith::ConstantIntOp::create(builder, loc, 0, element.getIntOrFloatBitWidth()),
                    element);
  else
    zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
  SmallVector<Value> elements;
  for (auto [reg, position] : llvm::enumerate(getElements(op.getIndices()))) {
    // Unsigned, so that what lies below zero is outside as well.
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, position,
                                         i32(type.getDimSize(axis)));
    Value at = arith::SelectOp::create(builder, loc, inside, position, i32(0));
    if (strides[axis] != 1)
      at = arith::MulIOp::create(builder, loc, at, i32(strides[axis]));
    at = arith::AddIOp::create(builder, loc, getFlatIndex(place, reg, acrossAxis), at);
    elements.push_back(
        arith::SelectOp::create(builder, loc, inside, loadScratch(base, at, element), zero));
  }
  setElements(op.getResult(), elements);
  return success();
}
