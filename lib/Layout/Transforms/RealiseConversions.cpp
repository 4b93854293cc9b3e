// Sends the conversions that go through shared memory there: a buffer, a write and a read.
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace kiln {
#define GEN_PASS_DEF_REALISECONVERSIONS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
struct RealiseConversions : kiln::impl::RealiseConversionsBase<RealiseConversions> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target) || failed(check()))
      return signalPassFailure();
    // Conversions that follow one another share their barriers: all are written, then all read.
    int64_t shared = target->getChipRecord().sharedBytes, most = shared / 2;
    readBefore.clear();
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      SmallVector<SmallVector<ConvertLayoutOp>> runs = findRuns(kernel, most);
      moveReads(kernel, runs, shared);
      for (SmallVector<ConvertLayoutOp> &run : runs)
        realise(run);
    }
  }

  static SmallVector<SmallVector<ConvertLayoutOp>> findRuns(KernelOp kernel, int64_t most) {
    SmallVector<SmallVector<ConvertLayoutOp>> runs;
    kernel.walk([&](Block *block) {
      int64_t bytes = 0;
      Operation *last = nullptr;
      for (Operation &op : *block) {
        auto convert = dyn_cast<ConvertLayoutOp>(op);
        if (!convert || convert.getHowAttr().getKind() != tile::ConversionKind::Memory)
          continue;
        int64_t more = getBytes(convert);
        bool follows = last && last->getNextNode() == &op && bytes + more <= most &&
                       convert.getInput().getDefiningOp() != last;
        if (!follows) {
          runs.emplace_back();
          bytes = 0;
        }
        runs.back().push_back(convert);
        bytes += more;
        last = &op;
      }
    });
    return runs;
  }

  LogicalResult check() {
    WalkResult result = getOperation().walk([&](ConvertLayoutOp op) {
      ConversionAttr how = op.getHowAttr();
      auto fail = [&](StringRef what) {
        op.emitOpError("expected ") << what;
        return WalkResult::interrupt();
      };
      if (!how)
        return fail("'how', which is decided before it is realised");
      LinearLayout from = getLayout(op.getInput()), to = getLayout(op.getResult());
      if (how.getKind() < classifyConversion(from, to).kind)
        return fail("a way that can make this conversion");
      if (how.getKind() != tile::ConversionKind::Memory)
        return WalkResult::advance();
      ArrayRef<int64_t> shape = cast<RankedTensorType>(op.getType()).getShape();
      if (!how.getBuffer() || how.getBuffer().getNames().size() != 1 ||
          how.getBuffer().getNames().front() != kOffset ||
          failed(how.getBuffer().verifyEncoding(shape, Type(), [&] { return op.emitError(); })) ||
          !how.getBuffer().toLinear(shape).isInvertible())
        return fail("a buffer whose layout orders all elements by 'offset'");
      LinearLayout buffer = how.getBuffer().toLinear(shape);
      auto admits = [&](Attribute attr, const LinearLayout &tensor, bool isWrite) {
        auto atom = dyn_cast_or_null<CopyAtomInterface>(attr);
        return !attr || (atom && atom.isWrite() == isWrite &&
                         canMove(atom, getSharedOffsets(tensor, &buffer)));
      };
      if (!admits(how.getWrite(), from, true) || !admits(how.getRead(), to, false))
        return fail("copy atoms that the buffer's layout admits");
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  static int64_t getBytes(ShapedType type) {
    return type.getNumElements() * getSharedElementBytes(type.getElementType());
  }
  static int64_t getBytes(BufferType type) {
    return ShapedType::getNumElements(type.getShape()) *
           getSharedElementBytes(type.getElementType());
  }
  static int64_t getBytes(ConvertLayoutOp op) { return getBytes(cast<ShapedType>(op.getType())); }

  /// What memory holds for elements that have no form there.
  static RankedTensorType getStored(RankedTensorType type) {
    Type element = type.getElementType();
    if (element.isIndex())
      return type.clone(IntegerType::get(type.getContext(), 64));
    return element.isInteger(1) ? type.clone(IntegerType::get(type.getContext(), 8)) : type;
  }

  /// Each thread that multiplies and adds on its own has all of K in its registers. Where that is
  /// in a loop, and the operand is made before it, they would be taken throughout: if they are
  /// many, the buffer is read in front of the product, each time anew. What is done to the value is
  /// done there, too. Returns the product.
  static DotOp findLaterRead(ConvertLayoutOp op, SmallVectorImpl<Operation *> &views) {
    constexpr int64_t kMostRegisters = 64;
    if (getLayout(op.getResult()).getInSize(kRegister) <= kMostRegisters)
      return {};
    Operation *user = op;
    while (user->hasOneUse() && (user == op || isa<ReshapeOp, TransposeOp>(user))) {
      user = *user->user_begin();
      views.push_back(user);
    }
    auto dot = dyn_cast<DotOp>(user);
    auto loop = dot ? dyn_cast<LoopLikeOpInterface>(dot->getParentOp()) : LoopLikeOpInterface();
    if (!loop || loop->getBlock() != op->getBlock() ||
        !isa_and_nonnull<FmaAtomAttr>(dot.getAtomAttr()))
      return {};
    views.pop_back();
    return dot;
  }

  /// Such a buffer is there besides all others, so that it must be small enough: as far as is known
  /// here, beside those of the kernel, the most that conversions have at once, and a quarter of
  /// shared memory that other ops may need.
  void moveReads(KernelOp kernel, ArrayRef<SmallVector<ConvertLayoutOp>> runs, int64_t shared) {
    int64_t bytes = 0;
    bool hasChannels = false;
    kernel.walk([&](Operation *op) {
      hasChannels |= isa<ChannelOp>(op);
      if (auto alloc = dyn_cast<AllocOp>(op))
        bytes += getBytes(alloc.getResult().getType());
    });
    int64_t most = 0;
    for (const SmallVector<ConvertLayoutOp> &run : runs) {
      int64_t together = 0;
      for (ConvertLayoutOp op : run)
        together += getBytes(op);
      most = std::max(most, together);
    }
    bytes += most;
    for (const SmallVector<ConvertLayoutOp> &run : runs)
      for (ConvertLayoutOp op : run) {
        SmallVector<Operation *> views;
        DotOp dot = findLaterRead(op, views);
        if (!dot || hasChannels || bytes + getBytes(op) > shared / 4 * 3)
          continue;
        bytes += getBytes(op);
        for (Operation *view : views)
          view->moveBefore(dot);
        readBefore[op] = views.empty() ? dot.getOperation() : views.front();
      }
  }

  void realise(MutableArrayRef<ConvertLayoutOp> run) {
    OpBuilder builder(run.front());
    SmallVector<Value> buffers;
    for (ConvertLayoutOp op : run) {
      Location loc = op.getLoc();
      ConversionAttr how = op.getHowAttr();
      Value input = op.getInput();
      auto type = cast<RankedTensorType>(input.getType());
      RankedTensorType stored = getStored(type);
      auto bufferType =
          BufferType::get(&getContext(), type.getShape(), stored.getElementType(), how.getBuffer());
      buffers.push_back(AllocOp::create(builder, loc, bufferType));
      if (type.getElementType().isIndex())
        input = arith::IndexCastOp::create(builder, loc, stored, input);
      else if (stored != type)
        input = arith::ExtUIOp::create(builder, loc, stored, input);
      WriteOp::create(builder, loc, input, buffers.back(), DenseI64ArrayAttr(), how.getWrite());
    }
    for (auto [op, buffer] : llvm::zip(run, buffers)) {
      Location loc = op.getLoc();
      OpBuilder::InsertionGuard guard(builder);
      if (Operation *user = readBefore.lookup(op))
        builder.setInsertionPoint(user);
      auto type = cast<RankedTensorType>(op.getType());
      RankedTensorType stored = getStored(type);
      Value value = ReadOp::create(builder, loc, stored, buffer, DenseI64ArrayAttr(),
                                   op.getHowAttr().getRead());
      if (type.getElementType().isIndex())
        value = arith::IndexCastOp::create(builder, loc, type, value);
      else if (stored != type)
        value = arith::TruncIOp::create(builder, loc, type, value);
      op.getResult().replaceAllUsesWith(value);
    }
    for (ConvertLayoutOp op : run)
      op.erase();
  }

  /// What a conversion's buffer is read in front of, if not at once.
  DenseMap<Operation *, Operation *> readBefore;
};
} // namespace
