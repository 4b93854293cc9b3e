// Checks of a kernel that no op's verifier can make, for they concern ops of other dialects.
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Marks.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_VERIFYKERNELS
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

static bool isKernelOp(Operation *op) {
  if (isa_and_nonnull<TileDialect, arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return !isa<KernelOp>(op);
  return isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::ConditionOp, scf::YieldOp, ub::PoisonOp>(op);
}

static bool isMemory(Type type) {
  return isa<ViewType, PointerType, BufferType, ChannelType>(type);
}

/// Ops that make memory, or hand it to the regions that they hold.
static bool makesMemory(Operation *op) {
  return isa<ViewFromPointerOp, SubviewOp, PointerFromAddressOp, AllocOp, ChannelOp, WarpGroupsOp,
             PutOp, GetOp, PartOp>(op);
}

/// The values that an op defines are scalars and tiles; only few ops make memory.
static LogicalResult verifyTypes(Operation *op, TypeRange types) {
  for (Type type : types) {
    if (isMemory(type)) {
      if (makesMemory(op))
        continue;
      return op->emitOpError("expected views, pointers and buffers to be used where they are "
                             "made, got one carried as ")
             << type;
    }
    if (!isElementType(type) && !isTileType(type) && !isa<PendingType>(type))
      return op->emitOpError("expected scalars and tiles within the limits of the tile dialect, "
                             "got ")
             << type;
  }
  return success();
}

/// A constant step that never ends is refused; one that is not known is the kernel's own risk.
static LogicalResult verifyStep(scf::ForOp loop) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  if (!step || *step > 0)
    return success();
  return loop.emitOpError("expected a step of at least 1, got ") << *step;
}

/// Whether two values are computed alike, as far as that is easily seen.
static bool isAlike(Value a, Value b, int depth = 8) {
  if (a == b)
    return true;
  Operation *one = a.getDefiningOp(), *other = b.getDefiningOp();
  return one && other && depth > 0 && one->getName() == other->getName() &&
         one->getAttrDictionary() == other->getAttrDictionary() && a.getType() == b.getType() &&
         one->getNumRegions() == 0 && one->getNumOperands() == other->getNumOperands() &&
         llvm::all_of(llvm::zip_equal(one->getOperands(), other->getOperands()), [&](auto pair) {
           return isAlike(std::get<0>(pair), std::get<1>(pair), depth - 1);
         });
}

/// The load by which a value is made, past what is computed of it alone; or null.
static LoadOp findLoad(Value value) {
  for (Operation *op = value.getDefiningOp(); op; op = op->getOperand(0).getDefiningOp()) {
    if (auto load = dyn_cast<LoadOp>(op))
      return load;
    if (op->getNumOperands() != 1 || !isMemoryEffectFree(op))
      break;
  }
  return {};
}

/// The load that a loop makes for its next trip as it was made in front of the first, if that is
/// what becomes of a number that it hands on.
static LoadOp findMadeAgain(scf::WhileOp loop, unsigned number) {
  LoadOp first = findLoad(loop.getInits()[number]);
  LoadOp again = findLoad(loop.getYieldOp().getOperand(number));
  bool isSame =
      first && again && loop->isAncestor(again) && first.getView() == again.getView() &&
      first.getOffsets().size() == again.getOffsets().size() &&
      llvm::all_of(llvm::zip_equal(first.getOffsets(), again.getOffsets()),
                   [](auto pair) { return isAlike(std::get<0>(pair), std::get<1>(pair)); });
  return isSame ? again : LoadOp();
}

/// A load of which alone it follows, trip by trip, whether a loop goes on.
static LoadOp findAsked(scf::WhileOp loop) {
  LoadOp asked;
  SmallVector<Value> values = {loop.getConditionOp().getCondition()};
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!loop->isAncestor(value.getParentBlock()->getParentOp()))
      continue;
    Operation *op = value.getDefiningOp();
    if (!op) {
      asked = findMadeAgain(loop, cast<BlockArgument>(value).getArgNumber());
      if (!asked)
        return {};
      continue;
    }
    if (op->getNumRegions() > 0)
      return {};
    if (auto load = dyn_cast<LoadOp>(op))
      asked = load;
    llvm::append_range(values, op->getOperands());
  }
  return asked;
}

/// A loop that waits for another program must look by atomic accesses: a load of what nothing in
/// the loop changes is not made again.
static LogicalResult verifyWait(scf::WhileOp loop) {
  WalkResult result = loop->walk([](Operation *op) {
    bool isQuiet = op->getNumRegions() > 0 || op->hasTrait<OpTrait::IsTerminator>() ||
                   isa<LoadOp>(op) || isMemoryEffectFree(op);
    return WalkResult(success(isQuiet));
  });
  if (result.wasInterrupted())
    return success();
  LoadOp load = findAsked(loop);
  if (!load)
    return success();
  InFlightDiagnostic error = load.emitOpError("expected an atomic access that acquires, since the "
                                              "loop waits for another program to write what it "
                                              "reads: a load is not made again");
  error.attachNote(loop.getLoc()) << "nothing in the loop changes it";
  return error;
}

/// A decision that means nothing of this op keeps no clean-up from it, which would drop it.
static LogicalResult verifyDecisions(Operation *op) {
  for (NamedAttribute attribute : op->getDiscardableAttrs()) {
    StringRef name = attribute.getName(), word = name;
    word.consume_front("tile.");
    bool isDecision = llvm::any_of(getDecisions(), [&](const Decision &decision) {
      StringRef its = decision.name;
      its.consume_front("tile.");
      return its == word;
    });
    if (isDecision && !lookUpDecision(op, name))
      return refuseMeaningless(op, name);
  }
  return success();
}

static LogicalResult verifyOp(Operation *op, int64_t depth, int64_t maxDepth) {
  if (!isKernelOp(op))
    return op->emitOpError("expected an operation of tile, arith, math or structured control "
                           "flow in a kernel");
  if (depth > maxDepth)
    return op->emitOpError("expected regions nested at most ") << maxDepth << " deep";
  if (failed(verifyTypes(op, op->getResultTypes())) || failed(verifyDecisions(op)))
    return failure();
  if (auto loop = dyn_cast<scf::ForOp>(op); loop && failed(verifyStep(loop)))
    return failure();
  if (auto loop = dyn_cast<scf::WhileOp>(op); loop && failed(verifyWait(loop)))
    return failure();
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      if (failed(verifyTypes(op, block.getArgumentTypes())))
        return failure();
      for (Operation &nested : block)
        if (failed(verifyOp(&nested, depth + 1, maxDepth)))
          return failure();
    }
  return success();
}

/// Object files, drivers and caches all carry the name.
static bool isName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

namespace {
struct VerifyKernels : public impl::VerifyKernelsBase<VerifyKernels> {
  using VerifyKernelsBase::VerifyKernelsBase;

  LogicalResult verifyKernel(KernelOp kernel) {
    if (!isName(kernel.getSymName()))
      return kernel.emitOpError("expected a name of letters, digits and underscores, got '")
             << kernel.getSymName() << "'";
    for (Region &region : kernel->getRegions())
      for (Operation &op : region.getOps())
        if (failed(verifyOp(&op, /*depth=*/1, maxDepth)))
          return failure();
    // One thread of the host computes a grid: nothing is decided of that.
    WalkResult result = kernel.getGrid().walk([](Operation *op) -> WalkResult {
      std::string decision = findDecision(op);
      if (decision.empty())
        return WalkResult::advance();
      return op->emitOpError("expected '") << decision << "' in a program, got it in a grid region";
    });
    return failure(result.wasInterrupted());
  }

  void runOnOperation() override {
    markAllAnalysesPreserved();
    bool ok = true;
    for (Operation &op : getOperation().getOps()) {
      if (auto kernel = dyn_cast<KernelOp>(op)) {
        ok &= succeeded(verifyKernel(kernel));
        continue;
      }
      op.emitOpError("expected only kernels in the module");
      ok = false;
    }
    if (!ok)
      signalPassFailure();
  }
};
} // namespace
} // namespace kiln::tile
