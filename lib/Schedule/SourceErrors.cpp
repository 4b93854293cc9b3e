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
  Operation *first = op;
  while (op && isa<ConvertLayoutOp>(op))
    op = op->getOperand(0).getDefiningOp();
  // Of what a loop carries, by who takes it.
  for (op = op ? op : first; isa<ConvertLayoutOp>(op) && !op->use_empty();)
    op = *op->user_begin();
  return op->getName().getStringRef().str();
}
