// Makes what roles find when they begin: maps of views are asked for, barriers of channels made,
// and tensor memory is set aside. What they have started there is waited for when they end.
//
// All that one thread can do for the program stands in one region, and all threads meet once behind
// it, however many channels there are.
#include "Meetings.h"
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_PREPAREROLES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// What copies of one kind share: a map of a kernel's argument for boxes of one shape.
struct Map {
  ArgumentView view;
  CopyBoxes boxes;
  BufferType buffer;
  Attribute atom;
  DenseI64ArrayAttr dropped;
  Location loc;

  bool isSame(const Map &other) const {
    return view.argument == other.view.argument && view.dims == other.view.dims &&
           boxes.box == other.boxes.box && boxes.swizzle == other.boxes.swizzle;
  }
};

class RolePreparer {
public:
  explicit RolePreparer(KernelOp kernel) : kernel(kernel) {}
  void prepare();

private:
  template <typename CopyOp>
  void addMap(CopyOp copy);
  void setAside(OpBuilder &builder);

  KernelOp kernel;
  SmallVector<Map, 2> maps;
  SmallVector<ChannelOp> channels;
  /// Those whose slots lie in tensor memory.
  SmallVector<Value> sums;
};
} // namespace

/// Which argument of the kernel a view is that a role may have captured.
static std::optional<ArgumentView> findKernelView(Value view) {
  std::optional<ArgumentView> found = findArgumentView(view);
  while (found) {
    auto groups = dyn_cast<WarpGroupsOp>(found->argument.getOwner()->getParentOp());
    if (!groups)
      return isa<KernelOp>(found->argument.getOwner()->getParentOp()) ? found : std::nullopt;
    std::optional<ArgumentView> outer =
        findArgumentView(groups.getCaptures()[found->argument.getArgNumber()]);
    if (!outer)
      return std::nullopt;
    for (int64_t &dim : found->dims)
      dim = outer->dims[dim];
    found->argument = outer->argument;
  }
  return std::nullopt;
}

/// Copies that no engine makes need no map; of those that one cannot make the lowering says why.
template <typename CopyOp>
void RolePreparer::addMap(CopyOp copy) {
  BufferType buffer = copy.getBuffer().getType();
  std::optional<CopyBoxes> boxes = getCopyBoxes(copy.getAtom(), buffer, copy.getDropped());
  std::optional<ArgumentView> view = findKernelView(copy.getView());
  if (!boxes || !view)
    return;
  Map map{*view, *boxes, buffer, copy.getAtom(), copy.getDroppedAttr(), copy.getLoc()};
  if (llvm::none_of(maps, [&](const Map &other) { return other.isSame(map); }))
    maps.push_back(map);
}

/// Threads learn of tensor memory at the barrier behind it, and of its end by one of their own, or
/// where the cluster meets.
void RolePreparer::setAside(OpBuilder &builder) {
  Location loc = sums.front().getLoc();
  // The first is there in every program.
  Attribute first = builder.getI64IntegerAttr(0);
  AllocTensorOp::create(builder, loc, sums)->setAttr(kByWarpAttrName, first);
  FenceOp::create(builder, loc, FenceKind::TensorBefore);
  auto groups = *kernel.getBody().getOps<WarpGroupsOp>().begin();
  OpBuilder behind(groups);
  behind.setInsertionPointAfter(groups);
  FenceOp::create(behind, loc, FenceKind::TensorBefore);
  if (auto meeting = dyn_cast<ClusterBarrierOp>(*behind.getInsertionPoint()))
    behind.setInsertionPointAfter(meeting);
  else
    BarrierOp::create(behind, loc);
  FenceOp::create(behind, loc, FenceKind::TensorAfter);
  FreeTensorOp::create(behind, loc, sums)->setAttr(kByWarpAttrName, first);
}

/// Whether some slot is given back when dots commit, behind the last sum that is committed.
static bool endsUnawaited(Region &role) {
  auto isAwaited = [&](Operation *op) {
    for (; op != role.getParentOp(); op = op->getParentOp())
      for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
        if (next->walk([](CommitOp) { return WalkResult::interrupt(); }).wasInterrupted())
          return true;
    return false;
  };
  return role
      .walk([&](ReleaseOp release) {
        return release.getCommit() && !isAwaited(release) ? WalkResult::interrupt()
                                                          : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Where nobody waits for a role's last products, it does before it ends.
static void endDots(Region &role) {
  CommitOp last;
  role.walk([&](CommitOp commit) {
    if (isa<BlockArgument>(commit.getChannel()))
      last = commit;
  });
  if (!last || !endsUnawaited(role))
    return;
  OpBuilder builder = OpBuilder::atBlockEnd(&role.front());
  auto one = OneThreadOp::create(builder, last.getLoc(), /*each_warp=*/false);
  OpBuilder inside = OpBuilder::atBlockBegin(&one.getBody().emplaceBlock());
  EndDotsOp::create(inside, last.getLoc(), last.getChannel());
}

void RolePreparer::prepare() {
  kernel.getBody().walk([&](WarpGroupsOp groups) {
    for (Region &role : groups.getBodies())
      endDots(role);
  });
  kernel.getBody().walk([&](Operation *op) {
    if (auto in = dyn_cast<CopyInOp>(op))
      addMap(in);
    else if (auto out = dyn_cast<CopyOutOp>(op))
      addMap(out);
  });
  makeMeetingPlaces(kernel);
  // Nothing that the program computes or waits for is in front of it.
  Block &body = kernel.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (ChannelOp channel : llvm::to_vector(body.getOps<ChannelOp>())) {
    channel->moveBefore(&body, builder.getInsertionPoint());
    builder.setInsertionPointAfter(channel);
    ChannelType type = channel.getResult().getType();
    if (!type.getOwn())
      channels.push_back(channel);
    if (type.getAccumulator())
      sums.push_back(channel);
  }
  if (maps.empty() && channels.empty())
    return;
  SmallVector<Value> views;
  for (Map &map : maps)
    views.push_back(llvm::is_sorted(map.view.dims)
                        ? Value(map.view.argument)
                        : turnView(builder, map.loc, map.view.argument, map.view.dims));
  Location loc = channels.empty() ? kernel.getLoc() : channels.front().getLoc();
  auto one = OneThreadOp::create(builder, loc, /*each_warp=*/false);
  OpBuilder inside = OpBuilder::atBlockBegin(&one.getBody().emplaceBlock());
  for (auto [map, view] : llvm::zip_equal(maps, views))
    PrefetchOp::create(inside, map.loc, view, map.buffer, map.atom, map.dropped);
  for (ChannelOp channel : channels) {
    auto init = InitOp::create(inside, channel.getLoc(), channel);
    if (int64_t ends = countEnds(channel))
      init->setAttr(kEndsAttrName, builder.getI64IntegerAttr(ends));
  }
  if (channels.empty())
    return;
  FenceOp::create(inside, loc, FenceKind::Barriers);
  // All threads of the program meet where those of a cluster do.
  auto groups = *body.getOps<WarpGroupsOp>().begin();
  ClusterBarrierOp meeting;
  for (auto each : body.getOps<ClusterBarrierOp>())
    if (!meeting && each->isBeforeInBlock(groups))
      meeting = each;
  auto meet = [&] {
    if (meeting)
      builder.setInsertionPointAfter(meeting);
    else
      BarrierOp::create(builder, loc);
    meeting = nullptr;
  };
  bool isOfPair = !sums.empty() && cast<ChannelType>(sums.front().getType()).getPair();
  if (!sums.empty() && !isOfPair)
    setAside(builder);
  meet();
  if (isOfPair) {
    // Both programs set it aside together, so both must have begun.
    setAside(builder);
    meet();
  }
  if (!sums.empty())
    FenceOp::create(builder, loc, FenceKind::TensorAfter);
}

namespace {
struct PrepareRoles : kiln::impl::PrepareRolesBase<PrepareRoles> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (!kernel.getBody().getOps<WarpGroupsOp>().empty())
        RolePreparer(kernel).prepare();
  }
};
} // namespace
