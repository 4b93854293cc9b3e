// Tiles that memory holds the other way round.
//
// Lanes want to run along the dimension that a result is contiguous in. Where what is read is
// contiguous in another one, each lane would be fetched by itself, from a cache line of its own.
// Instead squares are read along the other dimension, one register a row, and transposed in
// registers: log2(width) rounds, in each of which pairs of registers exchange halves of blocks.
#include "Program.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

static bool isInnermost(ArrayRef<int64_t> shape, int dim) {
  return llvm::all_of(shape.drop_front(dim + 1), [](int64_t extent) { return extent == 1; });
}

bool Program::isStraight(Value tensor, int dim) {
  DenseSet<std::pair<Value, int>> met;
  return isStraight(tensor, dim, met);
}

bool Program::isStraight(Value tensor, int dim, DenseSet<std::pair<Value, int>> &met) {
  // What was met before is straight: whatever is not ends the whole walk.
  if (!met.insert({tensor, dim}).second)
    return true;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  Operation *op = tensor.getDefiningOp();
  if (shape[dim] == 1 || !isInline(tensor) || isa<tile::ReadOp>(op))
    return shape[dim] == 1 || isInnermost(shape, dim);
  if (isa<tile::SplatOp, tile::IotaOp, tile::GatherOp>(op))
    return true;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return cast<DenseElementsAttr>(constant.getValue()).isSplat() || isInnermost(shape, dim);
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return getConstantIntValue(view(load.getView()).strides[dim]) == 1;
  if (auto transpose = dyn_cast<tile::TransposeOp>(op))
    return isStraight(transpose.getInput(), transpose.getPermutation()[dim], met);
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op)) {
    ArrayRef<int64_t> from = reshape.getInput().getType().getShape();
    if (!isInline(reshape.getInput()) || mergesDimensions(from, shape))
      return isInnermost(shape, dim);
    // The dimension's elements are neighbours if it is the last of those that one is split into.
    int64_t behind = 1, seen = 1;
    for (int64_t extent : shape.drop_front(dim + 1))
      behind *= extent;
    for (int source = static_cast<int>(from.size()) - 1; source >= 0; --source) {
      if (from[source] > 1 && seen == behind)
        return isStraight(reshape.getInput(), source, met);
      seen *= from[source];
    }
    return false;
  }
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    return !isa<RankedTensorType>(operand.getType()) || isStraight(operand, dim, met);
  });
}

int Program::straightLane(Value tensor, ArrayRef<int64_t> shape, int lane) {
  if (lane < 0 || isStraight(tensor, lane))
    return lane;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent > 1 && isStraight(tensor, dim))
      return dim;
  return lane;
}

SmallVector<Value> Program::transposed(Nest &nest, SmallVector<Value> rows) {
  auto type = cast<VectorType>(rows.front().getType());
  Type element = type.getElementType();
  int64_t width = type.getNumElements();
  for (Value &row : rows)
    row = nest.toStorage(row, element);
  for (int64_t distance = width / 2; distance > 0; distance /= 2) {
    SmallVector<int64_t> upper, lower; // lanes of the second register are counted from width on
    for (int64_t lane = 0; lane < width; ++lane) {
      bool second = lane & distance;
      upper.push_back(second ? width + lane - distance : lane);
      lower.push_back(second ? width + lane : lane + distance);
    }
    for (int64_t row = 0; row < width; ++row) {
      if (row & distance)
        continue;
      Value a = rows[row], b = rows[row + distance];
      rows[row] = nest.make<vector::ShuffleOp>(a, b, upper);
      rows[row + distance] = nest.make<vector::ShuffleOp>(a, b, lower);
    }
  }
  for (Value &row : rows)
    row = nest.fromStorage(row, element);
  return rows;
}

void Program::forVectors(Nest &nest, Value tensor, int lane,
                         function_ref<void(const Point &, Value)> put) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  auto plain = [&](const Point &point) { put(point, nest.vectorValue(tensor, point)); };
  int other = straightLane(tensor, shape, lane);
  int64_t width = vectorWidth();
  for (int dim : {lane, other})
    if (dim >= 0)
      width = std::min<int64_t>(width, llvm::bit_floor(static_cast<uint64_t>(shape[dim])));
  if (other == lane || width < 4) {
    nest.forEach(shape, lane, plain);
    return;
  }
  Point corner;
  unsigned opened = 0;
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    bool loop = static_cast<int>(dim) != lane && static_cast<int>(dim) != other && extent > 1;
    corner.at.push_back(loop ? nest.open(0, extent) : nest.index(0));
    opened += loop;
  }
  int64_t rows = shape[lane] / width * width, columns = shape[other] / width * width;
  auto moved = [&](Point point, int dim, Value to) {
    point.at[dim] = to;
    return point;
  };
  // Whole squares.
  Value row = nest.open(0, rows, width);
  Value column = nest.open(0, columns, width);
  SmallVector<Value> read;
  Point square = moved(moved(corner, lane, row), other, column);
  for (int64_t i = 0; i < width; ++i) {
    Point point = moved(square, lane, nest.add(row, nest.index(i)));
    point.lane = other, point.width = width;
    read.push_back(nest.vectorValue(tensor, point));
  }
  for (auto [i, value] : llvm::enumerate(transposed(nest, read))) {
    Point point = moved(square, other, nest.add(column, nest.index(i)));
    point.lane = lane, point.width = width;
    put(point, value);
  }
  nest.close();
  nest.close();
  // What is left beside and below them.
  auto rest = [&](int64_t fromRow, int64_t fromColumn, int64_t toColumn) {
    if (fromRow == shape[lane] || fromColumn == toColumn)
      return;
    Value row = nest.open(fromRow, shape[lane]);
    Value column = nest.open(fromColumn, toColumn);
    plain(moved(moved(corner, lane, row), other, column));
    nest.close();
    nest.close();
  };
  rest(rows, 0, columns);
  rest(0, columns, shape[other]);
  while (opened--)
    nest.close();
}
