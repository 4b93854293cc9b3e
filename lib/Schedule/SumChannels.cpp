// Makes channels of accumulators, and uses their slots.
#include "SumChannels.h"
#include "Turns.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

Operation *kiln::findLastRelease(Operation *end) {
  for (auto next = dyn_cast_or_null<ReleaseOp>(end->getNextNode()); next && next.getCommit();
       next = dyn_cast_or_null<ReleaseOp>(end->getNextNode()))
    end = next;
  return end;
}

Value kiln::getHandedSum(Operation *op) {
  if (auto commit = dyn_cast<CommitOp>(op))
    return commit.getAccumulator();
  auto get = dyn_cast<GetOp>(op);
  return get && get.getChannel().getType().getAccumulator() ? get.getBuffers().front() : Value();
}

/// The channel is an argument of the role's region.
static void shareOutSlots(WarpGroupsOp groups, Value channel, PendingType share) {
  auto type = cast<ChannelType>(channel.getType());
  RankedTensorType whole = type.getAccumulator().getTensor(), own = share.getTensor();
  if (whole == own)
    return;
  type = ChannelType::get(groups.getContext(),
                          type.getDepth() * (whole.getNumElements() / own.getNumElements()),
                          /*own=*/false, Type(share));
  unsigned number = cast<BlockArgument>(channel).getArgNumber();
  groups.getCaptures()[number].setType(type);
  for (Region &body : groups.getBodies())
    body.getArgument(number).setType(type);
}

void kiln::shareOutSlots(WarpGroupsOp groups) {
  groups.walk([&](Operation *op) {
    if (Value sum = getHandedSum(op))
      ::shareOutSlots(groups, op->getOperand(isa<CommitOp>(op) ? 1 : 0),
                      cast<PendingType>(sum.getType()));
  });
}

SumChannels::SumChannels(WarpGroupsOp groups, Region &region, RoleAttr role)
    : role(role), rewriter(groups.getContext()), groups(groups), region(region) {}

BlockArgument SumChannels::add(Location loc, ChannelType type, int64_t full, int64_t empty) {
  auto made = ChannelOp::create(rewriter, loc, type, full, empty);
  groups.getCapturesMutable().append(made.getResult());
  for (Region &body : groups.getBodies())
    body.addArgument(type, made.getLoc());
  return channels.emplace_back(region.getArguments().back());
}

Value SumChannels::make(Location loc, SlotKind slot) {
  auto type = ChannelType::get(groups.getContext(), slot.slots * role.getCopies(), /*own=*/false,
                               Type(slot.type));
  rewriter.setInsertionPoint(groups);
  return add(loc, type, slot.full, slot.empty);
}

NextOp SumChannels::makeNext(Location loc, Value channel, bool fills) {
  auto next = NextOp::create(rewriter, loc, channel, fills);
  if (role.getCopies() > 1)
    stepOverOthers(next);
  return next;
}

void SumChannels::stepOverOthers(NextOp next) {
  rewriter.setInsertionPointAfter(next);
  IndexMath math{rewriter, next.getLoc()};
  stepOver(rewriter, next.getLoc(), getRingSide(next), math.constant(role.getCopies() - 1));
}

void SumChannels::stepToOwn(BlockArgument channel) {
  llvm::SmallSetVector<RingSide, 2> sides;
  for (Operation *user : channel.getUsers())
    if (auto next = dyn_cast<NextOp>(user))
      sides.insert(getRingSide(next));
  if (sides.empty())
    return;
  rewriter.setInsertionPointToStart(&region.front());
  Location loc = channel.getLoc();
  Value copy = CopyIdOp::create(rewriter, loc, rewriter.getIndexType());
  for (RingSide side : sides)
    stepOver(rewriter, loc, side, copy);
}

void SumChannels::stepOverOthers() {
  if (role.getCopies() == 1)
    return;
  // Copies in turn have stepped over what others use of a ring that they share.
  bool isInTurn = takesTurns(groups->getParentOfType<KernelOp>(), role);
  for (BlockArgument argument : region.getArguments()) {
    auto type = dyn_cast<ChannelType>(argument.getType());
    if (llvm::is_contained(channels, argument)) {
      stepToOwn(argument);
    } else if (type && type.getAccumulator() && !isInTurn) {
      for (Operation *user : llvm::to_vector(argument.getUsers()))
        if (auto next = dyn_cast<NextOp>(user))
          stepOverOthers(next);
      stepToOwn(argument);
    }
  }
}

FillOp SumChannels::acquire(OpOperand &user, Value channel, Value slot, Value phase,
                            Attribute atom) {
  Operation *root = user.get().getDefiningOp();
  Location loc = root->getLoc();
  rewriter.setInsertionPoint(user.getOwner());
  Value accumulator = AcquireOp::create(rewriter, loc, user.get().getType(), channel, slot, phase);
  FillOp fill;
  if (auto pend = dyn_cast<PendOp>(root)) {
    fill =
        FillOp::create(rewriter, loc, accumulator.getType(), pend.getTensor(), accumulator, atom);
    accumulator = fill.getResult();
  }
  user.set(accumulator);
  if (root->use_empty())
    rewriter.eraseOp(root);
  return fill;
}

void SumChannels::awaitMate(FillOp fill, Value channel, Operation *last) {
  if (cast<MmaAtomInterface>(fill.getAtom()).getPrograms() == 1)
    return;
  Location loc = fill.getLoc();
  BlockArgument &mate = mates[channel];
  if (!mate) {
    unsigned number = cast<BlockArgument>(channel).getArgNumber();
    rewriter.setInsertionPointAfterValue(groups.getCaptures()[number]);
    mate = add(loc, ChannelType::get(groups.getContext(), role.getCopies(), /*own=*/false, {}),
               /*full=*/role.getWarps(), /*empty=*/1);
  }
  rewriter.setInsertionPointAfter(fill);
  NextOp next = makeNext(loc, mate);
  Value slot = next.getSlot(), phase = next.getPhase();
  auto put = PutOp::create(rewriter, loc, mate, slot, phase, /*bytes=*/0);
  put.getBody().emplaceBlock();
  GetOp::create(rewriter, loc, mate, slot, phase, /*to_start=*/true);
  rewriter.setInsertionPointAfter(last);
  ReleaseOp::create(rewriter, loc, mate, slot, /*lanes=*/false, /*commit=*/true,
                    /*peers=*/ValueRange());
}

FetchOp SumChannels::fetchAndKeep(Location loc, Type type, Value channel, NextOp place,
                                  Attribute atom) {
  auto get = GetOp::create(rewriter, loc, channel, place.getSlot(), place.getPhase(),
                           /*to_start=*/false);
  return FetchOp::create(rewriter, loc, type, get.getBuffers().front(), atom);
}

Value SumChannels::fetch(Location loc, Type type, Value channel, NextOp place, Attribute atom) {
  FetchOp fetched = fetchAndKeep(loc, type, channel, place, atom);
  ReleaseOp::create(rewriter, loc, channel, place.getSlot(), /*lanes=*/true, /*commit=*/false,
                    /*peers=*/ValueRange());
  return fetched.getResult();
}
