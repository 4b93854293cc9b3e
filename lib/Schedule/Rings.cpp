// Reads a loop's decisions about its rings.
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

/// Whether a load's atom counts the bytes that it brings; an error if it cannot fill the buffer.
static FailureOr<bool> checkAtom(LoadOp load) {
  auto engine = dyn_cast<EngineAtomInterface>(load.getAtomAttr());
  if (!engine)
    return false;
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

/// Puts a load into the ring of its role and stage.
static LogicalResult addLoad(RingPlan &plan, LoadOp load) {
  FailureOr<int64_t> stage = requireNumber(load, "stage");
  if (failed(stage) || failed(requireDecision(load, "atom")))
    return failure();
  FailureOr<RoleAttr> role = requireRole(load);
  if (failed(role))
    return failure();
  if (load.getPadding())
    return load.emitOpError("expected no padding value, since '")
           << load.getAtomAttr() << "' copies zeros there";
  FailureOr<bool> countsBytes = checkAtom(load);
  if (failed(countsBytes))
    return failure();
  for (Ring &ring : plan.rings) {
    if (ring.producer != *role || ring.stage != *stage)
      continue;
    if (ring.countsBytes != *countsBytes)
      return load.emitOpError("expected atoms that all count bytes, or none, in one stage, got ")
             << load.getAtomAttr();
    ring.loads.push_back(load);
    return success();
  }
  Ring ring;
  ring.loads = {load};
  ring.producer = *role;
  ring.stage = *stage;
  ring.countsBytes = *countsBytes;
  plan.rings.push_back(ring);
  return success();
}

/// Finds who uses a ring, and whether stages agree with the ring's depth.
static LogicalResult addUsers(RingPlan &plan, Ring &ring, scf::ForOp loop) {
  for (LoadOp load : ring.loads) {
    if (load.getResult().use_empty())
      return load.emitOpError("expected a use, since '") << "buffer' is decided";
    for (Operation *user : load->getUsers()) {
      if (user->getBlock() != loop.getBody() || user->isBeforeInBlock(ring.loads.back()))
        return user->emitOpError("expected to stand in the loop after the loads of the stage that "
                                 "it uses");
      FailureOr<RoleAttr> role = requireRole(user);
      FailureOr<int64_t> stage = requireNumber(user, "stage");
      if (failed(role) || failed(stage))
        return failure();
      if (ring.consumer && ring.consumer != *role)
        return user->emitOpError("expected loads of one stage to be used by one role, got \"")
               << ring.consumer.getName() << "\" and \"" << role->getName() << "\"";
      ring.consumer = *role;
      if (ring.readStage && ring.readStage != *stage)
        return user->emitOpError("expected the stage of the other users of the loads, ")
               << ring.readStage << ", got " << *stage;
      ring.readStage = *stage;
      // A role that fills its own ring must be ahead of itself.
      int64_t least = ring.stage + (ring.producer == ring.consumer);
      if (*stage < least || *stage - ring.stage >= plan.depth)
        return user->emitOpError("expected a stage from ")
               << least << " to " << ring.stage + plan.depth - 1
               << ", as the depth of the loop allows, got " << *stage;
      ring.isHeld |= user == plan.carried.getOperation() && plan.inFlight > 0;
    }
  }
  return success();
}

/// Which dots run on after they start; at most one from trip to trip.
static LogicalResult addDot(RingPlan &plan, DotOp dot, scf::ForOp loop) {
  if (!dot.getInFlight())
    return success();
  if (failed(requireDecision(dot, "atom")) || failed(requireRole(dot)))
    return failure();
  auto accumulator = dyn_cast<BlockArgument>(dot.getAccumulator());
  Operation *user = dot->hasOneUse() ? *dot->user_begin() : nullptr;
  bool isCarried = accumulator && accumulator.getOwner() == loop.getBody() &&
                   accumulator.getArgNumber() > 0 && accumulator.hasOneUse() &&
                   user == loop.getBody()->getTerminator() &&
                   user->getOperand(accumulator.getArgNumber() - 1) == dot.getResult();
  if (!isCarried) {
    if (*dot.getInFlight() > 0)
      return dot.emitOpError("expected in_flight = 0 of a dot whose result its trip uses, got ")
             << *dot.getInFlight();
    plan.immediate.push_back(dot);
    return success();
  }
  if (plan.carried)
    return dot.emitOpError(
        "expected one dot of a loop to stay in flight from trip to trip, got two");
  plan.carried = dot;
  plan.carriedIndex = accumulator.getArgNumber() - 1;
  plan.inFlight = *dot.getInFlight();
  if (plan.inFlight >= plan.depth)
    return dot.emitOpError("expected in_flight below the depth of the loop, ")
           << plan.depth << ", got " << plan.inFlight;
  return success();
}

/// Ops of one role and stage that have an order stand in it.
static LogicalResult checkOrder(scf::ForOp loop) {
  DenseMap<std::pair<StringRef, int64_t>, int64_t> last;
  for (Operation &op : *loop.getBody()) {
    auto stage = dyn_cast_or_null<IntegerAttr>(getDecision(&op, "stage"));
    auto order = dyn_cast_or_null<IntegerAttr>(getDecision(&op, "order"));
    if (!stage || !order)
      continue;
    auto [at, isNew] = last.try_emplace({getRoleName(&op), stage.getInt()}, order.getInt());
    if (!isNew && order.getInt() < at->second)
      return op.emitOpError("expected an order of at least ")
             << at->second << ", that of the op before it in the stage, got " << order.getInt();
    at->second = order.getInt();
  }
  return success();
}

FailureOr<RingPlan> kiln::planRings(scf::ForOp loop) {
  RingPlan plan;
  plan.depth = loop->getAttrOfType<IntegerAttr>(kDepthAttrName).getInt();
  for (Operation &op : *loop.getBody()) {
    auto load = dyn_cast<LoadOp>(op);
    if (load && load.getBuffer() && failed(addLoad(plan, load)))
      return failure();
    auto dot = dyn_cast<DotOp>(op);
    if (dot && failed(addDot(plan, dot, loop)))
      return failure();
  }
  if (plan.rings.empty())
    return loop.emitOpError("expected loads with 'buffer' in a loop with '")
           << kDepthAttrName << "'";
  for (Ring &ring : plan.rings)
    if (failed(addUsers(plan, ring, loop)))
      return failure();
  for (Ring &ring : plan.rings) {
    if ((ring.producer == ring.consumer) != plan.isOwn() || (plan.isOwn() && ring.countsBytes))
      return ring.loads.front().emitOpError(
          plan.isOwn()
              ? "expected loads that this loop's one role makes for itself, by an atom that "
                "counts no bytes"
              : "expected all loads of a loop to be another role's");
    // Waits count all puts alike, whichever ring they are into.
    if (plan.isOwn() && plan.rings.size() > 1)
      return plan.rings[1].loads.front().emitOpError(
                 "expected the stage of the role's other loads, ")
             << plan.rings.front().stage << ", since one wait is for them all, got " << ring.stage;
    if (ring.consumer.getSkew() && !plan.isOwn())
      return ring.loads.front().emitOpError("expected no skew of role \"")
             << ring.consumer.getName() << "\", whose ring another fills";
  }
  if (failed(checkOrder(loop)))
    return failure();
  for (Operation *op = loop->getParentOp(); !isa<KernelOp>(op); op = op->getParentOp())
    if (!isa<scf::ForOp, scf::IfOp>(op))
      return op->emitOpError("expected scf.for and scf.if around a loop with '")
             << kDepthAttrName << "'";
  return plan;
}
