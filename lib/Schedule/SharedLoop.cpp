// SharedLoop.h: what programs can share out, and what they leave for the last of them.
#include "SharedLoop.h"
#include "GlobalAccesses.h"
#include "kiln/Dialect/Tile/IR/BareTypes.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- Sums ---------------------------------------------------------------------------------===//

namespace {
/// Follows a value from where a loop hands it on back to where it begins, past all that is added.
class SumFinder {
public:
  /// Whether what `use` reads is `from` and what was added to it.
  bool isSumOf(OpOperand &use, Value from);
  /// Whether nothing else reads what is on the way.
  bool isAlone() const {
    return llvm::all_of(values, [&](Value value) {
      return llvm::all_of(value.getUses(), [&](OpOperand &use) { return uses.contains(&use); });
    });
  }
  /// Who makes it; empty if nobody says.
  StringRef getRole() const;

private:
  bool isSumOfEither(Operation *op, Value from);

  llvm::SmallPtrSet<OpOperand *, 8> uses;
  llvm::SmallSetVector<Value, 8> values;
};
} // namespace

bool SumFinder::isSumOfEither(Operation *op, Value from) {
  SumFinder before = *this;
  if (isSumOf(op->getOpOperand(0), from))
    return true;
  *this = before;
  return isSumOf(op->getOpOperand(1), from);
}

bool SumFinder::isSumOf(OpOperand &use, Value from) {
  Value value = use.get();
  uses.insert(&use);
  values.insert(value);
  if (value == from)
    return true;
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return false;
  unsigned number = result.getResultNumber();
  return TypeSwitch<Operation *, bool>(result.getOwner())
      .Case<DotOp, DotScaledOp>(
          [&](auto dot) { return isSumOf(dot.getAccumulatorMutable(), from); })
      .Case<arith::AddFOp, arith::AddIOp>([&](auto sum) { return isSumOfEither(sum, from); })
      .Case<scf::IfOp>([&](scf::IfOp condition) {
        return isSumOf(condition.thenYield()->getOpOperand(number), from) &&
               isSumOf(condition.elseYield()->getOpOperand(number), from);
      })
      .Case<scf::ForOp>([&](scf::ForOp loop) {
        return isSumOf(loop.getBody()->getTerminator()->getOpOperand(number),
                       loop.getRegionIterArg(number)) &&
               isSumOf(loop.getInitArgsMutable()[number], from);
      })
      .Default([](Operation *) { return false; });
}

StringRef SumFinder::getRole() const {
  for (Value value : values)
    if (Operation *op = value.getDefiningOp())
      if (StringRef name = getRoleName(op); !name.empty())
        return name;
  return "";
}

/// Whether all elements are zero.
static bool isZero(Value value) {
  if (auto splat = value.getDefiningOp<SplatOp>())
    value = splat.getValue();
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

//===- What can be shared out ---------------------------------------------------------------===//

/// Who makes the sums of the loop, which are all that it carries; an error if it carries more.
static FailureOr<StringRef> findSums(scf::ForOp loop) {
  auto fail = [&](unsigned number) {
    return loop.emitOpError("expected nothing but sums in what the loop carries, since '")
           << kShareAttrName << "' is decided, got "
           << getBareType(loop.getResult(number).getType()) << " as its value " << number << ", ";
  };
  StringRef role;
  for (unsigned number = 0; number < loop.getNumResults(); ++number) {
    auto type = dyn_cast<RankedTensorType>(loop.getResult(number).getType());
    if (!type || type.getRank() == 0 || !isMemoryElementType(type.getElementType()) ||
        type.getElementTypeBitWidth() < 8)
      return fail(number) << "which is no tensor of elements of whole bytes";
    if (!isZero(loop.getInitArgs()[number]))
      return fail(number) << "which does not begin as zeros";
    SumFinder finder;
    if (!finder.isSumOf(loop.getBody()->getTerminator()->getOpOperand(number),
                        loop.getRegionIterArg(number)))
      return fail(number) << "which is more than added to";
    if (!finder.isAlone())
      return fail(number) << "which a trip reads";
    if (role.empty())
      role = finder.getRole();
  }
  if (loop.getNumResults() == 0)
    return loop.emitOpError("expected a loop that carries a sum, since '")
           << kShareAttrName << "' is decided";
  return role;
}

/// What every program of a tile does, and what only one of them does, is no business of memory's.
static LogicalResult checkAround(scf::ForOp loop, KernelOp kernel) {
  auto check = [&](Operation *op, bool isOnce) {
    return op->walk([&](Operation *inner) -> WalkResult {
      std::optional<GlobalAccess> access = findGlobalAccess(inner);
      bool isForeign = isa<InlineAsmOp, ExternCallOp>(inner) && !isMemoryEffectFree(inner);
      if (!(access && access->writes) && !isForeign && (isOnce || !isa<PrintOp>(inner)))
        return WalkResult::advance();
      InFlightDiagnostic error = inner->emitOpError("expected no effect ")
                                 << (isOnce ? "of a trip" : "in front of the loop")
                                 << " that others see, since several programs run it";
      error.attachNote(loop.getLoc()) << "the loop whose trips they share out";
      return error;
    });
  };
  for (Operation &op : llvm::make_range(kernel.getBody().front().begin(), loop->getIterator()))
    if (check(&op, /*isOnce=*/false).wasInterrupted())
      return failure();
  return failure(check(loop, /*isOnce=*/true).wasInterrupted());
}

static LogicalResult checkPlace(scf::ForOp loop, KernelOp kernel) {
  if (loop->getParentOp() != kernel)
    return loop.emitOpError("expected a loop of the kernel's body itself, since '")
           << kShareAttrName << "' is decided, got one in '" << loop->getParentOp()->getName()
           << "'";
  if (!kernel.hasGrid())
    return kernel.emitOpError("expected a grid region, since '")
           << kShareAttrName << "' is decided";
  return success();
}

/// Null if there is none.
static FailureOr<scf::ForOp> findLoop(KernelOp kernel) {
  scf::ForOp shared;
  WalkResult result = kernel.getBody().walk([&](scf::ForOp loop) -> WalkResult {
    if (!loop->hasAttr(kShareAttrName))
      return WalkResult::advance();
    if (shared) {
      InFlightDiagnostic error = loop.emitOpError("expected one loop with '")
                                 << kShareAttrName << "' in a kernel, got two";
      error.attachNote(shared.getLoc()) << "this is the other loop";
      return error;
    }
    shared = loop;
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  return shared;
}

FailureOr<SharedLoop> kiln::findSharedLoop(KernelOp kernel, bool isStream) {
  FailureOr<scf::ForOp> loop = findLoop(kernel);
  if (failed(loop))
    return failure();
  if (!*loop || isStreamed(*loop) != isStream)
    return SharedLoop();
  if (failed(checkPlace(*loop, kernel)) || failed(checkAround(*loop, kernel)))
    return failure();
  FailureOr<StringRef> role = findSums(*loop);
  if (failed(role))
    return failure();
  return SharedLoop{*loop, *role};
}

//===- Trips --------------------------------------------------------------------------------===//

static Value castTo(OpBuilder &builder, Location loc, Type type, Value value) {
  if (value.getType() == type)
    return value;
  return arith::IndexCastOp::create(builder, loc, type, value);
}

Value kiln::countTrips(OpBuilder &builder, scf::ForOp loop) {
  Location loc = loop.getLoc();
  IndexMath math{builder, loc}; // of the loop's own type, which may be another one
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(loop.getStep().getType(), value));
  };
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  auto above = loop.getUnsignedCmp() ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
  Value any = arith::CmpIOp::create(builder, loc, above, upper, lower);
  Value span = math.select(any, math.sub(upper, lower), constant(0));
  Value trips = math.div(math.add(span, math.sub(step, constant(1))), step);
  return castTo(builder, loc, builder.getIndexType(), trips);
}

void kiln::narrowLoop(scf::ForOp loop, Value from, Value to, Value trips) {
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  IndexMath math{builder, loc};
  Value lower = loop.getLowerBound(), step = loop.getStep();
  auto at = [&](Value trip) {
    return math.add(lower, math.mul(castTo(builder, loc, step.getType(), trip), step));
  };
  loop.setLowerBound(at(from));
  // Past the last trip there need not be a number.
  Value isEnd = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, to, trips);
  loop.setUpperBound(math.select(isEnd, loop.getUpperBound(), at(to)));
}

//===- Memory -------------------------------------------------------------------------------===//

/// A tensor of a type for each piece, one below another.
Value SharedSums::makeView(OpBuilder &builder, RankedTensorType type, int64_t perProgram,
                           Value pieces) {
  int64_t bytes = perProgram * type.getNumElements() * type.getElementTypeBitWidth() / 8;
  Value pointer =
      addHidden(kernel, {isAtomic ? HiddenArgument::Counter : HiddenArgument::Workspace, bytes},
                type.getElementType());
  SmallVector<int64_t> shape(type.getShape()), strides(type.getRank(), 1);
  for (int64_t dim = type.getRank() - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * shape[dim];
  shape[0] = ShapedType::kDynamic;
  IndexMath math{builder, loc};
  Value rows = math.mul(pieces, math.constant(type.getDimSize(0)));
  auto view = ViewType::get(kernel.getContext(), shape, type.getElementType(), strides);
  return ViewFromPointerOp::create(builder, loc, view, pointer, rows, ValueRange());
}

void SharedSums::allocate(OpBuilder &builder, int64_t perProgram, Value pieces, Value count) {
  for (Value sum : loop.getResults())
    views.push_back(makeView(builder, cast<RankedTensorType>(sum.getType()), perProgram, pieces));
  Type i32 = builder.getI32Type();
  Value pointer = addHidden(kernel, {HiddenArgument::Counter, /*bytes=*/4}, i32);
  counters = ViewFromPointerOp::create(
      builder, loc, ViewType::get(kernel.getContext(), {ShapedType::kDynamic}, i32, {1}), pointer,
      count, ValueRange());
}

SmallVector<Value> SharedSums::getOffsets(IndexMath math, RankedTensorType type, Value piece) {
  SmallVector<Value> offsets(type.getRank(), math.constant(0));
  offsets[0] = math.mul(piece, math.constant(type.getDimSize(0)));
  return offsets;
}

Value SharedSums::load(OpBuilder &builder, RankedTensorType type, Value view, Value piece) {
  OperationState state(loc, LoadOp::getOperationName());
  SmallVector<Value> offsets = getOffsets(IndexMath{builder, loc}, type, piece);
  int32_t rank = offsets.size();
  state.addOperands(view);
  state.addOperands(offsets);
  state.addTypes(type);
  state.getOrAddProperties<LoadOp::Properties>().operandSegmentSizes = {1, rank, 0};
  return own(cast<LoadOp>(builder.create(state)));
}

void SharedSums::store(OpBuilder &builder, Value tensor, Value view, Value piece) {
  OperationState state(loc, StoreOp::getOperationName());
  state.addOperands({tensor, view});
  state.addOperands(
      getOffsets(IndexMath{builder, loc}, cast<RankedTensorType>(tensor.getType()), piece));
  own(cast<StoreOp>(builder.create(state)));
}

/// Adds a tensor to the one that lies in memory, element by element.
void SharedSums::addAtomically(OpBuilder &builder, Value view, Value sum, Value piece) {
  auto type = cast<RankedTensorType>(sum.getType());
  RankedTensorType places = type.clone(builder.getI64Type());
  IndexMath math{builder, loc};
  SmallVector<Value> indices;
  for (auto [dim, offset] : llvm::enumerate(getOffsets(math, type, piece))) {
    Value at = IotaOp::create(builder, loc, places, dim);
    if (dim == 0) {
      Value first = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), offset);
      at = arith::AddIOp::create(builder, loc, at, SplatOp::create(builder, loc, places, first));
    }
    indices.push_back(at);
  }
  bool isFloat = isa<FloatType>(type.getElementType());
  own(AtomicRMWOp::create(builder, loc, type, isFloat ? AtomicKind::AddF : AtomicKind::AddI, view,
                          sum, indices, Value(), MemoryOrder::Relaxed, MemoryScope::Device));
}

Value SharedSums::count(OpBuilder &builder, AtomicKind kind, Value counter, int64_t value,
                        MemoryOrder order) {
  Value by = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
  return own(AtomicRMWOp::create(builder, loc, by.getType(), kind, counters, by,
                                 ValueRange{counter}, Value(), order, MemoryScope::Device));
}

void SharedSums::leave(OpBuilder &builder, Value piece) {
  for (auto [sum, view] : llvm::zip_equal(loop.getResults(), views))
    if (isAtomic)
      addAtomically(builder, view, sum, piece);
    else
      store(builder, sum, view, piece);
}

Value SharedSums::countIn(OpBuilder &builder, Value counter, Value before) {
  before = castTo(builder, loc, builder.getI32Type(), before);
  Value counted = count(builder, AtomicKind::AddI, counter, 1, MemoryOrder::AcqRel);
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, counted, before);
}

void SharedSums::reset(OpBuilder &builder, Value counter) {
  count(builder, AtomicKind::Exch, counter, 0, MemoryOrder::Relaxed);
}

SmallVector<Value> SharedSums::makeZeros(OpBuilder &builder) {
  return llvm::map_to_vector(loop.getResultTypes(), [&](Type type) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  });
}

SmallVector<Value> SharedSums::addUp(OpBuilder &builder, ValueRange sums, Value from, Value to,
                                     GetPiece getPiece) {
  SmallVector<Value> totals;
  for (auto [sum, view] : llvm::zip_equal(sums, views)) {
    auto type = cast<RankedTensorType>(sum.getType());
    auto adder = scf::ForOp::create(builder, loc, from, to, IndexMath{builder, loc}.constant(1),
                                    ValueRange{sum});
    OpBuilder inner = OpBuilder::atBlockBegin(adder.getBody());
    Value soFar = adder.getRegionIterArg(0);
    Value more = load(inner, type, view, getPiece(inner, adder.getInductionVar()));
    Value added = isa<FloatType>(type.getElementType())
                      ? Value(arith::AddFOp::create(inner, loc, soFar, more))
                      : Value(arith::AddIOp::create(inner, loc, soFar, more));
    scf::YieldOp::create(inner, loc, added);
    totals.push_back(adder.getResult(0));
  }
  return totals;
}

SmallVector<Value> SharedSums::take(OpBuilder &builder, Value piece) {
  SmallVector<Value> totals;
  for (auto [zeros, view] : llvm::zip_equal(makeZeros(builder), views)) {
    totals.push_back(load(builder, cast<RankedTensorType>(zeros.getType()), view, piece));
    store(builder, zeros, view, piece);
  }
  return totals;
}
