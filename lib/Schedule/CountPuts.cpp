// Says of each wait for puts how many instructions of a warp a put is, where copies are counted so:
// a warp then waits until no more are under way than the puts that may be.
#include "Rings.h"
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Chip.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_COUNTPUTS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

std::optional<int64_t> kiln::countPutInstructions(Region &body, RoleAttr role, int64_t lanes) {
  std::optional<int64_t> least;
  body.walk([&](PutOp put) {
    if (!put.getChannel().getType().getOwn())
      return;
    int64_t own = 0;
    for (auto copy : put.getBody().getOps<CopyInOp>()) {
      auto atom = dyn_cast<DirectAtomInterface>(copy.getAtom());
      if (!atom || atom.getCompletion() != Completion::Instructions)
        continue;
      int64_t bytes = lanes * role.getTotalWarps() * atom.getGranularity();
      own += getSharedBytes(copy.getBuffer().getType()) / bytes;
    }
    if (own > 0)
      least = std::min(least.value_or(own), own);
  });
  return least;
}

namespace {
struct CountPuts : kiln::impl::CountPutsBase<CountPuts> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    int64_t lanes = target->getChipRecord().warpSize;
    Builder builder(&getContext());
    getOperation().walk([&](WarpGroupsOp groups) {
      for (auto [number, body] : llvm::enumerate(groups.getBodies())) {
        std::optional<int64_t> least = countPutInstructions(body, groups.getRole(number), lanes);
        // None where warps know by groups.
        Attribute instructions = builder.getI64IntegerAttr(least.value_or(0));
        body.walk([&](WaitPutsOp wait) {
          if (wait.getInFlight() > 0)
            wait->setAttr(kInstructionsAttrName, instructions);
        });
      }
    });
  }
};
} // namespace
