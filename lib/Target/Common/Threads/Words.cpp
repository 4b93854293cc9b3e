// The registers of a fragment as the words that a matrix instruction reads.
#include "kiln/Target/Common/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

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
    return vector::BitCastOp::create(builder, loc, words, registers);
  auto from = registers.getDefiningOp<vector::FromElementsOp>();
  // An element may lie in two words.
  SmallVector<Value> parts(count);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    Value element =
        from ? from.getElements()[i] : Value(vector::ExtractOp::create(builder, loc, registers, i));
    element = toWord(builder, loc, element);
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
