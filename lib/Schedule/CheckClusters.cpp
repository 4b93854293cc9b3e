// Whether the programs of a cluster that share a tile out load it alike: the same tile, as often,
// and in the same order.
#include "Differences.h"
#include "Rings.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

LogicalResult kiln::checkClusters(KernelOp kernel, const RingPlan &plan) {
  for (const Ring &ring : plan) {
    SmallVector<LoadOp> loads;
    SmallVector<unsigned> axes;
    for (const RingUse &use : ring.uses)
      for (LoadOp load : use.loads)
        if (load.getMulticast()) {
          loads.push_back(load);
          for (unsigned axis : getAxes(*load.getMulticast()))
            if (!llvm::is_contained(axes, axis))
              axes.push_back(axis);
        }
    if (loads.empty())
      continue;
    Differences steps(kernel, axes);
    for (const RingUse &use : ring.uses)
      for (LoadOp load : use.loads)
        if (failed(checkSteps(load, steps,
                              "programs that share the ring's tiles out to fill it alike, since "
                              "'multicast' is decided")))
          return failure();
    for (LoadOp load : loads) {
      SmallVector<unsigned> own = getAxes(*load.getMulticast());
      Differences differences(kernel, own);
      for (auto [i, offset] : llvm::enumerate(load.getOffsets()))
        if (differences.has(offset))
          return load.emitOpError("expected the same tile for all programs of a cluster along ")
                 << *load.getMulticast() << ", since 'multicast' is decided, got an offset along "
                 << "dimension " << i << " that may differ from program to program";
      if (differences.has(load.getView()))
        return load.emitOpError("expected the same view for all programs of a cluster along ")
               << *load.getMulticast() << ", since 'multicast' is decided";
    }
  }
  return success();
}
