// What the host computes in a detour: the one place that says so of each op and type.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/CPU/CPU.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace kiln::tile;

/// Elements that share a byte are unpacked; i1 is what a mask register holds.
static bool sharesByte(Type element) {
  return element.isIntOrFloat() && !element.isInteger(1) && element.getIntOrFloatBitWidth() < 8;
}

/// What is computed in another type: floats other than f32 and f64, integers that share a byte.
static bool computesWider(Type element) {
  return (isa<FloatType>(element) && !element.isF32() && !element.isF64()) || sharesByte(element);
}

/// Ops that move elements and compute nothing.
static bool onlyMoves(Operation *op) {
  return isa<LoadOp, StoreOp, GatherOp, ScatterOp, AllocOp, ReadOp, WriteOp, SplatOp, ToScalarOp,
             BroadcastOp, ReshapeOp, TransposeOp, SliceOp, ConcatOp, JoinOp, SplitOp, BitcastOp,
             IotaOp, DimOp, StrideOp, ViewFromPointerOp, SubviewOp, AddressOp, PointerFromAddressOp,
             TakeOp, KernelOp, PrintOp, arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op);
}

/// The host's atomic instructions add and exchange integers; all else is a loop.
static bool isAtomicLoop(Operation *op) {
  auto atomic = dyn_cast<AtomicRMWOp>(op);
  return atomic && atomic.getKind() != AtomicKind::AddI && atomic.getKind() != AtomicKind::Exch;
}

bool kiln::cpu::TargetAttr::isEmulated(Operation *op) const {
  if (isa<PhiloxOp, DotScaledOp, ArgReduceOp, TopKOp>(op) || isAtomicLoop(op))
    return true;
  if (isa<AtomicRMWOp, AtomicCASOp>(op))
    return false;
  auto isDetour = [&](Type type) {
    if (auto view = dyn_cast<ViewType>(type))
      type = view.getElementType();
    else if (auto buffer = dyn_cast<BufferType>(type))
      type = buffer.getElementType();
    Type element = getElementTypeOrSelf(type);
    return onlyMoves(op) ? sharesByte(element) : computesWider(element);
  };
  return llvm::any_of(op->getOperandTypes(), isDetour) ||
         llvm::any_of(op->getResultTypes(), isDetour);
}
