// Decides which masks of a loop are made only in the trips that need them: those of large tensors
// beside products that nobody has pinned. Masks of smaller tensors cost less than the code of a
// second loop.
#include "MaskGuards.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEGUARDS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static constexpr int64_t kFewestElements = 1024;
/// Each mask doubles the code of its loop, and one that slides over a window triples it.
static constexpr unsigned kMostMasks = 2;

/// Whether a select has as many elements as are worth it, and trips that need no mask are known.
static bool isGuardable(scf::ForOp loop, arith::SelectOp select) {
  auto type = dyn_cast<RankedTensorType>(select.getType());
  if (!type || type.getNumElements() < kFewestElements)
    return false;
  // What bounds the trips is computed on trial.
  Block trial;
  OpBuilder builder(loop.getContext());
  builder.setInsertionPointToEnd(&trial);
  return MaskFinder(loop, builder).find(select).has_value();
}

/// Selects by one mask are guarded together. Those that the source guards count.
static void decide(scf::ForOp loop) {
  Attribute yes = BoolAttr::get(loop.getContext(), true);
  DenseSet<Value> guarded;
  for (auto select : loop.getBody()->getOps<arith::SelectOp>())
    if (select->getAttr(kGuardedAttrName) == yes)
      guarded.insert(select.getCondition());
  for (auto select : loop.getBody()->getOps<arith::SelectOp>()) {
    if (select->hasAttr(kGuardedAttrName))
      continue;
    bool isNew = !guarded.contains(select.getCondition());
    if (isNew && (guarded.size() >= kMostMasks || !isGuardable(loop, select)))
      continue;
    guarded.insert(select.getCondition());
    select->setAttr(kGuardedAttrName, yes);
  }
}

namespace {
struct DecideGuards : kiln::impl::DecideGuardsBase<DecideGuards> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      if (!kernel->hasAttr(kRolesAttrName))
        continue;
      kernel.getBody().walk([&](scf::ForOp loop) {
        bool hasProducts = llvm::any_of(loop.getBody()->getOps<DotOp>(), [](DotOp dot) {
          return dot.getAtomAttr() && !dot.getInFlight();
        });
        if (hasProducts)
          decide(loop);
      });
    }
  }
};
} // namespace
