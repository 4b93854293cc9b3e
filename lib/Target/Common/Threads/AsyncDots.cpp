// Dots in flight: a pending tensor is its accumulator's registers, which belong to the chip until
// they were waited for; or its address in tensor memory.
#include "ThreadLowering.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

LogicalResult ThreadLowering::lowerStartDot(StartDotOp op) {
  auto atom = dyn_cast<AsyncMmaAtomInterface>(op.getAtom());
  if (!atom)
    return op.emitOpError("expected an atom that starts products, got ") << op.getAtom();
  if (role->attr.getWarps() != atom.getWarps())
    return op.emitOpError("expected a role of ")
           << atom.getWarps() << " warps a copy for " << op.getAtom() << ", got "
           << role->attr.getWarps();
  auto getOperand = [&](Value value, bool transposed, bool isUnsigned) {
    AsyncDot::Operand operand;
    operand.transposed = transposed;
    operand.isUnsigned = isUnsigned;
    if (auto buffer = dyn_cast<BufferType>(value.getType())) {
      operand.base = get(value);
      if (auto layout = dyn_cast_or_null<LayoutAttr>(buffer.getLayout()))
        operand.layout = layout.toLinear(buffer.getShape());
    } else {
      operand.layout = getLayout(value);
      operand.registers = getElements(value);
    }
    return operand;
  };
  RankedTensorType sum = op.getType().getTensor();
  AsyncDot dot;
  dot.a = getOperand(op.getA(), op.getTransposeA(), op.getUnsignedA());
  dot.b = getOperand(op.getB(), op.getTransposeB(), op.getUnsignedB());
  auto shapeA = cast<ShapedType>(
      isa<BufferType>(op.getA().getType())
          ? Type(RankedTensorType::get(cast<BufferType>(op.getA().getType()).getShape(),
                                       builder.getI8Type()))
          : op.getA().getType());
  dot.m = sum.getShape()[0];
  dot.n = sum.getShape()[1];
  dot.k = shapeA.getShape()[op.getTransposeA() ? 0 : 1];
  bool inTensorMemory = op.getType().getInTensorMemory();
  if (inTensorMemory != (atom.getAccumulatorPlace() == tile::Place::Tensor))
    return op.emitOpError("expected an accumulator where ")
           << op.getAtom() << " has it, got " << op.getType();
  dot.accumulator = inTensorMemory ? SmallVector<Value>{get(op.getAccumulator())}
                                   : getElements(op.getAccumulator());
  dot.accumulatorLayout = cast<LayoutAttr>(sum.getEncoding()).toLinear(sum.getShape());
  if (op.getAccumulates())
    dot.accumulates = get(op.getAccumulates());
  FailureOr<SmallVector<Value>> sums = failure();
  auto start = [&] { sums = atom.start(builder, loc, dot); };
  if (inTensorMemory)
    emitIf(isFirstThread(), start);
  else
    start();
  if (failed(sums))
    return op.emitOpError("expected operands and an accumulator that lie as ")
           << op.getAtom() << " reads and writes them";
  if (inTensorMemory)
    set(op, dot.accumulator.front());
  else
    setElements(op.getResult(), *sums);
  return success();
}

LogicalResult ThreadLowering::lowerFill(FillOp op) {
  auto atom = dyn_cast<AsyncMmaAtomInterface>(op.getAtom());
  Value address = get(op.getAccumulator());
  // The thread that has acquired it tells the others.
  meetCopy();
  async->observeTensor(builder, loc);
  if (!atom || failed(atom.fill(builder, loc, getElements(op.getTensor()), address,
                                getLayout(op.getTensor()))))
    return op.emitOpError("expected an accumulator that lies as ")
           << op.getAtom() << " has it, got " << op.getType();
  async->publishTensor(builder, loc);
  meetCopy();
  async->observeTensor(builder, loc);
  set(op, address);
  return success();
}

LogicalResult ThreadLowering::lowerFetch(FetchOp op) {
  auto atom = dyn_cast<AsyncMmaAtomInterface>(op.getAtom());
  FailureOr<SmallVector<Value>> sums = failure();
  if (atom)
    sums = atom.fetch(builder, loc, get(op.getPending()), getLayout(op.getResult()));
  if (failed(sums))
    return op.emitOpError("expected an accumulator that lies as ")
           << op.getAtom() << " has it, got " << op.getPending().getType();
  setElements(op.getResult(), *sums);
  return success();
}

/// Whether tensors are computed between the dot or wait before and this wait.
static bool runsBeside(WaitOp op) {
  for (Operation *at = op->getPrevNode(); at && !isa<StartDotOp, WaitOp>(at);
       at = at->getPrevNode())
    if (isMemoryEffectFree(at) && !at->hasTrait<OpTrait::ConstantLike>() &&
        llvm::any_of(at->getResultTypes(), llvm::IsaPred<RankedTensorType>))
      return true;
  return false;
}

LogicalResult ThreadLowering::lowerWait(WaitOp op) {
  if (op.getPending().getType().getInTensorMemory())
    return op.emitOpError("expected tile.get and tile.fetch of an accumulator in tensor memory");
  if (runsBeside(op))
    async->keepInFront(builder, loc);
  if (isa<PendingType>(op.getType())) {
    async->waitDots(builder, loc, op.getInFlight(), {});
    set(op.getResult(), get(op.getPending()));
    return success();
  }
  setElements(op.getResult(),
              async->waitDots(builder, loc, op.getInFlight(), getElements(op.getPending())));
  return success();
}
