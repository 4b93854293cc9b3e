// What the ops of a loop cost and need, and what goes from role to role.
//
// A ring that an engine fills for another role is the result of its load, and a tensor that one
// role makes and another uses that of an op of its own, which writes it to a slot. Rings that a
// role fills for itself hold nobody up: they are values like others, which a check has read at the
// stage at which their role will.
#include "LoopProblem.h"
#include "CutParts.h"
#include "HandOvers.h"
#include "Lags.h"
#include "SourceErrors.h"
#include "WriteStages.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include <map>

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- Which ops, and whose -----------------------------------------------------------------===//

namespace {
/// What an op needs of another iteration or its own, past what is no op of the problem.
struct Need {
  Operation *maker;
  int64_t distance;
  /// The op's own operand.
  Value operand;
};

/// A ring that another role reads, as a loop fills it.
struct Filled {
  Ring *ring;
  RingUse *use;
  /// How often in a trip.
  int64_t uses;
};

class ProblemMaker {
public:
  ProblemMaker(const Trip &trip, RingPlan &plan, ProblemUse use, const Chip &chip, StringRef rest)
      : trip(trip), plan(plan), use(use), chip(chip), rest(rest),
        kernel(trip.block.getParentOp()->getParentOfType<KernelOp>()) {}
  std::optional<LoopProblem> run();

private:
  bool findOps();
  SmallVector<Need> findNeeds(Operation *op) const;
  void addRoles();
  bool addOp(Operation *op);
  bool isWritten(Operation *op) const;
  void makeWay();
  void addPins(Operation *op, schedule::Op &asked) const;
  void addSlot(LoadOp load, schedule::Op &asked);
  void addWrite(LoadOp load, Operation *waiting);
  void addHandOver(Operation *op, StringRef role, int64_t bytes, int64_t depth);
  int64_t countRegisters(Operation *op) const;
  unsigned getRead(unsigned maker, StringRef role);
  void addNeeds();
  void addOtherPieces();

  const Trip &trip;
  RingPlan &plan;
  ProblemUse use;
  const Chip &chip;
  StringRef rest;
  KernelOp kernel;
  LoopProblem made;
  /// The roles of the loop's ops that are ones of the problem. Loads that are put together stand
  /// for the first of them.
  llvm::MapVector<Operation *, StringRef> roles;
  DenseMap<Operation *, Operation *> firstOf;
  DenseMap<Operation *, Filled> filled;
  /// Loads into rings of their own role, for a check.
  DenseMap<Operation *, TripStages> ownStages;
  /// What other roles use, and the stores whose value another role makes.
  DenseSet<Operation *> handedOver;
  DenseMap<Operation *, Ring *> stores;
  DenseMap<Operation *, unsigned> numbers, handOvers;
  /// What has the order of an op that it stands in front of.
  SmallVector<unsigned> inFront;
  /// By what fills a slot and who reads it into registers.
  std::map<std::pair<unsigned, StringRef>, unsigned> reads;
};
} // namespace

static unsigned getNumber(StringRef role, ArrayAttr roles) {
  return llvm::find_if(roles,
                       [&](Attribute attr) { return cast<RoleAttr>(attr).getName() == role; }) -
         roles.begin();
}

/// Nothing of one op may be run by several roles.
bool ProblemMaker::findOps() {
  for (Ring &ring : plan)
    for (RingUse &ringUse : ring.uses) {
      if (ringUse.getBlock() != &trip.block)
        continue;
      bool isOwn = ring.isReadByProducer(), isForOthers = !isOwn;
      if (isOwn && use == ProblemUse::Check && trip.loop && !ringUse.store) {
        for (LoadOp load : ringUse.loads)
          ownStages.try_emplace(load, findOwnStages(plan, ring, ringUse));
        isForOthers =
            llvm::any_of(ringUse.readers, [&](RoleAttr reader) { return reader != ring.producer; });
      }
      if (!isForOthers)
        continue;
      if (ringUse.store) {
        stores[ringUse.store] = &ring;
        continue;
      }
      for (LoadOp load : ringUse.loads)
        firstOf[load] = *llvm::min_element(
            ringUse.loads, [](LoadOp x, LoadOp y) { return x->isBeforeInBlock(y); });
      filled[firstOf[ringUse.loads.front()]] = {&ring, &ringUse, 0};
    }
  for (auto &entry : filled)
    entry.second.uses = llvm::count_if(
        entry.second.ring->uses, [&](RingUse &other) { return other.getBlock() == &trip.block; });
  for (Operation &op : trip.block) {
    if (!trip.stages.contains(&op) || isView(&op))
      continue;
    Operation *first = firstOf.lookup(&op);
    if (first && first != &op)
      continue;
    llvm::SetVector<StringRef> inside;
    op.walk([&](Operation *inner) {
      if (StringRef name = getRoleName(inner); !name.empty())
        inside.insert(name);
    });
    if (inside.size() > 1)
      return false;
    if (StringRef role = findLoopRole(&op, rest); !role.empty())
      roles[&op] = role;
  }
  for (auto &[op, role] : roles)
    for (const Need &need : findNeeds(op))
      if (roles.lookup(need.maker) != role && !filled.contains(need.maker) && !stores.contains(op))
        handedOver.insert(need.maker);
  return true;
}

SmallVector<Need> ProblemMaker::findNeeds(Operation *op) const {
  SmallVector<Need> needs;
  SmallVector<std::pair<Need, Value>> values;
  DenseSet<std::pair<Value, int64_t>> seen;
  for (Value operand : trip.getOperands(op))
    values.push_back({{nullptr, 0, operand}, operand});
  while (!values.empty()) {
    auto [need, value] = values.pop_back_val();
    std::optional<Dependence> found = trip.findMaker(value);
    if (!found)
      continue;
    Operation *first = firstOf.lookup(found->op);
    need = {first ? first : found->op, need.distance + found->distance, need.operand};
    if (roles.contains(need.maker)) {
      needs.push_back(need);
      continue;
    }
    // What no role runs may go round with the loop.
    if (!seen.insert({value, need.distance}).second || need.distance > int64_t(trip.ops.size()))
      continue;
    for (Value operand : trip.getOperands(found->op))
      values.push_back({need, operand});
  }
  return needs;
}

//===- What they are in the problem ---------------------------------------------------------===//

/// All registers are a budget for what surely lies in them; a solver leaves some to the rest.
void ProblemMaker::addRoles() {
  auto attrs = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName);
  int64_t warps = 0, others = use == ProblemUse::Solve ? kOtherRegisters : 0;
  for (auto role : attrs.getAsRange<RoleAttr>())
    warps += countWarps(kernel, role);
  for (auto role : attrs.getAsRange<RoleAttr>()) {
    int64_t registers =
        role.getRegisters() ? role.getRegisters() : int64_t(chip.getRegistersAtEntry(warps));
    registers = std::min<int64_t>(registers, chip.registersPerThread);
    int64_t threads = role.getTotalWarps() * chip.warpSize;
    int64_t bytes = 4 * threads * std::max<int64_t>(registers - others, 1);
    int64_t lag = use == ProblemUse::Check ? getLag(role) : 0;
    made.problem.roles.push_back({role.getName().str(), role.getWarps(), bytes, lag});
  }
  made.problem.units = {{"matrix units"}, {"lanes"}}; // as `Unit` counts them
  made.problem.counters = {{"dots"}};
  made.problem.isLoop = trip.loop != nullptr;
}

static schedule::Completion getCompletion(DotOp dot) {
  switch (cast<MmaAtomInterface>(dot.getAtomAttr()).getCompletion()) {
  case Completion::Groups:
    return schedule::Completion::Counted;
  case Completion::InOrder:
    return schedule::Completion::Direct;
  default:
    return schedule::Completion::Signalled;
  }
}

/// Sums in tensor memory take no registers. For a check only those of matrix instructions count
/// that do: the assembler makes other values when they are used, or makes them again.
int64_t ProblemMaker::countRegisters(Operation *op) const {
  auto dot = dyn_cast<DotOp>(op);
  auto atom = dot ? dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr()) : MmaAtomInterface();
  if (atom && atom.getAccumulatorPlace() == Place::Tensor)
    return 0;
  if (use == ProblemUse::Solve) {
    int64_t bytes = 0;
    for (Type type : op->getResultTypes())
      bytes += countBytes(type);
    return bytes;
  }
  if (!atom || !isa_and_nonnull<LayoutAttr>(dot.getType().getEncoding()))
    return 0;
  RoleAttr role = lookUpRole(dot);
  int64_t bits = dot.getType().getElementTypeBitWidth();
  return role ? getLayout(dot.getResult()).getInSize(kRegister) * bits / 8 * role.getTotalWarps() *
                    chip.warpSize
              : 0;
}

/// Whether a slot is filled not by the load, but behind all else of a trip, out of registers.
bool ProblemMaker::isWritten(Operation *op) const {
  auto found = filled.find(op);
  return use == ProblemUse::Check && found != filled.end() && found->second.ring->isWritten();
}

void ProblemMaker::addPins(Operation *op, schedule::Op &asked) const {
  auto dot = dyn_cast<DotOp>(op);
  bool isCounted = dot && asked.completion == schedule::Completion::Counted;
  // More than can be in flight make no difference.
  if (isCounted)
    asked.starts = std::min(countStarts(dot), schedule::kMostTrips);
  if (use == ProblemUse::Solve)
    return;
  asked.pins.stage = findNumber(op, "stage");
  asked.pins.order = findNumber(op, "order");
  if (auto own = ownStages.find(op); own != ownStages.end())
    asked.pins.stage = own->second.filled;
  if (isCounted)
    asked.pins.inFlight = dot.getInFlight().value_or(0);
}

/// A ring that several fill in turn is one of each, with its share of the slots.
void ProblemMaker::addSlot(LoadOp load, schedule::Op &asked) {
  const Filled &its = filled.find(load)->second;
  int64_t depth = its.ring->depth, each = llvm::divideCeil(depth, its.uses);
  asked.bufferBytes = std::max<int64_t>(
      getChannelBytes(getChannelType(*its.ring, kernel.getContext())) / (each * its.uses), 1);
  asked.pins.depth = each;
}

/// What was loaded into registers is written to its slot behind all else of a trip, or in front of
/// what would wait in vain.
void ProblemMaker::addWrite(LoadOp load, Operation *waiting) {
  std::optional<int64_t> order = waiting ? findNumber(waiting, "order") : std::nullopt;
  unsigned number = numbers.lookup(load), role = *made.problem.ops[number].pins.role;
  for (const schedule::Op &op : made.problem.ops)
    if (!waiting && op.pins.role == role && op.pins.order)
      order = std::max(order, std::optional(*op.pins.order + 1));
  handOvers[load] = made.ops.size();
  if (waiting && order)
    inFront.push_back(made.ops.size());
  addHandOver(load, roles.lookup(load), /*bytes=*/0, /*depth=*/1);
  schedule::Op &asked = made.problem.ops.back();
  addSlot(load, asked);
  asked.pins.stage = getWriteStage(load);
  asked.pins.order = order;
  std::optional<int64_t> &loaded = made.problem.ops[number].pins.stage;
  if (asked.pins.stage)
    loaded = loaded.value_or(0);
  else
    asked.pins.stage = loaded;
}

/// What stands in front of an op has that one's place, and all that follow come later.
void ProblemMaker::makeWay() {
  for (unsigned number : inFront) {
    const schedule::Pins &own = made.problem.ops[number].pins;
    for (auto [other, op] : llvm::enumerate(made.problem.ops))
      if (other != number && op.pins.role == own.role && op.pins.order &&
          *op.pins.order >= *own.order)
        ++*op.pins.order;
  }
}

/// Writing a tensor to a slot takes lanes and time, and room.
void ProblemMaker::addHandOver(Operation *op, StringRef role, int64_t bytes, int64_t depth) {
  made.ops.push_back(op);
  made.handsOver.push_back(true);
  schedule::Op &asked = made.problem.ops.emplace_back();
  asked.name = getSourceName(op);
  asked.pins.role = getNumber(role, kernel->getAttrOfType<ArrayAttr>(kRolesAttrName));
  asked.pins.depth = depth;
  asked.bufferBytes = bytes;
  asked.partsTurns = true;
  const Figures &figures = chip.figures;
  if (use == ProblemUse::Check || !figures.sharedBandwidth)
    return;
  int64_t cycles = llvm::divideCeil(bytes, figures.sharedBandwidth->value);
  asked.reservations.push_back({unsigned(Unit::Lanes), cycles});
  asked.latency = cycles + (figures.handOverLatency ? figures.handOverLatency->value : 0);
}

/// What the tensors of an op take in a slot.
static int64_t countSlotBytes(Operation *op) {
  int64_t bytes = 0;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      bytes += getSharedBytes(tensor);
  return std::max<int64_t>(bytes, 1);
}

bool ProblemMaker::addOp(Operation *op) {
  StringRef role = roles.lookup(op);
  auto attrs = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName);
  if (Ring *ring = stores.lookup(op)) {
    ChannelType type = getChannelType(*ring, kernel.getContext());
    handOvers[op] = made.ops.size();
    addHandOver(op, ring->producer.getName(), getChannelBytes(type) / ring->depth, ring->depth);
  }
  numbers[op] = made.ops.size();
  made.ops.push_back(op);
  made.handsOver.push_back(false);
  schedule::Op asked;
  asked.name = getSourceName(op);
  asked.pins.role = getNumber(role, attrs);
  if (use == ProblemUse::Solve) {
    std::optional<OpCost> cost = getCost(op, chip);
    if (!cost)
      return false;
    asked.latency = cost->latency;
    // An engine copies beside all that competes for units here.
    if (cost->unit && *cost->unit != Unit::Engine && cost->cycles)
      asked.reservations.push_back({unsigned(*cost->unit), cost->cycles});
  }
  auto dot = dyn_cast<DotOp>(op);
  bool fills = filled.contains(op) && !isWritten(op);
  if (fills) {
    asked.completion = schedule::Completion::Signalled;
    addSlot(cast<LoadOp>(op), asked);
  } else if (dot && isa_and_nonnull<MmaAtomInterface>(dot.getAtomAttr())) {
    asked.completion = getCompletion(dot);
  }
  if (!fills)
    asked.registerBytes = countRegisters(op);
  asked.isInTurns = dot && dot.getInFlight();
  asked.partsTurns = op->getNumRegions() > 0;
  if (asked.partsTurns)
    asked.innerTurns = countTurns(op, cast<RoleAttr>(attrs[*asked.pins.role]));
  addPins(op, asked);
  made.problem.ops.push_back(asked);
  if (!handedOver.contains(op))
    return true;
  // Tensor memory holds sums for whoever uses them, as many as RealiseAccumulators finds room for.
  if (asked.completion == schedule::Completion::Signalled) {
    made.problem.ops.back().bufferColumns = 1;
    made.problem.ops.back().pins.depth = dot.getInFlight().value_or(0) + 1;
    return true;
  }
  int64_t depth = 1;
  for (Value result : op->getResults())
    depth = std::max(depth, countSlots(result));
  handOvers[op] = made.ops.size();
  addHandOver(op, role, countSlotBytes(op), depth);
  return true;
}

//===- What they need -----------------------------------------------------------------------===//

/// The op by which a role reads a slot into registers, in front of the first that uses it; of a
/// ring of its own at the stage at which that is read.
unsigned ProblemMaker::getRead(unsigned maker, StringRef role) {
  auto [at, isNew] = reads.try_emplace({maker, role}, made.ops.size());
  if (!isNew)
    return at->second;
  made.ops.push_back(made.ops[maker]);
  made.handsOver.push_back(true);
  schedule::Op read;
  read.name = made.problem.ops[maker].name;
  read.isLate = true;
  read.pins.role = getNumber(role, kernel->getAttrOfType<ArrayAttr>(kRolesAttrName));
  if (auto own = ownStages.find(made.ops[maker]); own != ownStages.end())
    read.pins.stage = own->second.read;
  made.problem.ops.push_back(read);
  made.problem.dependences.push_back({maker, at->second});
  return at->second;
}

void ProblemMaker::addNeeds() {
  using schedule::Dependence;
  SmallVectorImpl<Dependence> &dependences = made.problem.dependences;
  for (auto &[op, role] : roles) {
    unsigned number = numbers.lookup(op);
    DenseSet<std::pair<Operation *, int64_t>> seen;
    // What it stores, another role has written to a slot.
    if (stores.contains(op))
      dependences.push_back({handOvers.lookup(op), number});
    for (const Need &need : findNeeds(op)) {
      if (!seen.insert({need.maker, need.distance}).second)
        continue;
      unsigned maker = numbers.lookup(need.maker);
      auto dot = dyn_cast<DotOp>(op);
      bool isSum = dot && dot.getAccumulator() == need.operand;
      bool isChained = isSum && isa<DotOp>(need.maker) &&
                       cast<DotOp>(need.maker).getAtomAttr() == dot.getAtomAttr();
      bool isOfRole = roles.lookup(need.maker) == role;
      if (!isOfRole && stores.contains(op)) {
        dependences.push_back({maker, handOvers.lookup(op), need.distance});
        continue;
      }
      if (auto at = handOvers.find(need.maker); !isOfRole && at != handOvers.end())
        maker = at->second;
      // Dots in flight read the slot, all else what is read from it into registers.
      bool isRead = !isOfRole && !(dot && dot.getInFlight());
      if (use == ProblemUse::Check && (isRead || (isOfRole && ownStages.contains(need.maker))))
        maker = getRead(maker, role);
      dependences.push_back({maker, number, need.distance,
                             isChained && isOfRole ? Dependence::Chain : Dependence::Value,
                             /*latency=*/std::nullopt, /*isInPlace=*/isSum && isOfRole});
    }
    if (auto at = handOvers.find(op); at != handOvers.end() && !stores.contains(op))
      dependences.push_back({number, at->second});
  }
}

/// The rings of the loop are the problem's own; all else that is there beside them is not.
void ProblemMaker::addOtherPieces() {
  auto isOwn = [&](Ring &ring) {
    return llvm::any_of(filled, [&](auto &its) { return its.second.ring == &ring; }) ||
           llvm::any_of(stores, [&](auto &its) { return its.second == &ring; });
  };
  if (filled.empty() && stores.empty())
    return;
  SharedPieces found = planSharedPieces(kernel, plan);
  for (auto [index, piece] : llvm::enumerate(found.pieces)) {
    bool isIts = index < plan.size() ? isOwn(plan[index]) : handOvers.contains(found.ops[index]);
    if (!isIts)
      made.problem.otherPieces.push_back(piece);
  }
  made.problem.budget.sharedBytes = chip.sharedBytes;
}

/// Without the latencies of what lanes do, a schedule of it would be a guess.
static bool hasLatencies(const Figures &figures) {
  return figures.fmaLatency && figures.memoryLatency && getExchangeLatency(figures);
}

std::optional<LoopProblem> ProblemMaker::run() {
  if (use == ProblemUse::Solve && !hasLatencies(chip.figures))
    return std::nullopt;
  if (!findOps())
    return std::nullopt;
  addRoles();
  struct Written {
    LoadOp load;
    Operation *waiting, *place;
  };
  SmallVector<Written> written;
  for (auto &[op, role] : roles) {
    llvm::erase_if(written, [&, here = op](const Written &each) {
      bool isHere = each.place && !here->isBeforeInBlock(each.place);
      if (isHere)
        addWrite(each.load, each.waiting);
      return isHere;
    });
    if (!addOp(op))
      return std::nullopt;
    if (isWritten(op)) {
      const Filled &its = filled.find(op)->second;
      Operation *site = its.use->getSite(), *waiting = findWaiting(site, its.ring->producer);
      written.push_back({cast<LoadOp>(op), waiting,
                         waiting ? findWritePlace(site, waiting, its.ring->producer) : nullptr});
    }
  }
  for (const Written &each : written)
    addWrite(each.load, each.waiting);
  makeWay();
  addNeeds();
  if (use == ProblemUse::Check)
    addOtherPieces();
  return std::move(made);
}

std::optional<LoopProblem> kiln::makeProblem(const Trip &trip, RingPlan &plan, ProblemUse use,
                                             const Chip &chip, StringRef rest) {
  return ProblemMaker(trip, plan, use, chip, rest).run();
}
