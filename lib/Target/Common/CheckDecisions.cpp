// Holds the decisions of a source against its target, before any is realised.
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Marks.h"
#include "kiln/Dialect/Tile/IR/PinnedPlaces.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Dialect/Tile/IR/Swapped.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/AtomFit.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Target/Common/CacheHints.h"
#include "kiln/Target/Common/ForeignCalls.h"
#include "kiln/Target/Common/Passes.h"
#include "kiln/Target/Common/Synchronisation.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace kiln {
#define GEN_PASS_DEF_CHECKDECISIONS
#include "kiln/Target/Common/Passes.h.inc"
} // namespace kiln

/// What is decided of how instructions alternate, of programs and of launches: it needs no roles.
static constexpr StringLiteral kWithoutRoles[] = {"interleave", kShareAttrName,
                                                  kShareAtomicAttrName, kTriggersAttrName};

std::string kiln::findRolesDecision(Operation *op) {
  return findDecision(op, [](const Decision &decision) {
    return decision.readBy == ReadBy::Schedule && !decision.isMark && !decision.isOfParts &&
           !llvm::is_contained(kWithoutRoles, decision.name);
  });
}

static LogicalResult checkAtom(Operation *op, StringRef name, TargetInterface target) {
  Attribute atom = getDecision(op, name);
  if (atom && !target.hasAtom(atom))
    return op->emitOpError("expected '")
           << name << "' to be an instruction of " << target.getSpelling() << ", got " << atom;
  return success();
}

/// Types, extents and what facts say of views: held where all else that is decided of the op holds,
/// since its role and its depth are asked, too.
static LogicalResult checkFit(Operation *op, TargetInterface target) {
  auto atom = op->getAttr("atom");
  std::optional<std::string> why = atom ? whyUnfit(op, atom, target) : std::nullopt;
  if (!why)
    return success();
  InFlightDiagnostic error = op->emitOpError(*why) << ", since 'atom' is " << atom;
  noteSwapped(error, op);
  return error;
}

/// Decisions that come together: each names what it is nothing without.
static LogicalResult checkNeeds(Operation *op,
                                ArrayRef<std::pair<StringRef, ArrayRef<StringRef>>> needs) {
  for (auto [name, others] : needs)
    for (StringRef other : others)
      if (getDecision(op, name) && !getDecision(op, other))
        return op->emitOpError("expected '") << other << "', since '" << name << "' is decided";
  return success();
}

/// A tile in a ring is no thread's.
static LogicalResult checkHeld(LoadOp load) {
  if (!load->hasAttr(kHeldAttrName) || !load.getAtomAttr())
    return success();
  return load.emitOpError("expected no 'atom', since '") << kHeldAttrName << "' is decided";
}

/// Programs of a cluster share a tile out by an engine that writes to all of them.
static LogicalResult checkMulticast(LoadOp load) {
  if (!load.getMulticast())
    return success();
  auto kernel = load->getParentOfType<KernelOp>();
  if (!kernel->hasAttr(kClusterAttrName))
    return load.emitOpError("expected a kernel with '")
           << kClusterAttrName << "', since 'multicast' is decided";
  auto atom = dyn_cast_or_null<CopyAtomInterface>(load.getAtomAttr());
  if (!atom || atom.getCompletion() != Completion::CountedBytes)
    return load.emitOpError("expected 'atom' of an engine that counts the bytes it brings, since "
                            "'multicast' is decided, got ")
           << load.getAtomAttr();
  for (unsigned axis : getAxes(*load.getMulticast()))
    if (getClusterExtents(kernel)[axis] == 1)
      return load.emitOpError("expected several programs of a cluster along ")
             << stringifyAxis(Axis(axis)) << ", since 'multicast' is decided, got one";
  return success();
}

using Follows = function_ref<bool(std::optional<Cache>, std::optional<Eviction>)>;

/// An access by `who`: an instruction, or the target's plain ones.
template <typename Access, typename Who>
static LogicalResult checkHints(Access access, Who who, Follows follows) {
  std::optional<Cache> cache = access.getCache();
  std::optional<Eviction> eviction = access.getEviction();
  if (follows(cache, eviction))
    return success();
  InFlightDiagnostic error = access.emitOpError("expected ");
  if (follows(cache, std::nullopt) && follows(std::nullopt, eviction)) {
    error << "hints that " << who << " follows together";
  } else {
    error << "hints that " << who << " follows (cache =";
    for (uint32_t one = 0; one <= getMaxEnumValForCache(); ++one)
      if (follows(Cache(one), std::nullopt))
        error << ' ' << stringifyCache(Cache(one));
    error << "; evict =";
    for (uint32_t one = 0; one <= getMaxEnumValForEviction(); ++one)
      if (follows(std::nullopt, Eviction(one)))
        error << ' ' << stringifyEviction(Eviction(one));
    error << ")";
  }
  error << ", got";
  if (cache)
    error << " cache = " << stringifyCache(*cache);
  if (eviction)
    error << " evict = " << stringifyEviction(*eviction);
  return error;
}

/// A plain access; so is one through registers. Where caches take no hints none has an effect.
template <typename Access>
static LogicalResult checkPlainHints(Access access, TargetInterface target) {
  auto caches = dyn_cast<CacheHintsInterface>(target.getReal());
  if (!caches)
    return success();
  return checkHints(access, target.getSpelling(),
                    [&](auto cache, auto eviction) { return caches.follows(cache, eviction); });
}

template <typename Access>
static LogicalResult checkAtomHints(Access access, TargetInterface target) {
  Attribute attr = access.getAtomAttr();
  if (!attr || isa<ThroughRegistersAttr>(attr))
    return checkPlainHints(access, target);
  auto atom = cast<CopyAtomInterface>(attr);
  return checkHints(access, attr,
                    [&](auto cache, auto eviction) { return atom.follows(cache, eviction); });
}

/// The warps of each copy of the role issue the instruction together.
static LogicalResult checkIssuers(DotOp dot, MmaAtomInterface atom) {
  RoleAttr own = lookUpRole(dot);
  if (!own)
    return failure(failed(findRole(dot, getRoleName(dot))));
  auto [m, n, k] = atom.getExtents();
  int64_t copies = own.getCopies();
  if (copies > 1 && getSharedDim(dot.getM(), dot.getN(), m, n, copies) < 0)
    return dot.emitOpError("expected ")
           << m << " rows or " << n << " columns, times a power of two, for each of the " << copies
           << " copies of role \"" << own.getName() << "\" to make by " << atom << ", got "
           << dot.getM() << " and " << dot.getN() << " for all";
  if (own.getWarps() != atom.getWarps())
    return dot.emitOpError("expected ")
           << atom.getWarps() << " warps in each copy of role \"" << own.getName() << "\" for "
           << atom << ", got " << own.getWarps();
  return success();
}

static LogicalResult refuseFlight(Operation *dot, Attribute inFlight, TargetInterface target) {
  return dot->emitOpError("expected no '")
         << spellDecision(dot, "in_flight") << "' on " << target.getSpelling()
         << ", no instruction of which makes this product beside its warps, got "
         << cast<IntegerAttr>(inFlight).getInt();
}

/// One that no instruction starts is made of scaled operands.
static LogicalResult checkScaled(DotScaledOp dot, TargetInterface target) {
  Attribute inFlight = getDecision(dot, "in_flight");
  return inFlight && !canBeStarted(dot, target) ? refuseFlight(dot, inFlight, target) : success();
}

static LogicalResult checkDot(DotOp dot, TargetInterface target) {
  auto runsOn = [](Attribute atom) {
    auto mma = dyn_cast<MmaAtomInterface>(atom);
    return mma && mma.getCompletion() != Completion::InOrder;
  };
  if (dot.getInFlight() && !dot.getAtomAttr() && llvm::none_of(target.getAtoms(dot), runsOn))
    return refuseFlight(dot, dot.getInFlightAttr(), target);
  auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr());
  bool isAsync = atom && atom.getCompletion() != Completion::InOrder;
  if (isAsync && getRoleName(dot).empty())
    return dot.emitOpError("expected '")
           << spellDecision(dot, "role") << "', since " << atom << " runs on after it has started";
  if (atom && !isAsync && dot.getInFlight())
    return dot.emitOpError("expected an atom that runs on after it has started, since 'in_flight' "
                           "is decided, got ")
           << atom;
  if (failed(checkNeeds(dot, {{"in_flight", {"atom", "role"}},
                              {"part_stages", {"stage"}},
                              {"part_orders", {"stage", "order"}}})))
    return failure();
  return isAsync ? checkIssuers(dot, atom) : success();
}

/// Where a product has its sum, by its atom, which what is decided of the sum needs.
static LogicalResult checkSumPlace(DotOp dot, StringRef decision, bool inTensorMemory = true) {
  auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr());
  if (!atom)
    return dot.emitOpError("expected 'atom', since '") << decision << "' is decided";
  if ((atom.getAccumulatorPlace() == Place::Tensor) == inTensorMemory)
    return success();
  return dot.emitOpError("expected 'atom' to have its sum in ")
         << (inTensorMemory ? "tensor memory" : "registers") << ", since '" << decision
         << "' is decided, got " << atom;
}

/// A loop that carries a sum is around the product itself.
static LogicalResult checkCarried(DotOp dot) {
  if (!dot->hasAttr(kCarriedAttrName))
    return success();
  if (failed(checkSumPlace(dot, kCarriedAttrName)))
    return failure();
  if (isa<scf::ForOp, scf::WhileOp>(dot->getParentOp()))
    return success();
  return dot.emitOpError("expected to stand in a loop itself, since '")
         << kCarriedAttrName << "' is decided";
}

/// Columns are those of tensor memory.
static LogicalResult checkColumns(DotOp dot) {
  for (StringRef name : {kColumnsAttrName, kOperandColumnsAttrName})
    if (dot->hasAttr(name) && failed(checkSumPlace(dot, name)))
      return failure();
  return success();
}

/// Copies of a role convert what they share out through buffers of their shares: how, is decided
/// once they have them.
static LogicalResult checkConversion(ConvertLayoutOp op) {
  ConversionAttr how = op.getHowAttr();
  if (!how || how.getKind() != ConversionKind::Memory)
    return success();
  llvm::SetVector<StringRef> makers = findMakers(op.getInput());
  StringRef name = getRoleName(op);
  if (name.empty() && makers.size() == 1)
    name = makers.front();
  auto roles = op->getParentOfType<KernelOp>()->getAttrOfType<ArrayAttr>(kRolesAttrName);
  if (!roles)
    return success();
  auto type = cast<RankedTensorType>(op.getType());
  LinearLayout layout = cast<LayoutAttr>(type.getEncoding()).toLinear(type.getShape());
  for (auto role : roles.getAsRange<RoleAttr>())
    if (role.getName() == name && role.getCopies() > 1 &&
        layout.getInBits(kWarp) > llvm::Log2_64_Ceil(role.getWarps()))
      return op.emitOpError("expected no 'how' through memory, since the copies of role \"")
             << name << "\" share the tensor out, got " << how;
  return success();
}

/// Where products read what an op makes, by their atoms: out of shared memory also what warps have
/// computed, and written there.
static LogicalResult checkResidency(Operation *op) {
  auto said = op->getAttrOfType<StringAttr>(kResidencyAttrName);
  if (!said)
    return success();
  if (auto dot = dyn_cast<DotOp>(op))
    return checkSumPlace(dot, kResidencyAttrName, said == "tensor_memory");
  Place place = said == "shared" ? Place::Shared : Place::Registers;
  if (op->use_empty())
    return op->emitOpError("expected a product that reads it, since '")
           << kResidencyAttrName << "' is decided";
  for (OpOperand &use : op->getResult(0).getUses()) {
    auto dot = dyn_cast<DotOp>(use.getOwner());
    unsigned number = use.getOperandNumber();
    auto atom = dot ? dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr()) : MmaAtomInterface();
    if (dot && number < 2 && (atom ? atom.readsFrom(number, place) : place == Place::Registers))
      continue;
    InFlightDiagnostic error =
        op->emitOpError("expected operands alone of products that read them from ")
        << (place == Place::Shared ? "shared memory" : "registers") << ", since '"
        << kResidencyAttrName << "' is decided";
    error.attachNote(use.getOwner()->getLoc()) << "the other use";
    noteSwapped(error, op);
    return error;
  }
  return success();
}

/// Code generators that keep to no order of instructions have none to be told.
static LogicalResult checkInterleave(DotOp dot, TargetInterface target) {
  auto sync = dyn_cast<SynchronisationInterface>(target.getReal());
  if (!dot.getInterleaveAttr() || (sync && sync.ordersInstructions()))
    return success();
  return dot.emitOpError("expected no 'interleave' on ")
         << target.getSpelling() << ", where nothing says in which order instructions come, got "
         << dot.getInterleaveAttr();
}

/// The threads of a program at most, on every device.
static constexpr int64_t kMostThreads = 1024;

/// Tensors are spread over the warps of each copy of a role by bits of their number.
LogicalResult kiln::checkWarps(KernelOp kernel, TargetInterface target) {
  auto pinned = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName);
  int64_t warps = pinned ? pinned.getInt() : 0;
  if (auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName)) {
    warps = 0;
    for (auto role : roles.getAsRange<RoleAttr>()) {
      if (!llvm::isPowerOf2_64(role.getWarps()))
        return emitPinError(kernel, kRolesAttrName,
                            "expected a power of two of warps in each copy of role \"")
               << role.getName() << "\", got " << role.getWarps();
      uint64_t count =
          llvm::SaturatingMultiply<uint64_t>(role.getWarps(), withTurns(kernel, role).getCopies());
      warps = std::min<uint64_t>(llvm::SaturatingAdd<uint64_t>(warps, count),
                                 std::numeric_limits<int64_t>::max());
    }
  }
  if (target.runsOnHost())
    return success();
  if (pinned && pinned.getInt() != warps)
    return emitPinError(kernel, kWarpsAttrName, "expected 'tile.warps' to be those of all roles, ")
           << warps << ", got " << pinned.getInt();
  int64_t most = kMostThreads / target.getChipRecord().warpSize;
  if (warps <= most)
    return success();
  if (int64_t programs = countBlockPrograms(kernel); programs > 1)
    return emitPinError(kernel, kBlockProgramsAttrName, "expected at most ")
           << most << " warps of a block on " << target.getSpelling() << ", got " << warps
           << ", since '" << kBlockProgramsAttrName << "' is " << programs;
  return emitPinError(kernel, kernel->hasAttr(kRolesAttrName) ? kRolesAttrName : kWarpsAttrName,
                      "expected at most ")
         << most << " warps of a program on " << target.getSpelling() << ", got " << warps;
}

/// What a decision of a kernel needs of the chip.
static LogicalResult refuseChip(KernelOp kernel, StringRef decision, StringRef needed,
                                TargetInterface target) {
  return emitPinError(kernel, decision, "expected a chip ")
         << needed << ", since '" << decision << "' is decided, got " << target.getSpelling();
}

/// Programs that run side by side, and launches that overlap. A host's programs do neither.
static LogicalResult checkLaunches(KernelOp kernel, TargetInterface target) {
  auto cluster = kernel->getAttrOfType<DenseI64ArrayAttr>(kClusterAttrName);
  if (target.runsOnHost() || !(cluster || kernel->hasAttr(kOverlapAttrName)))
    return success();
  auto sync = dyn_cast<SynchronisationInterface>(target.getReal());
  if (cluster && !(sync && sync.hasClusters()))
    return refuseChip(kernel, kClusterAttrName, "that has clusters", target);
  if (kernel->hasAttr(kOverlapAttrName) && !(sync && sync.overlapsLaunches()))
    return refuseChip(kernel, kOverlapAttrName, "whose kernels wait for those before them", target);
  Operation *grid = kernel.hasGrid() ? kernel.getGrid().front().getTerminator() : nullptr;
  for (unsigned axis = grid ? grid->getNumOperands() : 3; cluster && axis < 3; ++axis)
    if (cluster[axis] > 1)
      return emitPinError(kernel, kClusterAttrName, "expected '")
             << kClusterAttrName << "' of one program along "
             << "xyz"[axis] << ", where the grid has no extent, got " << cluster[axis];
  const std::optional<Figure> &most = target.getChipRecord().figures.clusterBlocks;
  int64_t programs = 1;
  for (int64_t extent : cluster ? cluster.asArrayRef() : ArrayRef<int64_t>())
    programs = llvm::SaturatingMultiply<uint64_t>(programs, extent);
  if (!most || programs <= most->value)
    return success();
  return emitPinError(kernel, kClusterAttrName, "expected '")
         << kClusterAttrName << "' of at most " << most->value << " programs on "
         << target.getSpelling() << ", got " << programs;
}

/// Copies take turns where a program of the launch runs many of the grid's, each at its own pace.
static LogicalResult checkTurns(KernelOp kernel) {
  auto turns = kernel->getAttrOfType<DictionaryAttr>(kTurnsAttrName);
  if (!turns)
    return success();
  for (StringRef needed : {StringRef(kRolesAttrName), StringRef(kPersistentAttrName)})
    if (!isa_and_present<ArrayAttr, PersistentAttr>(kernel->getAttr(needed)))
      return emitPinError(kernel, kTurnsAttrName, "expected '")
             << needed << "', since '" << kTurnsAttrName << "' is decided";
  auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName);
  for (NamedAttribute each : turns) {
    auto role = llvm::find_if(roles.getAsRange<RoleAttr>(),
                              [&](RoleAttr role) { return role.getName() == each.getName(); });
    if (role == roles.getAsRange<RoleAttr>().end())
      return emitPinError(kernel, kTurnsAttrName, "expected roles of the kernel in '")
             << kTurnsAttrName << "', got \"" << each.getName().getValue() << "\"";
    if ((*role).getCopies() > 1)
      return emitPinError(kernel, kTurnsAttrName, "expected one copy of role \"")
             << (*role).getName() << "\" to run a program, since copies take programs in turn, got "
             << (*role).getCopies();
  }
  return success();
}

/// What is said of a kernel and decides nothing of its schedule.
static constexpr StringLiteral kNotes[] = {kTunablesAttrName, kVendorMathAttrName,
                                           kAnyMemoryAttrName};

/// Each attribute means something where it stands. Other dialects' own are theirs.
static LogicalResult checkMeaning(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName();
    const Decision *decision = lookUpDecision(op, name);
    bool isForeign = name.contains('.') && !name.starts_with("tile.");
    // Which of its proposals a pass shall take is said to it by whoever tries them.
    if (decision && decision->isMark && !isa<KernelOp>(op))
      return op->emitOpError("expected no '")
             << name << "' in a source: a pass says so, once it has made it so";
    if (!decision && !isForeign && !llvm::is_contained(kNotes, name))
      return refuseMeaningless(op, name);
  }
  return success();
}

static LogicalResult check(Operation *op, TargetInterface target, bool hasRoles) {
  if (failed(checkMeaning(op)) || failed(checkAtom(op, "atom", target)) ||
      failed(checkAtom(op, "read_atom", target)) || failed(checkResidency(op)))
    return failure();
  if (op->hasAttr(kTriggersAttrName) && !op->getParentOfType<KernelOp>()->hasAttr(kOverlapAttrName))
    return op->emitOpError("expected a kernel with '")
           << kOverlapAttrName << "', since '" << kTriggersAttrName << "' is decided";
  std::string decision = findRolesDecision(op);
  if (!hasRoles && !decision.empty())
    return op->emitOpError("expected a kernel with '")
           << kRolesAttrName << "', since '" << decision << "' is decided";
  for (StringRef name : {"stage", "order"})
    if (getDecision(op, name) && !op->getParentOfType<LoopLikeOpInterface>())
      return op->emitOpError("expected to stand in a loop, since '")
             << spellDecision(op, name) << "' is decided";
  if (auto load = dyn_cast<LoadOp>(op))
    return failure(failed(checkNeeds(load, {{"atom", {"role"}},
                                            {"buffer", {"atom"}},
                                            {"read_atom", {"atom"}},
                                            {"ring", {"atom"}},
                                            {"depth", {"atom"}},
                                            {"multicast", {"atom"}},
                                            {kWriteStageAttrName, {"atom"}},
                                            {kHeldAttrName, {"role"}}})) ||
                   failed(checkHeld(load)) || failed(checkMulticast(load)) ||
                   failed(checkAtomHints(load, target)) || failed(checkFit(load, target)));
  if (auto store = dyn_cast<StoreOp>(op))
    return failure(failed(checkNeeds(store, {{"atom", {"role"}},
                                             {"buffer", {"atom"}},
                                             {"in_flight", {"atom"}},
                                             {kFetchedAttrName, {"atom"}}})) ||
                   failed(checkAtomHints(store, target)) || failed(checkFit(store, target)));
  if (auto conversion = dyn_cast<ConvertLayoutOp>(op))
    return checkConversion(conversion);
  if (auto gather = dyn_cast<GatherOp>(op))
    return checkPlainHints(gather, target);
  if (auto scatter = dyn_cast<ScatterOp>(op))
    return checkPlainHints(scatter, target);
  if (auto dot = dyn_cast<DotScaledOp>(op))
    return checkScaled(dot, target);
  if (auto dot = dyn_cast<DotOp>(op))
    return failure(failed(checkDot(dot, target)) || failed(checkCarried(dot)) ||
                   failed(checkColumns(dot)) || failed(checkInterleave(dot, target)) ||
                   failed(checkFit(dot, target)));
  return success();
}

namespace {
struct CheckDecisions : public kiln::impl::CheckDecisionsBase<CheckDecisions> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      bool hasRoles = kernel->hasAttr(kRolesAttrName);
      if (failed(checkMeaning(kernel)) || failed(checkWarps(kernel, *target)) ||
          failed(checkLaunches(kernel, *target)) || failed(checkTurns(kernel)))
        return signalPassFailure();
      kernel.getBody().walk([&](Operation *op) {
        if (failed(check(op, *target, hasRoles)))
          signalPassFailure();
      });
    }
  }
};
} // namespace
