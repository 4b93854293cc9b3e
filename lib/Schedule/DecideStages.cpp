// When the ops of roles run whose schedule nobody has pinned, and how deep their rings are.
#include "Decisions.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDESTAGES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// More slots than these hide no more of a copy's latency.
static constexpr int64_t kMostSlots = 8;
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
  void decideDots();

  KernelOp kernel;
  TargetInterface target;
  Builder builder{kernel.getContext()};
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

LogicalResult StageDecider::decideDepths() {
  int64_t fixed = kReserve, looped = 0;
  SmallVector<LoadOp> ahead;
  int64_t warps = 0;
  for (auto role : kernel->getAttrOfType<ArrayAttr>(kRolesAttrName).getAsRange<RoleAttr>())
    warps += role.getTotalWarps();
  kernel.getBody().walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op); load && load.getBuffer()) {
      int64_t bytes = getBufferBytes(cast<BufferType>(*load.getBuffer()));
      if (load->getParentOfType<scf::ForOp>()) {
        ahead.push_back(load);
        looped += bytes;
      } else {
        fixed += bytes;
      }
    }
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
    for (Operation *user : load->getUsers())
      if (isa<scf::ForOp>(user->getParentOp()) && !user->hasTrait<OpTrait::IsTerminator>())
        user->setAttr(spellDecision(user, "stage"), builder.getI64IntegerAttr(0));
  }
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

/// What goes on from trip to trip is waited for a trip later, if its end is counted. What tells of
/// its end by itself is waited for where its result is used, and by who fills its slot again.
void StageDecider::decideDots() {
  kernel.getBody().walk([&](DotOp dot) {
    bool isCounted =
        cast<MmaAtomInterface>(dot.getAtomAttr()).getCompletion() == Completion::Groups;
    // Registers are read until the wait, and the next trip writes them.
    bool isFromBuffers = isReadFromBuffer(dot.getAMutable()) && isReadFromBuffer(dot.getBMutable());
    dot.setInFlight(isCounted && isFromBuffers && isCarried(dot) ? 1 : 0);
  });
}

LogicalResult StageDecider::run() {
  if (!isUndecided())
    return success();
  if (failed(checkAccesses()))
    return failure();
  decideStores();
  decideDots();
  return decideDepths();
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
