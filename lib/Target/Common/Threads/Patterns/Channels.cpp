// Channels as slots in shared memory with two barriers each.
//
// A slot's `full` barrier ends a phase when the slot was filled, its `empty` barrier when all have
// released it. Who gets waits for the phase that its own count names; who puts waits for the one
// before, which of a fresh barrier has ended, so that nobody need fill the ring with releases.
//
// Of a slot that two programs fill, the first one's `full` barrier counts what both bring.
#include "../Rings.h"
#include "../SharedAccess.h"
#include "../ThreadPatterns.h"
#include "../ThreadPlans.h"
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Of tensor memory.
static constexpr int64_t kAddressBytes = 4;

static bool isOfPair(Value channel) { return cast<ChannelType>(channel.getType()).getPair(); }

ChannelPlan kiln::planChannel(ChannelType type) {
  ChannelPlan plan;
  int64_t at = 0;
  unsigned buffers = type.getAccumulator() ? 0 : type.getBuffers().size();
  for (unsigned i = 0; i < buffers; ++i) {
    plan.offsets.push_back(at);
    plan.bytes.push_back(llvm::alignTo(getSharedBytes(type.getBuffer(i)), kEngineAlignment));
    at += plan.bytes.back() * type.getDepth();
  }
  plan.full = at;
  plan.empty = plan.full + type.getDepth() * kByteBarrierBytes;
  plan.end = plan.empty + type.getDepth() * kByteBarrierBytes;
  plan.address = plan.end + (type.getAccumulator() ? kByteBarrierBytes : 0);
  // Nobody waits at a slot that its own role fills.
  plan.total = type.getOwn() ? at : plan.address + (type.getAccumulator() ? kAddressBytes : 0);
  return plan;
}

//===- Slots and barriers -------------------------------------------------------------------===//

SmallVector<Value> kiln::getSlot(ThreadContext &context, Value channel, Value slot) {
  auto type = cast<ChannelType>(channel.getType());
  ChannelPlan plan = planChannel(type);
  SmallVector<Value> buffers;
  if (PendingType accumulator = type.getAccumulator()) {
    Value base = getTensorAddress(context, channel);
    return {context.sync.getTensorSlot(context, context.getLoc(), base, context.get(slot),
                                       getTensorSlotBytes(accumulator.getTensor(), context.sync))};
  }
  for (auto [offset, bytes] : llvm::zip(plan.offsets, plan.bytes)) {
    Value at = arith::MulIOp::create(context, context.get(slot), context.i32(bytes));
    buffers.push_back(getSharedAt(context, context.get(channel),
                                  arith::AddIOp::create(context, at, context.i32(offset))));
  }
  return buffers;
}

namespace {
/// In shared memory, and how many arrivals a phase of it awaits.
struct Barrier {
  Value place;
  int64_t arrivals;

  void arrive(ThreadContext &context) const {
    context.sync.arrive(context, context.getLoc(), place, arrivals);
  }
  void wait(ThreadContext &context, Value parity, bool ofCluster) const {
    context.sync.waitBarrier(context, context.getLoc(), place, parity, arrivals, ofCluster);
  }
};
} // namespace

static Barrier getBarrier(ThreadContext &context, Value channel, Value slot, bool full) {
  ChannelPlan plan = planChannel(cast<ChannelType>(channel.getType()));
  Value at = arith::MulIOp::create(context, context.get(slot), context.i32(kByteBarrierBytes));
  ChannelOp made = findChannel(channel);
  return {
      getSharedAt(context, context.get(channel),
                  arith::AddIOp::create(context, at, context.i32(full ? plan.full : plan.empty))),
      int64_t(full ? made.getFull() : made.getEmpty())};
}

/// A place in shared memory, which others fill with what its users wait at.
static LogicalResult lowerChannel(ThreadContext &context, ChannelOp op) {
  if (llvm::none_of(op->getUsers(), llvm::IsaPred<InitOp>))
    return op.emitOpError("expected a tile.init, which makes its barriers");
  if (op.getResult().getType().getAccumulator() &&
      llvm::none_of(op->getUsers(), llvm::IsaPred<AllocTensorOp>))
    return op.emitOpError("expected a tile.alloc_tensor, which sets its memory aside");
  context.set(op, getShared(context, op));
  context.function->getParentOfType<ModuleOp>()
      .lookupSymbol<LLVM::GlobalOp>(kSharedSymbol)
      .setAlignment(kEngineAlignment);
  return success();
}

static LogicalResult lowerInit(ThreadContext &context, InitOp op) {
  if (failed(requireOneThread(op)))
    return failure();
  ChannelType type = op.getChannel().getType();
  ChannelPlan plan = planChannel(type);
  auto channel = op.getChannel().getDefiningOp<ChannelOp>();
  if (!channel)
    return op.emitOpError("expected to stand beside the tile.channel");
  for (int64_t slot = 0; slot < type.getDepth(); ++slot)
    for (auto [first, arrivals] :
         {std::pair(plan.full, channel.getFull()), std::pair(plan.empty, channel.getEmpty())})
      if (arrivals) // else nobody waits to be told
        context.sync.initBarrier(context, context.getLoc(),
                                 getSharedAt(context, context.get(channel),
                                             context.i32(first + slot * kByteBarrierBytes)),
                                 arrivals);
  if (auto ends = op->getAttrOfType<IntegerAttr>(kEndsAttrName))
    context.sync.initBarrier(context, context.getLoc(),
                             getSharedAt(context, context.get(channel), context.i32(plan.end)),
                             ends.getInt());
  return success();
}

/// The barrier is told of their end by the dots themselves, and ends its one phase.
static LogicalResult lowerEndDots(ThreadContext &context, EndDotsOp op) {
  if (failed(requireOneThread(op)))
    return failure();
  IntegerAttr ends;
  for (Operation *user : findChannel(op.getChannel())->getUsers())
    if (isa<InitOp>(user) && user->hasAttr(kEndsAttrName))
      ends = user->getAttrOfType<IntegerAttr>(kEndsAttrName);
  if (!ends)
    return op.emitOpError("expected '")
           << kEndsAttrName << "' on the tile.init of its channel, which makes its barrier";
  auto type = cast<ChannelType>(op.getChannel().getType());
  Barrier end{
      getSharedAt(context, context.get(op.getChannel()), context.i32(planChannel(type).end)),
      ends.getInt()};
  context.sync.commitDots(context, context.getLoc(), end.place, /*mask=*/Value(), type.getPair());
  end.wait(context, context.i32(0), /*ofCluster=*/false);
  return success();
}

//===- Uses ---------------------------------------------------------------------------------===//

static void lowerAdvance(ThreadContext &context, AdvanceOp op) {
  int64_t slots = cast<ChannelType>(op.getChannel().getType()).getDepth();
  Value depth = context.i32(slots);
  Value slot = context.get(op.getSlot()), phase = context.get(op.getPhase());
  // To the other of two slots: past that of another copy and back to its own, this is no work.
  if (slots == 2 && (!op.getBy() || isConstantIntValue(op.getBy(), 1))) {
    context.set(op.getNextSlot(), arith::XOrIOp::create(context, slot, context.i32(1)));
    context.set(op.getNextPhase(), arith::XOrIOp::create(context, phase, slot));
    return;
  }
  if (op.getBy()) {
    Value by = arith::IndexCastOp::create(context, context.getI32Type(), context.get(op.getBy()));
    slot = arith::AddIOp::create(context, slot, by);
    Value rounds = arith::DivUIOp::create(context, slot, depth);
    rounds = arith::AndIOp::create(context, rounds, context.i32(1));
    context.set(op.getNextSlot(), arith::RemUIOp::create(context, slot, depth));
    context.set(op.getNextPhase(), arith::XOrIOp::create(context, phase, rounds));
    return;
  }
  slot = arith::AddIOp::create(context, slot, context.i32(1));
  Value wraps = arith::CmpIOp::create(context, arith::CmpIPredicate::eq, slot, depth);
  Value turned = arith::XOrIOp::create(context, phase, context.i32(1));
  context.set(op.getNextSlot(), arith::SelectOp::create(context, wraps, context.i32(0), slot));
  context.set(op.getNextPhase(), arith::SelectOp::create(context, wraps, turned, phase));
}

static LogicalResult requireClusters(ThreadContext &context, Operation *op, bool reachesOthers) {
  if (!reachesOthers || context.sync.hasClusters())
    return success();
  return emitUnsupported(op, context.target, "expected a chip that has clusters");
}

/// Programs 2 i and 2 i + 1 of a cluster are a pair.
Value kiln::isFirstOfPair(ThreadContext &context) {
  Value number = context.sync.getNumberInCluster(context, context.getLoc());
  Value place = arith::AndIOp::create(context, number, context.i32(1));
  return arith::CmpIOp::create(context, arith::CmpIPredicate::eq, place, context.i32(0));
}

/// Its number in the cluster.
static Value getFirstOfPair(ThreadContext &context) {
  Value number = context.sync.getNumberInCluster(context, context.getLoc());
  return arith::AndIOp::create(context, number, context.i32(~1));
}

/// What warps write, or have started to copy, which holds the phase up itself; or nothing. A lane
/// of each warp says so, of two programs at the barrier of the first.
static LogicalResult lowerWrittenPut(ThreadContext &context, PutOp op) {
  bool ofPair = isOfPair(op.getChannel());
  if (failed(requireClusters(context, op, ofPair)))
    return failure();
  Value other = arith::XOrIOp::create(context, context.get(op.getPhase()), context.i32(1));
  getBarrier(context, op.getChannel(), op.getSlot(), /*full=*/false)
      .wait(context, other, /*ofCluster=*/ofPair);
  for (auto [argument, buffer] :
       llvm::zip(op.getBody().getArguments(), getSlot(context, op.getChannel(), op.getSlot())))
    context.set(argument, buffer);
  Block &body = op.getBody().front();
  if (failed(context.lower(body)))
    return failure();
  if (!body.getOps<CopyInOp>().empty())
    context.sync.awaitCopies(
        context, context.getLoc(),
        getBarrier(context, op.getChannel(), op.getSlot(), /*full=*/true).place);
  if (op->hasAttr(kLanesAttrName))
    context.sync.meetLanes(context, context.getLoc());
  Value first =
      arith::CmpIOp::create(context, arith::CmpIPredicate::eq, context.lane, context.i32(0));
  context.emitIf(first, [&] {
    Barrier full = getBarrier(context, op.getChannel(), op.getSlot(), /*full=*/true);
    if (ofPair)
      context.sync.arriveAt(context, context.getLoc(), full.place, getFirstOfPair(context),
                            /*publishes=*/true);
    else
      full.arrive(context);
  });
  return success();
}

/// Whether programs that the copies go to release the slot, too.
static bool goesToOthers(PutOp op) {
  return llvm::any_of(op.getBody().front().getOps<CopyInOp>(),
                      [](CopyInOp copy) { return bool(copy.getMask()); });
}

/// Runs on the first program of a pair what is left to it.
static void emitByFirst(ThreadContext &context, Operation *op, llvm::function_ref<void()> emit) {
  if (op->hasAttr(kFirstOfPairAttrName))
    context.emitIf(isFirstOfPair(context), emit);
  else
    emit();
}

static LogicalResult lowerPut(ThreadContext &context, PutOp op) {
  bool ofPair = isOfPair(op.getChannel());
  if (op.getBytes() == 0)
    return lowerWrittenPut(context, op);
  if (failed(requireOneThread(op)) || failed(requireFirstOfPair(op)) ||
      failed(requireClusters(context, op, ofPair)))
    return failure();
  Value other = arith::XOrIOp::create(context, context.get(op.getPhase()), context.i32(1));
  getBarrier(context, op.getChannel(), op.getSlot(), /*full=*/false)
      .wait(context, other, goesToOthers(op) || ofPair);
  Value filled = getBarrier(context, op.getChannel(), op.getSlot(), /*full=*/true).place;
  int64_t programs = ofPair ? 2 : 1;
  emitByFirst(context, op, [&] {
    context.sync.arriveExpecting(context, context.getLoc(), filled, programs * op.getBytes());
  });
  if (ofPair)
    filled = context.sync.getBarrierOf(context, context.getLoc(), filled, getFirstOfPair(context));
  context.getState<PutState>() = {filled, ofPair};
  for (auto [argument, buffer] :
       llvm::zip(op.getBody().getArguments(), getSlot(context, op.getChannel(), op.getSlot())))
    context.set(argument, buffer);
  return context.lower(op.getBody().front());
}

static LogicalResult lowerGet(ThreadContext &context, GetOp op) {
  Barrier full = getBarrier(context, op.getChannel(), op.getSlot(), /*full=*/true);
  bool ofPair = isOfPair(op.getChannel());
  auto wait = [&] { full.wait(context, context.get(op.getPhase()), ofPair); };
  if (!op.getToStart())
    wait();
  else if (failed(requireFirstOfPair(op)) || failed(emitForOne(context, op, op.getOneThread(), [&] {
             emitByFirst(context, op, wait);
           })))
    return failure();
  for (auto [result, buffer] :
       llvm::zip(op.getBuffers(), getSlot(context, op.getChannel(), op.getSlot())))
    context.set(result, buffer);
  return success();
}

/// The programs' bits.
static Value getMask(ThreadContext &context, ValueRange programs) {
  Value mask;
  for (Value program : programs) {
    Value bit = arith::ShLIOp::create(context, context.i32(1), context.get(program));
    mask = mask ? arith::OrIOp::create(context, mask, bit).getResult() : bit;
  }
  return mask ? arith::TruncIOp::create(context, context.getI16Type(), mask).getResult() : mask;
}

/// By each thread that runs it: one of a warp, or, with `commit`, one of the copy.
static LogicalResult lowerRelease(ThreadContext &context, ReleaseOp op) {
  bool ofPair = isOfPair(op.getChannel());
  if (failed(requireClusters(context, op, !op.getPeers().empty())) ||
      failed(requireOneThread(op, /*ofEachWarp=*/!op.getCommit())) ||
      failed(requireFirstOfPair(op)))
    return failure();
  Barrier empty = getBarrier(context, op.getChannel(), op.getSlot(), /*full=*/false);
  if (op.getCommit())
    emitByFirst(context, op, [&] {
      context.sync.commitDots(context, context.getLoc(), empty.place,
                              getMask(context, op.getPeers()), ofPair);
    });
  else if (op.getPeers().empty())
    empty.arrive(context);
  for (Value program : op.getCommit() ? ValueRange() : ValueRange(op.getPeers()))
    context.sync.arriveAt(context, context.getLoc(), empty.place, context.get(program),
                          /*publishes=*/false);
  return success();
}

static LogicalResult lowerAcquire(ThreadContext &context, AcquireOp op) {
  Barrier empty = getBarrier(context, op.getChannel(), op.getSlot(), /*full=*/false);
  Value other = arith::XOrIOp::create(context, context.get(op.getPhase()), context.i32(1));
  if (failed(emitForOne(context, op, op.getOneThread(),
                        [&] { empty.wait(context, other, isOfPair(op.getChannel())); })))
    return failure();
  context.set(op, getSlot(context, op.getChannel(), op.getSlot()).front());
  return success();
}

static LogicalResult lowerCommit(ThreadContext &context, CommitOp op) {
  if (failed(requireOneThread(op)))
    return failure();
  bool ofPair = isOfPair(op.getChannel());
  Value mask;
  if (ofPair) {
    mask = arith::ShLIOp::create(context, context.i32(0b11), getFirstOfPair(context));
    mask = arith::TruncIOp::create(context, context.getI16Type(), mask);
  }
  context.sync.commitDots(context, context.getLoc(),
                          getBarrier(context, op.getChannel(), op.getSlot(), /*full=*/true).place,
                          mask, ofPair);
  return success();
}

/// So many columns further on.
static LogicalResult lowerColumns(ThreadContext &context, PartOp op) {
  auto whole = cast<PendingType>(op.getBuffer().getType());
  RankedTensorType tensor = whole.getTensor();
  int64_t bytes = getTensorSlotBytes(tensor, context.sync) / tensor.getShape().back();
  if (bytes != context.sync.getTensorColumnBytes())
    return op.emitOpError("expected an accumulator of as many rows as a column of tensor memory "
                          "has, got ")
           << whole;
  Value column = arith::IndexCastOp::create(context, context.getI32Type(),
                                            context.get(op.getOffsets().back()));
  context.set(op, context.sync.getTensorSlot(context, context.getLoc(), context.get(op.getBuffer()),
                                             column, bytes));
  return success();
}

static LogicalResult lowerPart(ThreadContext &context, PartOp op) {
  if (isa<PendingType>(op.getType()))
    return lowerColumns(context, op);
  auto whole = cast<BufferType>(op.getBuffer().getType()), part = cast<BufferType>(op.getType());
  LinearLayout layout;
  if (auto given = dyn_cast_or_null<LayoutAttr>(whole.getLayout()))
    layout = given.toLinear(whole.getShape());
  else
    layout =
        LinearLayout::identity(ShapedType::getNumElements(whole.getShape()), kOffset, getDimName(0))
            .reshapeOuts(whole.getShape());
  LinearLayout inverse = *layout.invert();
  Value sum;
  for (auto [dim, offset] : llvm::enumerate(op.getOffsets())) {
    // The offset is a multiple of the part's extent, so the bits below have no say.
    SmallVector<LinearLayout::Basis> bases(inverse.getBases(getDimName(dim)));
    for (int bit = 0; bit < llvm::countr_zero(uint64_t(part.getShape()[dim])); ++bit)
      bases[bit].assign(1, 0);
    Value number = arith::IndexCastOp::create(context, context.getI32Type(), context.get(offset));
    sum = combineBits(context, context.getLoc(), number, bases, 0, sum);
  }
  Value base = context.get(op.getBuffer());
  if (sum)
    base =
        getSharedAt(context, base,
                    arith::MulIOp::create(
                        context, sum, context.i32(getSharedElementBytes(whole.getElementType()))));
  context.set(op, base);
  setPartOfSlot(context, op, op.getBuffer());
  return success();
}

static bool isOwn(Value channel) { return cast<ChannelType>(channel.getType()).getOwn(); }

/// What the use of a channel takes; nothing, if the role fills it for itself.
static Takes takesOf(Value channel, bool usesEngines) {
  return usesEngines && !isOwn(channel) ? Takes::Engines : Takes::Nothing;
}

/// A slot that is known when compiling is one of the ring's.
template <typename OpTy>
static LogicalResult checkSlot(OpTy op) {
  APInt slot;
  int64_t depth = cast<ChannelType>(op.getChannel().getType()).getDepth();
  if (!matchPattern(op.getSlot(), m_ConstantInt(&slot)) || slot.ult(depth))
    return success();
  return op.emitOpError("expected a slot from 0 to ")
         << depth - 1 << " of " << op.getChannel().getType() << ", got " << slot.getSExtValue();
}

void kiln::populateChannelPatterns(ThreadPatterns &patterns) {
  patterns.addScheduled<ChannelOp>(
      [](ThreadContext &context, ChannelOp op) {
        if (!isOwn(op))
          return lowerChannel(context, op);
        lowerOwnChannel(context, op);
        return success();
      },
      Takes::Nothing);
  patterns.addScheduled<InitOp>(lowerInit, Takes::Nothing);
  patterns.addScheduled<AllocTensorOp>(lowerAllocTensor, Takes::Engines);
  patterns.addScheduled<FreeTensorOp>(lowerFreeTensor, Takes::Engines);
  patterns.addScheduled<EndDotsOp>(lowerEndDots, Takes::Engines);
  patterns.addScheduled<PutOp>(
      [](ThreadContext &context, PutOp op) {
        if (failed(checkSlot(op)))
          return failure();
        return isOwn(op.getChannel()) ? lowerOwnPut(context, op) : lowerPut(context, op);
      },
      [](PutOp op) { return takesOf(op.getChannel(), op.getBytes() > 0); });
  patterns.addScheduled<GetOp>(
      [](ThreadContext &context, GetOp op) {
        if (failed(checkSlot(op)))
          return failure();
        if (!isOwn(op.getChannel()))
          return lowerGet(context, op);
        lowerOwnGet(context, op);
        return success();
      },
      [](GetOp op) { return takesOf(op.getChannel(), op.getToStart()); });
  patterns.addScheduled<ReleaseOp>(
      [](ThreadContext &context, ReleaseOp op) {
        // Barriers tell the other warps that the slot of an own ring is free.
        return isOwn(op.getChannel()) ? success() : lowerRelease(context, op);
      },
      [](ReleaseOp op) { return takesOf(op.getChannel(), op.getCommit()); });
  patterns.addScheduled<AdvanceOp>(lowerAdvance, Takes::Nothing);
  patterns.addScheduled<AcquireOp>(lowerAcquire, Takes::Engines);
  patterns.addScheduled<CommitOp>(lowerCommit, Takes::Engines);
  patterns.addScheduled<PartOp>(lowerPart, Takes::Nothing);
}
