// Turns loads that another role makes ahead of time, and stores of what another role makes, into
// channels.
//
// A channel is put and got where its loads stand, which may be several places: in front of a loop,
// in it, in the next. Which slot that is, a `tile.next` says, for each role its own.
#include "Rings.h"
#include "Slice.h"
#include "Trip.h"
#include "WriteStages.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

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
  void finish(Ring &ring, LoadOp load);
  void makeChannels();
  PutOp put(Ring &ring, RingUse &use);
  void placeWritten(Ring &ring, PutOp put);
  void setPlace(Ring &ring, TripStages stages, PutOp put, GetOp get);
  GetOp get(Ring &ring, RingUse &use, RoleAttr role);

  KernelOp kernel;
  IRRewriter rewriter;
  RingPlan plan;
  /// What is written from registers in the trips of a loop.
  SmallVector<std::pair<Ring *, PutOp>> written;
};
} // namespace

/// How many arrivals announce that a role has released a slot: one of each copy if dots read the
/// ring that end by commit, and one of each warp if others do.
static int64_t countReleases(Ring &ring, RoleAttr role) {
  bool byCommit = false, byOthers = false;
  for (RingUse &use : ring.uses) {
    byOthers |= bool(use.store);
    for (LoadOp load : use.loads)
      for (OpOperand &operand : load->getUses())
        if (isReadBy(operand, role)) {
          auto dot = dyn_cast<DotOp>(operand.getOwner());
          bool isCommitted = dot && dot.getInFlight() && endsByCommit(dot.getAtomAttr());
          (isCommitted ? byCommit : byOthers) = true;
        }
  }
  return (byCommit ? role.getCopies() : 0) + (byOthers || !byCommit ? role.getTotalWarps() : 0);
}

void RingRealiser::makeChannels() {
  rewriter.setInsertionPointToStart(&kernel.getBody().front());
  for (Ring &ring : plan) {
    int64_t empty = 0;
    for (RoleAttr role : ring.getConsumers())
      empty += countReleases(ring, role);
    int64_t full = ring.countsBytes() ? ring.producer.getCopies() : ring.producer.getTotalWarps();
    ring.channel = ChannelOp::create(rewriter, ring.uses.front().getSite()->getLoc(),
                                     getChannelType(ring, kernel.getContext()), full, empty);
  }
}

NextOp kiln::makeNext(OpBuilder &builder, Location loc, Ring &ring, RoleAttr role) {
  return inRole(NextOp::create(builder, loc, ring.channel), role);
}

/// Whether the instruction moves the slot into registers that lie so.
static bool canRead(ReadOp read, Attribute instruction) {
  auto atom = dyn_cast_or_null<WarpCopyAtomInterface>(instruction);
  BufferType buffer = read.getBuffer().getType();
  auto given = dyn_cast_or_null<LayoutAttr>(buffer.getLayout());
  LinearLayout order =
      given ? given.toLinear(buffer.getShape()) : getRowMajorLayout(buffer.getShape());
  return atom && canMove(atom, getSharedOffsets(getLayout(read.getResult()), &order));
}

/// The copy atom reads the layout that the load has, and of what has come through registers others
/// that fit it. All else is read by vectors.
static ReadOp readAs(OpBuilder &builder, LoadOp load, Type type, Value buffer) {
  auto read = ReadOp::create(builder, load.getLoc(), type, buffer);
  if (Attribute atom = load.getReadAtomAttr();
      atom && (type == load.getType() || (isThroughRegisters(load) && canRead(read, atom))))
    read.setAtomAttr(atom);
  return read;
}

/// All loads of a use are one put, when the first of them is.
PutOp RingRealiser::put(Ring &ring, RingUse &use) {
  LoadOp first = use.loads.front();
  Location loc = use.loads.back().getLoc();
  int64_t bytes = 0;
  for (LoadOp load : use.loads)
    if (ring.countsBytes())
      bytes += getBufferBytes(cast<BufferType>(*load.getBuffer()));
  NextOp next = makeNext(rewriter, loc, ring, ring.producer);
  next.setFills(ring.isReadByProducer());
  auto put =
      inRole(PutOp::create(rewriter, loc, ring.channel, next.getSlot(), next.getPhase(), bytes),
             ring.producer);
  copyPlace(first, put);
  if (ring.isWritten()) // the loads stay where they are, and what writes them follows
    put->removeAttr(spellDecision(put, "order"));
  // In a turn of programs, whose loops wait for it, another role has it at once.
  bool isOfTrip =
      getLoopOfTrips(put) || (ring.isReadByProducer() && isa<scf::ForOp>(put->getParentOp()));
  if (isWrittenLater(ring, use) && isOfTrip) {
    if (std::optional<int64_t> stage = getWriteStage(first))
      put->setAttr(spellDecision(put, "stage"), rewriter.getI64IntegerAttr(*stage));
    written.push_back({&ring, put});
  }
  ArrayRef<Type> types = ring.channel.getType().getBuffers();
  OpBuilder::InsertionGuard guard(rewriter);
  Block *body =
      rewriter.createBlock(&put.getBody(), {}, types, SmallVector<Location>(types.size(), loc));
  for (auto [i, load] : llvm::enumerate(use.loads))
    if (ring.isWritten())
      WriteOp::create(rewriter, load.getLoc(), load.getResult(), body->getArgument(i));
    else
      CopyInOp::create(rewriter, load.getLoc(), load.getView(), load.getOffsets(),
                       body->getArgument(i), load.getAtomAttr(), load.getCacheAttr(),
                       load.getEvictionAttr(), load.getDroppedAttr(), load.getMulticastAttr(),
                       /*mask=*/Value());
  return put;
}

/// Leaves an order of a role in a trip to what is placed there: all that have it or a later one
/// come one later.
static void makeWay(Block &trip, int64_t order, RoleAttr role) {
  for (Operation &op : trip)
    if (std::optional<int64_t> its = findNumber(&op, "order");
        its && *its >= order && !isOfOther(&op, role.getName()))
      op.setAttr(spellDecision(&op, "order"), Builder(&op).getI64IntegerAttr(*its + 1));
}

/// What is written from registers is so behind all else of a trip, while it is loaded; but in front
/// of what its role would wait for in vain.
void RingRealiser::placeWritten(Ring &ring, PutOp put) {
  Operation *waiting = ring.isReadByProducer() ? nullptr : findWaiting(put, ring.producer);
  Operation *place =
      waiting ? findWritePlace(put, waiting, ring.producer) : put->getBlock()->getTerminator();
  if (Attribute order = waiting ? getDecision(waiting, "order") : Attribute()) {
    makeWay(*put->getBlock(), cast<IntegerAttr>(order).getInt(), ring.producer);
    put->setAttr(spellDecision(put, "order"), order);
  }
  put->moveBefore(place);
  put.getSlot().getDefiningOp<NextOp>()->moveBefore(put);
}

/// What is in a ring that its own role fills is read when it is used first; if nobody says when, as
/// `findTripStages` found.
void RingRealiser::setPlace(Ring &ring, TripStages stages, PutOp put, GetOp get) {
  if (!ring.isReadByProducer() || !(isa<scf::ForOp>(put->getParentOp()) || getLoopOfTrips(put)))
    return;
  auto setStage = [&](Operation *op, int64_t stage) {
    op->setAttr(spellDecision(op, "stage"), rewriter.getI64IntegerAttr(stage));
  };
  std::optional<int64_t> first = findFirstStage(get);
  setStage(put, findNumber(put, "stage").value_or(first ? 0 : stages.filled));
  int64_t read = first.value_or(stages.read);
  setStage(get, read);
  for (Value buffer : get.getBuffers())
    for (Operation *user : buffer.getUsers())
      if (isa<ReadOp>(user))
        setStage(user, read);
}

/// A role's dots in flight read the buffers, all else is read into registers: as it is converted
/// to, if it is.
GetOp RingRealiser::get(Ring &ring, RingUse &use, RoleAttr role) {
  Location loc = use.loads.back().getLoc();
  NextOp next = makeNext(rewriter, loc, ring, role);
  auto get =
      inRole(GetOp::create(rewriter, loc, ring.channel, next.getSlot(), next.getPhase()), role);
  for (auto [i, buffer] : llvm::enumerate(get.getBuffers())) {
    LoadOp load = use.loads[i];
    DenseMap<Type, Value> tensors;
    auto read = [&, buffer = Value(buffer)](Type type) {
      Value &tensor = tensors[type];
      if (!tensor)
        tensor = inRole(readAs(rewriter, load, type, buffer), role).getResult();
      return tensor;
    };
    for (OpOperand &operand : llvm::make_early_inc_range(load.getResult().getUses())) {
      Operation *user = operand.getOwner();
      if (!isReadBy(operand, role))
        continue;
      if (auto conversion = dyn_cast<ConvertLayoutOp>(user))
        rewriter.replaceOp(conversion, read(conversion.getType()));
      else
        operand.set(isReadFromBuffer(operand) ? Value(buffer) : read(load.getType()));
    }
  }
  return get;
}

/// A load that has become one put, or whose result one writes.
void RingRealiser::finish(Ring &ring, LoadOp load) {
  if (!ring.isWritten())
    return rewriter.eraseOp(load);
  for (StringRef name :
       {"atom", "buffer", "read_atom", "ring", "depth", kWriteStageAttrName.data()})
    load->removeAttr(name);
  if (!load.getDropped())
    return;
  // Registers hold all dimensions that the view has.
  RankedTensorType type = load.getType();
  SmallVector<int64_t> shape = getWholeShape(type.getShape(), load.getDropped());
  LinearLayout layout = getLayout(load.getResult()).reshapeOuts(shape);
  if (std::optional<ArrayRef<int64_t>> extents = load.getExtents())
    load.setExtents(getWholeShape(*extents, load.getDropped()));
  load.removeDroppedAttr();
  load.getResult().setType(RankedTensorType::get(shape, type.getElementType(),
                                                 LayoutAttr::get(type.getContext(), layout)));
  rewriter.setInsertionPointAfter(load);
  auto reshape = ReshapeOp::create(rewriter, load.getLoc(), type, load.getResult());
  inRole(reshape, ring.producer);
  copyPlace(load, reshape);
  reshape->removeAttr(spellDecision(reshape, "order"));
  rewriter.replaceAllUsesExcept(load.getResult(), reshape.getResult(), reshape);
}

LogicalResult RingRealiser::realise() {
  FailureOr<RingPlan> found = planRings(kernel);
  if (failed(found))
    return failure();
  plan = std::move(*found);
  makeChannels();
  // As long as dots read what is loaded.
  DenseMap<Operation *, TripStages> stages;
  for (Ring &ring : plan)
    for (RingUse &use : ring.uses)
      if (!use.store)
        stages.try_emplace(use.getSite(), findTripStages(plan, ring, use));
  for (Ring &ring : plan)
    for (RingUse &use : ring.uses) {
      if (use.store)
        continue;
      rewriter.setInsertionPointAfter(use.getSite());
      PutOp made = put(ring, use);
      // Who reads one use of a ring passes by what others bring for other roles.
      for (RoleAttr role : ring.getConsumers())
        setPlace(ring, stages.at(use.getSite()), made, get(ring, use, role));
    }
  for (auto [ring, put] : written)
    placeWritten(*ring, put);
  for (Ring &ring : plan)
    for (RingUse &use : ring.uses) {
      for (LoadOp load : use.loads)
        finish(ring, load);
      if (use.store)
        handOver(ring, use);
    }
  // What warps compute into shared memory is handed over there.
  kernel.getBody().walk([](Operation *op) {
    auto place = op->getAttrOfType<StringAttr>(kResidencyAttrName);
    if (place && (isa<DotOp>(op) || place == "registers"))
      op->removeAttr(kResidencyAttrName);
  });
  return success();
}

/// Whether anything of the kernel is to be realised here.
static bool hasAnyToRealise(KernelOp kernel) {
  if (kernel->hasAttr(kRolesAttrName))
    return true;
  auto find = [](Operation *op) {
    return op->hasAttr(kDepthAttrName) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel.getBody().walk(find).wasInterrupted();
}

namespace {
struct RealiseRings : kiln::impl::RealiseRingsBase<RealiseRings> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (hasAnyToRealise(kernel) && failed(RingRealiser(kernel).realise()))
        return signalPassFailure();
  }
};
} // namespace
