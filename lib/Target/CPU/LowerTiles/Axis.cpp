// Ops along an axis: scan and arg_reduce.
//
// Across the axis the lanes are independent: each lane combines its own elements in order, whatever
// the region. Along the axis, where the lanes would be the elements to combine, arg_reduce has a
// best element for each lane; a scan runs element by element.
#include "Program.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

int kiln::cpu::lastWide(ArrayRef<int64_t> shape) {
  int lane = -1;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent > 1)
      lane = dim;
  return lane;
}

Point kiln::cpu::without(const Point &point, int64_t axis) {
  Point kept = point;
  kept.at.erase(kept.at.begin() + axis);
  if (kept.lane > axis)
    --kept.lane;
  return kept;
}

void Program::lowerScan(tile::ScanOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getInputs().front().getType());
  ArrayRef<int64_t> shape = type.getShape();
  int axis = op.getAxis();
  int64_t extent = shape[axis];
  SmallVector<Array> results;
  for (Value result : op.getResults())
    results.push_back(storage(result));
  int lane = lastWide(shape);
  if (lane == axis)
    lane = -1;
  SmallVector<Value> conditions;
  for (Value input : op.getInputs())
    insideConditions(input, conditions);
  versions(loc, conditions, [&](bool inside) {
    Nest nest(*this, loc, inside);
    nest.forEach(
        shape, lane,
        [&](Point point) {
          auto at = [&](Value index) {
            Point moved = point;
            moved.at[axis] = index;
            return moved;
          };
          auto valuesAt = [&](const Point &where) {
            SmallVector<Value> values;
            for (Value input : op.getInputs())
              values.push_back(nest.vectorValue(input, where));
            return values;
          };
          auto keep = [&](ValueRange values, Value index) {
            for (auto [value, result] : llvm::zip_equal(values, results))
              nest.store(value, result, at(index));
          };
          Value first = nest.index(op.getReverse() ? extent - 1 : 0);
          SmallVector<Value> sums = valuesAt(at(first)), carried;
          keep(sums, first);
          if (extent == 1)
            return;
          Value step = nest.open(nest.index(1), nest.index(extent), 1, sums, &carried);
          Value index = step;
          if (op.getReverse())
            index = nest.make<arith::SubIOp>(nest.index(extent - 1), step);
          // The element that stands first along the axis is the left one.
          SmallVector<Value> here = valuesAt(at(index));
          SmallVector<Value> arguments = op.getReverse() ? here : carried;
          llvm::append_range(arguments, op.getReverse() ? carried : here);
          SmallVector<Value> next = nest.combine(op.getCombiner(), arguments);
          for (Value &value : next)
            value = nest.splat(value, point.width);
          keep(next, index);
          nest.close(next);
        },
        axis);
  });
}

void Program::lowerArgReduce(tile::ArgReduceOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getInput().getType());
  ArrayRef<int64_t> shape = type.getShape();
  int axis = op.getAxis();
  int64_t extent = shape[axis];
  Array values = storage(op.getValue()), positions = storage(op.getPosition());
  Type i32 = builder.getI32Type();
  int lane = lastWide(shape);
  bool along = lane == axis && extent > 1;
  if (along)
    lane = -1;
  int64_t width = vectorWidth();
  bool vectors = along && extent >= 2 * width;
  SmallVector<Value> conditions;
  insideConditions(op.getInput(), conditions);

  versions(loc, conditions, [&](bool inside) {
    Nest nest(*this, loc, inside);
    // (best, its position) against (next, its position): the better one, else the best.
    auto choose = [&](Value best, Value where, Value next, Value there) {
      Value wins = nest.combine(op.getCombiner(), {best, next}).front();
      return SmallVector<Value>{nest.make<arith::SelectOp>(wins, next, best),
                                nest.make<arith::SelectOp>(wins, there, where)};
    };
    auto toI32 = [&](Value index) { return nest.make<arith::IndexCastOp>(i32, index); };
    nest.forEach(
        shape, lane,
        [&](Point point) {
          auto at = [&](Value index, int64_t lanes) {
            Point moved = point;
            moved.at[axis] = index;
            if (lanes > 1)
              moved.lane = axis, moved.width = lanes;
            return nest.vectorValue(op.getInput(), moved);
          };
          SmallVector<Value> best;
          int64_t done = 1;
          if (vectors) {
            // Each lane's own best, at the lowest position in that lane; then the lanes' best.
            done = extent / width * width;
            Value lanes = nest.lanes(i32, width);
            SmallVector<Value> inits{at(nest.index(0), width), lanes}, carried;
            Value index = nest.open(nest.index(width), nest.index(done), width, inits, &carried);
            Value there = nest.make<arith::AddIOp>(nest.splat(toI32(index), width), lanes);
            SmallVector<Value> next = choose(carried[0], carried[1], at(index, width), there);
            SmallVector<Value> found = nest.close(next);
            auto part = [&](Value vector, int64_t which) {
              return nest.make<vector::ExtractOp>(vector, ArrayRef<int64_t>{which});
            };
            best = {part(found[0], 0), part(found[1], 0)};
            for (int64_t which = 1; which < width; ++which) {
              Value value = part(found[0], which), where = part(found[1], which);
              Value wins = nest.combine(op.getCombiner(), {best[0], value}).front();
              Value loses = nest.combine(op.getCombiner(), {value, best[0]}).front();
              Value earlier = nest.make<arith::CmpIOp>(arith::CmpIPredicate::slt, where, best[1]);
              Value no = nest.make<arith::XOrIOp>(
                  loses, nest.integer(IntegerType::get(loc.getContext(), 1), 1));
              Value take = nest.make<arith::OrIOp>(wins, nest.make<arith::AndIOp>(no, earlier));
              best = {nest.make<arith::SelectOp>(take, value, best[0]),
                      nest.make<arith::SelectOp>(take, where, best[1])};
            }
          } else {
            best = {at(nest.index(0), 1), nest.splat(nest.integer(i32, 0), point.width)};
          }
          if (done < extent) {
            SmallVector<Value> carried;
            Value index = nest.open(nest.index(done), nest.index(extent), 1, best, &carried);
            Value there = nest.splat(toI32(index), point.width);
            best = nest.close(choose(carried[0], carried[1], at(index, 1), there));
          }
          nest.store(best[0], values, without(point, axis));
          nest.store(best[1], positions, without(point, axis));
        },
        axis);
  });
}
