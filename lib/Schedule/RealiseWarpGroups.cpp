// Slices a program by role: each gets its own ops and, of all others, what these need.
#include "AcrossRoles.h"
#include "Slice.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEWARPGROUPS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether each role does it for itself.
bool kiln::isOfEachRole(Operation *op) {
  return isa<WaitDependenciesOp>(op) ||
         (isa<LaunchDependentsOp, AssertOp>(op) && getRoleName(op).empty());
}

/// Every op that does something must say who does it.
static LogicalResult checkRoles(KernelOp kernel) {
  WalkResult result = kernel.getBody().walk<WalkOrder::PreOrder>([](Operation *op) -> WalkResult {
    bool isControl = isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op);
    if (getDecision(op, "role")) {
      if (failed(findRole(op, getRoleName(op))))
        return WalkResult::interrupt();
      // What stands in a loop or a condition has a role of its own.
      return isControl ? WalkResult::advance() : WalkResult::skip();
    }
    if (isa<scf::ForOp, scf::WhileOp, scf::IfOp, ChannelOp, AllocOp>(op) ||
        isMemoryEffectFree(op) || isSharedScalar(op) || isOfEachRole(op))
      return WalkResult::advance();
    (void)requireDecision(op, "role");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

static LogicalResult realise(KernelOp kernel, ArrayAttr roles) {
  if (failed(checkRoles(kernel)))
    return failure();
  FailureOr<ScalarReads> reads = handOverScalars(kernel, roles);
  if (failed(reads) || failed(orderAcrossRoles(kernel)))
    return failure();
  int64_t warps = 0, decidedWarps = 0;
  SmallVector<Slice> slices;
  llvm::SetVector<Value> captures;
  for (auto role : roles.getAsRange<RoleAttr>()) {
    warps += role.getTotalWarps();
    decidedWarps += countWarps(kernel, role);
    if (failed(slices.emplace_back(kernel, role, *reads).compute()))
      return failure();
    captures.insert(slices.back().captures.begin(), slices.back().captures.end());
  }
  auto decided = kernel->getAttrOfType<IntegerAttr>("tile.warps");
  if (decided && decided.getInt() != decidedWarps)
    return kernel.emitOpError("expected tile.warps to be that of all roles, ")
           << decidedWarps << ", got " << decided.getInt();

  // In the order in which they are defined.
  SmallVector<Value> ordered;
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (captures.contains(argument))
      ordered.push_back(argument);
  Block &body = kernel.getBody().front();
  for (ChannelOp channel : body.getOps<ChannelOp>())
    if (captures.contains(channel.getResult()))
      ordered.push_back(channel.getResult());

  OpBuilder builder(body.getTerminator());
  auto groups = WarpGroupsOp::create(builder, kernel.getLoc(), ordered, roles, roles.size());
  for (auto [region, slice] : llvm::zip_equal(groups.getBodies(), slices)) {
    Block &block = region.emplaceBlock();
    IRMapping mapping;
    for (Value capture : ordered)
      mapping.map(capture, block.addArgument(capture.getType(), capture.getLoc()));
    OpBuilder inner = OpBuilder::atBlockEnd(&block);
    slice.clone(body, inner, mapping);
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (!isa<ChannelOp, WarpGroupsOp, ReturnOp>(op))
      op.erase();
  kernel->removeAttr(kRolesAttrName);
  kernel->setAttr("tile.warps", builder.getI64IntegerAttr(warps));
  return success();
}

namespace {
struct RealiseWarpGroups : kiln::impl::RealiseWarpGroupsBase<RealiseWarpGroups> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName))
        if (failed(realise(kernel, roles)))
          return signalPassFailure();
  }
};
} // namespace
