// Conversions that a role makes of its own tensors, through a buffer of each copy.
#include "Decisions.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEOWNCONVERSIONS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The buffer through which a conversion goes.
static BufferType getBufferType(ConvertLayoutOp op) {
  RankedTensorType stored = getStoredType(cast<RankedTensorType>(op.getType()));
  return BufferType::get(op.getContext(), stored.getShape(), stored.getElementType(),
                         op.getHowAttr().getBuffer());
}

static bool isThroughMemory(ConvertLayoutOp op) {
  return op.getHowAttr().getKind() == ConversionKind::Memory;
}

/// Whether no other conversion goes through the same buffer between one and a later op of its
/// block.
static bool staysUntil(ConvertLayoutOp from, Operation *to) {
  for (Operation *op = from->getNextNode(); op != to; op = op->getNextNode()) {
    WalkResult found = op->walk([&](ConvertLayoutOp other) {
      return isThroughMemory(other) && getBufferType(other) == getBufferType(from)
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return false;
  }
  return true;
}

/// The slices that alone use a conversion, if each can be read where it stands.
static SmallVector<SliceOp> findSlices(ConvertLayoutOp op) {
  SmallVector<SliceOp> slices;
  auto type = cast<RankedTensorType>(op.getType());
  ConversionAttr how = op.getHowAttr();
  for (Operation *user : op->getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || slice->getBlock() != op->getBlock() || !staysUntil(op, slice) ||
        getStoredType(type) != type)
      return {};
    for (auto [offset, extent] : llvm::zip(slice.getOffsets(), slice.getType().getShape()))
      if (offset % extent)
        return {};
    if (!isReadAsWide(getLayout(slice.getResult()), slice.getOffsets(), getLayout(op.getResult()),
                      how.getBuffer().toLinear(type.getShape()),
                      dyn_cast_or_null<WarpCopyAtomInterface>(how.getRead()),
                      getSharedElementBytes(type.getElementType())))
      return {};
    slices.push_back(slice);
  }
  return slices;
}

static void realise(ConvertLayoutOp op, DenseMap<Type, Value> &buffers, Region &region) {
  ConversionAttr how = op.getHowAttr();
  auto type = cast<RankedTensorType>(op.getType());
  RankedTensorType stored = getStoredType(type);
  BufferType bufferType = getBufferType(op);
  Location loc = op.getLoc();
  Value &buffer = buffers[bufferType];
  if (!buffer) {
    OpBuilder entry = OpBuilder::atBlockBegin(&region.front());
    buffer = AllocOp::create(entry, loc, bufferType);
  }
  OpBuilder builder(op);
  Value input = makeStored(builder, loc, op.getInput());
  BarrierOp::create(builder, loc, /*publish=*/false, /*all_copies=*/false, /*global=*/false);
  WriteOp::create(builder, loc, input, buffer, DenseI64ArrayAttr(), how.getWrite());
  BarrierOp::create(builder, loc, /*publish=*/false, /*all_copies=*/false, /*global=*/false);
  if (SmallVector<SliceOp> slices = findSlices(op); !slices.empty()) {
    for (SliceOp slice : slices) {
      builder.setInsertionPoint(slice);
      auto part = ReadOp::create(builder, slice.getLoc(), slice.getType(), buffer,
                                 DenseI64ArrayAttr(), how.getRead(), slice.getOffsetsAttr());
      slice.replaceAllUsesWith(part.getResult());
      slice.erase();
    }
  } else {
    Value value = ReadOp::create(builder, loc, stored, buffer, DenseI64ArrayAttr(), how.getRead());
    op.getResult().replaceAllUsesWith(unmakeStored(builder, loc, value, type));
  }
  op.erase();
}

namespace {
struct RealiseOwnConversions : kiln::impl::RealiseOwnConversionsBase<RealiseOwnConversions> {
  void runOnOperation() override {
    getOperation().walk([](WarpGroupsOp groups) {
      for (Region &region : groups.getBodies()) {
        // Found first: with a conversion go slices behind it, where a walk would go on.
        SmallVector<ConvertLayoutOp> found;
        region.walk([&](ConvertLayoutOp op) {
          if (isThroughMemory(op))
            found.push_back(op);
        });
        DenseMap<Type, Value> buffers;
        for (ConvertLayoutOp op : found)
          realise(op, buffers, region);
      }
    });
  }
};
} // namespace
