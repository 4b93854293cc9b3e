// Sends the conversions that go through shared memory there: a buffer, a write and a read.
#include "ConversionRuns.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kiln {
#define GEN_PASS_DEF_REALISECONVERSIONS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using tile::Place;
using namespace kiln::tile;

namespace {
struct RealiseConversions : kiln::impl::RealiseConversionsBase<RealiseConversions> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target) || failed(check()))
      return signalPassFailure();
    // Conversions that follow one another share their barriers: all are written, then all read.
    int64_t shared = target->getChipRecord().sharedBytes;
    // Those of roles are made in each copy of a role, once there are copies.
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (!kernel->hasAttr(kRolesAttrName))
        for (SmallVector<ConvertLayoutOp> &run : findConversionRuns(kernel, shared))
          realise(run);
  }

  LogicalResult check() {
    WalkResult result = getOperation().walk([&](ConvertLayoutOp op) {
      ConversionAttr how = op.getHowAttr();
      auto fail = [&](StringRef what) {
        op.emitOpError("expected ") << what;
        return WalkResult::interrupt();
      };
      if (isHandedOver(op))
        return WalkResult::advance();
      if (!how)
        return fail("'how', which is decided before it is realised");
      LinearLayout from = getLayout(op.getInput()), to = getLayout(op.getResult());
      if (how.getKind() < classifyConversion(from, to).kind)
        return fail("a way that can make this conversion");
      SmallVector<Operation *> views;
      if (op.getDeferred() &&
          (how.getKind() != tile::ConversionKind::Memory || !findDeferredUse(op, views)))
        return fail("one that is deferred to go through memory, with nothing behind it but views "
                    "that lead to a product in a loop");
      if (how.getKind() != tile::ConversionKind::Memory)
        return WalkResult::advance();
      ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
      if (!how.getBuffer() || how.getBuffer().getNames().size() != 1 ||
          how.getBuffer().getNames().front() != kOffset ||
          failed(how.getBuffer().verifyEncoding(shape, Type(), [&] { return op.emitError(); })) ||
          !how.getBuffer().toLinear(shape).isInvertible())
        return fail("a buffer whose layout orders all elements by 'offset'");
      LinearLayout buffer = how.getBuffer().toLinear(shape);
      auto admits = [&](Attribute attr, const LinearLayout &tensor, Place from, Place to) {
        auto atom = dyn_cast_or_null<WarpCopyAtomInterface>(attr);
        return !attr ||
               (atom && atom.canCopy(from, to) && canMove(atom, getSharedOffsets(tensor, &buffer)));
      };
      if (!admits(how.getWrite(), from, Place::Registers, Place::Shared) ||
          !admits(how.getRead(), to, Place::Shared, Place::Registers))
        return fail("copy atoms that the buffer's layout admits");
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// Views of a deferred conversion go to the product they lead to. The first op that needs it.
  static Operation *moveUses(ConvertLayoutOp op) {
    SmallVector<Operation *> views;
    Operation *dot = findDeferredUse(op, views);
    for (Operation *view : views)
      view->moveBefore(dot);
    return views.empty() ? dot : views.front();
  }

  void realise(MutableArrayRef<ConvertLayoutOp> run) {
    OpBuilder builder(run.front());
    SmallVector<Value> buffers;
    for (ConvertLayoutOp op : run) {
      Location loc = op.getLoc();
      ConversionAttr how = op.getHowAttr();
      Value input = op.getInput();
      RankedTensorType stored = getStoredType(cast<RankedTensorType>(input.getType()));
      auto bufferType = BufferType::get(&getContext(), stored.getShape(), stored.getElementType(),
                                        how.getBuffer());
      buffers.push_back(AllocOp::create(builder, loc, bufferType));
      input = makeStored(builder, loc, input);
      WriteOp::create(builder, loc, input, buffers.back(), DenseI64ArrayAttr(), how.getWrite());
    }
    for (auto [op, buffer] : llvm::zip(run, buffers)) {
      Location loc = op.getLoc();
      OpBuilder::InsertionGuard guard(builder);
      if (op.getDeferred())
        builder.setInsertionPoint(moveUses(op));
      auto type = cast<RankedTensorType>(op.getType());
      Value value = ReadOp::create(builder, loc, getStoredType(type), buffer, DenseI64ArrayAttr(),
                                   op.getHowAttr().getRead());
      op.getResult().replaceAllUsesWith(unmakeStored(builder, loc, value, type));
    }
    for (ConvertLayoutOp op : run)
      op.erase();
  }
};
} // namespace
