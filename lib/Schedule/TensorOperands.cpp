// What dots read as operand a, and warps have computed, lies in tensor memory in front of them, and
// so do scales. The atom says so, which has it nowhere else.
#include "SumChannels.h"
#include "kiln/Layout/Transforms/Layouts.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// What dots read, with its rows as they are written.
static Value turnRows(const TensorUse &operand, IRRewriter &rewriter) {
  StartDotOp first = operand.dots.front();
  rewriter.setInsertionPoint(first);
  Value value = operand.getRead(first).get();
  RankedTensorType written = operand.getWrittenType();
  if (value.getType() == written)
    return value;
  return TransposeOp::create(rewriter, first.getLoc(), written, value, ArrayRef<int64_t>{1, 0});
}

/// The slot goes back behind the last dot.
static void fill(const TensorUse &operand, Value tensor, Value empty, Value channel, Value slot,
                 SumChannels &channels) {
  IRRewriter &rewriter = channels.rewriter;
  StartDotOp first = operand.dots.front(), last = operand.dots.back();
  rewriter.setInsertionPoint(first);
  auto fill =
      FillOp::create(rewriter, first.getLoc(), empty.getType(), tensor, empty, first.getAtom());
  for (StartDotOp dot : operand.dots) {
    operand.getRead(dot).set(fill.getResult());
    if (operand.scales < 0)
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
  Value tensor = turnRows(operand, rewriter);
  Value zero = arith::ConstantIndexOp::create(rewriter, loc, 0);
  auto type = PendingType::get(operand.getWrittenType(), /*inTensorMemory=*/true);
  auto over = PartOp::create(rewriter, loc, type, sum.getPending(), ValueRange{zero, zero});
  fill(operand, tensor, over, channel, slot, channels);
}

void kiln::fillSlot(const TensorUse &operand, Value channel, SumChannels &channels) {
  IRRewriter &rewriter = channels.rewriter;
  StartDotOp first = operand.dots.front();
  Location loc = first.getLoc();
  Value tensor = turnRows(operand, rewriter);
  // What is written in front of the same dots is written together, behind one meeting.
  while (isa_and_nonnull<FillOp>(rewriter.getInsertionPoint()->getPrevNode()))
    rewriter.setInsertionPoint(rewriter.getInsertionPoint()->getPrevNode());
  NextOp next = channels.makeNext(loc, channel);
  auto type = PendingType::get(operand.getWrittenType(), /*inTensorMemory=*/true);
  Value empty = AcquireOp::create(rewriter, loc, type, channel, next.getSlot(), next.getPhase());
  fill(operand, tensor, empty, channel, next.getSlot(), channels);
}
