// The figures of a chip's record, by kind of op.
#include "OpCosts.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Bytes of global memory that reach a core in a cycle, if all cores read.
static constexpr int64_t kCoreBytes = 32;

static int64_t countElements(TypeRange types) {
  int64_t most = 0;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      most = std::max(most, tensor.getNumElements());
  return most;
}

int64_t kiln::countBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 0;
  unsigned bits = tensor.getElementType().isIndex() ? 64 : tensor.getElementTypeBitWidth();
  return tensor.getNumElements() * std::max(bits, 8u) / 8;
}

/// How many multiply-adds of these elements the matrix units of a core make in a cycle. What they
/// have no instruction for goes by the next wider one.
static std::optional<Figure> getMatrixRate(Type element, const Figures &figures) {
  unsigned bits = element.getIntOrFloatBitWidth();
  if (element.isInteger())
    return bits <= 4 && figures.matrixI4 ? figures.matrixI4 : figures.matrixI8;
  if (element.isF64())
    return figures.matrixF64 ? figures.matrixF64 : figures.fmaF64;
  if (element.isF32())
    return figures.matrixF32 ? figures.matrixF32 : figures.matrixTF32;
  if (isa<FloatTF32Type>(element))
    return figures.matrixTF32 ? figures.matrixTF32 : figures.matrixF32;
  if (bits <= 4 && figures.matrixF4)
    return figures.matrixF4;
  if (bits <= 6 && figures.matrixF6)
    return figures.matrixF6;
  return bits <= 8 && figures.matrixF8 ? figures.matrixF8 : figures.matrixF16;
}

/// The same by a multiply-add an element.
static std::optional<Figure> getMultiplyAddRate(Type sum, const Figures &figures) {
  if (sum.isInteger())
    return figures.multiplyI32 ? figures.multiplyI32 : figures.addI32;
  return sum.isF64() ? figures.fmaF64 : figures.fmaF32;
}

template <typename Dot>
static std::optional<OpCost> getProductCost(Dot dot, const Figures &figures) {
  Type a = getElementTypeOrSelf(dot.getA()), b = getElementTypeOrSelf(dot.getB());
  Type wider = a.getIntOrFloatBitWidth() < b.getIntOrFloatBitWidth() ? b : a;
  bool isByLanes = isa_and_nonnull<FmaAtomAttr>(dot.getAtomAttr());
  std::optional<Figure> rate =
      isByLanes ? getMultiplyAddRate(getElementTypeOrSelf(dot.getType()), figures)
                : getMatrixRate(wider, figures);
  if (!rate)
    return std::nullopt;
  int64_t products = dot.getType().getNumElements() * dot.getK();
  int64_t cycles = llvm::divideCeil(products, rate->value);
  if (isByLanes)
    return OpCost{OpCost::Lanes, cycles, cycles + figures.fmaLatency->value};
  int64_t wait = figures.matrixWaitCost ? figures.matrixWaitCost->value : 0;
  return OpCost{OpCost::Matrix, cycles, cycles + wait};
}

/// Elements of the op that the lanes of a core make in a cycle.
static std::optional<Figure> getLaneRate(Operation *op, const Figures &figures) {
  if (isa<math::Exp2Op, math::ExpOp>(op))
    return figures.exp2s;
  if (isa<math::LogOp, math::Log2Op, math::RsqrtOp, math::SqrtOp, math::SinOp, math::CosOp,
          math::TanhOp, math::ErfOp, arith::DivFOp>(op))
    return figures.specials;
  if (isa<arith::TruncFOp, arith::ExtFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp,
          arith::FPToUIOp>(op))
    return figures.conversions;
  bool isFloat = llvm::any_of(op->getOperandTypes(),
                              [](Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); });
  return isFloat ? figures.fmaF32 : figures.addI32;
}

bool kiln::isView(Operation *op) {
  return isa<ReshapeOp, TransposeOp, BroadcastOp, SplatOp, IotaOp>(op) ||
         op->hasTrait<OpTrait::ConstantLike>();
}

std::optional<OpCost> kiln::getCost(Operation *op, const Figures &figures) {
  if (!figures.fmaLatency || !figures.memoryLatency || !figures.shuffleLatency)
    return std::nullopt;
  if (auto dot = dyn_cast<DotOp>(op))
    return getProductCost(dot, figures);
  if (auto dot = dyn_cast<DotScaledOp>(op))
    return getProductCost(dot, figures);
  if (auto load = dyn_cast<LoadOp>(op)) {
    int64_t cycles = llvm::divideCeil(countBytes(load.getType()), kCoreBytes);
    return OpCost{OpCost::None, 0, figures.memoryLatency->value + cycles};
  }
  if (op->getNumRegions() > 0 && !isa<ReduceOp>(op)) {
    // What only some trips do is not what a trip takes.
    OpCost sum;
    if (op->hasAttr(kSplitLoopAttrName))
      return sum;
    for (Region &region : op->getRegions())
      for (Operation &inner : region.getOps()) {
        std::optional<OpCost> cost = getCost(&inner, figures);
        if (!cost)
          return std::nullopt;
        sum.cycles += cost->cycles;
        sum.latency += cost->latency;
      }
    sum.unit = sum.cycles ? OpCost::Lanes : OpCost::None;
    return sum;
  }
  int64_t elements =
      std::max(countElements(op->getOperandTypes()), countElements(op->getResultTypes()));
  if (isView(op) || elements == 0)
    return OpCost{};
  std::optional<Figure> rate = getLaneRate(op, figures);
  if (!rate)
    return std::nullopt;
  int64_t cycles = llvm::divideCeil(elements, rate->value), latency = figures.fmaLatency->value;
  if (isa<ReduceOp, ConvertLayoutOp>(op))
    latency += 2 * figures.shuffleLatency->value;
  return OpCost{OpCost::Lanes, cycles, cycles + latency};
}
