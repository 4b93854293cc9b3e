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

/// Of shared memory: what another copy did there, or this one, Replay.cpp asks.
LogicalResult Tracer::access(Operation *op, Value buffer, Event::Kind kind) {
  Known it = get(buffer);
  if (it.kind != Known::Slot && it.kind != Known::Alloc)
    return success();
  if (it.kind == Known::Slot) {
    if (kind == Event::Write)
      return fail(op->emitOpError("expected a buffer that a tile.put fills, or one of the role's "
                                  "own, got one that was got"));
    if (!llvm::is_contained(held[it.channel], it.value))
      return refuseReleased(op, it);
    auto dot = dyn_cast<StartDotOp>(op);
    bool isCommitted = dot && endsByCommit(dot.getAtom());
    auto half = halfReleased.find({it.channel, it.value});
    if (half != halfReleased.end() && half->second == isCommitted)
      return refuseReleased(op, it);
    if (kind == Event::Read && !decoded.channels[it.channel].isOwn &&
        decoded.channels[it.channel].isFilledByEngine)
      unfenced.insert({it.channel, it.value});
  }
  add(kind, op, acting, it);
  return success();
}

/// What an op has in shared memory for itself, where others have theirs.
void Tracer::useScratch(Operation *op) { add(Event::Use, op).piece = op; }

/// What runs in some order that nobody follows.
void Tracer::useInside(Operation *op) {
  op->walk([&](Operation *inner) {
    if (!isa<AllocOp>(inner) && !decoded.overlaps.of(inner).empty())
      useScratch(inner);
  });
}

LogicalResult Tracer::copyOut(CopyOutOp op) {
  Known it = get(op.getBuffer());
  if (it.kind != Known::Slot && (it.kind != Known::Alloc || !groups->isProperAncestor(it.alloc)))
    return fail(op.emitOpError("expected a buffer of the role's own, or one that it got"));
  ++stores;
  return access(op, op.getBuffer(), Event::Store);
}

void Tracer::meet(BarrierOp op) {
  // What a put publishes, and who reads it, is known without running it.
  if (op.getPublish() && !op.getGlobal() && !isa<PutOp>(op->getParentOp()))
    result.publishing.insert(op);
  wasTold |= tells || !alone.empty();
  tells = false;
  alone.clear();
  // What two programs write, barriers of the one do not tell the other.
  for (auto at = written.begin(); !hasAccessed && at != written.end();)
    at = decoded.channels[at->first].isOfPair ? std::next(at) : written.erase(at);
  bool meetsOthers = meetsOtherCopies(op);
  Event &event = add(meetsOthers ? Event::Meet : Event::Barrier, op, Event::All);
  event.position = meetsOthers ? meetings++ : 0;
}

/// A role ends with nothing in its hands.
LogicalResult Tracer::checkEnd() {
  for (auto [channel, positions] : llvm::enumerate(held))
    if (!positions.empty())
      return fail(decoded.channels[channel].op.emitOpError("expected role \"")
                  << role.getName() << "\" to release what it got, got " << positions.size()
                  << " slots that it kept");
  for (auto [channel, positions] : llvm::enumerate(acquired))
    if (!positions.empty())
      return fail(decoded.channels[channel].op.emitOpError("expected role \"")
                  << role.getName() << "\" to commit what it acquired, got " << positions.size()
                  << " slots that it kept");
  for (const std::vector<Uses> *sides : {&uses, &puts})
    for (auto [channel, own] : llvm::enumerate(*sides))
      if (!own.ahead.empty())
        return fail(decoded.channels[channel].op.emitOpError("expected role \"")
                    << role.getName() << "\" to leave out no use, got none of use " << own.next);
  if (dots > dotsDone)
    return fail(groups.emitOpError("expected role \"")
                << role.getName() << "\" to wait for its dots, got " << dots - dotsDone
                << " in flight at its end");
  if (stores)
    return fail(groups.emitOpError("expected role \"")
                << role.getName() << "\" to wait for its stores, got " << stores
                << " in flight at its end");
  return success();
}

FailureOr<std::vector<Trace>> kiln::protocol::trace(Decoded &decoded, unsigned role,
                                                    ArrayRef<Instance> programs) {
  // All together, the programs of each copy, or each by itself: as far as the role went the same
  // way on the instances before.
  std::vector<Instance> all;
  for (unsigned copy = 0; copy < decoded.groups.getRole(role).getCopies(); ++copy)
    for (Instance instance : programs) {
      instance.copy = copy;
      all.push_back(instance);
    }
  size_t &count = decoded.together[role];
  count = std::min(count, all.size());
  std::vector<Trace> traces;
  while (traces.size() < all.size()) {
    ArrayRef<Instance> next = ArrayRef(all).slice(traces.size(), count);
    Tracer tracer(decoded, role, next);
    FailureOr<std::vector<Trace>> made = tracer.run();
    if (succeeded(made))
      std::move(made->begin(), made->end(), std::back_inserter(traces));
    else if (!tracer.hasParted())
      return failure();
    else
      count = count > programs.size() ? programs.size() : 1;
  }
  return traces;
}
