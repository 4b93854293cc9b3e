// Makes a grid of many short programs one of a few that run tiles in turn.
#include "PersistentGrid.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEPERSISTENCE
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static LogicalResult realise(KernelOp kernel) {
  FailureOr<PersistentGrid> grid = PersistentGrid::get(kernel);
  if (failed(grid))
    return failure();
  OpBuilder builder(kernel.getContext());
  grid->begin(builder);
  grid->numberByChiplets(IndexMath{builder, kernel.getLoc()}, grid->tiles);
  auto loop =
      scf::ForOp::create(builder, kernel.getLoc(), grid->program, grid->tiles, grid->programs);
  loop->setAttr(kProgramsAttrName, builder.getUnitAttr());
  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  grid->fill(loop, grid->number(IndexMath{inner, kernel.getLoc()}, loop.getInductionVar()));
  grid->finish();
  return success();
}

namespace {
struct RealisePersistence : kiln::impl::RealisePersistenceBase<RealisePersistence> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (!kernel->getAttrOfType<PersistentAttr>(kPersistentAttrName))
        kernel->removeAttr(kPersistentAttrName);
      else if (failed(realise(kernel)))
        return signalPassFailure();
  }
};
} // namespace
