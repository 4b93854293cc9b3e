// What dots read as operand a, and warps have computed, lies in tensor memory in front of them. The
// atom says so, which has it nowhere else.
#include "SumChannels.h"
#include "kiln/Layout/Transforms/Layouts.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// What a dot reads, with its rows as they are written.
static Value turnRows(StartDotOp dot, IRRewriter &rewriter) {
  rewriter.setInsertionPoint(dot);
  if (!dot.getTransposeA())
    return dot.getA();
  return TransposeOp::create(rewriter, dot.getLoc(), getWrittenType(dot), dot.getA(),
                             ArrayRef<int64_t>{1, 0});
}

/// The slot goes back behind the last dot.
static void fill(ArrayRef<StartDotOp> dots, Value tensor, Value empty, Value channel, Value slot,
                 SumChannels &channels) {
  IRRewriter &rewriter = channels.rewriter;
  StartDotOp first = dots.front(), last = dots.back();
  rewriter.setInsertionPoint(first);
  auto fill =
      FillOp::create(rewriter, first.getLoc(), empty.getType(), tensor, empty, first.getAtom());
  for (StartDotOp dot : dots) {
    dot.getAMutable().set(fill.getResult());
    dot.setTransposeA(false);
  }
  channels.awaitMate(fill, channel, last);
  rewriter.setInsertionPointAfter(last);
  ReleaseOp::create(rewriter, last.getLoc(), channel, slot, /*lanes=*/false, /*commit=*/true,
                    /*peers=*/ValueRange());
}

void kiln::fillOver(const TensorUse &operand, FetchOp sum, Value channel, Value slot,
                    SumChannels &channels) {
  IRRewriter &rewriter = channels.rewriter;
  StartDotOp first = operand.dots.front();
  Location loc = first.getLoc();
  Value tensor = turnRows(first, rewriter);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  auto type = PendingType::get(getWrittenType(first), /*inTensorMemory=*/true);
  auto over = PartOp::create(rewriter, loc, type, sum.getPending(), ValueRange{zero, zero});
  fill(operand.dots, tensor, over, channel, slot, channels);
}

void kiln::fillSlot(const TensorUse &operand, Value channel, SumChannels &channels) {
  IRRewriter &rewriter = channels.rewriter;
  StartDotOp first = operand.dots.front();
  Location loc = first.getLoc();
  Value tensor = turnRows(first, rewriter);
  NextOp next = channels.makeNext(loc, channel);
  auto type = PendingType::get(getWrittenType(first), /*inTensorMemory=*/true);
  Value empty = AcquireOp::create(rewriter, loc, type, channel, next.getSlot(), next.getPhase());
  fill(operand.dots, tensor, empty, channel, next.getSlot(), channels);
}
