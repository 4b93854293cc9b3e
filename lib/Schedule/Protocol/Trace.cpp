// What a trace follows of channels, dots and buffers.
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

LogicalResult Tracer::runBlock(Block &block) {
  for (Operation &op : block)
    if (!op.hasTrait<OpTrait::IsTerminator>() && failed(runOp(&op)))
      return failure();
  return success();
}

LogicalResult Tracer::step(Operation *op) {
  if (++steps <= kMostSteps)
    return success();
  result.tooLong = op;
  return failure();
}

LogicalResult Tracer::runOp(Operation *op) {
  if (failed(step(op)) || (!isa<AllocOp>(op) && failed(touch(op, op))))
    return failure();
  if (!isa<BarrierOp>(op) && meetsOtherCopies(op)) {
    result.events.push_back({Event::Meet, 0, meetings++, op});
    return runScalar(op);
  }
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return runLoop(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return runWhile(loop);
  if (auto condition = dyn_cast<scf::IfOp>(op))
    return runIf(condition);
  if (auto it = dyn_cast<OneThreadOp>(op))
    return runBlock(it.getBody().front());
  if (auto it = dyn_cast<PutOp>(op))
    return put(it);
  if (auto it = dyn_cast<GetOp>(op)) {
    if (failed(use(op, it.getChannel(), it.getSlot(), it.getPhase(), Event::Get)))
      return failure();
    unsigned channel = getCapture(it.getChannel());
    int64_t position = result.events.back().position;
    if (it.getToStart() && isSecondOfPair(it.getChannel()))
      result.events.pop_back();
    if (isOfNothing(it.getChannel()))
      for (; !said.empty(); said.erase(said.begin()))
        written.erase(*said.begin());
    held[channel].push_back(position);
    bool isSum = it.getChannel().getType().getAccumulator() != nullptr;
    for (Value buffer : it.getBuffers())
      known[buffer] = {isSum ? Known::Sum : Known::Slot, position, channel, nullptr, isSum};
    if (it.getToStart())
      gotToStart.insert({channel, position});
    wasTold |= isSum || it.getToStart();
    if (isCopiedByWarps(channel))
      unseen.insert({channel, position});
    return success();
  }
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
    waitPuts(it);
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
    if (failed(access(op, it.getBuffer(), /*isWrite=*/false)))
      return failure();
    readNumber(it);
    return success();
  }
  if (auto it = dyn_cast<WriteOp>(op))
    return access(op, it.getBuffer(), /*isWrite=*/true);
  if (auto it = dyn_cast<CopyOutOp>(op))
    return copyOut(it);
  if (auto it = dyn_cast<WaitStoresOp>(op)) {
    waitStores(it.getInFlight());
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
      if (isa<BufferType>(operand.getType()) && failed(access(op, operand, /*isWrite=*/false)))
        return failure();
  if (op->getNumRegions() > 0 && matters(op))
    return fail(op->emitOpError("expected channels, dots in flight and barriers in scf.for, "
                                "scf.while and scf.if alone"));
  return runScalar(op);
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
  result.events.push_back({kind, index, position, op});
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
  if (kind == Event::Get) {
    if (isFirst)
      return fail(op->emitOpError("expected a slot that was put, got slot ") << *at);
    result.events.push_back({kind, index, last->second, op, barriers, published});
    if (isReadByDots(cast<GetOp>(op)))
      result.needed.insert_range(result.publishing);
    return touch(op, getChannel(groups, index));
  }
  if (failed(touch(op, getChannel(groups, index))))
    return failure();
  int64_t &next = puts[index].next;
  result.events.push_back({kind, index, next, op, barriers, published, last->second});
  // What the warps write themselves is there as soon as they have written it.
  if (cast<PutOp>(op).getBody().front().getOps<CopyInOp>().empty())
    result.events.push_back({Event::Arrive, index, next, op, barriers, published});
  else
    ownPuts.push_back({index, next});
  filled[getChannel(groups, index)][next] = barriers;
  last->second = next++;
  return success();
}

void Tracer::waitPuts(WaitPutsOp op) {
  for (; ownPuts.size() > size_t(op.getInFlight()); ownPuts.pop_front())
    result.events.push_back(
        {Event::Arrive, ownPuts.front().first, ownPuts.front().second, op, barriers, published});
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
  // What fills it is checked where bytes are; here only scalars are followed.
  size_t event = result.events.size() - 1;
  for (Operation &inner : op.getBody().front())
    if (!isa<CopyInOp, WriteOp>(inner) && failed(runOp(&inner)))
      return failure();
  return instance.getClusterPrograms() > 1 ? reach(op, result.events[event].reaches) : success();
}

/// Which programs the copies of a put reach, the own one without a mask.
LogicalResult Tracer::reach(PutOp op, std::vector<Reach> &reaches) {
  for (auto copy : op.getBody().front().getOps<CopyInOp>()) {
    std::optional<int64_t> mask =
        copy.getMask() ? getNumber(copy.getMask()) : int64_t(1) << instance.getNumber();
    if (!mask || *mask <= 0 || *mask >> instance.getClusterPrograms())
      return fail(
          copy.emitOpError("expected a mask of programs of the cluster, of which there are ")
          << instance.getClusterPrograms() << ", got " << mask.value_or(0));
    if (op.getBytes() > 0)
      reaches.push_back({uint64_t(*mask), getBufferBytes(copy.getBuffer().getType())});
  }
  return success();
}

LogicalResult Tracer::reach(ReleaseOp op, std::vector<Reach> &reaches) {
  for (Value peer : op.getPeers()) {
    std::optional<int64_t> number = getNumber(peer);
    if (!number || *number < 0 || *number >= instance.getClusterPrograms())
      return fail(op.emitOpError("expected numbers of programs of the cluster from 0 to ")
                  << instance.getClusterPrograms() - 1 << ", got " << number.value_or(-1));
    reaches.push_back({uint64_t(1) << *number});
  }
  if (reaches.empty())
    reaches.push_back({uint64_t(1) << instance.getNumber()});
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
  result.events.push_back({Event::Release, channel, position, op, barriers});
  return instance.getClusterPrograms() > 1 ? reach(op, result.events.back().reaches) : success();
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
  for (const auto &slots : reads)
    if (llvm::is_contained(slots, std::pair(channel, *at)))
      return fail(op.emitOpError("expected dots that read the slot to be waited for, got one in "
                                 "flight"));
  for (const Known &store : stores)
    if (store.kind == Known::Slot && store.channel == channel && store.value == *at)
      return fail(op.emitOpError("expected a tile.wait_stores for the store that still reads the "
                                 "slot"));
  bool isCovered = covered.count({channel, *at});
  if (isCovered && !readUntilCommit.count({channel, *at}))
    return fail(op.emitOpError("expected a dot in front that reads what was written over the sum"));
  if (!isOwn && !op.getLanes() && !isCovered && readByLanes.count({channel, *at}))
    return fail(op.emitOpError("expected 'lanes', since lanes read the slot into registers and one "
                               "of them arrives for all"));
  if (unfenced.count({channel, *at}))
    return fail(op.emitOpError("expected a tile.fence shared behind what lanes read of the slot, "
                               "since an engine fills it again"));
  if (!isCovered && op.getCommit() != bool(gotToStart.count({channel, *at})))
    return fail(op.emitOpError("expected a slot that is got 'to_start' to be released by 'commit', "
                               "and no other: threads that wait for it and hold nobody up may come "
                               "too late"));
  if (!op.getCommit() && readUntilCommit.count({channel, *at}))
    return fail(
        op.emitOpError("expected 'commit', since dots that read the slot may be in flight"));
  if (isOfSums && !op.getCommit()) {
    if (failed(tellOfTensorMemory(op)))
      return failure();
    tells = false;
  }
  int64_t position = *at;
  if (ChannelOp ring = getChannel(groups, channel); isOwn) {
    if (!overlaps.of(ring).empty())
      result.places.push_back({ring, filled[ring][position], barriers, op});
    filled[ring].erase(position);
  }
  fenced.erase({channel, position});
  held[channel].erase(at);
  if (op.getCommit() && isSecondOfPair(op.getChannel()))
    return success();
  result.events.push_back({Event::Release, channel, position, op, barriers});
  return instance.getClusterPrograms() > 1 ? reach(op, result.events.back().reaches) : success();
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

//===- Dots ---------------------------------------------------------------------------------===//

LogicalResult Tracer::acquire(AcquireOp op) {
  if (failed(use(op, op.getChannel(), op.getSlot(), op.getPhase(), Event::Acquire)))
    return failure();
  unsigned channel = getCapture(op.getChannel());
  int64_t position = result.events.back().position;
  acquired[channel].push_back(position);
  known[op.getAccumulator()] = {Known::Sum, position, channel};
  if (llvm::any_of(op.getAccumulator().getUsers(), llvm::IsaPred<FillOp>))
    alone.insert({channel, position});
  wasTold = true;
  return success();
}

LogicalResult Tracer::commit(CommitOp op) {
  unsigned channel = getCapture(op.getChannel());
  Known sum = get(op.getAccumulator());
  std::optional<int64_t> slot = getNumber(op.getSlot());
  if (sum.kind != Known::Sum || sum.channel != channel || !slot ||
      *slot != sum.value % op.getChannel().getType().getDepth())
    return fail(op.emitOpError("expected the accumulator of the slot"));
  auto at = llvm::find(acquired[channel], sum.value);
  if (at == acquired[channel].end())
    return fail(op.emitOpError("expected a slot that role \"")
                << role.getName() << "\" acquired and has not committed, got use " << sum.value);
  if (!sum.isDefined)
    return fail(op.emitOpError("expected an accumulator that some dot made, got none"));
  acquired[channel].erase(at);
  result.events.push_back({Event::Put, channel, sum.value, op});
  return success();
}

/// What is written over a sum that all have got, and fetched each its rows of.
LogicalResult Tracer::cover(FillOp op, Known sum) {
  if (sum.kind != Known::Sum || !llvm::is_contained(held[sum.channel], sum.value))
    return fail(op.emitOpError("expected to write over a sum that role \"")
                << role.getName() << "\" got and has not released");
  if (!covered.insert({sum.channel, sum.value}).second)
    return fail(op.emitOpError("expected a sum that nothing was written over, since dots may read "
                               "it"));
  return success();
}

LogicalResult Tracer::fill(FillOp op) {
  Known sum = get(op.getAccumulator());
  if (op.getAccumulator().getDefiningOp<PartOp>()) {
    if (failed(cover(op, sum)))
      return failure();
    sum.isDefined = false;
  } else if (sum.kind != Known::Sum || !llvm::is_contained(acquired[sum.channel], sum.value)) {
    return fail(op.emitOpError("expected an accumulator that role \"")
                << role.getName() << "\" acquired and has not committed");
  }
  if (sum.isDefined)
    return fail(op.emitOpError("expected an accumulator that no dot may be writing"));
  if (alone.count({sum.channel, sum.value}))
    return fail(
        op.emitOpError("expected a tile.barrier behind the tile.acquire, since one thread has "
                       "waited for all"));
  if (failed(accessTensorMemory(op)))
    return failure();
  written.insert({sum.channel, sum.value});
  sum.isDefined = true;
  known[op.getResult()] = sum;
  return success();
}

LogicalResult Tracer::fetch(FetchOp op) {
  Known sum = get(op.getPending());
  if (sum.kind != Known::Sum || !llvm::is_contained(held[sum.channel], sum.value))
    return fail(op.emitOpError("expected an accumulator that role \"")
                << role.getName() << "\" got and has not released");
  if (gotToStart.count({sum.channel, sum.value}))
    return fail(op.emitOpError("expected a slot that all threads have waited for, got one that was "
                               "got 'to_start'"));
  if (covered.count({sum.channel, sum.value}))
    return fail(op.emitOpError("expected a sum that nothing has been written over"));
  readByLanes.insert({sum.channel, sum.value});
  return accessTensorMemory(op);
}

LogicalResult Tracer::accessTensorMemory(Operation *op) {
  if (wasTold)
    return fail(
        op->emitOpError("expected a tile.fence tensor_after behind what told of accesses to "
                        "tensor memory by others"));
  hasAccessed |= !isa<StartDotOp>(op); // of whose end a commit tells
  return success();
}

LogicalResult Tracer::tellOfTensorMemory(Operation *op) {
  if (hasAccessed)
    return fail(op->emitOpError("expected a tile.fence tensor_before between accesses to tensor "
                                "memory and what tells others of them"));
  return success();
}

LogicalResult Tracer::fence(FenceOp op) {
  auto before = dyn_cast_or_null<FenceOp>(op->getPrevNode());
  if (before && before.getKind() == op.getKind())
    return fail(
        op.emitOpError("expected an access that it orders, got none since the fence in front "
                       "of it"));
  if (op.getKind() == FenceKind::Shared) {
    if (unseen.empty() && unfenced.empty() && fenced.empty())
      return fail(op.emitOpError("expected a slot that warps of another role have copied into, or "
                                 "one of an engine's that lanes have read, got none"));
    unseen.clear();
    fenced.merge(unfenced);
    unfenced.clear();
    return success();
  }
  if (op.getKind() == FenceKind::Barriers)
    return fail(op.emitOpError("expected to stand in front of roles, behind what makes barriers"));
  bool isBefore = op.getKind() == FenceKind::TensorBefore;
  bool &orders = isBefore ? hasAccessed : wasTold;
  if (!orders)
    return fail(op.emitOpError("expected an access to tensor memory that it orders, got none"));
  orders = false;
  tells |= isBefore;
  return success();
}

/// What all warps have written to tensor memory they must have told the thread that starts dots.
LogicalResult Tracer::checkTold(StartDotOp op, Known filled) {
  if (!written.count({filled.channel, filled.value}))
    return success();
  if (getChannel(groups, filled.channel).getType().getPair())
    return fail(
        op.emitOpError("expected a tile.put into slots of nothing behind the tile.fill, and a "
                       "tile.get of them, since the dot reads what two programs fill"));
  return fail(op.emitOpError("expected a tile.fence tensor_before and a tile.barrier behind the "
                             "tile.fill, since one thread starts the dot"));
}

/// Operand a, or scales, in tensor memory.
LogicalResult Tracer::readOperand(StartDotOp op, Value operand) {
  Known it = get(operand);
  bool isCovering = it.kind == Known::Sum && covered.count({it.channel, it.value}) &&
                    llvm::is_contained(held[it.channel], it.value);
  if (isCovering)
    readUntilCommit.insert({it.channel, it.value});
  else if (it.kind != Known::Sum || !llvm::is_contained(acquired[it.channel], it.value))
    return fail(op.emitOpError("expected an operand that role \"")
                << role.getName() << "\" acquired and has not released");
  if (!it.isDefined)
    return fail(op.emitOpError("expected an operand that a tile.fill has written"));
  return checkTold(op, it);
}

/// A dot into tensor memory.
LogicalResult Tracer::startInto(StartDotOp op, ArrayRef<std::pair<unsigned, int64_t>> slots) {
  Known sum = get(op.getAccumulator());
  std::optional<int64_t> accumulates = op.getAccumulates() ? getNumber(op.getAccumulates()) : 1;
  if (sum.kind != Known::Sum || !llvm::is_contained(acquired[sum.channel], sum.value) ||
      !accumulates)
    return fail(op.emitOpError("expected an accumulator that role \"")
                << role.getName() << "\" acquired and has not committed");
  if (*accumulates && !sum.isDefined)
    return fail(op.emitOpError("expected an accumulator that holds something, since it is read"));
  bool isWritten = isa<PendingType>(op.getA().getType());
  if (failed(checkTold(op, sum)) || (isWritten && failed(readOperand(op, op.getA()))))
    return failure();
  for (Value scales : op.getScales())
    if (failed(readOperand(op, scales)))
      return failure();
  if (failed(accessTensorMemory(op)))
    return failure();
  readUntilCommit.insert(slots.begin(), slots.end());
  sum.isDefined = true;
  known[op.getResult()] = sum;
  return success();
}

LogicalResult Tracer::start(StartDotOp op) {
  std::vector<std::pair<unsigned, int64_t>> slots;
  bool ofPair = cast<MmaAtomInterface>(op.getAtom()).getPrograms() > 1;
  for (Value operand : {Value(op.getA()), Value(op.getB()), Value(op.getAccumulator())})
    if (Known it = get(operand); (it.kind == Known::Slot || it.kind == Known::Sum) &&
                                 getChannel(groups, it.channel).getType().getPair() != ofPair)
      return fail(op.emitOpError("expected slots ")
                  << (ofPair ? "of two programs" : "that no two programs share") << " for "
                  << op.getAtom() << ", got one of " << getChannel(groups, it.channel).getType());
  for (Value operand : {op.getA(), op.getB()}) {
    if (!isa<BufferType>(operand.getType()))
      continue;
    if (failed(access(op, operand, /*isWrite=*/false)))
      return failure();
    Known buffer = get(operand);
    if (buffer.kind != Known::Slot)
      continue;
    if (unseen.count({buffer.channel, buffer.value}))
      return fail(op.emitOpError("expected a tile.fence shared behind the tile.get of the slot, "
                                 "which warps of another role copy into"));
    slots.emplace_back(buffer.channel, buffer.value);
  }
  if (op.getType().getInTensorMemory())
    return startInto(op, slots);
  Known accumulator = get(op.getAccumulator());
  std::optional<int64_t> accumulates = op.getAccumulates() ? getNumber(op.getAccumulates()) : 1;
  if (accumulator.kind != Known::Pending || !accumulates)
    return fail(op.emitOpError("expected an accumulator that can be followed"));
  if (*accumulates && !accumulator.isDefined)
    return fail(op.emitOpError("expected an accumulator that holds something, since it is read"));
  reads.push_back(slots);
  known[op.getResult()] = {Known::Pending, ++dots, 0, nullptr, true};
  return success();
}

LogicalResult Tracer::wait(WaitOp op) {
  for (; dots - dotsDone > int64_t(op.getInFlight()); ++dotsDone)
    reads.pop_front();
  Known pending = get(op.getPending());
  if (pending.kind != Known::Pending)
    return fail(op.emitOpError("expected a pending result that can be followed"));
  if (isa<PendingType>(op.getType())) {
    known[op.getResult()] = pending;
    return success();
  }
  if (!pending.isDefined)
    return fail(op.emitOpError("expected a result that some dot made, got none"));
  if (pending.value <= dotsDone)
    return success();
  return fail(op.emitOpError("expected the dot that makes the tensor to be waited for, got it in "
                             "flight"));
}

//===- Buffers ------------------------------------------------------------------------------===//

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
      if (isa<StartDotOp, CopyOutOp>(op)) // whose reads are an engine's
        return success();
      readByLanes.insert({it.channel, it.value});
      if (!getChannel(groups, it.channel).getType().getOwn() &&
          isFilledByEngine(groups, it.channel))
        unfenced.insert({it.channel, it.value});
      return success();
    }
    return fail(op->emitOpError("expected a slot that role \"")
                << role.getName() << "\" has not released, got use " << it.value
                << " of the channel");
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
