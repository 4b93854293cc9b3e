// What tensors take of shared memory, as which type they lie there, and whether they go through it
// to other threads.
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;

unsigned kiln::getSharedElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  return std::max(1u, type.getIntOrFloatBitWidth() / 8);
}

int64_t kiln::getSharedBytes(tile::BufferType type) {
  return ShapedType::getNumElements(type.getShape()) *
         int64_t(getSharedElementBytes(type.getElementType()));
}

int64_t kiln::getSharedBytes(RankedTensorType type) {
  return type.getNumElements() * int64_t(getSharedElementBytes(type.getElementType()));
}

int64_t kiln::countShuffles(const Conversion &conversion, RankedTensorType type) {
  if (!conversion.swaps.empty()) {
    unsigned bits = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
    int64_t packed = getPackedBits(conversion, bits).size();
    // Of two words each lane gives one away and gets one.
    return int64_t(conversion.swaps.size()) * llvm::divideCeil(bits, 32u) *
           ((conversion.places.getInSize(kRegister) >> packed) / 2);
  }
  // Where the register to give depends on who asks, both candidates are asked for.
  ArrayRef<LinearLayout::Basis> lanes = conversion.places.getBases(kLane);
  bool twoCandidates = llvm::any_of(lanes, [](const auto &basis) { return basis[0] != 0; });
  int64_t words = llvm::divideCeil(getSharedElementBytes(type.getElementType()), 4u);
  return conversion.places.getInSize(kRegister) * words * (twoCandidates ? 2 : 1);
}

bool kiln::isInRole(Operation *op) {
  auto kernel = op->getParentOfType<tile::KernelOp>();
  return kernel->hasAttr(tile::kRolesAttrName) || op->getParentOfType<tile::WarpGroupsOp>();
}

ConversionChoice kiln::decideConversion(const LinearLayout &from, const LinearLayout &to,
                                        RankedTensorType type, bool isInRole,
                                        TargetInterface target) {
  using tile::ConversionAttr, tile::ConversionKind;
  MLIRContext *context = type.getContext();
  Type element = type.getElementType();
  Conversion least = classifyConversion(from, to);
  ConversionChoice choice;
  if (least.kind == ConversionKind::Registers) {
    choice.how = ConversionAttr::get(context, ConversionKind::Registers, {}, {}, {});
    return choice;
  }
  SharedPlan plan = planShared(from, to, getSharedElementBytes(element), target.getChipRecord(),
                               target.getCopyAtoms(element));
  choice.cycles = plan.getCycles() + (isInRole ? 2 : 1) * kBarrierCycles;
  if (least.kind == ConversionKind::Lanes) {
    int64_t cycles = kShuffleCycles * countShuffles(least, type);
    if (cycles <= choice.cycles) {
      choice.how = ConversionAttr::get(context, ConversionKind::Lanes, {}, {}, {});
      choice.cycles = cycles;
      return choice;
    }
  }
  choice.how = ConversionAttr::get(context, ConversionKind::Memory,
                                   tile::LayoutAttr::get(context, plan.layout), plan.write.atom,
                                   plan.read.atom);
  choice.write = plan.write;
  choice.read = plan.read;
  return choice;
}

RankedTensorType kiln::getStoredType(RankedTensorType type) {
  Type element = type.getElementType();
  if (element.isIndex())
    return type.clone(IntegerType::get(type.getContext(), 64));
  return element.isInteger(1) ? type.clone(IntegerType::get(type.getContext(), 8)) : type;
}

Value kiln::makeStored(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  RankedTensorType stored = getStoredType(type);
  if (type.getElementType().isIndex())
    return arith::IndexCastOp::create(builder, loc, stored, tensor);
  return stored == type ? tensor : arith::ExtUIOp::create(builder, loc, stored, tensor).getResult();
}

Value kiln::unmakeStored(OpBuilder &builder, Location loc, Value stored, RankedTensorType type) {
  if (type.getElementType().isIndex())
    return arith::IndexCastOp::create(builder, loc, type, stored);
  return stored.getType() == type ? stored
                                  : arith::TruncIOp::create(builder, loc, type, stored).getResult();
}
