// Makes a grid of many short programs one of a few that run tiles in turn.
#include "Decisions.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/ABI.h"
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

/// Where tile `t` lies: groups of `group` tiles along x, each run through along y.
static std::pair<Value, Value> rasterise(IndexMath math, Value t, Value extentX, Value extentY,
                                         int64_t group) {
  Value size = math.constant(group);
  Value inGroup = math.mul(extentY, size);
  Value firstX = math.mul(math.div(t, inGroup), size);
  Value width = math.min(math.sub(extentX, firstX), size);
  Value rest = math.rem(t, inGroup);
  return {math.add(firstX, math.rem(rest, width)), math.div(rest, width)};
}

/// The tiles of a grid of so many extents, one or more.
static Value countTiles(IndexMath math, ArrayRef<Value> extents) {
  Value tiles = extents.front();
  for (Value extent : extents.drop_front())
    tiles = math.mul(tiles, extent);
  return tiles;
}

static LogicalResult realise(KernelOp kernel, PersistentAttr persistent) {
  if (!kernel.hasGrid())
    return kernel.emitOpError("expected a grid region, since '")
           << kPersistentAttrName << "' is decided";
  auto grid = cast<GridOp>(kernel.getGrid().front().getTerminator());
  size_t rank = grid.getExtents().size();
  if (rank == 1 && persistent.getGroup() > 1)
    return grid.emitOpError("expected two or three extents, since '")
           << kPersistentAttrName << "' groups tiles, got one";

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
  Value tiles = countTiles(math, ArrayRef(extents).take_front(rank));
  Value first = ProgramIdOp::create(builder, loc, builder.getIndexType(), Axis::X);
  Value step = NumProgramsOp::create(builder, loc, builder.getIndexType(), Axis::X);
  auto loop = scf::ForOp::create(builder, loc, first, tiles, step);
  loop->setAttr(kProgramsAttrName, builder.getUnitAttr());

  OpBuilder inner = OpBuilder::atBlockBegin(loop.getBody());
  IndexMath innerMath{inner, loc};
  Value place[3] = {loop.getInductionVar(), nullptr, nullptr};
  if (rank == 3) {
    Value plane = innerMath.mul(extents[0], extents[1]);
    place[2] = innerMath.div(place[0], plane);
    place[0] = innerMath.rem(place[0], plane);
  }
  if (rank > 1)
    std::tie(place[0], place[1]) =
        rasterise(innerMath, place[0], extents[0], extents[1], persistent.getGroup());
  for (Value &at : place)
    if (!at)
      at = innerMath.constant(0);
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

  OpBuilder host(grid);
  IndexMath hostMath{host, grid.getLoc()};
  Value total = countTiles(hostMath, SmallVector<Value>(grid.getExtents()));
  if (persistent.getPrograms() > 0)
    total = hostMath.min(total, hostMath.constant(persistent.getPrograms()));
  else // of which a launch cuts off what the device's cores do not run at once
    setMetadata(kernel, "persistent", builder.getI64IntegerAttr(1));
  grid->setOperands(total);
  kernel->removeAttr(kPersistentAttrName);
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
