// Follows from each access which roles are known to be behind it (AcrossRoles.h).
#include "AcrossRoles.h"
#include "Decisions.h"
#include "GlobalAccesses.h"
#include "RolePoints.h"
#include "SourceErrors.h"
#include "Trip.h"
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The role of an op, or of the put that it is in.
static StringRef findRoleOf(Operation *op) {
  for (; !isa<KernelOp, scf::ForOp, scf::WhileOp, scf::IfOp>(op); op = op->getParentOp())
    if (StringRef role = getRoleName(op); !role.empty())
      return role;
  return {};
}

namespace {
/// From where on a role is behind the access: all of its warps, or only the thread that starts
/// dots, or makes copies by engines.
struct Known {
  StringRef role;
  Point from;
  bool byThread;
};

/// What is known at a point of the source.
struct State {
  SmallVector<Known> known;
  /// Channels of which a slot was released behind the access, and in how many more puts who fills
  /// them waits for that.
  SmallVector<std::pair<Value, int64_t>> released;
};

/// Follows the source from one access.
class Follower {
public:
  Follower(const GlobalAccess &access, StringRef role);
  LogicalResult run();
  void completeAccess() const;

private:
  LogicalResult follow(Block &block, Operation *behind, State &state);
  LogicalResult follow(Operation *op, State &state);
  LogicalResult followNext(Block &block, State state);
  LogicalResult visit(Operation *op, State &state);
  LogicalResult check(Operation *op, const State &state);
  void learnByRelease(PutOp put, State &state);
  void release(Operation *reader, State &state);
  void learnByDots(Operation *op, State &state);
  bool isTold(Operation *put, const State &state) const;
  bool isBehindDots(Operation *user, StringRef role, const State &state) const;
  bool isBehind(Point later, StringRef role, const State &state, bool allWarps) const;
  Point here(Operation *op) const { return {op, turned}; }

  GlobalAccess access;
  StringRef role;
  /// The put that makes the access, or null.
  PutOp put;
  /// The loop of whose next trip this is; null in that of the access.
  Operation *turned = nullptr;
  bool isOrdered = false, isSeenByEngine = false;
};
} // namespace

//===- What is handed over ------------------------------------------------------------------===//

bool Follower::isBehind(Point later, StringRef role, const State &state, bool allWarps) const {
  return llvm::any_of(state.known, [&](const Known &it) {
    return it.role == role && !(allWarps && it.byThread) && isAtOrBehind(it.from, later, role);
  });
}

/// The put, or commit, of the use that a get is of: each role gets all of a block's, in their
/// order.
static Operation *findPut(GetOp get) {
  SmallVector<Operation *> puts, gets;
  for (Operation &op : *get->getBlock()) {
    auto put = dyn_cast<PutOp>(op);
    auto commit = dyn_cast<CommitOp>(op);
    auto other = dyn_cast<GetOp>(op);
    if ((put && put.getChannel() == get.getChannel()) ||
        (commit && commit.getChannel() == get.getChannel()))
      puts.push_back(&op);
    if (other && other.getChannel() == get.getChannel() && getRoleName(other) == getRoleName(get))
      gets.push_back(other);
  }
  return puts.size() == gets.size() ? puts[llvm::find(gets, get) - gets.begin()] : nullptr;
}

static bool isCommitted(Operation *op) {
  auto dot = dyn_cast<DotOp>(op);
  return dot && dot.getInFlight() && endsByCommit(dot.getAtomAttr());
}

/// Whether the thread that starts dots alone waits for a slot.
static bool isGotToStart(GetOp get) {
  return llvm::all_of(get.getBuffers(), [](Value buffer) {
    SmallVector<Operation *> readers = findReaders(buffer);
    return !readers.empty() && llvm::all_of(readers, isCommitted);
  });
}

/// What loops and conditions hand out or on as a value, in all that may run.
static SmallVector<Value> findHandedOn(Value value) {
  SmallVector<Value> values;
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *parent = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  unsigned index = argument ? argument.getArgNumber() : cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    if (argument && index == 0)
      return values;
    index -= argument ? 1 : 0;
    return {loop.getInits()[index], loop.getYieldedValues()[index]};
  }
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    if (argument && argument.getOwner() == loop.getBeforeBody())
      return {loop.getInits()[index], loop.getYieldOp()->getOperand(index)};
    return {loop.getConditionOp().getArgs()[index]};
  }
  if (auto condition = dyn_cast<scf::IfOp>(parent))
    return {condition.thenYield()->getOperand(index), condition.elseYield()->getOperand(index)};
  return values;
}

/// The dots that end by commit of which a value is the sum.
static void findDots(Value value, llvm::SetVector<Operation *> &dots, DenseSet<Value> &seen) {
  if (!seen.insert(value).second)
    return;
  Operation *maker = value.getDefiningOp();
  if (maker && isCommitted(maker))
    dots.insert(maker);
  else if (isa_and_nonnull<PendOp, SliceOp, ConcatOp>(maker)) // parts of a product
    for (Value operand : maker->getOperands())
      findDots(operand, dots, seen);
  else
    for (Value handedOn : findHandedOn(value))
      findDots(handedOn, dots, seen);
}

/// The first op in the source that reads what is got, which may come as late as that.
static Operation *findFirstReader(GetOp get) {
  Operation *first = nullptr;
  for (Value buffer : get.getBuffers())
    for (Operation *reader : findReaders(buffer))
      if (Operation *here = get->getBlock()->findAncestorOpInBlock(*reader))
        first = !first || here->isBeforeInBlock(first) ? here : first;
  return first;
}

/// Whether what an op uses is a sum that a role's dots make behind the access: they end in order.
bool Follower::isBehindDots(Operation *user, StringRef role, const State &state) const {
  llvm::SetVector<Operation *> dots;
  DenseSet<Value> seen;
  for (Value operand : user->getOperands())
    findDots(operand, dots, seen);
  return llvm::any_of(dots, [&](Operation *dot) {
    return getRoleName(dot) == role && llvm::any_of(state.known, [&](const Known &it) {
             auto get = dyn_cast<GetOp>(it.from.op);
             Operation *from = get ? findFirstReader(get) : it.from.op;
             return it.role == role && from && !isa<ReadOp>(from) &&
                    isAtOrBehind({from, it.from.turned}, here(dot), role);
           });
  });
}

bool Follower::isTold(Operation *by, const State &state) const {
  if (put && by == put && !turned)
    return true;
  StringRef role = getRoleName(by);
  return isa<CommitOp>(by) ? isBehindDots(by, role, state)
                           : isBehind(here(by), role, state, /*allWarps=*/false);
}

/// Who fills a slot waits until it was released.
void Follower::learnByRelease(PutOp put, State &state) {
  for (auto &[channel, puts] : state.released)
    if (channel == put.getChannel() && --puts == 0 && !isMoved(*put->getBlock(), getRoleName(put)))
      state.known.push_back({getRoleName(put), here(put), put.getBytes() > 0});
}

/// A slot is released behind the last op that reads it.
void Follower::release(Operation *reader, State &state) {
  StringRef role = getRoleName(reader);
  for (Value operand : reader->getOperands()) {
    while (auto part = operand.getDefiningOp<PartOp>())
      operand = part->getOperand(0);
    auto get = operand.getDefiningOp<GetOp>();
    if (!get || get->getBlock() != reader->getBlock() || isMoved(*reader->getBlock(), role))
      continue;
    auto isEarlier = [&](Operation *other) {
      Operation *at = reader->getBlock()->findAncestorOpInBlock(*other);
      return at && (at == reader || at->isBeforeInBlock(reader));
    };
    auto isReadBefore = [&](Value buffer) { return llvm::all_of(findReaders(buffer), isEarlier); };
    if (isBehind(here(reader), role, state, /*allWarps=*/true) &&
        llvm::all_of(get.getBuffers(), isReadBefore))
      state.released.push_back({get.getChannel(), get.getChannel().getType().getDepth()});
  }
}

/// Warps that have a sum in registers know what the thread knew that started its dots.
void Follower::learnByDots(Operation *op, State &state) {
  if (isa<DotOp, PendOp, CommitOp, SliceOp, ConcatOp>(op))
    return;
  StringRef role = getRoleName(op);
  SmallVector<StringRef> asked;
  for (const Known &it : state.known)
    if (it.byThread && (role.empty() || it.role == role) && !llvm::is_contained(asked, it.role))
      asked.push_back(it.role);
  for (StringRef by : asked)
    if (isBehindDots(op, by, state))
      state.known.push_back({by, here(op), /*byThread=*/false});
}

//===- The source ---------------------------------------------------------------------------===//

Follower::Follower(const GlobalAccess &access, StringRef role)
    : access(access), role(role), put(access.op->getParentOfType<PutOp>()) {}

LogicalResult Follower::check(Operation *op, const State &state) {
  std::optional<GlobalAccess> later = findGlobalAccess(op);
  StringRef its = findRoleOf(op);
  if (!later || !later->view || its.empty() || its == role ||
      !mayMeet(access, *later, {turned, /*copies=*/2}))
    return success();
  bool isOne = getWholeView(later->view) == getWholeView(access.view);
  if (!isOne && !isOrderedByAtomic(access, *later))
    return success();
  auto into = op->getParentOfType<PutOp>();
  bool byThread = into && into.getBytes() > 0;
  if (isBehind(here(into ? into.getOperation() : op), its, state, !byThread)) {
    isOrdered |= isOne || releases(later->op);
    isSeenByEngine |= access.writes && later->isByEngine;
    return success();
  }
  InFlightDiagnostic error = emitSourceError(op, "expected ");
  error << (isOne ? "one role to make both accesses of an argument that may meet"
                  : "an atomic whose order is \"relaxed\", one role to make both accesses")
        << ", or a tile that role \"" << role << "\" hands over behind its own and role \"" << its
        << "\" gets in front of this one" << (turned ? " of a later trip" : "")
        << ", got nothing that orders them";
  error.attachNote(access.op->getLoc()) << "this is the other access";
  return error;
}

LogicalResult Follower::visit(Operation *op, State &state) {
  if (auto put = dyn_cast<PutOp>(op))
    learnByRelease(put, state);
  if (auto get = dyn_cast<GetOp>(op))
    if (Operation *put = findPut(get); put && isTold(put, state))
      state.known.push_back({getRoleName(get), here(get), isGotToStart(get)});
  learnByDots(op, state);
  WalkResult result = op->walk([&](Operation *inner) { return WalkResult(check(inner, state)); });
  release(op, state);
  return failure(result.wasInterrupted());
}

LogicalResult Follower::follow(Operation *op, State &state) {
  if (!isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
    return visit(op, state);
  State inside = state;
  for (Region &region : op->getRegions()) {
    if (isa<scf::IfOp>(op))
      inside = state;
    if (!region.empty() && failed(follow(region.front(), nullptr, inside)))
      return failure();
  }
  auto trips = op->getAttrOfType<IntegerAttr>(kLeastTripsAttrName);
  if (isa<scf::ForOp>(op) && trips && trips.getInt() > 0)
    state = inside;
  return success();
}

/// The ops of a block, from behind one of them on if it is given.
LogicalResult Follower::follow(Block &block, Operation *behind, State &state) {
  for (Operation *op = behind ? behind->getNextNode() : &block.front(); op; op = op->getNextNode())
    if (failed(follow(op, state)))
      return failure();
  return success();
}

/// The next trip of a loop, of which this block was run last.
LogicalResult Follower::followNext(Block &block, State state) {
  Operation *loop = block.getParentOp();
  auto blocks = llvm::map_to_vector(loop->getRegions(), [](Region &it) { return &it.front(); });
  // A while that was asked for a trip makes it.
  if (blocks.size() > 1 && &block == blocks.front() &&
      failed(follow(*blocks.back(), nullptr, state)))
    return failure();
  turned = loop;
  bool isRefused =
      llvm::any_of(blocks, [&](Block *block) { return failed(follow(*block, nullptr, state)); });
  turned = nullptr;
  return failure(isRefused);
}

LogicalResult Follower::run() {
  State state;
  Operation *op = put ? put.getOperation() : access.op;
  if (!put)
    state.known.push_back({role, here(op), /*byThread=*/false});
  for (; !isa<KernelOp>(op); op = op->getParentOp()) {
    Block &block = *op->getBlock();
    if (failed(follow(block, op, state)))
      return failure();
    Operation *parent = block.getParentOp();
    // Programs have no order.
    if (isa<scf::ForOp, scf::WhileOp>(parent) && !parent->hasAttr(kProgramsAttrName) &&
        failed(followNext(block, state)))
      return failure();
  }
  return success();
}

//===- What is under way --------------------------------------------------------------------===//

/// Whether what a role hands over is made of a tensor that it loads, so that it has come by then.
static bool isHandedOn(LoadOp load) {
  StringRef role = getRoleName(load);
  bool hasEngines = load->getParentOfType<KernelOp>()
                        .walk([&](PutOp put) {
                          bool isIts = getRoleName(put) == role && put.getBytes() > 0;
                          return isIts ? WalkResult::interrupt() : WalkResult::advance();
                        })
                        .wasInterrupted();
  llvm::SetVector<Operation *> users;
  users.insert_range(load->getUsers());
  for (unsigned i = 0; i < users.size(); ++i) {
    if (isa<WriteOp>(users[i]) && users[i]->getParentOfType<PutOp>())
      return !hasEngines;
    SmallVector<Operation *> next(users[i]->getUsers());
    users.insert_range(next);
  }
  return false;
}

/// Waits behind an access that another role's follows. Copies into a ring have come when it says
/// so.
void Follower::completeAccess() const {
  auto load = dyn_cast<LoadOp>(access.op);
  if (!isOrdered || put || (load && isHandedOn(load)))
    return;
  auto store = dyn_cast<StoreOp>(access.op);
  bool isByEngine =
      access.isByEngine || (store && isa_and_nonnull<EngineAtomInterface>(store.getAtomAttr()));
  OpBuilder builder(access.op->getContext());
  builder.setInsertionPointAfter(access.op);
  Location loc = access.op->getLoc();
  SmallVector<Operation *> made;
  if (isByEngine)
    made.push_back(WaitStoresOp::create(builder, loc, /*in_flight=*/0, /*written=*/true));
  made.push_back(
      BarrierOp::create(builder, loc, isSeenByEngine, /*all_copies=*/false, /*global=*/true));
  for (Operation *op : made) {
    setRoleName(op, role);
    copyPlace(access.op, op);
    op->removeAttr(spellDecision(op, "order")); // they follow it
  }
}

LogicalResult kiln::orderAcrossRoles(KernelOp kernel) {
  SmallVector<std::pair<GlobalAccess, StringRef>> all;
  kernel.getBody().walk([&](Operation *op) {
    std::optional<GlobalAccess> access = findGlobalAccess(op);
    StringRef role = findRoleOf(op);
    // A view that is made of a number is another one than any argument, for all that is known.
    if (access && access->view && !role.empty() && isa<BlockArgument>(getWholeView(access->view)))
      all.push_back({*access, role});
  });
  SmallVector<Follower> followers;
  for (const auto &[access, role] : all) {
    bool isShared = llvm::any_of(all, [&, access = access, role = role](const auto &other) {
      bool isOne = getWholeView(other.first.view) == getWholeView(access.view);
      return other.second != role && ((isOne && (access.writes || other.first.writes)) ||
                                      isOrderedByAtomic(access, other.first));
    });
    if (isShared && failed(followers.emplace_back(access, role).run()))
      return failure();
  }
  for (const Follower &follower : followers)
    follower.completeAccess();
  return success();
}

DenseSet<Operation *> kiln::findMeetingRoles(WarpGroupsOp groups) {
  SmallVector<std::pair<GlobalAccess, unsigned>> all;
  for (Region &region : groups.getBodies())
    region.walk([&](Operation *op) {
      if (std::optional<GlobalAccess> access = findGlobalAccess(op))
        all.push_back({*access, region.getRegionNumber()});
    });
  DenseSet<Operation *> meeting;
  for (auto &[first, role] : all)
    for (auto &[second, other] : all)
      if (role != other && mayMeetAcrossRoles(first, second))
        meeting.insert(first.op);
  return meeting;
}
