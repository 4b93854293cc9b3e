// The value of a tensor at a point, through the ops that are computed where they are used.
#include "Nest.h"
#include "Program.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

Value Nest::vectorValue(Value tensor, const Point &point) {
  return splat(value(tensor, point), point.width);
}

Value Nest::value(Value tensor, const Point &point) {
  std::vector<const void *> key;
  Operation *op = tensor.getDefiningOp();
  bool together = op && isInline(tensor) && isElementwise(op) && op->getNumResults() > 1;
  unsigned number = together ? cast<OpResult>(tensor).getResultNumber() : 0;
  // Another of its results may lie in memory, and be known by itself.
  key.push_back(together ? static_cast<const void *>(op) : tensor.getAsOpaquePointer());
  for (Value at : point.at)
    key.push_back(at.getAsOpaquePointer());
  for (int64_t number : {static_cast<int64_t>(point.lane), point.step, point.width})
    key.push_back(reinterpret_cast<const void *>(number));
  if (auto it = known.find(key); it != known.end())
    return it->second.values[number];
  SmallVector<Value> values = compute(tensor, point);
  int level = 0;
  for (Value value : values)
    level = std::max(level, levelOf(value));
  known[key] = {values, static_cast<size_t>(level)};
  return values[number];
}

/// A scalar of the element's type. Floats that LLVM does not have are made of their bits, which
/// every later stage can hold.
static Value makeConstant(Nest &nest, Attribute value, Type element) {
  bool foreign = element.isIntOrFloat() &&
                 (element.getIntOrFloatBitWidth() < 16 || isa<FloatTF32Type>(element));
  if (auto real = dyn_cast<FloatAttr>(value); real && foreign) {
    APInt bits = real.getValue().bitcastToAPInt();
    Type integer = IntegerType::get(element.getContext(), bits.getBitWidth());
    return nest.make<arith::BitcastOp>(element, nest.constant(IntegerAttr::get(integer, bits)));
  }
  return nest.constant(cast<TypedAttr>(value));
}

SmallVector<Value> Nest::compute(Value tensor, const Point &point) {
  Operation *op = tensor.getDefiningOp();
  auto type = cast<RankedTensorType>(tensor.getType());
  Type element = type.getElementType();
  if (!isInline(tensor))
    return {load(program.storage(tensor), point)};

  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto data = cast<DenseElementsAttr>(constant.getValue());
    if (data.isSplat())
      return {makeConstant(*this, data.getSplatValue<Attribute>(), element)};
    return {load(program.constant(constant), point)};
  }
  if (auto splat = dyn_cast<tile::SplatOp>(op))
    return {program.scalar(splat.getValue())};
  if (auto iota = dyn_cast<tile::IotaOp>(op)) {
    int dim = iota.getDim();
    Value at = point.at[dim];
    if (!isa<IndexType>(element))
      at = make<arith::IndexCastOp>(element, at);
    if (dim != point.lane)
      return {at};
    return {make<arith::AddIOp>(splat(at, point.width), lanes(element, point.width, point.step))};
  }
  if (auto broadcast = dyn_cast<tile::BroadcastOp>(op)) {
    Point from = point;
    ArrayRef<int64_t> shape = broadcast.getInput().getType().getShape();
    for (auto [dim, extent] : llvm::enumerate(shape)) {
      if (extent != 1)
        continue;
      from.at[dim] = index(0);
      if (static_cast<int>(dim) == point.lane)
        from.lane = -1, from.width = 1, from.step = 1;
    }
    return {value(broadcast.getInput(), from)};
  }
  if (auto reshape = dyn_cast<tile::ReshapeOp>(op))
    return {computeReshape(reshape.getInput(), type.getShape(), point)};
  if (auto transpose = dyn_cast<tile::TransposeOp>(op)) {
    Point from = point;
    for (auto [to, dim] : llvm::enumerate(transpose.getPermutation())) {
      from.at[dim] = point.at[to];
      if (static_cast<int>(to) == point.lane)
        from.lane = dim;
    }
    return {value(transpose.getInput(), from)};
  }
  if (auto slice = dyn_cast<tile::SliceOp>(op)) {
    Point from = point;
    for (auto [dim, offset] : llvm::enumerate(slice.getOffsets()))
      from.at[dim] = add(point.at[dim], index(offset));
    return {value(slice.getInput(), from)};
  }
  if (auto split = dyn_cast<tile::SplitOp>(op)) {
    Point from = point;
    from.at.push_back(index(cast<OpResult>(tensor).getResultNumber()));
    return {value(split.getInput(), from)};
  }
  if (auto bitcast = dyn_cast<tile::BitcastOp>(op)) {
    Value from = value(bitcast.getInput(), point);
    auto vector = dyn_cast<VectorType>(from.getType());
    if (getElementTypeOrSelf(from) == element)
      return {from};
    return {make<arith::BitcastOp>(
        vector ? Type(VectorType::get(vector.getShape(), element)) : element, from)};
  }
  if (auto load = dyn_cast<tile::LoadOp>(op))
    return {computeLoad(load, point)};
  if (auto gather = dyn_cast<tile::GatherOp>(op))
    return {computeGather(gather, point)};
  if (auto read = dyn_cast<tile::ReadOp>(op)) {
    int64_t number = program.temp(read.getBuffer().getDefiningOp(), 0);
    ArrayRef<int64_t> shape = type.getShape();
    Point from = point;
    if (std::optional<ArrayRef<int64_t>> offsets = read.getAt()) {
      shape = read.getBuffer().getType().getShape();
      for (auto [at, offset] : llvm::zip(from.at, *offsets))
        at = add(at, index(offset));
    }
    return {load(program.buffer(number, shape, element), from)};
  }

  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(isa<RankedTensorType>(operand.getType()) ? value(operand, point)
                                                                : program.scalar(operand));
  return elementwise(op, operands);
}

SmallVector<Value> Nest::elementwise(Operation *op, ValueRange operands) {
  int64_t width = 1;
  for (Value operand : operands)
    if (auto vector = dyn_cast<VectorType>(operand.getType()))
      width = vector.getNumElements();
  SmallVector<Value> arguments;
  for (Value operand : operands)
    arguments.push_back(splat(operand, width));
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    Type element = getElementTypeOrSelf(type);
    types.push_back(width > 1 ? Type(VectorType::get({width}, element)) : element);
  }
  OperationState state(loc, op->getName(), arguments, types);
  for (NamedAttribute attribute : op->getAttrs())
    if (!attribute.getName().getValue().starts_with("cpu."))
      state.addAttribute(attribute.getName(), attribute.getValue());
  Operation *copy = Operation::create(state);
  place(copy);
  return SmallVector<Value>(copy->getResults());
}

SmallVector<Value> Nest::combine(Region &region, ValueRange arguments) {
  DenseMap<Value, Value> mapped;
  for (auto [from, to] : llvm::zip_equal(region.getArguments(), arguments))
    mapped[from] = to;
  auto lookup = [&](Value old) {
    Value found = mapped.lookup(old);
    return found ? found : program.scalar(old);
  };
  SmallVector<Value> results;
  for (Operation &op : region.front()) {
    SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), lookup);
    if (isa<tile::YieldOp>(op))
      return operands;
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      mapped[constant] = makeConstant(*this, constant.getValue(), constant.getType());
      continue;
    }
    for (auto [from, to] : llvm::zip_equal(op.getResults(), elementwise(&op, operands)))
      mapped[from] = to;
  }
  return results;
}

/// Row-major position in, index for each dimension out. Lanes stay in one dimension where the
/// shapes allow it; where they do not, each lane is computed by itself.
Value Nest::computeReshape(Value input, ArrayRef<int64_t> shape, const Point &point) {
  ArrayRef<int64_t> from = cast<RankedTensorType>(input.getType()).getShape();
  auto stridesOf = [](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> strides(shape.size(), 1);
    for (int dim = static_cast<int>(shape.size()) - 2; dim >= 0; --dim)
      strides[dim] = strides[dim + 1] * shape[dim + 1];
    return strides;
  };
  SmallVector<int64_t> strides = stridesOf(shape), inStrides = stridesOf(from);
  int64_t laneStride = point.lane < 0 ? 0 : point.step * strides[point.lane];

  if (!isInline(input)) { // in memory the two are the same
    Point flat{{index(0)}, point.lane < 0 ? -1 : 0, laneStride, point.width};
    SmallVector<Value> steps;
    for (int64_t stride : strides)
      steps.push_back(index(stride));
    flat.at[0] = linear(point.at, steps);
    Array array = program.storage(input);
    array.extents = {index(cast<RankedTensorType>(input.getType()).getNumElements())};
    array.strides = {index(1)};
    return load(array, flat);
  }

  // Dimensions of extent 1 aside, each input dimension is a run of output dimensions, unless the
  // shapes merge dimensions.
  if (!mergesDimensions(from, shape)) {
    Point to;
    to.at.assign(from.size(), index(0));
    size_t j = 0;
    for (size_t dim = 0; dim < from.size(); ++dim) {
      if (from[dim] == 1)
        continue;
      int64_t rest = from[dim];
      Value at = index(0);
      for (; rest > 1; ++j) {
        rest /= shape[j];
        at = add(at, mul(point.at[j], index(rest)));
        if (static_cast<int>(j) == point.lane) {
          to.lane = dim;
          to.step = point.step * rest;
          to.width = point.width;
        }
      }
      to.at[dim] = at;
    }
    return value(input, to);
  }

  auto element = [&](int64_t lane) {
    SmallVector<Value> steps;
    for (int64_t stride : strides)
      steps.push_back(index(stride));
    Value flat = add(linear(point.at, steps), index(lane * laneStride));
    Point to;
    for (auto [dim, stride] : llvm::enumerate(inStrides)) {
      if (from[dim] == 1) {
        to.at.push_back(index(0));
        continue;
      }
      Value at = stride == 1 ? flat : make<arith::DivUIOp>(flat, index(stride));
      to.at.push_back(dim == 0 ? at : make<arith::RemUIOp>(at, index(from[dim])));
    }
    return value(input, to);
  };
  if (point.width == 1)
    return element(0);
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < point.width; ++lane)
    elements.push_back(element(lane));
  return make<vector::FromElementsOp>(VectorType::get({point.width}, elements.front().getType()),
                                      elements);
}

Value Nest::computeLoad(tile::LoadOp op, const Point &point) {
  auto it = redirected.find(op);
  bool copied = it != redirected.end();
  const Array &array = copied ? it->second.first : program.view(op.getView());
  SmallVector<Value> offsets = copied ? it->second.second : program.scalarRange(op.getOffsets());
  Value padding = op.getPadding() ? program.scalar(op.getPadding()) : Value();
  Value mask = inside ? Value() : insideMask(array, offsets, point);
  return load(array, moved(point, offsets), mask, padding);
}

Value Nest::computeGather(tile::GatherOp op, const Point &point) {
  const Array &array = program.view(op.getView());
  Places found = places(array, op.getIndices(), op.getMask(), point);
  Value padding = op.getPadding() ? program.scalar(op.getPadding()) : Value();
  if (found.isRun)
    return loadRun(array, found, padding, point.width);
  auto widened = [&](Value value) { return value ? splat(value, point.width) : value; };
  bool isLanes = isa<VectorType>(found.position.getType()) ||
                 (found.mask && isa<VectorType>(found.mask.getType()));
  if (isLanes)
    found.position = widened(found.position), found.mask = widened(found.mask);
  return gatherElements(array, found.position, found.mask, padding);
}
