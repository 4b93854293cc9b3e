// Has the programs of a kernel that one block runs side by side be one role, of which each program
// will be a copy: so all that is decided is decided for a program, and for no warps but its own.
#include "Decisions.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/PinnedPlaces.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_GATHERPROGRAMS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// What else decides which programs there are, or keeps the warps of a block together.
static LogicalResult check(KernelOp kernel) {
  for (auto [name, why] :
       {std::pair(kRolesAttrName, "a block's programs are roles of their own"),
        std::pair(kPersistentAttrName, "a block runs a program on each of its warps' groups once"),
        std::pair(kTurnsAttrName, "a block's programs take no turns"),
        std::pair(kClusterAttrName, "a cluster is one of programs that are blocks"),
        std::pair(kOverlapAttrName, "a launch waits for whole blocks")})
    if (kernel->hasAttr(name) && !isa<BoolAttr>(kernel->getAttr(name)))
      return emitPinError(kernel, kBlockProgramsAttrName, "expected no '")
             << name << "' beside '" << kBlockProgramsAttrName << "', since " << why;
  WalkResult result = kernel.getBody().walk([&](scf::ForOp loop) -> WalkResult {
    if (!loop->hasAttr(kShareAttrName))
      return WalkResult::advance();
    return loop.emitOpError("expected no '")
           << kShareAttrName << "' in a kernel with '" << kBlockProgramsAttrName
           << "', since programs that share a loop out are counted by blocks";
  });
  return failure(result.wasInterrupted());
}

static LogicalResult gather(KernelOp kernel) {
  FailureOr<TargetInterface> target = requireTarget(kernel);
  if (failed(target) || failed(check(kernel)))
    return failure();
  auto pinned = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName);
  int64_t warps = pinned ? pinned.getInt() : countWarps(kernel, target->getChipRecord());
  auto role = RoleAttr::get(kernel.getContext(), "program", warps, /*copies=*/1, /*skew=*/0,
                            /*registers=*/0);
  Builder builder(kernel.getContext());
  kernel->removeAttr(kWarpsAttrName);
  kernel->setAttr(kRolesAttrName, builder.getArrayAttr(role));
  return checkRoleLimits(kernel, builder.getArrayAttr(withTurns(kernel, role)));
}

namespace {
struct GatherPrograms : kiln::impl::GatherProgramsBase<GatherPrograms> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (countBlockPrograms(kernel) > 1) {
        if (failed(gather(kernel)))
          return signalPassFailure();
      } else {
        // A block that runs one is as any other.
        kernel->removeAttr(kBlockProgramsAttrName);
      }
  }
};
} // namespace
