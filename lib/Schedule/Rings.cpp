// Reads a kernel's decisions about its rings.
#include "Rings.h"
#include "Boxes.h"
#include "Trip.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/PinnedPlaces.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static FailureOr<RoleAttr> requireRole(Operation *op) {
  FailureOr<Attribute> name = requireDecision(op, "role");
  if (failed(name))
    return failure();
  return findRole(op, cast<StringAttr>(*name).getValue());
}

SmallVector<RoleAttr> Ring::getConsumers() const {
  SmallVector<RoleAttr> roles;
  for (const RingUse &use : uses)
    for (RoleAttr reader : use.readers)
      if (!llvm::is_contained(roles, reader))
        roles.push_back(reader);
  return roles;
}

Operation *RingUse::getSite() {
  if (store)
    return store;
  auto isBefore = [](LoadOp x, LoadOp y) { return x->isBeforeInBlock(y); };
  return *llvm::max_element(loads, isBefore);
}

SmallVector<Type> RingUse::getBuffers() {
  if (!store)
    return llvm::map_to_vector(loads, [](LoadOp load) -> Type { return *load.getBuffer(); });
  return SmallVector<Type>(countStoredBoxes(store), *store.getBuffer());
}

Operation *kiln::findDeepLoop(Block *block) {
  Operation *op = block->getParentOp();
  while (isa<scf::IfOp>(op))
    op = op->getParentOp();
  return isa<scf::ForOp, scf::WhileOp>(op) && op->hasAttr(kDepthAttrName) ? op : nullptr;
}

std::optional<int64_t> kiln::getLoopDepth(Block *block) {
  Operation *loop = findDeepLoop(block);
  auto depth = loop ? loop->getAttrOfType<IntegerAttr>(kDepthAttrName) : IntegerAttr();
  return depth ? std::optional(depth.getInt()) : std::nullopt;
}

//===- Loads --------------------------------------------------------------------------------===//

/// How the end of what a load's atom brings is known; an error if it cannot fill the buffer.
static FailureOr<Completion> checkAtom(LoadOp load) {
  Completion completion = cast<CopyAtomInterface>(load.getAtomAttr()).getCompletion();
  if (completion != Completion::CountedBytes)
    return completion;
  auto buffer = cast<BufferType>(*load.getBuffer());
  if (getCopyBoxes(load.getAtomAttr(), buffer))
    return completion;
  return load.emitOpError("expected a buffer that '")
         << load.getAtomAttr() << "' can fill, got " << buffer;
}

/// The depth that a load says, or the loop that it stands in; 0 if neither does.
static int64_t getSaidDepth(LoadOp load) {
  return load.getDepth() ? *load.getDepth() : getLoopDepth(load->getBlock()).value_or(0);
}

/// Puts a load into the ring that it names, or into that of its loop and role.
static LogicalResult addLoad(RingPlan &plan, LoadOp load) {
  if (failed(requireDecision(load, "atom")))
    return failure();
  FailureOr<RoleAttr> role = requireRole(load);
  if (failed(role))
    return failure();
  FailureOr<Completion> completion = checkAtom(load);
  if (failed(completion))
    return failure();
  if (load.getPadding() && *completion != Completion::InOrder)
    return load.emitOpError("expected no padding value, since '")
           << load.getAtomAttr() << "' copies zeros there";

  StringRef name = load.getRing().value_or("");
  int64_t depth = getSaidDepth(load);
  auto isIn = [&](Ring &ring) {
    RingUse &use = ring.uses.front();
    if (ring.name != name || use.store)
      return false;
    bool isAlike = ring.producer == *role && use.getBlock() == load->getBlock() &&
                   ring.completion == *completion && (!depth || !ring.depth || ring.depth == depth);
    return !name.empty() || isAlike;
  };
  auto *ring = llvm::find_if(plan, isIn);
  if (ring == plan.end()) {
    plan.emplace_back();
    ring = &plan.back();
    ring->name = name;
    ring->producer = *role;
    ring->completion = *completion;
  }
  if (ring->producer != *role)
    return load.emitOpError("expected loads of one ring to be of one role, got \"")
           << ring->producer.getName() << "\" and \"" << role->getName() << "\"";
  if (ring->completion != *completion)
    return load.emitOpError("expected atoms of one kind of completion in one ring, got ")
           << load.getAtomAttr();
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

/// Finds who uses loads.
static LogicalResult addReaders(Ring &ring, RingUse &use) {
  if (use.store)
    return success();
  for (LoadOp load : use.loads) {
    if (load.getResult().use_empty())
      return load.emitOpError("expected a use, since '") << "buffer' is decided";
    if (load.getReadAtomAttr() && llvm::all_of(load->getUses(), isReadFromBuffer))
      return load.emitOpError("expected no 'read_atom', since products read the tile from shared "
                              "memory themselves, got ")
             << load.getReadAtomAttr();
    for (OpOperand &operand : load->getUses()) {
      Operation *user = operand.getOwner();
      Operation *here = use.getBlock()->findAncestorOpInBlock(*user);
      bool isHandedOn = here == user && kiln::isHandedOn(operand);
      if (!here || here->isBeforeInBlock(use.getSite()) ||
          (here->hasTrait<OpTrait::IsTerminator>() && !isHandedOn))
        return user->emitOpError("expected to stand in the loop after the loads that it uses");
      SmallVector<Operation *> readers = findTileReaders(operand);
      for (Operation *reader : readers)
        if (getRoleName(reader) != getRoleName(readers.front()))
          return load.emitOpError(
                     "expected one role to use what the loop hands on to its next trip, "
                     "got \"")
                 << getRoleName(readers.front()) << "\" and \"" << getRoleName(reader) << '"';
      FailureOr<RoleAttr> role = requireRole(readers.empty() ? user : readers.front());
      if (failed(role))
        return failure();
      if (!llvm::is_contained(use.readers, *role))
        use.readers.push_back(*role);
      ring.isGivenByCommit |= isReadUntilCommit(load);
    }
  }
  return success();
}

//===- The whole ----------------------------------------------------------------------------===//

/// The orders of a role's ops in a loop are places among these, each once.
static LogicalResult checkOrder(Block &body) {
  llvm::MapVector<StringRef, SmallVector<Operation *>> ops;
  DenseMap<StringRef, size_t> places;
  for (Operation &op : body) {
    if (StringRef role = getRoleName(&op); !role.empty())
      ++places[role];
    if (getDecision(&op, "order")) {
      if (failed(requireRole(&op)))
        return failure();
      ops[getRoleName(&op)].push_back(&op);
    }
  }
  for (auto &[role, ordered] : ops) {
    SmallVector<bool> isTaken(places.lookup(role), false);
    for (Operation *op : ordered) {
      int64_t order = *requireNumber(op, "order");
      if (order < int64_t(isTaken.size()) && !isTaken[order]) {
        isTaken[order] = true;
        continue;
      }
      return op->emitOpError("expected an order from 0 to ")
             << isTaken.size() - 1 << " that no other op of role \"" << role
             << "\" has in this loop, got " << order;
    }
  }
  return success();
}

/// The outermost condition of a loop's trip that an op stands in; null if there is none.
static scf::IfOp findConditionOfTrip(Operation *op) {
  scf::IfOp condition;
  for (; isa<scf::IfOp>(op->getParentOp()); op = condition)
    condition = cast<scf::IfOp>(op->getParentOp());
  return condition && getLoopOfTrips(condition) ? condition : scf::IfOp();
}

/// Stages and orders are those of a trip of a loop, and of a role.
static LogicalResult checkPlace(Operation *op) {
  for (StringRef name : {"stage", "order"}) {
    if (!getDecision(op, name))
      continue;
    // A conversion has the place of what it is for, of which the error is.
    scf::IfOp condition = findConditionOfTrip(op);
    if (isa<ConvertLayoutOp>(op) && (condition || !getLoopOfTrips(op)))
      return success();
    if (condition) {
      InFlightDiagnostic error = op->emitOpError("expected the condition that it stands in to have "
                                                 "'")
                                 << spellDecision(condition, name)
                                 << "', since all in it run at one place of a trip, got '"
                                 << spellDecision(op, name) << "'";
      error.attachNote(condition.getLoc()) << "this is the condition";
      return error;
    }
    if (!getLoopOfTrips(op)) {
      bool isInLoop = op->getParentOfType<LoopLikeOpInterface>() != nullptr;
      return op->emitOpError("expected to stand in a loop")
             << (isInLoop ? " whose trips are counted, or which numbers alone end," : ",")
             << " since '" << spellDecision(op, name) << "' is decided";
    }
    if (failed(requireRole(op)))
      return failure();
  }
  auto stage = dyn_cast_or_null<IntegerAttr>(getDecision(op, "stage"));
  if (stage && stage.getInt() >= kStageLimit)
    return op->emitOpError("expected a stage below ") << kStageLimit << ", got " << stage.getInt();
  return success();
}

/// A skew shows where copies read a ring.
static LogicalResult checkSkews(RingPlan &plan, KernelOp kernel) {
  auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName);
  if (!roles)
    return success();
  for (auto role : roles.getAsRange<RoleAttr>())
    if (role.getSkew() && llvm::none_of(plan, [&](const Ring &ring) {
          return llvm::is_contained(ring.getConsumers(), role);
        }))
      return emitPinError(kernel, kRolesAttrName, "expected loads with 'buffer' that role \"")
             << role.getName() << "\" uses, since it has a skew";
  return success();
}

/// Whether another op of their role and block comes between two loads by its order.
static bool hasBetween(LoadOp first, LoadOp second) {
  return llvm::any_of(*first->getBlock(), [&](Operation &op) {
    std::optional<int64_t> order = findNumber(&op, "order");
    return order && getRoleName(&op) == getRoleName(first) && *order > int64_t(*first.getOrder()) &&
           *order < int64_t(*second.getOrder());
  });
}

/// Loads that are put together have one stage, and their orders follow one another.
static LogicalResult checkTogether(RingUse &use) {
  if (use.store)
    return success();
  Attribute stage;
  for (LoadOp load : use.loads)
    stage = stage ? stage : getDecision(load, "stage");
  if (stage)
    for (LoadOp load : use.loads)
      if (!load.getStage())
        load->setAttr("stage", stage);
  // Those whose order nobody says come behind the others.
  llvm::sort(use.loads, [](LoadOp x, LoadOp y) {
    if (x.getOrder() != y.getOrder())
      return x.getOrder() && (!y.getOrder() || *x.getOrder() < *y.getOrder());
    return x->isBeforeInBlock(y);
  });
  LoadOp before;
  for (LoadOp load : use.loads) {
    if (getDecision(load, "stage") != stage)
      return load.emitOpError("expected the stage of the loads that it is put together with, ")
             << cast<IntegerAttr>(stage).getInt() << ", got " << *load.getStage();
    if (before && load.getOrder() && hasBetween(before, load))
      return load.emitOpError("expected an order that follows those of the loads that it is put "
                              "together with");
    before = load;
  }
  return success();
}

std::optional<int64_t> kiln::getWriteStage(LoadOp load) {
  auto stage = load->getAttrOfType<IntegerAttr>(kWriteStageAttrName);
  return stage ? std::optional(stage.getInt()) : std::nullopt;
}

/// What is put together is written together, in the trips of a loop, and not before it is loaded.
static LogicalResult checkWriteStage(Ring &ring, RingUse &use) {
  Attribute stage;
  for (LoadOp load : use.loads)
    stage = stage ? stage : load->getAttr(kWriteStageAttrName);
  if (!stage)
    return success();
  for (LoadOp load : use.loads) {
    if (!ring.isWritten())
      return load.emitOpError("expected no '") << kWriteStageAttrName << "', since '"
                                               << load.getAtomAttr() << "' writes the slot itself";
    if (!isa<scf::ForOp>(load->getParentOp()) || !getLoopOfTrips(load))
      return load.emitOpError("expected to stand in a loop, since '")
             << kWriteStageAttrName << "' is decided";
    if (!load->hasAttr(kWriteStageAttrName))
      load->setAttr(kWriteStageAttrName, stage);
    if (!load.getStage())
      load.setStage(0);
    int64_t written = *getWriteStage(load), least = *load.getStage();
    if (load->getAttr(kWriteStageAttrName) != stage)
      return load.emitOpError("expected the '")
             << kWriteStageAttrName << "' of the loads that it is put together with, "
             << cast<IntegerAttr>(stage).getInt() << ", got " << written;
    if (written < least || written >= kStageLimit)
      return load.emitOpError("expected a '")
             << kWriteStageAttrName << "' from its stage on, " << least << ", to "
             << kStageLimit - 1 << ", got " << written;
  }
  return success();
}

Operation *kiln::findNest(RingPlan &plan, Ring &ring, RingUse &use) {
  for (Ring &other : plan) {
    if (other.producer != ring.producer && !llvm::is_contained(other.getConsumers(), ring.producer))
      continue;
    for (RingUse &inner : other.uses) {
      Operation *here = use.getBlock()->findAncestorOpInBlock(*inner.getSite());
      if (isa_and_nonnull<scf::ForOp, scf::WhileOp>(here))
        return here;
    }
  }
  return nullptr;
}

/// Who waits for a tile in a trip waits for it in front of the loops of the trip, too, whose slots
/// the role that writes it waits for.
static LogicalResult checkNest(RingPlan &plan, Ring &ring, RingUse &use) {
  LoadOp load = use.store || ring.isReadByProducer() ? LoadOp() : use.loads.front();
  Operation *nest = load && getWriteStage(load) ? findNest(plan, ring, use) : nullptr;
  if (!nest)
    return success();
  auto stage = dyn_cast_or_null<IntegerAttr>(getDecision(nest, "stage"));
  int64_t most = stage ? stage.getInt() : *load.getStage();
  if (*getWriteStage(load) <= most)
    return success();
  InFlightDiagnostic error = load.emitOpError("expected a '")
                             << kWriteStageAttrName << "' of at most " << most
                             << ", the stage of a loop of the trip in which role \""
                             << ring.producer.getName() << "\" uses rings, got "
                             << *getWriteStage(load);
  error.attachNote(nest->getLoc()) << "the loop";
  return error;
}

/// What a role fills for itself no other role uses.
static LogicalResult checkOwner(Ring &ring) {
  Operation *load = ring.uses.front().getSite();
  if (!ring.isReadByProducer()) {
    auto hasDots = [&](RoleAttr role) {
      return load->getParentOfType<KernelOp>()
          .walk([&](DotOp dot) {
            bool isIts = dot.getInFlight() && getRoleName(dot) == role.getName();
            return isIts ? WalkResult::interrupt() : WalkResult::advance();
          })
          .wasInterrupted();
    };
    for (RoleAttr role : ring.getConsumers())
      if (role.getSkew() && !hasDots(role))
        return load->emitOpError("expected dots in flight of role \"")
               << role.getName() << "\", which has a skew and whose ring another fills";
    return success();
  }
  StringRef name = ring.producer.getName();
  if (ring.isOwn() && ring.getConsumers().size() > 1)
    return load->emitOpError("expected role \"")
           << name << "\" alone to use what it loads, since it fills the ring for itself, got \""
           << ring.getConsumers()[ring.getConsumers().front() == ring.producer].getName()
           << "\" too";
  int64_t lag = ring.producer.getSkew() * (ring.producer.getCopies() - 1);
  if (lag > 0 && ring.countsBytes())
    return load->emitOpError("expected no 'skew' of role \"")
           << name << "\", each of whose copies waits for the bytes that the others bring it, got "
           << ring.producer.getSkew();
  if (lag > 1 && ring.isOwn())
    return load->emitOpError("expected the last copy of role \"")
           << name
           << "\" to lag by one barrier behind the first ('skew' by 'copies' - 1), since it fills "
              "the ring for itself, got "
           << lag;
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
      return WalkResult(failure(failed(requireDecision(dot, "atom")) || failed(requireRole(dot))));
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  plan = partUnnamed(plan);
  for (Ring &ring : plan) {
    ring.depth = std::max<int64_t>(ring.depth, 1);
    for (RingUse &use : ring.uses)
      if (failed(checkTogether(use)) || failed(checkWriteStage(ring, use)))
        return failure();
    if (failed(checkBuffers(ring)))
      return failure();
    for (RingUse &use : ring.uses) {
      if (failed(addReaders(ring, use)))
        return failure();
      auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName);
      llvm::sort(use.readers, [&](RoleAttr x, RoleAttr y) {
        return llvm::find(roles, x) < llvm::find(roles, y);
      });
      for (Operation *op = use.getSite()->getParentOp(); op != kernel; op = op->getParentOp())
        if (!isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
          return op->emitOpError(
              "expected scf.for, scf.while and scf.if around loads and stores with 'buffer'");
    }
  }
  for (Ring &ring : plan)
    if (failed(checkOwner(ring)) ||
        llvm::any_of(ring.uses, [&](RingUse &use) { return failed(checkNest(plan, ring, use)); }))
      return failure();
  result = kernel.getBody().walk([&](Operation *op) -> WalkResult {
    bool isLoop = isa<scf::ForOp, scf::WhileOp>(op);
    return WalkResult(failure(failed(checkPlace(op)) ||
                              (isLoop && failed(checkOrder(op->getRegions().back().front())))));
  });
  if (result.wasInterrupted() || failed(checkSkews(plan, kernel)))
    return failure();
  return plan;
}

bool kiln::hasRings(KernelOp kernel) {
  return kernel.getBody()
      .walk([](LoadOp load) {
        return load.getBuffer() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
