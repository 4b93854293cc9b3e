// Rows that begin amid a sector of the second-level cache cost it more than their bytes, since each
// box of them ends amid one, too (docs/rationale/clusters.md).
#include "Work.h"
#include "../Differences.h"
#include "../OpCosts.h"
#include "../RoleDecider.h"
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Programs of a cluster wait for one another: what they share must gain an eighth.
static constexpr double kLeastGain = 8;
/// What second-level caches read at once, and up to which power of two extents are known.
static constexpr int64_t kSectorBytes = 32, kMostKnown = 16;
/// Bytes that reach a core from the second-level cache in a cycle, as the white papers of chips
/// since the A100 have it.
static constexpr int64_t kCoreBytes = 64;

/// Whether rows of what is loaded begin amid a sector, as far as their extent tells: rows lie one
/// behind another mostly.
static bool isSplit(KernelOp kernel, LoadOp load) {
  std::optional<ArgumentView> view = findArgumentView(load.getView());
  auto type = view ? dyn_cast<ViewType>(view->argument.getType()) : ViewType();
  FactsAttr facts = view ? kernel.getFacts(view->argument.getArgNumber()) : FactsAttr();
  if (!type || !facts)
    return false;
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  for (auto [dim, stride] : llvm::enumerate(type.getStrides())) {
    int64_t known = dim < facts.getExtents().size() ? facts.getExtents()[dim] : 0;
    if (stride == 1 && known < kMostKnown && known * bits / 8 % kSectorBytes)
      return true;
  }
  return false;
}

/// What a loop's lanes compute, but for the loops in it: not what an engine loads or what runs on
/// beside them.
static double countLaneCycles(Block &block, const Chip &chip, const RoleDecider &decider) {
  double cycles = 0;
  for (Operation &op : block.without_terminator()) {
    auto load = dyn_cast<LoadOp>(op);
    auto dot = dyn_cast<DotOp>(op);
    bool isBeside =
        (load && decider.isByEngine(load)) || (dot && decider.getProducts().contains(dot));
    if (isa<scf::ForOp, scf::WhileOp>(op) || isBeside)
      continue;
    std::optional<OpCost> cost =
        op.getNumRegions() > 0 && !isa<ReduceOp>(op) ? std::nullopt : getCost(&op, chip);
    if (cost && cost->unit == Unit::Lanes)
      cycles += cost->cycles;
    if (isa<scf::IfOp>(op))
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          cycles += countLaneCycles(inner, chip, decider);
  }
  return cycles;
}

/// Of a thread, where all warps of a kernel share its sums out, and load a trip ahead through
/// registers.
static int64_t countSums(KernelOp kernel, const Chip &chip) {
  int64_t words = 0;
  kernel.getBody().walk([&](Operation *op) {
    auto dot = dyn_cast<DotOp>(op);
    if (dot && !dot.getAccumulator().getDefiningOp<DotOp>())
      words += dot.getM() * dot.getN();
    if (auto load = dyn_cast<LoadOp>(op); load && getLoopAround(op))
      words += countBytes(load.getType()) / 4;
  });
  return words / (countWarps(kernel, chip) * chip.warpSize);
}

std::optional<KernelWork> kiln::measureWork(KernelOp kernel, TargetInterface target,
                                            StringRef &lacks) {
  const Chip &chip = target.getChipRecord();
  const Figures &figures = chip.figures;
  const std::optional<Figure> &matrixClock =
      figures.matrixClock ? figures.matrixClock : figures.clock;
  const std::optional<Figure> &whole =
      figures.engineBandwidth ? figures.engineBandwidth : figures.l2Bandwidth;
  lacks = !figures.cores ? "cores" : !figures.clock ? "clock" : !whole ? "l2Bandwidth" : "";
  if (!lacks.empty())
    return std::nullopt;
  RoleDecider decider(kernel, target, /*ofPairs=*/false);
  KernelWork work;
  work.isBeside = decider.find();
  work.copies = decider.getCopies();
  auto at = [&](Operation *loop) -> TripWork & {
    auto *found = llvm::find_if(work.trips, [&](TripWork &trip) { return trip.loop == loop; });
    if (found != work.trips.end())
      return *found;
    TripWork &made = work.trips.emplace_back(TripWork{loop});
    made.lanes =
        countLaneCycles(loop->getRegions().back().front(), chip, decider) / figures.clock->value;
    return made;
  };
  kernel.getBody().walk([&](DotOp dot) {
    auto atom = dyn_cast_or_null<MmaAtomInterface>(decider.getProducts().lookup(dot));
    std::optional<OpCost> usual = getCost(dot, chip);
    std::optional<int64_t> cycles = work.isBeside
                                        ? atom.getIssueCycles(chip, dot.getType().getElementType(),
                                                              dot.getM() * dot.getN() * dot.getK())
                                    : usual ? std::optional(usual->cycles)
                                            : std::nullopt;
    if (!cycles)
      lacks = "rate of the product's matrix instruction";
    else if (Operation *loop = getLoopAround(dot))
      at(loop).products += double(*cycles) / matrixClock->value;
    for (int64_t extent : {dot.getM(), dot.getN(), dot.getK()})
      work.isPadded |= !llvm::isPowerOf2_64(extent);
  });
  if (!lacks.empty())
    return std::nullopt;
  work.registers = work.isBeside ? decider.countAtOnce() : countSums(kernel, chip);
  work.most = work.isBeside ? decider.countHad() : chip.registersPerThread;
  kernel.getBody().walk([&](LoadOp load) {
    Operation *loop = getLoopAround(load);
    if (!loop)
      return;
    bool isAmid = figures.splitBandwidth && isSplit(kernel, load);
    work.isSplit |= isAmid;
    const Figure &bandwidth = isAmid ? *figures.splitBandwidth : *whole;
    double time = 1e-3 * countBytes(load.getType()) * figures.cores->value / bandwidth.value;
    at(loop).alone += time;
    at(loop).arriving += double(countBytes(load.getType())) / (kCoreBytes * figures.clock->value);
    for (unsigned axis : {0, 1, 2})
      at(loop).shared[axis] += isSameAlong(kernel, load, axis) ? time / 2 : time;
  });
  return work;
}

std::optional<unsigned> kiln::chooseClusterAxis(KernelOp kernel, const KernelWork &work) {
  if (!work.isBeside || !work.isSplit || !kernel.hasGrid())
    return std::nullopt;
  double alone = 0, shared[3] = {0, 0, 0};
  for (const TripWork &trip : work.trips) {
    alone += std::max(trip.products, trip.alone);
    for (unsigned axis : {0, 1, 2})
      shared[axis] += std::max(trip.products, trip.shared[axis]);
  }
  unsigned rank = kernel.getGrid().front().getTerminator()->getNumOperands(), best = 0;
  for (unsigned axis = 1; axis < rank; ++axis)
    if (shared[axis] < shared[best])
      best = axis;
  return shared[best] <= alone - alone / kLeastGain ? std::optional(best) : std::nullopt;
}
