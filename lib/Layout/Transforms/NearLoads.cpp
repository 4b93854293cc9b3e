// NearLoads.h: compares ways to load a tile and to convert it.
#include "NearLoads.h"
#include "NearLayouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// An access is issued as a shuffle is, by the same unit.
static int64_t countIssue(const AccessCost &cost) { return cost.instructions * kShuffleCycles; }

static AccessCost countAccesses(const Layouts &layouts) {
  AccessCost sum;
  for (auto &[def, layout] : layouts)
    if (auto load = dyn_cast<LoadOp>(def)) {
      AccessCost cost = countAccess(load, layout);
      sum.sectors += cost.sectors;
      sum.instructions += cost.instructions;
    }
  return sum;
}

/// Whether a product multiplies what is made of a value.
static bool feedsProduct(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      if (isa<DotOp, DotScaledOp>(user))
        return true;
      if (isArithmetic(user) ||
          isa<BroadcastOp, ReshapeOp, TransposeOp, JoinOp, SplitOp, ConvertLayoutOp>(user))
        values.insert_range(user->getResults());
    }
  return false;
}

namespace {
/// The best that has been found.
struct Best {
  int64_t cycles;
  std::optional<NearLoads> loads;

  void offer(int64_t others, NearLoads &&made) {
    if (others >= cycles)
      return;
    cycles = others;
    loads = std::move(made);
  }
};
} // namespace

/// Each load as it is best alone, and converted to what it has where `there` is wanted.
static void offerEach(const Layouts &there, TargetInterface target, Best &best) {
  NearLoads made = {there, {}};
  int64_t cycles = 0;
  for (auto &[def, layout] : there) {
    auto load = dyn_cast<LoadOp>(def);
    if (!load)
      continue;
    auto fewest = std::numeric_limits<int64_t>::max();
    LinearLayout chosen, present = getLayout(load.getResult());
    int64_t sectors = countAccess(load, present).sectors;
    for (const LinearLayout &near : findNearLayouts(layout, layout, load)) {
      AccessCost cost = countAccess(load, near);
      int64_t its = countIssue(cost) +
                    decideConversion(near, layout, load.getType(), isInRole(load), target).cycles;
      if (its >= fewest || cost.sectors > sectors)
        continue;
      fewest = its;
      chosen = near;
    }
    if (fewest == std::numeric_limits<int64_t>::max())
      return;
    cycles += fewest;
    if (chosen != layout)
      made.converted.insert({def, chosen});
  }
  best.offer(cycles, std::move(made));
}

std::optional<NearLoads> kiln::findNearLoads(ConvertLayoutOp op, const LinearLayout &wanted,
                                             TargetInterface target, bool isNeeded) {
  LinearLayout present = getLayout(op.getInput());
  std::optional<Layouts> here = layOut(op.getInput(), present);
  std::optional<Layouts> there = layOut(op.getInput(), wanted);
  if (!here || !there || feedsProduct(op))
    return std::nullopt;
  auto convert = [&](const LinearLayout &from) {
    return decideConversion(from, wanted, op.getType(), isInRole(op), target).cycles;
  };
  AccessCost before = countAccesses(*here);
  Best best{isNeeded ? std::numeric_limits<int64_t>::max() : countIssue(before) + convert(present),
            {}};
  for (auto &[def, layout] : *there)
    if (auto load = dyn_cast<LoadOp>(def))
      for (const LinearLayout &near : findNearLayouts(wanted, layout, load))
        if (std::optional<Layouts> layouts = layOut(op.getInput(), near))
          if (AccessCost cost = countAccesses(*layouts); cost.sectors <= before.sectors)
            best.offer(countIssue(cost) + convert(near), {*layouts, {}});
  offerEach(*there, target, best);
  return best.loads;
}
