// What the host computes in a detour: by what is said of each kind of op where it is lowered, and
// by the types of its elements.
#include "LowerTiles/Lowerings.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/CPU/CPU.h"

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

bool kiln::cpu::TargetAttr::isEmulated(Operation *op) const {
  const Lowering *lowering = Lowerings::get().find(op);
  if (lowering && lowering->isEmulated)
    return lowering->isEmulated(op);
  bool onlyMoves = lowering && lowering->onlyMoves;
  auto isDetour = [&](Type type) {
    if (auto view = dyn_cast<ViewType>(type))
      type = view.getElementType();
    else if (auto buffer = dyn_cast<BufferType>(type))
      type = buffer.getElementType();
    Type element = getElementTypeOrSelf(type);
    return onlyMoves ? sharesByte(element) : computesWider(element);
  };
  return llvm::any_of(op->getOperandTypes(), isDetour) ||
         llvm::any_of(op->getResultTypes(), isDetour);
}
