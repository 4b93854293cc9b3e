// Keeps the order of a program's accesses to global memory, which its source states op by op, among
// threads that run at their own pace.
#include "GlobalAccesses.h"
#include "Rings.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Chip.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {
#define GEN_PASS_DEF_ORDERACCESSES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// An access that may have been made: the op, the loop of which it was another, earlier turn, and
/// the last barrier that those who made it have met at since, or the first that orders it.
using Past = std::tuple<Operation *, Operation *, Operation *>;

/// Accesses of the same warps, and of the other copies of their role, since the last barrier that
/// orders them.
struct State {
  llvm::SetVector<Past> own, others;
  void insert(Past past) {
    own.insert(past);
    others.insert(past);
  }
  void insert(const State &more) {
    own.insert_range(more.own);
    others.insert_range(more.others);
  }
};

/// Walks the program, or a role's part of it, in the order in which it runs.
class Orderer {
public:
  /// The role is null if there are none. Copies that take programs in turn are programs apart.
  Orderer(KernelOp kernel, RoleAttr role)
      : role(role), copies(role && !takesTurns(kernel, role) ? role.getCopies() : 1) {}
  void order(Block &block);

private:
  void order(Operation *op);
  void orderLoop(scf::ForOp loop);
  void orderWhile(scf::WhileOp loop);
  void orderIf(scf::IfOp condition);
  void enter(Operation *loop);
  void order(Operation *site, const GlobalAccess &access);
  void meet(Operation *site, bool ofAllCopies, bool isEngineAwaited, bool publishes);
  void pass(BarrierOp barrier);
  bool isSkewed() const { return copies > 1 && role.getSkew() > 0; }

  RoleAttr role;
  int64_t copies;
  State state;
};
} // namespace

/// Barriers do not wait for engines.
static bool isByEngine(const Past &past) { return findGlobalAccess(std::get<0>(past))->isByEngine; }

void Orderer::order(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    order(&op);
}

void Orderer::order(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return orderLoop(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return orderWhile(loop);
  if (auto condition = dyn_cast<scf::IfOp>(op))
    return orderIf(condition);
  if (auto barrier = dyn_cast<BarrierOp>(op))
    return pass(barrier);
  // A put is one op of the role: nobody meets in the middle of it.
  op->walk([&](Operation *inner) {
    if (std::optional<GlobalAccess> access = findGlobalAccess(inner))
      order(op, *access);
  });
}

/// What earlier turns of a loop have accessed, when a turn begins.
void Orderer::enter(Operation *loop) {
  loop->walk([&](Operation *op) {
    if (findGlobalAccess(op))
      state.insert(Past(op, loop, nullptr));
  });
}

void Orderer::orderLoop(scf::ForOp loop) {
  State before = state;
  if (!loop->hasAttr(kProgramsAttrName))
    enter(loop);
  order(*loop.getBody());
  state.insert(before); // there may be no turn
}

void Orderer::orderWhile(scf::WhileOp loop) {
  enter(loop);
  order(*loop.getBeforeBody());
  State tested = state; // where the loop ends
  enter(loop);
  order(*loop.getAfterBody());
  state.insert(tested);
}

void Orderer::orderIf(scf::IfOp condition) {
  State before = state, after;
  for (Region &region : condition->getRegions()) {
    state = before;
    if (!region.empty())
      order(region.front());
    after.insert(state);
  }
  state = after;
}

void Orderer::order(Operation *site, const GlobalAccess &access) {
  SmallVector<BarrierOp> passed;
  bool isOrdered = true, meetsOthers = false, isEngineAwaited = false, publishes = false;
  auto look = [&](const Past &past, int64_t among) {
    auto [op, loop, between] = past;
    auto barrier = cast_or_null<BarrierOp>(between);
    GlobalAccess earlier = *findGlobalAccess(op);
    // What is copied into a ring has come when the ring says so.
    if (isa<CopyInOp>(op))
      return;
    bool publish = access.isByEngine && earlier.writes;
    if (barrier && publish && !barrier.getPublish())
      barrier = nullptr;
    if ((barrier && barrier.getGlobal()) || !mayMeet(earlier, access, {loop, among}))
      return;
    // One that runs more often than the access would wait for memory in vain.
    isOrdered &= barrier && barrier->getBlock() == site->getBlock();
    passed.push_back(barrier);
    meetsOthers |= among > 1;
    isEngineAwaited |= earlier.isByEngine;
    publishes |= publish;
  };
  for (const Past &past : state.own)
    look(past, 1);
  if (copies > 1)
    for (const Past &past : state.others)
      look(past, copies);
  if (!isOrdered)
    meet(site, meetsOthers, isEngineAwaited, publishes);
  else
    for (BarrierOp barrier : passed)
      barrier.setGlobal(true);
  state.insert(Past(access.op, nullptr, nullptr));
}

/// Copies with a skew are at one place once all have caught up.
void Orderer::meet(Operation *site, bool ofAllCopies, bool isEngineAwaited, bool publishes) {
  OpBuilder builder(site);
  Location loc = site->getLoc();
  if (isEngineAwaited)
    WaitStoresOp::create(builder, loc, /*in_flight=*/0, /*written=*/true);
  ofAllCopies |= isSkewed();
  if (isSkewed())
    lagCopies(builder, loc, role, /*isEntry=*/false);
  BarrierOp::create(builder, loc, publishes, ofAllCopies, /*global=*/true);
  if (isSkewed())
    lagCopies(builder, loc, role, /*isEntry=*/true);
  auto forget = [&](const Past &past) { return isEngineAwaited || !isByEngine(past); };
  state.own.remove_if(forget);
  if (ofAllCopies || copies == 1)
    state.others.remove_if(forget);
}

/// A barrier of another pass: whether it is to order accesses is known when one needs it.
void Orderer::pass(BarrierOp barrier) {
  auto mark = [&](llvm::SetVector<Past> &set) {
    llvm::SetVector<Past> marked;
    for (Past past : set) {
      auto last = cast_or_null<BarrierOp>(std::get<2>(past));
      if (!(last && last.getGlobal()) && !isByEngine(past))
        std::get<2>(past) = barrier;
      marked.insert(past);
    }
    set = std::move(marked);
  };
  mark(state.own);
  if (copies == 1 || (barrier.getAllCopies() && !isSkewed()))
    mark(state.others);
}

//===- Roles --------------------------------------------------------------------------------===//

/// Which roles channels join, directly or by way of others: each has the number of its group.
static SmallVector<unsigned> joinByChannels(WarpGroupsOp groups) {
  llvm::IntEqClasses joined(groups.getRoles().size());
  for (auto [number, capture] : llvm::enumerate(groups.getCaptures())) {
    if (!isa<ChannelType>(capture.getType()))
      continue;
    SmallVector<unsigned> users;
    for (auto [role, region] : llvm::enumerate(groups.getBodies()))
      if (!region.getArgument(number).use_empty())
        users.push_back(role);
    for (unsigned role : users)
      joined.join(users.front(), role);
  }
  joined.compress();
  return llvm::to_vector(llvm::map_range(llvm::seq<unsigned>(0, groups.getRoles().size()),
                                         [&](unsigned role) { return joined[role]; }));
}

/// What roles do that exchange nothing has no order.
static LogicalResult checkRoles(WarpGroupsOp groups) {
  SmallVector<unsigned> joined = joinByChannels(groups);
  SmallVector<std::pair<GlobalAccess, unsigned>> earlier;
  for (auto [role, region] : llvm::enumerate(groups.getBodies())) {
    WalkResult result = region.walk([&, role = role](Operation *op) -> WalkResult {
      std::optional<GlobalAccess> access = findGlobalAccess(op);
      if (!access)
        return WalkResult::advance();
      for (auto &[its, other] : earlier) {
        if (joined[role] == joined[other] || !mayMeetAcrossRoles(its, *access))
          continue;
        InFlightDiagnostic error =
            op->emitOpError("expected one role to make both accesses of an argument that may meet, "
                            "or a channel between the two, got roles \"")
            << groups.getRole(other).getName() << "\" and \"" << groups.getRole(role).getName()
            << "\", which nothing orders";
        error.attachNote(its.op->getLoc()) << "this is the other access";
        return error;
      }
      earlier.push_back({*access, role});
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

/// Of one that warps make, as an op of the role.
static Operation *getSite(Operation *access) {
  auto put = access->getParentOfType<PutOp>();
  return put ? put : access;
}

/// Where barriers in shared memory order no more than that, what a role hands over tells of its
/// accesses that may meet another role's once its warps have waited for them, and theirs it sees
/// once they look behind what they got. So it does where another role's atomic tells other programs
/// of what it wrote, or learns what it reads: that atomic waits for its own warp alone.
static void orderAcrossRoles(WarpGroupsOp groups) {
  SmallVector<std::pair<GlobalAccess, unsigned>> all;
  for (auto [role, region] : llvm::enumerate(groups.getBodies()))
    region.walk([&, role = role](Operation *op) {
      if (std::optional<GlobalAccess> access = findGlobalAccess(op))
        all.push_back({*access, role});
    });
  llvm::SetVector<Operation *> sites;
  for (auto &[one, role] : all)
    for (auto &[other, its] : all)
      if (role != its && (mayMeetAcrossRoles(one, other) || mayMeetAcrossRoles(other, one) ||
                          isToldByAtomic(one, other.op)))
        sites.insert(getSite(one.op));
  for (Operation *site : sites) {
    OpBuilder before(site), behind(site);
    behind.setInsertionPointAfter(site);
    for (OpBuilder *builder : {&before, &behind})
      BarrierOp::create(*builder, site->getLoc(), /*publish=*/false, /*all_copies=*/false,
                        /*global=*/true);
  }
}

namespace {
struct OrderAccesses : kiln::impl::OrderAccessesBase<OrderAccesses> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      auto groups = kernel.getBody().getOps<WarpGroupsOp>();
      if (groups.empty())
        Orderer(kernel, RoleAttr()).order(kernel.getBody().front());
      for (WarpGroupsOp group : groups) {
        if (failed(checkRoles(group)))
          return signalPassFailure();
        TargetInterface target = getTarget(group);
        if (target && target.getChipRecord().bareBarriers)
          orderAcrossRoles(group);
        for (auto [role, region] : llvm::enumerate(group.getBodies())) {
          Orderer(kernel, group.getRole(role)).order(region.front());
          region.walk([](BarrierOp barrier) { dropRole(barrier); });
        }
      }
    }
  }
};
} // namespace
