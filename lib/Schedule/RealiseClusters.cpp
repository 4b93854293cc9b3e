// Tiles that several programs of a cluster load alike are brought once: each program brings a part
// of the tile, and the engine writes it into the shared memory of all of them.
//
// So a slot is filled by as many programs as share its tiles, and each of them may fill it again
// only when all whom its copies reach have released it. Who reaches whom is mutual: a program gives
// its slots back to those whose slots it fills.
//
// Of what a pair of programs multiplies together the first one gives the slots of both back. The
// sums each of them fetches on its own, and the first may start new ones when both have.
#include "Boxes.h"
#include "SourceErrors.h"
#include "kiln/Dialect/Tile/IR/BareTypes.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/ABI.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_REALISECLUSTERS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// By how much another program's place in the cluster differs, round each axis.
using Step = std::array<int64_t, 3>;

/// Where a program is in its cluster, as values at the top of what a role runs.
class ClusterPlace {
public:
  ClusterPlace(Region &region, std::array<int64_t, 3> extents)
      : builder(OpBuilder::atBlockBegin(&region.front())), math{builder, region.getLoc()},
        extents(extents) {
    // Clusters begin at multiples of their extents.
    for (unsigned axis = 0; axis < 3; ++axis)
      places[axis] =
          extents[axis] == 1
              ? math.constant(0)
              : math.rem(ProgramIdOp::create(builder, math.loc, builder.getIndexType(), Axis(axis)),
                         math.constant(extents[axis]));
  }

  /// Which of those that differ along these axes alone this one is.
  Value getNumber(ArrayRef<unsigned> axes) { return number(axes, /*inCluster=*/false, {}); }
  /// The number in the cluster of the program that is so far on.
  Value getPeer(const Step &step) { return toWord(number({0, 1, 2}, /*inCluster=*/true, step)); }
  /// That of the program beside the one that is so far on, in its pair.
  Value getMate(const Step &step) {
    Value one = arith::ConstantIntOp::create(builder, math.loc, 1, 32);
    return arith::XOrIOp::create(builder, math.loc, getPeer(step), one);
  }
  /// Of those that differ along these axes alone, a bit each.
  Value getMask(ArrayRef<unsigned> axes) {
    int64_t bits = 1, size = 1;
    SmallVector<unsigned> others;
    for (unsigned axis = 0; axis < 3; ++axis) {
      int64_t row = bits;
      if (llvm::is_contained(axes, axis))
        for (int64_t i = 1; i < extents[axis]; ++i)
          bits |= row << i * size;
      else
        others.push_back(axis);
      size *= extents[axis];
    }
    Value all = arith::ConstantIntOp::create(builder, math.loc, bits, 32);
    Value first = toWord(number(others, /*inCluster=*/true, {}));
    return arith::ShLIOp::create(builder, math.loc, all, first);
  }

private:
  /// The place along these axes as one number, x first: of the cluster's programs, or of those that
  /// differ along these axes.
  Value number(ArrayRef<unsigned> axes, bool inCluster, const Step &step) {
    Value sum = math.constant(0);
    int64_t size = 1;
    for (unsigned axis = 0; axis < 3; ++axis) {
      bool counts = llvm::is_contained(axes, axis);
      if (counts && extents[axis] > 1) {
        Value at = places[axis];
        if (step[axis])
          at = math.rem(math.add(at, math.constant(step[axis])), math.constant(extents[axis]));
        sum = math.add(sum, math.mul(at, math.constant(size)));
      }
      if (counts || inCluster)
        size *= extents[axis];
    }
    return sum;
  }
  Value toWord(Value index) {
    return arith::IndexCastOp::create(builder, math.loc, builder.getI32Type(), index);
  }

  OpBuilder builder;
  IndexMath math;
  std::array<int64_t, 3> extents;
  std::array<Value, 3> places;
};

class ClusterRealiser {
public:
  ClusterRealiser(KernelOp kernel, WarpGroupsOp groups)
      : groups(groups), extents(getClusterExtents(kernel)) {}

  LogicalResult realise();

private:
  ClusterPlace &getPlace(Operation *op) {
    Region *region = op->getParentRegion();
    while (region->getParentOp() != groups)
      region = region->getParentOp()->getParentRegion();
    auto [at, isNew] = places.try_emplace(region);
    if (isNew)
      at->second = std::make_unique<ClusterPlace>(*region, extents);
    return *at->second;
  }
  /// All steps along some axes, the first of which is none.
  SmallVector<Step> getSteps(ArrayRef<unsigned> axes) const {
    SmallVector<Step> steps = {{0, 0, 0}};
    for (unsigned axis : axes)
      for (size_t i = 0, count = steps.size(); i < count; ++i)
        for (int64_t by = 1; by < extents[axis]; ++by) {
          steps.push_back(steps[i]);
          steps.back()[axis] = by;
        }
    return steps;
  }
  LogicalResult share(CopyInOp copy, SmallVectorImpl<Step> &reached);
  bool isOfPair(unsigned capture);
  void pairUp(ChannelOp channel, unsigned capture);

  WarpGroupsOp groups;
  std::array<int64_t, 3> extents;
  /// Whether pairs of programs multiply.
  bool hasPairs = false;
  DenseMap<Region *, std::unique_ptr<ClusterPlace>> places;
};
} // namespace

/// Makes a copy one of a part that goes to all who need it, and notes who these are.
LogicalResult ClusterRealiser::share(CopyInOp copy, SmallVectorImpl<Step> &reached) {
  SmallVector<unsigned> axes = getAxes(*copy.getMulticast());
  SmallVector<Step> steps = getSteps(axes);
  if (steps.size() == 1)
    return emitSourceError(copy, "expected a cluster of several programs along ")
           << *copy.getMulticast() << ", since 'multicast' is decided";
  BufferType whole = copy.getBuffer().getType();
  std::optional<SharedStrips> strips = findSharedStrips(whole, copy.getAtom(), steps.size());
  if (!strips)
    return emitSourceError(copy, "expected a buffer whose rows ")
           << steps.size() << " programs of a cluster bring in parts by " << copy.getAtom()
           << ", since 'multicast' is decided, got " << getBareType(whole);
  copy.removeMulticastAttr();
  ClusterPlace &place = getPlace(copy);
  Value number = place.getNumber(axes), mask = place.getMask(axes);
  for (CopyInOp piece : takeParts(copy, *strips, number))
    piece.getMaskMutable().assign(mask);
  for (const Step &step : steps)
    if (!llvm::is_contained(reached, step))
      reached.push_back(step);
  return success();
}

static bool isOfPair(StartDotOp dot) {
  return cast<MmaAtomInterface>(dot.getAtom()).getPrograms() > 1;
}

static bool isReadByPair(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    if (auto part = dyn_cast<PartOp>(user))
      return isReadByPair(part.getResult());
    auto dot = dyn_cast<StartDotOp>(user);
    return dot && ::isOfPair(dot);
  });
}

/// Whether two programs use a channel together: it has what they multiply, or their sums, as all
/// sums in tensor memory then are.
bool ClusterRealiser::isOfPair(unsigned capture) {
  auto type = cast<ChannelType>(groups.getCaptures()[capture].getType());
  if (type.getAccumulator())
    return hasPairs;
  return llvm::any_of(groups.getBodies(), [&](Region &region) {
    return llvm::any_of(region.getArgument(capture).getUsers(), [&](Operation *user) {
      auto get = dyn_cast<GetOp>(user);
      // A slot of nothing stands in front of dots that read what warps have written.
      bool standsInFront = get && get.getToStart() && get.getBuffers().empty() && hasPairs;
      return standsInFront || (get && llvm::any_of(get.getBuffers(), isReadByPair));
    });
  });
}

/// The types say that it is a pair's.
void ClusterRealiser::pairUp(ChannelOp channel, unsigned capture) {
  ChannelType type = channel.getType().getOfPair();
  channel.getResult().setType(type);
  for (Region &region : groups.getBodies())
    region.getArgument(capture).setType(type);
}

LogicalResult ClusterRealiser::realise() {
  bool isShared = false;
  groups.walk([&](StartDotOp dot) { hasPairs |= ::isOfPair(dot); });
  for (auto [i, capture] : llvm::enumerate(groups.getCaptures())) {
    auto channel = capture.getDefiningOp<ChannelOp>();
    SmallVector<CopyInOp> copies;
    SmallVector<ReleaseOp> releases;
    for (Region &region : groups.getBodies())
      for (Operation *user : region.getArgument(i).getUsers()) {
        if (auto release = dyn_cast<ReleaseOp>(user))
          releases.push_back(release);
        else if (auto put = dyn_cast<PutOp>(user))
          for (auto copy : put.getBody().front().getOps<CopyInOp>())
            if (copy.getMulticast())
              copies.push_back(copy);
      }
    SmallVector<Step> reached;
    for (CopyInOp copy : copies)
      if (failed(share(copy, reached)))
        return failure();
    bool ofPair = channel && isOfPair(i);
    if (reached.empty() && !ofPair)
      continue;
    isShared = true;
    if (reached.empty())
      reached.push_back({0, 0, 0});
    int64_t telling = reached.size();
    if (ofPair) {
      pairUp(channel, i);
      // Of the sums both programs tell both; of what is multiplied, as what was written over a sum,
      // one tells for both. What warps have written, those of both tell the first.
      bool isSum = channel.getType().getAccumulator() && channel.getFull();
      if (isSum && llvm::none_of(releases, [](ReleaseOp it) { return it.getCommit(); }))
        telling *= 2;
      if (isSum || channel.getType().getBuffers().empty())
        channel.setFull(channel.getFull() * 2);
    }
    channel.setEmpty(channel.getEmpty() * telling);
    for (ReleaseOp release : releases) {
      SmallVector<Value> peers;
      for (const Step &step : reached) {
        peers.push_back(getPlace(release).getPeer(step));
        if (ofPair)
          peers.push_back(getPlace(release).getMate(step));
      }
      release.getPeersMutable().assign(peers);
    }
  }
  if (!isShared)
    return success();
  setMetadata(groups->getParentOfType<KernelOp>(), "own_cluster",
              BoolAttr::get(groups.getContext(), true));
  OpBuilder builder(groups);
  ClusterBarrierOp::create(builder, groups.getLoc());
  builder.setInsertionPointAfter(groups);
  ClusterBarrierOp::create(builder, groups.getLoc());
  return success();
}

namespace {
struct RealiseClusters : kiln::impl::RealiseClustersBase<RealiseClusters> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](WarpGroupsOp groups) -> WalkResult {
      auto kernel = cast<KernelOp>(groups->getParentOp());
      return WalkResult(ClusterRealiser(kernel, groups).realise());
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
