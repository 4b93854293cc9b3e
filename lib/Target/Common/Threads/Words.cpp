// Registers as vectors, as elements, and as the words that a matrix instruction reads.
#include "kiln/Target/Common/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

Value kiln::elementAt(OpBuilder &builder, Location loc, Value vector, int64_t i) {
  if (auto from = vector.getDefiningOp<vector::FromElementsOp>())
    return from.getElements()[i];
  return vector::ExtractOp::create(builder, loc, vector, i);
}

namespace {
/// Consecutive elements of a vector.
struct Slice {
  Value whole;
  int64_t first;
};
} // namespace

static std::optional<Slice> findSlice(ArrayRef<Value> elements) {
  Slice slice;
  for (auto [i, element] : llvm::enumerate(elements)) {
    auto extract = element.getDefiningOp<vector::ExtractOp>();
    if (!extract || extract.getNumIndices() != 1 || extract.hasDynamicPosition())
      return std::nullopt;
    int64_t at = extract.getStaticPosition()[0];
    if (i == 0)
      slice = {extract.getSource(), at};
    if (extract.getSource() != slice.whole || at != slice.first + int64_t(i))
      return std::nullopt;
  }
  return slice;
}

Value kiln::makeVector(OpBuilder &builder, Location loc, ArrayRef<Value> elements) {
  auto type = VectorType::get({int64_t(elements.size())}, elements.front().getType());
  std::optional<Slice> slice = findSlice(elements);
  if (slice && slice->whole.getType() == type)
    return slice->whole;
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

Value kiln::castVector(OpBuilder &builder, Location loc, Value vector, Type element) {
  while (true) {
    if (auto cast = vector.getDefiningOp<vector::BitCastOp>())
      vector = cast.getSource();
    else if (auto cast = vector.getDefiningOp<arith::BitcastOp>())
      vector = cast.getIn();
    else
      break;
  }
  auto type = cast<VectorType>(vector.getType());
  if (type.getElementType() == element)
    return vector;
  int64_t from = type.getElementTypeBitWidth(), to = element.getIntOrFloatBitWidth();
  if (from == to)
    return arith::BitcastOp::create(builder, loc, type.clone(element), vector);
  auto result = VectorType::get({type.getNumElements() * from / to}, element);
  // Part of a longer vector is part of what that is cast to.
  auto made = vector.getDefiningOp<vector::FromElementsOp>();
  std::optional<Slice> slice = made ? findSlice(llvm::to_vector(made.getElements())) : std::nullopt;
  if (slice && slice->first * from % to == 0 &&
      cast<VectorType>(slice->whole.getType()).getNumElements() * from % to == 0) {
    Value whole = castVector(builder, loc, slice->whole, element);
    SmallVector<Value> parts;
    for (int64_t i = 0; i < result.getNumElements(); ++i)
      parts.push_back(elementAt(builder, loc, whole, slice->first * from / to + i));
    return makeVector(builder, loc, parts);
  }
  return vector::BitCastOp::create(builder, loc, result, vector);
}

/// An element below a byte. What was cut from a wider integer is masked there: of cuts from the
/// bytes of a vector LLVM makes a vector of such elements, which it passes through the stack.
static Value toWord(OpBuilder &builder, Location loc, Value element) {
  Type i32 = builder.getI32Type();
  unsigned bits = element.getType().getIntOrFloatBitWidth();
  if (auto cast = element.getDefiningOp<arith::BitcastOp>())
    element = cast.getIn();
  if (isa<FloatType>(element.getType()))
    element = arith::BitcastOp::create(builder, loc, builder.getIntegerType(bits), element);
  auto cut = element.getDefiningOp<arith::TruncIOp>();
  if (!cut || cut.getIn().getType().getIntOrFloatBitWidth() > 32)
    return arith::ExtUIOp::create(builder, loc, i32, element);
  Value whole = cut.getIn();
  if (whole.getType() != i32)
    whole = arith::ExtUIOp::create(builder, loc, i32, whole);
  Value mask = arith::ConstantIntOp::create(builder, loc, (1 << bits) - 1, 32);
  return arith::AndIOp::create(builder, loc, whole, mask);
}

/// LLVM would pass a vector of integers below a byte through the stack to read it as words, so
/// those are put together by shifts.
Value kiln::toWords(OpBuilder &builder, Location loc, Value registers) {
  auto type = cast<VectorType>(registers.getType());
  int64_t bits = type.getElementTypeBitWidth(), count = type.getNumElements() * bits / 32;
  Type i32 = builder.getI32Type();
  auto words = VectorType::get({count}, i32);
  if (bits >= 8)
    return castVector(builder, loc, registers, i32);
  // An element may lie in two words.
  SmallVector<Value> parts(count);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value element = toWord(builder, loc, elementAt(builder, loc, registers, i));
    for (int64_t word = i * bits / 32; word * 32 < (i + 1) * bits; ++word) {
      int64_t shift = i * bits - word * 32;
      Value by = arith::ConstantIntOp::create(builder, loc, std::abs(shift), 32);
      Value part = shift < 0 ? Value(arith::ShRUIOp::create(builder, loc, element, by))
                             : Value(arith::ShLIOp::create(builder, loc, element, by));
      parts[word] =
          parts[word] ? Value(arith::OrIOp::create(builder, loc, parts[word], part)) : part;
    }
  }
  return vector::FromElementsOp::create(builder, loc, words, parts);
}
