// SortingNetwork.h, by bitonic merging (Batcher 1968).
//
// Two sorted runs, the second reversed, fall and rise once: comparing each element of the first
// half with its partner in the second leaves a lower and an upper half of that kind, which are
// halved again, down to single elements. Partners further apart than a vector are compared vector
// by vector; nearer ones inside a vector, by shuffles.
#include "SortingNetwork.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln::cpu;

SortingNetwork::SortingNetwork(OpBuilder &builder, Location loc, Type element, int64_t lanes,
                               ArrayRef<Value> bases)
    : builder(builder), loc(loc), element(element), vector(VectorType::get({lanes}, element)),
      lanes(lanes), bases(bases) {}

Value SortingNetwork::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
Value SortingNetwork::add(Value a, Value b) { return arith::AddIOp::create(builder, loc, a, b); }
Value SortingNetwork::sub(Value a, Value b) { return arith::SubIOp::create(builder, loc, a, b); }
Value SortingNetwork::twoTo(Value exponent) {
  return arith::ShLIOp::create(builder, loc, index(1), exponent);
}

void SortingNetwork::loop(Value from, Value to, Value step, function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(builder, loc, from, to, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

static Value addressOf(OpBuilder &builder, Location loc, Value base, Value at, Type element) {
  Value offset = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), at);
  return LLVM::GEPOp::create(builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                             element, base, ArrayRef<LLVM::GEPArg>{offset});
}

SortingNetwork::Values SortingNetwork::load(Value at) {
  Values values;
  for (Value base : bases)
    values.push_back(LLVM::LoadOp::create(builder, loc, vector,
                                          addressOf(builder, loc, base, at, element),
                                          element.getIntOrFloatBitWidth() / 8));
  return values;
}

void SortingNetwork::store(const Values &values, Value at) {
  for (auto [value, base] : llvm::zip_equal(values, bases))
    LLVM::StoreOp::create(builder, loc, value, addressOf(builder, loc, base, at, element),
                          element.getIntOrFloatBitWidth() / 8);
}

Value SortingNetwork::isBelow(const Values &a, const Values &b) {
  auto compare = [&](arith::CmpIPredicate how, int which) -> Value {
    return arith::CmpIOp::create(builder, loc, how, a[which], b[which]);
  };
  Value below = compare(arith::CmpIPredicate::ult, 0);
  if (bases.size() == 1)
    return below;
  Value tied = arith::AndIOp::create(builder, loc, compare(arith::CmpIPredicate::eq, 0),
                                     compare(arith::CmpIPredicate::ult, 1));
  return arith::OrIOp::create(builder, loc, below, tied);
}

/// The lower and the higher of each pair.
std::pair<SortingNetwork::Values, SortingNetwork::Values> SortingNetwork::order(const Values &a,
                                                                                const Values &b) {
  if (bases.size() == 1)
    return {{arith::MinUIOp::create(builder, loc, a[0], b[0])},
            {arith::MaxUIOp::create(builder, loc, a[0], b[0])}};
  Value below = isBelow(a, b);
  Values low, high;
  for (auto [x, y] : llvm::zip_equal(a, b)) {
    low.push_back(arith::SelectOp::create(builder, loc, below, x, y));
    high.push_back(arith::SelectOp::create(builder, loc, below, y, x));
  }
  return {low, high};
}

SortingNetwork::Values SortingNetwork::shuffled(const Values &a, const Values &b,
                                                function_ref<int64_t(int64_t)> from) {
  SmallVector<int64_t> which;
  for (int64_t lane = 0; lane < lanes; ++lane)
    which.push_back(from(lane));
  Values result;
  for (auto [x, y] : llvm::zip_equal(a, b))
    result.push_back(vector::ShuffleOp::create(builder, loc, x, y, which));
  return result;
}

SortingNetwork::Values SortingNetwork::reversed(const Values &a) {
  return shuffled(a, a, [&](int64_t lane) { return lanes - 1 - lane; });
}

/// Compares each lane with the one whose number differs by these bits; the higher element goes to
/// the lane that has the highest of them.
SortingNetwork::Values SortingNetwork::within(const Values &a, int64_t bits) {
  Values partners = shuffled(a, a, [&](int64_t lane) { return lane ^ bits; });
  auto [low, high] = order(a, partners);
  int64_t top = llvm::bit_floor(static_cast<uint64_t>(bits));
  // Of equal elements both lanes hold the same: neither is lost.
  return shuffled(low, high, [&](int64_t lane) { return lane & top ? lanes + lane : lane; });
}

/// Sorts runs of 2^exponent elements that fall and rise once.
void SortingNetwork::merge(Value start, Value end, Value exponent) {
  Value step = index(lanes), whole = index(llvm::Log2_64(lanes));
  loop(index(0), sub(exponent, whole), index(1), [&](Value round) {
    Value distance = twoTo(sub(sub(exponent, index(1)), round));
    loop(start, end, add(distance, distance), [&](Value block) {
      loop(block, add(block, distance), step, [&](Value at) {
        Value partner = add(at, distance);
        auto [low, high] = order(load(at), load(partner));
        store(low, at);
        store(high, partner);
      });
    });
  });
  loop(start, end, step, [&](Value at) {
    Values values = load(at);
    for (int64_t distance = lanes / 2; distance > 0; distance /= 2)
      values = within(values, distance);
    store(values, at);
  });
}

void SortingNetwork::sort(Value start, int64_t count) {
  Value end = add(start, index(count)), step = index(lanes);
  loop(start, end, step, [&](Value at) {
    Values values = load(at);
    for (int64_t run = 2; run <= lanes; run *= 2) {
      values = within(values, run - 1);
      for (int64_t distance = run / 4; distance > 0; distance /= 2)
        values = within(values, distance);
    }
    store(values, at);
  });
  if (count == lanes)
    return;
  int64_t first = llvm::Log2_64(lanes) + 1, last = llvm::Log2_64(count);
  loop(index(first), index(last + 1), index(1), [&](Value exponent) {
    Value run = twoTo(exponent), half = sub(exponent, index(1)), reach = sub(run, step);
    loop(start, end, run, [&](Value block) {
      loop(index(0), twoTo(half), step, [&](Value offset) {
        Value at = add(block, offset), partner = add(block, sub(reach, offset));
        auto [low, high] = order(load(at), reversed(load(partner)));
        store(low, at);
        store(reversed(high), partner);
      });
    });
    merge(start, end, half);
  });
}

void SortingNetwork::keepLower(Value start, Value other, int64_t count) {
  Value step = index(lanes), last = add(other, index(count - lanes));
  loop(index(0), index(count), step, [&](Value offset) {
    Value at = add(start, offset);
    store(order(load(at), reversed(load(sub(last, offset)))).first, at);
  });
  merge(start, add(start, index(count)), index(llvm::Log2_64(count)));
}

Value SortingNetwork::isAnyBelow(Value start, int64_t count, Value limit) {
  Values limits;
  for (Value base : bases) {
    Value scalar =
        LLVM::LoadOp::create(builder, loc, element, addressOf(builder, loc, base, limit, element));
    limits.push_back(vector::BroadcastOp::create(builder, loc, vector, scalar));
  }
  Value any;
  for (int64_t at = 0; at < count; at += lanes) {
    Value here = isBelow(load(add(start, index(at))), limits);
    any = any ? arith::OrIOp::create(builder, loc, any, here).getResult() : here;
  }
  return vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, any);
}
