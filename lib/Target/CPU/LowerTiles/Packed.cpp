// Elements narrower than a byte, packed in views, low bits first.
//
// Vectors of neighbours are moved by whole words: one load and its last byte, shifted to where the
// first element begins, then every lane takes the byte or two that it lies in and shifts it into
// place; a store builds its bytes the other way round. Elements anywhere else, those of tiles over
// an edge and stores that share a byte with others go one by one.
#include "Nest.h"
#include "Program.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

/// Whether the point's lanes are neighbours that fill whole bytes if the first begins one.
static bool isRun(const Array &array, const Point &point) {
  if (point.lane < 0 || point.width * viewBits(array.element) % 8 != 0)
    return false;
  auto stride = getConstantIntValue(array.strides[point.lane]);
  return stride && *stride * point.step == 1;
}

static Value vectorConstant(Nest &nest, Type element, ArrayRef<int64_t> values) {
  SmallVector<Attribute> attributes;
  for (int64_t value : values)
    attributes.push_back(IntegerAttr::get(element, value));
  auto type = VectorType::get({static_cast<int64_t>(values.size())}, element);
  return nest.constant(DenseElementsAttr::get(type, attributes));
}

Value Nest::loadPackedRun(const Array &array, const Point &point) {
  Type i64 = detached.getI64Type(), i16 = detached.getI16Type(), i8 = detached.getI8Type();
  int64_t bits = viewBits(array.element), width = point.width, total = width * bits;
  Type word = detached.getIntegerType(total);
  Value bit = make<arith::MulIOp>(toI64(linear(point.at, array.strides)), integer(i64, bits));
  auto byteOf = [&](Value at) {
    return address(array.base, make<arith::ShRSIOp>(at, integer(i64, 3)), i8);
  };
  // If the first element begins a byte, the last byte is one of the word's own, and not used.
  Value low = make<LLVM::LoadOp>(word, byteOf(bit), 1);
  Value last = make<arith::AddIOp>(bit, integer(i64, total - 1));
  auto resized = [&](Value value, unsigned from) -> Value {
    if (from == total)
      return value;
    return from < total ? make<arith::ExtUIOp>(word, value) : make<arith::TruncIOp>(word, value);
  };
  Value high = resized(make<LLVM::LoadOp>(i8, byteOf(last), 1), 8);
  Value shift = resized(make<arith::AndIOp>(bit, integer(i64, 7)), 64);
  Value whole = make<LLVM::FshrOp>(high, low, shift);
  Value bytes = make<LLVM::BitcastOp>(VectorType::get({total / 8}, i8), whole);

  SmallVector<int64_t> first, second, shifts;
  for (int64_t lane = 0; lane < width; ++lane) {
    first.push_back(lane * bits / 8);
    second.push_back((lane * bits + bits - 1) / 8);
    shifts.push_back(lane * bits % 8);
  }
  Type wide = VectorType::get({width}, i16);
  auto taken = [&](ArrayRef<int64_t> from) {
    return make<arith::ExtUIOp>(wide, make<vector::ShuffleOp>(bytes, bytes, from));
  };
  Value lanes = taken(first);
  if (8 % bits != 0)
    lanes = make<arith::OrIOp>(lanes, make<arith::ShLIOp>(taken(second), integer(wide, 8)));
  lanes = make<arith::ShRUIOp>(lanes, vectorConstant(*this, i16, shifts));
  lanes = make<arith::AndIOp>(lanes, integer(wide, (1 << bits) - 1));
  return make<arith::TruncIOp>(VectorType::get({width}, i8), lanes);
}

/// The bytes of a run that begins at a byte's first bit.
static Value packRun(Nest &nest, Value stored, int64_t bits) {
  MLIRContext *context = nest.loc.getContext();
  Type i8 = IntegerType::get(context, 8), i16 = IntegerType::get(context, 16);
  int64_t width = cast<VectorType>(stored.getType()).getNumElements(), size = width * bits / 8;
  Type wide = VectorType::get({size}, i16);
  Value sum;
  // The first, second, … element that reaches into each byte.
  for (int64_t which = 0; which < 1 + (7 + bits - 1) / bits; ++which) {
    SmallVector<int64_t> from, left, right;
    bool any = false;
    for (int64_t byte = 0; byte < size; ++byte) {
      int64_t element = byte * 8 / bits + which, shift = element * bits - byte * 8;
      bool reaches = shift < 8;
      any |= reaches;
      from.push_back(reaches ? element : 0);
      left.push_back(reaches ? std::max<int64_t>(shift, 0) : 8); // 8: out of the byte
      right.push_back(reaches ? std::max<int64_t>(-shift, 0) : 0);
    }
    if (!any)
      break;
    Value part =
        nest.make<arith::ExtUIOp>(wide, nest.make<vector::ShuffleOp>(stored, stored, from));
    part = nest.make<arith::ShLIOp>(part, vectorConstant(nest, i16, left));
    part = nest.make<arith::ShRUIOp>(part, vectorConstant(nest, i16, right));
    sum = sum ? nest.make<arith::OrIOp>(sum, part) : part;
  }
  return nest.make<arith::TruncIOp>(VectorType::get({size}, i8), sum);
}

/// Element k of a packed view begins at bit k·bits, so it lies in the byte of its first bit and
/// that of its last, which for 6-bit elements may be two. Each lane gathers both.
Value Nest::loadPacked(const Array &array, const Point &point, Value mask, Value padding) {
  Type element = array.element, i64 = detached.getI64Type(), i8 = detached.getI8Type();
  if (!mask && isRun(array, point))
    return fromStorage(loadPackedRun(array, point), element);
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
    read = make<arith::SelectOp>(mask, read, paddingBits(element, padding, width));
  return fromStorage(read, element);
}

/// Sets the bits of one element, by two atomic accesses to each of the bytes that it lies in: other
/// programs may own the rest of a byte.
static void storeBits(OpBuilder &builder, Location loc, Value base, Value bit, Value element,
                      int64_t bits, Value ok, Value nowhere) {
  Type i64 = builder.getI64Type(), i16 = builder.getI16Type(), i8 = builder.getI8Type();
  auto constant = [&](Type type, int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, IntegerAttr::get(type, value));
  };
  Value inByte = arith::AndIOp::create(builder, loc, bit, constant(i64, 7));
  Value shift = arith::TruncIOp::create(builder, loc, i16, inByte);
  Value field = arith::ShLIOp::create(builder, loc, constant(i16, (1 << bits) - 1), shift);
  Value wide = arith::ExtUIOp::create(builder, loc, i16, element);
  Value word = arith::ShLIOp::create(builder, loc, wide, shift);
  Value first = arith::ShRSIOp::create(builder, loc, bit, constant(i64, 3));
  for (int64_t byte = 0; byte < (8 % bits == 0 ? 1 : 2); ++byte) {
    // The second byte is that of the last bit; it may be the first again.
    Value here = first, keep = field, set = word;
    if (byte == 1) {
      Value last = arith::AddIOp::create(builder, loc, bit, constant(i64, bits - 1));
      here = arith::ShRSIOp::create(builder, loc, last, constant(i64, 3));
      Value same = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, here, first);
      Value by = arith::SelectOp::create(builder, loc, same, constant(i16, 0), constant(i16, 8));
      keep = arith::ShRUIOp::create(builder, loc, field, by);
      set = arith::ShRUIOp::create(builder, loc, word, by);
    }
    Value to =
        LLVM::GEPOp::create(builder, loc, base.getType(), i8, base, ArrayRef<LLVM::GEPArg>{here});
    if (ok)
      to = arith::SelectOp::create(builder, loc, ok, to, nowhere);
    Value clear = arith::XOrIOp::create(
        builder, loc, arith::TruncIOp::create(builder, loc, i8, keep), constant(i8, -1));
    LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::_and, to, clear,
                              LLVM::AtomicOrdering::monotonic);
    LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::_or, to,
                              arith::TruncIOp::create(builder, loc, i8, set),
                              LLVM::AtomicOrdering::monotonic);
  }
}

void Nest::storePacked(Value value, const Array &array, const Point &point, Value mask) {
  Type i64 = detached.getI64Type();
  int64_t bits = viewBits(array.element);
  Value stored = toStorage(value, array.element);
  Value bit = make<arith::MulIOp>(toI64(linear(point.at, array.strides)), integer(i64, bits));
  Value step = integer(i64, 0);
  if (point.lane >= 0)
    step = make<arith::MulIOp>(toI64(array.strides[point.lane]), integer(i64, bits * point.step));
  auto storeEach = [&](OpBuilder &builder) {
    for (int64_t lane = 0; lane < point.width; ++lane) {
      Value one = stored, ok = mask, at = bit;
      if (point.lane >= 0) {
        one = vector::ExtractOp::create(builder, loc, stored, ArrayRef<int64_t>{lane});
        if (mask)
          ok = vector::ExtractOp::create(builder, loc, mask, ArrayRef<int64_t>{lane});
        Value number = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(lane));
        Value further = arith::MulIOp::create(builder, loc, step, number);
        at = arith::AddIOp::create(builder, loc, bit, further);
      }
      storeBits(builder, loc, array.base, at, one, bits, ok, program.scratch());
    }
  };
  OpBuilder here(loc.getContext());
  if (mask || !isRun(array, point)) {
    here.setInsertionPoint(levels.back().block, levels.back().before);
    storeEach(here);
    return;
  }
  // Whole bytes are this vector's own.
  Value bytes = packRun(*this, stored, bits);
  Value inByte = make<arith::AndIOp>(bit, integer(i64, 7));
  Value begins = make<arith::CmpIOp>(arith::CmpIPredicate::eq, inByte, integer(i64, 0));
  Value to = address(array.base, make<arith::ShRSIOp>(bit, integer(i64, 3)), detached.getI8Type());
  auto branch = makeHere<scf::IfOp>(TypeRange(), begins, /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
  here.setInsertionPointToStart(branch.thenBlock());
  LLVM::StoreOp::create(here, loc, bytes, to, 1);
  scf::YieldOp::create(here, loc);
  here.setInsertionPointToStart(branch.elseBlock());
  storeEach(here);
  scf::YieldOp::create(here, loc);
}
