// Ops along an axis: reduce, scan and arg_reduce.
//
// Across the axis the lanes are independent: each lane combines its own elements in order, whatever
// the region. Along the axis, where the lanes would be the elements to combine, vectors of partial
// results are used if the region is known to commute; other regions run element by element.
#include "Program.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

static int lastWide(ArrayRef<int64_t> shape) {
  int lane = -1;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent > 1)
      lane = dim;
  return lane;
}

static Point without(const Point &point, int64_t axis) {
  Point kept = point;
  kept.at.erase(kept.at.begin() + axis);
  if (kept.lane > axis)
    --kept.lane;
  return kept;
}

/// Whether the region is one op that commutes and associates (with floats: up to rounding, which
/// the order of a reduction leaves open).
static bool commutes(Region &region) {
  Block &block = region.front();
  if (block.getNumArguments() != 2 || std::distance(block.begin(), block.end()) != 2)
    return false;
  Operation *op = &block.front();
  if (block.back().getOperands() != ValueRange(op->getResults()) || op->getNumOperands() != 2)
    return false;
  Value left = block.getArgument(0), right = block.getArgument(1);
  bool both = (op->getOperand(0) == left && op->getOperand(1) == right) ||
              (op->getOperand(0) == right && op->getOperand(1) == left);
  return both &&
         isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp,
             arith::MaxUIOp, arith::MinUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op);
}

/// Combines the lanes of a vector, halving it each time.
static Value combineLanes(Nest &nest, Region &region, Value vector) {
  int64_t width = cast<VectorType>(vector.getType()).getNumElements();
  auto part = [&](int64_t from, int64_t count) -> Value {
    if (count == 1)
      return nest.make<vector::ExtractOp>(vector, ArrayRef<int64_t>{from});
    SmallVector<int64_t> lanes = llvm::to_vector(llvm::seq<int64_t>(from, from + count));
    return nest.make<vector::ShuffleOp>(vector, vector, lanes);
  };
  while (width > 1) {
    width /= 2;
    Value low = part(0, width), high = part(width, width);
    vector = nest.combine(region, {low, high}).front();
  }
  return vector;
}

void Program::lowerReduce(tile::ReduceOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getInputs().front().getType());
  ArrayRef<int64_t> shape = type.getShape();
  int axis = op.getAxis();
  int64_t extent = shape[axis];
  Region &region = op.getCombiner();
  SmallVector<Array> results;
  for (Value result : op.getResults())
    results.push_back(storage(result));

  // An input that is computed here and kept on the way.
  Operation *source = op.getInputs().front().getDefiningOp();
  bool fills = source && source->hasAttr(kFusedAttr);
  Array kept;
  Attribute buffers;
  if (fills) {
    kept = storage(op.getInputs().front());
    buffers = source->removeAttr(kBuffersAttr);
  }

  int lane = lastWide(shape);
  bool along = lane == axis && extent > 1;
  bool vectors = along && commutes(region);
  if (along)
    lane = -1;
  SmallVector<Value> conditions;
  for (Value input : op.getInputs())
    insideConditions(input, conditions);
  int64_t width = std::min<int64_t>(vectorWidth(), llvm::bit_floor(static_cast<uint64_t>(extent)));

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
            if (fills)
              nest.store(values.front(), kept, where);
            return values;
          };
          SmallVector<Value> sums;
          if (vectors && extent >= width) {
            auto vectorAt = [&](Value index) {
              Point wide = at(index);
              wide.lane = axis;
              wide.width = width;
              return valuesAt(wide).front();
            };
            int64_t whole = extent / width, ways = std::min<int64_t>(whole, 4);
            int64_t rounds = whole / ways;
            SmallVector<Value> partial;
            for (int64_t way = 0; way < ways; ++way)
              partial.push_back(vectorAt(nest.index(way * width)));
            if (rounds > 1) {
              SmallVector<Value> carried, next;
              Value index = nest.open(nest.index(ways * width), nest.index(rounds * ways * width),
                                      ways * width, partial, &carried);
              for (int64_t way = 0; way < ways; ++way) {
                Value more = vectorAt(nest.add(index, nest.index(way * width)));
                next.push_back(nest.combine(region, {carried[way], more}).front());
              }
              partial = nest.close(next);
            }
            for (int64_t rest = rounds * ways; rest < whole; ++rest)
              partial.push_back(vectorAt(nest.index(rest * width)));
            while (partial.size() > 1) {
              SmallVector<Value> halved;
              for (size_t i = 0; i + 1 < partial.size(); i += 2)
                halved.push_back(nest.combine(region, {partial[i], partial[i + 1]}).front());
              if (partial.size() % 2)
                halved.push_back(partial.back());
              partial = halved;
            }
            sums = {combineLanes(nest, region, partial.front())};
            for (int64_t rest = whole * width; rest < extent; ++rest) {
              Value more = valuesAt(at(nest.index(rest))).front();
              sums = nest.combine(region, {sums.front(), more});
            }
          } else {
            sums = valuesAt(at(nest.index(0)));
            if (extent > 1) {
              SmallVector<Value> carried;
              Value index = nest.open(nest.index(1), nest.index(extent), 1, sums, &carried);
              SmallVector<Value> arguments = carried;
              llvm::append_range(arguments, valuesAt(at(index)));
              SmallVector<Value> next = nest.combine(region, arguments);
              for (Value &value : next)
                value = nest.splat(value, point.width);
              sums = nest.close(next);
            }
          }
          for (auto [sum, result] : llvm::zip_equal(sums, results))
            nest.store(sum, result, without(point, axis));
        },
        axis);
  });
  if (fills)
    source->setAttr(kBuffersAttr, buffers);
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
