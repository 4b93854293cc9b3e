// Completes what a source says of a kernel's schedule in part: who runs what, by which instruction
// tiles come and products are made. When ops run and how deep rings are follows from that
// (DecideStages.cpp).
//
// What is said stays, and is tried as it is first. Else there are few ways to go on: a role loads
// for another or for itself, by the best copies or through registers, and products run on beside
// their warps or not. The first that can be realised, as a copy shows, is written.
#include "Decisions.h"
#include "OwnRingDecider.h"
#include "Rings.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/AtomFit.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Schedule/TryOut.h"
#include "kiln/Target/Common/Passes.h"
#include "kiln/Target/Common/Synchronisation.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_COMPLETEPINS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static constexpr StringLiteral kAll = "all", kCompute = "compute", kLoad = "load";
/// Smaller tiles are not worth a slot of a ring.
static constexpr int64_t kFewestBytes = 1024;
/// Warps of a role that brings tiles through its lanes, or that nothing else says.
static constexpr int64_t kUsualWarps = 4;

static bool hasAtom(Operation *op) { return op->hasAttr("atom") || op->hasAttr(kAtomNameAttrName); }

namespace {
/// Who loads and who computes, of these roles: the kernel's own, if there are none here.
struct Division {
  SmallVector<RoleAttr> roles;
  StringRef producer, consumer;
};

/// How tiles come and products are made of which nobody says it.
struct Way {
  bool direct = true, starts = true;
};

class PinCompleter {
public:
  PinCompleter(KernelOp kernel, TargetInterface target) : kernel(kernel), target(target) {
    kernel.getBody().walk([&](Operation *op) {
      if (auto dot = dyn_cast<DotOp>(op))
        dots.push_back(dot);
      auto load = dyn_cast<LoadOp>(op);
      if (load && load.getType().getNumElements() > 1)
        tiles.push_back(load);
      if (auto store = dyn_cast<StoreOp>(op))
        stores.push_back(store);
      if (hasAtom(op) || !findDecision(op).empty())
        said.insert(op);
    });
    own = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName);
  }

  /// Whether something that is said wants more to be said, or may.
  bool isPartial();
  /// Whether an instruction is named that no chip has, or that a product has once it is made
  /// larger.
  bool hasUnknown();
  /// What says something that means nothing without roles, though there are none; and its decision.
  std::optional<std::pair<Operation *, std::string>> findNeed();
  SmallVector<Division> getDivisions();
  SmallVector<Way> getWays();
  void write(const Division &division, Way way);
  void undo();
  /// Whether a refusal is of roles that completion has made, or of a load, product or store of
  /// which nobody has said anything.
  bool isOfUnsaid(const Refusal &refusal);

private:
  Attribute getSaidAtom(Operation *op);
  bool runsOn(DotOp dot);
  bool fillsRing(LoadOp load);
  bool loads(Operation *op);
  SmallVector<LoadOp> findBrought(bool isApart);
  std::string chooseCopy(LoadOp load, bool isOwn, bool direct);
  std::pair<int64_t, int64_t> getShape();
  SmallVector<Division> makeDivisions();
  SmallVector<Division> chooseDivisions();
  void set(Operation *op, StringRef name, Attribute value);
  void setRole(Operation *op, StringRef role) {
    set(op, spellDecision(op, "role"), StringAttr::get(op->getContext(), role));
  }

  KernelOp kernel;
  TargetInterface target;
  SmallVector<DotOp> dots;
  SmallVector<LoadOp> tiles;
  SmallVector<StoreOp> stores;
  ArrayAttr own;
  SmallVector<std::pair<Operation *, std::string>> written;
  DenseSet<Operation *> said;
};
} // namespace

/// Whether a store says something that only one by an engine has.
static bool wantsEngine(StoreOp store) {
  return store.getInFlight() || store.getBuffer() || store->hasAttr(kFetchedAttrName);
}

/// The instruction that an op is said to be made by, as far as its name tells.
Attribute PinCompleter::getSaidAtom(Operation *op) {
  auto name = op->getAttrOfType<StringAttr>(kAtomNameAttrName);
  if (!name)
    return op->getAttr("atom");
  for (Attribute atom : target.getAtoms(op))
    if (getAtomName(atom) == name.getValue())
      return atom;
  return {};
}

/// Whether a product is said to run on beside its warps, or may be.
bool PinCompleter::runsOn(DotOp dot) {
  auto atom = dyn_cast_or_null<MmaAtomInterface>(getSaidAtom(dot));
  return dot.getInFlight() || (atom ? atom.getCompletion() != Completion::InOrder : hasAtom(dot));
}

bool PinCompleter::hasUnknown() {
  return llvm::any_of(dots, [&](DotOp dot) { return hasAtom(dot) && !getSaidAtom(dot); });
}

std::optional<std::pair<Operation *, std::string>> PinCompleter::findNeed() {
  std::optional<std::pair<Operation *, std::string>> need;
  kernel.getBody().walk([&](Operation *op) {
    std::string decision = findRolesDecision(op);
    auto dot = dyn_cast<DotOp>(op);
    if (decision.empty() && ((isa<LoadOp, StoreOp>(op) && hasAtom(op)) || (dot && runsOn(dot))))
      decision = "atom";
    if (decision.empty())
      return WalkResult::advance();
    need = {op, decision};
    return WalkResult::interrupt();
  });
  return need;
}

bool PinCompleter::isPartial() {
  if (!own)
    return findNeed().has_value();
  auto isOpen = [&](Operation *op) {
    return !hasAtom(op) || (own.size() > 1 && getRoleName(op).empty());
  };
  // Who loads a tile is open where places in a trip are said, or where a role has no op yet.
  DenseSet<StringRef> named;
  kernel.getBody().walk([&](Operation *op) { named.insert(getRoleName(op)); });
  bool isIdle = llvm::any_of(own.getAsRange<RoleAttr>(),
                             [&](RoleAttr role) { return !named.contains(role.getName()); });
  bool isOrdered =
      llvm::any_of(dots, [&](DotOp dot) { return getDecision(dot, "order") != nullptr; });
  auto isUnplaced = [&](LoadOp load) {
    bool isSaid = load.getStage() || getDecision(load, "order");
    return own.size() > 1 && getRoleName(load).empty() && (isSaid || isIdle || isOrdered);
  };
  return llvm::any_of(dots, isOpen) || llvm::any_of(findBrought(/*isApart=*/false), isOpen) ||
         llvm::any_of(findBrought(/*isApart=*/true), isUnplaced) ||
         llvm::any_of(stores, [&](StoreOp store) { return wantsEngine(store) && isOpen(store); });
}

//===- Who ----------------------------------------------------------------------------------===//

/// The warps that make a product, and how many groups of them share out its rows.
std::pair<int64_t, int64_t> PinCompleter::getShape() {
  for (DotOp dot : dots) {
    auto atom = dyn_cast_or_null<MmaAtomInterface>(getSaidAtom(dot));
    if (!atom)
      atom = dyn_cast_or_null<MmaAtomInterface>(Attribute(findAsyncAtom(dot, target)));
    if (atom && atom.getCompletion() != Completion::InOrder)
      return {atom.getWarps(), chooseCopies(dot.getM(), atom.getExtents()[0])};
  }
  bool runOn = llvm::any_of(dots, [&](DotOp dot) { return runsOn(dot); });
  return {runOn ? kUsualWarps : countWarps(kernel, target.getChipRecord()), 1};
}

/// Of a kernel that says no roles: those that its ops name, and what these lack.
SmallVector<Division> PinCompleter::makeDivisions() {
  llvm::SetVector<StringRef> loading, computing;
  bool usesEngine = false, usesLanes = false;
  kernel.getBody().walk([&](Operation *op) {
    if (StringRef name = getRoleName(op); !name.empty())
      (loads(op) ? loading : computing).insert(name);
    if (Attribute atom = isa<LoadOp>(op) ? getSaidAtom(op) : Attribute())
      (isa<EngineAtomInterface>(atom) ? usesEngine : usesLanes) = true;
  });
  loading.set_subtract(computing);
  auto [warps, copies] = getShape();
  auto role = [&](StringRef name, int64_t warps, int64_t copies) {
    return RoleAttr::get(kernel.getContext(), name, warps, copies, /*skew=*/0, /*registers=*/0);
  };
  // Whoever calls a role that computes "load" has another one that loads.
  auto findName = [&](StringRef usual) {
    std::string name = usual.str();
    for (int number = 1; computing.contains(name) || loading.contains(name); ++number)
      name = usual.str() + std::to_string(number);
    return StringAttr::get(kernel.getContext(), name).getValue();
  };
  StringRef only = !computing.empty() ? computing[0] : !loading.empty() ? loading[0] : kAll;
  bool mayBeAlone = loading.size() + computing.size() <= 1;
  llvm::SmallSetVector<int64_t, 2> shared;
  shared.insert(copies);
  shared.insert(1);
  SmallVector<Division> apart, alone;
  for (int64_t each : shared) {
    Division pair{{},
                  loading.empty() ? findName(kLoad) : loading[0],
                  computing.empty() ? findName(kCompute) : computing[0]};
    for (DotOp dot : dots)
      if (StringRef name = getRoleName(dot); !name.empty())
        pair.consumer = name;
    pair.roles.push_back(role(pair.consumer, warps, each));
    for (StringRef name : computing)
      if (name != pair.consumer)
        pair.roles.push_back(role(name, kUsualWarps, 1));
    int64_t loadingWarps = usesLanes ? kUsualWarps : 1;
    pair.roles.push_back(role(pair.producer, loadingWarps, 1));
    for (StringRef name : ArrayRef(loading.getArrayRef()).drop_front(!loading.empty()))
      pair.roles.push_back(role(name, loadingWarps, 1));
    if (pair.producer != pair.consumer)
      apart.push_back(pair);
    if (mayBeAlone)
      alone.push_back({{role(only, warps, each)}, only, only});
  }
  SmallVector<Division> &first = usesLanes && !usesEngine ? alone : apart;
  SmallVector<Division> &second = &first == &alone ? apart : alone;
  llvm::append_range(first, second);
  auto said = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName);
  if (!said)
    return first;
  // As many warps as are said to be all of them.
  llvm::erase_if(first, [&](const Division &division) {
    int64_t total = 0;
    for (Attribute role : division.roles)
      total += cast<RoleAttr>(role).getTotalWarps();
    return total != said.getInt();
  });
  if (first.empty() && mayBeAlone)
    first.push_back({{role(only, said.getInt(), 1)}, only, only});
  return first;
}

/// Of the roles that the kernel says: one that computes and one that loads for it. Rather those
/// that ops name so, and of the others those with more warps to compute.
SmallVector<Division> PinCompleter::chooseDivisions() {
  llvm::SetVector<StringRef> loading, computing;
  kernel.getBody().walk(
      [&](Operation *op) { (loads(op) ? loading : computing).insert(getRoleName(op)); });
  auto isRather = [](const llvm::SetVector<StringRef> &named,
                     const llvm::SetVector<StringRef> &others, RoleAttr role) {
    return named.contains(role.getName()) ? 0 : others.contains(role.getName()) ? 2 : 1;
  };
  auto roles = llvm::to_vector(own.getAsRange<RoleAttr>());
  SmallVector<RoleAttr> consumers = roles, producers = roles;
  auto place = [&](RoleAttr role) { return llvm::find(own, role) - own.begin(); };
  auto rankConsumer = [&](RoleAttr role) {
    return std::tuple(isRather(computing, loading, role), -role.getTotalWarps(),
                      -role.getRegisters(), place(role));
  };
  auto rankProducer = [&](RoleAttr role) {
    return std::tuple(isRather(loading, computing, role), role.getTotalWarps(), role.getRegisters(),
                      place(role));
  };
  llvm::sort(consumers, [&](auto x, auto y) { return rankConsumer(x) < rankConsumer(y); });
  llvm::sort(producers, [&](auto x, auto y) { return rankProducer(x) < rankProducer(y); });
  SmallVector<Division> divisions;
  for (bool isOwn : {false, true})
    for (RoleAttr consumer : ArrayRef(consumers).take_front(2))
      for (RoleAttr producer : ArrayRef(producers).take_front(2))
        if ((producer == consumer) == isOwn)
          divisions.push_back({{}, producer.getName(), consumer.getName()});
  return divisions;
}

SmallVector<Division> PinCompleter::getDivisions() {
  return own ? chooseDivisions() : makeDivisions();
}

//===- By what ------------------------------------------------------------------------------===//

/// Whether such a product reads what is made of a value in its block.
static bool feeds(Value value, function_ref<bool(DotOp)> isSuch) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    if (auto dot = dyn_cast<DotOp>(user))
      return value != dot.getAccumulator() && isSuch(dot);
    return user->getNumRegions() == 0 && user->getNumResults() == 1 &&
           user->getBlock() == value.getParentBlock() && feeds(user->getResult(0), isSuch);
  });
}

/// Whether a load is said to fill a ring: by itself, by its loop, or by a role that does not use
/// it.
bool PinCompleter::fillsRing(LoadOp load) {
  if (hasAtom(load) || load.getRing() || load.getDepth() || load.getBuffer() ||
      load.getMulticast() || load->hasAttr(kWriteStageAttrName) || load.getReadAtomAttr() ||
      getLoopDepth(load->getBlock()))
    return true;
  StringRef role = getRoleName(load);
  return !role.empty() && llvm::any_of(load->getUsers(), [&](Operation *user) {
    StringRef other = getRoleName(user);
    return !other.empty() && other != role;
  });
}

/// Whether an op may be another role's than what uses it: it brings a tile to a ring, or to a
/// product.
bool PinCompleter::loads(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return load && (fillsRing(load) || feeds(load.getResult(), [](DotOp) { return true; }));
}

/// The tiles that fill rings: those of which it is said, and what products that run on beside their
/// warps read; where a role loads for another, what any product reads, and where nobody says roles,
/// what a product of a later stage does, which registers would hold for so many trips.
SmallVector<LoadOp> PinCompleter::findBrought(bool isApart) {
  SmallVector<LoadOp> brought;
  for (LoadOp load : tiles) {
    int64_t bits = load.getType().getNumElements() * load.getType().getElementTypeBitWidth();
    bool isRead = bits >= 8 * kFewestBytes && feeds(load.getResult(), [&](DotOp dot) {
                    bool isLate = !own && dot.getStage().value_or(0) > 0;
                    return isApart || isLate || runsOn(dot);
                  });
    if (!load->hasAttr(kHeldAttrName) && (fillsRing(load) || isRead))
      brought.push_back(load);
  }
  return brought;
}

/// The name of a copy that can bring a tile. An engine brings it for other roles.
std::string PinCompleter::chooseCopy(LoadOp load, bool isOwn, bool direct) {
  bool isThroughRegisters = load->hasAttr(kWriteStageAttrName);
  for (Attribute atom : target.getAtoms(load)) {
    auto copy = dyn_cast<CopyAtomInterface>(atom);
    if (!direct || !copy || isThroughRegisters || isa<ThroughRegistersAttr>(atom))
      continue;
    if (!(isOwn && copy.getCompletion() == Completion::CountedBytes) &&
        !whyUnfit(load, atom, target))
      return getAtomName(atom);
  }
  return getAtomName(ThroughRegistersAttr::get(kernel.getContext()));
}

SmallVector<Way> PinCompleter::getWays() {
  SmallVector<Way> ways;
  auto isOpen = [](DotOp dot) { return !hasAtom(dot) && !dot.getInFlight(); };
  for (bool starts : {true, false})
    for (bool direct : {true, false})
      if (!starts || llvm::any_of(dots, isOpen))
        ways.push_back({direct, starts});
  return ways;
}

//===- Writing ------------------------------------------------------------------------------===//

/// What is said stays.
void PinCompleter::set(Operation *op, StringRef name, Attribute value) {
  if (op->hasAttr(name))
    return;
  op->setAttr(name, value);
  written.push_back({op, name.str()});
}

void PinCompleter::undo() {
  for (auto &[op, name] : written)
    op->removeAttr(name);
  written.clear();
}

bool PinCompleter::isOfUnsaid(const Refusal &refusal) {
  // A refusal of what an author says of the kernel is at that line, not at the kernel's.
  return llvm::any_of(written, [&](const auto &one) {
    return !said.contains(one.first) && one.first->getLoc() == refusal.loc;
  });
}

void PinCompleter::write(const Division &division, Way way) {
  Builder builder(kernel.getContext());
  if (!division.roles.empty())
    set(kernel, kRolesAttrName,
        builder.getArrayAttr(SmallVector<Attribute>(division.roles.begin(), division.roles.end())));
  for (DotOp dot : dots)
    if (!hasAtom(dot) && (way.starts || dot.getInFlight()))
      if (AsyncMmaAtomInterface atom = findAsyncAtom(dot, target))
        set(dot, kAtomNameAttrName, builder.getStringAttr(getAtomName(atom)));
  for (StoreOp store : stores)
    if (wantsEngine(store) && !hasAtom(store))
      for (Attribute atom : target.getAtoms(store))
        if (isa<EngineAtomInterface>(atom))
          set(store, kAtomNameAttrName, builder.getStringAttr(getAtomName(atom)));
  SmallVector<LoadOp> brought = findBrought(division.producer != division.consumer);
  for (LoadOp load : brought) {
    StringRef said = getRoleName(load);
    bool isOwn = (said.empty() ? division.producer : said) == division.consumer;
    if (!hasAtom(load))
      set(load, kAtomNameAttrName, builder.getStringAttr(chooseCopy(load, isOwn, way.direct)));
    setRole(load, division.producer);
  }
  if (division.producer == division.consumer)
    return;
  for (LoadOp load : brought)
    for (Operation *user : load->getUsers())
      if (!isa<ReshapeOp, TransposeOp>(user) && !user->hasTrait<OpTrait::IsTerminator>())
        setRole(user, division.consumer);
  kernel.getBody().walk([&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    if (isa<DotOp, DotScaledOp>(op) ||
        ((isa<GatherOp, StoreOp, ScatterOp, AtomicRMWOp>(op) || (load && !isSharedScalar(load))) &&
         division.roles.size() + (own ? own.size() : 0) == 2))
      setRole(op, division.consumer);
  });
}

namespace {
struct CompletePins : kiln::impl::CompletePinsBase<CompletePins> {
  CompletePins() = default;
  explicit CompletePins(Realise realise) : realise(std::move(realise)) {}

  LogicalResult complete(KernelOp kernel, TargetInterface target) {
    PinCompleter completer(kernel, target);
    if (!completer.isPartial())
      return success();
    auto need = completer.findNeed();
    bool isTried = kernel->hasAttr(kRolesAttrName) || completer.hasUnknown();
    // Rather of what an author has said than of how it was completed.
    std::optional<Refusal> first, refusal;
    bool isOfUnsaid = false;
    auto holds = [&] {
      if (!realise || tryOut(kernel, realise, refusal))
        return true;
      if (refusal && (!first || (isOfUnsaid && !completer.isOfUnsaid(*refusal)))) {
        first = refusal;
        isOfUnsaid = completer.isOfUnsaid(*refusal);
      }
      return false;
    };
    if (isTried && realise && holds())
      return success();
    std::optional<Refusal> asItIs = std::exchange(first, std::nullopt);
    for (const Division &division : completer.getDivisions())
      for (Way way : completer.getWays()) {
        completer.write(division, way);
        if (holds())
          return success();
        completer.undo();
      }
    // What contradicts itself however it is completed, later passes say.
    if (!first || (asItIs && asItIs->text == first->text))
      return success();
    InFlightDiagnostic error = emitError(first->loc) << first->text;
    for (const auto &[loc, text] : first->notes)
      error.attachNote(loc) << text;
    if (need && !kernel->hasAttr(kRolesAttrName))
      error.attachNote(need->first->getLoc())
          << "roles are completed, since '" << need->second << "' is decided";
    return error;
  }

  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(complete(kernel, *target)))
        return signalPassFailure();
  }

  Realise realise;
};
} // namespace

std::unique_ptr<Pass> kiln::createCompletePins(Realise realise) {
  return std::make_unique<CompletePins>(std::move(realise));
}
