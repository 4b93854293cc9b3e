// Tensor memory: one piece of it for all channels of a program, side by side. It is set aside in
// powers of two of columns, which pieces of their own would all round up to.
#include "../Rings.h"
#include "../SharedAccess.h"
#include "../ThreadPatterns.h"
#include "../ThreadPlans.h"
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Target/Common/TensorColumns.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// What channels take.
static int64_t countTensorBytes(ThreadContext &context, ValueRange channels) {
  int64_t bytes = 0;
  for (Type each : channels.getTypes()) {
    auto type = cast<ChannelType>(each);
    RankedTensorType sum = type.getAccumulator().getTensor();
    bytes +=
        alignTensorBytes(getTensorSlotBytes(sum, context.sync) * type.getDepth(), context.sync);
  }
  return bytes;
}

/// Where shared memory has the address of it all: by the first of the channels.
static Value getPlace(ThreadContext &context, Value first) {
  auto type = cast<ChannelType>(first.getType());
  return getSharedAt(context, context.get(first), context.i32(planChannel(type).address));
}

static Value loadAddress(ThreadContext &context, Value first) {
  return LLVM::LoadOp::create(context, context.getI32Type(), getPlace(context, first));
}

Value kiln::getTensorAddress(ThreadContext &context, Value channel) {
  ChannelOp made = findChannel(channel);
  auto alloc = cast<AllocTensorOp>(*llvm::find_if(made->getUsers(), llvm::IsaPred<AllocTensorOp>));
  ValueRange channels = alloc.getChannels();
  ValueRange before =
      channels.take_front(llvm::find(channels, made.getResult()) - channels.begin());
  Value address = loadAddress(context, channels.front());
  if (before.empty())
    return address;
  return context.sync.getTensorSlot(context, context.getLoc(), address, context.i32(1),
                                    countTensorBytes(context, before));
}

/// What one warp of the program does for all of these channels.
static LogicalResult byOneWarp(ThreadContext &context, Operation *op,
                               llvm::function_ref<void(Value, int64_t, bool)> emit) {
  if (!context.chip.figures.tensorMemory)
    return emitUnsupported(op, context.target, "expected a chip that has tensor memory");
  FailureOr<int64_t> warp = requireThreadNumber(op, kByWarpAttrName);
  if (failed(warp))
    return failure();
  if (*warp >= context.getWarps())
    return op->emitOpError("expected '") << kByWarpAttrName << "' to be one of the program's "
                                         << context.getWarps() << " warps, got " << *warp;
  Value first = op->getOperand(0);
  context.emitIf(
      arith::CmpIOp::create(context, arith::CmpIPredicate::eq, context.warp, context.i32(*warp)),
      [&] {
        emit(first, countTensorBytes(context, op->getOperands()),
             cast<ChannelType>(first.getType()).getPair());
      });
  return success();
}

LogicalResult kiln::lowerAllocTensor(ThreadContext &context, AllocTensorOp op) {
  return byOneWarp(context, op, [&](Value first, int64_t bytes, bool ofPair) {
    context.sync.allocTensor(context, context.getLoc(), getPlace(context, first), bytes, ofPair);
    context.sync.endTensorAllocs(context, context.getLoc(), ofPair);
  });
}

LogicalResult kiln::lowerFreeTensor(ThreadContext &context, FreeTensorOp op) {
  return byOneWarp(context, op, [&](Value first, int64_t bytes, bool ofPair) {
    context.sync.freeTensor(context, context.getLoc(), loadAddress(context, first), bytes, ofPair);
  });
}
