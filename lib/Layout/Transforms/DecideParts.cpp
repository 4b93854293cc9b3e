// Into how many parts along k a product by multiply-adds is cut.
//
// A thread that multiplies and adds on its own needs all of K of its rows and columns. If these
// come out of shared memory, they are read a k at a time, so that registers hold few of them.
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEPARTS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether what makes an operand reads shared memory, where its product stands.
static bool comesFromMemory(Value operand, Block *block) {
  Operation *op = operand.getDefiningOp();
  if (!op || op->getBlock() != block)
    return false;
  if (isa<ReadOp>(op) || isInBuffer(operand))
    return true;
  if (auto conversion = dyn_cast<ConvertLayoutOp>(op))
    return isInBuffer(conversion.getInput()) ||
           (conversion.getHow() && conversion.getHow()->getKind() == ConversionKind::Memory);
  bool isMoved =
      isa<TransposeOp>(op) || (isMemoryEffectFree(op) && OpTrait::hasElementwiseMappableTraits(op));
  return isMoved && llvm::any_of(op->getOperands(), [&](Value value) {
           return isa<RankedTensorType>(value.getType()) && comesFromMemory(value, block);
         });
}

/// Whether a thread has each k of an operand in registers of their own.
static bool isChosenByRegisters(Value operand, bool kIsLast) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(operand.getType()).getShape());
  shape[shape.size() - (kIsLast ? 1 : 2)] = 1;
  return getBoxLayout(getLayout(operand), shape).has_value();
}

namespace {
struct DecideParts : kiln::impl::DecidePartsBase<DecideParts> {
  void runOnOperation() override {
    getOperation().walk([](DotOp dot) {
      if (dot.getParts() || !isa_and_nonnull<FmaAtomAttr>(dot.getAtomAttr()))
        return;
      auto isRead = [&](Value operand) { return comesFromMemory(operand, dot->getBlock()); };
      if ((isRead(dot.getA()) || isRead(dot.getB())) &&
          isChosenByRegisters(dot.getA(), !dot.getTransposeA()) &&
          isChosenByRegisters(dot.getB(), dot.getTransposeB()))
        dot.setParts(ArrayRef<int64_t>{1, 1, dot.getK()});
    });
  }
};
} // namespace
