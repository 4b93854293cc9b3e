// What says which threads run something, what stays in front of what, and where launches meet.
#include "../ThreadPatterns.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

LogicalResult kiln::requireOneThread(Operation *op, bool ofEachWarp) {
  auto one = op->getParentOfType<OneThreadOp>();
  if (one && (ofEachWarp || OneThreadOp::encloses(op)))
    return success();
  return op->emitOpError("expected to stand in tile.one_thread")
         << (ofEachWarp ? " each_warp" : "") << ", since one thread does it for all";
}

LogicalResult kiln::emitForOne(ThreadContext &context, Operation *op, bool oneThread,
                               function_ref<void()> emit) {
  if (oneThread)
    context.emitIf(context.isFirstThread(), emit);
  else if (failed(requireOneThread(op)))
    return failure();
  else
    emit();
  return success();
}

/// The lanes of a warp meet in front of what one of them tells of all.
static LogicalResult lowerOneThread(ThreadContext &context, OneThreadOp op) {
  Value first;
  if (op.getEachWarp()) {
    auto releases = op.getBody().front().getOps<ReleaseOp>();
    if (llvm::any_of(releases, [](ReleaseOp release) { return release.getLanes(); }))
      context.sync.meetLanes(context, context.getLoc());
    first = arith::CmpIOp::create(context, arith::CmpIPredicate::eq, context.lane, context.i32(0));
  } else {
    first = context.isFirstThread();
  }
  LogicalResult lowered = success();
  context.emitIf(first, [&] { lowered = context.lower(op.getBody().front()); });
  return lowered;
}

static LogicalResult lowerFence(ThreadContext &context, FenceOp op) {
  FenceKind kind = op.getKind();
  bool isOfTensors = kind == FenceKind::TensorBefore || kind == FenceKind::TensorAfter;
  if (isOfTensors && !context.chip.figures.tensorMemory)
    return emitUnsupported(op, context.target, "expected a chip that has tensor memory");
  switch (kind) {
  case FenceKind::TensorBefore:
    context.sync.publishTensor(context, context.getLoc());
    break;
  case FenceKind::TensorAfter:
    context.sync.observeTensor(context, context.getLoc());
    break;
  case FenceKind::Shared:
    context.sync.publishShared(context, context.getLoc());
    break;
  case FenceKind::Barriers:
    context.sync.publishBarriers(context, context.getLoc());
    break;
  }
  return success();
}

static LogicalResult lowerPriority(ThreadContext &context, PriorityOp op) {
  if (!context.chip.priorities)
    return emitUnsupported(op, context.target, "expected a chip whose warps have priorities");
  context.sync.setPriority(context, context.getLoc(), op.getLevel());
  return success();
}

static LogicalResult lowerGroup(ThreadContext &context, ScheduleGroupOp op) {
  if (!context.sync.ordersInstructions())
    return emitUnsupported(op, context.target, "expected a chip whose instructions have an order");
  context.sync.orderInstructions(context, context.getLoc(), op.getKind(), op.getCount(),
                                 op.getPipeline());
  return success();
}

static LogicalResult lowerClusterBarrier(ThreadContext &context, ClusterBarrierOp op) {
  if (!context.sync.hasClusters())
    return emitUnsupported(op, context.target, "expected a chip that has clusters");
  context.sync.meetCluster(context, context.getLoc());
  return success();
}

/// Of launches that meet on a stream.
template <typename OpTy>
static LogicalResult lowerOverlap(ThreadContext &context, OpTy op) {
  if (!context.sync.overlapsLaunches())
    return emitUnsupported(op, context.target,
                           "expected a chip whose kernels wait for those before them");
  if constexpr (std::is_same_v<OpTy, LaunchDependentsOp>)
    context.sync.launchDependents(context, context.getLoc());
  else
    context.sync.waitDependencies(context, context.getLoc());
  return success();
}

void kiln::populateThreadPatterns(ThreadPatterns &patterns) {
  patterns.addScheduled<OneThreadOp>(lowerOneThread, Takes::Nothing);
  patterns.addScheduled<FenceOp>(lowerFence, [](FenceOp op) {
    return op.getKind() == FenceKind::Barriers ? Takes::Nothing : Takes::Engines;
  });
  patterns.addScheduled<PriorityOp>(lowerPriority, Takes::Nothing);
  patterns.addScheduled<ScheduleBarrierOp>(
      [](ThreadContext &context, ScheduleBarrierOp) {
        context.sync.orderSchedule(context, context.getLoc());
      },
      Takes::Nothing);
  patterns.addScheduled<ScheduleGroupOp>(lowerGroup, Takes::Nothing);
  patterns.addScheduled<WaitSharedOp>(
      [](ThreadContext &context, WaitSharedOp) {
        context.sync.waitForShared(context, context.getLoc());
      },
      Takes::Nothing);
  patterns.add<ClusterBarrierOp>(lowerClusterBarrier);
  patterns.add<LaunchDependentsOp>(lowerOverlap<LaunchDependentsOp>);
  patterns.add<WaitDependenciesOp>(lowerOverlap<WaitDependenciesOp>);
}
