// Makes and shares channels of accumulators, and uses their slots.
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

SumChannels::SumChannels(WarpGroupsOp groups, Region &region, RoleAttr role)
    : role(role), rewriter(groups.getContext()), groups(groups), region(region) {
  region.walk<WalkOrder::PreOrder>([&](Operation *op) { numbers[op] = numbers.size(); });
}

/// That of the last op in an op.
int64_t SumChannels::getLastNumber(Operation *op) {
  int64_t last = 0;
  op->walk([&](Operation *inner) { last = std::max(last, numbers.lookup(inner)); });
  return last;
}

Value SumChannels::get(Location loc, ArrayRef<Type> slot, SlotSpan span, int64_t full,
                       int64_t empty, bool isCarried) {
  auto type = ChannelType::get(groups.getContext(), role.getCopies(), /*own=*/false, slot);
  std::pair<int64_t, int64_t> numbered = {numbers.lookup(span.first), getLastNumber(span.last)};
  auto isApart = [&](std::pair<int64_t, int64_t> other) {
    return other.second < numbered.first || numbered.second < other.first;
  };
  auto isAlike = [&](BlockArgument channel) {
    auto made = groups.getCaptures()[channel.getArgNumber()].getDefiningOp<ChannelOp>();
    return made.getType() == type && int64_t(made.getFull()) == full &&
           int64_t(made.getEmpty()) == empty;
  };
  for (auto &[channel, others] : channels[isCarried])
    if (isAlike(channel) && llvm::all_of(others, isApart)) {
      others.push_back(numbered);
      return channel;
    }
  rewriter.setInsertionPoint(groups);
  auto made = ChannelOp::create(rewriter, loc, type, full, empty);
  groups.getCapturesMutable().append(made.getResult());
  for (Region &body : groups.getBodies())
    body.addArgument(type, made.getLoc());
  channels[isCarried].push_back({region.getArguments().back(), {numbered}});
  return channels[isCarried].back().first;
}

NextOp SumChannels::makeNext(Location loc, Value channel, bool fills) {
  auto next = NextOp::create(rewriter, loc, channel, fills);
  if (role.getCopies() > 1) {
    IndexMath math{rewriter, loc};
    stepOver(rewriter, loc, {channel, fills}, math.constant(role.getCopies() - 1));
  }
  return next;
}

void SumChannels::stepOverOthers(BlockArgument channel) {
  rewriter.setInsertionPointToStart(&region.front());
  Location loc = channel.getLoc();
  Value copy = CopyIdOp::create(rewriter, loc, rewriter.getIndexType());
  llvm::SmallSetVector<RingSide, 2> sides;
  for (Operation *user : channel.getUsers())
    if (auto next = dyn_cast<NextOp>(user))
      sides.insert(getRingSide(next));
  for (RingSide side : sides)
    stepOver(rewriter, loc, side, copy);
}

void SumChannels::stepOverOthers() {
  if (role.getCopies() == 1)
    return;
  for (auto &made : channels)
    for (auto &[channel, spans] : made)
      stepOverOthers(channel);
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

void SumChannels::awaitMate(FillOp fill, SlotSpan span) {
  if (cast<MmaAtomInterface>(fill.getAtom()).getPrograms() == 1)
    return;
  Location loc = fill.getLoc();
  Value channel = get(loc, {}, span, /*full=*/role.getWarps(), /*empty=*/1);
  rewriter.setInsertionPointAfter(fill);
  NextOp next = makeNext(loc, channel);
  Value slot = next.getSlot(), phase = next.getPhase();
  auto put = PutOp::create(rewriter, loc, channel, slot, phase, /*bytes=*/0);
  put.getBody().emplaceBlock();
  GetOp::create(rewriter, loc, channel, slot, phase, /*to_start=*/true);
  rewriter.setInsertionPointAfter(span.last);
  ReleaseOp::create(rewriter, loc, channel, slot, /*lanes=*/false, /*commit=*/true,
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
