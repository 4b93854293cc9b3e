// Shares the trips of a loop out among programs, of which the last to come adds up their sums.
//
// A loop over k may have more trips than a grid of few tiles can wait for. Here several programs
// run a share each, leave what they have summed in memory that the launch gives, and count
// themselves in. Who finds all others counted adds their sums in the order of the shares, and goes
// on behind the loop. Nobody waits for anybody, so it does not matter which programs run at once.
// What they leave is ordered by the count, which releases and acquires (OrderAccesses.cpp).
#include "SharedLoop.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/ABI.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kiln {
#define GEN_PASS_DEF_REALISESHARES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// One kernel, whose loop is shared out.
class Sharer {
public:
  Sharer(KernelOp kernel, scf::ForOp loop, StringRef role)
      : kernel(kernel), loop(loop), sums(kernel, loop, role), loc(loop.getLoc()),
        programs(loop->getAttrOfType<IntegerAttr>(kShareAttrName).getInt()) {}
  void realise();

private:
  void widenGrid();
  void findPlace();
  void takeShare();
  void leave();

  KernelOp kernel;
  scf::ForOp loop;
  SharedSums sums;
  Location loc;
  int64_t programs;
  /// Which tile of the grid that the source has, of how many, and which share of the trips.
  Value tile, tiles, number;
  Value place[3];
};
} // namespace

/// Shares lie along the last axis, so that those of one number run side by side.
void Sharer::widenGrid() {
  auto grid = cast<GridOp>(kernel.getGrid().front().getTerminator());
  OpBuilder host(grid);
  IndexMath math{host, grid.getLoc()};
  OpOperand &last = grid->getOpOperand(grid->getNumOperands() - 1);
  last.set(math.mul(last.get(), math.constant(programs)));
  setMetadata(kernel, "own_grid", host.getBoolAttr(true));
}

void Sharer::findPlace() {
  size_t rank = kernel.getGrid().front().getTerminator()->getNumOperands();
  Block &body = kernel.getBody().front();
  SmallVector<Operation *> queries;
  body.walk([&](Operation *op) {
    if (isa<ProgramIdOp, NumProgramsOp>(op))
      queries.push_back(op);
  });
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  IndexMath math{builder, kernel.getLoc()};
  Value extents[3];
  for (unsigned axis = 0; axis < 3; ++axis) {
    if (axis >= rank) {
      place[axis] = math.constant(0);
      extents[axis] = math.constant(1);
      continue;
    }
    Type index = builder.getIndexType();
    place[axis] = ProgramIdOp::create(builder, kernel.getLoc(), index, Axis(axis));
    extents[axis] = NumProgramsOp::create(builder, kernel.getLoc(), index, Axis(axis));
    if (axis + 1 < rank)
      continue;
    // Rounded up, so that it is a divisor on any grid that a checker thinks of.
    Value all = math.add(extents[axis], math.constant(programs - 1));
    extents[axis] = math.div(all, math.constant(programs));
    number = math.div(place[axis], extents[axis]);
    place[axis] = math.rem(place[axis], extents[axis]);
  }
  tile = place[rank - 1];
  tiles = extents[rank - 1];
  for (unsigned axis = rank - 1; axis-- > 0;) {
    tile = math.add(math.mul(tile, extents[axis]), place[axis]);
    tiles = math.mul(tiles, extents[axis]);
  }
  for (Operation *query : queries) {
    auto id = dyn_cast<ProgramIdOp>(query);
    unsigned axis = unsigned(id ? id.getAxis() : cast<NumProgramsOp>(query).getAxis());
    query->replaceAllUsesWith(ValueRange{id ? place[axis] : extents[axis]});
    query->erase();
  }
  body.walk([&](Operation *op) {
    TypeSwitch<Operation *>(op).Case<PrintOp, AssertOp>([&](auto message) {
      if (message.getProgram().empty())
        message.getProgramMutable().assign(place);
    });
  });
}

/// Consecutive trips; the first shares have one more where the programs do not divide them.
void Sharer::takeShare() {
  OpBuilder builder(loop);
  IndexMath math{builder, loc};
  Value trips = countTrips(builder, loop), all = math.constant(programs);
  Value each = math.div(trips, all), left = math.rem(trips, all);
  Value first = math.add(math.mul(number, each), math.min(number, left));
  Value count = math.select(math.isLess(number, left), math.add(each, math.constant(1)), each);
  narrowLoop(loop, first, math.add(first, count), trips);
}

/// Leaves the sums of a share, and goes on behind the loop where all others have left theirs. Where
/// all of a tile's add to one piece, it is the first of theirs.
void Sharer::leave() {
  OpBuilder builder(loop);
  IndexMath math{builder, loc};
  sums.allocate(builder, /*perProgram=*/1, math.mul(tiles, math.constant(programs)), tiles);
  SmallVector<Operation *> rest;
  for (Operation &op : llvm::make_range(std::next(loop->getIterator()),
                                        kernel.getBody().front().without_terminator().end()))
    rest.push_back(&op);

  builder.setInsertionPointAfter(loop);
  Value first = math.mul(tile, math.constant(programs));
  sums.leave(builder, sums.isAtomic ? first : math.add(first, number));
  Value isLast = sums.countIn(builder, tile, math.constant(programs - 1));
  auto branch = scf::IfOp::create(builder, loc, isLast, /*withElseRegion=*/false);
  builder.setInsertionPointToStart(branch.thenBlock());
  sums.reset(builder, tile);
  auto getPiece = [&](OpBuilder &inner, Value share) {
    return IndexMath{inner, loc}.add(first, share);
  };
  SmallVector<Value> totals = sums.isAtomic
                                  ? sums.take(builder, first)
                                  : sums.addUp(builder, sums.makeZeros(builder), math.constant(0),
                                               math.constant(programs), getPiece);
  Operation *end = branch.thenBlock()->getTerminator();
  for (Operation *op : rest)
    op->moveBefore(end);
  auto isBehind = [&](OpOperand &use) { return branch->isProperAncestor(use.getOwner()); };
  for (auto [sum, total] : llvm::zip_equal(loop.getResults(), totals))
    sum.replaceUsesWithIf(total, isBehind);
}

void Sharer::realise() {
  widenGrid();
  findPlace();
  takeShare();
  leave();
  loop->removeAttr(kShareAttrName);
  loop->removeAttr(kShareAtomicAttrName);
}

static LogicalResult realise(KernelOp kernel) {
  FailureOr<SharedLoop> shared = findSharedLoop(kernel, /*isStream=*/false);
  if (succeeded(shared) && shared->loop)
    Sharer(kernel, shared->loop, shared->role).realise();
  return success(succeeded(shared));
}

namespace {
struct RealiseShares : kiln::impl::RealiseSharesBase<RealiseShares> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(realise(kernel)))
        return signalPassFailure();
  }
};
} // namespace
