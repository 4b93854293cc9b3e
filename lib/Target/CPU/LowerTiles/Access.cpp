// Loads and stores of elements: contiguous, strided and at computed places.
#include "Nest.h"
#include "Program.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

Value Nest::toStorage(Value value, Type element) {
  Type storage = storageType(element);
  auto vector = dyn_cast<VectorType>(value.getType());
  auto shaped = [&](Type type) {
    return vector ? Type(VectorType::get(vector.getShape(), type)) : type;
  };
  if (storage == element)
    return value;
  if (isa<IndexType>(element))
    return make<arith::IndexCastOp>(shaped(storage), value);
  if (isa<FloatTF32Type>(element))
    return make<arith::ExtFOp>(shaped(storage), value);
  unsigned bits = element.getIntOrFloatBitWidth();
  Type narrow = IntegerType::get(element.getContext(), bits);
  if (isa<FloatType>(element))
    value = make<arith::BitcastOp>(shaped(narrow), value);
  return narrow == storage ? value : make<arith::ExtUIOp>(shaped(storage), value);
}

Value Nest::fromStorage(Value value, Type element) {
  Type storage = storageType(element);
  auto vector = dyn_cast<VectorType>(value.getType());
  auto shaped = [&](Type type) {
    return vector ? Type(VectorType::get(vector.getShape(), type)) : type;
  };
  if (storage == element)
    return value;
  if (isa<IndexType>(element))
    return make<arith::IndexCastOp>(shaped(element), value);
  unsigned bits = element.getIntOrFloatBitWidth();
  Type narrow = IntegerType::get(element.getContext(), bits);
  if (isa<FloatTF32Type>(element)) { // the upper bits of an f32
    storage = IntegerType::get(element.getContext(), 32);
    value = make<arith::BitcastOp>(shaped(storage), value);
    value = make<arith::ShRUIOp>(value, integer(shaped(storage), 32 - bits));
  }
  if (narrow != storage)
    value = make<arith::TruncIOp>(shaped(narrow), value);
  return isa<FloatType>(element) ? make<arith::BitcastOp>(shaped(element), value) : value;
}

Value Nest::address(Value base, Value offset, Type storage) {
  if (matchPattern(offset, m_Zero()))
    return base;
  Value at = isa<IndexType>(offset.getType()) ? toI64(offset) : offset;
  Type pointer = LLVM::LLVMPointerType::get(loc.getContext());
  if (auto vector = dyn_cast<VectorType>(at.getType()))
    pointer = VectorType::get(vector.getShape(), pointer);
  return make<LLVM::GEPOp>(pointer, storage, base, ArrayRef<LLVM::GEPArg>{at});
}

Point Nest::moved(const Point &point, ValueRange offsets) {
  Point to = point;
  for (auto [dim, offset] : llvm::enumerate(offsets))
    to.at[dim] = add(offset, point.at[dim]);
  return to;
}

Value Nest::insideMask(const Array &array, ValueRange offsets, const Point &point) {
  Value ok;
  Type i64 = detached.getI64Type();
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    if (static_cast<int>(dim) == point.lane)
      continue;
    Value at = toI64(add(offset, point.at[dim]));
    Value here = make<arith::CmpIOp>(arith::CmpIPredicate::ult, at, toI64(array.extents[dim]));
    ok = ok ? make<arith::AndIOp>(ok, here) : here;
  }
  if (point.lane < 0)
    return ok ? ok : integer(detached.getI1Type(), 1);
  Value extent = toI64(array.extents[point.lane]);
  if (ok)
    extent = make<arith::SelectOp>(ok, extent, integer(i64, 0));
  Value at = toI64(add(offsets[point.lane], point.at[point.lane]));
  Value lane = make<arith::AddIOp>(splat(at, point.width), lanes(i64, point.width, point.step));
  return make<arith::CmpIOp>(arith::CmpIPredicate::ult, lane, splat(extent, point.width));
}

/// Zero, or the padding, as bits in memory.
Value Nest::paddingBits(Type element, Value padding, int64_t width) {
  if (padding)
    return splat(toStorage(padding, element), width);
  Type storage = storageType(element);
  Type type = width > 1 ? Type(VectorType::get({width}, storage)) : storage;
  return constant(cast<TypedAttr>(detached.getZeroAttr(type)));
}

Value Nest::vectorOffsets(const Array &array, const Point &point) {
  Value base = toI64(linear(point.at, array.strides));
  Type i64 = detached.getI64Type();
  Value stride = toI64(array.strides[point.lane]);
  Value offsets =
      make<arith::MulIOp>(splat(stride, point.width), lanes(i64, point.width, point.step));
  return make<arith::AddIOp>(splat(base, point.width), offsets);
}

static std::optional<int64_t> constantOf(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  return std::nullopt;
}

Value Nest::load(const Array &array, const Point &point, Value mask, Value padding) {
  Type element = array.element, storage = storageType(element);
  unsigned align = storageBytes(element);
  if (array.packed)
    return loadPacked(array, point, mask, padding);
  if (point.lane < 0) {
    Value from = address(array.base, linear(point.at, array.strides), storage);
    if (!mask)
      return fromStorage(make<LLVM::LoadOp>(storage, from, align), element);
    from = make<arith::SelectOp>(mask, from, program.scratch());
    Value read = make<LLVM::LoadOp>(storage, from, align);
    read = make<arith::SelectOp>(mask, read, paddingBits(element, padding, 1));
    return fromStorage(read, element);
  }
  auto stride = constantOf(array.strides[point.lane]);
  if (stride && *stride == 0 && !mask) {
    Point one = point;
    one.lane = -1, one.width = 1;
    return load(array, one);
  }
  if (!stride || *stride * point.step != 1)
    return gatherElements(array, vectorOffsets(array, point), mask, padding);
  Value from = address(array.base, linear(point.at, array.strides), storage);
  Type type = VectorType::get({point.width}, storage);
  Value read = mask ? make<LLVM::MaskedLoadOp>(type, from, mask,
                                               paddingBits(element, padding, point.width), align)
                    : make<LLVM::LoadOp>(type, from, align);
  return fromStorage(read, element);
}

Value Nest::gatherElements(const Array &array, Value offsets, Value mask, Value padding) {
  Type element = array.element, storage = storageType(element);
  auto vector = dyn_cast<VectorType>(offsets.getType());
  if (array.packed)
    return loadPacked(array, {{offsets}, -1, 1, vector ? vector.getNumElements() : 1}, mask,
                      padding);
  Value from = address(array.base, offsets, storage);
  unsigned align = storageBytes(element);
  if (!vector) {
    if (mask)
      from = make<arith::SelectOp>(mask, from, program.scratch());
    Value read = make<LLVM::LoadOp>(storage, from, align);
    if (mask)
      read = make<arith::SelectOp>(mask, read, paddingBits(element, padding, 1));
    return fromStorage(read, element);
  }
  int64_t width = vector.getNumElements();
  if (!mask)
    mask = integer(VectorType::get({width}, detached.getI1Type()), 1);
  Value read = make<LLVM::masked_gather>(VectorType::get({width}, storage), from, mask,
                                         paddingBits(element, padding, width), align);
  return fromStorage(read, element);
}

void Nest::store(Value value, const Array &array, const Point &point, Value mask) {
  Type element = array.element, storage = storageType(element);
  unsigned align = storageBytes(element);
  value = splat(value, point.width);
  if (array.packed)
    return storePacked(value, array, point, mask);
  value = toStorage(value, element);
  if (point.lane < 0) {
    Value to = address(array.base, linear(point.at, array.strides), storage);
    if (mask)
      to = make<arith::SelectOp>(mask, to, program.scratch());
    makeHere<LLVM::StoreOp>(value, to, align);
    return;
  }
  auto stride = constantOf(array.strides[point.lane]);
  if (!stride || *stride * point.step != 1) {
    Value to = address(array.base, vectorOffsets(array, point), storage);
    if (!mask)
      mask = integer(VectorType::get({point.width}, detached.getI1Type()), 1);
    makeHere<LLVM::masked_scatter>(value, to, mask, align);
    return;
  }
  Value to = address(array.base, linear(point.at, array.strides), storage);
  if (mask)
    makeHere<LLVM::MaskedStoreOp>(value, to, mask, align);
  else
    makeHere<LLVM::StoreOp>(value, to, align);
}

void Nest::scatterElements(Value value, const Array &array, Value offsets, Value mask) {
  Type element = array.element, storage = storageType(element);
  value = toStorage(value, element);
  Value to = address(array.base, offsets, storage);
  if (!isa<VectorType>(offsets.getType())) {
    if (mask)
      to = make<arith::SelectOp>(mask, to, program.scratch());
    makeHere<LLVM::StoreOp>(value, to, storageBytes(element));
    return;
  }
  makeHere<LLVM::masked_scatter>(value, to, mask, storageBytes(element));
}
