// Follows what padding becomes.
#include "ChunkEnds.h"
#include "Padding.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// What a number may be; of a truth value, `IsZero` is false and `IsOther` true.
enum Kind : unsigned {
  IsZero = 1,
  IsInfinity = 2,
  IsMinusInfinity = 4,
  IsNoNumber = 8,
  IsOther = 16,
  IsInfinite = IsInfinity | IsMinusInfinity,
  IsAny = 31
};

static unsigned classify(Attribute value) {
  if (auto elements = dyn_cast_or_null<SplatElementsAttr>(value))
    value = elements.getSplatValue<Attribute>();
  if (auto number = dyn_cast_or_null<IntegerAttr>(value))
    return number.getValue().isZero() ? IsZero : IsOther;
  auto real = dyn_cast_or_null<FloatAttr>(value);
  if (!real)
    return IsAny;
  APFloat number = real.getValue();
  return number.isZero()       ? IsZero
         : number.isNaN()      ? IsNoNumber
         : number.isFinite()   ? IsOther
         : number.isNegative() ? IsMinusInfinity
                               : IsInfinity;
}

static unsigned negate(unsigned kinds) {
  unsigned turned = kinds & ~IsInfinite;
  return turned | (kinds & IsInfinity ? IsMinusInfinity : 0) |
         (kinds & IsMinusInfinity ? IsInfinity : 0);
}

/// What two numbers give, by what each pair of kinds does.
static unsigned combine(unsigned left, unsigned right, function_ref<unsigned(Kind, Kind)> pair) {
  unsigned all = (left | right) & IsNoNumber;
  for (Kind a : {IsZero, IsInfinity, IsMinusInfinity, IsOther})
    for (Kind b : {IsZero, IsInfinity, IsMinusInfinity, IsOther})
      if (left & a && right & b)
        all |= pair(a, b);
  return all;
}

static unsigned add(Kind a, Kind b) {
  if (a == IsZero || b == IsZero)
    return a == IsZero ? b : a;
  if (a == IsOther && b == IsOther)
    return IsAny & ~IsNoNumber;
  if (a == IsOther || b == IsOther)
    return a == IsOther ? b : a;
  return a == b ? unsigned(a) : IsNoNumber;
}

static unsigned multiply(Kind a, Kind b) {
  bool hasInfinity = (a | b) & IsInfinite, hasZero = a == IsZero || b == IsZero;
  if (hasInfinity)
    return hasZero ? unsigned(IsNoNumber) : IsInfinite;
  return hasZero ? unsigned(IsZero) : IsAny & ~IsNoNumber;
}

static unsigned divide(Kind a, Kind b) {
  if (a & IsInfinite)
    return b & IsInfinite ? unsigned(IsNoNumber) : IsInfinite;
  if (b & IsInfinite)
    return IsZero;
  if (a == IsZero)
    return b == IsZero ? IsNoNumber : IsZero;
  return b == IsZero ? unsigned(IsInfinite) : IsAny & ~IsNoNumber;
}

static unsigned exponentiate(unsigned kinds) {
  return (kinds & (IsNoNumber | IsInfinity)) | (kinds & IsMinusInfinity ? IsZero : 0) |
         (kinds & IsZero ? IsOther : 0) | (kinds & IsOther ? IsOther | IsZero | IsInfinity : 0);
}

//===- Following ----------------------------------------------------------------------------===//

ChunkEnds::ChunkEnds(const ChunkPhases &phases)
    : phases(phases), ops(llvm::filter_to_vector(
                          phases.getCut(), [&](Operation *op) { return phases.isUsed(op); })) {
  for (Operation *op : ops) {
    isKnown &= isReachKnown(op);
    if (phases.isAlong(op) || op->getNumResults() == 0) {
      isKnown &= canEnd(op);
      continue;
    }
    Element element = follow(op);
    for (Value result : op->getResults())
      elements[result] = element;
  }
}

ChunkEnds::Element ChunkEnds::find(Value value) const {
  auto found = elements.find(value);
  if (found != elements.end())
    return found->second;
  Attribute constant;
  return {matchPattern(value, m_Constant(&constant)) ? classify(constant) : unsigned(IsAny)};
}

ChunkEnds::Element ChunkEnds::follow(Operation *op) const {
  SmallVector<Element> in =
      llvm::map_to_vector(op->getOperands(), [&](Value x) { return find(x); });
  bool varies = llvm::any_of(in, [](const Element &each) { return each.varies; });
  auto make = [&](unsigned kinds) { return Element{kinds, varies && kinds != IsZero}; };
  auto pairs = [&](auto pair) { return make(combine(in[0].kinds, in[1].kinds, pair)); };
  if (findMasked(op))
    return {IsZero};
  return TypeSwitch<Operation *, Element>(op)
      .Case<LoadOp>([&](LoadOp load) {
        return load.getPadding() ? find(load.getPadding()) : Element{IsZero};
      })
      .Case<arith::ConstantOp>([](auto constant) { return Element{classify(constant.getValue())}; })
      .Case<SplatOp, ReshapeOp, BroadcastOp, TransposeOp, arith::ExtFOp, arith::ExtSIOp,
            arith::ExtUIOp>([&](auto) { return in.front(); })
      .Case<arith::AddFOp>([&](auto) { return pairs(add); })
      .Case<arith::SubFOp>(
          [&](auto) { return make(combine(in[0].kinds, negate(in[1].kinds), add)); })
      .Case<arith::MulFOp>([&](auto) { return pairs(multiply); })
      .Case<arith::DivFOp>([&](auto) { return pairs(divide); })
      .Case<arith::NegFOp>([&](auto) { return make(negate(in.front().kinds)); })
      .Case<math::ExpOp, math::Exp2Op>([&](auto) { return make(exponentiate(in.front().kinds)); })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(
          [&](auto) { return make(in[0].kinds | in[1].kinds); })
      .Case<arith::SelectOp>([&](auto) {
        return in[0].kinds == IsZero    ? in[2]
               : in[0].kinds == IsOther ? in[1]
                                        : make(in[1].kinds | in[2].kinds);
      })
      .Case<arith::MulIOp, arith::AndIOp>([&](auto) {
        return make(in[0].kinds == IsZero || in[1].kinds == IsZero ? IsZero : IsAny);
      })
      .Case<IotaOp>([&](IotaOp iota) {
        return Element{IsAny, *phases.findDim(iota.getResult()) == iota.getDim()};
      })
      .Case<GatherOp>([](auto) { return Element{IsAny, true}; })
      .Default([&](Operation *) { return make(IsAny); });
}

/// The positions of a tile, which may be turned as tiles of rows are (RowStarts.h): by how many
/// places back, as a scalar.
static std::pair<IotaOp, Value> findPositions(Value value) {
  if (auto iota = value.getDefiningOp<IotaOp>())
    return {iota, {}};
  auto turned = value.getDefiningOp<arith::AndIOp>();
  auto sum = turned ? turned.getLhs().getDefiningOp<arith::AddIOp>() : arith::AddIOp();
  auto iota = sum ? sum.getLhs().getDefiningOp<IotaOp>() : IotaOp();
  auto splat = sum ? sum.getRhs().getDefiningOp<SplatOp>() : SplatOp();
  APInt last;
  bool isTurn = iota && splat && matchPattern(turned.getRhs(), m_ConstantInt(&last)) &&
                last == iota.getType().getDimSize(iota.getDim()) - 1;
  return isTurn ? std::pair(iota, splat.getValue()) : std::pair(IotaOp(), Value());
}

static Value skipShapes(Value value) {
  while (Operation *maker = value.getDefiningOp()) {
    if (!isa<ReshapeOp, BroadcastOp, TransposeOp>(maker))
      break;
    value = maker->getOperand(0);
  }
  return value;
}

Value ChunkEnds::findMasked(Operation *op) const {
  auto mask = dyn_cast<arith::CmpIOp>(op);
  if (!mask || mask.getPredicate() != arith::CmpIPredicate::slt)
    return {};
  Value left = skipShapes(mask.getLhs()), right = skipShapes(mask.getRhs());
  auto [iota, turn] = findPositions(left);
  auto splat = right.getDefiningOp<SplatOp>();
  auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(mask.getLhs()));
  bool isAlong = iota && phases.findDim(iota.getResult()) &&
                 *phases.findDim(iota.getResult()) == iota.getDim() &&
                 (!turn || phases.isInFront(turn));
  bool fits = type && type.getWidth() > llvm::Log2_64_Ceil(phases.getExtent());
  bool isKnown = isAlong && splat && fits && phases.isInFront(splat.getValue());
  return isKnown ? splat.getValue() : Value();
}

/// Whether it can be said in front of all phases how far an access reaches.
bool ChunkEnds::isReachKnown(Operation *op) const {
  return TypeSwitch<Operation *, bool>(op)
      .Case<LoadOp, StoreOp>([&](auto access) {
        return phases.isInFront(access.getView()) &&
               llvm::all_of(access.getOffsets(), [&](Value at) { return phases.isInFront(at); });
      })
      .Default(true);
}

/// Whether a store, or a sum, is what it is without all that comes behind the end, or with one of
/// it.
bool ChunkEnds::canEnd(Operation *op) const {
  if (isa<StoreOp>(op))
    return true;
  auto reduce = dyn_cast<ReduceOp>(op);
  if (!reduce)
    return false;
  Block &combiner = reduce.getCombiner().front();
  return llvm::all_of(llvm::enumerate(reduce.getInputs()), [&](auto each) {
    auto [index, input] = each;
    Operation *how = combiner.getTerminator()->getOperand(index).getDefiningOp();
    Element element = find(input);
    if (element.varies || !getIdentity(combiner, index))
      return false;
    if (isa<arith::AddFOp>(how))
      return !(element.kinds & IsOther);
    if (isa<arith::AddIOp, arith::XOrIOp>(how))
      return element.kinds == IsZero;
    return isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp,
               arith::MaxSIOp, arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AndIOp,
               arith::OrIOp>(how);
  });
}

//===- What the loop does instead -----------------------------------------------------------===//

Value ChunkEnds::countElements(OpBuilder &builder, Location loc) const {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value end = constant(0);
  auto reach = [&](Value other) { end = arith::MaxSIOp::create(builder, loc, end, other); };
  auto reachAll = [&](auto access, Value tile) {
    unsigned dim = *phases.findDim(tile);
    Value all = DimOp::create(builder, loc, builder.getIndexType(), access.getView(), dim);
    Value offset = arith::MaxSIOp::create(builder, loc, access.getOffsets()[dim],
                                          constant(-phases.getExtent()));
    reach(arith::SubIOp::create(builder, loc, all, offset));
  };
  for (Operation *op : ops) {
    if (auto load = dyn_cast<LoadOp>(op))
      reachAll(load, load.getResult());
    if (auto store = dyn_cast<StoreOp>(op))
      reachAll(store, store.getValue());
    Value number = findMasked(op);
    if (!number)
      continue;
    auto toIndex = [&](Value value) -> Value {
      return value.getType().isIndex()
                 ? value
                 : arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value)
                       .getResult();
    };
    Value last = toIndex(number);
    if (Value turn = findPositions(skipShapes(op->getOperand(0))).second) {
      Value forth =
          arith::SubIOp::create(builder, loc, constant(phases.getExtent()), toIndex(turn));
      last = arith::AddIOp::create(builder, loc, last, forth);
    }
    reach(last);
  }
  return arith::MinSIOp::create(builder, loc, end, constant(phases.getExtent()));
}

IRMapping ChunkEnds::makePadding(OpBuilder &builder, Operation *sum) const {
  DenseSet<Operation *> needed = {sum};
  for (Operation *op : llvm::reverse(ops))
    if (needed.contains(op) && !findMasked(op))
      for (Value operand : op->getOperands())
        if (phases.findDim(operand))
          needed.insert(operand.getDefiningOp());
  IRMapping map;
  for (Operation *op : ops) {
    if (op == sum || !needed.contains(op))
      continue;
    auto load = dyn_cast<LoadOp>(op);
    auto constant = dyn_cast<arith::ConstantOp>(op);
    if (load && load.getPadding()) {
      map.map(load.getResult(),
              SplatOp::create(builder, op->getLoc(), phases.getChunkType(load.getResult(), 1),
                              load.getPadding())
                  .getResult());
    } else if (load || constant || findMasked(op)) {
      RankedTensorType type = phases.getChunkType(op->getResult(0), 1);
      Attribute value =
          constant ? cast<SplatElementsAttr>(constant.getValue()).getSplatValue<Attribute>()
                   : builder.getZeroAttr(type.getElementType());
      map.map(op->getResult(0),
              arith::ConstantOp::create(builder, op->getLoc(), DenseElementsAttr::get(type, value))
                  .getResult());
    } else {
      Operation *own = builder.clone(*op, map);
      for (auto [before, result] : llvm::zip_equal(op->getResults(), own->getResults()))
        if (phases.findDim(before))
          result.setType(phases.getChunkType(before, 1));
    }
  }
  return map;
}
