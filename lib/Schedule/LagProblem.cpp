// A block with loops in which copies of a role meet that lag behind one another, as a problem: what
// each role runs of an op of the block is one op of it, in the order of the source. Of a loop it is
// known that a role has what it needs of others when it comes to it, and that slots which its dots
// read go back behind it. What is not known to be needed is left out.
#include "HandOvers.h"
#include "Lags.h"
#include "SourceErrors.h"
#include "Trip.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Problem/Solution.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
class LagProblem {
public:
  LagProblem(Block &block, RingPlan &plan, KernelOp kernel)
      : block(block), plan(plan),
        roles(kernel->getAttrOfType<ArrayAttr>(kRolesAttrName).getAsRange<RoleAttr>()) {
    made.problem.isLoop =
        !isa<KernelOp>(block.getParentOp()) || kernel->hasAttr(kPersistentAttrName);
  }
  std::optional<LoopProblem> run();

private:
  using Part = std::pair<Operation *, StringRef>;

  bool lags();
  bool isOrdered();
  void findRings();
  unsigned add(Operation *op, StringRef role, int64_t place, bool handsOver);
  void addParts(Operation *op);
  void addNeeds(Operation *op);
  void addNeed(OpOperand &use, Operation *user, StringRef role);
  unsigned getFilled(Value value, Operation *maker, StringRef role);
  unsigned getRead(unsigned filled, Operation *maker, Operation *user, StringRef role);
  StringRef findMaker(Value value, Operation *op);
  void order();
  int64_t getPlace(Operation *op) { return 3 * places.lookup(op) + 1; }
  void depend(unsigned from, unsigned to) { made.problem.dependences.push_back({from, to}); }

  Block &block;
  RingPlan &plan;
  SmallVector<RoleAttr> roles;
  LoopProblem made;
  DenseMap<Operation *, int64_t> places;
  /// By an op and a role: what the role runs of it, fills slots with behind it, and reads of it.
  DenseMap<Part, unsigned> parts, fills, reads;
  /// Loads that are put together stand for the first of them, which has so many slots.
  DenseMap<Operation *, std::pair<LoadOp, int64_t>> loaded;
};
} // namespace

static llvm::SetVector<StringRef> findRoles(Operation *op) {
  llvm::SetVector<StringRef> names;
  op->walk([&](Operation *inner) {
    if (StringRef name = getRoleName(inner); !name.empty())
      names.insert(name);
  });
  return names;
}

/// Whether copies meet in the block that lag behind one another.
bool LagProblem::lags() {
  return llvm::any_of(roles, [&](RoleAttr role) {
    return getLag(role) > 0 &&
           llvm::any_of(block, [&](Operation &op) { return countTurns(&op, role) > 0; });
  });
}

/// Whether all runs where it stands in the source.
bool LagProblem::isOrdered() {
  return llvm::none_of(block, [](Operation &op) {
    auto stage = dyn_cast_or_null<IntegerAttr>(getDecision(&op, "stage"));
    return getDecision(&op, "order") || (stage && stage.getInt() > 0);
  });
}

void LagProblem::findRings() {
  for (Ring &ring : plan) {
    auto isHere = [&](RingUse &use) { return use.getBlock() == &block && !use.store; };
    int64_t uses = llvm::count_if(ring.uses, isHere);
    if (!ring.isReadByProducer())
      for (RingUse &use : llvm::make_filter_range(ring.uses, isHere))
        for (LoadOp load : use.loads)
          loaded[load] = {use.loads.front(), llvm::divideCeil(ring.depth, uses)};
  }
}

unsigned LagProblem::add(Operation *op, StringRef role, int64_t place, bool handsOver) {
  made.ops.push_back(op);
  made.handsOver.push_back(handsOver);
  schedule::Op &asked = made.problem.ops.emplace_back();
  asked.name = getSourceName(op);
  asked.pins.role =
      llvm::find_if(roles, [&](RoleAttr each) { return each.getName() == role; }) - roles.begin();
  asked.pins.stage = 0;
  asked.pins.order = place;
  return made.ops.size() - 1;
}

void LagProblem::addParts(Operation *op) {
  for (StringRef role : findRoles(op)) {
    unsigned number = parts[{op, role}] = add(op, role, getPlace(op), /*handsOver=*/false);
    schedule::Op &asked = made.problem.ops[number];
    asked.partsTurns = op->getNumRegions() > 0;
    if (asked.partsTurns)
      asked.innerTurns = countTurns(op, roles[*asked.pins.role]);
    if (auto dot = dyn_cast<DotOp>(op); dot && dot.getInFlight()) {
      asked.isInTurns = true;
      asked.completion = schedule::Completion::Counted;
      asked.pins.inFlight = dot.getInFlight();
    }
    if (auto at = loaded.find(op); at != loaded.end()) {
      asked.bufferBytes = 1;
      asked.pins.depth = at->second.second;
    }
  }
}

/// The role that makes a value of an op of the block; nothing if that is not one.
StringRef LagProblem::findMaker(Value value, Operation *op) {
  if (op->getNumRegions() == 0)
    return getRoleName(op);
  if (!isa<RankedTensorType>(value.getType()))
    return {};
  llvm::SetVector<StringRef> makers = findMakers(value);
  return makers.size() == 1 && parts.contains({op, makers.front()}) ? makers.front() : StringRef();
}

/// What fills the slots that a value goes through: the load, or what writes it behind its maker.
unsigned LagProblem::getFilled(Value value, Operation *maker, StringRef role) {
  if (auto at = loaded.find(maker); at != loaded.end())
    return parts.lookup({at->second.first, role});
  auto [at, isNew] = fills.try_emplace({maker, role}, made.ops.size());
  if (isNew) {
    add(maker, role, getPlace(maker) + 1, /*handsOver=*/true);
    schedule::Op &asked = made.problem.ops.back();
    asked.partsTurns = true;
    asked.bufferBytes = 1;
    asked.pins.depth = isa<RankedTensorType>(value.getType()) ? countSlots(value) : 1;
    depend(parts.lookup({maker, role}), at->second);
  }
  return at->second;
}

/// What a role reads into registers, in front of the first op that uses it.
unsigned LagProblem::getRead(unsigned filled, Operation *maker, Operation *user, StringRef role) {
  auto [at, isNew] = reads.try_emplace({maker, role}, made.ops.size());
  if (isNew) {
    add(maker, role, getPlace(user) - 1, /*handsOver=*/true);
    depend(filled, at->second);
  }
  return at->second;
}

/// Whether a role that a loop's dot has a slot of has met for the last time when it gives it back:
/// dots of later stages, behind the last trip, read it no more.
static bool isReadToTheEnd(OpOperand &use, Operation *loop) {
  Operation *reader = use.getOwner();
  int64_t stage = findNumber(reader, "stage").value_or(0);
  return !loop->walk([&](DotOp dot) {
                bool isLater = dot.getInFlight() && findNumber(dot, "stage").value_or(0) > stage;
                return isLater ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

/// What a role needs where it uses a value, past what is computed by whoever needs it.
void LagProblem::addNeed(OpOperand &use, Operation *user, StringRef role) {
  unsigned number = parts.lookup({user, role});
  bool isInPlace = (isReadFromBuffer(use) || isWrittenForDot(use)) && isReadToTheEnd(use, user);
  llvm::SetVector<Value> values;
  values.insert(use.get());
  for (unsigned i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (!op || op->getBlock() != &block)
      continue;
    StringRef maker = findMaker(values[i], op);
    if (maker == role) {
      depend(parts.lookup({op, role}), number);
    } else if (!maker.empty()) {
      unsigned filled = getFilled(values[i], op, maker);
      if (i == 0 && isInPlace)
        depend(filled, number);
      else
        depend(getRead(filled, op, user, role), number);
    } else if (op->getNumRegions() == 0) {
      values.insert_range(op->getOperands());
    }
  }
}

/// Each role comes to loops and conditions with numbers that all of them need.
void LagProblem::addNeeds(Operation *op) {
  for (StringRef role : findRoles(op))
    op->walk([&](Operation *inner) {
      bool isControl = isa<scf::ForOp, scf::WhileOp, scf::IfOp>(inner);
      if (getRoleName(inner) != role && !isControl)
        return;
      for (OpOperand &use : inner->getOpOperands())
        if (!isControl || !isa<RankedTensorType>(use.get().getType()))
          addNeed(use, op, role);
    });
}

/// Orders of a role are those of its places.
void LagProblem::order() {
  SmallVector<std::pair<int64_t, unsigned>> sequence;
  for (auto [number, op] : llvm::enumerate(made.problem.ops))
    sequence.push_back({*op.pins.order, number});
  llvm::sort(sequence);
  SmallVector<int64_t> next(roles.size(), 0);
  for (auto [place, number] : sequence) {
    schedule::Pins &pins = made.problem.ops[number].pins;
    pins.order = next[*pins.role]++;
  }
}

std::optional<LoopProblem> LagProblem::run() {
  if (!lags() || !isOrdered())
    return std::nullopt;
  for (RoleAttr role : roles)
    made.problem.roles.push_back(
        {role.getName().str(), role.getWarps(), /*registerBytes=*/std::nullopt, getLag(role)});
  made.problem.counters = {{"dots"}};
  findRings();
  for (auto [place, op] : llvm::enumerate(block))
    places[&op] = place;
  for (Operation &op : block)
    addParts(&op);
  for (Operation &op : block)
    addNeeds(&op);
  order();
  return std::move(made);
}

PinsChecked kiln::checkLags(Block &block, RingPlan &plan) {
  auto kernel = dyn_cast<KernelOp>(block.getParentOp());
  if (!kernel)
    kernel = block.getParentOp()->getParentOfType<KernelOp>();
  PinsChecked checked;
  std::optional<LoopProblem> made = LagProblem(block, plan, kernel).run();
  if (!made)
    return checked;
  // Roles that wait for one another in any case are no matter of lags.
  schedule::Problem together = made->problem;
  for (schedule::Role &role : together.roles)
    role.lag = 0;
  if (!schedule::placePinned(together))
    return checked;
  checked.isKnown = true;
  schedule::Violation why;
  if (!schedule::placePinned(made->problem, &why))
    checked.wrong = why;
  checked.made = std::move(*made);
  return checked;
}
