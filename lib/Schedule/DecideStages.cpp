// When the ops of roles run whose schedule nobody has pinned, and how deep their rings are.
#include "Boxes.h"
#include "Decisions.h"
#include "GlobalAccesses.h"
#include "Lags.h"
#include "OwnRingDecider.h"
#include "Rings.h"
#include "WriteStages.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Schedule/Problem/ExactSolver.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDESTAGES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// More slots than these hide no more of a copy's latency: of another role, of one that fills its
/// own ring, and of one whose long trips are written out.
static constexpr int64_t kMostSlots = 8, kMostOwnSlots = 4, kMostLongSlots = 2;

namespace {
class StageDecider {
public:
  /// `isExact`: the solver's own orders are worth it.
  StageDecider(KernelOp kernel, TargetInterface target, const schedule::Solver &solver,
               bool isExact)
      : kernel(kernel), target(target), solver(solver), isExact(isExact) {}
  LogicalResult run();

private:
  void findSaid();
  LogicalResult checkAccesses();
  void decideStores();
  LogicalResult decideDepths();
  LogicalResult overlapLoops();
  void decideDots();
  FailureOr<int64_t> countShared();
  FailureOr<bool> fits(ArrayRef<LoadOp> loads, int64_t depth, int64_t bytes);
  FailureOr<int64_t> findDepth(ArrayRef<LoadOp> loads, int64_t most, int64_t bytes);
  bool isOwn(LoadOp load);
  int64_t countMostOwnSlots(ArrayRef<LoadOp> loads);
  LogicalResult decideOwnRings();
  void setStages(Block &block, int64_t stage, StringRef role);
  void decideGathers();

  KernelOp kernel;
  TargetInterface target;
  const schedule::Solver &solver;
  bool isExact;
  Builder builder{kernel.getContext()};
  /// The dots whose count in flight is decided here, and whether the source says when anything
  /// runs.
  DenseSet<Operation *> openDots;
  bool saysTimes = false;
};
} // namespace

/// Which products run on beside their warps though nobody has said for how long. That they do so in
/// the trip that loads for them, whoever decided roles says, too.
void StageDecider::findSaid() {
  kernel.getBody().walk([&](Operation *op) {
    auto dot = dyn_cast<DotOp>(op);
    auto atom = dot ? dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr()) : MmaAtomInterface();
    if (atom && atom.getCompletion() != Completion::InOrder && !dot.getInFlight())
      openDots.insert(dot);
    auto stage = dyn_cast_or_null<IntegerAttr>(getDecision(op, "stage"));
    saysTimes |= (dot && dot.getInFlight()) || getDecision(op, "order") ||
                 (stage && !(dot && stage.getInt() == 0));
  });
}

/// Whether what engines bring and store has its buffers, and roles of the kernel's.
LogicalResult StageDecider::checkAccesses() {
  WalkResult result = kernel.getBody().walk([](Operation *op) -> WalkResult {
    if (!isa<LoadOp, StoreOp>(op) || !getDecision(op, "atom"))
      return WalkResult::advance();
    FailureOr<Attribute> role = requireDecision(op, "role");
    return WalkResult(failure(failed(role) || failed(requireDecision(op, "buffer")) ||
                              failed(findRole(op, cast<StringAttr>(*role).getValue()))));
  });
  return failure(result.wasInterrupted());
}

/// One box of a copy's tensor leaves while the next is written.
void StageDecider::decideStores() {
  kernel.getBody().walk([&](StoreOp store) {
    if (!store.getAtomAttr() || store.getInFlight())
      return;
    FailureOr<RoleAttr> role = findRole(store, getRoleName(store));
    // A small tensor may be one that each copy has all of.
    int64_t boxes = int64_t(countStoredBoxes(store)) / role->getCopies();
    store.setInFlight(std::clamp<int64_t>(boxes - 1, 0, 1));
  });
}

/// What the kernel takes of shared memory, by what is decided so far.
FailureOr<int64_t> StageDecider::countShared() {
  FailureOr<RingPlan> plan = planRings(kernel);
  if (failed(plan))
    return failure();
  SharedPieces found = planSharedPieces(kernel, *plan);
  return schedule::placePieces(found.pieces);
}

/// Gives the rings of these loads so many slots, and says whether that is within so many bytes.
FailureOr<bool> StageDecider::fits(ArrayRef<LoadOp> loads, int64_t depth, int64_t bytes) {
  for (LoadOp load : loads)
    load.setDepth(depth);
  FailureOr<int64_t> taken = countShared();
  if (failed(taken))
    return failure();
  return *taken <= bytes;
}

/// Gives the rings of these loads as many slots as there is room for, at least one and at most so
/// many. Zero if not even one has room.
FailureOr<int64_t> StageDecider::findDepth(ArrayRef<LoadOp> loads, int64_t most, int64_t bytes) {
  for (int64_t depth = most; depth > 0; --depth) {
    FailureOr<bool> does = fits(loads, depth, bytes);
    if (failed(does))
      return failure();
    if (*does)
      return depth;
  }
  return 0;
}

/// Whether an op stands in a loop whose turns are more than programs of a persistent kernel.
static bool isInTrip(Operation *op) {
  for (Operation *loop = op->getParentOp(); loop; loop = loop->getParentOp())
    if (isa<scf::ForOp, scf::WhileOp>(loop) && !loop->hasAttr(kProgramsAttrName))
      return true;
  return false;
}

LogicalResult StageDecider::decideDepths() {
  SmallVector<LoadOp> ahead;
  kernel.getBody().walk([&](LoadOp load) {
    if (load.getBuffer() && isInTrip(load) && !isLoadedByUsers(load))
      ahead.push_back(load);
  });
  SmallVector<LoadOp> open =
      llvm::filter_to_vector(ahead, [&](LoadOp load) { return !isDepthSaid(load); });
  if (ahead.empty() || (open.empty() && openDots.empty()))
    return success();
  for (LoadOp load : ahead)
    if (getLoopOfTrips(load) && !load.getStage()) // behind a condition it comes when that does
      load.setStage(0);
  int64_t shared = target.getChipRecord().sharedBytes;
  FailureOr<int64_t> depth = open.empty() ? 1 : findDepth(open, kMostSlots, shared);
  if (failed(depth))
    return failure();
  if (*depth == 0) {
    FailureOr<RingPlan> plan = planRings(kernel);
    SharedPieces found = planSharedPieces(kernel, *plan);
    InFlightDiagnostic error = open.front().emitOpError("expected room for what loops load in ")
                               << shared << " bytes of shared memory on " << target.getSpelling()
                               << ", got " << schedule::placePieces(found.pieces)
                               << " for one slot of each ring and the rest";
    found.list(error);
    return error;
  }
  if (saysTimes)
    return success();
  if (failed(overlapLoops()))
    return failure();
  decideGathers();
  // Beside a ring of its own a role uses all else as late as what it reads there.
  auto fillsOwn = [](Operation *user) {
    return llvm::any_of(user->getBlock()->getOps<LoadOp>(), [&](LoadOp load) {
      return load.getBuffer() && isLoadedByUsers(load) && getRoleName(load) == getRoleName(user);
    });
  };
  for (LoadOp load : ahead)
    for (Operation *user : load->getUsers())
      if (getLoopOfTrips(user) && !user->hasTrait<OpTrait::IsTerminator>() &&
          !getDecision(user, "stage") && !fillsOwn(user))
        user->setAttr(spellDecision(user, "stage"), builder.getI64IntegerAttr(0));
  return success();
}

/// Whether a dot adds to a value of its loop and is handed on to the next trip, and nothing else.
static bool isCarried(DotOp dot) {
  Block *body = dot->getBlock();
  auto sum = dyn_cast<BlockArgument>(dot.getAccumulator());
  if (!getLoopOfTrips(dot) || !sum || sum.getOwner() != body || !dot->hasOneUse() ||
      !sum.hasOneUse())
    return false;
  // A counted loop has its variable besides, another one what says whether it goes on.
  OpOperand &use = *dot->use_begin();
  int64_t place = sum.getArgNumber() + (isa<scf::ForOp>(body->getParentOp()) ? -1 : 1);
  return use.getOwner() == body->getTerminator() && use.getOperandNumber() == place;
}

/// What goes on from trip to trip is waited for a trip later, if its end is counted. What tells of
/// its end by itself is waited for where its result is used, and by who fills its slot again; what
/// is promoted, in its trip.
void StageDecider::decideDots() {
  kernel.getBody().walk([&](DotOp dot) {
    if (!openDots.contains(dot))
      return;
    bool isCounted =
        cast<MmaAtomInterface>(dot.getAtomAttr()).getCompletion() == Completion::Groups;
    bool goesOn =
        isCounted && !dot.isPromoted() && areReadFromBuffers(dot) && isCarried(dot) && hasRoom(dot);
    dot.setInFlight(goesOn ? 1 : 0);
  });
}

/// Beside a product that reads its operands as they come and is handed on, nothing is left to run.
LogicalResult StageDecider::overlapLoops() {
  FailureOr<RingPlan> plan = planRings(kernel);
  if (failed(plan))
    return failure();
  kernel.getBody().walk([&](Operation *op) {
    if (!isa<scf::ForOp, scf::WhileOp>(op))
      return;
    Block &body = op->getRegions().back().front();
    auto dots = body.getOps<DotOp>();
    if (dots.empty() || !getLoopOfTrips(*dots.begin()) ||
        (llvm::hasSingleElement(dots) && isCarried(*dots.begin()) &&
         areReadFromBuffers(*dots.begin())))
      return;
    if (RoleAttr role = lookUpRole(*dots.begin()))
      overlapLoop(body, *plan, role, target.getChipRecord(), solver, isExact);
  });
  return success();
}

/// Whether a load fills a ring of its own role in a loop, of a depth that nobody has said.
bool StageDecider::isOwn(LoadOp load) {
  Operation *loop = getLoopOfTrips(load);
  return loop && load.getBuffer() && load.getAtomAttr() && !load.getDepth() &&
         !getLoopDepth(load->getBlock()) && isLoadedByUsers(load);
}

/// Whether somebody has said when an op of a block runs that fills no ring.
static bool isSaid(Block &block) {
  return llvm::any_of(block, [](Operation &op) {
    auto load = dyn_cast<LoadOp>(op);
    return getDecision(&op, "stage") && !(load && load.getBuffer());
  });
}

/// What a block's loads into rings need of it, which says where they lie.
static llvm::SetVector<Operation *> findPlaces(Block &block) {
  llvm::SetVector<Operation *> places;
  SmallVector<Value> values;
  for (LoadOp load : block.getOps<LoadOp>())
    if (load.getBuffer())
      llvm::append_range(values, load->getOperands());
  while (!values.empty()) {
    Operation *maker = values.pop_back_val().getDefiningOp();
    if (maker && maker->getBlock() == &block && places.insert(maker))
      llvm::append_range(values, maker->getOperands());
  }
  return places;
}

/// Whether where a block's rings are filled from is itself loaded there: as a page's number, which
/// then is loaded a trip before.
static bool loadsPlaces(Block &block) {
  return !isSaid(block) && llvm::any_of(findPlaces(block), [&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    return load && !load.getBuffer() && !mayStoreLoaded(block.getParentOp(), load);
  });
}

/// All but the loads of a role runs when what they bring is there, if nobody has said of anything
/// when it runs: what could run before would only be kept in registers. Loads into registers are a
/// trip ahead, and gathers with what says where their elements lie. What says where rings are
/// filled from is there when they are, and what tells whether there is another trip, first of all.
void StageDecider::setStages(Block &block, int64_t stage, StringRef role) {
  if (isSaid(block))
    return;
  llvm::SetVector<Operation *> places;
  if (loadsPlaces(block))
    places = findPlaces(block);
  auto asks = dyn_cast<scf::WhileOp>(block.getParentOp());
  llvm::SetVector<Operation *> telling =
      asks ? findTelling(asks).value_or(llvm::SetVector<Operation *>())
           : llvm::SetVector<Operation *>();
  llvm::SetVector<Operation *> gathered = findEarlyGathers(block);
  DenseSet<Operation *> loaded; // the loads among them, and what is made of these
  for (Operation &op : block.without_terminator()) {
    auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
    auto load = dyn_cast<LoadOp>(op);
    if (places.contains(&op) && !telling.contains(&op) && !isa<DotOp>(op) &&
        !(load && load.getBuffer())) {
      bool isMadeOfLoaded = llvm::any_of(op.getOperands(), [&](Value operand) {
        return loaded.contains(operand.getDefiningOp());
      });
      if (!load && !isMadeOfLoaded)
        continue;
      op.setAttr(spellDecision(&op, "stage"), builder.getI64IntegerAttr(load ? 0 : 1));
      if (getRoleName(&op).empty())
        setRoleName(&op, role);
      loaded.insert(&op);
      continue;
    }
    if ((load && load.getBuffer()) || isOfOther(&op, role) ||
        (llvm::none_of(op.getResultTypes(), isTensor) && isMemoryEffectFree(&op)))
      continue;
    bool isEarly = gathered.contains(&op) || (load && !mayStoreLoaded(block.getParentOp(), load));
    int64_t own = telling.contains(&op) ? 0 : isEarly ? std::max<int64_t>(stage - 1, 0) : stage;
    op.setAttr(spellDecision(&op, "stage"), builder.getI64IntegerAttr(own));
    if (getRoleName(&op).empty())
      setRoleName(&op, role);
  }
}

/// Beside rings that another role fills, or none, gathers of a loop run a trip ahead of all else
/// that their role does there, if nobody has said of anything when it runs.
void StageDecider::decideGathers() {
  kernel.getBody().walk([&](Operation *loop) {
    if (!isa<scf::ForOp, scf::WhileOp>(loop) || loop->hasAttr(kProgramsAttrName))
      return;
    Block &block = loop->getRegions().back().front();
    llvm::SetVector<Operation *> gathered = findEarlyGathers(block);
    auto dots = block.getOps<DotOp>();
    if (gathered.empty() || dots.empty() || isSaid(block))
      return;
    // A product that says no role runs where what it reads is gathered.
    StringRef role = getRoleName(*dots.begin());
    for (Operation *op : gathered)
      role = role.empty() ? getRoleName(op) : role;
    for (Operation &op : block.without_terminator()) {
      bool isOthers = !getRoleName(&op).empty() && getRoleName(&op) != role;
      bool isNumber =
          llvm::none_of(op.getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
      if (isOthers || isSharedScalar(&op) || (isNumber && isMemoryEffectFree(&op)))
        continue;
      op.setAttr(spellDecision(&op, "stage"), builder.getI64IntegerAttr(!gathered.contains(&op)));
      setRoleName(&op, role);
    }
  });
}

/// How many slots are worth their code.
int64_t StageDecider::countMostOwnSlots(ArrayRef<LoadOp> loads) {
  auto isLong = [&](LoadOp load) {
    return isWrittenOut(*load->getBlock(), target.getChipRecord());
  };
  return llvm::any_of(loads, isLong) ? kMostLongSlots : kMostOwnSlots;
}

/// Copies run as far ahead as shared memory has slots, which two programs of a core share if it
/// does for that. What goes through registers is a trip ahead, of two slots where there are two.
///
/// Dots that run on beside their warps have all of shared memory, and slots more for those that
/// they read while the next trips begin, if there are any.
LogicalResult StageDecider::decideOwnRings() {
  SmallVector<LoadOp> own, copied, written, said;
  kernel.getBody().walk([&](LoadOp load) {
    if (isOwn(load))
      own.push_back(load);
  });
  nameApart(kernel, own);
  for (LoadOp load : own)
    (findFirstStage(load) ? said : isThroughRegisters(load) ? written : copied).push_back(load);
  if (failed(giveSaidSlots(kernel, said)))
    return failure();
  if (copied.empty() && written.empty()) {
    if (!hasRings(kernel))
      decideGathers();
    return success();
  }
  constexpr int64_t kFewSlots = 3;
  // Each of two programs of a core leaves so much of its half.
  constexpr int64_t kLeft = 2048;
  auto loads = llvm::to_vector(llvm::concat<LoadOp>(copied, written));
  SmallVector<DotOp> dots = findOwnDots(loads);
  int64_t shared = target.getChipRecord().sharedBytes, depth = 1, held = 0;
  int64_t half = dots.empty() ? shared / 2 - kLeft : shared;
  for (DotOp dot : dots)
    held = std::max<int64_t>(held, dot.getInFlight().value_or(0));
  FailureOr<bool> hasTwo = fits(loads, 2 + held, half);
  if (failed(hasTwo))
    return failure();
  if (!*hasTwo && held > 0 &&
      llvm::all_of(dots, [&](DotOp dot) { return openDots.contains(dot); })) {
    for (DotOp dot : dots)
      dot.setInFlight(0);
    held = 0;
    hasTwo = fits(loads, 2, half);
    if (failed(hasTwo))
      return failure();
  }
  for (LoadOp load : written)
    load.setDepth(*hasTwo ? 2 + held : 1);
  if (!copied.empty()) {
    FailureOr<bool> isShared = fits(copied, kFewSlots, half);
    if (failed(isShared))
      return failure();
    FailureOr<int64_t> most =
        findDepth(copied, countMostOwnSlots(copied) + held, *isShared ? half : shared);
    if (failed(most))
      return failure();
    depth = std::max<int64_t>(*most, 1);
  }
  // Of one slot a trip reads what it copies. What goes through registers is a trip ahead. None is
  // of what a trip before may store to.
  bool isAhead = depth > 1 || !written.empty();
  int64_t copiedAhead = std::max<int64_t>(depth - 1 - held, isAhead);
  auto getAhead = [&](LoadOp load) -> int64_t {
    auto loop = load->getParentOfType<LoopLikeOpInterface>();
    if (loop && mayStoreLoaded(loop, load))
      return 0;
    return isThroughRegisters(load) ? 1 : copiedAhead;
  };
  llvm::MapVector<Block *, SmallVector<LoadOp>> loops;
  for (LoadOp load : loads)
    loops[load->getBlock()].push_back(load);
  for (auto &[loop, its] : loops) {
    int64_t first = loadsPlaces(*loop), read = 0;
    for (LoadOp load : its)
      read = std::max({read, getAhead(load),
                       isThroughRegisters(load) ? getWriteStage(load).value_or(-1) + 1 : 0});
    for (LoadOp load : its)
      if (!load.getStage())
        load.setStage(first + read - getAhead(load));
    setStages(*loop, first + read, getRoleName(its.front()));
  }
  return success();
}

LogicalResult StageDecider::run() {
  findSaid();
  if (failed(checkAccesses()))
    return failure();
  // What is decided behind this has places of its own.
  kernel.getBody().walk([](Operation *loop) {
    if (isa<scf::ForOp, scf::WhileOp>(loop))
      completeOrders(loop->getRegions().back().front());
  });
  decideStores();
  decideDots();
  DenseSet<LoadOp> open;
  kernel.getBody().walk([&](LoadOp load) {
    if (load.getBuffer() && !load.getStage() && !getDecision(load, "order"))
      open.insert(load);
  });
  DenseSet<LoadOp> openDepths;
  kernel.getBody().walk([&](LoadOp load) {
    if (load.getBuffer() && !isDepthSaid(load))
      openDepths.insert(load);
  });
  if (failed(decideOwnRings()) || failed(decideDepths()))
    return failure();
  delayLoads(kernel, open, target.getChipRecord());
  if (failed(giveSlotsForLags(kernel, openDepths, target.getChipRecord())))
    return failure();
  return decideWriteStages(kernel, target.getChipRecord());
}

namespace {
struct DecideStages : kiln::impl::DecideStagesBase<DecideStages> {
  using DecideStagesBase::DecideStagesBase;
  explicit DecideStages(SharedSolver solver) : given(std::move(solver)) {}

  SharedSolver given;

  void runOnOperation() override {
    std::string why;
    SharedSolver used = given ? given : schedule::makeSolver(solver, why);
    if (!used) {
      emitError(UnknownLoc::get(&getContext())) << why;
      return signalPassFailure();
    }
    bool isExact = given || solver == "exact";
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (kernel->hasAttr(kRolesAttrName) &&
          failed(StageDecider(kernel, *target, *used, isExact).run()))
        return signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> kiln::createDecideStages(SharedSolver solver) {
  return solver ? std::make_unique<DecideStages>(std::move(solver)) : createDecideStages();
}
