// Holds the layouts that IR handed back says against the threads that run them.
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Target/Common/Passes.h"
#include "kiln/Target/Common/Threads.h"

namespace kiln {
#define GEN_PASS_DEF_CHECKTHREADS
#include "kiln/Target/Common/ThreadPasses.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The warps over which what an op makes may be spread: those of the role that runs it, of any that
/// may if nobody says which does, or of the kernel.
static int64_t countWarps(Operation *op, KernelOp kernel) {
  for (Region *region = op->getParentRegion(); region; region = region->getParentRegion())
    if (auto groups = dyn_cast<WarpGroupsOp>(region->getParentOp()))
      return groups.getRole(region->getRegionNumber()).getTotalWarps();
  auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName);
  if (!roles)
    return kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName).getInt();
  StringRef name = getRoleName(op);
  int64_t most = 0;
  for (auto role : roles.getAsRange<RoleAttr>())
    if (name.empty() || role.getName() == name)
      most = std::max(most, role.getTotalWarps());
  return most;
}

/// The layout that an op's result has by that of what it is made of, of ops that leave each element
/// with the thread that has it, if its extents are powers of two.
static std::optional<LinearLayout> followOperand(Operation *op, const LinearLayout &operand) {
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    SmallVector<unsigned> permutation(transpose.getPermutation());
    return canonicalise(operand.transposeOuts(permutation));
  }
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return dropDim(operand, reduce.getAxis());
  if (isa<ReshapeOp>(op) && llvm::all_of(operand.getShape(), llvm::isPowerOf2_64) &&
      llvm::all_of(result.getShape(), llvm::isPowerOf2_64))
    return canonicalise(operand.reshapeOuts(result.getShape()));
  return std::nullopt;
}

/// Who reads which register follows from who holds which element.
static LogicalResult checkResult(Operation *op) {
  if (!isa<TransposeOp, ReduceOp, ReshapeOp>(op))
    return success();
  for (Value value : {op->getOperand(0), Value(op->getResult(0))})
    if (!isa_and_nonnull<LayoutAttr>(cast<RankedTensorType>(value.getType()).getEncoding()))
      return success();
  std::optional<LinearLayout> layout = followOperand(op, getLayout(op->getOperand(0)));
  if (!layout || *layout == canonicalise(getLayout(op->getResult(0))))
    return success();
  return op->emitOpError("expected the layout that follows from that of its operand, ")
         << LayoutAttr::get(op->getContext(), *layout) << ", got " << op->getResult(0).getType();
}

static LogicalResult check(KernelOp kernel, TargetInterface target) {
  bool hasWarps = kernel->hasAttr(kRolesAttrName);
  if (auto warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName))
    hasWarps |= warps.getInt() > 0;
  if (!hasWarps)
    return kernel.emitOpError("expected '") << kWarpsAttrName << "' of at least 1";
  if (failed(checkWarps(kernel, target)))
    return failure();
  int64_t lanes = target.getChipRecord().warpSize;
  auto checkType = [&](Type type, Operation *op, Location loc) -> LogicalResult {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto layout = tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding()) : LayoutAttr();
    if (!layout)
      return success();
    LinearLayout places = layout.toLinear(tensor.getShape());
    int64_t warps = countWarps(op, kernel);
    if (places.getInSize("lane") <= lanes && places.getInSize("warp") <= warps)
      return success();
    return emitError(loc) << "expected a layout for at most " << lanes << " lanes and " << warps
                          << " warps, got " << layout;
  };
  return failure(kernel.getBody()
                     .walk([&](Operation *op) -> WalkResult {
                       for (Type type : op->getResultTypes())
                         if (failed(checkType(type, op, op->getLoc())))
                           return WalkResult::interrupt();
                       return checkResult(op);
                     })
                     .wasInterrupted());
}

namespace {
struct CheckThreads : kiln::impl::CheckThreadsBase<CheckThreads> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(check(kernel, *target)))
        return signalPassFailure();
  }
};
} // namespace
