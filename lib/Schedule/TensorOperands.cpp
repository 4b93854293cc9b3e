// What dots read as operand a, and warps have computed, lies in tensor memory in front of them. The
// atom says so, which has it nowhere else.
#include "SumChannels.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The dots that read a tensor, as they follow one another in a block. It is written by rows, which
/// are those of its registers whichever way it is read.
static void realiseOperand(ArrayRef<StartDotOp> dots, SumChannels &channels) {
  IRRewriter &rewriter = channels.rewriter;
  StartDotOp first = dots.front(), last = dots.back();
  Location loc = first.getLoc();
  Value tensor = first.getA();
  rewriter.setInsertionPoint(first);
  if (first.getTransposeA()) {
    auto type = cast<RankedTensorType>(tensor.getType());
    LinearLayout rows = getLayout(tensor).transposeOuts({1, 0});
    type = withLayout(type.clone({type.getDimSize(1), type.getDimSize(0)}), rows);
    tensor = TransposeOp::create(rewriter, loc, type, tensor, ArrayRef<int64_t>{1, 0});
  }
  auto type = PendingType::get(cast<RankedTensorType>(tensor.getType()), /*inTensorMemory=*/true);
  Value channel = channels.get(loc, {type}, {first, last}, /*full=*/0, /*empty=*/1);
  rewriter.setInsertionPoint(first);
  NextOp next = channels.makeNext(loc, channel);
  Value empty = AcquireOp::create(rewriter, loc, type, channel, next.getSlot(), next.getPhase());
  auto fill = FillOp::create(rewriter, loc, type, tensor, empty, first.getAtom());
  for (StartDotOp dot : dots) {
    dot.getAMutable().set(fill.getResult());
    dot.setTransposeA(false);
  }
  channels.awaitMate(fill, {first, last});
  rewriter.setInsertionPointAfter(last);
  ReleaseOp::create(rewriter, loc, channel, next.getSlot(), /*lanes=*/false, /*commit=*/true,
                    /*peers=*/ValueRange());
}

void kiln::realiseTensorOperands(Region &region, SumChannels &channels) {
  // By the block of the dots, the tensor, and which way they read it.
  llvm::MapVector<std::pair<std::pair<Block *, Value>, unsigned>, SmallVector<StartDotOp>> operands;
  region.walk([&](StartDotOp dot) {
    if (dot.getType().getInTensorMemory() && isa<RankedTensorType>(dot.getA().getType()))
      operands[{{dot->getBlock(), dot.getA()}, dot.getTransposeA()}].push_back(dot);
  });
  for (auto &[place, dots] : operands)
    realiseOperand(dots, channels);
}
