// Gathers and scatters: one access a run of neighbours, as far as the indices are known to have
// any.
#include "../ThreadPatterns.h"
#include "../ViewAccess.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
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
static SmallVector<Value> loadRun(ThreadContext &context, Value view, ViewElement element,
                                  int64_t width, Value padding, CacheHints hints) {
  if (width == 1)
    return {loadElement(context, view, element, padding, hints)};
  Type type = cast<ViewType>(view.getType()).getElementType();
  Type raw = context.getIntegerType(type.getIntOrFloatBitWidth());
  Value pointer = getElementAddress(context, view, element.at);
  if (element.inBounds)
    pointer = arith::SelectOp::create(context, element.inBounds, pointer,
                                      getSixteenBytes(context, APInt::getZero(8)));
  Value loaded = loadGlobal(context, context.getLoc(), VectorType::get({width}, raw), pointer,
                            width * raw.getIntOrFloatBitWidth() / 8, hints);
  loaded = castBits(context, loaded, type);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < width; ++i) {
    Value value = elementAt(context, context.getLoc(), loaded, i);
    if (padding && element.inBounds)
      value = arith::SelectOp::create(context, element.inBounds, value, padding);
    elements.push_back(value);
  }
  return elements;
}

static void lowerGather(ThreadContext &context, GatherOp op) {
  SmallVector<SmallVector<Value>> indices;
  for (Value tensor : op.getIndices())
    indices.push_back(context.getElements(tensor));
  SmallVector<Value> masks, elements;
  if (op.getMask())
    masks = context.getElements(op.getMask());
  Value padding;
  if (op.getPadding() && !matchPattern(op.getPadding(), m_PosZeroFloat()) &&
      !matchPattern(op.getPadding(), m_Zero()))
    padding = context.get(op.getPadding());
  int64_t width = getRunWidth(op, op.getResult());
  for (int64_t reg = 0; reg < getLayout(op.getResult()).getInSize(kRegister); reg += width) {
    SmallVector<Value> at;
    for (const SmallVector<Value> &column : indices)
      at.push_back(column[reg]);
    ViewElement element = getElement(context, op.getView(), at);
    if (op.getMask())
      element.inBounds = context.both(element.inBounds, masks[reg]);
    llvm::append_range(elements,
                       loadRun(context, op.getView(), element, width, padding, getHints(op)));
  }
  context.setElements(op.getResult(), elements);
}

static void lowerScatter(ThreadContext &context, ScatterOp op) {
  LinearLayout layout = getLayout(op.getValue());
  int64_t repeated = layout.freeVariables().front();
  Value owner = context.isOwner(layout);
  SmallVector<SmallVector<Value>> indices;
  for (Value tensor : op.getIndices())
    indices.push_back(context.getElements(tensor));
  SmallVector<Value> masks, values = context.getElements(op.getValue());
  if (op.getMask())
    masks = context.getElements(op.getMask());
  Type type = op.getValue().getType().getElementType();
  Type raw = context.getIntegerType(type.getIntOrFloatBitWidth());
  int64_t width = getRunWidth(op, op.getValue());
  for (int64_t reg = 0; reg < int64_t(values.size()); reg += width) {
    if (reg & repeated)
      continue;
    SmallVector<Value> at;
    for (const SmallVector<Value> &column : indices)
      at.push_back(column[reg]);
    ViewElement element = getElement(context, op.getView(), at);
    Value guard = context.both(element.inBounds, owner);
    if (op.getMask())
      guard = context.both(guard, masks[reg]);
    context.when(guard, [&, reg = reg] {
      Value bits = values[reg];
      if (width > 1)
        bits = makeVector(context, context.getLoc(), ArrayRef<Value>(values).slice(reg, width));
      storeGlobal(context, context.getLoc(), castBits(context, bits, raw),
                  getElementAddress(context, op.getView(), element.at),
                  width * raw.getIntOrFloatBitWidth() / 8, getHints(op));
    });
  }
}

void kiln::populateGatherPatterns(ThreadPatterns &patterns) {
  patterns.add<GatherOp>(lowerGather).emulatedIf(hasPackedElements);
  patterns.add<ScatterOp>(lowerScatter).emulatedIf(hasPackedElements);
}
