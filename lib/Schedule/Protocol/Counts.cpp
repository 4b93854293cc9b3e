// What a realised schedule says once: bytes, arrivals, registers, and uses of pending results.
#include "../Decisions.h"
#include "../Rings.h"
#include "../SourceErrors.h"
#include "../Trip.h"
#include "Protocol.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/TensorColumns.h"
#include "kiln/Target/TargetInterface.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

ChannelOp kiln::protocol::getChannel(WarpGroupsOp groups, unsigned capture) {
  return groups.getCaptures()[capture].getDefiningOp<ChannelOp>();
}

unsigned kiln::protocol::getCapture(Value value) {
  return cast<BlockArgument>(value).getArgNumber();
}

/// The copies of a role that take part in one use of a channel: all, or that whose turn it is. What
/// lies in tensor memory is of one copy, and so is what it says of that by slots of nothing.
static int64_t countTogether(Operation *op, ChannelType channel, RoleAttr role) {
  bool isOfOne = channel.getAccumulator() || channel.getBuffers().empty() ||
                 takesTurns(op->getParentOfType<KernelOp>(), role);
  return isOfOne ? 1 : role.getCopies();
}

/// Where one thread of each copy says that a slot is full, or will be. Sums are full when both of
/// two programs say so.
static LogicalResult checkAnnounced(Operation *op, ChannelOp channel, RoleAttr role) {
  int64_t together = countTogether(op, channel.getType(), role);
  if (channel.getType().getPair() && channel.getType().getAccumulator())
    together *= 2;
  if (int64_t(channel.getFull()) == together)
    return success();
  InFlightDiagnostic error = op->emitOpError("expected full = ")
                             << together << ", since one thread announces "
                             << (isa<PutOp>(op) ? "the bytes" : "the dots") << ", got "
                             << channel.getFull();
  error.attachNote(channel.getLoc()) << "the channel";
  return error;
}

/// One lane of each warp tells that a slot is full, so all lanes have written by then; engines see
/// it by a barrier that publishes.
static LogicalResult checkWritten(PutOp put, ChannelOp channel) {
  if (channel.getType().getOwn())
    return success();
  auto argument = cast<BlockArgument>(put.getChannel());
  auto groups = cast<WarpGroupsOp>(argument.getOwner()->getParentOp());
  Block &body = put.getBody().front();
  auto barrier = body.empty() ? BarrierOp() : dyn_cast<BarrierOp>(body.back());
  if (!barrier)
    return put.emitOpError("expected a tile.barrier at the end, since one lane of each warp tells "
                           "that the slot is full");
  bool isRead = isReadByEngine(groups, argument.getArgNumber());
  if (isRead && !barrier.getPublish())
    return barrier.emitOpError("expected 'publish', since an engine reads the slot");
  if (!isRead && barrier.getPublish())
    return barrier.emitOpError("expected no 'publish', since no engine reads the slot");
  return success();
}

/// What one put announces is what its copies bring, each buffer once.
static LogicalResult checkPut(PutOp put, ChannelOp channel, RoleAttr role) {
  int64_t bytes = 0;
  bool isShared = false;
  SmallVector<int64_t> fills(channel.getType().getBuffers().size());
  bool writes = false;
  put.getBody().walk([&](Operation *op) {
    Value filled;
    if (auto copy = dyn_cast<CopyInOp>(op)) {
      bytes += getBufferBytes(copy.getBuffer().getType());
      isShared |= bool(copy.getMask());
      filled = copy.getBuffer();
    } else if (auto write = dyn_cast<WriteOp>(op)) {
      filled = write.getBuffer();
      writes = true;
    }
    while (filled && filled.getDefiningOp<PartOp>())
      filled = filled.getDefiningOp<PartOp>().getBuffer();
    if (auto argument = dyn_cast_or_null<BlockArgument>(filled))
      if (argument.getOwner() == &put.getBody().front())
        ++fills[argument.getArgNumber()];
  });
  for (auto [i, count] : llvm::enumerate(fills))
    if (count == 0)
      return put.emitOpError("expected buffer ") << i << " of the slot to be filled, got nothing";
  int64_t announced = put.getBytes(), full = channel.getFull();
  bool isPair = channel.getType().getPair();
  if (announced == 0 && isPair && !channel.getType().getBuffers().empty())
    return put.emitOpError("expected copies that count bytes into a slot that two programs fill");
  if (announced == 0) {
    if (writes && failed(checkWritten(put, channel)))
      return failure();
    if (!writes && !channel.getType().getOwn() && !put->hasAttr(kLanesAttrName))
      return put.emitOpError("expected '")
             << kLanesAttrName << "', since one lane of each warp tells that the slot is full";
    int64_t warps =
        role.getWarps() * countTogether(put, channel.getType(), role) * (isPair ? 2 : 1);
    if (full == warps)
      return success();
    InFlightDiagnostic error = put.emitOpError("expected full = ")
                               << warps << ", one arrival of each warp of role \"" << role.getName()
                               << (isPair ? "\" in both programs" : "\"") << ", got " << full;
    error.attachNote(channel.getLoc()) << "the channel";
    return error;
  }
  if (writes)
    return put.emitOpError("expected copies alone where bytes are announced, got a tile.write");
  // What other programs of the cluster bring counts, too, when all are run together.
  if (!isShared && announced != bytes)
    return put.emitOpError("expected bytes = ")
           << bytes << " as its copies bring, got " << announced;
  return checkAnnounced(put, channel, role);
}

/// Whether a channel's slots are what dots read in tensor memory: nobody commits sums into it.
static bool isOfOperands(WarpGroupsOp groups, unsigned capture) {
  return getChannel(groups, capture).getType().getAccumulator() &&
         llvm::none_of(groups.getBodies(), [&](Region &region) {
           return llvm::any_of(region.getArgument(capture).getUsers(), llvm::IsaPred<CommitOp>);
         });
}

/// One role acquires what dots of its own read in tensor memory, and a commit of one thread gives
/// it back: nobody is told that it is full.
static LogicalResult checkOperands(WarpGroupsOp groups, unsigned capture) {
  ChannelOp channel = getChannel(groups, capture);
  RoleAttr filler;
  for (Region &region : groups.getBodies()) {
    RoleAttr role = groups.getRole(region.getRegionNumber());
    bool acquires = false, releases = false;
    for (Operation *user : region.getArgument(capture).getUsers()) {
      auto release = dyn_cast<ReleaseOp>(user);
      if (isa<GetOp>(user))
        return user->emitOpError("expected a tile.commit into the channel, since nobody is told "
                                 "otherwise that a slot is full");
      if (release && !release.getCommit())
        return release.emitOpError(
            "expected 'commit', since dots that read the slot may be in flight");
      acquires |= isa<AcquireOp>(user);
      releases |= release != nullptr;
      if (acquires && filler && filler != role)
        return user->emitOpError("expected one role to acquire from a channel, got a second, \"")
               << role.getName() << "\"";
    }
    if (acquires != releases)
      return channel.emitOpError("expected role \"")
             << role.getName()
             << "\" to acquire and to release what its dots read in tensor memory";
    if (acquires)
      filler = role;
  }
  if (!filler)
    return channel.emitOpError("expected a tile.put into the channel");
  if (channel.getFull() == 0 && channel.getEmpty() == 1)
    return success();
  return channel.emitOpError("expected full = 0 and empty = 1, since one thread releases what the "
                             "dots of its copy read, got ")
         << channel.getFull() << " and " << channel.getEmpty();
}

/// Every channel is put, got and released, and counts the arrivals of those who release it.
static LogicalResult checkChannel(WarpGroupsOp groups, unsigned capture) {
  ChannelOp channel = getChannel(groups, capture);
  if (isOfOperands(groups, capture))
    return checkOperands(groups, capture);
  int64_t programs = getClusterPrograms(groups->getParentOfType<KernelOp>());
  if (channel.getType().getPair() && programs % 2)
    return channel.emitOpError(
               "expected a cluster of an even number of programs, since two use the "
               "channel together, got ")
           << programs;
  unsigned puts = 0;
  int64_t arrivals = 0;
  unsigned releasing = 0;
  for (Region &region : groups.getBodies()) {
    RoleAttr role = groups.getRole(region.getRegionNumber());
    Operation *put = nullptr, *get = nullptr;
    ReleaseOp release;
    std::array<ReleaseOp, 2> releases; // of all others that read a slot, and by commit
    for (Operation *user : region.getArgument(capture).getUsers()) {
      if (auto op = dyn_cast<PutOp>(user)) {
        if (failed(checkPut(op, channel, role)))
          return failure();
        put = user;
      }
      if (isa<AcquireOp, CommitOp>(user)) {
        if (failed(checkAnnounced(user, channel, role)))
          return failure();
        put = user;
      }
      if (isa<GetOp>(user))
        get = user;
      auto again = dyn_cast<ReleaseOp>(user);
      if (again && release && again.getPeers().size() != release.getPeers().size())
        return again.emitOpError("expected the role to release the channel always to as many "
                                 "programs, ")
               << release.getPeers().size() << ", got " << again.getPeers().size();
      if (again)
        releases[again.getCommit()] = release = again;
    }
    bool isOfSums = channel.getType().getAccumulator() != nullptr;
    if (isOfSums && releases[false] && releases[true])
      return release.emitOpError("expected the role to release the channel always by 'commit', or "
                                 "never");
    puts += put != nullptr;
    if (puts > 1)
      return put->emitOpError("expected one role to put into a channel, got a second, \"")
             << role.getName() << "\"";
    bool isEither = channel.getType().getAccumulator() || channel.getType().getBuffers().empty();
    // Slots whose bytes are counted, or which dots give back by a commit, have barriers, whoever
    // fills them.
    auto filled = dyn_cast_or_null<PutOp>(put);
    bool isOwn =
        put && get && !isReadUntilCommit(cast<GetOp>(get)) && !(filled && filled.getBytes());
    if (get && !isEither && channel.getType().getOwn() != isOwn)
      return get->emitOpError("expected ")
             << (isOwn ? "'own' in the type of a channel" : "a tile.put into an 'own' channel")
             << ", since role \"" << role.getName() << "\" "
             << (put ? "puts into it and gets from it" : "gets from it");
    if (get && !release)
      return get->emitOpError("expected a tile.release in role \"")
             << role.getName() << "\", which gets from the channel";
    if (release && !get)
      return release.emitOpError("expected a tile.get in role \"")
             << role.getName() << "\", which releases the channel";
    for (ReleaseOp each : releases) {
      if (!each)
        continue;
      int64_t together = countTogether(each, channel.getType(), role);
      int64_t peers = each.getPeers().size();
      // Of two programs' slots one gives back for both.
      if (each.getCommit() && channel.getType().getPair())
        peers /= 2;
      arrivals +=
          (each.getCommit() ? together : together * role.getWarps()) * std::max<int64_t>(peers, 1);
    }
    releasing += release != nullptr;
  }
  if (!puts)
    return channel.emitOpError("expected a tile.put into the channel");
  if (!releasing)
    return channel.emitOpError("expected a tile.get and a tile.release of the channel");
  if (int64_t(channel.getEmpty()) == arrivals)
    return success();
  return channel.emitOpError("expected empty = ")
         << arrivals << ", one arrival of each warp that releases it, or copy that commits to, got "
         << channel.getEmpty();
}

/// Roles have the kernel's warps together, and registers as the chip can share them out.
static LogicalResult checkWarps(WarpGroupsOp groups) {
  auto kernel = cast<KernelOp>(groups->getParentOp());
  int64_t warps = 0;
  for (auto role : groups.getRoles().getAsRange<RoleAttr>())
    warps += role.getTotalWarps();
  auto decided = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName);
  if (!decided || decided.getInt() != warps)
    return groups.emitOpError("expected the roles to have the kernel's ")
           << (decided ? decided.getInt() : 0) << " warps together, got " << warps;
  for (auto role : groups.getRoles().getAsRange<RoleAttr>())
    if (!llvm::isPowerOf2_64(role.getWarps()))
      return groups.emitOpError("expected a power of two of warps in each copy of role \"")
             << role.getName() << "\", got " << role.getWarps();
  return checkRoleLimits(groups, groups.getRoles());
}

/// The warps of each copy of a role issue an instruction together that takes several.
static LogicalResult checkIssuers(WarpGroupsOp groups) {
  int64_t first = 0;
  for (auto [number, region] : llvm::enumerate(groups.getBodies())) {
    RoleAttr role = groups.getRole(number);
    WalkResult result = region.walk([&](StartDotOp dot) -> WalkResult {
      auto atom = dyn_cast<MmaAtomInterface>(dot.getAtom());
      if (!atom || atom.getCompletion() == Completion::InOrder ||
          (role.getWarps() == atom.getWarps() && first % atom.getWarps() == 0))
        return WalkResult::advance();
      return dot.emitOpError("expected ")
             << atom.getWarps() << " warps in each copy of role \"" << role.getName()
             << "\", behind a multiple of them, for " << atom << ", got " << role.getWarps()
             << " behind " << first;
    });
    if (result.wasInterrupted())
      return failure();
    first += role.getTotalWarps();
  }
  return success();
}

/// Tensor memory has room for all accumulators at once: they are set aside when the program begins.
static LogicalResult checkTensorMemory(WarpGroupsOp groups) {
  TargetInterface target = getTarget(groups);
  SmallVector<std::pair<ChannelOp, int64_t>> places;
  int64_t total = 0;
  for (Value capture : groups.getCaptures()) {
    auto channel = capture.getDefiningOp<ChannelOp>();
    PendingType accumulator = channel ? channel.getType().getAccumulator() : PendingType();
    if (!target || !accumulator)
      continue;
    RankedTensorType tensor = accumulator.getTensor();
    int64_t bytes = tensor.getNumElements() * tensor.getElementTypeBitWidth() / 8;
    auto sync = dyn_cast<SynchronisationInterface>(target.getReal());
    if (sync && sync.getTensorColumnBytes())
      bytes =
          alignTensorBytes(getTensorSlotBytes(tensor, sync) * channel.getType().getDepth(), sync);
    places.push_back({channel, bytes});
    total += places.back().second;
  }
  if (places.empty())
    return success();
  const std::optional<Figure> &limit = target.getChipRecord().figures.tensorMemory;
  if (limit && total <= limit->value)
    return success();
  InFlightDiagnostic error =
      emitSourceError(places.back().first, "expected accumulators of at most ")
      << (limit ? limit->value : 0) << " bytes of tensor memory on " << target.getSpelling()
      << ", got " << total;
  for (auto &[channel, bytes] : places) {
    RankedTensorType tensor = channel.getType().getAccumulator().getTensor();
    error.attachNote(channel.getLoc())
        << bytes << " bytes for " << channel.getType().getDepth() << " of "
        << RankedTensorType::get(tensor.getShape(), tensor.getElementType())
        << (channel.getType().getDepth() > 1 ? ", as copies, turns, 'in_flight' and stages ask for"
                                             : "");
  }
  return error;
}

/// Whether a use of what lies in tensor memory leaves it as it is: it is fetched, or read by dots.
static bool isRead(OpOperand &use) {
  auto dot = dyn_cast<StartDotOp>(use.getOwner());
  return isa<FetchOp, PartOp>(use.getOwner()) || (dot && &use != &dot.getAccumulatorMutable());
}

static LogicalResult checkFirstOfPair(WarpGroupsOp groups) {
  WalkResult result = groups.walk([](Operation *op) { return WalkResult(requireFirstOfPair(op)); });
  return failure(result.wasInterrupted());
}

/// Whoever waits for fewer instructions than puts are reads a slot that is not there.
static LogicalResult checkInstructions(WarpGroupsOp groups) {
  TargetInterface target = getTarget(groups);
  if (!target)
    return success();
  for (auto [number, body] : llvm::enumerate(groups.getBodies())) {
    int64_t most =
        countPutInstructions(body, groups.getRole(number), target.getChipRecord().warpSize)
            .value_or(0);
    WalkResult result = body.walk([&](WaitPutsOp wait) -> WalkResult {
      auto said = wait->getAttrOfType<IntegerAttr>(kInstructionsAttrName);
      if (!said || said.getInt() <= most)
        return WalkResult::advance();
      return wait.emitOpError("expected '")
             << kInstructionsAttrName << "' of at most " << most
             << ", since the smallest put of the role is so many of a warp, got " << said.getInt();
    });
    if (result.wasInterrupted())
      return failure();
  }
  return success();
}

/// What is pending has one user: two would each wait for, or add to, the same accumulator. Any
/// number may read it.
static LogicalResult checkPending(WarpGroupsOp groups) {
  WalkResult result = groups.walk([](Operation *op) -> WalkResult {
    auto check = [&](Value value) -> LogicalResult {
      if (!isa<PendingType>(value.getType()) || value.hasOneUse() ||
          llvm::all_of(value.getUses(), isRead))
        return success();
      // The two branches of a condition may each have one.
      SmallVector<Region *> regions;
      for (Operation *user : value.getUsers()) {
        if (llvm::is_contained(regions, user->getParentRegion()) ||
            !isa<scf::IfOp>(user->getParentOp()))
          return user->emitOpError("expected one use of a pending result, got another");
        regions.push_back(user->getParentRegion());
      }
      return success();
    };
    for (Value value : op->getResults())
      if (failed(check(value)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (BlockArgument argument : region.getArguments())
        if (failed(check(argument)))
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

bool kiln::protocol::sharesTiles(WarpGroupsOp groups) {
  return groups
      .walk([](Operation *op) {
        auto copy = dyn_cast<CopyInOp>(op);
        auto release = dyn_cast<ReleaseOp>(op);
        bool reachesOthers = (copy && copy.getMask()) || (release && !release.getPeers().empty()) ||
                             (release && release.getChannel().getType().getPair());
        return reachesOthers ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

int64_t kiln::protocol::countReleases(WarpGroupsOp groups, unsigned capture) {
  int64_t arrivals = 0;
  for (Region &region : groups.getBodies()) {
    RoleAttr role = groups.getRole(region.getRegionNumber());
    std::array<ReleaseOp, 2> releases;
    for (Operation *user : region.getArgument(capture).getUsers())
      if (auto release = dyn_cast<ReleaseOp>(user))
        releases[release.getCommit()] = release;
    for (ReleaseOp release : releases)
      if (release)
        arrivals += countTogether(release, release.getChannel().getType(), role) *
                    countArrivals(role, release);
  }
  return arrivals;
}

/// No program reaches channels that another has not made yet, and none ends while others may reach
/// its own.
static LogicalResult checkClusterBarriers(WarpGroupsOp groups) {
  if (!sharesTiles(groups))
    return success();
  Operation *before = groups->getPrevNode(), *behind = groups->getNextNode();
  while (before && !isa<ClusterBarrierOp, ChannelOp>(before))
    before = before->getPrevNode();
  if (!isa_and_nonnull<ClusterBarrierOp>(before))
    return groups.emitOpError("expected a tile.cluster_barrier between the channels and the roles, "
                              "since programs of a cluster reach those of one another");
  while (behind && !isa<ClusterBarrierOp>(behind))
    behind = behind->getNextNode();
  if (behind)
    return success();
  return groups.emitOpError(
      "expected a tile.cluster_barrier behind the roles, since other programs "
      "of the cluster may reach the channels of one that has ended");
}

LogicalResult kiln::protocol::checkCounts(WarpGroupsOp groups) {
  if (failed(checkWarps(groups)) || failed(checkIssuers(groups)) ||
      failed(checkClusterBarriers(groups)) || failed(checkTensorMemory(groups)) ||
      failed(checkFirstOfPair(groups)) || failed(checkInstructions(groups)) ||
      failed(checkPending(groups)))
    return failure();
  for (unsigned i = 0; i < groups.getCaptures().size(); ++i) {
    if (!isa<ChannelType>(groups.getCaptures()[i].getType()))
      continue;
    if (!getChannel(groups, i))
      return groups.emitOpError("expected channels to be captured as tile.channel makes them");
    if (failed(checkChannel(groups, i)))
      return failure();
  }
  return success();
}
