// What the ops of a loop cost and need.
//
// Costs are of whole tiles, whose elements all warps of a core share out: elements over the core's
// rate. They are rough, and only their proportions matter: which of the matrix units and the lanes
// is busy for how much of a trip.
#include "LoopProblem.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Registers of a thread that hold no tile: addresses, counters and what is about to be stored.
static constexpr int64_t kOtherRegisters = 24;
/// Bytes of global memory that reach a core in a cycle, if all cores read.
static constexpr int64_t kCoreBytes = 32;

//===- Costs --------------------------------------------------------------------------------===//

static int64_t countElements(TypeRange types) {
  int64_t most = 0;
  for (Type type : types)
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      most = std::max(most, tensor.getNumElements());
  return most;
}

static int64_t countBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return 0;
  unsigned bits = tensor.getElementType().isIndex() ? 64 : tensor.getElementTypeBitWidth();
  return tensor.getNumElements() * std::max(bits, 8u) / 8;
}

/// How many multiply-adds of a dot the matrix units of a core make in a cycle.
static std::optional<Figure> getMatrixRate(DotOp dot, const Figures &figures) {
  Type element = getElementTypeOrSelf(dot.getA());
  if (element.isInteger(8))
    return figures.matrixI8;
  if (element.isF32() || isa<FloatTF32Type>(element))
    return figures.matrixTF32;
  return element.getIntOrFloatBitWidth() == 8 ? figures.matrixF8 : figures.matrixF16;
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
  if (auto dot = dyn_cast<DotOp>(op)) {
    std::optional<Figure> rate = getMatrixRate(dot, figures);
    if (!rate)
      return std::nullopt;
    int64_t products = dot.getType().getNumElements() * dot.getK();
    int64_t cycles = llvm::divideCeil(products, rate->value);
    int64_t wait = figures.matrixWaitCost ? figures.matrixWaitCost->value : 0;
    return OpCost{OpCost::Matrix, cycles, cycles + wait};
  }
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

//===- The problem --------------------------------------------------------------------------===//

namespace {
/// What an op needs of another iteration or its own, past views.
struct Need {
  Operation *maker;
  int64_t distance;
  /// The op's own operand.
  Value operand;
};
} // namespace

static SmallVector<Need> findNeeds(const Trip &trip, Operation *op) {
  SmallVector<Need> needs;
  SmallVector<std::pair<Need, Value>> values;
  for (Value operand : trip.getOperands(op))
    values.push_back({{nullptr, 0, operand}, operand});
  while (!values.empty()) {
    auto [need, value] = values.pop_back_val();
    std::optional<Dependence> found = trip.findMaker(value);
    if (!found)
      continue;
    need = {found->op, need.distance + found->distance, need.operand};
    if (!isView(found->op)) {
      needs.push_back(need);
      continue;
    }
    for (Value operand : trip.getOperands(found->op))
      values.push_back({need, operand});
  }
  return needs;
}

static schedule::Completion getCompletion(DotOp dot) {
  switch (cast<MmaAtomInterface>(dot.getAtomAttr()).getCompletion()) {
  case Completion::Groups:
    return schedule::Completion::Counted;
  case Completion::InOrder:
    return schedule::Completion::Direct;
  default:
    return schedule::Completion::Signalled;
  }
}

std::optional<schedule::Problem> kiln::makeProblem(const Trip &trip, ArrayRef<Operation *> source,
                                                   RoleAttr role, const Chip &chip) {
  schedule::Problem problem;
  int64_t registers = role.getRegisters()
                          ? role.getRegisters()
                          : std::min<int64_t>(chip.registersPerThread,
                                              chip.getRegistersAtEntry(role.getTotalWarps() + 1));
  int64_t threads = role.getTotalWarps() * chip.warpSize;
  problem.roles.push_back({role.getName().str(), role.getWarps(),
                           4 * threads * std::max<int64_t>(registers - kOtherRegisters, 1)});
  problem.roles.push_back({"loads"});
  problem.units = {{"matrix units"}, {"lanes"}};
  problem.counters = {{"dots"}};

  DenseMap<Operation *, unsigned> numbers;
  for (auto [number, op] : llvm::enumerate(source)) {
    numbers[op] = number;
    std::optional<OpCost> cost = getCost(op, chip.figures);
    if (!cost)
      return std::nullopt;
    schedule::Op &asked = problem.ops.emplace_back();
    asked.name = op->getName().getStringRef().str();
    asked.latency = cost->latency;
    if (cost->unit != OpCost::None && cost->cycles)
      asked.reservations.push_back({cost->unit == OpCost::Matrix ? 0u : 1u, cost->cycles});
    auto load = dyn_cast<LoadOp>(op);
    asked.pins.role = load && load.getBuffer() ? kLoads : kMultiplies;
    if (load && load.getBuffer()) {
      asked.completion = schedule::Completion::Signalled;
      asked.bufferBytes = getBufferBytes(cast<BufferType>(*load.getBuffer()));
      if (std::optional<uint64_t> depth = load.getDepth())
        asked.pins.depth = *depth;
      continue;
    }
    if (auto dot = dyn_cast<DotOp>(op))
      asked.completion = getCompletion(dot);
    for (Type type : op->getResultTypes())
      asked.registerBytes += countBytes(type);
  }
  for (auto [number, op] : llvm::enumerate(source)) {
    DenseSet<std::pair<Operation *, int64_t>> seen;
    for (const Need &need : findNeeds(trip, op)) {
      if (!seen.insert({need.maker, need.distance}).second)
        continue;
      auto dot = dyn_cast<DotOp>(op);
      bool isSum = dot && dot.getAccumulator() == need.operand;
      bool isChained = isSum && isa<DotOp>(need.maker) &&
                       cast<DotOp>(need.maker).getAtomAttr() == dot.getAtomAttr();
      problem.dependences.push_back(
          {numbers.lookup(need.maker), unsigned(number), need.distance,
           isChained ? schedule::Dependence::Chain : schedule::Dependence::Value,
           /*latency=*/std::nullopt, /*isInPlace=*/isSum});
    }
  }
  return problem;
}
