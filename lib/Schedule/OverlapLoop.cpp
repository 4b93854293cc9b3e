// Decides when the ops of a loop of products run, by a solver.
//
// What the solver finds is a schedule of cycles, of which the stages of products are taken. All
// else is as early as its needs admit, so that few values go from trip to trip, and products start
// as soon as what they need is there: on the chip copies of a role run beside one another, which
// fills what a schedule of one leaves idle. The solver then says whether that holds, how many
// products are in flight at each wait, and whether it is shorter than a loop without stages.
#include "PlannedSums.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Problem/Solver.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// More stages write more trips in front of the loop and behind it than they save in it.
static constexpr int64_t kMostStages = 3;

/// A loop is worth overlapping if it takes no more than this of what it takes without: its copies
/// run beside one another in any case. On an H200 a loop of attention took 0.86 of the time where
/// 0.75 were predicted, the same where 0.80 were, and one of squared scores 1.09 where 0.87 were.
static constexpr double kMostOf = 0.83;

static bool isByEngine(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return load && load.getBuffer();
}

/// Whether ops of the loop may change places: nobody has said when one runs, and nothing that is
/// stored, printed or asserted stands between them.
static bool isFree(Block &body) {
  WalkResult result = body.walk([&](Operation *op) {
    bool isSaid = !isByEngine(op) && (getDecision(op, "stage") || getDecision(op, "order"));
    bool hasEffects = !op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() &&
                      !op->hasTrait<OpTrait::IsTerminator>() && !isa<LoadOp, GatherOp>(op) &&
                      !isMemoryEffectFree(op);
    return isSaid || hasEffects || isa<scf::ForOp, scf::WhileOp>(op) ? WalkResult::interrupt()
                                                                     : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

/// Whether a product runs on beside the warps that start it.
static bool runsOn(DotOp dot) {
  auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr());
  return atom && atom.getCompletion() != Completion::InOrder;
}

/// Gives dots these stages, and each other op the least that its needs admit.
static void setStages(LoopProblem &loop, ArrayRef<int64_t> dotStages) {
  schedule::Problem &problem = loop.problem;
  for (unsigned op = 0; op < dotStages.size(); ++op)
    problem.ops[op].pins.stage = loop.isDot(op) ? dotStages[op] : 0;
  for (bool changes = true; changes;) {
    changes = false;
    for (const schedule::Dependence &need : problem.dependences) {
      schedule::Op &to = problem.ops[need.to], &from = problem.ops[need.from];
      int64_t least = *from.pins.stage - need.distance;
      if (loop.isDot(need.to) || from.pins.role != to.pins.role || *to.pins.stage >= least)
        continue;
      to.pins.stage = least;
      changes = true;
    }
  }
}

/// Orders ops of these stages: what runs on beside the role starts as soon as what it needs of its
/// trip is there, all else goes as in the source.
static void setOrders(LoopProblem &loop, unsigned role) {
  schedule::Problem &problem = loop.problem;
  SmallVector<bool> isPlaced(problem.ops.size());
  auto isReady = [&](unsigned op) {
    return llvm::all_of(problem.dependences, [&](const schedule::Dependence &need) {
      const schedule::Op &from = problem.ops[need.from], &to = problem.ops[need.to];
      bool isOfTrip =
          from.pins.role == to.pins.role && *from.pins.stage == *to.pins.stage + need.distance;
      return need.to != op || !isOfTrip || isPlaced[need.from];
    });
  };
  SmallVector<unsigned> left;
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    if (problem.ops[op].pins.role == role)
      left.push_back(op);
  for (int64_t order = 0; !left.empty(); ++order) {
    auto *next = llvm::find_if(left, [&](unsigned op) { return loop.isDot(op) && isReady(op); });
    if (next == left.end())
      next = llvm::find_if(left, isReady);
    problem.ops[*next].pins.order = order;
    isPlaced[*next] = true;
    left.erase(next);
  }
}

bool kiln::areReadFromBuffers(DotOp dot) {
  return isReadFromBuffer(dot.getAMutable()) && isReadFromBuffer(dot.getBMutable());
}

static IntegerAttr getNumber(Operation *op, int64_t number) {
  return Builder(op->getContext()).getI64IntegerAttr(number);
}

static void place(Operation *op, int64_t stage, RoleAttr role) {
  op->setAttr(spellDecision(op, "stage"), getNumber(op, stage));
  if (getRoleName(op).empty())
    setRoleName(op, role.getName());
}

/// Dots that add to one sum and are handed on to the next trip go on into it, but not if one of
/// them reads an operand from registers, which the next trip writes, or a slot of a ring that has
/// none to spare.
static void waitInTrip(DotOp last) {
  if (!last->hasOneUse() || !(*last->user_begin())->hasTrait<OpTrait::IsTerminator>())
    return;
  SmallVector<DotOp> chain = {last};
  while (auto before = chain.back().getAccumulator().getDefiningOp<DotOp>()) {
    if (!before->hasOneUse() || before->getBlock() != last->getBlock())
      break;
    chain.push_back(before);
  }
  if (llvm::all_of(chain, areReadFromBuffers) && llvm::all_of(chain, hasRoom))
    return;
  for (DotOp dot : chain)
    dot.setInFlight(0);
}

/// Views stand where they are used first: what they are of takes no more registers than they do.
static void placeViews(const Trip &trip, RoleAttr role) {
  for (Operation &op : llvm::reverse(trip.block.without_terminator())) {
    if (!trip.stages.contains(&op) || !isView(&op))
      continue;
    std::optional<int64_t> least;
    for (Operation *user : op.getUsers()) {
      Operation *here = trip.findHere(user);
      std::optional<int64_t> stage = here ? findNumber(here, "stage") : std::nullopt;
      if (stage)
        least = std::min(least.value_or(*stage), *stage);
    }
    if (least)
      place(&op, *least, role);
  }
}

/// As many stages as rings of the role's own have slots for, where somebody has said how many.
static int64_t countMostStages(Block &body, RingPlan &plan, RoleAttr role) {
  int64_t most = kMostStages;
  for (Ring &ring : plan)
    for (RingUse &use : ring.uses)
      if (use.getBlock() == &body && ring.producer == role && ring.isReadByProducer() &&
          isDepthSaid(use.loads.front()))
        most = std::min(most, ring.depth + ring.isWritten());
  return most;
}

/// Whether the sums that such a schedule has in flight fit in tensor memory.
static bool hasSumsThatFit(const LoopProblem &made, const schedule::Solution &found, Block &body) {
  SmallVector<schedule::Op> placed(made.problem.ops);
  for (auto [op, placement] : llvm::zip_equal(placed, found.ops)) {
    op.pins.stage = placement.stage;
    op.pins.order = placement.order;
  }
  return kiln::haveRoom(body.getParentOp()->getParentOfType<KernelOp>(),
                        findSumsInFlight(made, placed));
}

bool kiln::overlapLoop(Block &body, RingPlan &plan, RoleAttr role, const Chip &chip,
                       const schedule::Solver &solver, bool usesOrders) {
  if (!isFree(body))
    return false;
  Trip trip(body);
  std::optional<LoopProblem> made =
      makeProblem(trip, plan, ProblemUse::Solve, chip, role.getName());
  if (!made)
    return false;
  schedule::Problem &problem = made->problem;
  problem.mostStages = countMostStages(body, plan, role);
  unsigned number =
      llvm::find_if(problem.roles, [&](auto &its) { return its.name == role.getName(); }) -
      problem.roles.begin();
  auto solve = [&](ArrayRef<int64_t> dotStages) {
    LoopProblem pinned = *made;
    setStages(pinned, dotStages);
    setOrders(pinned, number);
    return solver.solve(pinned.problem);
  };
  std::optional<schedule::Solution> free = solver.solve(problem);
  if (!free)
    return false;
  auto stages = llvm::map_to_vector(free->ops, [](auto &placement) { return placement.stage; });
  std::optional<schedule::Solution> serial = solve(SmallVector<int64_t>(problem.ops.size(), 0));
  std::optional<schedule::Solution> found = solve(stages);
  if (usesOrders && (!found || free->interval < found->interval))
    found = free;
  bool isShorter = found && (!serial || found->interval <= kMostOf * serial->interval);
  if (!isShorter || !hasSumsThatFit(*made, *found, body))
    return false;

  // What is handed over follows what makes it, and has no order of its own.
  SmallVector<std::pair<int64_t, Operation *>> ordered;
  for (auto [op, handsOver, placement] : llvm::zip_equal(made->ops, made->handsOver, found->ops)) {
    if (placement.role != number || handsOver)
      continue;
    place(op, placement.stage, role);
    ordered.push_back({placement.order, op});
    if (auto dot = dyn_cast<DotOp>(op); dot && runsOn(dot))
      dot.setInFlight(placement.inFlight.value_or(0));
  }
  llvm::sort(ordered, llvm::less_first());
  for (auto [order, entry] : llvm::enumerate(ordered))
    entry.second->setAttr(spellDecision(entry.second, "order"), getNumber(entry.second, order));
  for (DotOp dot : body.getOps<DotOp>())
    if (runsOn(dot))
      waitInTrip(dot);
  placeViews(trip, role);
  return true;
}
