// Loads and stores of elements: contiguous, strided, at computed places, and packed below a byte.
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
static Value paddingBits(Nest &nest, Type element, Value padding, int64_t width) {
  if (padding)
    return nest.splat(nest.toStorage(padding, element), width);
  Type storage = storageType(element);
  Type type = width > 1 ? Type(VectorType::get({width}, storage)) : storage;
  return nest.constant(cast<TypedAttr>(OpBuilder(nest.loc.getContext()).getZeroAttr(type)));
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
    read = make<arith::SelectOp>(mask, read, paddingBits(*this, element, padding, 1));
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
  Value read =
      mask ? make<LLVM::MaskedLoadOp>(type, from, mask,
                                      paddingBits(*this, element, padding, point.width), align)
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
      read = make<arith::SelectOp>(mask, read, paddingBits(*this, element, padding, 1));
    return fromStorage(read, element);
  }
  int64_t width = vector.getNumElements();
  if (!mask)
    mask = integer(VectorType::get({width}, detached.getI1Type()), 1);
  Value read = make<LLVM::masked_gather>(VectorType::get({width}, storage), from, mask,
                                         paddingBits(*this, element, padding, width), align);
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

//===- Elements narrower than a byte --------------------------------------------------------===//

/// Element k of a packed view begins at bit k·bits, so it lies in the byte of its first bit and
/// that of its last, which for 6-bit elements may be two. Each lane gathers both.
Value Nest::loadPacked(const Array &array, const Point &point, Value mask, Value padding) {
  Type element = array.element, i64 = detached.getI64Type(), i8 = detached.getI8Type();
  int64_t bits = viewBits(element), width = point.width;
  auto shaped = [&](Type type) { return width > 1 ? Type(VectorType::get({width}, type)) : type; };
  Value position; // in elements
  if (point.at.size() == 1 && !isa<IndexType>(point.at[0].getType()))
    position = point.at[0]; // computed by a gather
  else if (point.lane >= 0)
    position = vectorOffsets(array, point);
  else
    position = toI64(linear(point.at, array.strides));
  Value bit = make<arith::MulIOp>(position, integer(shaped(i64), bits));
  auto byteAt = [&](int64_t further) {
    Value at = make<arith::ShRSIOp>(make<arith::AddIOp>(bit, integer(shaped(i64), further)),
                                    integer(shaped(i64), 3));
    Value from = address(array.base, at, i8);
    Value read;
    if (width > 1) {
      Value lanes = mask ? mask : integer(shaped(detached.getI1Type()), 1);
      read = make<LLVM::masked_gather>(shaped(i8), from, lanes, integer(shaped(i8), 0), 1);
    } else {
      if (mask)
        from = make<arith::SelectOp>(mask, from, program.scratch());
      read = make<LLVM::LoadOp>(i8, from, 1);
    }
    return read;
  };
  Type i16 = detached.getI16Type();
  Value word = make<arith::ExtUIOp>(shaped(i16), byteAt(0));
  if (8 % bits != 0) {
    Value high = make<arith::ExtUIOp>(shaped(i16), byteAt(bits - 1));
    word = make<arith::OrIOp>(word, make<arith::ShLIOp>(high, integer(shaped(i16), 8)));
  }
  Value shift =
      make<arith::TruncIOp>(shaped(i16), make<arith::AndIOp>(bit, integer(shaped(i64), 7)));
  word = make<arith::ShRUIOp>(word, shift);
  word = make<arith::AndIOp>(word, integer(shaped(i16), (1 << bits) - 1));
  Value read = make<arith::TruncIOp>(shaped(i8), word);
  if (mask)
    read = make<arith::SelectOp>(mask, read, paddingBits(*this, element, padding, width));
  return fromStorage(read, element);
}

/// Other programs may own the rest of a byte: each element is cleared and set by two atomic
/// accesses to the bytes that it lies in.
void Nest::storePacked(Value value, const Array &array, const Point &point, Value mask) {
  Type element = array.element, i64 = detached.getI64Type(), i8 = detached.getI8Type();
  Type i16 = detached.getI16Type();
  int64_t bits = viewBits(element);
  Value stored = toStorage(value, element);
  for (int64_t lane = 0; lane < point.width; ++lane) {
    Value one = stored, ok = mask;
    Point at = point;
    if (point.lane >= 0) {
      one = make<vector::ExtractOp>(stored, ArrayRef<int64_t>{lane});
      ok = mask ? make<vector::ExtractOp>(mask, ArrayRef<int64_t>{lane}) : Value();
      at.at[point.lane] = add(point.at[point.lane], index(lane * point.step));
    }
    Value bit = make<arith::MulIOp>(toI64(linear(at.at, array.strides)), integer(i64, bits));
    Value shift = make<arith::TruncIOp>(i16, make<arith::AndIOp>(bit, integer(i64, 7)));
    Value field = make<arith::ShLIOp>(integer(i16, (1 << bits) - 1), shift);
    Value word = make<arith::ShLIOp>(make<arith::ExtUIOp>(i16, one), shift);
    for (int64_t byte = 0; byte < (8 % bits == 0 ? 1 : 2); ++byte) {
      // The second byte is that of the last bit; it may be the first again.
      Value first = make<arith::ShRSIOp>(bit, integer(i64, 3)), here = first;
      Value keep = field, set = word;
      if (byte == 1) {
        here =
            make<arith::ShRSIOp>(make<arith::AddIOp>(bit, integer(i64, bits - 1)), integer(i64, 3));
        Value same = make<arith::CmpIOp>(arith::CmpIPredicate::eq, here, first);
        Value by = make<arith::SelectOp>(same, integer(i16, 0), integer(i16, 8));
        keep = make<arith::ShRUIOp>(field, by);
        set = make<arith::ShRUIOp>(word, by);
      }
      Value to = address(array.base, here, i8);
      if (ok)
        to = make<arith::SelectOp>(ok, to, program.scratch());
      Value clear = make<arith::XOrIOp>(make<arith::TruncIOp>(i8, keep), integer(i8, -1));
      makeHere<LLVM::AtomicRMWOp>(LLVM::AtomicBinOp::_and, to, clear,
                                  LLVM::AtomicOrdering::monotonic);
      makeHere<LLVM::AtomicRMWOp>(LLVM::AtomicBinOp::_or, to, make<arith::TruncIOp>(i8, set),
                                  LLVM::AtomicOrdering::monotonic);
    }
  }
}
