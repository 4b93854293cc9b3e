// Dots in flight: a pending tensor is its accumulator's registers, which belong to the chip until
// they were waited for; or its address in tensor memory.
#include "../Rings.h"
#include "../ThreadPatterns.h"
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Of a tensor, a buffer, or what lies in tensor memory.
static ArrayRef<int64_t> getShapeOf(Type type) {
  if (auto written = dyn_cast<PendingType>(type))
    return written.getTensor().getShape();
  if (auto buffer = dyn_cast<BufferType>(type))
    return buffer.getShape();
  return cast<RankedTensorType>(type).getShape();
}

/// What a tensor is computed of is the same in all trips.
static bool isInvariant(Value value, LoopLikeOpInterface loop) {
  if (loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value each) { return isInvariant(each, loop); });
}

/// The tensor whose registers these are, or a part of them.
static Value getWhole(Value tensor) {
  while (Operation *op = tensor.getDefiningOp()) {
    if (!isa<ReshapeOp, TransposeOp, SliceOp>(op))
      break;
    tensor = op->getOperand(0);
  }
  return tensor;
}

/// Whether a dot reads a tensor, or a part of it, in each trip of a loop that does not change it.
static bool isReadAgain(Value tensor) {
  return llvm::any_of(tensor.getUsers(), [&](Operation *user) {
    if (isa<ReshapeOp, TransposeOp, SliceOp>(user))
      return isReadAgain(user->getResult(0));
    auto loop = user->getParentOfType<LoopLikeOpInterface>();
    return isa<StartDotOp>(user) && loop && isInvariant(tensor, loop);
  });
}

static LogicalResult lowerStartDot(ThreadContext &context, StartDotOp op) {
  auto atom = dyn_cast<AsyncMmaAtomInterface>(op.getAtom());
  if (!atom)
    return op.emitOpError("expected an atom that starts products, got ") << op.getAtom();
  if (context.role->attr.getWarps() != atom.getWarps())
    return op.emitOpError("expected a role of ")
           << atom.getWarps() << " warps a copy for " << op.getAtom() << ", got "
           << context.role->attr.getWarps();
  auto getOperand = [&](Value value, bool transposed, bool isUnsigned) {
    AsyncDot::Operand operand;
    operand.transposed = transposed;
    operand.isUnsigned = isUnsigned;
    if (auto written = dyn_cast<PendingType>(value.getType())) {
      operand.address = context.get(value);
      RankedTensorType type = written.getTensor();
      operand.layout = cast<LayoutAttr>(type.getEncoding()).toLinear(type.getShape());
    } else if (auto buffer = dyn_cast<BufferType>(value.getType())) {
      operand.base = context.get(value);
      if (auto layout = dyn_cast_or_null<LayoutAttr>(buffer.getLayout()))
        operand.layout = layout.toLinear(buffer.getOrderedShape());
    } else {
      // Of registers each thread has the same whichever way the tensor is read.
      operand.layout = transposed ? getLayout(value).transposeOuts({1, 0}) : getLayout(value);
      operand.transposed = false;
      operand.registers = context.getElements(value);
      operand.isKept = isReadAgain(getWhole(value));
    }
    return operand;
  };
  RankedTensorType sum = op.getType().getTensor();
  AsyncDot dot;
  dot.a = getOperand(op.getA(), op.getTransposeA(), op.getUnsignedA());
  dot.b = getOperand(op.getB(), op.getTransposeB(), op.getUnsignedB());
  for (Value scales : op.getScales())
    dot.scales.push_back(getOperand(scales, /*transposed=*/false, /*isUnsigned=*/false));
  dot.m = sum.getShape()[0];
  dot.n = sum.getShape()[1];
  dot.k = getShapeOf(op.getA().getType())[op.getTransposeA() ? 0 : 1];
  // Bytes beside scales are two elements each.
  if (auto buffer = dyn_cast<BufferType>(op.getB().getType());
      buffer && !dot.scales.empty() && buffer.getElementType().isInteger(8))
    dot.k *= 2;
  bool inTensorMemory = op.getType().getInTensorMemory();
  if (inTensorMemory != (atom.getAccumulatorPlace() == tile::Place::Tensor))
    return op.emitOpError("expected an accumulator where ")
           << op.getAtom() << " has it, got " << op.getType();
  dot.accumulator = inTensorMemory ? SmallVector<Value>{context.get(op.getAccumulator())}
                                   : context.getElements(op.getAccumulator());
  dot.accumulatorLayout = cast<LayoutAttr>(sum.getEncoding()).toLinear(sum.getShape());
  if (op.getAccumulates())
    dot.accumulates = context.get(op.getAccumulates());
  if (failed(requireFirstOfPair(op)))
    return failure();
  FailureOr<SmallVector<Value>> sums = failure();
  auto start = [&] {
    auto startHere = [&] { sums = atom.start(context, context.getLoc(), dot); };
    if (op->hasAttr(kFirstOfPairAttrName))
      context.emitIf(isFirstOfPair(context), startHere);
    else
      startHere();
  };
  if (!inTensorMemory)
    start();
  else if (failed(emitForOne(context, op, op.getOneThread(), start)))
    return failure();
  if (failed(sums))
    return op.emitOpError("expected operands and an accumulator that lie as ")
           << op.getAtom() << " reads and writes them";
  if (inTensorMemory)
    context.set(op, dot.accumulator.front());
  else
    context.setElements(op.getResult(), *sums);
  return success();
}

static LogicalResult lowerFill(ThreadContext &context, FillOp op) {
  auto atom = dyn_cast<AsyncMmaAtomInterface>(op.getAtom());
  Value address = context.get(op.getAccumulator());
  if (!atom || failed(atom.fill(context, context.getLoc(), context.getElements(op.getTensor()),
                                address, getLayout(op.getTensor()))))
    return op.emitOpError("expected an accumulator that lies as ")
           << op.getAtom() << " has it, got " << op.getType();
  context.set(op, address);
  return success();
}

static LogicalResult lowerFetch(ThreadContext &context, FetchOp op) {
  auto atom = dyn_cast<AsyncMmaAtomInterface>(op.getAtom());
  FailureOr<SmallVector<Value>> sums = failure();
  if (atom)
    sums = atom.fetch(context, context.getLoc(), context.get(op.getPending()),
                      getLayout(op.getResult()));
  if (failed(sums))
    return op.emitOpError("expected an accumulator that lies as ")
           << op.getAtom() << " has it, got " << op.getPending().getType();
  context.setElements(op.getResult(), *sums);
  return success();
}

static LogicalResult lowerWait(ThreadContext &context, WaitOp op) {
  if (op.getPending().getType().getInTensorMemory())
    return op.emitOpError("expected tile.get and tile.fetch of an accumulator in tensor memory");
  if (isa<PendingType>(op.getType())) {
    context.sync.waitDots(context, context.getLoc(), op.getInFlight(), {});
    context.set(op.getResult(), context.get(op.getPending()));
    return success();
  }
  context.setElements(op.getResult(),
                      context.sync.waitDots(context, context.getLoc(), op.getInFlight(),
                                            context.getElements(op.getPending())));
  return success();
}

void kiln::populateAsyncDotPatterns(ThreadPatterns &patterns) {
  patterns.addScheduled<PendOp>(
      [](ThreadContext &context, PendOp op) { context.set(op, context.get(op.getTensor())); },
      Takes::Engines);
  patterns.addScheduled<StartDotOp>(lowerStartDot, Takes::Engines);
  patterns.addScheduled<WaitOp>(lowerWait, Takes::Engines);
  patterns.addScheduled<FillOp>(lowerFill, Takes::Engines);
  patterns.addScheduled<FetchOp>(lowerFetch, Takes::Engines);
}
