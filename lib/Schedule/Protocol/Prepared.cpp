// Whether roles find the barriers of their channels, and their tensor memory, when they begin, and
// give the latter back. Who makes them tells the others as everywhere: by a fence and a barrier.
// And whether those meet at barriers who can.
#include "Protocol.h"
#include "kiln/Target/Common/Meetings.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

namespace {
/// What follows an op up to another one in the kernel's body, step by step.
class Steps {
public:
  explicit Steps(ArrayRef<std::optional<FenceKind>> steps) : steps(steps.begin(), steps.end()) {}
  /// A fence takes a step that waits for it, a barrier one that waits for none.
  void pass(Operation *op) {
    auto fence = dyn_cast<FenceOp>(op);
    bool isBarrier = isa<BarrierOp, ClusterBarrierOp>(op);
    if (!isDone() && (fence ? steps[taken] == fence.getKind() : isBarrier && !steps[taken]))
      ++taken;
  }
  void begin() { taken = 0; }
  bool isDone() const { return taken == steps.size(); }

private:
  SmallVector<std::optional<FenceKind>> steps;
  size_t taken = 0;
};
} // namespace

/// Channels are made by one thread, which lets others see them.
static LogicalResult checkMade(WarpGroupsOp groups) {
  const std::optional<FenceKind> steps[] = {FenceKind::Barriers, std::nullopt};
  Steps told(steps);
  for (Operation &op : *groups->getBlock()) {
    if (&op == groups)
      break;
    if (auto one = dyn_cast<OneThreadOp>(op))
      for (Operation &inner : one.getBody().front())
        isa<InitOp>(inner) ? told.begin() : told.pass(&inner);
    else
      told.pass(&op);
  }
  if (told.isDone())
    return success();
  return groups.emitOpError("expected a tile.fence barriers behind what makes channels, and a "
                            "tile.barrier behind that");
}

/// Tensor memory that is set aside in front of roles is given back behind them.
static LogicalResult checkTensors(WarpGroupsOp groups, AllocTensorOp alloc) {
  const std::optional<FenceKind> steps[] = {FenceKind::TensorBefore, std::nullopt,
                                            FenceKind::TensorAfter};
  Steps told(steps), ended(steps);
  Operation *op = alloc;
  while ((op = op->getNextNode()) && op != groups)
    told.pass(op);
  if (!op || !told.isDone())
    return alloc.emitOpError("expected a tile.fence tensor_before, a tile.barrier and a tile.fence "
                             "tensor_after between it and the roles");
  while ((op = op->getNextNode()) && !isa<FreeTensorOp>(op))
    ended.pass(op);
  if (!op || !ended.isDone() || !llvm::equal(op->getOperands(), alloc->getOperands()))
    return alloc.emitOpError("expected a tile.fence tensor_before, a tile.barrier, a tile.fence "
                             "tensor_after and a tile.free_tensor of the same behind the roles");
  return success();
}

/// A channel that makes a barrier for the ends of dots makes it for as many as tell it of theirs.
static LogicalResult checkEnds(ChannelOp channel) {
  auto init = cast<InitOp>(*llvm::find_if(channel->getUsers(), llvm::IsaPred<InitOp>));
  auto said = init->getAttrOfType<IntegerAttr>(kEndsAttrName);
  int64_t ends = countEnds(channel), got = said ? said.getInt() : 0;
  if (ends == got)
    return success();
  return init.emitOpError("expected '") << kEndsAttrName << "' to count the threads that end dots "
                                        << "by the channel, " << ends << ", got " << got;
}

/// Once it is decided anywhere who meets, it is everywhere, as the chip can.
static LogicalResult checkMeetings(WarpGroupsOp groups) {
  SmallVector<Operation *> meetings;
  groups.walk([&](Operation *op) {
    if (mayMeet(op) && WarpGroupsOp::getRoleOf(op))
      meetings.push_back(op);
  });
  if (llvm::none_of(meetings, [](Operation *op) { return op->hasAttr(kMeetsAttrName); }))
    return success();
  return failure(llvm::any_of(meetings, [](Operation *op) { return failed(requireMeeting(op)); }));
}

LogicalResult protocol::checkPrepared(WarpGroupsOp groups) {
  if (failed(checkMeetings(groups)))
    return failure();
  SmallVector<ChannelOp> channels;
  for (Value capture : groups.getCaptures())
    if (auto channel = capture.getDefiningOp<ChannelOp>();
        channel && !channel.getResult().getType().getOwn())
      channels.push_back(channel);
  auto count = [](ChannelOp channel) {
    return llvm::count_if(channel->getUsers(), llvm::IsaPred<InitOp>);
  };
  // Nothing of it stands there before tile-prepare-roles.
  if (llvm::none_of(channels, count))
    return success();
  for (ChannelOp channel : channels)
    if (count(channel) != 1)
      return channel.emitOpError("expected one tile.init, got ") << count(channel);
  for (ChannelOp channel : channels)
    if (failed(checkEnds(channel)))
      return failure();
  if (failed(checkMade(groups)))
    return failure();
  for (auto alloc : groups->getBlock()->getOps<AllocTensorOp>())
    if (failed(checkTensors(groups, alloc)))
      return failure();
  return success();
}
