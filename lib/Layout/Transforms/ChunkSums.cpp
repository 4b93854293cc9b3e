// Combines chunks in a loop, and what the loop leaves behind it.
#include "ChunkSums.h"
#include "Padding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

ChunkSum::ChunkSum(Operation *op, const ChunkPhases &phases, int64_t length, unsigned place)
    : op(op), place(place) {
  for (Value input : op->getOperands())
    carried.push_back(phases.getChunkType(input, length));
  if (isa<ArgReduceOp>(op)) {
    kind = Kind::Position;
    carried.push_back(carried.front().clone(IntegerType::get(op->getContext(), 32)));
    return;
  }
  bool isKnown = llvm::all_of(llvm::seq<unsigned>(0, op->getNumResults()), [&](unsigned index) {
    return bool(getIdentity(getCombiner(), index));
  });
  if (isKnown)
    return;
  kind = Kind::InOrder;
  carried = llvm::map_to_vector(op->getResultTypes(),
                                [](Type type) { return cast<RankedTensorType>(type); });
}

int64_t ChunkSum::getAxis() const {
  auto reduce = dyn_cast<ReduceOp>(op);
  return reduce ? reduce.getAxis() : cast<ArgReduceOp>(op).getAxis();
}

SmallVector<Value> ChunkSum::begin(OpBuilder &builder) const {
  SmallVector<Value> values;
  for (auto [index, type] : llvm::enumerate(carried)) {
    Attribute value = kind == Kind::AnyOrder ? getIdentity(getCombiner(), index)
                                             : builder.getZeroAttr(type.getElementType());
    values.push_back(
        arith::ConstantOp::create(builder, op->getLoc(), DenseElementsAttr::get(type, value)));
  }
  return values;
}

SmallVector<Value> kiln::combineTiles(OpBuilder &builder, Block &combiner, ValueRange left,
                                      ValueRange right) {
  auto shaped = cast<RankedTensorType>(left.front().getType());
  IRMapping map;
  map.map(combiner.getArguments().take_front(left.size()), left);
  map.map(combiner.getArguments().drop_front(left.size()), right);
  auto getTile = [&](Value scalar) -> Value {
    if (Value known = map.lookupOrNull(scalar))
      return known;
    Value tile = SplatOp::create(builder, scalar.getLoc(), shaped.clone(scalar.getType()), scalar);
    map.map(scalar, tile);
    return tile;
  };
  for (Operation &inner : combiner.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(inner)) {
      auto value =
          DenseElementsAttr::get(shaped.clone(constant.getType()), Attribute(constant.getValue()));
      map.map(constant.getResult(),
              arith::ConstantOp::create(builder, inner.getLoc(), value).getResult());
      continue;
    }
    for (Value operand : inner.getOperands())
      getTile(operand);
    Operation *own = builder.clone(inner, map);
    for (Value result : own->getResults())
      result.setType(shaped.clone(result.getType()));
  }
  return llvm::map_to_vector(combiner.getTerminator()->getOperands(), getTile);
}

void ChunkSum::add(OpBuilder &builder, const IRMapping &tiles, Value at, Value isFirst,
                   MutableArrayRef<Value> values) const {
  Location loc = op->getLoc();
  MutableArrayRef<Value> sums = values.slice(place, carried.size());
  auto spread = [&](Value scalar, Value over) -> Value {
    auto type = cast<RankedTensorType>(over.getType()).clone(scalar.getType());
    return SplatOp::create(builder, loc, type, scalar);
  };
  SmallVector<Value> chunk =
      llvm::map_to_vector(op->getOperands(), [&](Value input) { return tiles.lookup(input); });
  if (kind == Kind::AnyOrder) {
    llvm::copy(combineTiles(builder, getCombiner(), sums, chunk), sums.begin());
    return;
  }
  if (kind == Kind::InOrder) {
    IRMapping map;
    map.map(op->getOperands(), chunk);
    SmallVector<Value> own(builder.clone(*op, map)->getResults());
    SmallVector<Value> both = combineTiles(builder, getCombiner(), sums, own);
    for (auto [sum, first, other] : llvm::zip_equal(sums, own, both))
      sum = isFirst ? arith::SelectOp::create(builder, loc, spread(isFirst, other), first, other)
                    : other;
    return;
  }
  Value wins = combineTiles(builder, getCombiner(), sums.front(), chunk.front()).front();
  if (isFirst)
    wins = arith::OrIOp::create(builder, loc, wins, spread(isFirst, wins));
  Value begin = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), at);
  Value position = spread(begin, wins);
  sums[0] = arith::SelectOp::create(builder, loc, wins, chunk.front(), sums[0]);
  sums[1] = arith::SelectOp::create(builder, loc, wins, position, sums[1]);
}

/// Whether right beats left in `beats`, or neither does and right stands before left.
static void buildWinner(OpBuilder &builder, Location loc, Block &beats, Block &body) {
  Value left = body.getArgument(0), leftAt = body.getArgument(1);
  Value right = body.getArgument(2), rightAt = body.getArgument(3);
  auto beat = [&](Value best, Value next) {
    IRMapping map;
    map.map(beats.getArgument(0), best);
    map.map(beats.getArgument(1), next);
    for (Operation &inner : beats.without_terminator())
      builder.clone(inner, map);
    return map.lookupOrDefault(beats.getTerminator()->getOperand(0));
  };
  Value wins = beat(left, right), loses = beat(right, left);
  Value isLower = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, rightAt, leftAt);
  Value no = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
  Value isEqual = arith::SelectOp::create(builder, loc, loses, no, isLower);
  wins = arith::OrIOp::create(builder, loc, wins, isEqual);
  Value value = arith::SelectOp::create(builder, loc, wins, right, left);
  Value at = arith::SelectOp::create(builder, loc, wins, rightAt, leftAt);
  tile::YieldOp::create(builder, loc, ValueRange{value, at});
}

SmallVector<Value> ChunkSum::end(OpBuilder &builder, ValueRange loop) const {
  Location loc = op->getLoc();
  SmallVector<Value> sums(loop.slice(place, carried.size()));
  if (kind == Kind::InOrder)
    return sums;
  if (kind == Kind::AnyOrder) {
    IRMapping map;
    map.map(op->getOperands(), sums);
    return llvm::to_vector_of<Value>(builder.clone(*op, map)->getResults());
  }
  Value places = IotaOp::create(builder, loc, carried.back(), getAxis());
  sums[1] = arith::AddIOp::create(builder, loc, sums[1], places);
  auto reduce = ReduceOp::create(builder, loc, op->getResultTypes(), sums, getAxis());
  OpBuilder::InsertionGuard guard(builder);
  Type element = carried.front().getElementType(), i32 = builder.getI32Type();
  Block *body = builder.createBlock(&reduce.getCombiner(), {}, {element, i32, element, i32},
                                    SmallVector<Location>(4, loc));
  buildWinner(builder, loc, getCombiner(), *body);
  return llvm::to_vector_of<Value>(reduce.getResults());
}
