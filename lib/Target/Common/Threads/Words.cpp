// The registers of a fragment as the words that a matrix instruction reads.
#include "kiln/Target/Common/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

/// LLVM would pass a vector of integers below a byte through the stack to read it as words, so
/// those are put together by shifts.
Value kiln::toWords(OpBuilder &builder, Location loc, Value registers) {
  auto type = cast<VectorType>(registers.getType());
  int64_t bits = type.getElementTypeBitWidth(), count = type.getNumElements() * bits / 32;
  Type i32 = builder.getI32Type();
  auto words = VectorType::get({count}, i32);
  if (bits >= 8)
    return vector::BitCastOp::create(builder, loc, words, registers);
  int64_t each = 32 / bits;
  SmallVector<Value> parts;
  for (int64_t word = 0; word < count; ++word) {
    Value sum;
    for (int64_t i = 0; i < each; ++i) {
      Value element = vector::ExtractOp::create(builder, loc, registers, word * each + i);
      element = arith::ExtUIOp::create(builder, loc, i32, element);
      Value shift = arith::ConstantIntOp::create(builder, loc, i * bits, 32);
      element = arith::ShLIOp::create(builder, loc, element, shift);
      sum = sum ? Value(arith::OrIOp::create(builder, loc, sum, element)) : element;
    }
    parts.push_back(sum);
  }
  return vector::FromElementsOp::create(builder, loc, words, parts);
}
