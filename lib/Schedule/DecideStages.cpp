// When the ops of roles run whose schedule nobody has pinned, and how deep their rings are.
#include "Decisions.h"
#include "GlobalAccesses.h"
#include "LoopProblem.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
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
/// own ring, and of one whose trips have several products.
static constexpr int64_t kMostSlots = 8, kMostOwnSlots = 4, kMostLongSlots = 2;
/// What barriers and alignment may take of shared memory.
static constexpr int64_t kReserve = 2048;

namespace {
class StageDecider {
public:
  StageDecider(KernelOp kernel, TargetInterface target) : kernel(kernel), target(target) {}
  LogicalResult run();

private:
  bool isUndecided();
  LogicalResult checkAccesses();
  void decideStores();
  LogicalResult decideDepths();
  void overlapLoops();
  void decideDots();
  int64_t countFixed();
  bool isOwn(LoadOp load);
  SmallVector<DotOp> findOwnDots(ArrayRef<LoadOp> loads);
  int64_t countMostOwnSlots(ArrayRef<LoadOp> loads);
  void decideOwnRings();
  void setStages(Block &block, int64_t stage, StringRef role);

  KernelOp kernel;
  TargetInterface target;
  Builder builder{kernel.getContext()};
  bool decidesDots = false;
};
} // namespace

/// Whether some product runs on beside its warps and nobody has said for how long.
bool StageDecider::isUndecided() {
  return kernel.getBody()
      .walk([](DotOp dot) {
        auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr());
        bool isOpen = atom && atom.getCompletion() != Completion::InOrder && !dot.getInFlight();
        return isOpen ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
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
    if (!store.getAtomAttr())
      return;
    FailureOr<RoleAttr> role = findRole(store, getRoleName(store));
    int64_t box = ShapedType::getNumElements(cast<BufferType>(*store.getBuffer()).getShape());
    int64_t boxes = store.getValue().getType().getNumElements() / role->getCopies() / box;
    store.setInFlight(std::min<int64_t>(1, boxes - 1));
  });
}

/// What all but the loads of loops take of shared memory.
int64_t StageDecider::countFixed() {
  int64_t fixed = kReserve, warps = 0;
  for (auto role : kernel->getAttrOfType<ArrayAttr>(kRolesAttrName).getAsRange<RoleAttr>())
    warps += role.getTotalWarps();
  kernel.getBody().walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op);
        load && load.getBuffer() && !load->getParentOfType<scf::ForOp>())
      fixed += getBufferBytes(cast<BufferType>(*load.getBuffer()));
    if (auto store = dyn_cast<StoreOp>(op); store && store.getBuffer())
      fixed += (*store.getInFlight() + 1) * findRole(store, getRoleName(store))->getCopies() *
               getBufferBytes(cast<BufferType>(*store.getBuffer()));
    // Each warp may hand on a part of its own.
    if (auto reduce = dyn_cast<ReduceOp>(op))
      for (Value result : reduce.getResults()) {
        auto type = cast<RankedTensorType>(result.getType());
        fixed +=
            type.getNumElements() * warps * int64_t(getSharedElementBytes(type.getElementType()));
      }
    if (auto conversion = dyn_cast<ConvertLayoutOp>(op);
        conversion &&
        (!conversion.getHow() || conversion.getHow()->getKind() == ConversionKind::Memory)) {
      RankedTensorType type = conversion.getType();
      fixed += type.getNumElements() * int64_t(getSharedElementBytes(type.getElementType()));
    }
  });
  return fixed;
}

/// Whether the role that loads is the one that uses what it loads.
static bool isLoadedByUsers(LoadOp load) {
  return llvm::all_of(load->getUsers(),
                      [&](Operation *user) { return getRoleName(user) == getRoleName(load); });
}

LogicalResult StageDecider::decideDepths() {
  int64_t fixed = countFixed(), looped = 0;
  SmallVector<LoadOp> ahead;
  kernel.getBody().walk([&](LoadOp load) {
    if (!load.getBuffer() || !load->getParentOfType<scf::ForOp>() || isLoadedByUsers(load))
      return;
    ahead.push_back(load);
    looped += getBufferBytes(cast<BufferType>(*load.getBuffer()));
  });
  if (ahead.empty())
    return success();
  int64_t depth = std::min(kMostSlots, (target.getChipRecord().sharedBytes - fixed) / looped);
  if (depth < 1)
    return ahead.front().emitOpError("expected room for what loops load in ")
           << target.getChipRecord().sharedBytes << " bytes of shared memory, got " << looped
           << " beside " << fixed << " of the rest";
  for (LoadOp load : ahead) {
    load.setStage(0);
    load.setDepth(depth);
  }
  overlapLoops();
  for (LoadOp load : ahead)
    for (Operation *user : load->getUsers())
      if (isa<scf::ForOp>(user->getParentOp()) && !user->hasTrait<OpTrait::IsTerminator>() &&
          !getDecision(user, "stage"))
        user->setAttr(spellDecision(user, "stage"), builder.getI64IntegerAttr(0));
  return success();
}

/// Whether a dot adds to a value of its loop and is handed on to the next trip, and nothing else.
static bool isCarried(DotOp dot) {
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  auto sum = dyn_cast<BlockArgument>(dot.getAccumulator());
  if (!loop || !sum || sum.getOwner() != loop.getBody() || !dot->hasOneUse() || !sum.hasOneUse())
    return false;
  OpOperand &use = *dot->use_begin();
  return use.getOwner() == loop.getBody()->getTerminator() &&
         use.getOperandNumber() + 1 == sum.getArgNumber();
}

/// Whether a dot reads no operand from registers. These are read until the wait, and the next trip
/// writes them.
static bool areReadFromBuffers(DotOp dot) {
  return isReadFromBuffer(dot.getAMutable()) && isReadFromBuffer(dot.getBMutable());
}

/// What goes on from trip to trip is waited for a trip later, if its end is counted. What tells of
/// its end by itself is waited for where its result is used, and by who fills its slot again; what
/// is promoted, in its trip.
void StageDecider::decideDots() {
  kernel.getBody().walk([&](DotOp dot) {
    bool isCounted =
        cast<MmaAtomInterface>(dot.getAtomAttr()).getCompletion() == Completion::Groups;
    bool goesOn = isCounted && !dot.getPromote() && areReadFromBuffers(dot) && isCarried(dot);
    dot.setInFlight(goesOn ? 1 : 0);
  });
}

/// Beside a product that reads its operands as they come and is handed on, nothing is left to run.
void StageDecider::overlapLoops() {
  kernel.getBody().walk([&](scf::ForOp loop) {
    auto dots = loop.getBody()->getOps<DotOp>();
    if (dots.empty() || (llvm::hasSingleElement(dots) && isCarried(*dots.begin()) &&
                         areReadFromBuffers(*dots.begin())))
      return;
    if (RoleAttr role = lookUpRole(*dots.begin()))
      overlapLoop(loop, role, target.getChipRecord());
  });
}

/// Whether a load fills a ring of its own role in a loop, of a depth that nobody has said.
bool StageDecider::isOwn(LoadOp load) {
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  return loop && load.getBuffer() && load.getAtomAttr() && !load.getDepth() &&
         !loop->hasAttr(kDepthAttrName) && isLoadedByUsers(load);
}

/// All but the loads runs when what they bring is there, if nobody has said of anything when it
/// runs: what could run before would only be kept in registers. Loads into registers are a trip
/// ahead.
void StageDecider::setStages(Block &block, int64_t stage, StringRef role) {
  auto isSaid = [&](Operation &op) {
    auto load = dyn_cast<LoadOp>(op);
    return getDecision(&op, "stage") && !(load && load.getBuffer());
  };
  if (llvm::any_of(block, isSaid))
    return;
  for (Operation &op : block.without_terminator()) {
    auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
    auto load = dyn_cast<LoadOp>(op);
    if ((load && load.getBuffer()) ||
        (llvm::none_of(op.getResultTypes(), isTensor) && isMemoryEffectFree(&op)))
      continue;
    bool isEarly = load && !mayStoreLoaded(cast<scf::ForOp>(block.getParentOp()), load);
    op.setAttr(spellDecision(&op, "stage"), builder.getI64IntegerAttr(isEarly ? stage - 1 : stage));
    if (getRoleName(&op).empty())
      setRoleName(&op, role);
  }
}

/// How many slots are worth their code: where a slot must be known, a loop is written out once for
/// each, and a trip of several products is long.
int64_t StageDecider::countMostOwnSlots(ArrayRef<LoadOp> loads) {
  auto isLong = [](LoadOp load) { return llvm::range_size(load->getBlock()->getOps<DotOp>()) > 1; };
  bool isFew = target.getChipRecord().knownSlots && llvm::any_of(loads, isLong);
  return isFew ? kMostLongSlots : kMostOwnSlots;
}

/// The dots that run on beside their warps while they read what these loads bring.
SmallVector<DotOp> StageDecider::findOwnDots(ArrayRef<LoadOp> loads) {
  llvm::SmallSetVector<DotOp, 2> dots;
  for (LoadOp load : loads)
    for (OpOperand &use : load.getResult().getUses())
      if (isReadFromBuffer(use))
        dots.insert(cast<DotOp>(use.getOwner()));
  return dots.takeVector();
}

/// Copies run as far ahead as shared memory has slots, which two programs of a core share if it
/// does for that. What goes through registers is a trip ahead, of two slots where there are two.
///
/// Dots that run on beside their warps have all of shared memory, and a slot more for those that
/// they read while the next trip begins, if there is one.
void StageDecider::decideOwnRings() {
  SmallVector<LoadOp> copied, written;
  int64_t copiedBytes = 0, writtenBytes = 0;
  kernel.getBody().walk([&](LoadOp load) {
    if (!isOwn(load))
      return;
    bool isWritten = isThroughRegisters(load);
    (isWritten ? written : copied).push_back(load);
    (isWritten ? writtenBytes : copiedBytes) += getBufferBytes(cast<BufferType>(*load.getBuffer()));
  });
  int64_t shared = target.getChipRecord().sharedBytes, fixed = countFixed();
  int64_t all = shared - fixed, half = shared / 2 - fixed;
  SmallVector<LoadOp> loads = llvm::to_vector(llvm::concat<LoadOp>(copied, written));
  SmallVector<DotOp> dots = findOwnDots(loads);
  if (!dots.empty())
    half = all;
  int64_t held = 0;
  for (DotOp dot : dots)
    held = std::max<int64_t>(held, dot.getInFlight().value_or(0));
  if (decidesDots && (2 + held) * (copiedBytes + writtenBytes) > all) {
    for (DotOp dot : dots)
      dot.setInFlight(0);
    held = 0;
  }
  int64_t writtenDepth = (2 + held) * (copiedBytes + writtenBytes) <= half ? 2 + held : 1;
  int64_t depth = 1;
  if (!copied.empty()) {
    all -= writtenDepth * writtenBytes;
    half -= writtenDepth * writtenBytes;
    depth = half >= 3 * copiedBytes ? half / copiedBytes : all / copiedBytes;
    depth = std::clamp<int64_t>(depth, 1, countMostOwnSlots(copied) + held);
  }
  int64_t read = copied.empty() ? 1 : std::max<int64_t>(depth - 1 - held, 1);
  for (LoadOp load : copied) {
    load.setDepth(depth);
    if (!load.getStage())
      load.setStage(0);
  }
  for (LoadOp load : written) {
    load.setDepth(writtenDepth);
    if (!load.getStage())
      load.setStage(read - 1);
  }
  llvm::MapVector<Block *, StringRef> loops;
  for (LoadOp load : loads)
    loops.insert({load->getBlock(), getRoleName(load)});
  for (auto [loop, role] : loops)
    setStages(*loop, read, role);
}

LogicalResult StageDecider::run() {
  decidesDots = isUndecided();
  if (decidesDots && failed(checkAccesses()))
    return failure();
  if (decidesDots) {
    decideStores();
    decideDots();
  }
  decideOwnRings();
  return decidesDots ? decideDepths() : success();
}

namespace {
struct DecideStages : kiln::impl::DecideStagesBase<DecideStages> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (kernel->hasAttr(kRolesAttrName) && failed(StageDecider(kernel, *target).run()))
        return signalPassFailure();
  }
};
} // namespace
