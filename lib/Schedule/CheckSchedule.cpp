// Holds what is pinned against what the chip has, before anything is realised: the roles of a
// kernel, its sums in tensor memory, and each loop.
#include "CopyRealiser.h"
#include "CutParts.h"
#include "GlobalAccesses.h"
#include "Lags.h"
#include "PlannedSums.h"
#include "SourceErrors.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Swapped.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace kiln {
#define GEN_PASS_DEF_CHECKSCHEDULE
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Where the depth is said of the ring that an op fills: on itself, on another load of the ring, or
/// on its loop.
static Operation *findDepthPlace(Operation *op, RingPlan &plan) {
  auto load = dyn_cast<LoadOp>(op);
  if (!load || load.getDepth())
    return op;
  for (Ring &ring : plan)
    for (RingUse &use : ring.uses)
      if (llvm::is_contained(use.loads, load))
        for (LoadOp other : use.loads)
          if (other.getDepth())
            return other;
  Operation *loop = findDeepLoop(op->getBlock());
  return loop ? loop : op;
}

static LogicalResult refuse(Operation *loop, const LoopProblem &made,
                            const schedule::Violation &why, RingPlan &plan) {
  Operation *op = why.op ? made.ops[*why.op] : loop;
  Operation *place = why.decision == "depth" ? findDepthPlace(op, plan) : op;
  InFlightDiagnostic error = emitSourceError(place, describe(why));
  if (place != op)
    error.attachNote(op->getLoc()) << "the ring is filled here";
  bool isOfMemory = StringRef(why.limit).contains("shared memory");
  if (isOfMemory)
    planSharedPieces(loop->getParentOfType<KernelOp>(), plan).list(error);
  noteOthers(error, why, made.problem, made.ops);
  // Of a product the other way round warps may write another operand there.
  if (isOfMemory || why.decision == "in_flight")
    noteSwapped(error, loop);
  return error;
}

static LogicalResult check(Operation *loop, RingPlan &plan, const Chip &chip,
                           SumsInFlight &inFlight) {
  PinsChecked checked = checkPins(loop, plan, chip);
  if (checked.wrong)
    return refuse(loop, checked.made, *checked.wrong, plan);
  for (auto [dot, slots] : findSumsInFlight(checked.made, checked.placed))
    inFlight[dot] = slots;
  return success();
}

/// The barriers and registers of roles, with the copies that will run programs of their own.
static LogicalResult checkRoles(KernelOp kernel) {
  SmallVector<Attribute> roles;
  for (auto role : kernel->getAttrOfType<ArrayAttr>(kRolesAttrName).getAsRange<RoleAttr>())
    roles.push_back(withTurns(kernel, role));
  return checkRoleLimits(kernel, ArrayAttr::get(kernel.getContext(), roles));
}

/// Whether each ring alone has room, whatever else is there: also one of a loop that nothing is
/// known of.
static LogicalResult checkRoom(KernelOp kernel, RingPlan &plan, const Chip &chip) {
  SharedPieces found = planSharedPieces(kernel, plan);
  for (auto [ring, piece] : llvm::zip(plan, found.pieces))
    if (piece.bytes > chip.sharedBytes) {
      Operation *site = ring.uses.front().getSite(), *place = findDepthPlace(site, plan);
      InFlightDiagnostic error = place->emitOpError("expected a ring of at most ")
                                 << chip.sharedBytes << " bytes of shared memory, got "
                                 << piece.bytes << " of " << ring.depth << " slots ('"
                                 << spellDecision(place, "depth") << "')";
      if (place != site)
        error.attachNote(site->getLoc()) << "the ring is filled here";
      if (ring.uses.front().getBuffers().size() > 1)
        found.list(error);
      return error;
    }
  return success();
}

/// How long a product runs on beside its warps is decided. Of what ends by commit one thread gives
/// slots back: copies that lag behind one another by barriers would wait for it in unlike trips.
static LogicalResult checkBeside(DotOp dot) {
  auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr());
  if (!atom || atom.getCompletion() == Completion::InOrder)
    return success();
  RoleAttr role = lookUpRole(dot);
  if (role && role.getSkew() && atom.getCompletion() == Completion::Commit)
    return dot.emitOpError("expected no skew of role \"")
           << role.getName() << "\", since " << atom << " tells of its end by a commit, got "
           << role.getSkew();
  return requireDecision(dot, "in_flight");
}

/// Products that are cut into parts, with roles or without.
static LogicalResult checkParts(KernelOp kernel) {
  auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName);
  RoleAttr only = roles && roles.size() == 1 ? cast<RoleAttr>(roles[0]) : RoleAttr();
  WalkResult result = kernel.getBody().walk([&](DotOp dot) {
    bool isCut = dot.getParts() || dot.isPromoted();
    return WalkResult(isCut ? kiln::checkParts(dot, only ? only : lookUpRole(dot)) : success());
  });
  return failure(result.wasInterrupted());
}

/// Copies that lag behind one another meet twice in a trip of the loop whose rings they fill, so
/// often as all of them come by: not in the loops inside it.
static LogicalResult checkLags(RingPlan &plan) {
  for (Ring &ring : plan)
    for (RingUse &use : ring.uses) {
      RoleAttr role = ring.producer;
      Operation *nest = role.getSkew() && ring.isOwn() ? findNest(plan, ring, use) : nullptr;
      if (!nest)
        continue;
      InFlightDiagnostic error = use.getSite()->emitOpError("expected no skew of role \"")
                                 << role.getName() << "\", which uses rings in a loop behind it "
                                 << "too, got a skew of " << role.getSkew();
      error.attachNote(nest->getLoc()) << "the loop";
      return error;
    }
  return success();
}

/// More copies than a role has room for.
static constexpr int64_t kMostOddCopies = 8;

/// An engine stores boxes of a view as the kernel has it. What a tile has grown by is at the end of
/// it, with some of the copies alone.
static LogicalResult checkExtents(StoreOp store) {
  RoleAttr role = store.getAtomAttr() && store.getExtents() ? lookUpRole(store) : RoleAttr();
  RankedTensorType type = store.getValue().getType();
  int dim = role ? findDividedDim(type, role) : -1;
  int64_t size = dim < 0 ? 0 : type.getDimSize(dim);
  if (dim < 0 || (*store.getExtents())[dim] == size)
    return success();
  ArrayRef<int64_t> extents = *store.getExtents();
  InFlightDiagnostic error = store.emitOpError("expected a tile that the ")
                             << role.getCopies() << " copies of role \"" << role.getName()
                             << "\" share out evenly, got " << extents[dim] << " of " << size
                             << " along dimension " << dim;
  // As many as its odd factor have powers of two each.
  int64_t odd = extents[dim] >> llvm::countr_zero(uint64_t(extents[dim]));
  error.attachNote() << "of " << extents[dim] << ", "
                     << (odd > 1 && odd != role.getCopies() && odd < kMostOddCopies
                             ? llvm::utostr(odd) + " copies have a power of two each, or one copy"
                             : "one copy")
                     << " has all ('copies')";
  return error;
}

/// Copies that lag behind one another do not come together to what one of them does for all.
static LogicalResult checkTogether(Operation *op) {
  RoleAttr role = isa<AtomicRMWOp, AtomicCASOp>(op) ? lookUpRole(op) : RoleAttr();
  if (!role || !role.getSkew() || !isOfAllCopies(op, role))
    return success();
  return emitSourceError(op, "expected no skew of role \"")
         << role.getName() << "\", one of whose copies changes a number in memory for all, got a "
         << "skew of " << role.getSkew();
}

/// Where slots are constants, one trip uses as many of a ring as any other: none by a loop or a
/// condition of the trip.
static LogicalResult checkKnownSlots(RingPlan &plan) {
  for (Ring &ring : plan) {
    if (!ring.isOwn() || ring.depth == 1)
      continue;
    for (RingUse &use : ring.uses) {
      if (!use.getSite()->getParentOfType<LoopLikeOpInterface>())
        continue;
      for (RingUse &inner : ring.uses) {
        Operation *site = inner.getSite();
        if (inner.getBlock() == use.getBlock() || !use.getBlock()->findAncestorOpInBlock(*site))
          continue;
        InFlightDiagnostic error = site->emitOpError(
            "expected a ring ('ring') of its own, or one of one slot ('depth'), since it stands in "
            "a loop or a condition of a trip that uses the ring too");
        error.attachNote(use.getSite()->getLoc()) << "this op uses it";
        return error;
      }
    }
  }
  return success();
}

/// The role that has a tile copied for others is not told when that is done: it may not store over
/// what is copied in the same trip.
static LogicalResult checkOverwritten(Ring &ring) {
  if (ring.isReadByProducer() || ring.isWritten())
    return success();
  for (RingUse &use : ring.uses)
    for (LoadOp load : use.loads) {
      std::optional<GlobalAccess> read = findGlobalAccess(load);
      Operation *store = nullptr;
      auto isOver = [&](Operation *op) {
        std::optional<GlobalAccess> access = findGlobalAccess(op);
        if (!access || !access->writes || getRoleName(op) != ring.producer.getName() ||
            !mayMeetAcrossRoles(*read, *access))
          return WalkResult::advance();
        store = op;
        return WalkResult::interrupt();
      };
      for (Operation *other = load->getNextNode(); other && !store; other = other->getNextNode())
        other->walk(isOver);
      if (!store)
        continue;
      InFlightDiagnostic error =
          store->emitOpError("expected a role ('")
          << spellDecision(store, "role") << "') that uses what is loaded to store over it, since "
          << "role \"" << ring.producer.getName() << "\", which has it copied for others, is not "
          << "told when that is done";
      error.attachNote(load.getLoc()) << "the load";
      return error;
    }
  return success();
}

/// Whether products read a slot itself in a nest of its use's block, or behind it. Others read it
/// into registers, in front of the nest.
static bool isHeldAcross(RingUse &use, Operation *nest) {
  return llvm::any_of(findOwnDots(use.loads), [&](DotOp dot) {
    Operation *reader = use.getBlock()->findAncestorOpInBlock(*dot);
    return reader && !reader->isBeforeInBlock(nest);
  });
}

/// A slot that a trip holds while a loop in it uses the ring too is not filled again before that
/// loop has ended: who fills the ring waits for it once the others are full.
static LogicalResult checkHeldSlots(Ring &ring) {
  for (RingUse &use : ring.uses) {
    llvm::MapVector<Operation *, int64_t> inNests;
    for (RingUse &inner : ring.uses) {
      Operation *nest = use.getBlock()->findAncestorOpInBlock(*inner.getSite());
      if (isa_and_nonnull<scf::ForOp, scf::WhileOp>(nest) && use.getSite()->isBeforeInBlock(nest) &&
          isHeldAcross(use, nest))
        ++inNests[nest];
    }
    for (auto [nest, uses] : inNests) {
      auto loop = dyn_cast<scf::ForOp>(nest);
      std::optional<APInt> trips = loop ? loop.getStaticTripCount() : std::nullopt;
      if (trips && trips->ult(ring.depth) && trips->getSExtValue() * uses < ring.depth)
        continue;
      InFlightDiagnostic error = use.getSite()->emitOpError("expected a ring ('ring') of its own")
                                 << ", or one of more slots ('depth') than the loop behind it "
                                 << "uses, which holds one of the " << ring.depth << " meanwhile";
      error.attachNote(nest->getLoc()) << "the loop";
      return error;
    }
  }
  return success();
}

/// The trips after an iteration has begun in which a block's uses of a ring fill its slots.
static SmallVector<int64_t> getFillTimes(ArrayRef<RingUse *> uses) {
  SmallVector<int64_t> times;
  for (RingUse *use : uses) {
    LoadOp load = use->loads.front();
    times.push_back(getWriteStage(load).value_or(load.getStage().value_or(0)));
  }
  return times;
}

/// Whether a use of a ring fills its slot before another one in a trip, as far as their orders say
/// it.
static bool isEarlier(RingUse &use, size_t place, RingUse &other, size_t otherPlace) {
  std::optional<int64_t> order = use.loads.front().getOrder();
  std::optional<int64_t> otherOrder = other.loads.front().getOrder();
  if (order && otherOrder)
    return *order < *otherOrder;
  return !order && !otherOrder && place < otherPlace;
}

/// Uses of one ring go round its slots in the order of the source: what fills a slot of a later
/// iteration has to wait for who fills it before, whose stage may be later still.
static LogicalResult checkFills(Ring &ring) {
  llvm::MapVector<Block *, SmallVector<RingUse *>> blocks;
  for (RingUse &use : ring.uses)
    if (!use.store && !ring.isReadByProducer() && getLoopOfTrips(use.getSite()))
      blocks[use.getBlock()].push_back(&use);
  for (ArrayRef<RingUse *> uses : llvm::make_second_range(blocks)) {
    SmallVector<int64_t> times = getFillTimes(uses);
    auto findEarly = [&](int64_t depth) -> std::optional<size_t> {
      for (size_t place = 0; place < times.size(); ++place) {
        std::pair<size_t, int64_t> at = findUseBefore(place, times.size(), depth);
        size_t before = at.first;
        int64_t time = times[place] + at.second;
        if (time < times[before] ||
            (time == times[before] && isEarlier(*uses[place], place, *uses[before], before)))
          return place;
      }
      return std::nullopt;
    };
    std::optional<size_t> early = findEarly(ring.depth);
    if (!early)
      continue;
    int64_t least = ring.depth;
    while (findEarly(++least))
      ;
    size_t before = findUseBefore(*early, times.size(), ring.depth).first;
    bool isLaterStage = times[*early] < times[before];
    InFlightDiagnostic error = uses[*early]->getSite()->emitOpError("expected at least ")
                               << least << " slots ('depth') of the ring, since it fills a slot "
                               << "that another load of the ring has to fill before, "
                               << (isLaterStage ? "at a later stage" : "later in a trip ('order')")
                               << ", got " << ring.depth;
    error.attachNote(uses[before]->getSite()->getLoc()) << "the other load";
    return error;
  }
  return success();
}

/// Each copy of a role brings its part of what engines fill, unless each takes programs of its own.
static LogicalResult checkStrips(KernelOp kernel, RingPlan &plan) {
  for (Ring &ring : plan) {
    if (!ring.countsBytes() || ring.producer.getCopies() == 1 || takesTurns(kernel, ring.producer))
      continue;
    for (RingUse &use : ring.uses)
      for (LoadOp load : use.loads)
        if (failed(shareOutBuffer(load, cast<BufferType>(*load.getBuffer()), load.getAtomAttr(),
                                  ring.producer)))
          return failure();
  }
  return success();
}

/// Copies that take programs in turn meet nowhere: none fills a slot for the others, or its part of
/// one.
static LogicalResult checkTurns(KernelOp kernel, RingPlan &plan) {
  for (Ring &ring : plan) {
    if (!takesTurns(kernel, ring.producer))
      continue;
    Operation *site = ring.uses.front().getSite();
    bool isLoadedForItself = ring.isReadByProducer() && !ring.uses.front().store;
    if (isLoadedForItself && kernel->hasAttr(kBlockProgramsAttrName))
      return site->emitOpError("expected a load without '")
             << spellDecision(site, "atom") << "', since copies of role \""
             << ring.producer.getName() << "\" run a program each ('programs_per_block')";
    if (ring.isOwn())
      return site->emitOpError("expected another role to fill the ring, since copies of role \"")
             << ring.producer.getName() << "\" take programs in turn";
    if (!ring.countsBytes() && ring.completion != Completion::InOrder)
      return site->emitOpError("expected copies of role \"")
             << ring.producer.getName() << "\", which take programs in turn, to bring what an "
             << "engine counts or what goes through registers, since copies by warps are of all of "
             << "a role's";
  }
  return success();
}

static LogicalResult check(KernelOp kernel, const Chip &chip) {
  auto checkOp = [](Operation *op) {
    auto dot = dyn_cast<DotOp>(op);
    return WalkResult(dot ? checkBeside(dot) : checkTogether(op));
  };
  if (failed(checkRoles(kernel)) || kernel.getBody().walk(checkOp).wasInterrupted())
    return failure();
  FailureOr<RingPlan> plan = planRings(kernel);
  if (failed(plan))
    return failure();
  DenseSet<StoreOp> handedOver;
  for (Ring &ring : *plan)
    for (RingUse &use : ring.uses)
      handedOver.insert(use.store);
  auto checkStore = [&](StoreOp store) {
    return WalkResult(handedOver.contains(store) ? success() : checkExtents(store));
  };
  if (kernel.getBody().walk(checkStore).wasInterrupted())
    return failure();
  if (failed(checkLags(*plan)) || failed(checkTurns(kernel, *plan)) ||
      failed(checkStrips(kernel, *plan)) || failed(checkClusters(kernel, *plan)) ||
      failed(checkPlannedSums(kernel)))
    return failure();
  if (chip.knownSlots && failed(checkKnownSlots(*plan)))
    return failure();
  for (Ring &ring : *plan)
    if (failed(checkOverwritten(ring)) || failed(checkHeldSlots(ring)) || failed(checkFills(ring)))
      return failure();
  for (Ring &ring : *plan)
    if (ring.isReadByProducer() && failed(checkTripsAhead(*plan, ring)))
      return failure();
  SumsInFlight inFlight;
  auto checkTrips = [&](Operation *op) {
    auto loop = dyn_cast<scf::WhileOp>(op);
    bool hasTrips = loop ? isRotated(loop) : isa<scf::ForOp>(op) && !op->hasAttr(kProgramsAttrName);
    return WalkResult(hasTrips ? check(op, *plan, chip, inFlight) : success());
  };
  if (kernel.getBody().walk(checkTrips).wasInterrupted() || failed(checkSumRoom(kernel, inFlight)))
    return failure();
  for (Block *block : findLagging(kernel))
    if (PinsChecked checked = checkLags(*block, *plan); checked.wrong)
      return refuse(block->getParentOp(), checked.made, *checked.wrong, *plan);
  return checkRoom(kernel, *plan, chip);
}

namespace {
struct CheckSchedule : kiln::impl::CheckScheduleBase<CheckSchedule> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(checkParts(kernel)) ||
          (kernel->hasAttr(kRolesAttrName) && failed(check(kernel, target->getChipRecord()))))
        return signalPassFailure();
  }
};
} // namespace
