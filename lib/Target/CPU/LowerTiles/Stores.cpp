// Ops that write to views: tiles, elements at computed indices, and atomics.
#include "Program.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

/// First and last byte of a tile, as i64 addresses: from the element of lowest to that of highest
/// address, whether they lie inside the view or not.
static std::pair<Value, Value> byteRange(OpBuilder &builder, Location loc, const Array &array,
                                         ValueRange offsets, ArrayRef<int64_t> shape) {
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t value) {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value)).getResult();
  };
  Value low = constant(0), high = constant(0), zero = constant(0);
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    Value stride = arith::IndexCastOp::create(builder, loc, i64, array.strides[dim]);
    Value at = arith::IndexCastOp::create(builder, loc, i64, offset);
    Value start = arith::MulIOp::create(builder, loc, at, stride);
    Value span = arith::MulIOp::create(builder, loc, constant(shape[dim] - 1), stride);
    low = arith::AddIOp::create(builder, loc, low, start);
    low =
        arith::AddIOp::create(builder, loc, low, arith::MinSIOp::create(builder, loc, span, zero));
    high = arith::AddIOp::create(builder, loc, high, start);
    high =
        arith::AddIOp::create(builder, loc, high, arith::MaxSIOp::create(builder, loc, span, zero));
  }
  int64_t bits = viewBits(array.element);
  auto bytes = [&](Value elements) -> Value {
    if (bits >= 8)
      return arith::MulIOp::create(builder, loc, elements, constant(bits / 8));
    Value count = arith::MulIOp::create(builder, loc, elements, constant(bits));
    return arith::ShRSIOp::create(builder, loc, count, constant(3));
  };
  Value base = LLVM::PtrToIntOp::create(builder, loc, i64, array.base);
  Value last = arith::AddIOp::create(builder, loc, bytes(high),
                                     constant(std::max<int64_t>(bits / 8 - 1, 1)));
  return {arith::AddIOp::create(builder, loc, base, bytes(low)),
          arith::AddIOp::create(builder, loc, base, last)};
}

/// Lanes run along the dimension whose elements are adjacent in memory, if one is.
static int laneOf(const Array &array, ArrayRef<int64_t> shape) {
  int lane = -1;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent > 1)
      lane = dim;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent > 1 && getConstantIntValue(array.strides[dim]) == 1)
      lane = dim;
  return lane;
}

void Program::lowerStore(tile::StoreOp op) {
  Location loc = op.getLoc();
  ArrayRef<int64_t> shape = op.getValue().getType().getShape();
  Array to = view(op.getView());
  SmallVector<Value> offsets = scalarRange(op.getOffsets());
  int lane = laneOf(to, shape);

  SmallVector<Value> conditions;
  insideConditions(op.getValue(), conditions);
  if (Value ok = tileInside(loc, to, offsets, shape))
    conditions.push_back(ok);

  // Tiles that are read here and may overlap the one that is written: as they usually do not,
  // or are that very tile, the first version need not care.
  struct Guard {
    tile::LoadOp load;
    Value overlaps;
  };
  SmallVector<Guard> guards;
  for (tile::LoadOp load : loadsToGuard(op)) {
    const Array &from = view(load.getView());
    SmallVector<Value> start = scalarRange(load.getOffsets());
    ArrayRef<int64_t> read = load.getResult().getType().getShape();
    Value readLow, readHigh, low, high;
    std::tie(readLow, readHigh) = byteRange(builder, loc, from, start, read);
    std::tie(low, high) = byteRange(builder, loc, to, offsets, shape);
    auto compare = [&](arith::CmpIPredicate how, Value a, Value b) -> Value {
      return arith::CmpIOp::create(builder, loc, how, a, b);
    };
    Value fine =
        arith::OrIOp::create(builder, loc, compare(arith::CmpIPredicate::ult, readHigh, low),
                             compare(arith::CmpIPredicate::ult, high, readLow));
    if (read == shape && readsSameElement(op.getValue(), load.getResult()) &&
        from.element == to.element) {
      Value same = compare(arith::CmpIPredicate::eq, readLow, low);
      for (size_t dim = 0; dim < shape.size(); ++dim)
        if (shape[dim] > 1)
          same = arith::AndIOp::create(
              builder, loc, same,
              compare(arith::CmpIPredicate::eq, from.strides[dim], to.strides[dim]));
      fine = arith::OrIOp::create(builder, loc, fine, same);
    }
    conditions.push_back(fine);
    Value yes = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
    guards.push_back({load, arith::XOrIOp::create(builder, loc, fine, yes)});
  }

  versions(loc, conditions, [&](bool inside) {
    DenseMap<Operation *, std::pair<Array, SmallVector<Value>>> redirected;
    if (!inside)
      for (unsigned index = 0; index < guards.size(); ++index) {
        const Guard &guard = guards[index];
        tile::LoadOp load = guard.load;
        auto type = load.getResult().getType();
        Array copy = buffer(temp(op, index), type.getShape(), type.getElementType());
        const Array &from = view(load.getView());
        auto branch = scf::IfOp::create(builder, loc, guard.overlaps, /*withElse=*/false);
        builder.setInsertionPoint(branch.thenYield());
        if (from.packed) // cannot be chosen by address: always copied
          builder.setInsertionPoint(branch);
        materialize(loc, load.getResult(), copy);
        builder.setInsertionPointAfter(branch);
        SmallVector<Value> start = scalarRange(load.getOffsets());
        Array chosen = copy;
        Value zero = indexConstant(loc, 0);
        auto choose = [&](Value ours, Value theirs) -> Value {
          auto a = getConstantIntValue(ours), b = getConstantIntValue(theirs);
          if (a && b && *a == *b)
            return ours;
          return arith::SelectOp::create(builder, loc, guard.overlaps, ours, theirs);
        };
        for (size_t dim = 0; dim < start.size(); ++dim) {
          if (from.packed) {
            start[dim] = zero;
            continue;
          }
          chosen.extents[dim] = choose(copy.extents[dim], from.extents[dim]);
          chosen.strides[dim] = choose(copy.strides[dim], from.strides[dim]);
          start[dim] = choose(zero, start[dim]);
        }
        if (!from.packed)
          chosen.base = choose(copy.base, from.base);
        redirected[load] = {chosen, start};
      }
    Nest nest(*this, loc, inside);
    nest.redirected = redirected;
    forVectors(nest, op.getValue(), lane, [&](const Point &point, Value value) {
      Value mask = inside ? Value() : nest.insideMask(to, offsets, point);
      nest.store(value, to, nest.moved(point, offsets), mask);
    });
  });
}

void Program::lowerScatter(tile::ScatterOp op) {
  ArrayRef<int64_t> shape = op.getValue().getType().getShape();
  Array to = view(op.getView());
  int lane = -1;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent > 1)
      lane = dim;
  Nest nest(*this, op.getLoc());
  nest.forEach(shape, lane, [&](Point point) {
    Places places = nest.places(to, op.getIndices(), op.getMask(), point);
    Value value = nest.vectorValue(op.getValue(), point);
    if (places.isRun)
      return nest.storeRun(value, to, places);
    nest.scatterElements(value, to, nest.splat(places.position, point.width),
                         nest.splat(places.mask, point.width));
  });
}

//===- Atomics ------------------------------------------------------------------------------===//

static LLVM::AtomicOrdering orderOf(tile::MemoryOrder order) {
  switch (order) {
  case tile::MemoryOrder::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case tile::MemoryOrder::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case tile::MemoryOrder::Release:
    return LLVM::AtomicOrdering::release;
  case tile::MemoryOrder::AcqRel:
    return LLVM::AtomicOrdering::acq_rel;
  }
  return LLVM::AtomicOrdering::acq_rel;
}

static std::optional<LLVM::AtomicBinOp> integerOp(tile::AtomicKind kind) {
  switch (kind) {
  case tile::AtomicKind::AddI:
    return LLVM::AtomicBinOp::add;
  case tile::AtomicKind::MinS:
    return LLVM::AtomicBinOp::min;
  case tile::AtomicKind::MaxS:
    return LLVM::AtomicBinOp::max;
  case tile::AtomicKind::MinU:
    return LLVM::AtomicBinOp::umin;
  case tile::AtomicKind::MaxU:
    return LLVM::AtomicBinOp::umax;
  case tile::AtomicKind::And:
    return LLVM::AtomicBinOp::_and;
  case tile::AtomicKind::Or:
    return LLVM::AtomicBinOp::_or;
  case tile::AtomicKind::Xor:
    return LLVM::AtomicBinOp::_xor;
  case tile::AtomicKind::Exch:
    return LLVM::AtomicBinOp::xchg;
  default:
    return std::nullopt; // on floats: compare and exchange
  }
}

/// The old bits. Floats are combined by a loop of compare-and-exchange on their bits.
static Value atomicElement(OpBuilder &builder, Location loc, Operation *op, Value to, Type element,
                           ArrayRef<Value> values) {
  unsigned bits = element.getIntOrFloatBitWidth();
  Type integer = builder.getIntegerType(bits);
  auto toBits = [&](Value value) -> Value {
    return isa<FloatType>(element) ? arith::BitcastOp::create(builder, loc, integer, value) : value;
  };
  auto fromBits = [&](Value value) -> Value {
    return isa<FloatType>(element) ? arith::BitcastOp::create(builder, loc, element, value) : value;
  };
  auto first = [&](Value pair, int64_t position) -> Value {
    return LLVM::ExtractValueOp::create(builder, loc, pair, ArrayRef<int64_t>{position});
  };
  auto failing = [](LLVM::AtomicOrdering order) {
    return order == LLVM::AtomicOrdering::release   ? LLVM::AtomicOrdering::monotonic
           : order == LLVM::AtomicOrdering::acq_rel ? LLVM::AtomicOrdering::acquire
                                                    : order;
  };
  if (auto cas = dyn_cast<tile::AtomicCASOp>(op)) {
    LLVM::AtomicOrdering order = orderOf(cas.getOrder());
    Value pair = LLVM::AtomicCmpXchgOp::create(builder, loc, to, toBits(values[0]),
                                               toBits(values[1]), order, failing(order));
    return fromBits(first(pair, 0));
  }
  auto rmw = cast<tile::AtomicRMWOp>(op);
  LLVM::AtomicOrdering order = orderOf(rmw.getOrder());
  if (auto simple = integerOp(rmw.getKind()))
    return fromBits(LLVM::AtomicRMWOp::create(builder, loc, *simple, to, toBits(values[0]), order));
  Value start = LLVM::LoadOp::create(builder, loc, integer, to, bits / 8);
  auto loop = scf::WhileOp::create(builder, loc, TypeRange{integer}, ValueRange{start});
  OpBuilder::InsertionGuard guard(builder);
  Block *before = builder.createBlock(&loop.getBefore(), {}, {integer}, {loc});
  Value old = fromBits(before->getArgument(0)), combined;
  switch (rmw.getKind()) {
  case tile::AtomicKind::MinF:
    combined = arith::MinNumFOp::create(builder, loc, old, values[0]);
    break;
  case tile::AtomicKind::MaxF:
    combined = arith::MaxNumFOp::create(builder, loc, old, values[0]);
    break;
  default:
    combined = arith::AddFOp::create(builder, loc, old, values[0]);
    break;
  }
  Value pair = LLVM::AtomicCmpXchgOp::create(builder, loc, to, before->getArgument(0),
                                             toBits(combined), order, failing(order));
  Value yes = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  Value again = arith::XOrIOp::create(builder, loc, first(pair, 1), yes);
  scf::ConditionOp::create(builder, loc, again, ValueRange{first(pair, 0)});
  Block *after = builder.createBlock(&loop.getAfter(), {}, {integer}, {loc});
  scf::YieldOp::create(builder, loc, after->getArguments());
  builder.setInsertionPointAfter(loop);
  Value result = fromBits(loop.getResult(0));
  return result;
}

LogicalResult Program::lowerAtomic(Operation *op) {
  Location loc = op->getLoc();
  Value viewValue = op->getOperand(0), mask;
  SmallVector<Value> values;
  ValueRange indices;
  if (auto rmw = dyn_cast<tile::AtomicRMWOp>(op)) {
    values = {rmw.getValue()};
    indices = rmw.getIndices();
    mask = rmw.getMask();
  } else {
    auto cas = cast<tile::AtomicCASOp>(op);
    values = {cas.getCompare(), cas.getValue()};
    indices = cas.getIndices();
    mask = cas.getMask();
  }
  Array to = view(viewValue);
  Value result = op->getResult(0);
  auto type = dyn_cast<RankedTensorType>(result.getType());
  bool keep = type && !result.use_empty();
  Array out = keep ? storage(result) : Array();
  Nest nest(*this, loc);
  SmallVector<int64_t> shape;
  if (type)
    shape.assign(type.getShape().begin(), type.getShape().end());
  nest.forEach(shape, -1, [&](Point point) {
    Places places = nest.places(to, indices, mask, point);
    if (!places.mask)
      places.mask = nest.integer(IntegerType::get(loc.getContext(), 1), 1);
    SmallVector<Value> operands;
    for (Value value : values)
      operands.push_back(isa<RankedTensorType>(value.getType()) ? nest.value(value, point)
                                                                : scalar(value));
    Value where = nest.address(to.base, places.position, storageType(to.element));
    auto branch = nest.makeHere<scf::IfOp>(TypeRange{to.element}, places.mask,
                                           /*addThenBlock=*/true, /*addElseBlock=*/true);
    OpBuilder inner(branch.getContext());
    inner.setInsertionPointToStart(branch.thenBlock());
    Value old = atomicElement(inner, loc, op, where, to.element, operands);
    inner.setInsertionPointToEnd(branch.thenBlock());
    scf::YieldOp::create(inner, loc, old);
    inner.setInsertionPointToStart(branch.elseBlock());
    Value bits = arith::ConstantOp::create(
        inner, loc, inner.getZeroAttr(inner.getIntegerType(to.element.getIntOrFloatBitWidth())));
    Value none = isa<FloatType>(to.element)
                     ? arith::BitcastOp::create(inner, loc, to.element, bits).getResult()
                     : bits;
    scf::YieldOp::create(inner, loc, none);
    if (keep)
      nest.store(branch.getResult(0), out, point);
    else if (!type)
      scalars.map(result, branch.getResult(0));
  });
  return success();
}
