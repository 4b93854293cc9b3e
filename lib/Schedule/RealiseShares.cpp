// Shares the trips of a loop out among programs, of which the last to come adds up their sums.
//
// A loop over k may have more trips than a grid of few tiles can wait for. Here several programs
// run a share each, leave what they have summed in memory that the launch gives, and count
// themselves in. Who finds all others counted adds their sums in the order of the shares, and goes
// on behind the loop. Nobody waits for anybody, so it does not matter which programs run at once.
// What they leave is ordered by the count, which releases and acquires (OrderAccesses.cpp).
#include "Decisions.h"
#include "GlobalAccesses.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/ABI.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kiln {
#define GEN_PASS_DEF_REALISESHARES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

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
           << kShareAttrName << "' is decided, got " << loop.getResult(number).getType()
           << " as its value " << number << ", ";
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

//===- Programs -----------------------------------------------------------------------------===//

namespace {
/// One kernel, whose loop is shared out.
class Sharer {
public:
  Sharer(KernelOp kernel, scf::ForOp loop, StringRef role)
      : kernel(kernel), loop(loop), role(role), loc(loop.getLoc()),
        programs(loop->getAttrOfType<IntegerAttr>(kShareAttrName).getInt()),
        isAtomic(loop->hasAttr(kShareAtomicAttrName)) {}
  void realise();

private:
  void widenGrid();
  void findPlace();
  void narrowLoop();
  Value makeView(RankedTensorType type);
  void leave();
  SmallVector<Value> takeBack(OpBuilder &builder);
  void addAtomically(OpBuilder &builder, Value view, Value sum, Value piece);
  template <typename Op>
  Op own(Op op) {
    if (!role.empty())
      setRoleName(op, role);
    return op;
  }
  Value load(OpBuilder &builder, RankedTensorType type, Value view, Value piece) {
    OperationState state(loc, LoadOp::getOperationName());
    SmallVector<Value> offsets = getOffsets(IndexMath{builder, loc}, type, piece);
    int32_t rank = offsets.size();
    state.addOperands(view);
    state.addOperands(offsets);
    state.addTypes(type);
    state.getOrAddProperties<LoadOp::Properties>().operandSegmentSizes = {1, rank, 0};
    return own(cast<LoadOp>(builder.create(state)));
  }
  void store(OpBuilder &builder, Value tensor, Value view, Value piece) {
    OperationState state(loc, StoreOp::getOperationName());
    state.addOperands({tensor, view});
    state.addOperands(
        getOffsets(IndexMath{builder, loc}, cast<RankedTensorType>(tensor.getType()), piece));
    own(cast<StoreOp>(builder.create(state)));
  }
  SmallVector<Value> getOffsets(IndexMath math, RankedTensorType type, Value piece) {
    SmallVector<Value> offsets(type.getRank(), math.constant(0));
    offsets[0] = math.mul(piece, math.constant(type.getDimSize(0)));
    return offsets;
  }

  KernelOp kernel;
  scf::ForOp loop;
  StringRef role;
  Location loc;
  int64_t programs;
  bool isAtomic;
  /// Which tile of the grid that the source has, of how many, and which share of the trips.
  Value tile, tiles, number;
  /// The first of the tile's pieces of memory, one for each share.
  Value first;
  Value place[3];
  SmallVector<Value> views; ///< of the sums
};
} // namespace

/// Shares lie along the last axis, so that those of one number run side by side.
void Sharer::widenGrid() {
  auto grid = cast<GridOp>(kernel.getGrid().front().getTerminator());
  OpBuilder host(grid);
  IndexMath math{host, grid.getLoc()};
  OpOperand &last = grid->getOpOperand(grid->getNumOperands() - 1);
  last.set(math.mul(last.get(), math.constant(programs)));
  setMetadata(kernel, "own_grid", host.getBoolAttr(true));
}

void Sharer::findPlace() {
  size_t rank = kernel.getGrid().front().getTerminator()->getNumOperands();
  Block &body = kernel.getBody().front();
  SmallVector<Operation *> queries;
  body.walk([&](Operation *op) {
    if (isa<ProgramIdOp, NumProgramsOp>(op))
      queries.push_back(op);
  });
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  IndexMath math{builder, kernel.getLoc()};
  Value extents[3];
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (axis >= rank) {
      place[axis] = math.constant(0);
      extents[axis] = math.constant(1);
      continue;
    }
    Type index = builder.getIndexType();
    place[axis] = ProgramIdOp::create(builder, kernel.getLoc(), index, Axis(axis));
    extents[axis] = NumProgramsOp::create(builder, kernel.getLoc(), index, Axis(axis));
    if (axis + 1 < rank)
      continue;
    // Rounded up, so that it is a divisor on any grid that a checker thinks of.
    Value all = math.add(extents[axis], math.constant(programs - 1));
    extents[axis] = math.div(all, math.constant(programs));
    number = math.div(place[axis], extents[axis]);
    place[axis] = math.rem(place[axis], extents[axis]);
  }
  tile = place[rank - 1];
  tiles = extents[rank - 1];
  for (unsigned axis = rank - 1; axis-- > 0;) {
    tile = math.add(math.mul(tile, extents[axis]), place[axis]);
    tiles = math.mul(tiles, extents[axis]);
  }
  for (Operation *query : queries) {
    auto id = dyn_cast<ProgramIdOp>(query);
    unsigned axis = unsigned(id ? id.getAxis() : cast<NumProgramsOp>(query).getAxis());
    query->replaceAllUsesWith(ValueRange{id ? place[axis] : extents[axis]});
    query->erase();
  }
  body.walk([&](Operation *op) {
    TypeSwitch<Operation *>(op).Case<PrintOp, AssertOp>([&](auto message) {
      if (message.getProgram().empty())
        message.getProgramMutable().assign(place);
    });
  });
}

/// Consecutive trips; the first shares have one more where the programs do not divide them.
void Sharer::narrowLoop() {
  OpBuilder builder(loop);
  IndexMath math{builder, loc}; // of the loop's own type, which may be another one
  Type type = loop.getStep().getType();
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  };
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  auto above = loop.getUnsignedCmp() ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
  Value any = arith::CmpIOp::create(builder, loc, above, upper, lower);
  Value span = arith::SelectOp::create(builder, loc, any, math.sub(upper, lower), constant(0));
  Value trips = math.div(math.add(span, math.sub(step, constant(1))), step);
  Value at = number;
  if (!type.isIndex())
    at = arith::IndexCastOp::create(builder, loc, type, number);
  Value all = constant(programs);
  Value each = math.div(trips, all), left = math.rem(trips, all);
  Value skipped = math.add(math.mul(at, each), math.min(at, left));
  Value hasMore = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, left);
  Value count = arith::SelectOp::create(builder, loc, hasMore, math.add(each, constant(1)), each);
  Value begin = math.add(lower, math.mul(skipped, step));
  loop.setLowerBound(begin);
  loop.setUpperBound(math.add(begin, math.mul(count, step)));
}

/// A tensor of a type for each program, one below another. Where all of a tile's add to one, they
/// use the first of theirs.
Value Sharer::makeView(RankedTensorType type) {
  int64_t bytes = type.getNumElements() * type.getElementTypeBitWidth() / 8;
  Value pointer = addHidden(kernel, type.getElementType(), {isAtomic, bytes});
  SmallVector<int64_t> shape(type.getShape()), strides(type.getRank(), 1);
  for (int64_t dim = type.getRank() - 1; dim > 0; --dim)
    strides[dim - 1] = strides[dim] * shape[dim];
  shape[0] = ShapedType::kDynamic;
  OpBuilder builder(loop);
  IndexMath math{builder, loc};
  Value rows = math.mul(tiles, math.constant(programs * type.getDimSize(0)));
  auto view = ViewType::get(kernel.getContext(), shape, type.getElementType(), strides);
  return ViewFromPointerOp::create(builder, loc, view, pointer, rows, ValueRange());
}

/// Adds a tensor to the one that lies in memory, element by element.
void Sharer::addAtomically(OpBuilder &builder, Value view, Value sum, Value piece) {
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

/// Leaves the sums of a share, and goes on behind the loop where all others have left theirs.
void Sharer::leave() {
  for (Value sum : loop.getResults())
    views.push_back(makeView(cast<RankedTensorType>(sum.getType())));
  Type i32 = IntegerType::get(kernel.getContext(), 32);
  Value pointer = addHidden(kernel, i32, {/*isCounter=*/true, /*bytes=*/4});
  SmallVector<Operation *> rest;
  for (Operation &op : llvm::make_range(std::next(loop->getIterator()),
                                        kernel.getBody().front().without_terminator().end()))
    rest.push_back(&op);

  OpBuilder builder(loop->getContext());
  builder.setInsertionPointAfter(loop);
  IndexMath math{builder, loc};
  first = math.mul(tile, math.constant(programs));
  Value piece = math.add(first, number);
  for (auto [sum, view] : llvm::zip_equal(loop.getResults(), views)) {
    if (isAtomic)
      addAtomically(builder, view, sum, first);
    else
      store(builder, sum, view, piece);
  }
  auto counters = ViewFromPointerOp::create(
      builder, loc, ViewType::get(kernel.getContext(), {ShapedType::kDynamic}, i32, {1}), pointer,
      tiles, ValueRange());
  auto count = [&](AtomicKind kind, int64_t value, MemoryOrder order) -> Value {
    Value by = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(value));
    return own(AtomicRMWOp::create(builder, loc, i32, kind, counters, by, ValueRange{tile}, Value(),
                                   order, MemoryScope::Device));
  };
  Value before = count(AtomicKind::AddI, 1, MemoryOrder::AcqRel);
  Value most = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(programs - 1));
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, before, most);
  auto branch = scf::IfOp::create(builder, loc, isLast, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  count(AtomicKind::Exch, 0, MemoryOrder::Relaxed);
  SmallVector<Value> totals = takeBack(builder);
  Operation *end = branch.thenBlock()->getTerminator();
  for (Operation *op : rest)
    op->moveBefore(end);
  auto isBehind = [&](OpOperand &use) { return branch->isProperAncestor(use.getOwner()); };
  for (auto [sum, total] : llvm::zip_equal(loop.getResults(), totals))
    sum.replaceUsesWithIf(total, isBehind);
}

/// The sums of all shares, in their order.
SmallVector<Value> Sharer::takeBack(OpBuilder &builder) {
  SmallVector<Value> totals;
  for (auto [sum, view] : llvm::zip_equal(loop.getResults(), views)) {
    auto type = cast<RankedTensorType>(sum.getType());
    IndexMath math{builder, loc};
    totals.push_back(load(builder, type, view, first));
    if (isAtomic) {
      Value zeros = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
      store(builder, zeros, view, first);
      continue;
    }
    auto adder = scf::ForOp::create(builder, loc, math.constant(1), math.constant(programs),
                                    math.constant(1), totals.back());
    OpBuilder inner = OpBuilder::atBlockBegin(adder.getBody());
    Value piece = IndexMath{inner, loc}.add(first, adder.getInductionVar());
    Value soFar = adder.getRegionIterArg(0), next = load(inner, type, view, piece);
    Value added = isa<FloatType>(type.getElementType())
                      ? Value(arith::AddFOp::create(inner, loc, soFar, next))
                      : Value(arith::AddIOp::create(inner, loc, soFar, next));
    scf::YieldOp::create(inner, loc, added);
    totals.back() = adder.getResult(0);
  }
  return totals;
}

void Sharer::realise() {
  widenGrid();
  findPlace();
  narrowLoop();
  leave();
  loop->removeAttr(kShareAttrName);
  loop->removeAttr(kShareAtomicAttrName);
}

static LogicalResult realise(KernelOp kernel) {
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
  if (!shared)
    return success();
  if (failed(checkPlace(shared, kernel)) || failed(checkAround(shared, kernel)))
    return failure();
  FailureOr<StringRef> role = findSums(shared);
  if (failed(role))
    return failure();
  Sharer(kernel, shared, *role).realise();
  return success();
}

namespace {
struct RealiseShares : kiln::impl::RealiseSharesBase<RealiseShares> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(realise(kernel)))
        return signalPassFailure();
  }
};
} // namespace
