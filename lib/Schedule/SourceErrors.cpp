// Errors about a schedule in the words of its source.
#include "SourceErrors.h"
#include "kiln/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace kiln::tile;

InFlightDiagnostic kiln::emitSourceError(Operation *op, const Twine &message) {
  if (isa<PutOp, GetOp, ReleaseOp, CopyInOp, WriteOp, ReadOp, ConvertLayoutOp, BarrierOp, WaitOp,
          StartDotOp, CommitOp, PendOp, FetchOp, ChannelOp>(op))
    return op->emitError(message);
  return op->emitOpError(message);
}

std::string kiln::getSourceName(Operation *op) {
  while (auto conversion = dyn_cast<ConvertLayoutOp>(op)) {
    Operation *maker = conversion->getOperand(0).getDefiningOp();
    if (!maker)
      break;
    op = maker;
  }
  return op->getName().getStringRef().str();
}
