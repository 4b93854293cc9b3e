// Makes a grid of many short programs one of a few that run tiles in turn.
#include "Decisions.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEPERSISTENCE
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- Rasters ------------------------------------------------------------------------------===//

/// Where tile `t` lies: groups of `group` tiles along the first axis, each run through along the
/// second.
static std::pair<Value, Value> group(IndexMath math, Value t, Value extent, Value other,
                                     int64_t group) {
  Value size = math.constant(group);
  Value inGroup = math.mul(other, size);
  Value first = math.mul(math.div(t, inGroup), size);
  Value width = math.min(math.sub(extent, first), size);
  Value rest = math.rem(t, inGroup);
  return {math.add(first, math.rem(rest, width)), math.div(rest, width)};
}

/// The axis whose places are run through one after another, and whether from the last on.
struct SlowAxis {
  std::optional<unsigned> axis;
  bool descends = false;
};
static SlowAxis getSlowAxis(Raster raster, size_t rank) {
  if (raster >= Raster::LongestX)
    return {unsigned(raster) - unsigned(Raster::LongestX), true};
  return rank == 3 ? SlowAxis{2u, false} : SlowAxis{};
}

/// The axes of a grid but the slow one.
static SmallVector<unsigned> getFastAxes(SlowAxis slow, size_t rank) {
  return llvm::filter_to_vector(llvm::seq<unsigned>(0, rank),
                                [&](unsigned axis) { return axis != slow.axis; });
}

/// The place of tile `t` along x, y and z.
static void locate(IndexMath math, Value t, ArrayRef<Value> extents, size_t rank, SlowAxis slow,
                   int64_t size, MutableArrayRef<Value> place) {
  SmallVector<unsigned> fast = getFastAxes(slow, rank);
  if (slow.axis) {
    Value at = t;
    if (!fast.empty()) {
      Value plane = extents[fast[0]];
      for (unsigned axis : ArrayRef(fast).drop_front())
        plane = math.mul(plane, extents[axis]);
      at = math.div(t, plane);
      t = math.rem(t, plane);
    }
    if (slow.descends)
      at = math.sub(math.sub(extents[*slow.axis], math.constant(1)), at);
    place[*slow.axis] = at;
  }
  if (fast.size() == 2)
    std::tie(place[fast[0]], place[fast[1]]) =
        group(math, t, extents[fast[0]], extents[fast[1]], size);
  else if (fast.size() == 1)
    place[fast[0]] = t;
  for (Value &at : place)
    if (!at)
      at = math.constant(0);
}

namespace {
/// Numbers tiles so that those which the programs of one chiplet run follow one another. Chiplets
/// take programs in turn: program `p` is on chiplet `p mod chiplets`. It runs the tiles `p`,
/// `p + programs`, …; these are numbered behind all tiles of the chiplets in front of its own, in
/// the order in which its chiplet comes to them. So each number is given once, whatever divides
/// what.
class ChipletNumbers {
public:
  ChipletNumbers(IndexMath math, int64_t chiplets, Value tiles, Value program, Value programs)
      : programs(programs) {
    Value count = math.constant(chiplets);
    Value chiplet = math.rem(program, count);
    Value rounds = math.div(tiles, programs), rest = math.rem(tiles, programs);
    auto countBefore = [&](Value n) { // of n programs, those on chiplets in front of this one
      return math.add(math.mul(chiplet, math.div(n, count)), math.min(chiplet, math.rem(n, count)));
    };
    first = math.add(math.mul(rounds, countBefore(programs)), countBefore(rest));
    first = math.add(first, math.div(program, count));
    step = math.div(math.sub(math.add(programs, math.constant(chiplets - 1)), chiplet), count);
  }
  Value number(IndexMath math, Value t) {
    return math.add(first, math.mul(math.div(t, programs), step));
  }

private:
  Value programs;
  /// The number of the program's first tile, and how many programs its chiplet has.
  Value first, step;
};
} // namespace

/// The dies of the chip that the module is for, each with a cache of its own.
static int64_t countChiplets(Operation *op) {
  TargetInterface target = getTarget(op);
  const std::optional<Figure> figure =
      target ? target.getChipRecord().figures.chiplets : std::optional<Figure>();
  return figure ? figure->value : 1;
}

/// An order that the grid's axes can have.
static LogicalResult checkRaster(GridOp grid, Raster raster, PersistentAttr persistent) {
  size_t rank = grid.getExtents().size();
  SlowAxis slow = getSlowAxis(raster, rank);
  if (slow.axis && *slow.axis >= rank)
    return grid.emitOpError("expected at least ")
           << *slow.axis + 1 << " extents, since '" << kRasterAttrName << "' is \""
           << spellRaster(raster) << "\", got " << rank;
  if (persistent.getGroup() > 1 && getFastAxes(slow, rank).size() < 2)
    return grid.emitOpError("expected at least ")
           << (slow.descends ? 3 : 2) << " extents, since '" << kPersistentAttrName
           << "' groups tiles, got " << rank;
  return success();
}

//===- The pass -----------------------------------------------------------------------------===//

/// The tiles of a grid of so many extents, one or more.
static Value countTiles(IndexMath math, ArrayRef<Value> extents) {
  Value tiles = extents.front();
  for (Value extent : extents.drop_front())
    tiles = math.mul(tiles, extent);
  return tiles;
}

/// The clusters of the kernel's programs; a host runs none.
static std::array<int64_t, 3> getClusters(KernelOp kernel) {
  TargetInterface target = getTarget(kernel);
  return target && target.runsOnHost() ? std::array<int64_t, 3>{1, 1, 1}
                                       : getClusterExtents(kernel);
}

/// Programs of one cluster run the tiles of one, which are of one group.
static LogicalResult checkCluster(KernelOp kernel, ArrayRef<int64_t> cluster, int64_t grouped,
                                  PersistentAttr persistent) {
  int64_t programs = cluster[0] * cluster[1] * cluster[2];
  if (persistent.getPrograms() % programs)
    return kernel.emitOpError("expected '")
           << kPersistentAttrName << "' of whole clusters of " << programs << " programs, got "
           << persistent.getPrograms();
  if (persistent.getGroup() == 1 || persistent.getGroup() % grouped == 0)
    return success();
  return kernel.emitOpError("expected '")
         << kPersistentAttrName << "' to group whole clusters, of " << grouped
         << " tiles along an axis, got groups of " << persistent.getGroup();
}

static LogicalResult realise(KernelOp kernel, PersistentAttr persistent) {
  if (!kernel.hasGrid())
    return kernel.emitOpError("expected a grid region, since '")
           << kPersistentAttrName << "' is decided";
  auto grid = cast<GridOp>(kernel.getGrid().front().getTerminator());
  size_t rank = grid.getExtents().size();
  Raster raster = getRaster(kernel);
  std::array<int64_t, 3> cluster = getClusters(kernel);
  SlowAxis slow = getSlowAxis(raster, rank);
  SmallVector<unsigned> fast = getFastAxes(slow, rank);
  int64_t grouped = fast.empty() ? 1 : cluster[fast.front()];
  if (failed(checkRaster(grid, raster, persistent)) ||
      failed(checkCluster(kernel, cluster, grouped, persistent)))
    return failure();
  bool hasClusters = cluster[0] * cluster[1] * cluster[2] > 1;

  Location loc = kernel.getLoc();
  Block &body = kernel.getBody().front();
  SmallVector<Operation *> program;
  for (Operation &op : body.without_terminator())
    program.push_back(&op);

  // The grid's extents, computed again by each program.
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  IndexMath math{builder, loc};
  IRMapping mapping;
  mapping.map(kernel.getGrid().getArguments(), body.getArguments());
  for (Operation &op : kernel.getGrid().front().without_terminator())
    builder.clone(op, mapping);
  Value extents[3];
  for (size_t axis = 0; axis < 3; ++axis)
    extents[axis] = axis < rank ? mapping.lookup(grid.getExtents()[axis]) : math.constant(1);
  // Where there are clusters, those of programs, which lie behind one another along x, take those
  // of tiles in turn; each program has the tile at its own place.
  Value clusters[3];
  for (size_t axis = 0; axis < 3; ++axis)
    clusters[axis] =
        cluster[axis] == 1 ? extents[axis] : math.div(extents[axis], math.constant(cluster[axis]));
  Value tiles = countTiles(math, ArrayRef(clusters).take_front(rank));
  Value first = ProgramIdOp::create(builder, loc, builder.getIndexType(), Axis::X);
  Value step = NumProgramsOp::create(builder, loc, builder.getIndexType(), Axis::X);
  Value own[3];
  for (size_t axis = 0; axis < 3 && hasClusters; ++axis)
    if (cluster[axis] > 1)
      own[axis] = math.rem(
          axis == 0 ? first : ProgramIdOp::create(builder, loc, builder.getIndexType(), Axis(axis)),
          math.constant(cluster[axis]));
  if (cluster[0] > 1) {
    first = math.div(first, math.constant(cluster[0]));
    step = math.div(step, math.constant(cluster[0]));
  }
  std::optional<ChipletNumbers> numbers;
  if (int64_t chiplets = countChiplets(kernel); raster == Raster::Chiplets && chiplets > 1)
    numbers.emplace(math, chiplets, tiles, first, step);
  auto loop = scf::ForOp::create(builder, loc, first, tiles, step);
  loop->setAttr(kProgramsAttrName, builder.getUnitAttr());

  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  IndexMath innerMath{inner, loc};
  Value tile = loop.getInductionVar(), place[3];
  locate(innerMath, numbers ? numbers->number(innerMath, tile) : tile, clusters, rank, slow,
         llvm::divideCeil(persistent.getGroup(), grouped), place);
  for (size_t axis = 0; axis < 3; ++axis)
    if (own[axis])
      place[axis] =
          innerMath.add(innerMath.mul(place[axis], innerMath.constant(cluster[axis])), own[axis]);
  for (Operation *op : program)
    op->moveBefore(loop.getBody()->getTerminator());
  SmallVector<Operation *> queries;
  loop.walk([&](Operation *op) {
    if (isa<ProgramIdOp, NumProgramsOp>(op))
      queries.push_back(op);
    // The program that a message is of is the tile's.
    TypeSwitch<Operation *>(op).Case<PrintOp, AssertOp>([&](auto message) {
      if (message.getProgram().empty())
        message.getProgramMutable().assign(place);
    });
  });
  for (Operation *query : queries) {
    auto id = dyn_cast<ProgramIdOp>(query);
    unsigned axis = unsigned(id ? id.getAxis() : cast<NumProgramsOp>(query).getAxis());
    query->replaceAllUsesWith(ValueRange{id ? place[axis] : extents[axis]});
    query->erase();
  }

  // All tiles; a launch has no more programs than are wanted. It looks itself whether the tiles are
  // whole clusters, and how many.
  OpBuilder host(grid);
  if (hasClusters)
    setMetadata(kernel, "own_cluster", builder.getBoolAttr(true));
  else
    grid->setOperands(
        countTiles(IndexMath{host, grid.getLoc()}, SmallVector<Value>(grid.getExtents())));
  auto perCore = kernel->getAttrOfType<IntegerAttr>(kPerCoreAttrName);
  if (persistent.getPrograms() > 0)
    setMetadata(kernel, "programs", builder.getI64IntegerAttr(persistent.getPrograms()));
  else
    setMetadata(kernel, "persistent_per_core", perCore ? perCore : builder.getI64IntegerAttr(1));
  for (StringRef name : {kPersistentAttrName, kRasterAttrName, kPerCoreAttrName})
    kernel->removeAttr(name);
  return success();
}

namespace {
struct RealisePersistence : kiln::impl::RealisePersistenceBase<RealisePersistence> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (auto persistent = kernel->getAttrOfType<PersistentAttr>(kPersistentAttrName))
        if (failed(realise(kernel, persistent)))
          return signalPassFailure();
  }
};
} // namespace
