// Elements of views at computed indices, for gather, scatter and atomics.
//
// Where the lanes of one index count upwards along a dimension of stride 1 and all other indices
// are the same for all lanes, as in `table.gather((rows[:, None], arange(D)[None, :]))`, the
// elements are a run of neighbours: one masked access of a whole vector. Which lanes lie inside is
// asked of the indices themselves, lane by lane, so that an index that wraps around is outside here
// as well.
#include "Nest.h"
#include "Program.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

namespace {
/// The lanes of a vector of integers: first, first + step, …
struct Lanes {
  Value first;
  int64_t step;
};
} // namespace

static std::optional<Lanes> lanesOfConstant(Nest &nest, DenseIntElementsAttr values) {
  APInt first = *values.value_begin<APInt>(), last = first;
  std::optional<int64_t> step;
  for (const APInt &value : llvm::drop_begin(values.getValues<APInt>())) {
    int64_t here = (value - last).getSExtValue();
    if (step && *step != here)
      return std::nullopt;
    step = here;
    last = value;
  }
  Type element = values.getElementType();
  return Lanes{nest.constant(IntegerAttr::get(element, first)), step.value_or(0)};
}

/// How a vector's lanes are computed from scalars, if that can be seen. The scalars are in its own
/// width: `first` is what the first lane holds.
static std::optional<Lanes> lanesOf(Nest &nest, Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type)
    return Lanes{value, 0};
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    if (isa<VectorType>(broadcast.getSource().getType()))
      return std::nullopt;
    return Lanes{broadcast.getSource(), 0};
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto values = dyn_cast<DenseIntElementsAttr>(constant.getValue());
    return values ? lanesOfConstant(nest, values) : std::nullopt;
  }
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op)) {
    std::optional<Lanes> from = lanesOf(nest, op->getOperand(0));
    if (!from)
      return std::nullopt;
    Type element = type.getElementType();
    Value first = isa<arith::ExtSIOp>(op) ? nest.make<arith::ExtSIOp>(element, from->first)
                                          : nest.make<arith::IndexCastOp>(element, from->first);
    return Lanes{first, from->step};
  }
  if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
    return std::nullopt;
  std::optional<Lanes> left = lanesOf(nest, op->getOperand(0));
  std::optional<Lanes> right = left ? lanesOf(nest, op->getOperand(1)) : std::nullopt;
  if (!right)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return Lanes{nest.make<arith::AddIOp>(left->first, right->first), left->step + right->step};
  if (isa<arith::SubIOp>(op))
    return Lanes{nest.make<arith::SubIOp>(left->first, right->first), left->step - right->step};
  Value product = nest.make<arith::MulIOp>(left->first, right->first);
  if (left->step == 0 && right->step == 0)
    return Lanes{product, 0};
  auto a = getConstantIntValue(left->first), b = getConstantIntValue(right->first);
  if (left->step == 0 && a && *a == 1)
    return Lanes{product, right->step};
  if (right->step == 0 && b && *b == 1)
    return Lanes{product, left->step};
  return std::nullopt;
}

Places Nest::places(const Array &array, ValueRange indices, Value given, const Point &point) {
  Type i64 = detached.getI64Type();
  Places places;
  SmallVector<Value> masks; // one for all lanes at first, then those by lane
  auto isLanes = [](Value value) { return isa<VectorType>(value.getType()); };
  auto at = [&](Value old) {
    return isa<RankedTensorType>(old.getType()) ? value(old, point) : program.scalar(old);
  };
  auto widened = [&](Value index) -> Value {
    Type element = getElementTypeOrSelf(index);
    auto vector = dyn_cast<VectorType>(index.getType());
    Type wide = vector ? Type(VectorType::get(vector.getShape(), i64)) : i64;
    if (isa<IndexType>(element))
      return make<arith::IndexCastOp>(wide, index);
    return element == i64 ? index : make<arith::ExtSIOp>(wide, index);
  };
  SmallVector<Value> found, firsts;
  bool isRun = point.lane >= 0 && !array.packed;
  unsigned counting = 0;
  for (auto [dim, old] : llvm::enumerate(indices)) {
    Value narrow = at(old), index = widened(narrow);
    Value extent = toI64(array.extents[dim]);
    if (isLanes(index))
      extent = splat(extent, point.width);
    masks.push_back(make<arith::CmpIOp>(arith::CmpIPredicate::ult, index, extent));
    found.push_back(index);
    std::optional<Lanes> lanes = isRun ? lanesOf(*this, narrow) : std::nullopt;
    isRun &= lanes && (lanes->step == 0 ||
                       (lanes->step == 1 && getConstantIntValue(array.strides[dim]) == 1));
    if (isRun) {
      counting += lanes->step;
      firsts.push_back(widened(lanes->first));
    }
  }
  places.isRun = isRun && counting == 1;
  if (given)
    masks.push_back(at(given));
  auto combine = [&](auto tag, Value a, Value b) -> Value {
    if (!a)
      return b;
    if (isLanes(a) != isLanes(b))
      a = splat(a, point.width), b = splat(b, point.width);
    return make<std::remove_pointer_t<decltype(tag)>>(a, b);
  };
  for (auto [dim, index] : llvm::enumerate(places.isRun ? firsts : found)) {
    Value stride = toI64(array.strides[dim]);
    Value scaled = make<arith::MulIOp>(index, isLanes(index) ? splat(stride, point.width) : stride);
    places.position = combine((arith::AddIOp *)nullptr, places.position, scaled);
  }
  for (bool lanes : {false, true})
    for (Value mask : masks)
      if (isLanes(mask) == lanes)
        places.mask = combine((arith::AndIOp *)nullptr, places.mask, mask);
  if (!places.position) // of a view without dimensions
    places.position = integer(i64, 0);
  return places;
}

Value Nest::loadRun(const Array &array, const Places &places, Value padding, int64_t width) {
  Type storage = storageType(array.element), type = VectorType::get({width}, storage);
  Value from = address(array.base, places.position, storage);
  Value read = make<LLVM::MaskedLoadOp>(type, from, splat(places.mask, width),
                                        paddingBits(array.element, padding, width),
                                        storageBytes(array.element));
  return fromStorage(read, array.element);
}

void Nest::storeRun(Value value, const Array &array, const Places &places) {
  int64_t width = cast<VectorType>(value.getType()).getNumElements();
  Type storage = storageType(array.element);
  Value to = address(array.base, places.position, storage);
  makeHere<LLVM::MaskedStoreOp>(toStorage(value, array.element), to, splat(places.mask, width),
                                storageBytes(array.element));
}
