// Constants, arithmetic and mathematics, element by element.
#include "../Scratch.h"
#include "../SharedAccess.h"
#include "../ThreadPatterns.h"
#include "kiln/Target/Common/DefinedArithmetic.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- Constants ----------------------------------------------------------------------------===//

/// A constant whose elements differ lies in global memory, in row-major order.
static void lowerTable(ThreadContext &context, arith::ConstantOp op) {
  auto elements = cast<DenseElementsAttr>(op.getValue());
  RankedTensorType type = cast<RankedTensorType>(op.getType());
  Type stored = getSharedType(type.getElementType());
  SmallVector<APInt> bits;
  if (isa<FloatType>(type.getElementType())) {
    for (const APFloat &value : elements.getValues<APFloat>())
      bits.push_back(value.bitcastToAPInt().zext(stored.getIntOrFloatBitWidth()));
  } else {
    for (const APInt &value : elements.getValues<APInt>())
      bits.push_back(value.zext(stored.getIntOrFloatBitWidth()));
  }
  auto module = context.function->getParentOfType<ModuleOp>();
  std::string name;
  for (unsigned number = 0; name.empty() || module.lookupSymbol(name); ++number)
    name = (context.function.getName() + "_table" + Twine(number)).str();
  unsigned bytes = getSharedElementBytes(type.getElementType());
  {
    OpBuilder::InsertionGuard guard(context);
    context.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(
        context, LLVM::LLVMArrayType::get(stored, bits.size()), /*isConstant=*/true,
        LLVM::Linkage::Internal, name,
        DenseElementsAttr::get(RankedTensorType::get({int64_t(bits.size())}, stored), bits),
        /*alignment=*/16, kGlobalSpace);
  }
  Value base = LLVM::AddressOfOp::create(
      context, LLVM::LLVMPointerType::get(context.getContext(), kGlobalSpace), name);
  LinearLayout layout = getLayout(op.getResult());
  ThreadPlace place = context.getPlace(layout);
  SmallVector<int64_t> strides = getStrides(type.getShape());
  SmallVector<Value> values;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); ++reg) {
    Value pointer = LLVM::GEPOp::create(
        context, base.getType(), stored, base,
        ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(getFlatIndex(context, place, reg, strides))});
    Value value = LLVM::LoadOp::create(context, stored, pointer, bytes);
    values.push_back(fromShared(context, value, type.getElementType()));
  }
  context.setElements(op.getResult(), values);
}

static void lowerConstant(ThreadContext &context, arith::ConstantOp op) {
  auto elements = dyn_cast<DenseElementsAttr>(op.getValue());
  if (!elements) {
    context.set(op, context.clone(*op)->getResult(0));
    return;
  }
  if (!elements.isSplat())
    return lowerTable(context, op);
  auto type = cast<VectorType>(context.convert(op.getType()));
  auto splat = DenseElementsAttr::get(type, elements.getSplatValue<Attribute>());
  context.set(op, arith::ConstantOp::create(context, type, splat));
}

//===- Arithmetic and mathematics -----------------------------------------------------------===//

static std::optional<std::string> whyElementwise(Operation *op) {
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types) {
      Type element = getElementTypeOrSelf(type);
      if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() > 64)
        return "expected floats of at most 64 bits, got " + spell(element);
    }
  return std::nullopt;
}

static bool hasOneElement(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getNumElements() == 1;
}

/// A vector of one element is computed as a scalar: not every code generator of LLVM's ends on
/// arithmetic of `<1 x i8>` (single-elements.mlir).
static void lowerElementwise(ThreadContext &context, Operation *op) {
  OperationState state(context.getLoc(), op->getName());
  for (Value operand : op->getOperands()) {
    Value given = context.get(operand);
    if (hasOneElement(given.getType()))
      given = context.getElements(operand).front();
    state.operands.push_back(given);
  }
  for (Type type : op->getResultTypes()) {
    Type converted = context.convert(type);
    state.types.push_back(hasOneElement(converted) ? getElementTypeOrSelf(converted) : converted);
  }
  state.attributes = op->getAttrs();
  Operation *lowered = context.create(state);
  SmallVector<Value> results(lowered->getResults());
  if (Value defined = defineForAllInputs(lowered))
    results = {defined};
  for (auto [from, to] : llvm::zip(op->getResults(), results))
    if (hasOneElement(context.convert(from.getType())))
      context.setElements(from, to);
    else
      context.set(from, to);
}

/// A magnitude of 16 bits by its bits: they are two to a word, and other mathematics is widened.
static Value getPackedMagnitude(ThreadContext &context, Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type || type.getElementTypeBitWidth() != 16)
    return {};
  auto bits = cast<VectorType>(type.clone(context.getI16Type()));
  Value mask = arith::ConstantOp::create(
      context, DenseElementsAttr::get(bits, Attribute(context.getI16IntegerAttr(0x7fff))));
  Value cast = arith::BitcastOp::create(context, bits, value);
  return arith::BitcastOp::create(context, type, arith::AndIOp::create(context, cast, mask));
}

static void lowerMagnitude(ThreadContext &context, math::AbsFOp op) {
  if (Value magnitude = getPackedMagnitude(context, context.get(op.getOperand())))
    context.set(op, magnitude);
  else
    lowerElementwise(context, op);
}

/// In a role beside others a place is added to a scalar in the order that takes fewest registers.
static void lowerSum(ThreadContext &context, arith::AddIOp op) {
  if (context.role && !context.isAllWarps())
    for (bool isSwapped : {false, true}) {
      auto iota = op->getOperand(isSwapped).getDefiningOp<IotaOp>();
      auto start = op->getOperand(!isSwapped).getDefiningOp<SplatOp>();
      if (iota && start)
        return context.setCoordinates(op.getResult(), iota.getDim(), context.get(start.getValue()));
    }
  lowerElementwise(context, op);
}

void kiln::populateElementwisePatterns(ThreadPatterns &patterns) {
  patterns
      .add<
#define GET_OP_LIST
#include "mlir/Dialect/Arith/IR/ArithOps.cpp.inc"
          >(lowerElementwise)
      .unsupportedIf(whyElementwise)
      .emulatedIf(hasNarrowFloats);
  patterns.add<arith::AddIOp>(lowerSum).unsupportedIf(whyElementwise).emulatedIf(hasNarrowFloats);
  // These compute nothing.
  patterns.add<arith::SelectOp, arith::BitcastOp>(lowerElementwise).unsupportedIf(whyElementwise);
  patterns.add<arith::ConstantOp>(lowerConstant);
  patterns.add<ub::PoisonOp>([](ThreadContext &context, ub::PoisonOp op) {
    context.set(op, ub::PoisonOp::create(context, context.convert(op.getType())));
  });
  // Those that every code generator of these targets is given as arithmetic or as calls.
  patterns
      .add<math::AbsIOp, math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp, math::AtanOp,
           math::Atan2Op, math::AtanhOp, math::CbrtOp, math::CeilOp, math::CopySignOp, math::CosOp,
           math::CoshOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp, math::CtPopOp,
           math::ErfOp, math::ErfcOp, math::ExpOp, math::Exp2Op, math::ExpM1Op, math::FloorOp,
           math::FmaOp, math::LogOp, math::Log10Op, math::Log1pOp, math::Log2Op, math::PowFOp,
           math::RoundOp, math::RoundEvenOp, math::RsqrtOp, math::SinOp, math::SinhOp, math::SqrtOp,
           math::TanOp, math::TanhOp, math::TruncOp>(lowerElementwise)
      .unsupportedIf(whyElementwise)
      .emulatedIf(hasNarrowFloats);
  patterns.add<math::AbsFOp>(lowerMagnitude)
      .unsupportedIf(whyElementwise)
      .emulatedIf(hasNarrowFloats);
  // Integer arithmetic by now.
  patterns.addWithoutLowering<PhiloxOp>().emulatedIf(
      [](Operation *, TargetInterface) { return true; });
}
