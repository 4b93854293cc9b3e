// Launches a grid as whole clusters: programs beyond it do all that the others do, and write
// nothing.
//
// Hardware launches clusters alone, and no tile tells of one: the last cluster of an axis may have
// programs without a tile. They must run, since others wait for the parts of tiles that they load.
#include "Decisions.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kiln {
#define GEN_PASS_DEF_ROUNDCLUSTERS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// What a store's tile begins at a multiple of, wherever it begins: facts of its offsets hold on.
static constexpr int64_t kAlignedElements = 1024;

namespace {
class Rounder {
public:
  explicit Rounder(KernelOp kernel)
      : kernel(kernel), cluster(getClusterExtents(kernel)), loc(kernel.getLoc()) {}
  bool isOpen();
  void round();

private:
  bool isRounded(unsigned axis, Value extent);
  void findExtents(OpBuilder &builder);
  void answerQueries();
  Value makeOutside(OpBuilder &builder, Value view);
  Value narrow(OpBuilder &builder, Value mask, Type type);
  void silence(Operation *op);

  KernelOp kernel;
  std::array<int64_t, 3> cluster;
  Location loc;
  /// Of the axes that are rounded up: the programs that the source has, and those that run.
  Value extents[3], launched[3];
  /// Whether a launch is of the kernel's own grid along an axis, and the program is one of the
  /// source's along all.
  Value isOwn[3], isWithin;
};
} // namespace

/// Whether an op of a program beyond the grid can be kept from telling anybody of it.
static bool canBeSilent(Operation *op) {
  if (auto store = dyn_cast<StoreOp>(op))
    return !store.getOffsets().empty();
  return isa<ScatterOp, AtomicRMWOp, AtomicCASOp, PrintOp, AssertOp, LoadOp, GatherOp, AssumeOp>(
             op) ||
         op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
         op->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(op);
}

/// What a program beyond the grid loads there are zeros: it may step by these for ever, wait for
/// what nobody tells it, or take them for the address of something.
static bool mayGoAstray(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  bool mayNotEnd = isa<scf::WhileOp>(op) || (loop && !matchPattern(loop.getStep(), m_Constant()));
  return mayNotEnd || isa<ViewFromPointerOp, PointerFromAddressOp>(op);
}

bool Rounder::isOpen() {
  if (!kernel.hasGrid() || getClusterPrograms(kernel) == 1)
    return false;
  return !kernel.getBody()
              .walk([](Operation *op) {
                return !canBeSilent(op) || mayGoAstray(op) ? WalkResult::interrupt()
                                                           : WalkResult::advance();
              })
              .wasInterrupted();
}

bool Rounder::isRounded(unsigned axis, Value extent) {
  APInt number;
  bool isWhole = matchPattern(extent, m_ConstantInt(&number)) && number.urem(cluster[axis]) == 0;
  return cluster[axis] > 1 && !isWhole;
}

static Value roundUp(IndexMath math, Value value, int64_t multiple) {
  Value all = math.constant(multiple);
  return math.mul(math.div(math.add(value, math.constant(multiple - 1)), all), all);
}

/// The program finds the grid of the source again, from the arguments. Whoever launches another
/// grid has all of its programs run.
void Rounder::findExtents(OpBuilder &builder) {
  auto grid = cast<GridOp>(kernel.getGrid().front().getTerminator());
  IRMapping mapping;
  mapping.map(kernel.getGrid().getArguments(), kernel.getBody().getArguments());
  for (Operation &op : kernel.getGrid().front().without_terminator())
    builder.clone(op, mapping);
  OpBuilder host(grid);
  IndexMath math{builder, loc};
  for (OpOperand &operand : grid->getOpOperands()) {
    unsigned axis = operand.getOperandNumber();
    if (!isRounded(axis, operand.get()))
      continue;
    extents[axis] = mapping.lookup(operand.get());
    operand.set(roundUp(IndexMath{host, grid.getLoc()}, operand.get(), cluster[axis]));
    launched[axis] = NumProgramsOp::create(builder, loc, builder.getIndexType(), Axis(axis));
    Value own = roundUp(math, extents[axis], cluster[axis]);
    isOwn[axis] =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, launched[axis], own);
    Value id = ProgramIdOp::create(builder, loc, builder.getIndexType(), Axis(axis));
    Value upTo = math.select(isOwn[axis], extents[axis], launched[axis]);
    Value isBelow = math.isLess(id, upTo);
    isWithin = isWithin ? Value(arith::AndIOp::create(builder, loc, isWithin, isBelow)) : isBelow;
  }
}

/// The source asks how many programs it has.
void Rounder::answerQueries() {
  SmallVector<NumProgramsOp> queries;
  kernel.getBody().walk([&](NumProgramsOp query) {
    unsigned axis = unsigned(query.getAxis());
    if (launched[axis] && query.getResult() != launched[axis])
      queries.push_back(query);
  });
  for (NumProgramsOp query : queries) {
    OpBuilder builder(query);
    unsigned axis = unsigned(query.getAxis());
    query.replaceAllUsesWith(
        IndexMath{builder, loc}.select(isOwn[axis], extents[axis], launched[axis]));
    query.erase();
  }
}

/// A number that no element of a view has along its first dimension.
Value Rounder::makeOutside(OpBuilder &builder, Value view) {
  Value extent =
      DimOp::create(builder, loc, builder.getIndexType(), view, builder.getI64IntegerAttr(0));
  return roundUp(IndexMath{builder, loc}, extent, kAlignedElements);
}

Value Rounder::narrow(OpBuilder &builder, Value mask, Type type) {
  Value within = isWithin;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    within = SplatOp::create(builder, loc, tensor.clone(builder.getI1Type()), within);
  return mask ? Value(arith::AndIOp::create(builder, loc, mask, within)) : within;
}

/// Keeps an op from writing in a program beyond the grid.
void Rounder::silence(Operation *op) {
  OpBuilder builder(op);
  auto moveOut = [&](Value view, OpOperand &index) {
    Value outside = makeOutside(builder, view);
    index.set(arith::SelectOp::create(builder, loc, isWithin, index.get(), outside));
  };
  auto maskAtomic = [&](auto atomic) {
    Type type = atomic.getValue().getType();
    atomic.getMaskMutable().assign(narrow(builder, atomic.getMask(), type));
  };
  TypeSwitch<Operation *>(op)
      .Case<StoreOp>([&](StoreOp store) { moveOut(store.getView(), store.getOffsetsMutable()[0]); })
      .Case<ScatterOp>([&](ScatterOp scatter) {
        scatter.getMaskMutable().assign(
            narrow(builder, scatter.getMask(), scatter.getValue().getType()));
      })
      .Case<AtomicRMWOp, AtomicCASOp>(maskAtomic)
      .Case<PrintOp, AssertOp, AssumeOp>([&](Operation *message) {
        auto branch = scf::IfOp::create(builder, message->getLoc(), isWithin,
                                        /*withElseRegion=*/false);
        message->moveBefore(branch.thenBlock()->getTerminator());
      });
}

void Rounder::round() {
  SmallVector<Operation *> ops;
  kernel.getBody().walk([&](Operation *op) { ops.push_back(op); });
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  findExtents(builder);
  if (!isWithin)
    return;
  for (Operation *op : ops)
    silence(op);
  answerQueries();
}

namespace {
struct RoundClusters : kiln::impl::RoundClustersBase<RoundClusters> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (Rounder rounder(kernel); rounder.isOpen())
        rounder.round();
  }
};
} // namespace
