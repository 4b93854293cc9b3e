// Accumulators in tensor memory become slots of channels.
//
// Dots into one are started by one thread, and a commit tells all who wait for it that they have
// ended. So the role that multiplies fills a slot, and gets it again to fetch it: the slot's
// barriers tell the warps that the sums are there, and the thread that they have been fetched.
//
// What such dots read as operand a, and warps have computed, is written to tensor memory in front
// of them. It is a slot, too, which a commit behind the dots gives back. Who fills it is who starts
// the dots, so nobody waits until it is full. Where a sum of the trip has been fetched by then, it
// needs no slot of its own: it is written over that sum, whose slot the commit gives back.
//
// A sum that a loop carries, and changes element by element in front of the trip's dots, is left
// there until then where `tile.carried` says so.
//
// Of dots of two programs one thread starts them for both. So what warps write in front of them,
// sums or operands, the warps of both say that they have written, by a slot of nothing.
//
// Copies of a role have shared its tensors out by now, and each fills and fetches slots of its own:
// of a channel with a slot for each copy every copy steps over the uses of the others.
#include "CarriedSums.h"
#include "Turns.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEACCUMULATORS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// The life of an accumulator: from what first uses it, as this operand, to the wait for it; and
/// where it is handed to another role, which needs no wait.
struct Life {
  OpOperand *first = nullptr;
  WaitOp wait;
  Attribute atom;
  CommitOp commit = {};

  Operation *getBegin() const { return first->getOwner(); }
  Operation *getEnd() { return wait.getPending().getDefiningOp(); }
};

/// From where to where a slot is in use.
struct Span {
  Operation *first, *last;
};

/// The lives of one role's accumulators. Those that do not overlap share a channel.
class AccumulatorRealiser {
public:
  AccumulatorRealiser(WarpGroupsOp groups, Region &region, RoleAttr role)
      : groups(groups), region(region), role(role), rewriter(groups.getContext()) {}
  LogicalResult run();

private:
  LogicalResult find(WaitOp wait, CommitOp commit);
  LogicalResult handOver(CommitOp commit);
  LogicalResult sink(scf::IfOp condition, unsigned index, CommitOp commit);
  Value getChannel(Location loc, ArrayRef<Type> slot, Span span, int64_t full, int64_t empty,
                   bool isCarried = false);
  LogicalResult findCarried();
  int64_t getLastNumber(Operation *op);
  NextOp makeNext(Location loc, Value channel, bool fills = false);
  void stepOverOthers(BlockArgument channel);
  Value fetchAt(Location loc, Type type, Value channel, NextOp place, Attribute atom);
  Value fetchNext(Location loc, Life &life, Value channel);
  void realiseCarried(Life &life, const CarriedSum &found);
  LogicalResult findOperands();
  ArrayRef<StartDotOp> findCover(Life &life, ArrayRef<Life *> others);
  void findCovers();
  Value turnRows(StartDotOp dot);
  void fillOperand(ArrayRef<StartDotOp> dots, Value tensor, Value empty);
  void realiseOperand(ArrayRef<StartDotOp> dots);
  FillOp acquire(OpOperand &user, Value channel, Value slot, Value phase, Attribute atom);
  void awaitMate(FillOp fill, Span span);
  void realise(Life &life);
  LogicalResult commitBehind(scf::IfOp condition, unsigned index);
  void realiseHandedOver(Life &life);
  LogicalResult realiseFill(CommitOp commit);

  WarpGroupsOp groups;
  Region &region;
  RoleAttr role;
  IRRewriter rewriter;
  SmallVector<Life> lives, handedOver;
  DenseMap<Operation *, CarriedSum> carried; ///< by the wait
  /// Of tensors that no dot makes: what is handed over where a loop has no trips.
  SmallVector<CommitOp> fills;
  /// What dots of one block read as operand a, if warps have computed it.
  llvm::MapVector<std::pair<std::pair<Block *, Value>, unsigned>, SmallVector<StartDotOp>> operands;
  /// The dots whose operand a is written over a sum, by the wait for it.
  DenseMap<Operation *, SmallVector<StartDotOp>> covers;
  DenseMap<Operation *, int64_t> numbers; ///< in the order of the text
  /// Each with the numbers between which it is in use. Of sums that go from trip to trip, whose
  /// slots are filled in one trip and got in the next, apart.
  SmallVector<std::pair<BlockArgument, SmallVector<std::pair<int64_t, int64_t>>>> channels[2];
};
} // namespace

LogicalResult AccumulatorRealiser::find(WaitOp wait, CommitOp commit) {
  Life life;
  life.wait = wait;
  life.commit = commit;
  life.first = findFirstUse(wait.getPending(), life.atom);
  Operation *root = life.first ? life.first->get().getDefiningOp() : nullptr;
  bool isWhole = isa_and_nonnull<ub::PoisonOp, PendOp>(root) &&
                 life.getBegin()->getBlock() == wait->getBlock() &&
                 life.getEnd()->getBlock() == wait->getBlock();
  if (!isWhole)
    return wait.emitOpError("expected an accumulator in tensor memory to be waited for in the "
                            "block, and the trip, in which its first dot or loop begins");
  (commit ? handedOver : lives).push_back(life);
  return success();
}

/// The last of the releases, by commits, that follow a dot. Nobody waits for those of a program's
/// last dots, so they come in front of the commit that somebody does wait for: a program must not
/// end before they have arrived.
static Operation *findLastRelease(Operation *end) {
  for (auto next = dyn_cast_or_null<ReleaseOp>(end->getNextNode()); next && next.getCommit();
       next = dyn_cast_or_null<ReleaseOp>(end->getNextNode()))
    end = next;
  return end;
}

//===- What other roles use -----------------------------------------------------------------===//

/// The tensor that is committed is what a dot makes, or another one.
LogicalResult AccumulatorRealiser::handOver(CommitOp commit) {
  Value tensor = commit.getAccumulator().getDefiningOp<PendOp>().getTensor();
  if (auto wait = tensor.getDefiningOp<WaitOp>(); wait && tensor.hasOneUse())
    return find(wait, commit);
  if (auto condition = tensor.getDefiningOp<scf::IfOp>(); condition && tensor.hasOneUse())
    return sink(condition, cast<OpResult>(tensor).getResultNumber(), commit);
  fills.push_back(commit);
  return success();
}

/// Each branch of a condition commits what it makes.
LogicalResult AccumulatorRealiser::sink(scf::IfOp condition, unsigned index, CommitOp commit) {
  auto pend = commit.getAccumulator().getDefiningOp<PendOp>();
  Operation *next = commit.getSlot().getDefiningOp();
  if (next->getBlock() == condition->getBlock())
    rewriter.moveOpBefore(next, condition);
  SmallVector<Type> types(condition.getResultTypes());
  types.erase(types.begin() + index);
  rewriter.setInsertionPoint(condition);
  auto made = scf::IfOp::create(rewriter, condition.getLoc(), types, condition.getCondition(),
                                /*withElseRegion=*/true);
  made->setDiscardableAttrs(condition->getDiscardableAttrDictionary());
  numbers[made] = numbers.lookup(condition);
  SmallVector<CommitOp> commits;
  for (auto [from, to] : llvm::zip_equal(condition->getRegions(), made->getRegions())) {
    to.takeBody(from);
    Operation *yield = to.front().getTerminator();
    rewriter.setInsertionPoint(yield);
    auto part = PendOp::create(rewriter, pend.getLoc(), pend.getType(), yield->getOperand(index));
    commits.push_back(
        CommitOp::create(rewriter, commit.getLoc(), part, commit.getChannel(), commit.getSlot()));
    yield->eraseOperand(index);
  }
  rewriter.eraseOp(commit);
  rewriter.eraseOp(pend);
  for (auto [i, result] : llvm::enumerate(made.getResults()))
    condition.getResult(i + (i >= index)).replaceAllUsesWith(result);
  rewriter.eraseOp(condition);
  for (CommitOp each : commits)
    if (failed(handOver(each)))
      return failure();
  return success();
}

/// The slot that is committed is acquired where the dots begin.
void AccumulatorRealiser::realiseHandedOver(Life &life) {
  auto next = life.commit.getSlot().getDefiningOp<NextOp>();
  if (next->getBlock() == life.getBegin()->getBlock())
    rewriter.moveOpBefore(next, life.getBegin());
  FillOp fill =
      acquire(*life.first, life.commit.getChannel(), next.getSlot(), next.getPhase(), life.atom);
  auto pend = life.commit.getAccumulator().getDefiningOp<PendOp>();
  life.commit.getAccumulatorMutable().set(life.wait.getPending());
  rewriter.moveOpAfter(life.commit, findLastRelease(life.getEnd()));
  if (fill)
    awaitMate(fill, {life.getBegin(), life.getEnd()});
  rewriter.eraseOp(pend);
  rewriter.eraseOp(life.wait);
}

LogicalResult AccumulatorRealiser::realiseFill(CommitOp commit) {
  auto *known = llvm::find_if(
      handedOver, [&](Life &life) { return life.commit.getChannel() == commit.getChannel(); });
  auto next = commit.getSlot().getDefiningOp<NextOp>();
  if (known == handedOver.end())
    return commit.emitOpError("expected a sum that dots of role \"")
           << role.getName() << "\" make, since another role fetches it";
  acquire(commit.getAccumulatorMutable(), commit.getChannel(), next.getSlot(), next.getPhase(),
          known->atom);
  return success();
}

//===- What the role uses itself ------------------------------------------------------------===//

/// That of the last op in an op.
int64_t AccumulatorRealiser::getLastNumber(Operation *op) {
  int64_t last = 0;
  op->walk([&](Operation *inner) { last = std::max(last, numbers.lookup(inner)); });
  return last;
}

/// One of the type, with a slot for each copy, that is free from the span's begin to its end, or a
/// new one.
Value AccumulatorRealiser::getChannel(Location loc, ArrayRef<Type> slot, Span span, int64_t full,
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

/// The place of a slot that is this copy's.
NextOp AccumulatorRealiser::makeNext(Location loc, Value channel, bool fills) {
  auto next = NextOp::create(rewriter, loc, channel, fills);
  if (role.getCopies() > 1) {
    IndexMath math{rewriter, loc};
    stepOver(rewriter, loc, {channel, fills}, math.constant(role.getCopies() - 1));
  }
  return next;
}

/// Each copy begins with the slot of its own number.
void AccumulatorRealiser::stepOverOthers(BlockArgument channel) {
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

/// Gives what uses an accumulator first a slot, filled with what it begins as, if that is
/// something.
FillOp AccumulatorRealiser::acquire(OpOperand &user, Value channel, Value slot, Value phase,
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

/// Of dots of two programs, those that read what is filled wait until both have; they have it until
/// the last has ended.
void AccumulatorRealiser::awaitMate(FillOp fill, Span span) {
  if (cast<MmaAtomInterface>(fill.getAtom()).getPrograms() == 1)
    return;
  Location loc = fill.getLoc();
  Value channel = getChannel(loc, {}, span, /*full=*/role.getWarps(), /*empty=*/1);
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

/// Waits for a slot and fetches what it holds.
static FetchOp fetchFrom(OpBuilder &builder, Location loc, Type type, Value channel, NextOp place,
                         Attribute atom) {
  auto get = GetOp::create(builder, loc, channel, place.getSlot(), place.getPhase(),
                           /*to_start=*/false);
  return FetchOp::create(builder, loc, type, get.getBuffers().front(), atom);
}

/// And gives it back.
Value AccumulatorRealiser::fetchAt(Location loc, Type type, Value channel, NextOp place,
                                   Attribute atom) {
  FetchOp fetch = fetchFrom(rewriter, loc, type, channel, place, atom);
  ReleaseOp::create(rewriter, loc, channel, place.getSlot(), /*lanes=*/true, /*commit=*/false,
                    /*peers=*/ValueRange());
  return fetch.getResult();
}

void AccumulatorRealiser::realise(Life &life) {
  Location loc = life.wait.getLoc();
  auto cover = covers.find(life.wait);
  bool isCovered = cover != covers.end();
  Operation *last = isCovered ? cover->second.back() : life.wait;
  Value channel = getChannel(loc, {life.wait.getPending().getType()}, {life.getBegin(), last},
                             /*full=*/1, isCovered ? 1 : role.getWarps());
  rewriter.setInsertionPoint(life.getBegin());
  NextOp next = makeNext(loc, channel);
  Value slot = next.getSlot(), phase = next.getPhase();
  if (FillOp fill = acquire(*life.first, channel, slot, phase, life.atom))
    awaitMate(fill, {life.getBegin(), life.getEnd()});
  rewriter.setInsertionPointAfter(findLastRelease(life.getEnd()));
  CommitOp::create(rewriter, loc, life.wait.getPending(), channel, slot);
  rewriter.setInsertionPoint(life.wait);
  if (!isCovered) {
    rewriter.replaceOp(life.wait, fetchAt(loc, life.wait.getType(), channel, next, life.atom));
    return;
  }
  FetchOp fetch = fetchFrom(rewriter, loc, life.wait.getType(), channel, next, life.atom);
  rewriter.replaceOp(life.wait, fetch);
  StartDotOp reader = cover->second.front();
  Value tensor = turnRows(reader);
  rewriter.setInsertionPoint(reader);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  auto type = PendingType::get(cast<RankedTensorType>(tensor.getType()), /*inTensorMemory=*/true);
  auto over = PartOp::create(rewriter, loc, type, fetch.getPending(), ValueRange{zero, zero});
  fillOperand(cover->second, tensor, over);
  rewriter.setInsertionPointAfter(last);
  ReleaseOp::create(rewriter, loc, channel, slot, /*lanes=*/false, /*commit=*/true,
                    /*peers=*/ValueRange());
}

//===- What a loop carries ------------------------------------------------------------------===//

/// Sums that stay in tensor memory from trip to trip, as decided.
LogicalResult AccumulatorRealiser::findCarried() {
  WalkResult result = region.walk([&](WaitOp wait) -> WalkResult {
    auto place = dyn_cast_or_null<StringAttr>(wait->removeAttr(kCarriedAttrName));
    if (!place || place == "registers")
      return WalkResult::advance();
    std::string expected;
    std::optional<CarriedSum> sum = findCarriedSum(wait, expected);
    if (!sum)
      return wait.emitOpError("expected ")
             << expected << ", since '" << kCarriedAttrName << "' is " << place;
    carried.insert({wait, std::move(*sum)});
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// What the next slot that is got holds.
Value AccumulatorRealiser::fetchNext(Location loc, Life &life, Value channel) {
  return fetchAt(loc, life.wait.getType(), channel, makeNext(loc, channel), life.atom);
}

/// What the loop begins with is written to a slot in front of it. Each trip fetches its sum where
/// it changes it, and what is behind the loop fetches the last.
void AccumulatorRealiser::realiseCarried(Life &life, const CarriedSum &found) {
  Location loc = life.wait.getLoc();
  scf::ForOp loop = found.loop;
  PendingType type = life.wait.getPending().getType();
  Value channel = getChannel(loc, {type}, {loop, loop.getBody()->getTerminator()}, /*full=*/1,
                             role.getWarps(), /*isCarried=*/true);
  auto fillNext = [&](Value tensor) {
    NextOp next = makeNext(loc, channel, /*fills=*/true);
    Value empty = AcquireOp::create(rewriter, loc, type, channel, next.getSlot(), next.getPhase());
    auto filled = FillOp::create(rewriter, loc, type, tensor, empty, life.atom);
    return std::pair(filled, next.getSlot());
  };
  rewriter.setInsertionPoint(loop);
  OpOperand &init = *loop.getTiedLoopInit(loop.getRegionIterArg(found.index));
  auto [begun, firstSlot] = fillNext(init.get());
  CommitOp::create(rewriter, loc, begun, channel, firstSlot);
  // The loop's own value is nobody's any more.
  auto zero = arith::ConstantOp::create(
      rewriter, loc, cast<TypedAttr>(rewriter.getZeroAttr(init.get().getType())));
  init.set(zero);

  auto pend = life.first->get().getDefiningOp<PendOp>();
  BlockArgument sum = loop.getRegionIterArg(found.index);
  rewriter.setInsertionPoint(life.getBegin());
  sum.replaceAllUsesWith(fetchNext(loc, life, channel));
  for (Operation *op : found.ops)
    op->moveBefore(life.getBegin());
  rewriter.setInsertionPoint(life.getBegin());
  auto [filled, slot] = fillNext(pend.getTensor());
  life.first->set(filled);
  rewriter.eraseOp(pend);
  awaitMate(filled, {life.getBegin(), life.getEnd()});
  rewriter.setInsertionPointAfter(findLastRelease(life.getEnd()));
  CommitOp::create(rewriter, loc, life.wait.getPending(), channel, slot);
  loop.getBody()->getTerminator()->setOperand(found.index, sum);

  rewriter.setInsertionPointAfter(loop);
  Value last = fetchNext(loc, life, channel);
  loop.getResult(found.index).replaceAllUsesWith(last);
  rewriter.eraseOp(life.wait);
}

//===- What dots read -----------------------------------------------------------------------===//

LogicalResult AccumulatorRealiser::findOperands() {
  WalkResult result = region.walk([&](StartDotOp dot) -> WalkResult {
    if (!dot.getType().getInTensorMemory() || !isa<RankedTensorType>(dot.getA().getType()))
      return WalkResult::advance();
    operands[{{dot->getBlock(), dot.getA()}, dot.getTransposeA()}].push_back(dot);
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// What a dot reads as operand a, with its rows as they are written: those of its registers
/// whichever way it is read.
Value AccumulatorRealiser::turnRows(StartDotOp dot) {
  if (!dot.getTransposeA())
    return dot.getA();
  rewriter.setInsertionPoint(dot);
  auto type = cast<RankedTensorType>(dot.getA().getType());
  LinearLayout rows = getLayout(dot.getA()).transposeOuts({1, 0});
  type = withLayout(type.clone({type.getDimSize(1), type.getDimSize(0)}), rows);
  return TransposeOp::create(rewriter, dot.getLoc(), type, dot.getA(), ArrayRef<int64_t>{1, 0});
}

/// Writes what dots read, which follow one another in a block, in front of the first.
void AccumulatorRealiser::fillOperand(ArrayRef<StartDotOp> dots, Value tensor, Value empty) {
  StartDotOp first = dots.front();
  rewriter.setInsertionPoint(first);
  auto fill =
      FillOp::create(rewriter, first.getLoc(), empty.getType(), tensor, empty, first.getAtom());
  for (StartDotOp dot : dots) {
    dot.getAMutable().set(fill.getResult());
    dot.setTransposeA(false);
  }
  awaitMate(fill, {first, dots.back()});
}

/// An operand with a slot of its own.
void AccumulatorRealiser::realiseOperand(ArrayRef<StartDotOp> dots) {
  StartDotOp first = dots.front(), last = dots.back();
  Location loc = first.getLoc();
  Value tensor = turnRows(first);
  auto type = PendingType::get(cast<RankedTensorType>(tensor.getType()), /*inTensorMemory=*/true);
  Value channel = getChannel(loc, {type}, {first, last}, /*full=*/0, /*empty=*/1);
  rewriter.setInsertionPoint(first);
  NextOp next = makeNext(loc, channel);
  Value empty = AcquireOp::create(rewriter, loc, type, channel, next.getSlot(), next.getPhase());
  fillOperand(dots, tensor, empty);
  rewriter.setInsertionPointAfter(last);
  ReleaseOp::create(rewriter, loc, channel, next.getSlot(), /*lanes=*/false, /*commit=*/true,
                    /*peers=*/ValueRange());
}

/// The dots of the block whose operand a can be written over a sum, once that has been fetched;
/// none if one of the others begins before they have ended, for which the sum's slot would be free
/// by then.
ArrayRef<StartDotOp> AccumulatorRealiser::findCover(Life &life, ArrayRef<Life *> others) {
  RankedTensorType sum = life.wait.getPending().getType().getTensor();
  // Rows beyond the instruction's are further columns, which are others of the operand.
  if (sum.getDimSize(0) != cast<MmaAtomInterface>(life.atom).getExtents()[0])
    return {};
  auto isOver = [&](StartDotOp dot) {
    auto operand = cast<RankedTensorType>(dot.getA().getType());
    bool isTurned = dot.getTransposeA();
    int64_t bits = operand.getElementTypeBitWidth(), columns = operand.getDimSize(!isTurned);
    int64_t all = sum.getDimSize(1) * sum.getElementTypeBitWidth();
    return operand.getDimSize(isTurned) == sum.getDimSize(0) && all % (columns * bits) == 0;
  };
  for (auto &[place, dots] : operands) {
    StartDotOp first = dots.front();
    if (first->getBlock() != life.wait->getBlock() || first->isBeforeInBlock(life.wait) ||
        !isOver(first))
      continue;
    auto beginsBetween = [&, &readers = dots](Life *other) {
      int64_t begin = numbers.lookup(other->getBegin());
      return numbers.lookup(life.wait) < begin && begin <= numbers.lookup(readers.back());
    };
    if (llvm::none_of(others, beginsBetween))
      return dots;
  }
  return {};
}

/// Operands that are written over sums. Slots of one channel go back in one way, so sums that could
/// have one are all written over or none: else they would need more channels than it spares.
void AccumulatorRealiser::findCovers() {
  llvm::MapVector<Type, SmallVector<Life *>> alike;
  for (Life &life : lives)
    if (!carried.contains(life.wait))
      alike[life.wait.getPending().getType()].push_back(&life);
  auto isApart = [&](Life *one, Life *other) {
    return numbers.lookup(one->wait) < numbers.lookup(other->getBegin()) ||
           numbers.lookup(other->wait) < numbers.lookup(one->getBegin());
  };
  for (auto &[type, sums] : alike) {
    llvm::MapVector<Life *, SmallVector<StartDotOp>> found;
    DenseSet<Operation *> readers;
    for (Life *life : sums)
      if (ArrayRef<StartDotOp> dots = findCover(*life, sums);
          !dots.empty() && readers.insert(dots.front()).second)
        found[life] = SmallVector<StartDotOp>(dots);
    bool areAll = llvm::all_of(sums, [&](Life *life) {
      return found.contains(life) ||
             llvm::none_of(found, [&](auto &other) { return isApart(life, other.first); });
    });
    if (!areAll)
      continue;
    operands.remove_if([&](auto &entry) { return readers.contains(entry.second.front()); });
    for (auto &[life, dots] : found)
      covers[life->wait] = std::move(dots);
  }
}

/// A condition that chooses a sum, and the number of its result: what a loop leaves, or, if it has
/// no trips, what it begins with. None if there is none.
static std::optional<std::pair<scf::IfOp, unsigned>> findChoice(Region &region) {
  std::optional<std::pair<scf::IfOp, unsigned>> choice;
  region.walk([&](scf::IfOp condition) {
    for (unsigned i = 0; i < condition.getNumResults(); ++i) {
      auto wait = condition.thenYield().getOperand(i).getDefiningOp<WaitOp>();
      bool isSum = wait && wait.getPending().getType().getInTensorMemory() &&
                   wait->getBlock() == condition.thenBlock() && wait->hasOneUse();
      if (!isSum || !matchPattern(condition.elseYield().getOperand(i), m_Constant()))
        continue;
      choice = {condition, i};
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return choice;
}

/// A sum that a condition chooses is fetched behind it, where it is used: each branch commits its
/// own.
LogicalResult AccumulatorRealiser::commitBehind(scf::IfOp condition, unsigned index) {
  auto wait = condition.thenYield().getOperand(index).getDefiningOp<WaitOp>();
  Value sum = condition.getResult(index);
  Location loc = wait.getLoc();
  PendingType type = wait.getPending().getType();
  Attribute atom;
  (void)findFirstUse(wait.getPending(), atom);
  Value channel = getChannel(loc, {type}, {condition, condition}, /*full=*/1, role.getWarps());
  rewriter.setInsertionPointAfter(condition);
  NextOp next = makeNext(loc, channel);
  auto pend = PendOp::create(rewriter, loc, type, sum);
  auto commit = CommitOp::create(rewriter, loc, pend, channel, next.getSlot());
  sum.replaceAllUsesExcept(fetchAt(loc, wait.getType(), channel, next, atom), pend);
  return handOver(commit);
}

LogicalResult AccumulatorRealiser::run() {
  region.walk<WalkOrder::PreOrder>([&](Operation *op) { numbers[op] = numbers.size(); });
  if (failed(findCarried()))
    return failure();
  SmallVector<CommitOp> commits;
  region.walk([&](CommitOp commit) {
    if (commit.getAccumulator().getDefiningOp<PendOp>())
      commits.push_back(commit);
  });
  for (CommitOp commit : commits)
    if (failed(handOver(commit)))
      return failure();
  while (auto choice = findChoice(region))
    if (failed(commitBehind(choice->first, choice->second)))
      return failure();
  WalkResult result = region.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto wait = dyn_cast<WaitOp>(op);
    bool isOwn = wait && wait.getPending().getType().getInTensorMemory() &&
                 llvm::none_of(handedOver, [&](Life &life) { return life.wait == wait; });
    return WalkResult(success(!isOwn || succeeded(find(wait, {}))));
  });
  if (result.wasInterrupted() || failed(findOperands()))
    return failure();
  findCovers();
  for (auto &[place, dots] : operands)
    realiseOperand(dots);
  // What goes back by commit does so in front of the commits that tell of other sums.
  for (bool isCovered : {true, false})
    for (Life &life : lives) {
      auto found = carried.find(life.wait);
      if (covers.contains(life.wait) != isCovered)
        continue;
      if (found != carried.end())
        realiseCarried(life, found->second);
      else
        realise(life);
    }
  for (Life &life : handedOver)
    realiseHandedOver(life);
  for (CommitOp commit : fills)
    if (failed(realiseFill(commit)))
      return failure();
  if (role.getCopies() > 1)
    for (auto &made : channels)
      for (auto &[channel, spans] : made)
        stepOverOthers(channel);
  return success();
}

namespace {
struct RealiseAccumulators : kiln::impl::RealiseAccumulatorsBase<RealiseAccumulators> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](WarpGroupsOp groups) -> WalkResult {
      for (auto [number, region] : llvm::enumerate(groups.getBodies()))
        if (failed(AccumulatorRealiser(groups, region, groups.getRole(number)).run()))
          return WalkResult::interrupt();
      return WalkResult::skip();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
