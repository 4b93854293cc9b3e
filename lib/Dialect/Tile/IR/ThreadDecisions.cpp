// What is said of ops of a schedule beside their own attributes.
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"

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

int64_t kiln::tile::countEnds(ChannelOp channel) {
  int64_t ends = 0;
  for (OpOperand &use : channel.getResult().getUses())
    if (auto groups = dyn_cast<WarpGroupsOp>(use.getOwner()))
      for (auto [number, region] : llvm::enumerate(groups.getBodies()))
        ends += groups.getRole(number).getCopies() *
                llvm::count_if(region.getArgument(use.getOperandNumber()).getUsers(),
                               llvm::IsaPred<EndDotsOp>);
  return ends;
}

FailureOr<int64_t> kiln::tile::requireThreadNumber(Operation *op, StringRef name) {
  if (auto number = op->getAttrOfType<IntegerAttr>(name))
    return number.getInt();
  return op->emitOpError("expected '") << name << "' to be decided";
}

static constexpr StringLiteral kMeetings[] = {"lanes", "copy", "role", "all"};

bool kiln::tile::mayMeet(Operation *op) {
  return isa<BarrierOp>(op) || (op->hasAttr(kSharedOffsetAttrName) && !isa<AllocOp, ChannelOp>(op));
}

StringRef kiln::tile::stringify(Meeting meeting) { return kMeetings[unsigned(meeting)]; }

std::optional<Meeting> kiln::tile::parseMeeting(StringRef text) {
  const auto *found = llvm::find(kMeetings, text);
  if (found == std::end(kMeetings))
    return std::nullopt;
  return Meeting(found - std::begin(kMeetings));
}

std::optional<Meeting> kiln::tile::getMeeting(Operation *op) {
  auto said = op->getAttrOfType<StringAttr>(kMeetsAttrName);
  return said ? parseMeeting(said) : std::nullopt;
}

static LogicalResult verifyMeeting(Operation *op, Attribute value) {
  auto said = dyn_cast<StringAttr>(value);
  if (mayMeet(op) && op->getParentOfType<WarpGroupsOp>() && said && parseMeeting(said))
    return success();
  return op->emitError() << "expected '" << kMeetsAttrName << "' in a role, on a barrier or an op "
                         << "with scratch, as \"lanes\", \"copy\", \"role\" or \"all\", got "
                         << value;
}

/// Whether such a number means something of an op.
static LogicalResult verifyNumber(Operation *op, StringRef name, Attribute value) {
  bool stands = name == kByWarpAttrName ? isa<AllocTensorOp, FreeTensorOp>(op)
                : name == kEndsAttrName ? isa<InitOp>(op)
                                        : isa<WaitPutsOp>(op);
  auto number = dyn_cast<IntegerAttr>(value);
  int64_t least = name == kEndsAttrName ? 1 : 0;
  if (stands && number && number.getType().isInteger(64) && number.getInt() >= least)
    return success();
  return op->emitError() << "expected '" << name << "' on "
                         << (name == kByWarpAttrName ? "what sets tensor memory aside or frees it"
                             : name == kEndsAttrName ? "a tile.init"
                                                     : "a tile.wait_puts")
                         << ", as an i64 of at least " << least << ", got " << value;
}

/// Whether the barriers of a channel may be those of groups of warps.
static LogicalResult verifyMeetsIn(Operation *op, Attribute value) {
  auto channel = dyn_cast<ChannelOp>(op);
  if (channel && channel.getType().getBuffers().empty() && !channel.getType().getOwn() &&
      isa<StringAttr>(value))
    return success();
  return op->emitError() << "expected '" << kMeetsInAttrName
                         << "' on a tile.channel without buffers, as the name of a role, got "
                         << value;
}

LogicalResult kiln::tile::verifyThreadDecision(Operation *op, StringRef name, Attribute value) {
  if (llvm::is_contained({kByWarpAttrName, kEndsAttrName, kInstructionsAttrName}, name))
    return verifyNumber(op, name, value);
  if (name == kMeetsAttrName)
    return verifyMeeting(op, value);
  if (name == kMeetsInAttrName)
    return verifyMeetsIn(op, value);
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
