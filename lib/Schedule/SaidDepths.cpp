// How deep rings are by what a source says of them, and which depths that leaves open.
#include "Rings.h"
#include "Trip.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

bool kiln::isLoadedByUsers(LoadOp load) {
  return llvm::all_of(load->getUses(), [&](OpOperand &use) {
    return llvm::all_of(findTileReaders(use), [&](Operation *reader) {
      return getRoleName(reader) == getRoleName(load);
    });
  });
}

SmallVector<DotOp> kiln::findOwnDots(ArrayRef<LoadOp> loads) {
  llvm::SmallSetVector<DotOp, 2> dots;
  for (LoadOp load : loads)
    for (OpOperand &use : load.getResult().getUses())
      if (isReadFromBuffer(use))
        dots.insert(cast<DotOp>(use.getOwner()));
  return dots.takeVector();
}

bool kiln::isDepthSaid(LoadOp load) {
  if (load.getDepth() || getLoopDepth(load->getBlock()))
    return true;
  WalkResult found = load->getParentOfType<KernelOp>().getBody().walk([&](LoadOp other) {
    bool isOfRing = load.getRing()
                        ? load.getRing() == other.getRing()
                        : !other.getRing() && other->getBlock() == load->getBlock() &&
                              getRoleName(other) == getRoleName(load) && other.getBuffer();
    bool isSaid = isOfRing && (other.getDepth() || getLoopDepth(other->getBlock()));
    return isSaid ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found.wasInterrupted();
}

bool kiln::hasRoom(DotOp dot) {
  return llvm::all_of(dot->getOpOperands().take_front(2), [&](OpOperand &operand) {
    LoadOp load = isReadFromBuffer(operand) ? operand.get().getDefiningOp<LoadOp>() : LoadOp();
    std::optional<int64_t> depth;
    if (load)
      depth = load.getDepth() ? std::optional<int64_t>(*load.getDepth())
                              : getLoopDepth(load->getBlock());
    if (!depth)
      return true;
    int64_t ahead = 0;
    if (isLoadedByUsers(load))
      ahead = std::max<int64_t>(dot.getStage().value_or(0) - load.getStage().value_or(0),
                                isThroughRegisters(load));
    return *depth >= ahead + 2;
  });
}

/// For how many trips what a use brings has its slot before the trip that gives it back.
static int64_t countTripsHeld(RingUse &use) {
  int64_t trips = isThroughRegisters(use.loads.front());
  for (LoadOp load : use.loads)
    if (std::optional<int64_t> read = findFirstStage(load))
      trips = std::max<int64_t>(trips, *read - load.getStage().value_or(0));
  int64_t held = 0;
  for (DotOp dot : findOwnDots(use.loads))
    held = std::max<int64_t>(held, dot.getInFlight().value_or(0));
  return trips + held;
}

/// The least slots of a ring in which a block's uses of it, trip by trip, have each given a slot
/// back before it is filled again: in the same trip, if the trip has the order of the source.
static int64_t countSlots(Ring &ring, Block *block) {
  SmallVector<int64_t> trips;
  for (RingUse &use : ring.uses)
    if (use.getBlock() == block)
      trips.push_back(countTripsHeld(use));
  bool isOrdered =
      llvm::any_of(*block, [](Operation &op) { return bool(getDecision(&op, "order")); });
  auto suffice = [&](int64_t depth) {
    for (size_t place = 0; place < trips.size(); ++place) {
      auto [before, distance] = findUseBefore(place, trips.size(), depth);
      bool isBehind = before < place && !isOrdered;
      if (trips[before] > distance || (trips[before] == distance && !isBehind))
        return false;
    }
    return true;
  };
  int64_t depth = 1;
  while (!suffice(depth))
    ++depth;
  return depth;
}

LogicalResult kiln::giveSaidSlots(KernelOp kernel, ArrayRef<LoadOp> loads) {
  if (loads.empty())
    return success();
  FailureOr<RingPlan> plan = planRings(kernel);
  if (failed(plan))
    return failure();
  // Rings of one block are as deep as one another.
  llvm::MapVector<std::pair<Block *, unsigned>, int64_t> slots;
  auto getKey = [](LoadOp load) {
    return std::pair(load->getBlock(), unsigned(isThroughRegisters(load)));
  };
  auto isGiven = [&](LoadOp load) { return llvm::is_contained(loads, load); };
  auto forEach = [&](function_ref<void(Ring &, LoadOp)> give) {
    for (Ring &ring : *plan)
      for (RingUse &use : ring.uses)
        for (LoadOp load : llvm::make_filter_range(use.loads, isGiven))
          give(ring, load);
  };
  forEach([&](Ring &ring, LoadOp load) {
    int64_t &most = slots[getKey(load)];
    most = std::max(most, countSlots(ring, load->getBlock()));
  });
  DenseMap<Ring *, int64_t> depths;
  forEach([&](Ring &ring, LoadOp load) {
    depths[&ring] = std::max(depths.lookup(&ring), slots.lookup(getKey(load)));
  });
  forEach([&](Ring &ring, LoadOp load) { load.setDepth(depths.lookup(&ring)); });
  return success();
}
