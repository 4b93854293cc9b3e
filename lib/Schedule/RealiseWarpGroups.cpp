// Slices a program by role: each gets its own ops and, of all others, what these need.
#include "AcrossRoles.h"
#include "Slice.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/bit.h"
#include <map>

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

/// Whether warps do something as groups of so many, which the block's warps make from the first on:
/// start products that run on beside them, fetch their sums, or hand registers to one another.
static bool hasGroups(KernelOp kernel, ArrayAttr roles) {
  auto handsOver = [](RoleAttr role) { return role.getRegisters() > 0; };
  auto find = [](DotOp dot) {
    auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr());
    bool runsOn = atom && atom.getCompletion() != Completion::InOrder;
    return runsOn ? WalkResult::interrupt() : WalkResult::advance();
  };
  return llvm::any_of(roles.getAsRange<RoleAttr>(), handsOver) ||
         kernel.getBody().walk(find).wasInterrupted();
}

/// Roles as the block's warps run them: in the order in which they are written, unless some would
/// not begin at a multiple of their warps where it matters; then those of the greater powers of two
/// come first, and all do.
static ArrayAttr orderWarps(KernelOp kernel, ArrayAttr roles) {
  std::map<int64_t, SmallVector<Attribute>> byPower;
  int64_t first = 0;
  bool areGroups = true;
  for (auto role : roles.getAsRange<RoleAttr>()) {
    int64_t warps = countWarps(kernel, role);
    areGroups &= first % role.getWarps() == 0;
    byPower[-llvm::countr_zero(uint64_t(warps))].push_back(role);
    first += warps;
  }
  if (areGroups || !hasGroups(kernel, roles))
    return roles;
  SmallVector<Attribute> ordered;
  for (auto &[power, its] : byPower)
    llvm::append_range(ordered, its);
  return ArrayAttr::get(kernel.getContext(), ordered);
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
        if (failed(realise(kernel, orderWarps(kernel, roles))))
          return signalPassFailure();
  }
};
} // namespace
