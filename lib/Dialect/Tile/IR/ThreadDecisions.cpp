// What is said of puts, gets, dots and releases beside their own attributes.
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Dialect/Tile/IR/Tile.h"

using namespace mlir;
using namespace kiln::tile;

bool kiln::tile::isForFirstOfPair(Operation *op) {
  auto isOfPair = [](auto op) { return cast<ChannelType>(op.getChannel().getType()).getPair(); };
  if (auto dot = dyn_cast<StartDotOp>(op))
    return cast<MmaAtomInterface>(dot.getAtom()).getPrograms() > 1;
  if (auto put = dyn_cast<PutOp>(op))
    return put.getBytes() > 0 && isOfPair(put);
  if (auto get = dyn_cast<GetOp>(op))
    return get.getToStart() && isOfPair(get);
  auto release = dyn_cast<ReleaseOp>(op);
  return release && release.getCommit() && isOfPair(release);
}

LogicalResult kiln::tile::requireFirstOfPair(Operation *op) {
  if (!isForFirstOfPair(op) || op->hasAttr(kFirstOfPairAttrName))
    return success();
  return op->emitOpError("expected '")
         << kFirstOfPairAttrName << "', since the first of two programs does it for both";
}

LogicalResult kiln::tile::verifyThreadDecision(Operation *op, StringRef name, Attribute value) {
  if (!isa<UnitAttr>(value))
    return op->emitError() << "expected '" << name << "' without value, got " << value;
  if (name == kFirstOfPairAttrName) {
    if (isForFirstOfPair(op))
      return success();
    return op->emitError() << "expected '" << name
                           << "' on what one of two programs does for both: "
                           << "a put with bytes, a get to_start or a release by commit of a "
                           << "channel of pairs, or a dot that two programs multiply";
  }
  auto put = dyn_cast<PutOp>(op);
  if (put && put.getBytes() == 0 && !put.getChannel().getType().getOwn())
    return success();
  return op->emitError() << "expected '" << name << "' on a put that each warp tells of, without "
                         << "bytes, into a channel that is not the role's own";
}
