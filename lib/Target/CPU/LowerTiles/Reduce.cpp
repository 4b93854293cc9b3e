// Reductions along an axis.
//
// Across the axis the lanes are independent: each lane combines its own elements in order, whatever
// the region. Along the axis the lanes are the elements to combine. If the region is known to
// commute, four vectors of partial results go over them and are combined last. Any other region
// (tuples: a maximum and where it is, a mean and a variance) only associates: there, neighbours are
// combined, the even lanes of two vectors with their odd ones, which keeps left before right, until
// one element is left of a block.
#include "Program.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

using Values = SmallVector<Value>;

/// Whether each result is one op that commutes and associates (with floats: up to rounding, which
/// the order of a reduction leaves open), on the two sides of its own input.
static bool commutes(Region &region) {
  Block &block = region.front();
  size_t count = block.getNumArguments() / 2;
  if (std::distance(block.begin(), block.end()) != static_cast<ptrdiff_t>(count + 1))
    return false;
  for (auto [index, value] : llvm::enumerate(block.back().getOperands())) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &block || op->getNumOperands() != 2)
      return false;
    Value left = block.getArgument(index), right = block.getArgument(count + index);
    bool both = (op->getOperand(0) == left && op->getOperand(1) == right) ||
                (op->getOperand(0) == right && op->getOperand(1) == left);
    if (!both ||
        !isa<arith::AddFOp, arith::AddIOp, arith::MulFOp, arith::MulIOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::MaxSIOp, arith::MinSIOp,
             arith::MaxUIOp, arith::MinUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
      return false;
  }
  return true;
}

namespace {

/// One slice along the axis, in vectors.
class Slice {
public:
  /// `read` gives the inputs at an index along the axis, so many neighbours of each.
  Slice(Nest &nest, Region &region, int64_t extent, int64_t width,
        function_ref<Values(Value, int64_t)> read)
      : nest(nest), region(region), extent(extent), width(width), read(read) {}

  Values commuting();
  Values inOrder();

private:
  Values combine(const Values &left, const Values &right, int64_t lanes);
  Values lanes(const Values &vectors, int64_t from, int64_t count, int64_t step);
  Values halves(Values vectors);
  Values block(Value start, int64_t count, int64_t lanes);
  Values one(Value index) { return read(index, 1); }

  Nest &nest;
  Region &region;
  int64_t extent, width;
  function_ref<Values(Value, int64_t)> read;
};

} // namespace

static int64_t lanesOf(Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  return vector ? vector.getNumElements() : 1;
}

Values Slice::combine(const Values &left, const Values &right, int64_t lanes) {
  Values arguments = left;
  llvm::append_range(arguments, right);
  Values results = nest.combine(region, arguments);
  for (Value &result : results)
    result = nest.splat(result, lanes);
  return results;
}

/// Some lanes of each vector; of pairs of vectors if there are twice as many as inputs.
Values Slice::lanes(const Values &vectors, int64_t from, int64_t count, int64_t step) {
  size_t inputs = region.front().getNumArguments() / 2;
  Values taken;
  for (size_t input = 0; input < inputs; ++input) {
    Value first = vectors[input], second = vectors[vectors.size() - inputs + input];
    SmallVector<int64_t> which;
    for (int64_t lane = 0; lane < count; ++lane)
      which.push_back(from + lane * step);
    taken.push_back(count == 1 ? nest.make<vector::ExtractOp>(first, which)
                               : nest.make<vector::ShuffleOp>(first, second, which));
  }
  return taken;
}

/// Combines the lanes of vectors, halving them each time.
Values Slice::halves(Values vectors) {
  for (int64_t rest = lanesOf(vectors.front()) / 2; rest > 0; rest /= 2)
    vectors = combine(lanes(vectors, 0, rest, 1), lanes(vectors, rest, rest, 1), rest);
  return vectors;
}

Values Slice::commuting() {
  auto vectorAt = [&](Value index) { return read(index, width); };
  int64_t whole = extent / width, ways = std::min<int64_t>(whole, 4);
  int64_t rounds = whole / ways;
  SmallVector<Values> partial;
  for (int64_t way = 0; way < ways; ++way)
    partial.push_back(vectorAt(nest.index(way * width)));
  if (rounds > 1) {
    Values inits, carried, next;
    for (const Values &values : partial)
      llvm::append_range(inits, values);
    size_t inputs = partial.front().size();
    Value index = nest.open(nest.index(ways * width), nest.index(rounds * ways * width),
                            ways * width, inits, &carried);
    for (int64_t way = 0; way < ways; ++way) {
      Values more = vectorAt(nest.add(index, nest.index(way * width)));
      Values mine(ArrayRef<Value>(carried).slice(way * inputs, inputs));
      llvm::append_range(next, combine(mine, more, width));
    }
    Values found = nest.close(next);
    for (int64_t way = 0; way < ways; ++way)
      partial[way] = Values(ArrayRef<Value>(found).slice(way * inputs, inputs));
  }
  for (int64_t rest = rounds * ways; rest < whole; ++rest)
    partial.push_back(vectorAt(nest.index(rest * width)));
  while (partial.size() > 1) {
    SmallVector<Values> halved;
    for (size_t i = 0; i + 1 < partial.size(); i += 2)
      halved.push_back(combine(partial[i], partial[i + 1], width));
    if (partial.size() % 2)
      halved.push_back(partial.back());
    partial = halved;
  }
  Values sums = halves(partial.front());
  for (int64_t rest = whole * width; rest < extent; ++rest)
    sums = combine(sums, one(nest.index(rest)), 1);
  return sums;
}

/// The elements of `count` vectors, a power of two, from an index on, as one.
Values Slice::block(Value start, int64_t count, int64_t width) {
  SmallVector<Values> vectors;
  for (int64_t i = 0; i < count; ++i)
    vectors.push_back(read(nest.add(start, nest.index(i * width)), width));
  while (vectors.size() > 1) {
    SmallVector<Values> halved;
    for (size_t i = 0; i < vectors.size(); i += 2) {
      Values both = vectors[i];
      llvm::append_range(both, vectors[i + 1]);
      halved.push_back(combine(lanes(both, 0, width, 2), lanes(both, 1, width, 2), width));
    }
    vectors = halved;
  }
  Values found = vectors.front();
  for (int64_t rest = width / 2; rest > 0; rest /= 2)
    found = combine(lanes(found, 0, rest, 2), lanes(found, 1, rest, 2), rest);
  return found;
}

Values Slice::inOrder() {
  constexpr int64_t kWays = 8;
  int64_t step = kWays * width, done = 0;
  Values sums;
  auto append = [&](Values next) { sums = sums.empty() ? next : combine(sums, next, 1); };
  if (extent >= step) {
    append(block(nest.index(0), kWays, width));
    done = extent / step * step;
    if (done > step) {
      Values carried;
      Value index = nest.open(nest.index(step), nest.index(done), step, sums, &carried);
      sums = nest.close(combine(carried, block(index, kWays, width), 1));
    }
  }
  for (int64_t count = kWays / 2; count > 0; count /= 2)
    if (extent - done >= count * width) {
      append(block(nest.index(done), count, width));
      done += count * width;
    }
  for (int64_t lanes = width / 2; lanes > 0; lanes /= 2)
    if (extent - done >= lanes) {
      append(block(nest.index(done), 1, lanes));
      done += lanes;
    }
  return sums;
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
          auto valuesAt = [&](Value index, int64_t lanes) {
            Point where = point;
            where.at[axis] = index;
            if (lanes > 1)
              where.lane = axis, where.width = lanes;
            Values values;
            for (Value input : op.getInputs())
              values.push_back(nest.vectorValue(input, where));
            if (fills)
              nest.store(values.front(), kept, where);
            return values;
          };
          Values sums;
          if (along) {
            Slice slice(nest, region, extent, width, valuesAt);
            sums = commutes(region) ? slice.commuting() : slice.inOrder();
          } else {
            sums = valuesAt(nest.index(0), 1);
            if (extent > 1) {
              Values carried;
              Value index = nest.open(nest.index(1), nest.index(extent), 1, sums, &carried);
              Values arguments = carried;
              llvm::append_range(arguments, valuesAt(index, 1));
              Values next = nest.combine(region, arguments);
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
