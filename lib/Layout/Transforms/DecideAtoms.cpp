// Decides how many warps run a program, and by which instruction each dot is made.
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Layout/Transforms/UsualWarps.h"
#include "kiln/Target/TargetInterface.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEATOMS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

int64_t kiln::countUsualWarps(int64_t elements, const Chip &chip, int64_t reductions) {
  constexpr int64_t kMostElementsPerThread = 64;
  int64_t reach = llvm::PowerOf2Ceil(chip.registersPerThread);
  auto wantsMore = [&](int64_t warps) {
    int64_t threads = warps * chip.warpSize;
    bool isLast = 2 * warps == kUsualWarps && reductions >= 2;
    if (warps < kUsualWarps)
      return elements >= 2 * threads * kFewestElementsPerThread * (isLast ? 2 : 1);
    return elements > threads * kMostElementsPerThread && threads * reach < chip.registersPerCore;
  };
  int64_t warps = 1;
  while (warps * 2 * chip.warpSize <= chip.maxThreads && wantsMore(warps))
    warps *= 2;
  return warps;
}

int64_t kiln::countWarps(KernelOp kernel, const Chip &chip) {
  if (auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName)) {
    int64_t warps = 0;
    for (auto role : roles.getAsRange<RoleAttr>())
      warps += tile::countWarps(kernel, role);
    return warps;
  }
  int64_t largest = 1;
  kernel.getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        largest = std::max(largest, tensor.getNumElements());
  });
  int64_t reductions = 0;
  kernel.getBody().walk([&](ReduceOp op) { // of one row, which all warps share
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    reductions += type.getNumElements() == largest && type.getDimSize(op.getAxis()) == largest;
  });
  return countUsualWarps(largest, chip, reductions);
}

/// A dot of precision tf32x3 that need not be split is exact instead.
static void decideAtom(DotOp dot, TargetInterface target) {
  Attribute atom = getUsualAtom(dot, target);
  if (dot.getPrecision() == DotPrecision::TF32x3) {
    dot.setPrecision(DotPrecision::IEEE);
    if (Attribute exact = getUsualAtom(dot, target); exact != atom)
      dot.setPrecision(DotPrecision::TF32x3);
  }
  dot.setAtomAttr(atom);
}

/// What a pinned atom must be one of.
template <typename Op>
static LogicalResult checkAtom(Op dot, TargetInterface target) {
  if (llvm::is_contained(getMmaAtoms(dot, target), dot.getAtomAttr()))
    return success();
  return dot.emitOpError("expected a matrix instruction of ")
         << target.getSpelling() << " for these types and extents, got " << dot.getAtomAttr();
}

static LogicalResult decideAtom(DotScaledOp dot, TargetInterface target) {
  if (dot.getAtomAttr())
    return checkAtom(dot, target);
  SmallVector<Attribute> atoms = getMmaAtoms(dot, target);
  if (atoms.empty())
    return dot.emitOpError("expected to be expanded, as ")
           << target.getSpelling() << " has no matrix instruction for it";
  dot.setAtomAttr(atoms.front());
  return success();
}

namespace {
struct DecideAtoms : kiln::impl::DecideAtomsBase<DecideAtoms> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    Builder builder(&getContext());
    getOperation().walk([&](KernelOp kernel) {
      // Roles bring their own.
      if (!kernel->hasAttr(kWarpsAttrName) && !kernel->hasAttr(kRolesAttrName))
        kernel->setAttr(kWarpsAttrName,
                        builder.getI64IntegerAttr(countWarps(kernel, target->getChipRecord())));
      kernel.walk([&](DotOp dot) {
        if (!dot.getAtomAttr())
          decideAtom(dot, *target);
        else if (isa<WarpMmaAtomInterface>(dot.getAtomAttr()) && failed(checkAtom(dot, *target)))
          signalPassFailure();
      });
      kernel.walk([&](DotScaledOp dot) {
        if (failed(decideAtom(dot, *target)))
          signalPassFailure();
      });
    });
  }
};
} // namespace
