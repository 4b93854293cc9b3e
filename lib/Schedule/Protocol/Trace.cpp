// What a trace follows of channels.
#include "../Decisions.h"
#include "../Trip.h"
#include "Tracer.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/Meetings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

LogicalResult Tracer::runBlock(Block &block) {
  for (Operation &op : block) {
    bool isEnd = &op == &block.back() && op.hasTrait<OpTrait::IsTerminator>();
    if (!isEnd && failed(runOp(&op)))
      return failure();
  }
  return success();
}

bool Tracer::matters(Operation *op) {
  auto [at, isNew] = memo.mattering.try_emplace(op);
  if (isNew)
    at->second = protocol::matters(op);
  return at->second;
}

bool Tracer::meetsOthers(Operation *op) {
  auto [at, isNew] = memo.meeting.try_emplace(op);
  if (isNew)
    at->second = meetsOtherCopies(op);
  return at->second;
}

LogicalResult Tracer::step(Operation *op) {
  if (diverges)
    return failure();
  if (++steps <= kMostSteps)
    return success();
  result.tooLong = op;
  return failure();
}

LogicalResult Tracer::runOp(Operation *op) {
  if (failed(step(op)))
    return failure();
  // Most steps compute numbers, which lie nowhere and meet nobody.
  if (isa_and_nonnull<arith::ArithDialect>(op->getDialect()))
    return followed.contains(op) ? runScalar(op) : success();
  useScratch(op);
  if (!isa<BarrierOp>(op) && meetsOthers(op)) {
    add(Event::Meet, op).position = meetings++;
    return runScalar(op);
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runLoop(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return runWhile(loop);
  if (auto condition = dyn_cast<scf::IfOp>(op))
    return runIf(condition);
  if (auto it = dyn_cast<OneThreadOp>(op)) {
    llvm::SaveAndRestore<Event::Who> saved(acting,
                                           it.getEachWarp() ? Event::EachWarp : Event::First);
    return runBlock(it.getBody().front());
  }
  if (auto it = dyn_cast<PutOp>(op))
    return put(it);
  if (auto it = dyn_cast<GetOp>(op))
    return get(it);
  if (auto it = dyn_cast<AcquireOp>(op))
    return acquire(it);
  if (auto it = dyn_cast<CommitOp>(op))
    return commit(it);
  if (auto it = dyn_cast<FillOp>(op))
    return fill(it);
  if (auto it = dyn_cast<FetchOp>(op))
    return fetch(it);
  if (auto it = dyn_cast<FenceOp>(op))
    return fence(it);
  if (auto it = dyn_cast<WaitPutsOp>(op)) {
    add(Event::WaitPuts, op).position = it.getInFlight();
    return success();
  }
  if (auto it = dyn_cast<ReleaseOp>(op))
    return release(it);
  if (auto it = dyn_cast<AdvanceOp>(op))
    return advance(it);
  if (auto it = dyn_cast<PartOp>(op)) {
    known[it.getResult()] = get(it.getBuffer());
    return success();
  }
  if (auto it = dyn_cast<AllocOp>(op)) {
    known[it.getResult()] = {Known::Alloc, 0, 0, op};
    return success();
  }
  if (auto it = dyn_cast<PendOp>(op)) {
    known[it.getResult()] = {Known::Pending, 0, 0, nullptr, true};
    return success();
  }
  if (isa<ub::PoisonOp>(op)) {
    known[op->getResult(0)] = {isa<PendingType>(op->getResult(0).getType()) ? Known::Pending
                                                                            : Known::Nothing};
    return success();
  }
  if (auto it = dyn_cast<StartDotOp>(op))
    return start(it);
  if (auto it = dyn_cast<WaitOp>(op))
    return wait(it);
  if (auto it = dyn_cast<ReadOp>(op)) {
    if (failed(access(op, it.getBuffer(), Event::Read)))
      return failure();
    readNumber(it);
    return success();
  }
  if (auto it = dyn_cast<WriteOp>(op))
    return access(op, it.getBuffer(), Event::Write);
  if (auto it = dyn_cast<CopyOutOp>(op))
    return copyOut(it);
  if (auto it = dyn_cast<WaitStoresOp>(op)) {
    stores = std::min<int64_t>(stores, it.getInFlight());
    add(Event::WaitStores, op).position = it.getInFlight();
    return success();
  }
  if (auto it = dyn_cast<BarrierOp>(op)) {
    meet(it);
    return success();
  }
  if (isa<EndDotsOp>(op)) // behind all that it could let others do
    return success();
  if (auto dot = dyn_cast<DotOp>(op))
    for (Value operand : {dot.getA(), dot.getB()})
      if (isa<BufferType>(operand.getType()) && failed(access(op, operand, Event::Read)))
        return failure();
  if (op->getNumRegions() > 0 && matters(op))
    return fail(op->emitOpError("expected channels, dots in flight and barriers in scf.for, "
                                "scf.while and scf.if alone"));
  return followed.contains(op) ? runScalar(op) : success();
}

//===- Channels -----------------------------------------------------------------------------===//

/// A use of a channel by this copy, by the slot and phase that it must have: the next one, or one
/// of those behind it, as many as there are slots, if a later use comes first.
LogicalResult Tracer::use(Operation *op, Value channel, Value slot, Value phase, Event::Kind kind) {
  unsigned index = getCapture(channel);
  if (getChannel(groups, index).getType().getOwn())
    return useOwn(op, channel, slot, phase, kind);
  Uses &own = (kind == Event::Get ? uses : puts)[index];
  own.skip(get(slot).skipped);
  int64_t depth = cast<ChannelType>(channel.getType()).getDepth(), next = own.next;
  std::optional<int64_t> atSlot = getNumber(slot), atPhase = getNumber(phase);
  if (!atSlot || !atPhase)
    return fail(op->emitOpError("expected a slot and phase that tile.advance made"));
  // Two rounds of the ring have each slot and phase once.
  int64_t rounds = 2 * depth;
  int64_t behind = ((*atSlot + *atPhase * depth - next) % rounds + rounds) % rounds;
  bool isSlot = *atSlot >= 0 && *atSlot < depth && (*atPhase == 0 || *atPhase == 1);
  if (!isSlot || behind >= depth || own.ahead.count(next + behind)) {
    InFlightDiagnostic error = op->emitOpError("expected slot ")
                               << next % depth << " and phase " << next / depth % 2 << " for use "
                               << next << " of the channel by role \"" << role.getName()
                               << "\", got slot " << *atSlot << " and phase " << *atPhase;
    noteRing(error, getChannel(groups, index));
    return fail(std::move(error));
  }
  own.ahead.insert(next + behind);
  own.close();
  int64_t position = next + behind;
  auto [last, isFirst] = own.atSlot.try_emplace(*atSlot, *atSlot - depth);
  result.skips |= position - last->second > depth;
  last->second = position;
  Event &event = add(kind, op);
  event.channel = index;
  event.position = position;
  event.slot = *atSlot;
  return success();
}

/// A use of the role's own ring, whose slots may come in any order.
LogicalResult Tracer::useOwn(Operation *op, Value channel, Value slot, Value phase,
                             Event::Kind kind) {
  unsigned index = getCapture(channel);
  int64_t depth = cast<ChannelType>(channel.getType()).getDepth();
  std::optional<int64_t> at = getNumber(slot), atPhase = getNumber(phase);
  if (!at || *at < 0 || *at >= depth || atPhase != 0)
    return fail(op->emitOpError("expected a slot from 0 to ")
                << depth - 1 << " and phase 0 in role \"" << role.getName()
                << "\", whose own ring it is, got slot " << at.value_or(-1) << " and phase "
                << atPhase.value_or(-1));
  auto [last, isFirst] = atSlot[index].try_emplace(*at, -1);
  if (kind == Event::Get && isFirst)
    return fail(op->emitOpError("expected a slot that was put, got slot ") << *at);
  if (kind == Event::Put)
    last->second = puts[index].next++;
  Event &event = add(kind, op);
  event.channel = index;
  event.position = last->second;
  event.slot = *at;
  return success();
}

LogicalResult Tracer::get(GetOp op) {
  if (failed(use(op, op.getChannel(), op.getSlot(), op.getPhase(), Event::Get)))
    return failure();
  unsigned channel = getCapture(op.getChannel());
  Event &event = result.events.back();
  int64_t position = event.position, slot = event.slot;
  if (op.getToStart() || op.getOneThread())
    event.who = Event::First;
  if (op.getToStart() && isSecondOfPair(op.getChannel()))
    result.events.pop_back();
  if (isOfNothing(op.getChannel()))
    for (; !said.empty(); said.erase(said.begin()))
      written.erase(*said.begin());
  held[channel].push_back(position);
  bool isSum = op.getChannel().getType().getAccumulator() != nullptr;
  for (auto [i, buffer] : llvm::enumerate(op.getBuffers())) {
    Known &it =
        known[buffer] = {isSum ? Known::Sum : Known::Slot, position, channel, nullptr, isSum};
    it.slot = slot;
    it.buffer = i;
  }
  if (op.getToStart())
    gotToStart.insert({channel, position});
  wasTold |= isSum || isReadUntilCommit(op);
  if (isCopiedByWarps(channel))
    unseen.insert({channel, position});
  return success();
}

/// Which buffer of a put's slot an op there fills.
static unsigned getFilled(Operation &op) {
  Value buffer = isa<CopyInOp>(op) ? cast<CopyInOp>(op).getBuffer() : cast<WriteOp>(op).getBuffer();
  while (auto part = buffer.getDefiningOp<PartOp>())
    buffer = part.getBuffer();
  auto argument = dyn_cast<BlockArgument>(buffer);
  return argument ? argument.getArgNumber() : 0;
}

LogicalResult Tracer::put(PutOp op) {
  if (failed(use(op, op.getChannel(), op.getSlot(), op.getPhase(), Event::Put)))
    return failure();
  if (isOfNothing(op.getChannel())) {
    said = written;
    if (failed(tellOfTensorMemory(op)))
      return failure();
    tells = false;
  }
  size_t first = result.events.size() - 1;
  Event::Who who = op.getBytes() > 0 ? Event::First : acting;
  result.events[first].who = who;
  unsigned channel = result.events[first].channel;
  Known slot{Known::Slot, result.events[first].position, channel};
  slot.slot = result.events[first].slot;
  for (Operation &inner : op.getBody().front()) {
    if (isa<CopyInOp, WriteOp>(inner)) {
      slot.buffer = getFilled(inner);
      add(isa<CopyInOp>(inner) ? Event::Copy : Event::Write, &inner, who, slot);
    } else if (failed(runOp(&inner))) {
      return failure();
    }
  }
  bool isOfOne = op.getBytes() > 0 || acting == Event::First;
  add(Event::Fill, op, isOfOne ? Event::First : Event::EachWarp, slot);
  return instance.getClusterPrograms() > 1 ? reach(op, first) : success();
}

/// The trace of each program.
std::vector<Trace> Tracer::makeTraces() {
  std::vector<Trace> traces(together.size());
  for (auto [i, program] : llvm::enumerate(together)) {
    Trace &trace = traces[i];
    trace.role = result.role;
    trace.copy = result.copy;
    trace.program = program.getNumber();
    trace.tooLong = result.tooLong;
    trace.draws = result.draws;
    trace.skips = result.skips;
    trace.publishing = result.publishing;
    if (i + 1 < together.size())
      trace.events = result.events;
    else
      trace.events = std::move(result.events);
    for (Reached &each : reached) {
      trace.reached.push_back(
          std::make_shared<const std::vector<Reach>>(std::move(each.byProgram[i])));
      for (size_t event : each.events)
        trace.events[event].reaches = *trace.reached.back();
    }
  }
  return traces;
}

/// Which programs the copies of a put reach, the own one without a mask.
LogicalResult Tracer::reach(PutOp op, size_t first) {
  std::vector<std::vector<Reach>> byProgram(together.size());
  for (auto copy : op.getBody().front().getOps<CopyInOp>())
    for (auto [i, program] : llvm::enumerate(together)) {
      std::optional<int64_t> mask =
          copy.getMask() ? getNumberOf(get(copy.getMask()), i) : int64_t(1) << program.getNumber();
      if (!mask || *mask <= 0 || *mask >> instance.getClusterPrograms())
        return fail(
            copy.emitOpError("expected a mask of programs of the cluster, of which there are ")
            << instance.getClusterPrograms() << ", got " << mask.value_or(0));
      if (op.getBytes() > 0)
        byProgram[i].push_back({uint64_t(*mask), getBufferBytes(copy.getBuffer().getType())});
    }
  SmallVector<size_t, 4> events;
  for (size_t i = first; i < result.events.size(); ++i)
    if (llvm::is_contained({Event::Put, Event::Copy, Event::Fill}, result.events[i].kind))
      events.push_back(i);
  reached.push_back({std::move(events), std::move(byProgram)});
  return success();
}

LogicalResult Tracer::reach(ReleaseOp op) {
  std::vector<std::vector<Reach>> byProgram(together.size());
  for (auto [i, program] : llvm::enumerate(together)) {
    for (Value peer : op.getPeers()) {
      std::optional<int64_t> number = getNumberOf(get(peer), i);
      if (!number || *number < 0 || *number >= instance.getClusterPrograms())
        return fail(op.emitOpError("expected numbers of programs of the cluster from 0 to ")
                    << instance.getClusterPrograms() - 1 << ", got " << number.value_or(-1));
      byProgram[i].push_back({uint64_t(1) << *number});
    }
    if (byProgram[i].empty())
      byProgram[i].push_back({uint64_t(1) << program.getNumber()});
  }
  reached.push_back({{result.events.size() - 1}, std::move(byProgram)});
  return success();
}

/// A slot of an operand in tensor memory, which the role has acquired and filled.
LogicalResult Tracer::releaseOperand(ReleaseOp op) {
  unsigned channel = getCapture(op.getChannel());
  std::optional<int64_t> slot = getNumber(op.getSlot());
  auto at = llvm::find_if(acquired[channel], [&](int64_t position) {
    return slot && position % op.getChannel().getType().getDepth() == *slot;
  });
  if (at == acquired[channel].end())
    return fail(op.emitOpError("expected a slot that role \"")
                << role.getName() << "\" acquired and has not released, got slot "
                << slot.value_or(-1));
  int64_t position = *at;
  acquired[channel].erase(at);
  if (isSecondOfPair(op.getChannel()))
    return success();
  Known released{Known::Sum, position, channel};
  released.slot = *slot;
  add(Event::Release, op, Event::First, released);
  return instance.getClusterPrograms() > 1 ? reach(op) : success();
}

/// Whether a role releases slots of a ring by commit, and for others that read them, too.
static bool releasesTwice(Value channel) {
  bool byCommit = false, byOthers = false;
  for (Operation *user : channel.getUsers())
    if (auto release = dyn_cast<ReleaseOp>(user))
      (release.getCommit() ? byCommit : byOthers) = true;
  return byCommit && byOthers && !cast<ChannelType>(channel.getType()).getAccumulator();
}

LogicalResult Tracer::release(ReleaseOp op) {
  unsigned channel = getCapture(op.getChannel());
  bool isOfSums = op.getChannel().getType().getAccumulator() != nullptr;
  if (op.getCommit() && isOfSums && held[channel].empty())
    return releaseOperand(op);
  int64_t depth = op.getChannel().getType().getDepth();
  std::optional<int64_t> slot = getNumber(op.getSlot());
  bool isOwn = getChannel(groups, channel).getType().getOwn();
  auto at = llvm::find_if(held[channel], [&](int64_t position) {
    return slot && (isOwn ? atSlot[channel].count(*slot) && atSlot[channel][*slot] == position
                          : position % depth == *slot);
  });
  if (at == held[channel].end())
    return fail(op.emitOpError("expected a slot that role \"")
                << role.getName() << "\" got and has not released, got slot "
                << (slot ? *slot : -1));
  bool isCovered = covered.count({channel, *at});
  if (isCovered && !readUntilCommit.count({channel, *at}))
    return fail(op.emitOpError("expected a dot in front that reads what was written over the sum"));
  // Of a slot that dots read until a commit and others, too, those hold it by themselves.
  bool isShared = releasesTwice(op.getChannel());
  if (!isCovered && !isShared && op.getCommit() != bool(gotToStart.count({channel, *at})))
    return fail(op.emitOpError("expected a slot that is got 'to_start' to be released by 'commit', "
                               "and no other: threads that wait for it and hold nobody up may come "
                               "too late"));
  if (!op.getCommit() && !isShared && readUntilCommit.count({channel, *at}))
    return fail(
        op.emitOpError("expected 'commit', since dots that read the slot may be in flight"));
  if (isOfSums && !op.getCommit()) {
    if (failed(tellOfTensorMemory(op)))
      return failure();
    tells = false;
  }
  int64_t position = *at;
  if (!op.getCommit())
    fenced.erase({channel, position});
  auto half = halfReleased.find({channel, position});
  if (isShared && half == halfReleased.end()) {
    halfReleased[{channel, position}] = op.getCommit();
  } else {
    if (isShared && half->second == op.getCommit())
      return fail(op.emitOpError("expected a slot that commits give back as well as others to be "
                                 "released once by each"));
    if (isShared)
      halfReleased.erase(half);
    held[channel].erase(at);
  }
  if (op.getCommit() && isSecondOfPair(op.getChannel()))
    return success();
  Known released{Known::Slot, position, channel};
  released.slot = *slot;
  bool isOfOne = op.getCommit() || acting == Event::First;
  add(Event::Release, op, isOfOne ? Event::First : Event::EachWarp, released);
  return instance.getClusterPrograms() > 1 ? reach(op) : success();
}

LogicalResult Tracer::advance(AdvanceOp op) {
  int64_t depth = op.getChannel().getType().getDepth();
  std::optional<int64_t> slot = getNumber(op.getSlot()), phase = getNumber(op.getPhase());
  std::optional<int64_t> by = op.getBy() ? getNumber(op.getBy()) : 1;
  if (!slot || !phase || !by)
    return fail(op.emitOpError("expected a slot, a phase and a count that can be followed"));
  if (*slot < 0 || *slot >= depth || (*phase != 0 && *phase != 1))
    return fail(op.emitOpError("expected a slot from 0 to ")
                << depth - 1 << " and a phase of 0 or 1, got slot " << *slot << " and phase "
                << *phase);
  int64_t next = *slot + *by;
  known[op.getNextSlot()] = {Known::Number, next % depth};
  known[op.getNextPhase()] = {Known::Number, (*phase + next / depth) % 2};
  // Uses that are stepped over are another copy's.
  known[op.getNextSlot()].skipped = get(op.getSlot()).skipped + (op.getBy() ? *by : 0);
  return success();
}
