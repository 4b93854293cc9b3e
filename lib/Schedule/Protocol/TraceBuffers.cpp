// What a trace follows of buffers, of stores by engines and of barriers.
#include "../Decisions.h"
#include "../Trip.h"
#include "Tracer.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/Meetings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

LogicalResult Tracer::refuseReleased(Operation *op, const Known &slot) {
  return fail(op->emitOpError("expected a slot that role \"")
              << role.getName() << "\" has not released, got use " << slot.value
              << " of the channel");
}

LogicalResult Tracer::access(Operation *op, Value buffer, bool isWrite) {
  Known it = get(buffer);
  if (it.kind == Known::Slot) {
    if (isWrite)
      return fail(op->emitOpError("expected a buffer that a tile.put fills, or one of the role's "
                                  "own, got one that was got"));
    if (llvm::is_contained(held[it.channel], it.value)) {
      if (gotToStart.count({it.channel, it.value}) && !isa<StartDotOp>(op))
        return fail(
            op->emitOpError("expected a slot that all threads have waited for, got one that "
                            "was got 'to_start'"));
      auto dot = dyn_cast<StartDotOp>(op);
      bool isCommitted = dot && endsByCommit(dot.getAtom());
      auto half = halfReleased.find({it.channel, it.value});
      if (half != halfReleased.end() && half->second == isCommitted)
        return refuseReleased(op, it);
      if (auto got = gotFromOwn.find({it.channel, it.value}); dot && got != gotFromOwn.end()) {
        auto [event, published] = got->second;
        result.events[event].isReadByDots = true;
        result.needed.insert_range(result.publishing.getArrayRef().take_front(published));
      }
      if (isa<StartDotOp, CopyOutOp>(op)) // whose reads are an engine's
        return success();
      readByLanes.insert({it.channel, it.value});
      if (!getChannel(groups, it.channel).getType().getOwn() &&
          isFilledByEngine(groups, it.channel))
        unfenced.insert({it.channel, it.value});
      return success();
    }
    return refuseReleased(op, it);
  }
  if (it.kind != Known::Alloc)
    return success();
  return accessAlloc(op, it.alloc, isWrite);
}

/// Uses what an op has in shared memory, which puts an end to what others have there.
LogicalResult Tracer::touch(Operation *op, Operation *piece) {
  ArrayRef<Operation *> others = overlaps.of(piece);
  if (others.empty())
    return success();
  for (Operation *other : others) {
    if (auto at = filled.find(other); at != filled.end() && !at->second.empty()) {
      InFlightDiagnostic error = op->emitOpError(
          "expected a place of shared memory that nobody needs, got that of a ring with slots that "
          "are filled and not released");
      noteRing(error, cast<ChannelOp>(other));
      return fail(std::move(error));
    }
    lost.insert(other);
  }
  result.places.push_back({piece, barriers, barriers, op});
  return success();
}

/// What runs in some order that nobody follows.
LogicalResult Tracer::touchInside(Operation *op) {
  return failure(op->walk([&](Operation *inner) {
                     return WalkResult(isa<AllocOp>(inner) ? success() : touch(inner, inner));
                   }).wasInterrupted());
}

LogicalResult Tracer::accessAlloc(Operation *op, Operation *alloc, bool isWrite) {
  if (failed(touch(op, alloc)))
    return failure();
  if (!groups->isProperAncestor(alloc)) { // which other copies access too
    result.accesses.push_back({alloc, isWrite, barriers, op});
    return success();
  }
  if (isWrite)
    lost.erase(alloc);
  else if (lost.contains(alloc))
    return fail(refuseLost(op, alloc));
  Seen &state = seen[alloc];
  if (!isWrite) {
    if (state == Seen::Written)
      return fail(op->emitOpError("expected a tile.barrier after what wrote the buffer"));
    if (state == Seen::Shared || state == Seen::Published || state == Seen::Free)
      state = Seen::Read;
    return success();
  }
  if (state == Seen::Storing)
    return fail(op->emitOpError("expected a tile.wait_stores for the store that still reads the "
                                "buffer"));
  if (state == Seen::Waited || state == Seen::Read)
    return fail(op->emitOpError("expected a tile.barrier after the last that read the buffer"));
  state = Seen::Written;
  return success();
}

LogicalResult Tracer::copyOut(CopyOutOp op) {
  Known it = get(op.getBuffer());
  if (it.kind == Known::Slot) {
    stores.push_back(it);
    return access(op, op.getBuffer(), /*isWrite=*/false);
  }
  if (it.kind != Known::Alloc || !groups->isProperAncestor(it.alloc))
    return fail(op.emitOpError("expected a buffer of the role's own, or one that it got"));
  Seen &state = seen[it.alloc];
  if (state != Seen::Published && state != Seen::Storing)
    return fail(op.emitOpError("expected a tile.barrier publish after what wrote the buffer"));
  if (state == Seen::Published)
    result.needed.insert(publishedBy.lookup(it.alloc));
  state = Seen::Storing;
  stores.push_back(it);
  return success();
}

void Tracer::waitStores(int64_t inFlight) {
  while (int64_t(stores.size()) > inFlight) {
    Operation *done = stores.front().alloc;
    stores.pop_front();
    if (done && llvm::none_of(stores, [&](const Known &it) { return it.alloc == done; }))
      seen[done] = Seen::Waited;
  }
}

void Tracer::meet(BarrierOp op) {
  for (auto &[alloc, state] : seen) {
    if (state == Seen::Waited || state == Seen::Read)
      state = Seen::Free;
    else if (state == Seen::Written || (state == Seen::Shared && op.getPublish()))
      state = op.getPublish() ? Seen::Published : Seen::Shared;
    else
      continue;
    publishedBy[alloc] = op;
  }
  // What a put publishes, and who reads it, is known without running it.
  if (op.getPublish() && !op.getGlobal() && !isa<PutOp>(op->getParentOp()))
    result.publishing.insert(op);
  wasTold |= tells || !alone.empty();
  tells = false;
  alone.clear();
  // What two programs write, barriers of the one do not tell the other.
  for (auto at = written.begin(); !hasAccessed && at != written.end();)
    at = getChannel(groups, at->first).getType().getPair() ? std::next(at) : written.erase(at);
  bool meetsOthers = meetsOtherCopies(op), meetsAll = meetsOthers || role.getCopies() == 1;
  barriers += meetsAll;
  published += meetsAll && op.getPublish();
  if (meetsOthers)
    result.events.push_back({Event::Meet, 0, meetings++, op});
}

/// A role ends with nothing in its hands.
LogicalResult Tracer::checkEnd(Region &region) {
  for (auto [channel, positions] : llvm::enumerate(held))
    if (!positions.empty())
      return fail(getChannel(groups, channel).emitOpError("expected role \"")
                  << role.getName() << "\" to release what it got, got " << positions.size()
                  << " slots that it kept");
  for (auto [channel, positions] : llvm::enumerate(acquired))
    if (!positions.empty())
      return fail(getChannel(groups, channel).emitOpError("expected role \"")
                  << role.getName() << "\" to commit what it acquired, got " << positions.size()
                  << " slots that it kept");
  for (const std::vector<Uses> *sides : {&uses, &puts})
    for (auto [channel, own] : llvm::enumerate(*sides))
      if (!own.ahead.empty())
        return fail(getChannel(groups, channel).emitOpError("expected role \"")
                    << role.getName() << "\" to leave out no use, got none of use " << own.next);
  if (dots > dotsDone)
    return fail(groups.emitOpError("expected role \"")
                << role.getName() << "\" to wait for its dots, got " << dots - dotsDone
                << " in flight at its end");
  if (!stores.empty())
    return fail(groups.emitOpError("expected role \"")
                << role.getName() << "\" to wait for its stores, got " << stores.size()
                << " in flight at its end");
  return success();
}

FailureOr<Trace> kiln::protocol::trace(WarpGroupsOp groups, unsigned role, unsigned copy,
                                       const Instance &instance, const Overlaps &overlaps) {
  return Tracer(groups, role, copy, instance, overlaps).run();
}
