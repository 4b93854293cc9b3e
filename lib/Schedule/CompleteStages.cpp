// Asks for the stages and orders that nobody has pinned.
//
// Both sides of a ring go round its slots in the order of the source. Where some uses of a ring in
// a loop are later than others, or in another order, all slots of an iteration are told at the
// beginning of it, and carried to where they are used.
#include "AcrossRoles.h"
#include "LoopProblem.h"
#include "SourceErrors.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Schedule/Problem/Complete.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {
#define GEN_PASS_DEF_COMPLETESTAGES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// What puts the parts of a product in flight together, which are waited for in front of it.
static bool joinsDots(Operation *op) {
  return isa<ConcatOp>(op) && llvm::all_of(op->getOperands(), [](Value operand) {
           Operation *maker = operand.getDefiningOp();
           auto dot = dyn_cast_or_null<DotOp>(maker);
           return (dot && dot.getInFlight()) || (maker && joinsDots(maker));
         });
}

static bool waitsForAccess(Operation *op) {
  auto barrier = dyn_cast<BarrierOp>(op);
  auto stores = dyn_cast<WaitStoresOp>(op);
  return (barrier && barrier.getGlobal()) || (stores && stores.getWritten());
}

/// The block as a problem: one role, one op for each of the trip's, in the order of the source.
static schedule::Problem makeProblem(const Trip &trip, ArrayRef<Operation *> source,
                                     const DenseSet<Operation *> &meeting) {
  schedule::Problem problem;
  problem.isLoop = trip.loop != nullptr;
  problem.roles.push_back({"this role"});
  DenseMap<Operation *, unsigned> numbers;
  for (auto [number, op] : llvm::enumerate(source)) {
    numbers[op] = number;
    schedule::Op &asked = problem.ops.emplace_back();
    asked.name = getSourceName(op);
    asked.pins.role = 0;
    asked.pins.stage = findNumber(op, "stage");
    asked.pins.order = findNumber(op, "order");
    asked.isLate = isa<NextOp, GetOp, ReadOp, FetchOp>(op) || (!asked.pins.order && joinsDots(op));
  }
  for (auto [put, get] : pairUses(source)) {
    unsigned from = numbers.lookup(put), to = numbers.lookup(get);
    if (problem.ops[to].pins.stage)
      continue;
    // What a role writes for itself it reads behind that.
    problem.dependences.push_back({from, to, /*distance=*/0});
    // A store over what is copied waits for the copy, and a next trip's copy for the store.
    for (auto copy : put.getBody().front().getOps<CopyInOp>())
      for (unsigned number = from + 1; number < source.size(); ++number)
        if (mayWrite(source[number], copy.getView())) {
          problem.dependences.push_back({to, number, /*distance=*/0});
          if (problem.isLoop)
            problem.dependences.push_back({number, from, /*distance=*/1});
        }
  }
  // A sum that it hands over it fetches itself behind that.
  for (auto [from, op] : llvm::enumerate(source))
    if (auto commit = dyn_cast<CommitOp>(op))
      for (auto [to, other] : llvm::enumerate(source))
        if (auto get = dyn_cast<GetOp>(other);
            get && get.getChannel() == commit.getChannel() && get.getSlot() == commit.getSlot())
          problem.dependences.push_back({unsigned(from), unsigned(to), /*distance=*/0});
  // What it gets may say that others are done with memory that it accesses, or hands on, then.
  auto meets = [&](Operation *op) {
    return meeting.contains(op) || (isa<PutOp>(op) && !meeting.empty());
  };
  for (auto [number, op] : llvm::enumerate(source))
    if (op->walk([&](Operation *inner) {
            return WalkResult(failure(meets(inner)));
          }).wasInterrupted())
      for (auto [get, other] : llvm::enumerate(source.take_front(number)))
        if (isa<GetOp>(other) && !problem.ops[get].pins.stage)
          problem.dependences.push_back({unsigned(get), unsigned(number), /*distance=*/0});
  // What waits behind an access is of its trip.
  for (unsigned number = 1; number < source.size(); ++number)
    if (waitsForAccess(source[number]))
      problem.dependences.push_back({number - 1, number, /*distance=*/0});
  for (auto [number, op] : llvm::enumerate(source))
    for (Value operand : trip.getOperands(op))
      if (std::optional<Dependence> need = trip.findMaker(operand))
        problem.dependences.push_back({numbers.lookup(need->op), unsigned(number), need->distance});
  return problem;
}

/// The stage in which the last reader of what is got is done.
static int64_t findEnd(const Trip &trip, GetOp get, const DenseMap<Operation *, int64_t> &stages) {
  int64_t end = stages.lookup(get);
  for (Value buffer : get.getBuffers())
    for (Operation *reader : findReaders(buffer)) {
      auto dot = dyn_cast<DotOp>(reader);
      int64_t held = dot ? dot.getInFlight().value_or(0) : 0;
      end = std::max(end, stages.lookup(trip.findHere(reader)) + held);
    }
  return end;
}

/// What a role writes for itself it may write so many trips before it has read what was there as
/// the ring has slots for: a later stage if that is fewer. Returns whether a stage is pinned to it.
static bool delayPuts(const Trip &trip, ArrayRef<Operation *> source, schedule::Problem &problem,
                      const schedule::Problem &completed) {
  llvm::MapVector<PutOp, GetOp> uses = pairUses(source);
  DenseMap<Value, int64_t> counts; // of a channel's uses in a trip
  for (auto [put, get] : uses)
    ++counts[put.getChannel()];
  DenseMap<Operation *, int64_t> stages;
  for (auto [op, asked] : llvm::zip_equal(source, completed.ops))
    stages[op] = *asked.pins.stage;
  bool isDelayed = false;
  for (auto [number, op] : llvm::enumerate(source)) {
    auto put = dyn_cast<PutOp>(op);
    GetOp get = put ? uses.lookup(put) : GetOp();
    if (!get || problem.ops[number].pins.stage)
      continue;
    int64_t trips = put.getChannel().getType().getDepth() / counts.lookup(put.getChannel());
    int64_t least = findEnd(trip, get, stages) - std::max<int64_t>(trips - 1, 0);
    if (least <= stages.lookup(op))
      continue;
    problem.ops[number].pins.stage = least;
    isDelayed = true;
  }
  return isDelayed;
}

namespace {
/// What of a role's block uses rings that other roles fill or read, and which roles these are; a
/// loop among them, unknown how often.
struct SharedUses {
  unsigned op;
  bool isNest;
  llvm::SmallDenseSet<unsigned> others;
};
} // namespace

static SmallVector<SharedUses> findSharedUses(ArrayRef<Operation *> source) {
  SmallVector<SharedUses> found;
  for (auto [number, op] : llvm::enumerate(source)) {
    SharedUses uses{unsigned(number), isa<scf::ForOp, scf::WhileOp>(op), {}};
    op->walk([&](Operation *inner) {
      Value channel = isa<GetOp, PutOp>(inner) ? inner->getOperand(0) : Value();
      auto argument = dyn_cast_or_null<BlockArgument>(channel);
      auto groups =
          argument ? dyn_cast<WarpGroupsOp>(argument.getOwner()->getParentOp()) : WarpGroupsOp();
      for (Region &role : groups ? groups.getBodies() : MutableArrayRef<Region>())
        if (&role != argument.getParentRegion() &&
            !role.getArgument(argument.getArgNumber()).use_empty())
          uses.others.insert(role.getRegionNumber());
    });
    if (!uses.others.empty())
      found.push_back(std::move(uses));
  }
  return found;
}

/// Two roles that share rings come to them in the order of the source where one is used in a loop
/// of the trip: no number of slots makes up for that loop if the other comes to it trips before. So
/// all that uses such rings is as late as the latest of it. Returns whether a stage is pinned to
/// that.
static bool alignNests(ArrayRef<Operation *> source, schedule::Problem &problem,
                       const schedule::Problem &completed) {
  SmallVector<SharedUses> shared = findSharedUses(source);
  bool isDelayed = false;
  for (const SharedUses &nest : shared)
    for (const SharedUses &use : shared) {
      auto isShared = [&](unsigned other) { return use.others.contains(other); };
      if (!nest.isNest || nest.op == use.op || llvm::none_of(nest.others, isShared))
        continue;
      int64_t stages[] = {*completed.ops[nest.op].pins.stage, *completed.ops[use.op].pins.stage};
      unsigned early = stages[0] < stages[1] ? nest.op : use.op;
      if (stages[0] == stages[1] || problem.ops[early].pins.stage)
        continue;
      problem.ops[early].pins.stage = std::max(stages[0], stages[1]);
      isDelayed = true;
    }
  return isDelayed;
}

/// Moves what tells of the slots of rings whose uses are not in the order of the source to the
/// front of a trip, at the stage of the first use. Returns whether there is any.
static bool tellSlotsFirst(Block &block, ArrayRef<Operation *> source,
                           const schedule::Problem &completed) {
  DenseMap<Operation *, schedule::Pins> pins;
  llvm::MapVector<RingSide, SmallVector<NextOp>> sides;
  for (auto [op, asked] : llvm::zip_equal(source, completed.ops))
    if (auto next = dyn_cast<NextOp>(op)) {
      pins[op] = asked.pins;
      sides[getRingSide(next)].push_back(next);
    }
  auto isBehind = [&](NextOp x, NextOp y) {
    return pins[x].stage == pins[y].stage && pins[x].order < pins[y].order;
  };
  bool moved = false;
  for (auto &[side, uses] : sides) {
    auto pairs = llvm::zip(uses, llvm::drop_begin(uses));
    if (llvm::all_of(pairs, [&](auto pair) { return std::apply(isBehind, pair); }))
      continue;
    int64_t stage = *pins[uses.front()].stage;
    for (NextOp next : uses)
      stage = std::min(stage, *pins[next].stage);
    for (NextOp next : llvm::reverse(uses)) {
      next->moveBefore(&block, block.begin());
      next->setAttr(spellDecision(next, "stage"),
                    Builder(next.getContext()).getI64IntegerAttr(stage));
    }
    moved = true;
  }
  return moved;
}

/// The role that runs a block.
static StringRef findRoleAround(Block &block) {
  auto groups = block.getParentOp()->getParentOfType<WarpGroupsOp>();
  for (Region &region : groups ? groups.getBodies() : MutableArrayRef<Region>())
    if (region.isAncestor(block.getParent()))
      return groups.getRole(region.getRegionNumber()).getName();
  return {};
}

static LogicalResult complete(Block &block, const DenseSet<Operation *> &meeting) {
  Trip trip(block);
  SmallVector<Operation *> source;
  for (Operation &op : block)
    if (trip.stages.contains(&op))
      source.push_back(&op);
  schedule::Violation why;
  schedule::Problem problem = makeProblem(trip, source, meeting);
  std::optional<schedule::Problem> completed = schedule::completePins(problem, &why);
  while (completed && trip.loop &&
         (alignNests(source, problem, *completed) || delayPuts(trip, source, problem, *completed)))
    completed = schedule::completePins(problem, &why);
  if (!completed) {
    Operation *op = why.op ? source[*why.op] : block.getParentOp();
    InFlightDiagnostic error = emitSourceError(op, describe(why));
    if (StringRef role = findRoleAround(block); !role.empty())
      error << " in role \"" << role << '"';
    noteOthers(error, why, problem, source);
    return error;
  }
  if (trip.loop && tellSlotsFirst(block, source, *completed))
    return complete(block, meeting);
  Builder builder(block.getParentOp()->getContext());
  for (auto [op, asked] : llvm::zip_equal(source, completed->ops)) {
    op->setAttr(spellDecision(op, "stage"), builder.getI64IntegerAttr(*asked.pins.stage));
    op->setAttr(spellDecision(op, "order"), builder.getI64IntegerAttr(*asked.pins.order));
  }
  return success();
}

namespace {
struct CompleteStages : kiln::impl::CompleteStagesBase<CompleteStages> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](WarpGroupsOp groups) -> WalkResult {
      DenseSet<Operation *> meeting = findMeetingRoles(groups);
      return groups.walk([&](Block *block) {
        bool isOurs = isa<WarpGroupsOp, scf::ForOp, scf::IfOp, scf::WhileOp>(block->getParentOp());
        return WalkResult(
            success(!isOurs || !hasDecisions(*block) || succeeded(complete(*block, meeting))));
      });
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
