// What a trace follows of dots, and of sums and operands in tensor memory.
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

LogicalResult Tracer::acquire(AcquireOp op) {
  if (failed(use(op, op.getChannel(), op.getSlot(), op.getPhase(), Event::Acquire)))
    return failure();
  unsigned channel = getCapture(op.getChannel());
  int64_t position = events.back().position;
  acquired[channel].push_back(position);
  events.back().who = Event::First;
  known(op.getAccumulator()) = {Known::Sum, position, channel};
  known(op.getAccumulator()).slot = events.back().slot;
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
  add(Event::Fill, op, Event::First, sum);
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
  add(Event::Write, op, acting, sum);
  sum.isDefined = true;
  known(op.getResult()) = sum;
  return success();
}

LogicalResult Tracer::fetch(FetchOp op) {
  Known sum = get(op.getPending());
  if (sum.kind != Known::Sum || !llvm::is_contained(held[sum.channel], sum.value))
    return fail(op.emitOpError("expected an accumulator that role \"")
                << role.getName() << "\" got and has not released");
  if (covered.count({sum.channel, sum.value}))
    return fail(op.emitOpError("expected a sum that nothing has been written over"));
  add(Event::Read, op, acting, sum);
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
    add(Event::Fence, op);
    unseen.clear();
    fenced.insert_range(unfenced);
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
  if (decoded.channels[filled.channel].isOfPair)
    return fail(
        op.emitOpError("expected a tile.put into slots of nothing behind the tile.fill, and a "
                       "tile.get of them, since the dot reads what two programs fill"));
  return fail(op.emitOpError("expected a tile.fence tensor_before and a tile.barrier behind the "
                             "tile.fill, since one thread starts the dot"));
}

/// Whether the first program of the pair starts it.
bool Tracer::isOfOtherProgram(StartDotOp op) const {
  return cast<MmaAtomInterface>(op.getAtom()).getPrograms() > 1 && !instance.isFirstOfPair();
}

void Tracer::addDot(Event::Kind kind, StartDotOp op, const Known &memory) {
  if (!isOfOtherProgram(op))
    add(kind, op, op.getType().getInTensorMemory() ? Event::First : acting, memory);
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
  addDot(Event::DotRead, op, it);
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
  addDot(Event::DotWrite, op, sum);
  addDot(Event::StartDot, op, {});
  sum.isDefined = true;
  known(op.getResult()) = sum;
  return success();
}

LogicalResult Tracer::start(StartDotOp op) {
  std::vector<std::pair<unsigned, int64_t>> slots;
  bool ofPair = cast<MmaAtomInterface>(op.getAtom()).getPrograms() > 1;
  for (Value operand : {Value(op.getA()), Value(op.getB()), Value(op.getAccumulator())})
    if (Known it = get(operand); (it.kind == Known::Slot || it.kind == Known::Sum) &&
                                 decoded.channels[it.channel].isOfPair != ofPair)
      return fail(op.emitOpError("expected slots ")
                  << (ofPair ? "of two programs" : "that no two programs share") << " for "
                  << op.getAtom() << ", got one of " << decoded.channels[it.channel].op.getType());
  for (Value operand : {op.getA(), op.getB()}) {
    if (!isa<BufferType>(operand.getType()))
      continue;
    size_t before = events.size();
    if (failed(access(op, operand, Event::DotRead)))
      return failure();
    if (events.size() > before && isOfOtherProgram(op))
      events.pop_back();
    else if (events.size() > before && op.getType().getInTensorMemory())
      events.back().who = Event::First;
    if (Known buffer = get(operand); buffer.kind == Known::Slot)
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
  addDot(Event::StartDot, op, {});
  known(op.getResult()) = {Known::Pending, ++dots, 0, nullptr, true};
  return success();
}

LogicalResult Tracer::wait(WaitOp op) {
  dotsDone = std::max(dotsDone, dots - int64_t(op.getInFlight()));
  add(Event::WaitDots, op).position = op.getInFlight();
  Known pending = get(op.getPending());
  if (pending.kind != Known::Pending)
    return fail(op.emitOpError("expected a pending result that can be followed"));
  if (isa<PendingType>(op.getType())) {
    known(op.getResult()) = pending;
    return success();
  }
  if (!pending.isDefined)
    return fail(op.emitOpError("expected a result that some dot made, got none"));
  if (pending.value <= dotsDone)
    return success();
  return fail(op.emitOpError("expected the dot that makes the tensor to be waited for, got it in "
                             "flight"));
}
