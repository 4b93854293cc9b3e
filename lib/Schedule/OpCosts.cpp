// What atoms say of products and loads, and the figures of a chip's record for all else.
#include "OpCosts.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Target/Common/AtomCosts.h"
#include "kiln/Target/TargetInterface.h"
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

/// The atom that makes a dot, or would if nobody decided one; null if none does.
static Attribute findAtom(DotOp dot) {
  TargetInterface target = getTarget(dot);
  return dot.getAtomAttr() ? dot.getAtomAttr() : target ? getUsualAtom(dot, target) : Attribute();
}

static Attribute findAtom(DotScaledOp dot) {
  if (dot.getAtomAttr())
    return dot.getAtomAttr();
  TargetInterface target = getTarget(dot);
  SmallVector<Attribute> atoms = target ? getMmaAtoms(dot, target) : SmallVector<Attribute>();
  return atoms.empty() ? Attribute() : atoms.front();
}

template <typename Dot>
static std::optional<OpCost> getProductCost(Dot dot, const Chip &chip) {
  auto atom = dyn_cast_or_null<MmaAtomInterface>(findAtom(dot));
  if (!atom)
    return std::nullopt;
  int64_t products = dot.getType().getNumElements() * dot.getK();
  std::optional<int64_t> cycles =
      atom.getIssueCycles(chip, dot.getType().getElementType(), products);
  if (!cycles)
    return std::nullopt;
  return OpCost{atom.getUnit(), *cycles, *cycles + atom.getLatency(chip).value_or(0)};
}

/// What each lane starts keeps lanes busy; an engine does all by itself.
static std::optional<OpCost> getLoadCost(LoadOp load, const Chip &chip) {
  int64_t bytes = countBytes(load.getType()), arrival = llvm::divideCeil(bytes, kCoreBytes);
  auto atom = dyn_cast_or_null<CopyAtomInterface>(load.getAtomAttr());
  std::optional<int64_t> latency =
      atom ? atom.getLatency(chip) : getValue(chip.figures.memoryLatency);
  if (!latency)
    return std::nullopt;
  if (!atom)
    return OpCost{std::nullopt, 0, *latency + arrival};
  int64_t cycles = 0;
  if (auto direct = dyn_cast<DirectAtomInterface>(atom))
    cycles = llvm::divideCeil(bytes, int64_t(chip.warpSize) * direct.getGranularity()) *
             direct.getIssueCycles(chip);
  return OpCost{atom.getUnit(), cycles, *latency + arrival};
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

/// What regions do one after another. What only some trips do is not what a trip takes.
static std::optional<OpCost> getSum(Operation *op, const Chip &chip) {
  OpCost sum;
  if (op->hasAttr(kSplitLoopAttrName))
    return sum;
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps()) {
      std::optional<OpCost> cost = getCost(&inner, chip);
      if (!cost)
        return std::nullopt;
      sum.cycles += cost->cycles;
      sum.latency += cost->latency;
    }
  if (sum.cycles)
    sum.unit = Unit::Lanes;
  return sum;
}

std::optional<int64_t> kiln::getExchangeLatency(const Figures &figures) {
  return getValue(figures.shuffleLatency ? figures.shuffleLatency : figures.sharedLatency);
}

std::optional<OpCost> kiln::getCost(Operation *op, const Chip &chip) {
  if (auto dot = dyn_cast<DotOp>(op))
    return getProductCost(dot, chip);
  if (auto dot = dyn_cast<DotScaledOp>(op))
    return getProductCost(dot, chip);
  if (auto load = dyn_cast<LoadOp>(op))
    return getLoadCost(load, chip);
  if (op->getNumRegions() > 0 && !isa<ReduceOp>(op))
    return getSum(op, chip);
  int64_t elements =
      std::max(countElements(op->getOperandTypes()), countElements(op->getResultTypes()));
  if (isView(op) || elements == 0)
    return OpCost{};
  const Figures &figures = chip.figures;
  std::optional<int64_t> cycles = countCycles(elements, getLaneRate(op, figures));
  bool isAmongLanes = isa<ReduceOp, ConvertLayoutOp>(op);
  std::optional<int64_t> exchange = getExchangeLatency(figures);
  if (!cycles || !figures.fmaLatency || (isAmongLanes && !exchange))
    return std::nullopt;
  int64_t latency = figures.fmaLatency->value;
  if (isAmongLanes)
    latency += 2 * *exchange;
  return OpCost{Unit::Lanes, *cycles, *cycles + latency};
}
