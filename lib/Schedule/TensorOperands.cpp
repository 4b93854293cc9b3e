// What dots read as operand a, and warps have computed, lies in tensor memory in front of them. The
// atom says so, which has it nowhere else.
//
// Where it lies is no decision: over a sum of the trip that has been fetched by then it takes no
// columns, and no warp waits for it.
#include "SumChannels.h"
#include "kiln/Layout/Transforms/Layouts.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

TensorOperands::TensorOperands(Region &region, ArrayRef<SumLife *> sums, SumChannels &channels)
    : channels(channels), rewriter(channels.rewriter) {
  region.walk([&](StartDotOp dot) {
    if (dot.getType().getInTensorMemory() && isa<RankedTensorType>(dot.getA().getType()))
      operands[{{dot->getBlock(), dot.getA()}, dot.getTransposeA()}].push_back(dot);
  });
  llvm::MapVector<Type, SmallVector<SumLife *>> alike;
  for (SumLife *sum : sums)
    alike[sum->wait.getPending().getType()].push_back(sum);
  for (auto &[type, of] : alike)
    cover(of);
}

ArrayRef<StartDotOp> TensorOperands::getReaders(WaitOp sum) const {
  auto found = covers.find(sum);
  return found == covers.end() ? ArrayRef<StartDotOp>() : ArrayRef<StartDotOp>(found->second);
}

/// The dots of the block whose operand can be written over a sum, once that has been fetched; none
/// if one of the others begins before they have ended, for which the sum's slot would be free by
/// then.
ArrayRef<StartDotOp> TensorOperands::findReaders(SumLife &life, ArrayRef<SumLife *> others) {
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
    auto beginsBetween = [&, &readers = dots](SumLife *other) {
      int64_t begin = channels.getNumber(other->getBegin());
      return channels.getNumber(life.wait) < begin && begin <= channels.getNumber(readers.back());
    };
    if (llvm::none_of(others, beginsBetween))
      return dots;
  }
  return {};
}

/// Slots of one channel go back in one way, so sums that could have one are all written over or
/// none: else they would need more channels than it spares.
void TensorOperands::cover(ArrayRef<SumLife *> alike) {
  auto isApart = [&](SumLife *one, SumLife *other) {
    return channels.getNumber(one->wait) < channels.getNumber(other->getBegin()) ||
           channels.getNumber(other->wait) < channels.getNumber(one->getBegin());
  };
  llvm::MapVector<SumLife *, Dots> found;
  DenseSet<Operation *> readers;
  for (SumLife *life : alike)
    if (ArrayRef<StartDotOp> dots = findReaders(*life, alike);
        !dots.empty() && readers.insert(dots.front()).second)
      found[life] = Dots(dots);
  bool areAll = llvm::all_of(alike, [&](SumLife *life) {
    return found.contains(life) ||
           llvm::none_of(found, [&](auto &other) { return isApart(life, other.first); });
  });
  if (!areAll)
    return;
  operands.remove_if([&](auto &entry) { return readers.contains(entry.second.front()); });
  for (auto &[life, dots] : found)
    covers[life->wait] = std::move(dots);
}

/// What a dot reads, with its rows as they are written: those of its registers whichever way it is
/// read.
Value TensorOperands::turnRows(StartDotOp dot) {
  if (!dot.getTransposeA())
    return dot.getA();
  rewriter.setInsertionPoint(dot);
  auto type = cast<RankedTensorType>(dot.getA().getType());
  LinearLayout rows = getLayout(dot.getA()).transposeOuts({1, 0});
  type = withLayout(type.clone({type.getDimSize(1), type.getDimSize(0)}), rows);
  return TransposeOp::create(rewriter, dot.getLoc(), type, dot.getA(), ArrayRef<int64_t>{1, 0});
}

void TensorOperands::fill(ArrayRef<StartDotOp> dots, Value tensor, Value empty) {
  StartDotOp first = dots.front();
  rewriter.setInsertionPoint(first);
  auto fill =
      FillOp::create(rewriter, first.getLoc(), empty.getType(), tensor, empty, first.getAtom());
  for (StartDotOp dot : dots) {
    dot.getAMutable().set(fill.getResult());
    dot.setTransposeA(false);
  }
  channels.awaitMate(fill, {first, dots.back()});
}

static void giveBack(IRRewriter &rewriter, StartDotOp last, Value channel, Value slot) {
  rewriter.setInsertionPointAfter(last);
  ReleaseOp::create(rewriter, last.getLoc(), channel, slot, /*lanes=*/false, /*commit=*/true,
                    /*peers=*/ValueRange());
}

void TensorOperands::fillOver(ArrayRef<StartDotOp> dots, FetchOp sum, Value channel, Value slot) {
  StartDotOp first = dots.front();
  Location loc = first.getLoc();
  Value tensor = turnRows(first);
  rewriter.setInsertionPoint(first);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  auto type = PendingType::get(cast<RankedTensorType>(tensor.getType()), /*inTensorMemory=*/true);
  auto over = PartOp::create(rewriter, loc, type, sum.getPending(), ValueRange{zero, zero});
  fill(dots, tensor, over);
  giveBack(rewriter, dots.back(), channel, slot);
}

void TensorOperands::fillSlot(ArrayRef<StartDotOp> dots) {
  StartDotOp first = dots.front(), last = dots.back();
  Location loc = first.getLoc();
  Value tensor = turnRows(first);
  auto type = PendingType::get(cast<RankedTensorType>(tensor.getType()), /*inTensorMemory=*/true);
  Value channel = channels.get(loc, {type}, {first, last}, /*full=*/0, /*empty=*/1);
  rewriter.setInsertionPoint(first);
  NextOp next = channels.makeNext(loc, channel);
  Value empty = AcquireOp::create(rewriter, loc, type, channel, next.getSlot(), next.getPhase());
  fill(dots, tensor, empty);
  giveBack(rewriter, last, channel, next.getSlot());
}

void TensorOperands::fillSlots() {
  for (auto &[place, dots] : operands)
    fillSlot(dots);
}
