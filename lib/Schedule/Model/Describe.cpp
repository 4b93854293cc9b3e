// The closed form of a kernel's time. What it is made of, and how far it is from what was measured,
// docs/rationale/model.md says.
//
// Tiles are run in rounds by as many programs as there are cores; clusters round their number up.
// In a program loops take their trips' work, and what is stored behind them goes at memory's rate.
// No kernel is faster than memory brings what it reads and takes what it writes.
#include "../OpCosts.h"
#include "Numbers.h"
#include "Work.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Schedule/Model.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;
namespace json = llvm::json;

/// What was measured on an H200 beside what its record says: what products reach of their units'
/// rate in long loops, and microseconds from the launch to the first product and from tile to tile.
static constexpr double kReached = 0.9, kStart = 5, kTurn = 1;
/// How much longer a trip takes of programs that wait for one another.
static constexpr double kInCluster = 1.05;
/// What a trip takes of one of products and lanes beside the other, of which all but this much of
/// each copy's share hides behind the other copies: of attention on an H200, of heads of 64 and 128
/// by two copies it was 0.29 to 0.39, by three 0.09.
static constexpr double kHiddenBesides = 0.15, kLeastShown = 1.0 / 16;
/// What a thread needs beside sums and operands: addresses, counters, what is on its way.
static constexpr int64_t kFurtherRegisters = 24;

namespace {
struct Describer {
  KernelOp kernel;
  const Chip &chip;
  json::Object none;
  Numbers numbers;

  bool leave(Location loc, const Twine &text) {
    none["why"] = text.str();
    if (auto place = loc->findInstanceOf<FileLineColLoc>())
      none["line"] = int64_t(place.getLine());
    return false;
  }
  bool addGrid(json::Object &model);
  bool addLoops(const KernelWork &work, std::optional<unsigned> shared, json::Object &model);
  void addMemory(json::Object &model);
};
} // namespace

/// What runs beside one another in copies that take their turns with it as it comes.
static double runBeside(double one, double other, int64_t copies) {
  double shown = std::max(1.0 / copies - kHiddenBesides, kLeastShown);
  return std::max(one, other) + shown * std::min(one, other);
}

bool Describer::addGrid(json::Object &model) {
  if (!kernel.hasGrid())
    return leave(kernel.getLoc(), "the kernel has no grid of its own");
  json::Array programs;
  for (Value extent : kernel.getGrid().front().getTerminator()->getOperands()) {
    std::optional<int64_t> place = numbers.add(extent);
    if (!place)
      return leave(numbers.unknown->getLoc(), "no size tells how many programs there are");
    programs.push_back(*place);
  }
  model["programs"] = std::move(programs);
  return true;
}

bool Describer::addLoops(const KernelWork &work, std::optional<unsigned> shared,
                         json::Object &model) {
  json::Array loops;
  for (const TripWork &trip : work.trips) {
    SmallVector<int64_t> trips;
    for (Operation *op = trip.loop; op != kernel; op = op->getParentOp()) {
      auto loop = dyn_cast<scf::ForOp>(op);
      std::optional<int64_t> place = loop ? numbers.addTrips(loop) : std::nullopt;
      if (isa<scf::WhileOp>(op) || (loop && !place))
        return leave(op->getLoc(), "no size tells how many trips the loop has");
      if (place)
        trips.push_back(*place);
    }
    double slower = shared ? kInCluster : 1.0, products = slower * trip.products / kReached;
    loops.push_back(
        json::Object{{"trips", numbers.addProduct(trips)},
                     {"us", work.isBeside ? runBeside(products, trip.lanes, work.copies)
                                          : products + trip.lanes},
                     {"cache_us", slower * (shared ? trip.shared[*shared] : trip.alone)},
                     {"arriving_us", trip.arriving},
                     {"beside", work.isBeside}});
  }
  model["loops"] = std::move(loops);
  return true;
}

/// What each argument holds that the kernel reads or writes, and what a program stores.
void Describer::addMemory(json::Object &model) {
  const Figures &figures = chip.figures;
  const std::optional<Figure> &bandwidth =
      figures.measuredBandwidth ? figures.measuredBandwidth : figures.memoryBandwidth;
  if (!bandwidth)
    return;
  llvm::SmallSetVector<BlockArgument, 4> views;
  int64_t stored = 0;
  kernel.getBody().walk([&](Operation *op) {
    if (auto store = dyn_cast<StoreOp>(op))
      stored += countBytes(store.getValue().getType());
    if (isa<LoadOp, StoreOp, GatherOp, ScatterOp>(op))
      for (Value operand : op->getOperands())
        if (auto argument = dyn_cast<BlockArgument>(operand);
            argument && isa<ViewType>(operand.getType()) &&
            isa<KernelOp>(argument.getOwner()->getParentOp()))
          views.insert(argument);
  });
  json::Array bytes;
  for (BlockArgument view : views) {
    auto type = cast<ViewType>(view.getType());
    SmallVector<int64_t> factors = {numbers.addConstant(
        std::max<int64_t>(type.getElementType().getIntOrFloatBitWidth(), 8) / 8)};
    for (int64_t dim : llvm::seq(type.getRank()))
      factors.push_back(numbers.addExtent(view, dim));
    bytes.push_back(numbers.addProduct(factors));
  }
  model["bytes"] = std::move(bytes);
  model["bytes_per_us"] = 1e3 * bandwidth->value;
  model["end_us"] = 1e-3 * stored * chip.figures.cores->value / bandwidth->value;
}

static std::optional<json::Object> makeModel(Describer &describer, TargetInterface target) {
  KernelOp kernel = describer.kernel;
  const Chip &chip = describer.chip;
  StringRef lacks;
  std::optional<KernelWork> work = measureWork(kernel, target, lacks);
  if (!work) {
    describer.leave(kernel.getLoc(),
                    "the record of " + target.getSpelling() + " has no '" + lacks + "'");
    describer.none["of_chip"] = true;
    return std::nullopt;
  }
  if (work->isPadded && !work->isBeside) {
    describer.leave(kernel.getLoc(),
                    "no engine loads, so that tiles of no power of two are padded");
    return std::nullopt;
  }
  if (work->most && work->registers > work->most - kFurtherRegisters) {
    describer.leave(kernel.getLoc(), "sums and operands take " + Twine(work->registers) +
                                         " registers of a thread, which has " + Twine(work->most));
    return std::nullopt;
  }
  std::optional<unsigned> shared;
  if (chip.figures.clusterBlocks)
    shared = chooseClusterAxis(kernel, *work);
  json::Object model{
      {"cores", chip.figures.cores->value}, {"start_us", kStart}, {"turn_us", kTurn}};
  json::Array cluster{1, 1, 1};
  if (shared)
    cluster[*shared] = 2;
  model["cluster"] = std::move(cluster);
  if (!describer.addGrid(model) || !describer.addLoops(*work, shared, model))
    return std::nullopt;
  describer.addMemory(model);
  model["numbers"] = describer.numbers.take();
  return model;
}

json::Object kiln::describeModel(KernelOp kernel, TargetInterface target) {
  Describer describer{kernel, target.getChipRecord(), {}, {}};
  if (std::optional<json::Object> model = makeModel(describer, target))
    return json::Object{{"model", std::move(*model)}};
  return json::Object{{"no_model", std::move(describer.none)}};
}
