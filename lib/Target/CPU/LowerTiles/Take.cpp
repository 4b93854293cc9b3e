// Elements of a tensor at computed positions.
//
// Of a tensor in a buffer whole vectors of positions are gathered; one that is computed where it is
// used is computed at each position.
#include "Program.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

void Program::lowerTake(tile::TakeOp op) {
  Location loc = op.getLoc();
  Value input = op.getInput();
  auto type = cast<RankedTensorType>(input.getType());
  int64_t axis = op.getAxis(), extent = type.getDimSize(axis);
  ArrayRef<int64_t> shape = op.getResult().getType().getShape();
  Array to = storage(op.getResult());
  Type i64 = builder.getI64Type();
  bool isKept = !isInline(input);
  int lane = -1;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size > 1 && isKept)
      lane = dim;
  SmallVector<Value> conditions;
  insideConditions(op.getIndices(), conditions);
  // Positions are anywhere in the input, which must lie in its view as a whole.
  if (!isKept)
    insideConditions(input, conditions);
  versions(loc, conditions, [&](bool inside) {
    Nest nest(*this, loc, inside);
    nest.forEach(shape, lane, [&](const Point &point) {
      Value position = nest.vectorValue(op.getIndices(), point);
      int64_t width = point.width;
      auto wide = [&](Value scalar) { return nest.splat(scalar, width); };
      Type many = width > 1 ? Type(VectorType::get({width}, i64)) : i64;
      position = nest.make<arith::ExtSIOp>(many, position);
      Value valid = nest.make<arith::CmpIOp>(arith::CmpIPredicate::ult, position,
                                             wide(nest.integer(i64, extent)));
      if (isKept) {
        Array from = storage(input);
        SmallVector<Value> steps(from.strides);
        Point row = point;
        row.at[axis] = nest.index(0);
        Value first = nest.toI64(nest.linear(row.at, steps));
        Value at = wide(first);
        if (point.lane >= 0 && point.lane != axis && width > 1) {
          int64_t step = point.step;
          for (int64_t dim = type.getRank() - 1; dim > point.lane; --dim)
            step *= type.getDimSize(dim);
          at = nest.make<arith::AddIOp>(at, nest.lanes(i64, width, step));
        }
        Value stride = wide(nest.toI64(from.strides[axis]));
        at = nest.make<arith::AddIOp>(at, nest.make<arith::MulIOp>(position, stride));
        nest.store(nest.gatherElements(from, at, valid, Value()), to, point);
        return;
      }
      Value safe = nest.make<arith::SelectOp>(valid, position, nest.integer(i64, 0));
      Point source = point;
      source.at[axis] = nest.make<arith::IndexCastOp>(builder.getIndexType(), safe);
      Value found = nest.toStorage(nest.value(input, source), type.getElementType());
      Value none = nest.constant(builder.getZeroAttr(storageType(type.getElementType())));
      found = nest.make<arith::SelectOp>(valid, found, none);
      nest.store(nest.fromStorage(found, type.getElementType()), to, point);
    });
  });
}
