// What the lowering to threads can do, asked before anything is decided.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Transforms/Layouts.h"
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

static std::optional<std::string> whyDot(RankedTensorType result, int64_t k) {
  SmallVector<int64_t> extents(result.getShape());
  extents.push_back(k);
  int64_t products = getPaddedElements(extents);
  if (products > kMostProducts)
    return "expected at most " + std::to_string(kMostProducts) + " products, got " +
           std::to_string(products);
  return std::nullopt;
}

/// The math ops that every code generator of these targets is given as arithmetic or as calls.
static bool isKnownMath(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp,
             math::AtanOp, math::Atan2Op, math::AtanhOp, math::CbrtOp, math::CeilOp,
             math::CopySignOp, math::CosOp, math::CoshOp, math::CountLeadingZerosOp,
             math::CountTrailingZerosOp, math::CtPopOp, math::ErfOp, math::ErfcOp, math::ExpOp,
             math::Exp2Op, math::ExpM1Op, math::FloorOp, math::FmaOp, math::LogOp, math::Log10Op,
             math::Log1pOp, math::Log2Op, math::PowFOp, math::RoundOp, math::RoundEvenOp,
             math::RsqrtOp, math::SinOp, math::SinhOp, math::SqrtOp, math::TanOp, math::TanhOp,
             math::TruncOp>(op);
}

static std::optional<std::string> whyElementwise(Operation *op) {
  if (isa<math::MathDialect>(op->getDialect()) && !isKnownMath(op))
    return "";
  for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
    for (Type type : types) {
      Type element = getElementTypeOrSelf(type);
      if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() > 64)
        return "expected floats of at most 64 bits, got " + spell(element);
    }
  return std::nullopt;
}

std::optional<std::string> kiln::whyUnsupportedByThreads(Operation *op) {
  if (isa<KernelOp>(op))
    return std::nullopt;
  for (Type type : op->getResultTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type)) {
      if (getPaddedElements(tensor.getShape()) > kMostElements)
        return "expected at most " + std::to_string(kMostElements) + " elements, got " +
               spell(tensor);
    }
  if (isa<arith::ConstantOp>(op))
    return std::nullopt;
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return whyElementwise(op);
  if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::ConditionOp, scf::YieldOp>(op)) {
    for (Type type : op->getOperandTypes())
      if (isa<ViewType, BufferType, PointerType>(type))
        return "expected tensors and scalars to be carried, got " + spell(type);
    return std::nullopt;
  }
  if (auto dot = dyn_cast<DotOp>(op))
    return whyDot(dot.getType(), dot.getK());
  if (auto dot = dyn_cast<DotScaledOp>(op))
    return whyDot(dot.getType(), dot.getA().getType().getDimSize(1));
  // A schedule that is realised already; the target says whether its chip has what it needs.
  if (isa<AcquireOp, CommitOp, FetchOp, FillOp, WaitPutsOp, AdvanceOp, BarrierOp, ChannelOp,
          CopyIdOp, CopyInOp, CopyOutOp, GetOp, PartOp, PendOp, PutOp, ReleaseOp, StartDotOp,
          WaitOp, WaitStoresOp, WarpGroupsOp, ub::PoisonOp>(op))
    return std::nullopt;
  if (isa<AddressOp, AllocOp, ArgReduceOp, AssertOp, AssumeOp, AtomicCASOp, AtomicRMWOp, BitcastOp,
          BroadcastOp, ConcatOp, ConvertLayoutOp, DimOp, ExternCallOp, GatherOp, GridOp,
          HistogramOp, InlineAsmOp, IotaOp, JoinOp, LoadOp, MultipleOfOp, NumProgramsOp, PhiloxOp,
          PointerFromAddressOp, PrintOp, ProgramIdOp, ReadOp, ReduceOp, ReshapeOp, ScanOp,
          ScatterOp, SliceOp, SortOp, SplitOp, StoreOp, TopKOp, tile::ReturnOp, SplatOp, StrideOp,
          SubviewOp, TakeOp, ToScalarOp, TransposeOp, ViewFromPointerOp, WriteOp, tile::YieldOp>(
          op))
    return std::nullopt;
  return "";
}

/// Operands for which the chip has an instruction if they are large enough, or that its threads
/// multiply as they are.
static bool isDotEmulated(DotOp dot, TargetInterface target) {
  auto [a, b] = getDotTypes(dot);
  if (dot.getPrecision() == DotPrecision::IEEE && a.getIntOrFloatBitWidth() >= 16)
    return false;
  if (dot.getPrecision() == DotPrecision::TF32)
    a = b = FloatTF32Type::get(dot.getContext());
  return target.getMmaAtoms(a, b, getElementTypeOrSelf(dot.getAccumulator())).empty();
}

/// What is computed in another type, unpacked, or expanded into other ops. Atomics that no chip has
/// are loops.
bool kiln::isEmulatedByThreads(Operation *op, TargetInterface target) {
  if (isa<ArgReduceOp, PhiloxOp>(op))
    return true;
  if (auto dot = dyn_cast<DotScaledOp>(op))
    return target
        .getScaledMmaAtoms(getElementTypeOrSelf(dot.getA()), getElementTypeOrSelf(dot.getScaleA()),
                           getElementTypeOrSelf(dot.getB()), getElementTypeOrSelf(dot.getScaleB()),
                           getElementTypeOrSelf(dot.getAccumulator()))
        .empty();
  if (auto dot = dyn_cast<DotOp>(op))
    return isDotEmulated(dot, target);
  if (auto atomic = dyn_cast<AtomicRMWOp>(op))
    return atomic.getKind() == AtomicKind::MinF || atomic.getKind() == AtomicKind::MaxF;
  bool computes = isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
                  !isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op);
  auto isDetour = [&](Type type) {
    if (auto view = dyn_cast<ViewType>(type))
      type = view.getElementType();
    Type element = getElementTypeOrSelf(type);
    bool packed =
        element.isIntOrFloat() && !element.isInteger(1) && element.getIntOrFloatBitWidth() < 8;
    if (isa<LoadOp, StoreOp, GatherOp, ScatterOp, BitcastOp>(op))
      return packed;
    return (computes || isa<ReduceOp, ScanOp>(op)) &&
           (isNarrowFloat(element) || isa<FloatTF32Type>(element));
  };
  return llvm::any_of(op->getOperandTypes(), isDetour) ||
         llvm::any_of(op->getResultTypes(), isDetour);
}
