// Reads a kernel's decisions about its rings and dots in flight.
#include "Rings.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

FailureOr<RoleAttr> kiln::findRole(Operation *op, StringRef name) {
  auto kernel = op->getParentOfType<KernelOp>();
  auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName);
  if (!roles)
    return kernel.emitOpError("expected '") << kRolesAttrName << "' to be decided";
  for (auto role : roles.getAsRange<RoleAttr>())
    if (role.getName() == name)
      return role;
  return op->emitOpError("expected one of the kernel's roles, got \"") << name << "\"";
}

static FailureOr<RoleAttr> requireRole(Operation *op) {
  FailureOr<Attribute> name = requireDecision(op, "role");
  if (failed(name))
    return failure();
  return findRole(op, cast<StringAttr>(*name).getValue());
}

SmallVector<RoleAttr> Ring::getConsumers() const {
  SmallVector<RoleAttr> roles;
  for (const RingUse &use : uses)
    for (const Reader &reader : use.readers)
      if (!llvm::is_contained(roles, reader.role))
        roles.push_back(reader.role);
  return roles;
}

SmallVector<Type> RingUse::getBuffers() {
  if (!store)
    return llvm::map_to_vector(loads, [](LoadOp load) -> Type { return *load.getBuffer(); });
  auto buffer = cast<BufferType>(*store.getBuffer());
  int64_t boxes =
      store.getValue().getType().getNumElements() / ShapedType::getNumElements(buffer.getShape());
  return SmallVector<Type>(boxes, buffer);
}

/// The loop with `tile.depth` whose body this stands in, or null.
static scf::ForOp getRingLoop(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
  return loop && loop->hasAttr(kDepthAttrName) ? loop : scf::ForOp();
}

static int64_t getDepth(scf::ForOp loop) {
  return loop->getAttrOfType<IntegerAttr>(kDepthAttrName).getInt();
}

//===- Loads --------------------------------------------------------------------------------===//

/// Whether a load's atom counts the bytes that it brings; an error if it cannot fill the buffer.
static FailureOr<bool> checkAtom(LoadOp load) {
  auto atom = cast<CopyAtomInterface>(load.getAtomAttr());
  if (atom.getCompletion() != Completion::CountedBytes)
    return false;
  auto engine = cast<EngineAtomInterface>(load.getAtomAttr());
  auto buffer = cast<BufferType>(*load.getBuffer());
  auto layout = dyn_cast_or_null<LayoutAttr>(buffer.getLayout());
  LinearLayout linear;
  if (layout)
    linear = layout.toLinear(buffer.getShape());
  if (engine.getBoxes(buffer.getShape(), buffer.getElementType(), layout ? &linear : nullptr))
    return true;
  return load.emitOpError("expected a buffer that '")
         << load.getAtomAttr() << "' can fill, got " << buffer;
}

/// The depth that a load says, or the loop that it stands in; 0 if neither does.
static int64_t getSaidDepth(LoadOp load) {
  if (load.getDepth())
    return *load.getDepth();
  scf::ForOp loop = getRingLoop(load);
  return loop ? getDepth(loop) : 0;
}

/// Puts a load into the ring that it names, or into that of its loop and role.
static LogicalResult addLoad(RingPlan &plan, LoadOp load) {
  if (failed(requireDecision(load, "atom")))
    return failure();
  FailureOr<RoleAttr> role = requireRole(load);
  if (failed(role))
    return failure();
  // What comes once a program has no stage.
  FailureOr<int64_t> stage = 0;
  if (getRingLoop(load))
    stage = requireNumber(load, "stage");
  if (failed(stage))
    return failure();
  if (*stage != 0)
    return load.emitOpError("expected stage 0, since the stages of role \"")
           << role->getName() << "\" begin with its loads, got " << *stage;
  if (load.getPadding())
    return load.emitOpError("expected no padding value, since '")
           << load.getAtomAttr() << "' copies zeros there";
  FailureOr<bool> countsBytes = checkAtom(load);
  if (failed(countsBytes))
    return failure();

  StringRef name = load.getRing().value_or("");
  auto isIn = [&](Ring &ring) {
    RingUse &use = ring.uses.front();
    if (ring.name != name || use.store)
      return false;
    return !name.empty() || (ring.producer == *role && use.getBlock() == load->getBlock());
  };
  auto *ring = llvm::find_if(plan.rings, isIn);
  if (ring == plan.rings.end()) {
    plan.rings.emplace_back();
    ring = &plan.rings.back();
    ring->name = name;
    ring->producer = *role;
    ring->countsBytes = *countsBytes;
  }
  if (ring->producer != *role)
    return load.emitOpError("expected loads of one ring to be of one role, got \"")
           << ring->producer.getName() << "\" and \"" << role->getName() << "\"";
  if (ring->countsBytes != *countsBytes)
    return load.emitOpError("expected atoms that all count bytes, or none, in one ")
           << (name.empty() ? "loop" : "ring") << ", got " << load.getAtomAttr();
  int64_t depth = getSaidDepth(load);
  if (depth && ring->depth && depth != ring->depth)
    return load.emitOpError("expected the depth of the other loads of the ring, ")
           << ring->depth << ", got " << depth;
  ring->depth = depth ? depth : ring->depth;
  // Those of one place come together, unless something uses the first before the next is loaded.
  auto isUsedBefore = [&](LoadOp other) {
    return llvm::any_of(other->getUsers(), [&](Operation *user) {
      Operation *here = load->getBlock()->findAncestorOpInBlock(*user);
      return here && here->isBeforeInBlock(load);
    });
  };
  RingUse &last = ring->uses.empty() ? ring->uses.emplace_back() : ring->uses.back();
  if (last.loads.empty() ||
      (last.getBlock() == load->getBlock() && llvm::none_of(last.loads, isUsedBefore))) {
    last.loads.push_back(load);
    return success();
  }
  RingUse use;
  use.loads = {load};
  ring->uses.push_back(use);
  return success();
}

/// All uses of a channel hand over the same buffers.
static LogicalResult checkBuffers(Ring &ring) {
  SmallVector<Type> first = ring.uses.front().getBuffers();
  for (RingUse &use : llvm::drop_begin(ring.uses))
    if (SmallVector<Type> buffers = use.getBuffers(); buffers != first)
      return use.loads.front().emitOpError("expected the ")
             << first.size() << " buffers of the ring's other loads, beginning with "
             << first.front() << ", got " << buffers.size() << ", beginning with "
             << buffers.front();
  return success();
}

/// The stage at which a role uses what a ring's loads bring in their loop. Stages count within a
/// role: one that fills its own ring is as many trips ahead of itself; how far another role runs
/// ahead is the ring's depth alone.
static FailureOr<int64_t> getReadStage(Ring &ring, Operation *user, RoleAttr role) {
  FailureOr<int64_t> stage = requireNumber(user, "stage");
  if (failed(stage))
    return failure();
  if (ring.producer != role && *stage != 0)
    return user->emitOpError("expected stage 0, since how far role \"")
           << ring.producer.getName() << "\" runs ahead of role \"" << role.getName()
           << "\" is the ring's depth alone, got " << *stage;
  if (ring.producer == role && (*stage < 1 || *stage >= ring.depth))
    return user->emitOpError("expected a stage from 1 to ")
           << ring.depth - 1 << ", as the depth of the loop allows, got " << *stage;
  return stage;
}

/// Finds who uses loads, and at which stage.
static LogicalResult addReaders(Ring &ring, RingUse &use, RingPlan &plan) {
  if (use.store)
    return success();
  bool isInLoop = getRingLoop(use.loads.front()) != nullptr;
  for (LoadOp load : use.loads) {
    if (load.getResult().use_empty())
      return load.emitOpError("expected a use, since '") << "buffer' is decided";
    for (Operation *user : load->getUsers()) {
      Operation *here = use.getBlock()->findAncestorOpInBlock(*user);
      if (isInLoop ? user->getBlock() != use.getBlock() : !here)
        here = nullptr;
      if (!here || here->isBeforeInBlock(use.loads.back()) ||
          here->hasTrait<OpTrait::IsTerminator>())
        return user->emitOpError("expected to stand in the loop after the loads that it uses");
      FailureOr<RoleAttr> role = requireRole(user);
      if (failed(role))
        return failure();
      FailureOr<int64_t> stage = ring.producer == *role ? 1 : 0;
      if (isInLoop)
        stage = getReadStage(ring, user, *role);
      if (failed(stage))
        return failure();
      auto *reader = llvm::find_if(use.readers, [&](Reader &it) { return it.role == *role; });
      if (reader == use.readers.end()) {
        use.readers.push_back({*role, *stage, {}, nullptr, false});
        reader = &use.readers.back();
      }
      if (reader->stage != *stage)
        return user->emitOpError("expected the stage of the other users of the loads, ")
               << reader->stage << ", got " << *stage;
      reader->isHeld |= llvm::any_of(plan.carried, [&](CarriedDot &it) {
        return it.dot == user && it.inFlight > 0 && it.dot->getBlock() == use.getBlock();
      });
    }
  }
  return success();
}

//===- Dots in flight -----------------------------------------------------------------------===//

/// Whether a dot adds to a value of its loop and is handed on at once: which value that is.
static std::optional<unsigned> getCarriedIndex(DotOp dot) {
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  auto accumulator = dyn_cast<BlockArgument>(dot.getAccumulator());
  if (!loop || !accumulator || accumulator.getOwner() != loop.getBody() ||
      accumulator.getArgNumber() == 0 || !accumulator.hasOneUse() || !dot->hasOneUse())
    return std::nullopt;
  Operation *yield = loop.getBody()->getTerminator();
  unsigned index = accumulator.getArgNumber() - 1;
  bool isHandedOn = *dot->user_begin() == yield && yield->getOperand(index) == dot.getResult();
  return isHandedOn ? std::optional(index) : std::nullopt;
}

/// Whether this op, or one in it, starts a dot of the role.
static int64_t countDots(Operation *op, StringRef role) {
  int64_t dots = 0;
  op->walk([&](DotOp dot) { dots += dot.getInFlight() && getRoleName(dot) == role; });
  return dots;
}

FailureOr<DotWait> kiln::planWait(DotOp dot) {
  DotWait wait;
  StringRef role = getRoleName(dot);
  for (Operation *user : dot->getUsers()) {
    Operation *here = dot->getBlock()->findAncestorOpInBlock(*user);
    if (!wait.before || here->isBeforeInBlock(wait.before))
      wait.before = here;
  }
  if (!wait.before)
    return dot.emitOpError("expected a use, since 'in_flight' is decided");
  for (Operation *op = dot->getNextNode(); op != wait.before; op = op->getNextNode()) {
    int64_t dots = countDots(op, role);
    if (dots && op->getNumRegions() > 0 && !isa<DotOp>(op))
      return op->emitOpError("expected no dots in flight in what stands between a dot in flight of "
                             "role \"")
             << role << "\" and the first use of its result";
    wait.later += dots;
  }
  auto next = dyn_cast<DotOp>(wait.before);
  bool isChained = next && dot->hasOneUse() && next.getInFlight() && getRoleName(next) == role &&
                   next.getAccumulator() == dot.getResult();
  if (isChained && next.getInFlight() != dot.getInFlight())
    return dot.emitOpError("expected in_flight of the dot that adds to it, ")
           << *next.getInFlight() << ", got " << *dot.getInFlight();
  if (isChained)
    wait.before = nullptr;
  else if (*dot.getInFlight() > uint64_t(wait.later))
    return dot.emitOpError("expected in_flight of at most ")
           << wait.later << ", the dots of its role that start before its result is used, got "
           << *dot.getInFlight();
  return wait;
}

/// Which dots run on after they start; at most one of a loop from trip to trip.
static LogicalResult addDot(RingPlan &plan, DotOp dot) {
  if (failed(requireDecision(dot, "atom")) || failed(requireRole(dot)))
    return failure();
  std::optional<unsigned> index = getCarriedIndex(dot);
  if (!index) {
    if (failed(planWait(dot)))
      return failure();
    plan.waited.push_back(dot);
    return success();
  }
  auto loop = cast<scf::ForOp>(dot->getParentOp());
  if (plan.findCarried(loop))
    return dot.emitOpError(
        "expected one dot of a loop to stay in flight from trip to trip, got two");
  int64_t inFlight = *dot.getInFlight();
  if (loop->hasAttr(kDepthAttrName) && inFlight >= getDepth(loop))
    return dot.emitOpError("expected in_flight below the depth of the loop, ")
           << getDepth(loop) << ", got " << inFlight;
  CarriedDot carried;
  carried.dot = dot;
  carried.loop = loop;
  carried.index = *index;
  carried.inFlight = inFlight;
  plan.carried.push_back(carried);
  return success();
}

//===- The whole ----------------------------------------------------------------------------===//

/// The orders of a role's ops in a stage count these from 0, as they stand.
static LogicalResult checkOrder(scf::ForOp loop) {
  DenseMap<std::pair<StringRef, int64_t>, int64_t> counts;
  for (Operation &op : *loop.getBody()) {
    if (!getDecision(&op, "order"))
      continue;
    FailureOr<int64_t> stage = requireNumber(&op, "stage"), order = requireNumber(&op, "order");
    if (failed(stage) || failed(requireRole(&op)))
      return failure();
    int64_t &count = counts[{getRoleName(&op), *stage}];
    if (*order != count)
      return op.emitOpError("expected order ")
             << count << ", its place among the ops of its role and stage that have one, got "
             << *order;
    ++count;
  }
  return success();
}

/// Stages and orders stand on ops of loops with rings; only loads are ahead of the other ops of
/// their role, by the stage at which these use them.
static LogicalResult checkStage(RingPlan &plan, Operation *op) {
  StringRef name = getDecision(op, "stage") ? "stage" : "order";
  auto load = dyn_cast<LoadOp>(op);
  if (!getDecision(op, name) || (load && load.getBuffer() && getRingLoop(op)))
    return success();
  if (!getRingLoop(op))
    return op->emitOpError("expected to stand in a loop with '")
           << kDepthAttrName << "', since '" << spellDecision(op, name) << "' is decided";
  FailureOr<RoleAttr> role = requireRole(op);
  if (failed(role) || name == "order")
    return role;
  int64_t expected = 0;
  for (Ring &ring : plan.rings)
    for (RingUse &use : ring.uses)
      if (use.getBlock() == op->getBlock() && ring.isOwn() && ring.producer == *role)
        expected = use.readers.front().stage;
  FailureOr<int64_t> stage = requireNumber(op, "stage");
  if (*stage == expected)
    return success();
  return op->emitOpError("expected stage ") << expected << ", that of the other ops of role \""
                                            << role->getName() << "\" in its loop, got " << *stage;
}

/// A skew shows where copies read a ring.
static LogicalResult checkSkews(RingPlan &plan, KernelOp kernel) {
  auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName);
  if (!roles)
    return success();
  for (auto role : roles.getAsRange<RoleAttr>())
    if (role.getSkew() && llvm::none_of(plan.rings, [&](const Ring &ring) {
          return llvm::is_contained(ring.getConsumers(), role);
        }))
      return kernel.emitOpError("expected loads with 'buffer' that role \"")
             << role.getName() << "\" uses, since it has a skew";
  return success();
}

static LogicalResult checkLoop(scf::ForOp loop) {
  bool hasLoads = llvm::any_of(loop.getBody()->getOps<LoadOp>(),
                               [](LoadOp load) { return load.getBuffer().has_value(); });
  if (!hasLoads)
    return loop.emitOpError("expected loads with 'buffer' in a loop with '")
           << kDepthAttrName << "'";
  return checkOrder(loop);
}

/// What a role fills for itself is one loop's alone, and waited for together.
static LogicalResult checkOwner(RingPlan &plan, Ring &ring) {
  Operation *load = ring.uses.front().getSite();
  if (!ring.isOwn()) {
    for (RoleAttr role : ring.getConsumers())
      if (role.getSkew() && !countDots(load->getParentOfType<KernelOp>(), role.getName()))
        return load->emitOpError("expected dots in flight of role \"")
               << role.getName() << "\", which has a skew and whose ring another fills";
    return success();
  }
  if (ring.uses.size() > 1 || !getRingLoop(load) || ring.getConsumers().size() > 1 ||
      ring.countsBytes)
    return load->emitOpError("expected loads that one loop's one role makes for itself, by an atom "
                             "that counts no bytes");
  for (Ring &other : plan.rings) {
    RingUse &use = other.uses.front();
    if (&other == &ring || use.getBlock() != load->getBlock())
      continue;
    if (!other.isOwn())
      return use.getSite()->emitOpError("expected loads that this loop's one role makes for "
                                        "itself, by an atom that counts no bytes");
    // Waits count all puts alike, whichever ring they are into.
    return use.getSite()->emitOpError("expected the ring of the other loads that role \"")
           << ring.producer.getName() << "\" makes for itself in this loop, since one wait is for "
           << "them all";
  }
  for (DotOp dot : load->getBlock()->getOps<DotOp>())
    if (dot.getInFlight())
      return dot.emitOpError("expected no dot in flight in a loop whose role fills its own ring");
  return success();
}

FailureOr<RingPlan> kiln::planRings(KernelOp kernel) {
  RingPlan plan;
  WalkResult result = kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    if (auto load = dyn_cast<LoadOp>(op); load && load.getBuffer())
      return WalkResult(addLoad(plan, load));
    if (auto store = dyn_cast<StoreOp>(op); store && store.getAtomAttr() && store.getBuffer())
      return WalkResult(addStore(plan, store));
    if (auto dot = dyn_cast<DotOp>(op); dot && dot.getInFlight())
      return WalkResult(addDot(plan, dot));
    if (auto loop = dyn_cast<scf::ForOp>(op); loop && loop->hasAttr(kDepthAttrName))
      return WalkResult(checkLoop(loop));
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  for (Ring &ring : plan.rings) {
    ring.depth = std::max<int64_t>(ring.depth, 1);
    if (failed(checkBuffers(ring)))
      return failure();
    for (RingUse &use : ring.uses) {
      if (failed(addReaders(ring, use, plan)))
        return failure();
      auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName);
      llvm::sort(use.readers, [&](const Reader &x, const Reader &y) {
        return llvm::find(roles, x.role) < llvm::find(roles, y.role);
      });
      for (Operation *op = use.getSite()->getParentOp(); op != kernel; op = op->getParentOp())
        if (!isa<scf::ForOp, scf::IfOp>(op))
          return op->emitOpError(
              "expected scf.for and scf.if around loads and stores with 'buffer'");
    }
  }
  for (Ring &ring : plan.rings)
    if (failed(checkOwner(plan, ring)))
      return failure();
  result = kernel.getBody().walk(
      [&](Operation *op) -> WalkResult { return WalkResult(checkStage(plan, op)); });
  if (result.wasInterrupted() || failed(checkSkews(plan, kernel)))
    return failure();
  return plan;
}
