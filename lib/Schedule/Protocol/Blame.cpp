// What is missing between two accesses that nothing orders.
#include "../Decisions.h"
#include "Replay.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;
using analysis::Clash;

const Piece::Access *Replay::findAccess(const Piece &piece, const analysis::Event &event,
                                        std::optional<bool> isWrite) {
  for (const Piece::Access &access : llvm::reverse(piece.accesses))
    if (access.event == event && access.isWrite == isWrite.value_or(access.isWrite))
      return &access;
  return nullptr;
}

LogicalResult Replay::refuse(Operation *op, const Twine &expected, const Piece &piece,
                             ArrayRef<std::pair<Operation *, std::string>> notes) {
  InFlightDiagnostic error = op->emitOpError(expected);
  for (auto &[at, says] : notes)
    error.attachNote(at->getLoc()) << says;
  if (piece.channel)
    noteRing(error, channels[*piece.channel].op);
  else
    error.attachNote(piece.owner->getLoc()) << "the buffer";
  describe(error, groups, instance);
  return failure();
}

LogicalResult Replay::refuseOther(Operation *op, const Piece &piece, Operation *other) {
  return refuse(op,
                "expected a tile.barrier of all copies between this and another use of its place "
                "of shared memory",
                piece, {{other, "which is used here"}});
}

namespace {
/// Two accesses, of which one at least writes, by what makes a difference to what is missing.
struct Pair {
  Operation *first;
  bool isWritten, isWrite, isBehindFence;
  bool isUnderWay;  ///< the first one is an engine's that nobody has waited for
  bool isOfOneLane; ///< it is one's that does not tell others
  bool isStore() const { return isa<CopyOutOp>(first); }
  bool isDot() const { return isa<StartDotOp>(first); }
};
} // namespace

/// Of a slot that is filled again: what the release lacks.
static StringRef sayReleased(const Pair &pair) {
  if (pair.isBehindFence)
    return "expected a tile.fence shared behind what lanes read of the slot, since an engine fills "
           "it again";
  if (pair.isStore())
    return "expected a tile.wait_stores for the store that still reads the slot";
  if (pair.isDot())
    return endsByCommit(cast<StartDotOp>(pair.first).getAtom())
               ? "expected 'commit', since dots that read the slot may be in flight"
               : "expected dots that read the slot to be waited for, got one in flight";
  if (pair.isOfOneLane)
    return "expected 'lanes', since lanes read the slot into registers and one of them arrives for "
           "all";
  return "expected a tile.release behind the last read of the slot, which who fills it again has "
         "waited for";
}

/// Of a slot that is read, or written by several.
static StringRef sayFilled(const Pair &pair) {
  if (pair.isWrite)
    return "expected what was in the slot before to be there when it is filled again, got what "
           "nothing orders with this";
  if (!pair.isBehindFence)
    return "expected a slot that all threads have waited for, got one that some have not";
  return isa<CopyInOp>(pair.first)
             ? "expected a tile.fence shared behind the tile.get of the slot, which warps of "
               "another role copy into"
             : "expected a tile.barrier publish behind what warps write to the slot, since an "
               "engine reads it";
}

static StringRef sayOwnRing(const Pair &pair) {
  if (pair.isBehindFence)
    return "expected a tile.barrier publish between every tile.wait_puts of the slot and this, "
           "since dots in flight read it";
  if (!pair.isWrite)
    return pair.isUnderWay ? "expected every copy to have waited for what it put into the slot "
                             "before this, got one that has not"
                           : "expected a tile.barrier between every tile.wait_puts of the slot and "
                             "this, got none";
  if (pair.isUnderWay && pair.isDot())
    return "expected dots that read the slot to be waited for before it is filled again, got one "
           "in flight";
  return "expected a tile.barrier between every tile.release of the slot and this, got none";
}

static StringRef sayBuffer(const Pair &pair) {
  if (pair.isBehindFence)
    return "expected a tile.barrier publish after what wrote the buffer";
  if (pair.isWritten)
    return "expected a tile.barrier after what wrote the buffer";
  if (pair.isUnderWay)
    return pair.isStore()
               ? "expected a tile.wait_stores for the store that still reads the buffer"
               : "expected dots that read the buffer to be waited for, got one in flight";
  return "expected a tile.barrier after the last that read the buffer";
}

/// What fills slots of a channel.
static Operation *findFiller(WarpGroupsOp groups, unsigned capture) {
  for (Region &region : groups.getBodies())
    for (Operation *user : region.getArgument(capture).getUsers())
      if (isa<PutOp, AcquireOp>(user))
        return user;
  return nullptr;
}

LogicalResult Replay::blame(std::optional<unsigned> trace, Operation *op, const Piece &piece,
                            const Clash &clash, bool isWrite) {
  std::optional<bool> wasWrite;
  if (clash.kind != Clash::Kind::BehindFence)
    wasWrite = clash.kind == Clash::Kind::AfterWrite;
  const Piece::Access *other = findAccess(piece, clash.other, wasWrite);
  Operation *first = other ? other->op : piece.owner;
  if (other && other->isOfOther)
    return refuseOther(op, piece, first);
  auto describeAccess = [&](unsigned by, StringRef does) {
    return "copy " + std::to_string(traces[by].copy) + " of role \"" +
           groups.getRole(traces[by].role).getName().str() + "\" " + does.str() + " it here";
  };
  SmallVector<std::pair<Operation *, std::string>> notes;
  if (other)
    notes.push_back({first, describeAccess(other->trace, other->isWrite ? "writes" : "reads")});
  Pair pair{first,
            other && other->isWrite,
            isWrite,
            clash.kind == Clash::Kind::BehindFence,
            order->isQueue(clash.other.agent) && !order->hasEnded(clash.other),
            other && clash.other.agent == firstThread[other->trace] + 1};
  bool isSlot = piece.channel && !isOwn(piece);
  if (isSlot && isWrite && !pair.isWritten) {
    auto released =
        llvm::find_if(piece.releases, [&](auto &it) { return other && it.first == other->trace; });
    bool isKnown = released != piece.releases.end();
    if (op && isKnown)
      notes.push_back({op, describeAccess(*trace, "fills")});
    else if (Operation *filler = op ? nullptr : findFiller(groups, *piece.channel))
      notes.push_back({filler, "role \"" + WarpGroupsOp::getRoleOf(filler).getName().str() +
                                   "\" fills it again here"});
    return refuse(isKnown ? released->second : op ? op : first, sayReleased(pair), piece, notes);
  }
  Operation *at = op ? op : first;
  if (isSlot)
    return refuse(at, sayFilled(pair), piece, notes);
  if (piece.channel)
    return refuse(at, sayOwnRing(pair), piece, notes);
  if (piece.isOfCopy)
    return refuse(at, sayBuffer(pair), piece, notes);
  bool isOfOtherRole = other && traces[other->trace].role != traces[*trace].role;
  return refuse(at,
                isOfOtherRole
                    ? "expected a buffer that one role alone uses, since no barrier orders two"
                    : "expected a tile.barrier of all copies between this and another access to "
                      "the buffer",
                piece, notes);
}
