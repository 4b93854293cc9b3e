// Philox 4x32-10 (Salmon et al., SC 2011), ten rounds over vectors of registers. The key is the
// same for all elements, so it is computed on scalars.
#include "ThreadLowering.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

LogicalResult ThreadLowering::lowerPhilox(PhiloxOp op) {
  constexpr int64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr int64_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  constexpr int kRounds = 10;
  auto type = cast<VectorType>(convert(op.getCounter().getType()));
  auto word = [&](int64_t value) { return i32(int32_t(value)); };
  auto splat = [&](Value scalar) -> Value {
    return vector::BroadcastOp::create(builder, loc, type, scalar);
  };
  auto exclusiveOr = [&](Value left, Value right) -> Value {
    return arith::XOrIOp::create(builder, loc, left, right);
  };

  Value seed = get(op.getSeed());
  Value shift = arith::ConstantIntOp::create(builder, loc, 32, 64);
  Value upper = arith::ShRUIOp::create(builder, loc, seed, shift);
  Value key0 = arith::TruncIOp::create(builder, loc, builder.getI32Type(), seed);
  Value key1 = arith::TruncIOp::create(builder, loc, builder.getI32Type(), upper);
  Value counters[4] = {get(op.getCounter()), splat(get(op.getStream())), splat(i32(0)),
                       splat(i32(0))};
  Value multiplier0 = splat(word(kMultiplier0)), multiplier1 = splat(word(kMultiplier1));
  for (int round = 0; round < kRounds; ++round) {
    auto product0 = arith::MulUIExtendedOp::create(builder, loc, multiplier0, counters[0]);
    auto product1 = arith::MulUIExtendedOp::create(builder, loc, multiplier1, counters[2]);
    Value next0 = exclusiveOr(exclusiveOr(product1.getHigh(), counters[1]), splat(key0));
    Value next2 = exclusiveOr(exclusiveOr(product0.getHigh(), counters[3]), splat(key1));
    counters[0] = next0;
    counters[1] = product1.getLow();
    counters[2] = next2;
    counters[3] = product0.getLow();
    key0 = arith::AddIOp::create(builder, loc, key0, word(kWeyl0));
    key1 = arith::AddIOp::create(builder, loc, key1, word(kWeyl1));
  }
  for (auto [result, value] : llvm::zip(op->getResults(), counters))
    set(result, value);
  return success();
}
