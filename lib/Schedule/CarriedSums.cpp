// Follows a sum from the wait for it back to where its trip begins to use it, and leaves it in
// tensor memory until then.
#include "SumChannels.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

OpOperand *kiln::findFirstUse(Value pending, Attribute &atom) {
  OpOperand *first = nullptr;
  while (Operation *op = pending.getDefiningOp()) {
    if (isa<ub::PoisonOp, PendOp>(op))
      return first;
    if (auto dot = dyn_cast<StartDotOp>(op)) {
      first = &dot.getAccumulatorMutable();
      atom = dot.getAtom();
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      unsigned index = cast<OpResult>(pending).getResultNumber();
      OpOperand *inner = findFirstUse(loop.getBody()->getTerminator()->getOperand(index), atom);
      if (!inner || inner->get() != loop.getRegionIterArg(index))
        return nullptr;
      first = loop.getTiedLoopInit(loop.getRegionIterArg(index));
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      unsigned index = cast<OpResult>(pending).getResultNumber();
      auto carried = dyn_cast<BlockArgument>(loop.getConditionOp().getArgs()[index]);
      if (!carried || carried.getOwner() != loop.getBeforeBody())
        return nullptr;
      unsigned place = carried.getArgNumber();
      OpOperand *inner = findFirstUse(loop.getYieldOp().getOperand(place), atom);
      if (!inner || inner->get() != loop.getAfterArguments()[index])
        return nullptr;
      first = &loop->getOpOperand(place);
    } else {
      return nullptr;
    }
    pending = first->get();
  }
  return first;
}

std::optional<CarriedSum> kiln::findCarriedSum(WaitOp wait, std::string &expected) {
  auto refuse = [&](StringRef what) {
    expected = what.str();
    return std::nullopt;
  };
  auto loop = dyn_cast<scf::ForOp>(wait->getParentOp());
  if (!loop)
    return refuse("to stand in a loop of counted trips itself");
  if (!wait.getPending().getType().getInTensorMemory())
    return refuse("a sum in tensor memory");
  auto *terminator = loop.getBody()->getTerminator();
  if (!wait->hasOneUse() || wait->use_begin()->getOwner() != terminator)
    return refuse("a sum that the trip hands to the next one and uses no more, nor promotes");
  Attribute atom;
  OpOperand *first = findFirstUse(wait.getPending(), atom);
  auto pend = first ? first->get().getDefiningOp<PendOp>() : PendOp();
  bool isWhole = pend && pend->hasOneUse() && first->getOwner()->getBlock() == loop.getBody() &&
                 wait.getPending().getDefiningOp()->getBlock() == loop.getBody();
  if (!isWhole)
    return refuse("dots of the trip that add to what the loop carries");

  unsigned index = wait->use_begin()->getOperandNumber();
  CarriedSum carried = {loop, index, {}};
  BlockArgument sum = loop.getRegionIterArg(index);
  DenseSet<Operation *> inside = {pend};
  auto isInside = [&](Operation *user) { return inside.contains(user); };
  bool isReached = pend.getTensor() == sum;
  for (Operation *op = pend->getPrevNode(); op; op = op->getPrevNode()) {
    if (op->use_empty() || !llvm::all_of(op->getUsers(), isInside) || op->getNumResults() != 1 ||
        !isMemoryEffectFree(op) || !OpTrait::hasElementwiseMappableTraits(op) ||
        op->getResult(0).getType() != pend.getTensor().getType())
      continue;
    inside.insert(op);
    carried.ops.push_back(op);
    isReached |= llvm::is_contained(op->getOperands(), sum);
  }
  std::reverse(carried.ops.begin(), carried.ops.end());
  if (isReached && llvm::all_of(sum.getUsers(), isInside))
    return carried;
  return refuse(
      "a sum that the loop carries, changes element by element in front of the trip's dots, "
      "and uses no more");
}

std::optional<unsigned> kiln::findChoice(WaitOp wait, std::string &expected) {
  auto refuse = [&](StringRef what) {
    expected = what.str();
    return std::nullopt;
  };
  auto condition = dyn_cast<scf::IfOp>(wait->getParentOp());
  if (!condition || wait->getBlock() != condition.thenBlock())
    return refuse("to stand in the first branch of a condition itself");
  if (!wait.getPending().getType().getInTensorMemory())
    return refuse("a sum in tensor memory");
  if (!wait->hasOneUse() || wait->use_begin()->getOwner() != condition.thenYield())
    return refuse("a sum that the condition chooses and uses no more");
  Attribute atom;
  OpOperand *first = findFirstUse(wait.getPending(), atom);
  if (!first || first->getOwner()->getBlock() != wait->getBlock())
    return refuse("dots of the condition, none of which are of another trip");
  unsigned index = wait->use_begin()->getOperandNumber();
  if (!matchPattern(condition.elseYield().getOperand(index), m_Constant()))
    return refuse("a condition that chooses between the sum and a constant");
  return index;
}

void kiln::realiseCarriedSum(const TensorUse &use, Value channel, SumChannels &channels) {
  IRRewriter &rewriter = channels.rewriter;
  const SumLife &life = use.life;
  const CarriedSum &found = *use.carried;
  WaitOp wait = life.wait;
  Location loc = wait.getLoc();
  scf::ForOp loop = found.loop;
  PendingType type = wait.getPending().getType();
  auto fillNext = [&](Value tensor) {
    NextOp next = channels.makeNext(loc, channel, /*fills=*/true);
    Value empty = AcquireOp::create(rewriter, loc, type, channel, next.getSlot(), next.getPhase());
    auto filled = FillOp::create(rewriter, loc, type, tensor, empty, life.atom);
    return std::pair(filled, next.getSlot());
  };
  // What the next slot that is got holds.
  auto fetchNext = [&] {
    return channels.fetch(loc, wait.getType(), channel, channels.makeNext(loc, channel), life.atom);
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
  sum.replaceAllUsesWith(fetchNext());
  for (Operation *op : found.ops)
    op->moveBefore(life.getBegin());
  rewriter.setInsertionPoint(life.getBegin());
  auto [filled, slot] = fillNext(pend.getTensor());
  life.first->set(filled);
  rewriter.eraseOp(pend);
  channels.awaitMate(filled, channel, life.getEnd());
  rewriter.setInsertionPointAfter(findLastRelease(life.getEnd()));
  CommitOp::create(rewriter, loc, wait.getPending(), channel, slot);
  loop.getBody()->getTerminator()->setOperand(found.index, sum);

  rewriter.setInsertionPointAfter(loop);
  Value last = fetchNext();
  loop.getResult(found.index).replaceAllUsesWith(last);
  rewriter.eraseOp(wait);
}
