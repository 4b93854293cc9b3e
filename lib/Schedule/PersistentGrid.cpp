// PersistentGrid.h: the order of tiles, and the parts of a program that runs many of them.
#include "PersistentGrid.h"
#include "kiln/Dialect/Tile/IR/PinnedPlaces.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

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

/// Where a tile comes in a section of so many: every other round of all programs runs back, so that
/// whoever had the longest tile of one has the shortest of the next. The last one, if it is no
/// whole round, does not.
static Value turnRounds(IndexMath math, Value t, Value tiles, Value programs) {
  Value one = math.constant(1), two = math.constant(2);
  Value round = math.div(t, programs);
  Value end = math.mul(math.add(round, one), programs);
  Value ahead = math.sub(math.sub(programs, one), math.mul(math.rem(t, programs), two));
  Value turned = math.add(t, math.mul(math.rem(round, two), ahead));
  return math.select(math.isLess(tiles, end), t, turned);
}

/// The place of tile `t` along an axis, from the last one on, and its number among the other axes'
/// places, of which there are `others`: sections of so many tiles, or of all, have as many of those
/// places as make up so many, each of them the whole axis.
static std::pair<Value, Value> locateInSection(IndexMath math, Value t, Value extent, Value others,
                                               int64_t section, Value programs) {
  Value wide = others;
  if (section > 1)
    wide = math.min(math.max(math.div(math.constant(section), extent), math.constant(1)), others);
  Value tiles = math.mul(wide, extent);
  Value first = math.mul(math.div(t, tiles), wide);
  Value width = math.min(math.sub(others, first), wide);
  Value in = turnRounds(math, math.rem(t, tiles), math.mul(width, extent), programs);
  Value last = math.sub(extent, math.constant(1));
  return {math.sub(last, math.div(in, width)), math.add(first, math.rem(in, width))};
}

/// The place of tile `t` along x, y and z.
static void locate(IndexMath math, Value t, ArrayRef<Value> extents, size_t rank, SlowAxis slow,
                   int64_t size, Value programs, MutableArrayRef<Value> place) {
  SmallVector<unsigned> fast = getFastAxes(slow, rank);
  Value others = math.constant(1);
  if (slow.axis && !fast.empty()) {
    others = extents[fast[0]];
    for (unsigned axis : ArrayRef(fast).drop_front())
      others = math.mul(others, extents[axis]);
  }
  if (slow.descends) {
    std::tie(place[*slow.axis], t) =
        locateInSection(math, t, extents[*slow.axis], others, size, programs);
    if (fast.size() == 2) {
      place[fast[0]] = math.rem(t, extents[fast[0]]);
      place[fast[1]] = math.div(t, extents[fast[0]]);
      return;
    }
  } else if (slow.axis) {
    place[*slow.axis] = math.div(t, others);
    t = math.rem(t, others);
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

ChipletNumbers::ChipletNumbers(IndexMath math, int64_t chiplets, Value tiles, Value program,
                               Value programs)
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

Value ChipletNumbers::number(IndexMath math, Value t) {
  return math.add(first, math.mul(math.div(t, programs), step));
}

/// The dies of the chip that the module is for, each with a cache of its own.
static int64_t countChiplets(Operation *op) {
  TargetInterface target = getTarget(op);
  const std::optional<Figure> figure =
      target ? target.getChipRecord().figures.chiplets : std::optional<Figure>();
  return figure ? figure->value : 1;
}

/// An order that the grid's axes can have.
static LogicalResult checkRaster(KernelOp kernel, GridOp grid, Raster raster,
                                 PersistentAttr persistent) {
  size_t rank = grid.getExtents().size();
  SlowAxis slow = getSlowAxis(raster, rank);
  if (slow.axis && *slow.axis >= rank)
    return emitPinError(kernel, kRasterAttrName, "expected a grid of at least ")
           << *slow.axis + 1 << " extents, since '" << kRasterAttrName << "' is \""
           << spellRaster(raster) << "\", got " << rank;
  if (persistent.getGroup() == 1 || slow.descends || getFastAxes(slow, rank).size() >= 2)
    return success();
  return emitPinError(kernel, kPersistentAttrName, "expected a grid of at least 2 extents, since '")
         << kPersistentAttrName << "' groups tiles, got " << rank;
}

//===- A program ----------------------------------------------------------------------------===//

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

PersistentGrid::PersistentGrid(KernelOp kernel)
    : kernel(kernel), raster(getRaster(kernel)),
      grid(cast<GridOp>(kernel.getGrid().front().getTerminator())),
      persistent(kernel->getAttrOfType<PersistentAttr>(kPersistentAttrName)),
      cluster(getClusters(kernel)) {}

int64_t PersistentGrid::countGrouped() {
  size_t rank = grid.getExtents().size();
  SlowAxis slow = getSlowAxis(raster, rank);
  if (slow.descends) // of a section all tiles count
    return cluster[0] * cluster[1] * cluster[2];
  SmallVector<unsigned> fast = getFastAxes(slow, rank);
  return fast.empty() ? 1 : cluster[fast.front()];
}

/// Programs of one cluster run the tiles of one, which are of one group.
LogicalResult PersistentGrid::checkCluster() {
  int64_t size = cluster[0] * cluster[1] * cluster[2];
  if (persistent.getPrograms() % size)
    return emitPinError(kernel, kPersistentAttrName, "expected '")
           << kPersistentAttrName << "' of whole clusters of " << size << " programs, got "
           << persistent.getPrograms();
  bool hasSections = getSlowAxis(raster, grid.getExtents().size()).descends;
  if (hasSections || persistent.getGroup() == 1 || persistent.getGroup() % countGrouped() == 0)
    return success();
  return emitPinError(kernel, kPersistentAttrName, "expected '")
         << kPersistentAttrName << "' to group whole clusters, of " << countGrouped()
         << " tiles along an axis, got groups of " << persistent.getGroup();
}

FailureOr<PersistentGrid> PersistentGrid::get(KernelOp kernel) {
  if (!kernel.hasGrid())
    return emitPinError(kernel, kPersistentAttrName, "expected a grid region, since '")
           << kPersistentAttrName << "' is decided";
  PersistentGrid made(kernel);
  if (failed(checkRaster(kernel, made.grid, made.raster, made.persistent)) ||
      failed(made.checkCluster()))
    return failure();
  return made;
}

void PersistentGrid::begin(OpBuilder &builder) {
  size_t rank = grid.getExtents().size();
  Location loc = kernel.getLoc();
  Block &body = kernel.getBody().front();
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  builder.setInsertionPointToStart(&body);
  IndexMath math{builder, loc};
  IRMapping mapping;
  mapping.map(kernel.getGrid().getArguments(), body.getArguments());
  for (Operation &op : kernel.getGrid().front().without_terminator())
    builder.clone(op, mapping);
  for (size_t axis = 0; axis < 3; ++axis)
    extents[axis] = axis < rank ? mapping.lookup(grid.getExtents()[axis]) : math.constant(1);
  for (size_t axis = 0; axis < 3; ++axis)
    clusters[axis] =
        cluster[axis] == 1 ? extents[axis] : math.div(extents[axis], math.constant(cluster[axis]));
  tiles = countTiles(math, ArrayRef(clusters).take_front(rank));
  program = ProgramIdOp::create(builder, loc, builder.getIndexType(), Axis::X);
  for (size_t axis = 0; axis < 3; ++axis)
    if (cluster[axis] > 1) {
      Value id = axis == 0 ? program
                           : ProgramIdOp::create(builder, loc, builder.getIndexType(), Axis(axis));
      own[axis] = math.rem(id, math.constant(cluster[axis]));
    }
  programs = NumProgramsOp::create(builder, loc, builder.getIndexType(), Axis::X);
  if (cluster[0] > 1) {
    program = math.div(program, math.constant(cluster[0]));
    programs = math.div(programs, math.constant(cluster[0]));
  }
  SmallVector<NumProgramsOp> queries;
  for (Operation *op : ops)
    op->walk([&](NumProgramsOp query) { queries.push_back(query); });
  llvm::erase_if(ops, llvm::IsaPred<NumProgramsOp>);
  for (NumProgramsOp query : queries) {
    query.replaceAllUsesWith(extents[unsigned(query.getAxis())]);
    query.erase();
  }
  builder.setInsertionPointAfterValue(programs);
}

void PersistentGrid::hoist(OpBuilder &builder, const llvm::SmallPtrSetImpl<Operation *> &same) {
  for (Operation *op : ops)
    if (same.contains(op)) {
      op->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
      builder.setInsertionPointAfter(op);
    }
  llvm::erase_if(ops, [&](Operation *op) { return same.contains(op); });
}

void PersistentGrid::numberByChiplets(IndexMath math, Value upTo) {
  if (int64_t chiplets = countChiplets(kernel); raster == Raster::Chiplets && chiplets > 1)
    byChiplet.emplace(math, chiplets, upTo, program, programs);
}

void PersistentGrid::fill(scf::ForOp loop, Value at) {
  size_t rank = grid.getExtents().size();
  OpBuilder builder(loop.getBody()->getTerminator());
  Value place[3];
  IndexMath math{builder, kernel.getLoc()};
  locate(math, at, clusters, rank, getSlowAxis(raster, rank),
         llvm::divideCeil(persistent.getGroup(), countGrouped()), programs, place);
  for (size_t axis = 0; axis < 3; ++axis)
    if (own[axis])
      place[axis] = math.add(math.mul(place[axis], math.constant(cluster[axis])), own[axis]);
  SmallVector<ProgramIdOp> queries;
  for (Operation *op : ops) {
    op->moveBefore(loop.getBody()->getTerminator());
    op->walk([&](Operation *inner) {
      if (auto query = dyn_cast<ProgramIdOp>(inner))
        queries.push_back(query);
      // The program that a message is of is the tile's.
      TypeSwitch<Operation *>(inner).Case<PrintOp, AssertOp>([&](auto message) {
        if (message.getProgram().empty())
          message.getProgramMutable().assign(place);
      });
    });
  }
  for (ProgramIdOp query : queries) {
    query.replaceAllUsesWith(place[unsigned(query.getAxis())]);
    query.erase();
  }
}

void PersistentGrid::finish() {
  // All tiles; a launch has no more programs than are wanted. It looks itself whether the tiles are
  // whole clusters, and how many.
  OpBuilder host(grid);
  if (hasClusters())
    setMetadata(kernel, "own_cluster", host.getBoolAttr(true));
  else
    grid->setOperands(
        countTiles(IndexMath{host, grid.getLoc()}, SmallVector<Value>(grid.getExtents())));
  auto perCore = kernel->getAttrOfType<IntegerAttr>(kPerCoreAttrName);
  if (persistent.getPrograms() > 0)
    setMetadata(kernel, "programs", host.getI64IntegerAttr(persistent.getPrograms()));
  else
    setMetadata(kernel, "persistent_per_core", perCore ? perCore : host.getI64IntegerAttr(1));
  if (persistent.getEven())
    setMetadata(kernel, "even_programs", host.getBoolAttr(true));
  for (StringRef name : {kPersistentAttrName, kRasterAttrName, kPerCoreAttrName})
    kernel->removeAttr(name);
}
