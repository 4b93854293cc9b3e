// Turns loads that another role makes ahead of time into channels, and dots in flight into starts
// and waits.
//
// A channel is put, got and released where its loads stand, which may be several places: in front
// of a loop, in it, in the next. Slot and phase are values that go from each place to the next.
#include "Rings.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/PatternMatch.h"

namespace kiln {
#define GEN_PASS_DEF_REALISERINGS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// A kernel with decisions about rings.
class RingRealiser {
public:
  explicit RingRealiser(KernelOp kernel) : kernel(kernel), rewriter(kernel.getContext()) {}

  LogicalResult realise();

private:
  void makeChannels();
  void realiseOwn();
  void putAndGet(Ring &ring, RingUse &use);
  void release(Ring &ring, RingUse &use, Reader &reader);
  void releaseHeld(Ring &ring, RingUse &use, Reader &reader, CarriedDot &carried, unsigned &at);
  Operation *findLastRead(RingUse &use, Reader &reader);
  template <typename Op>
  Op tag(Op op, RoleAttr role) {
    setRoleName(op, role.getName());
    return op;
  }

  KernelOp kernel;
  IRRewriter rewriter;
  RingPlan plan;
  /// What each role got for each load.
  DenseMap<std::pair<Value, Attribute>, Value> buffers;
};
} // namespace

void RingRealiser::makeChannels() {
  rewriter.setInsertionPointToStart(&kernel.getBody().front());
  for (Ring &ring : plan.rings) {
    SmallVector<Type> types = ring.uses.front().getBuffers();
    int64_t empty = 0;
    for (RoleAttr role : ring.getConsumers())
      empty += role.getTotalWarps();
    ring.channel =
        ChannelOp::create(rewriter, ring.uses.front().getSite()->getLoc(),
                          ChannelType::get(kernel.getContext(), ring.depth, ring.isOwn(), types),
                          ring.countsBytes ? 1 : ring.producer.getTotalWarps(), empty);
  }
}

/// Loops whose one role fills its own rings.
void RingRealiser::realiseOwn() {
  SmallVector<SmallVector<Ring *>> loops;
  for (Ring &ring : plan.rings) {
    if (!ring.isOwn())
      continue;
    auto *same = llvm::find_if(loops, [&](ArrayRef<Ring *> rings) {
      return rings.front()->uses.front().getBlock() == ring.uses.front().getBlock();
    });
    if (same == loops.end())
      loops.push_back({&ring});
    else
      same->push_back(&ring);
  }
  for (ArrayRef<Ring *> rings : loops)
    realiseOwnRings(cast<scf::ForOp>(rings.front()->uses.front().loads.front()->getParentOp()),
                    rings);
  llvm::erase_if(plan.rings, [](const Ring &ring) { return ring.isOwn(); });
}

/// All loads of a use become one put, and their values the buffers that are got.
void RingRealiser::putAndGet(Ring &ring, RingUse &use) {
  if (use.store)
    return handOver(ring, use);
  rewriter.setInsertionPoint(use.loads.back());
  Location loc = use.loads.back().getLoc();
  int64_t bytes = 0;
  for (LoadOp load : use.loads)
    if (ring.countsBytes)
      bytes += getBufferBytes(cast<BufferType>(*load.getBuffer()));
  auto put =
      tag(PutOp::create(rewriter, loc, ring.channel, use.slot, use.phase, bytes), ring.producer);
  for (Reader &reader : use.readers)
    reader.get = tag(GetOp::create(rewriter, loc, ring.channel, use.slot, use.phase), reader.role);
  ArrayRef<Type> types = ring.channel.getType().getBuffers();
  Block *body =
      rewriter.createBlock(&put.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
  for (auto [i, load] : llvm::enumerate(use.loads)) {
    rewriter.setInsertionPointToEnd(body);
    CopyInOp::create(rewriter, load.getLoc(), load.getView(), load.getOffsets(),
                     body->getArgument(i), load.getAtomAttr(), load.getCacheAttr(),
                     load.getEvictionAttr());
    for (Reader &reader : use.readers)
      buffers[{load.getResult(), reader.role}] = reader.get.getBuffers()[i];
  }
  // Users other than dots in flight read the buffer at once.
  for (Reader &reader : use.readers) {
    rewriter.setInsertionPointAfter(reader.get);
    for (LoadOp load : use.loads) {
      Value tensor;
      for (OpOperand &operand : llvm::make_early_inc_range(load.getResult().getUses())) {
        Operation *user = operand.getOwner();
        if (plan.isInFlight(user) || getRoleName(user) != reader.role.getName())
          continue;
        if (!tensor)
          tensor = tag(ReadOp::create(rewriter, load.getLoc(), load.getType(),
                                      buffers[{load.getResult(), reader.role}], DenseI64ArrayAttr(),
                                      load.getReadAtomAttr()),
                       reader.role)
                       .getResult();
        operand.set(tensor);
      }
    }
  }
}

/// The op of the use's block behind which nothing of it is read any more: a read, the wait for a
/// dot, or a loop with such dots.
Operation *RingRealiser::findLastRead(RingUse &use, Reader &reader) {
  if (reader.done)
    return reader.done;
  Operation *last = reader.get;
  for (Value buffer : reader.get.getBuffers())
    for (Operation *user : buffer.getUsers()) {
      Operation *done = user;
      auto dot = dyn_cast<StartDotOp>(user);
      if (WaitOp wait = dot ? findWait(dot) : WaitOp())
        done = wait;
      done = use.getBlock()->findAncestorOpInBlock(*done);
      if (last->isBeforeInBlock(done))
        last = done;
    }
  return last;
}

void RingRealiser::release(Ring &ring, RingUse &use, Reader &reader) {
  rewriter.setInsertionPointAfter(findLastRead(use, reader));
  tag(ReleaseOp::create(rewriter, reader.get.getLoc(), ring.channel, use.slot), reader.role);
}

/// A slot that a dot in flight reads goes back so many trips later.
void RingRealiser::releaseHeld(Ring &ring, RingUse &use, Reader &reader, CarriedDot &carried,
                               unsigned &at) {
  scf::ForOp loop = carried.loop;
  Operation *last = findLastRead(use, reader), *yield = loop.getBody()->getTerminator();
  if (last->isBeforeInBlock(carried.held))
    last = carried.held;
  rewriter.setInsertionPointAfter(last);
  Value oldest = loop.getRegionIterArg(at + carried.inFlight - 1);
  Value isDone = isTripAfter(rewriter, loop, loop.getInductionVar(), carried.inFlight);
  auto condition = scf::IfOp::create(rewriter, loop.getLoc(), isDone);
  rewriter.setInsertionPointToStart(condition.thenBlock());
  tag(ReleaseOp::create(rewriter, loop.getLoc(), ring.channel, oldest), reader.role);
  for (int64_t age = 0; age < carried.inFlight; ++age)
    yield->setOperand(at + age, age ? Value(loop.getRegionIterArg(at + age - 1)) : use.slot);
  at += carried.inFlight;
}

LogicalResult RingRealiser::realise() {
  FailureOr<RingPlan> found = planRings(kernel);
  if (failed(found))
    return failure();
  plan = std::move(*found);
  makeChannels();
  realiseOwn();
  SmallVector<Operation *> advances = threadSlots(kernel, plan);
  for (Ring &ring : plan.rings)
    for (RingUse &use : ring.uses)
      putAndGet(ring, use);
  realiseDots(plan, [&](Value load, StringRef role) -> Value {
    for (Ring &ring : plan.rings)
      for (RingUse &use : ring.uses)
        for (Reader &reader : use.readers)
          if (reader.role.getName() == role && use.isRead(load))
            return buffers.lookup({load, reader.role});
    return {};
  });
  SmallVector<unsigned> held;
  for (CarriedDot &carried : plan.carried)
    held.push_back(carried.firstHeld);
  for (Ring &ring : plan.rings)
    for (RingUse &use : ring.uses)
      for (Reader &reader : use.readers) {
        if (!reader.isHeld) {
          release(ring, use, reader);
          continue;
        }
        CarriedDot &carried = *plan.findCarried(use.getBlock()->getParentOp());
        releaseHeld(ring, use, reader, carried, held[&carried - plan.carried.begin()]);
      }
  for (CarriedDot &carried : plan.carried)
    drain(plan, carried);
  for (Ring &ring : plan.rings)
    for (RingUse &use : ring.uses)
      for (LoadOp load : use.loads)
        rewriter.eraseOp(load);
  llvm::SmallSetVector<RoleAttr, 4> skewed;
  for (Ring &ring : plan.rings)
    for (RoleAttr role : ring.getConsumers())
      if (role.getSkew())
        skewed.insert(role);
  for (RoleAttr role : skewed)
    skewDots(kernel, role);
  for (Operation *advance : advances)
    advance->moveBefore(advance->getBlock()->getTerminator());
  kernel.getBody().walk([](scf::ForOp loop) { loop->removeAttr(kDepthAttrName); });
  return success();
}

/// Whether anything of the kernel is to be realised here.
static bool hasRings(KernelOp kernel) {
  if (kernel->hasAttr(kRolesAttrName))
    return true;
  auto find = [](scf::ForOp loop) {
    return loop->hasAttr(kDepthAttrName) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel.getBody().walk(find).wasInterrupted();
}

namespace {
struct RealiseRings : kiln::impl::RealiseRingsBase<RealiseRings> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (hasRings(kernel) && failed(RingRealiser(kernel).realise()))
        return signalPassFailure();
  }
};
} // namespace
