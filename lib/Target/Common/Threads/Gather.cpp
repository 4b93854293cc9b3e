// Gathers and scatters: one access a run of neighbours, as far as the indices are known to have
// any.
#include "ThreadLowering.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// How many registers one access takes.
static int64_t getRunWidth(Operation *op, Value tile) {
  auto run = op->getAttrOfType<DenseI64ArrayAttr>(kRunAttrName);
  return run ? std::min(run[1], getLayout(tile).getContiguity(kRegister, getDimName(run[0]))) : 1;
}

/// The whole run lies in bounds, or none of it.
SmallVector<Value> ThreadLowering::loadRun(Value view, Element element, int64_t width,
                                           Value padding, bool streaming) {
  if (width == 1)
    return {loadElement(view, element, padding, streaming)};
  Type type = cast<ViewType>(view.getType()).getElementType();
  Type raw = builder.getIntegerType(type.getIntOrFloatBitWidth());
  Value pointer = getElementAddress(view, element.at);
  if (element.inBounds)
    pointer = arith::SelectOp::create(builder, loc, element.inBounds, pointer,
                                      getSixteenBytes(APInt::getZero(8)));
  Value loaded = LLVM::LoadOp::create(builder, loc, VectorType::get({width}, raw), pointer,
                                      width * raw.getIntOrFloatBitWidth() / 8,
                                      /*isVolatile=*/false, streaming);
  loaded = castBits(builder, loc, loaded, type);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < width; ++i) {
    Value value = elementAt(builder, loc, loaded, i);
    if (padding && element.inBounds)
      value = arith::SelectOp::create(builder, loc, element.inBounds, value, padding);
    elements.push_back(value);
  }
  return elements;
}

LogicalResult ThreadLowering::lowerGather(GatherOp op) {
  SmallVector<SmallVector<Value>> indices;
  for (Value tensor : op.getIndices())
    indices.push_back(getElements(tensor));
  SmallVector<Value> masks, elements;
  if (op.getMask())
    masks = getElements(op.getMask());
  Value padding;
  if (op.getPadding() && !matchPattern(op.getPadding(), m_PosZeroFloat()) &&
      !matchPattern(op.getPadding(), m_Zero()))
    padding = get(op.getPadding());
  int64_t width = getRunWidth(op, op.getResult());
  for (int64_t reg = 0; reg < getLayout(op.getResult()).getInSize(kRegister); reg += width) {
    SmallVector<Value> at;
    for (const SmallVector<Value> &column : indices)
      at.push_back(column[reg]);
    Element element = getElement(op.getView(), at);
    if (op.getMask())
      element.inBounds = both(element.inBounds, masks[reg]);
    llvm::append_range(elements, loadRun(op.getView(), element, width, padding,
                                         isStreaming(op.getCache(), op.getEviction())));
  }
  setElements(op.getResult(), elements);
  return success();
}

LogicalResult ThreadLowering::lowerScatter(ScatterOp op) {
  LinearLayout layout = getLayout(op.getValue());
  int64_t repeated = layout.freeVariables().front();
  Value owner = isOwner(layout);
  SmallVector<SmallVector<Value>> indices;
  for (Value tensor : op.getIndices())
    indices.push_back(getElements(tensor));
  SmallVector<Value> masks, values = getElements(op.getValue());
  if (op.getMask())
    masks = getElements(op.getMask());
  Type type = op.getValue().getType().getElementType();
  Type raw = builder.getIntegerType(type.getIntOrFloatBitWidth());
  int64_t width = getRunWidth(op, op.getValue());
  for (int64_t reg = 0; reg < int64_t(values.size()); reg += width) {
    if (reg & repeated)
      continue;
    SmallVector<Value> at;
    for (const SmallVector<Value> &column : indices)
      at.push_back(column[reg]);
    Element element = getElement(op.getView(), at);
    Value guard = both(element.inBounds, owner);
    if (op.getMask())
      guard = both(guard, masks[reg]);
    when(guard, [&, reg = reg] {
      Value bits = values[reg];
      if (width > 1)
        bits = makeVector(builder, loc, ArrayRef<Value>(values).slice(reg, width));
      LLVM::StoreOp::create(builder, loc, castBits(builder, loc, bits, raw),
                            getElementAddress(op.getView(), element.at),
                            width * raw.getIntOrFloatBitWidth() / 8, /*isVolatile=*/false,
                            isStreaming(op.getCache(), op.getEviction()));
    });
  }
  return success();
}
