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

FailureOr<std::vector<Trace>> Tracer::run() {
  constexpr unsigned kMany = 256; // about as many events as a small role has
  events.reserve(kMany);
  for (auto [number, value] : decoded.constants[result.role])
    values[number] = {Known::Number, value};
  Region &region = groups.getBodies()[result.role];
  for (auto [capture, argument] : llvm::zip(groups.getCaptures(), region.getArguments())) {
    if (argument.getType().isIntOrIndex())
      known(argument) = {Known::Number, instance.getScalar(groups, argument.getArgNumber())};
    else if (isa<FloatType>(argument.getType()))
      setNamed(argument, getName({argument.getArgNumber()}));
    if (auto alloc = capture.getDefiningOp<AllocOp>())
      known(argument) = {Known::Alloc, 0, 0, alloc};
  }
  if (failed(runBody(result.role)) && !result.tooLong)
    return failure();
  if ((!result.tooLong && failed(checkEnd())) || diverges)
    return failure();
  return makeTraces();
}

LogicalResult Tracer::count(Operation *op, unsigned ops) {
  if (diverges)
    return failure();
  steps += ops;
  if (steps <= kMostSteps)
    return success();
  result.tooLong = op;
  return failure();
}

LogicalResult Tracer::runBody(unsigned body) {
  for (const Step &step : decoded.bodies[body].steps)
    if (failed(count(step.op, step.ops)) || failed(run(step)))
      return failure();
  steps += decoded.bodies[body].opsBehind;
  return success();
}

LogicalResult Tracer::run(const Step &step) {
  Operation *op = step.op;
  if (step.usesScratch)
    useScratch(op);
  switch (step.kind) {
  case Step::Nothing:
  case Step::FillSlot:
    return success();
  case Step::Compute:
  case Step::Choose:
    return compute(step) ? success() : runScalar(op);
  case Step::Scalar:
    return runScalar(op);
  case Step::Meet:
    add(Event::Meet, op).position = meetings++;
    return runScalar(op);
  case Step::For:
    return runLoop(step);
  case Step::While:
    return runWhile(step);
  case Step::If:
    return runIf(step);
  case Step::OneThread: {
    bool isOfEachWarp = cast<OneThreadOp>(op).getEachWarp();
    llvm::SaveAndRestore<Event::Who> saved(acting, isOfEachWarp ? Event::EachWarp : Event::First);
    return runBody(step.bodies[0]);
  }
  case Step::Put:
    return put(step);
  case Step::Get:
    return get(cast<GetOp>(op));
  case Step::Acquire:
    return acquire(cast<AcquireOp>(op));
  case Step::Commit:
    return commit(cast<CommitOp>(op));
  case Step::Release:
    return release(cast<ReleaseOp>(op));
  case Step::Advance:
    return advance(cast<AdvanceOp>(op));
  case Step::StartDot:
    return start(cast<StartDotOp>(op));
  case Step::WaitDots:
    return wait(cast<WaitOp>(op));
  default:
    return runMemory(step);
  }
}

/// What is no loop, no channel and no dot in flight.
LogicalResult Tracer::runMemory(const Step &step) {
  Operation *op = step.op;
  switch (step.kind) {
  case Step::FillTensor:
    return fill(cast<FillOp>(op));
  case Step::Fetch:
    return fetch(cast<FetchOp>(op));
  case Step::Fence:
    return fence(cast<FenceOp>(op));
  case Step::WaitPuts:
    add(Event::WaitPuts, op).position = cast<WaitPutsOp>(op).getInFlight();
    return success();
  case Step::Part:
    known(op->getResult(0)) = get(cast<PartOp>(op).getBuffer());
    return success();
  case Step::Alloc:
    known(op->getResult(0)) = {Known::Alloc, 0, 0, op};
    return success();
  case Step::Pend:
    known(op->getResult(0)) = {Known::Pending, 0, 0, nullptr, true};
    return success();
  case Step::Poison: {
    bool isPending = isa<PendingType>(op->getResult(0).getType());
    known(op->getResult(0)) = {isPending ? Known::Pending : Known::Nothing};
    return success();
  }
  case Step::Read:
    if (failed(access(op, cast<ReadOp>(op).getBuffer(), Event::Read)))
      return failure();
    readNumber(cast<ReadOp>(op));
    return success();
  case Step::Write:
    return access(op, cast<WriteOp>(op).getBuffer(), Event::Write);
  case Step::CopyOut:
    return copyOut(cast<CopyOutOp>(op));
  case Step::WaitStores: {
    int64_t inFlight = cast<WaitStoresOp>(op).getInFlight();
    stores = std::min(stores, inFlight);
    add(Event::WaitStores, op).position = inFlight;
    return success();
  }
  case Step::Barrier:
    meet(cast<BarrierOp>(op));
    return success();
  case Step::Dot: {
    auto dot = cast<DotOp>(op);
    for (Value operand : {dot.getA(), dot.getB()})
      if (isa<BufferType>(operand.getType()) && failed(access(op, operand, Event::Read)))
        return failure();
    return step.isFollowed ? runScalar(op) : success();
  }
  default:
    return fail(op->emitOpError("expected channels, dots in flight and barriers in scf.for, "
                                "scf.while and scf.if alone"));
  }
}

//===- Channels -----------------------------------------------------------------------------===//

/// A use of a channel by this copy, by the slot and phase that it must have: the next one, or one
/// of those behind it, as many as there are slots, if a later use comes first.
LogicalResult Tracer::use(Operation *op, Value channel, Value slot, Value phase, Event::Kind kind) {
  unsigned index = getCapture(channel);
  if (decoded.channels[index].isOwn)
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
  if (!isSlot || behind >= depth || llvm::is_contained(own.ahead, next + behind)) {
    InFlightDiagnostic error = op->emitOpError("expected slot ")
                               << next % depth << " and phase " << next / depth % 2 << " for use "
                               << next << " of the channel by role \"" << role.getName()
                               << "\", got slot " << *atSlot << " and phase " << *atPhase;
    noteRing(error, decoded.channels[index].op);
    return fail(std::move(error));
  }
  int64_t position = next + behind;
  own.take(position);
  while (int64_t(own.atSlot.size()) < depth)
    own.atSlot.push_back(int64_t(own.atSlot.size()) - depth);
  int64_t &last = own.atSlot[*atSlot];
  result.skips |= position - last > depth;
  last = position;
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
  atSlot[index].resize(depth, -1);
  int64_t &last = atSlot[index][*at];
  if (kind == Event::Get && last < 0)
    return fail(op->emitOpError("expected a slot that was put, got slot ") << *at);
  if (kind == Event::Put)
    last = puts[index].next++;
  Event &event = add(kind, op);
  event.channel = index;
  event.position = last;
  event.slot = *at;
  return success();
}

LogicalResult Tracer::get(GetOp op) {
  if (failed(use(op, op.getChannel(), op.getSlot(), op.getPhase(), Event::Get)))
    return failure();
  unsigned channel = getCapture(op.getChannel());
  Event &event = events.back();
  int64_t position = event.position, slot = event.slot;
  if (op.getToStart() || op.getOneThread())
    event.who = Event::First;
  if (op.getToStart() && isSecondOfPair(op.getChannel()))
    events.pop_back();
  if (isOfNothing(op.getChannel()))
    for (; !said.empty(); said.erase(said.begin()))
      written.erase(*said.begin());
  held[channel].push_back(position);
  bool isSum = op.getChannel().getType().getAccumulator() != nullptr;
  for (auto [i, buffer] : llvm::enumerate(op.getBuffers())) {
    Known &it =
        known(buffer) = {isSum ? Known::Sum : Known::Slot, position, channel, nullptr, isSum};
    it.slot = slot;
    it.buffer = i;
  }
  if (op.getToStart())
    gotToStart.insert({channel, position});
  wasTold |= isSum || isReadUntilCommit(op);
  if (decoded.channels[channel].isCopiedByWarps)
    unseen.insert({channel, position});
  return success();
}

LogicalResult Tracer::put(const Step &step) {
  auto op = cast<PutOp>(step.op);
  if (failed(use(op, op.getChannel(), op.getSlot(), op.getPhase(), Event::Put)))
    return failure();
  if (isOfNothing(op.getChannel())) {
    said = written;
    if (failed(tellOfTensorMemory(op)))
      return failure();
    tells = false;
  }
  size_t first = events.size() - 1;
  Event::Who who = op.getBytes() > 0 ? Event::First : acting;
  events[first].who = who;
  unsigned channel = events[first].channel;
  Known slot{Known::Slot, events[first].position, channel};
  slot.slot = events[first].slot;
  for (const Step &inner : decoded.bodies[step.bodies[0]].steps) {
    if (inner.kind == Step::FillSlot) {
      slot.buffer = inner.buffer;
      add(isa<CopyInOp>(inner.op) ? Event::Copy : Event::Write, inner.op, who, slot);
    } else if (failed(count(inner.op, inner.ops)) || failed(run(inner))) {
      return failure();
    }
  }
  bool isOfOne = op.getBytes() > 0 || acting == Event::First;
  add(Event::Fill, op, isOfOne ? Event::First : Event::EachWarp, slot);
  return instance.getClusterPrograms() > 1 ? reach(op, first) : success();
}

/// A name that tells what is done from what else may be.
static uint64_t nameEvents(ArrayRef<Event> events) {
  uint64_t name = events.size();
  for (const Event &event : events)
    name = getName({name, uint64_t(reinterpret_cast<uintptr_t>(event.op)),
                    uint64_t(event.kind) << 40 | uint64_t(event.who) << 32 | event.channel,
                    uint64_t(reinterpret_cast<uintptr_t>(event.piece)),
                    uint64_t(event.slot) << 32 | event.buffer, uint64_t(event.position),
                    event.reaches});
  return name;
}

/// Those of all copies and programs.
std::vector<Trace> Tracer::makeTraces() {
  uint64_t name = getName({nameEvents(events), result.role, result.skips});
  result.shared = std::make_shared<const std::vector<Event>>(std::move(events));
  result.events = *result.shared;
  std::vector<Trace> traces(together.size(), result);
  for (auto [i, trace] : llvm::enumerate(traces)) {
    trace.copy = together[i].copy;
    trace.program = together[i].getNumber();
    trace.name = getName({name, trace.copy, trace.program});
    for (Reached &each : reached) {
      for (const Reach &reach : each[i])
        trace.name = getName({trace.name, reach.programs, uint64_t(reach.bytes)});
      trace.reached.push_back(std::move(each[i]));
    }
  }
  return traces;
}

/// Which programs the copies of a put reach, the own one without a mask.
LogicalResult Tracer::reach(PutOp op, size_t first) {
  Reached byProgram(together.size());
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
  reached.push_back(std::move(byProgram));
  for (Event &event : llvm::drop_begin(events, first))
    if (llvm::is_contained({Event::Put, Event::Copy, Event::Fill}, event.kind))
      event.reaches = reached.size();
  return success();
}

LogicalResult Tracer::reach(ReleaseOp op) {
  Reached byProgram(together.size());
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
  reached.push_back(std::move(byProgram));
  events.back().reaches = reached.size();
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
  bool isOwn = decoded.channels[channel].isOwn;
  auto at = llvm::find_if(held[channel], [&](int64_t position) {
    return slot && (isOwn ? *slot >= 0 && *slot < int64_t(atSlot[channel].size()) &&
                                atSlot[channel][*slot] == position
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
  known(op.getNextSlot()) = {Known::Number, next % depth};
  known(op.getNextPhase()) = {Known::Number, (*phase + next / depth) % 2};
  // Uses that are stepped over are another copy's.
  known(op.getNextSlot()).skipped = get(op.getSlot()).skipped + (op.getBy() ? *by : 0);
  return success();
}
