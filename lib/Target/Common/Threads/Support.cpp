// What the lowering to threads can do, asked before anything is decided.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/Common/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static std::string spell(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

static bool isNarrowFloat(Type type) {
  return isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 16;
}

/// Memory holds whole bytes; what is smaller comes with the packed types.
static bool isAddressable(Type element) {
  return element.isIntOrFloat() && !isa<FloatTF32Type>(element) &&
         element.getIntOrFloatBitWidth() % 8 == 0 && element.getIntOrFloatBitWidth() <= 64;
}

/// Registers are unrolled, so code grows with a tile: what is refused here would take minutes to
/// compile and then spill.
static constexpr int64_t kMostElements = 1 << 17;
static constexpr int64_t kMostProducts = 1 << 23;

/// Extents are padded to powers of two.
static int64_t getPaddedElements(ArrayRef<int64_t> shape) {
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= llvm::PowerOf2Ceil(extent);
  return elements;
}

static std::optional<std::string> whyDot(DotOp op) {
  if (op.getResult().getType().getRank() != 2)
    return "expected matrices without batch dimensions";
  if (isa<BufferType>(op.getA().getType()) || isa<BufferType>(op.getB().getType()))
    return "expected tensors as operands";
  int64_t products = getPaddedElements({op.getM(), op.getN(), op.getK()});
  if (products > kMostProducts)
    return "expected at most " + std::to_string(kMostProducts) + " products, got " +
           std::to_string(products);
  if (op.getPrecision() == DotPrecision::TF32x3)
    return "expected precision ieee or tf32";
  for (Value operand : {op.getA(), op.getB()}) {
    Type element = getElementTypeOrSelf(operand.getType());
    if (isNarrowFloat(element) || !isAddressable(element))
      return "expected operands of at least 16 bits for floats and 8 for integers, got " +
             spell(element);
  }
  return std::nullopt;
}

/// The math ops that every code generator of these targets is given as arithmetic.
static bool isKnownMath(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::ErfOp, math::ExpOp,
             math::Exp2Op, math::FloorOp, math::FmaOp, math::LogOp, math::Log2Op, math::RoundEvenOp,
             math::RsqrtOp, math::SinOp, math::CosOp, math::SqrtOp, math::TanhOp, math::TruncOp>(
      op);
}

static std::optional<std::string> whyElementwise(Operation *op) {
  if (isa<math::MathDialect>(op->getDialect())) {
    if (!isKnownMath(op))
      return "";
    bool exact = isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::FloorOp,
                     math::FmaOp, math::RoundEvenOp, math::SqrtOp, math::TruncOp>(op);
    if (!exact && getElementTypeOrSelf(op->getResult(0).getType()).isF64())
      return "expected at most f32, got f64";
  }
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types) {
      Type element = getElementTypeOrSelf(type);
      if (isa<FloatTF32Type>(element) ||
          (isa<FloatType>(element) && element.getIntOrFloatBitWidth() > 64))
        return "expected floats of at most 64 bits, got " + spell(element);
      if (isNarrowFloat(element) && !isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp,
                                         arith::ConstantOp, arith::BitcastOp>(op))
        return "expected arithmetic on floats of at least 16 bits, got " + spell(element);
    }
  return std::nullopt;
}

std::optional<std::string> kiln::whyUnsupportedByThreads(Operation *op) {
  if (auto kernel = dyn_cast<KernelOp>(op)) {
    for (Type type : kernel.getArgumentTypes())
      if (isNarrowFloat(type))
        return "expected scalars of at least 16 bits, got " + spell(type);
    return std::nullopt;
  }
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      if (getPaddedElements(tensor.getShape()) > kMostElements)
        return "expected at most " + std::to_string(kMostElements) + " elements, got " +
               spell(tensor);
    }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (elements && !elements.isSplat())
      return "expected all elements of a constant to be the same";
    return std::nullopt;
  }
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return whyElementwise(op);
  if (isa<scf::ForOp, scf::IfOp, scf::YieldOp>(op)) {
    for (Type type : op->getOperandTypes())
      if (isa<ViewType, BufferType, PointerType>(type))
        return "expected tensors and scalars to be carried, got " + spell(type);
    return std::nullopt;
  }
  if (auto dot = dyn_cast<DotOp>(op))
    return whyDot(dot);
  if (auto bitcast = dyn_cast<BitcastOp>(op)) {
    if (bitcast.getInput().getType().getElementTypeBitWidth() !=
        bitcast.getResult().getType().getElementTypeBitWidth())
      return "expected element types of the same width";
    return std::nullopt;
  }
  if (isa<LoadOp, StoreOp>(op)) {
    auto view = cast<ViewType>(isa<LoadOp>(op) ? cast<LoadOp>(op).getView().getType()
                                               : cast<StoreOp>(op).getView().getType());
    if (!isAddressable(view.getElementType()))
      return "expected elements of whole bytes, got " + spell(view.getElementType());
    return std::nullopt;
  }
  // A schedule that is realised already; the target says whether its chip has what it needs.
  if (isa<AdvanceOp, BarrierOp, ChannelOp, CopyIdOp, CopyInOp, CopyOutOp, GetOp, PartOp, PendOp,
          PutOp, ReleaseOp, StartDotOp, WaitOp, WaitStoresOp, WarpGroupsOp, ub::PoisonOp>(op))
    return std::nullopt;
  if (isa<AllocOp, ArgReduceOp, AssumeOp, BroadcastOp, ConvertLayoutOp, DimOp, GridOp, IotaOp,
          MultipleOfOp, NumProgramsOp, PhiloxOp, ProgramIdOp, ReadOp, ReduceOp, ReshapeOp,
          tile::ReturnOp, SliceOp, SplatOp, StrideOp, ToScalarOp, TransposeOp, ViewFromPointerOp,
          WriteOp, tile::YieldOp>(op))
    return std::nullopt;
  return "";
}

bool kiln::isEmulatedByThreads(Operation *op) { return isa<ArgReduceOp, PhiloxOp>(op); }
