// `swap` is gone once it is obeyed. What is refused later for what it has changed names it still.
#include "kiln/Dialect/Tile/IR/Swapped.h"
#include "kiln/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace kiln::tile;

static StringAttr getMark(MLIRContext *context) { return StringAttr::get(context, "swap"); }

void kiln::tile::markSwapped(Operation *dot) {
  MLIRContext *context = dot->getContext();
  dot->setLoc(FusedLoc::get(context, {dot->getLoc()}, getMark(context)));
}

void kiln::tile::noteSwapped(InFlightDiagnostic &error, Operation *op) {
  op->getParentOfType<KernelOp>().getBody().walk([&](Operation *dot) {
    auto loc = dyn_cast<FusedLoc>(dot->getLoc());
    if (isa<DotOp, StartDotOp>(dot) && loc && loc.getMetadata() == getMark(dot->getContext()))
      error.attachNote(loc) << "'swap' has exchanged the operands of this product";
  });
}
