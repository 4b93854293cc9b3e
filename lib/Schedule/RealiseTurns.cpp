// Deals the programs of a persistent kernel to the copies of a role: copy c of n runs the programs
// c, c + n, c + 2 n, … of those that its block runs in turn. So one computes while another stores.
//
// A ring is shared by all of them, and each use is one copy's. In front of a program each copy
// steps over what the programs between its last one and this one use of a ring, which loops' bounds
// and conditions tell:
//
//   scf.for %p = %first + copy * step to %end step n * step
//     %skipped = uses of the ring by programs %p - (n - 1) * step to %p - step that there are
//     scf.for %i = 0 to %skipped { tile.next %ring }       one tile.advance, once slots are values
//     …
#include "Protocol/Numbers.h"
#include "Turns.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {
#define GEN_PASS_DEF_REALISETURNS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
class ProgramDealer {
public:
  ProgramDealer(WarpGroupsOp groups, unsigned number, int64_t copies)
      : groups(groups), number(number), copies(copies), role(groups.getRole(number)),
        builder(groups.getContext()) {}
  LogicalResult run();

private:
  LogicalResult check();
  FailureOr<Value> count(Block &block, RingSide side, IRMapping &mapping);
  FailureOr<Value> evaluate(Value value, IRMapping &mapping);
  LogicalResult stepOver(RingSide side, Location loc);

  WarpGroupsOp groups;
  unsigned number;
  int64_t copies;
  RoleAttr role;
  OpBuilder builder;
  /// That of the programs.
  scf::ForOp loop;
  /// The first program of a block, and how far its programs lie apart.
  Value lower, step;
};
} // namespace

/// What is done once a block would be done once a copy, and what a copy fills for itself is one
/// copy's.
LogicalResult ProgramDealer::check() {
  WalkResult result = groups.getBodies()[number].walk([&](Operation *op) -> WalkResult {
    auto next = dyn_cast<NextOp>(op);
    if (next && cast<ChannelType>(next.getChannel().getType()).getOwn())
      return op->emitOpError("expected another role to fill the ring, since copies of role \"")
             << role.getName() << "\" take programs in turn";
    auto put = dyn_cast<PutOp>(op);
    if (put && !put.getBytes() && !put.getBody().front().getOps<CopyInOp>().empty())
      return op->emitOpError("expected copies of role \"")
             << role.getName() << "\", which take programs in turn, to bring what an engine counts "
             << "or what goes through registers, since copies by warps are of all of a role's";
    if ((loop && loop->isAncestor(op)) || isMemoryEffectFree(op) || isSharedScalar(op) ||
        isOfEachRole(op) || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    return op->emitOpError("expected to stand in the programs' loop, since copies of role \"")
           << role.getName() << "\" take programs in turn";
  });
  return failure(result.wasInterrupted());
}

/// A scalar of another program.
FailureOr<Value> ProgramDealer::evaluate(Value value, IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  if (!loop.getRegion().isAncestor(value.getParentRegion()))
    return value;
  Operation *op = value.getDefiningOp();
  // What is handed to another role is a use's number there, and no program's.
  if (!op || op->getNumRegions() > 0 || !(isMemoryEffectFree(op) || isSharedScalar(op)) ||
      protocol::findHandedOver(value))
    return emitError(value.getLoc())
           << "expected bounds and conditions of ring uses that follow from the program's number, "
           << "since copies of role \"" << role.getName() << "\" take programs in turn";
  for (Value operand : op->getOperands()) {
    FailureOr<Value> made = evaluate(operand, mapping);
    if (failed(made))
      return failure();
    mapping.map(operand, *made);
  }
  return builder.clone(*op, mapping)->getResult(cast<OpResult>(value).getResultNumber());
}

/// How many uses of a ring a block has; null for none.
FailureOr<Value> ProgramDealer::count(Block &block, RingSide side, IRMapping &mapping) {
  Value sum;
  IndexMath math{builder, groups.getLoc()};
  auto add = [&](Value more) { sum = sum ? math.add(sum, more) : more; };
  for (Operation &op : block) {
    auto uses = [&](NextOp next) {
      return getRingSide(next) == side ? WalkResult::interrupt() : WalkResult::advance();
    };
    if (!op.walk(uses).wasInterrupted())
      continue;
    if (isa<NextOp>(op)) {
      add(math.constant(1));
      continue;
    }
    if (auto inner = dyn_cast<scf::ForOp>(op)) {
      FailureOr<Value> lower = evaluate(inner.getLowerBound(), mapping),
                       upper = evaluate(inner.getUpperBound(), mapping),
                       by = evaluate(inner.getStep(), mapping);
      if (failed(lower) || failed(upper) || failed(by))
        return failure();
      FailureOr<Value> each = count(*inner.getBody(), side, mapping);
      if (failed(each))
        return failure();
      auto below = inner.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
      Location loc = inner.getLoc();
      Value any = arith::CmpIOp::create(builder, loc, below, *lower, *upper);
      Value span = arith::SubIOp::create(builder, loc, *upper, *lower);
      Value trips = arith::CeilDivUIOp::create(builder, loc, span, *by);
      if (!trips.getType().isIndex())
        trips = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), trips);
      add(arith::SelectOp::create(builder, loc, any, math.mul(trips, *each), math.constant(0)));
      continue;
    }
    auto condition = dyn_cast<scf::IfOp>(op);
    if (!condition)
      return emitError(op.getLoc())
             << "expected bounds and conditions of ring uses that follow from the program's "
             << "number, since copies of role \"" << role.getName()
             << "\" take programs in turn: a 'while' tells as it goes how many trips it has";
    FailureOr<Value> is = evaluate(condition.getCondition(), mapping);
    FailureOr<Value> then = count(condition.getThenRegion().front(), side, mapping);
    FailureOr<Value> otherwise = Value();
    if (!condition.getElseRegion().empty())
      otherwise = count(condition.getElseRegion().front(), side, mapping);
    if (failed(is) || failed(then) || failed(otherwise))
      return failure();
    auto orNone = [&](Value counted) { return counted ? counted : math.constant(0); };
    add(arith::SelectOp::create(builder, op.getLoc(), *is, orNone(*then), orNone(*otherwise)));
  }
  return sum;
}

/// At the beginning of a program: what others use of a ring.
LogicalResult ProgramDealer::stepOver(RingSide side, Location loc) {
  IndexMath math{builder, loc};
  Value program = loop.getInductionVar(), skipped = math.constant(0);
  Value before = math.sub(program, lower);
  for (int64_t back = copies - 1; back > 0; --back) {
    Value by = math.mul(math.constant(back), step);
    Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, before, by);
    auto condition = scf::IfOp::create(builder, loc, builder.getIndexType(), exists,
                                       /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(condition.thenBlock());
    IRMapping mapping;
    mapping.map(program, math.sub(program, by));
    FailureOr<Value> uses = count(*loop.getBody(), side, mapping);
    if (failed(uses))
      return failure();
    scf::YieldOp::create(builder, loc, *uses);
    builder.setInsertionPointToStart(condition.elseBlock());
    scf::YieldOp::create(builder, loc, math.constant(0));
    builder.setInsertionPointAfter(condition);
    skipped = math.add(skipped, condition.getResult(0));
  }
  kiln::stepOver(builder, loc, side, skipped);
  return success();
}

LogicalResult ProgramDealer::run() {
  loop = findPrograms(groups.getBodies()[number]);
  if (failed(check()))
    return failure();
  if (!loop) // the role does nothing
    return success();
  llvm::MapVector<RingSide, Location> sides;
  loop.walk([&](NextOp next) { sides.insert({getRingSide(next), next.getLoc()}); });
  Operation *first = &loop.getBody()->front();
  builder.setInsertionPoint(loop);
  IndexMath math{builder, loop.getLoc()};
  lower = loop.getLowerBound();
  step = loop.getStep();
  for (auto &[side, loc] : sides) {
    builder.setInsertionPoint(first);
    if (failed(stepOver(side, loc)))
      return failure();
  }
  builder.setInsertionPoint(loop);
  Value copy = CopyIdOp::create(builder, loop.getLoc(), builder.getIndexType());
  loop.setLowerBound(math.add(lower, math.mul(copy, step)));
  loop.setStep(math.mul(step, math.constant(copies)));
  loop->removeAttr(kLeastTripsAttrName);
  return success();
}

static LogicalResult realise(WarpGroupsOp groups) {
  auto kernel = cast<KernelOp>(groups->getParentOp());
  SmallVector<Attribute> roles;
  int64_t warps = 0;
  for (auto [number, role] : llvm::enumerate(groups.getRoles().getAsRange<RoleAttr>())) {
    int64_t copies = countTurns(kernel, role);
    bool isInTurn = copies > 1 && kernel->hasAttr(kTurnsAttrName);
    if (isInTurn && failed(ProgramDealer(groups, number, copies).run()))
      return failure();
    roles.push_back(withTurns(kernel, role));
    warps += countWarps(kernel, role);
  }
  Builder builder(kernel.getContext());
  groups.setRolesAttr(builder.getArrayAttr(roles));
  kernel->setAttr(kWarpsAttrName, builder.getI64IntegerAttr(warps));
  return success();
}

namespace {
struct RealiseTurns : kiln::impl::RealiseTurnsBase<RealiseTurns> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (kernel->hasAttr(kTurnsAttrName) || kernel->hasAttr(kBlockProgramsAttrName))
        for (WarpGroupsOp groups : kernel.getBody().getOps<WarpGroupsOp>())
          if (failed(realise(groups)))
            return signalPassFailure();
  }
};
} // namespace
