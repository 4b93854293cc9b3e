// ThreadPatterns.h: the table, and what is asked of it before anything is decided.
#include "ThreadPatterns.h"
#include "ThreadPlans.h"
#include "kiln/Layout/Transforms/Layouts.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

const ThreadPatterns &ThreadPatterns::get() {
  static const ThreadPatterns all = [] {
    ThreadPatterns patterns;
    for (auto populate :
         {populateAsyncDotPatterns, populateAtomicPatterns,      populateBufferPatterns,
          populateChannelPatterns,  populateControlFlowPatterns, populateCopyPatterns,
          populateDotPatterns,      populateElementwisePatterns, populateForeignPatterns,
          populateGatherPatterns,   populateMemoryPatterns,      populateOutsidePatterns,
          populateOwnRingPatterns,  populateProgramPatterns,     populateRearrangePatterns,
          populateReducePatterns,   populateRolePatterns,        populateScanPatterns,
          populateSelectPatterns,   populateShapePatterns,       populateTakePatterns,
          populateThreadPatterns,   populateViewPatterns})
      populate(patterns);
    return patterns;
  }();
  return all;
}

const ThreadPattern *ThreadPatterns::find(Operation *op) const {
  auto found = patterns.find(op->getName().getTypeID());
  return found == patterns.end() ? nullptr : &found->second;
}

//===- What can be lowered ------------------------------------------------------------------===//

/// Registers are unrolled, so code grows with a tile: what is refused here would take minutes to
/// compile and then spill.
static constexpr int64_t kMostElements = 1 << 17;

std::optional<std::string> kiln::whyUnsupportedByThreads(Operation *op) {
  if (isa<KernelOp>(op))
    return std::nullopt;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      if (getPaddedElements(tensor.getShape()) > kMostElements)
        return "expected at most " + std::to_string(kMostElements) + " elements, got " +
               spell(tensor);
  const ThreadPattern *pattern = ThreadPatterns::get().find(op);
  if (!pattern)
    return "";
  return pattern->whyUnsupported ? pattern->whyUnsupported(op) : std::nullopt;
}

bool kiln::isEmulatedByThreads(Operation *op, TargetInterface target) {
  const ThreadPattern *pattern = ThreadPatterns::get().find(op);
  return pattern && pattern->isEmulated && pattern->isEmulated(op, target);
}

int64_t kiln::getScratchBytes(Operation *op) {
  const ThreadPattern *pattern = ThreadPatterns::get().find(op);
  return pattern && pattern->getScratchBytes ? pattern->getScratchBytes(op) : 0;
}

int64_t kiln::getRoleScratchStep(Operation *op) {
  return llvm::alignTo(getScratchBytes(op), kEngineAlignment);
}

/// Whether the lowering asks which copy of which role does it.
static bool isOfRole(Operation *op) {
  return isa<CopyIdOp, PutOp, GetOp, ReleaseOp, AdvanceOp, AcquireOp, CommitOp, WaitPutsOp,
             CopyInOp, CopyOutOp, WaitStoresOp, StartDotOp, WaitOp, FillOp, FetchOp>(op);
}

LogicalResult kiln::checkSchedule(ThreadContext &context, Operation *op, Takes takes) {
  if (!context.role && isOfRole(op))
    return op->emitOpError("expected to stand in a role of tile.warp_groups");
  if (takes == Takes::Nothing || context.sync.hasByteBarriers())
    return success();
  return emitUnsupported(op, context.target, "expected no engines and no products in flight");
}

//===- What groups say of ops ---------------------------------------------------------------===//

int64_t kiln::getPaddedElements(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= llvm::PowerOf2Ceil(extent);
  return elements;
}

std::string kiln::spell(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

int64_t kiln::getTensorBytes(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getNumElements() * int64_t(getSharedElementBytes(type.getElementType()));
}

/// Whether a type that an op takes or makes, or that a view of its has, is so.
static bool anyElement(Operation *op, llvm::function_ref<bool(Type)> isSo) {
  auto isElementSo = [&](Type type) {
    if (auto view = dyn_cast<ViewType>(type))
      type = view.getElementType();
    return isSo(getElementTypeOrSelf(type));
  };
  return llvm::any_of(op->getOperandTypes(), isElementSo) ||
         llvm::any_of(op->getResultTypes(), isElementSo);
}

bool kiln::hasNarrowFloats(Operation *op, TargetInterface) {
  return anyElement(op, [](Type element) {
    return isa<FloatTF32Type>(element) ||
           (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 16);
  });
}

bool kiln::hasPackedElements(Operation *op, TargetInterface) {
  return anyElement(op, [](Type element) {
    return element.isIntOrFloat() && !element.isInteger(1) && element.getIntOrFloatBitWidth() < 8;
  });
}
