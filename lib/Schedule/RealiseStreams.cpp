// Shares the trips of a persistent grid's last tiles out evenly among its programs.
//
// Where the programs do not divide the tiles, the last turn leaves cores without work. Here each
// program runs as many whole tiles as all others, and then an even part of the trips of the rest,
// one tile behind another. So it has at most two parts of tiles: the end of one that others began,
// and the beginning of one that others end. What it has summed of either lies in one of its two
// pieces of memory, and the tile's counter is that of the program that begins it: memory goes by
// programs, however many tiles there are. As in RealiseShares.cpp the last to come adds up, in the
// order of the trips, and nobody waits for anybody.
#include "PersistentGrid.h"
#include "SharedLoop.h"
#include "kiln/Dialect/Tile/IR/PinnedPlaces.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/ABI.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace kiln {
#define GEN_PASS_DEF_REALISESTREAMS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- What can be streamed -----------------------------------------------------------------===//

static LogicalResult checkKernel(scf::ForOp loop, KernelOp kernel) {
  auto fail = [&](const Twine &what) {
    return loop.emitOpError("expected ") << what << " on the kernel, since '" << kShareAttrName
                                         << "' is \"" << kStreamShare << '"';
  };
  if (!kernel->getAttrOfType<PersistentAttr>(kPersistentAttrName))
    return fail("'" + kPersistentAttrName + "'");
  if (kernel->hasAttr(kClusterAttrName))
    return fail("no '" + kClusterAttrName + "'") << ": its programs run other trips each";
  Raster raster = getRaster(kernel);
  if (raster == Raster::Grouped || raster == Raster::Chiplets)
    return success();
  return fail("\"grouped\" or \"chiplets\" as '" + kRasterAttrName + "'")
         << ": all tiles have the same trips, got \"" << spellRaster(raster) << '"';
}

/// What bounds the loop is made of, which all tiles have in common: an error at what differs.
static LogicalResult findBounds(scf::ForOp loop, KernelOp kernel,
                                llvm::SmallPtrSetImpl<Operation *> &ops) {
  SmallVector<Value> values = {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
  while (!values.empty()) {
    Operation *op = values.pop_back_val().getDefiningOp();
    if (!op || !ops.insert(op).second)
      continue;
    if (!isPure(op) || op->getNumRegions() > 0 || isa<ProgramIdOp>(op)) {
      InFlightDiagnostic error =
          loop.emitOpError("expected bounds that the kernel's arguments alone tell, since '")
          << kShareAttrName << "' is \"" << kStreamShare << "\" and all tiles have the same trips";
      error.attachNote(op->getLoc()) << "a bound is made of this";
      return error;
    }
    llvm::append_range(values, op->getOperands());
  }
  return success();
}

//===- Programs -----------------------------------------------------------------------------===//

namespace {
/// One kernel, whose last tiles are shared out.
class Streamer {
public:
  Streamer(KernelOp kernel, PersistentGrid grid, scf::ForOp loop, StringRef role)
      : kernel(kernel), grid(std::move(grid)), loop(loop), sums(kernel, loop, role),
        loc(loop.getLoc()), builder(kernel.getContext()) {}
  void realise(const llvm::SmallPtrSetImpl<Operation *> &bounds);

private:
  void share();
  Value countParts();
  void run(scf::ForOp turns);
  Value findRunner(Value trip);
  SmallVector<Value> takeTotals(Value first, Value past);
  void leave();

  KernelOp kernel;
  PersistentGrid grid;
  scf::ForOp loop;
  SharedSums sums;
  Location loc;
  OpBuilder builder;
  IndexMath math{builder, loc};
  /// The trips of a tile; and as how many they count, since a tile without any is run by somebody.
  Value trips, length;
  /// How many tiles are run as a whole, in all and by each program. The trips of the others are
  /// counted from 0: so many have all programs, and one more the first few of these.
  Value whole, wholeTurns, each, left;
  /// Of those the program runs the trips from `begin` up to `end`, the first of them of this tile.
  Value begin, end, firstCut;
  /// Of a turn: the first trip of its tile and of the next one, and whether it runs but a part.
  Value tileBegin, tileEnd, isPart;
};
} // namespace

/// Which trips are the program's.
void Streamer::share() {
  Value zero = math.constant(0), one = math.constant(1);
  trips = countTrips(builder, loop);
  length = math.max(trips, one);
  // The turn that has too few tiles, and the one in front of it, so that parts are not small.
  Value few = math.rem(grid.tiles, grid.programs);
  Value cut = math.min(grid.tiles, math.add(few, grid.programs));
  cut = math.select(math.isLess(zero, few), cut, zero);
  whole = math.sub(grid.tiles, cut);
  wholeTurns = math.div(whole, grid.programs);
  Value all = math.mul(cut, length);
  each = math.div(all, grid.programs);
  left = math.rem(all, grid.programs);
  begin = math.add(math.mul(grid.program, each), math.min(grid.program, left));
  Value hasMore = math.isLess(grid.program, left);
  end = math.add(begin, math.select(hasMore, math.add(each, one), each));
  firstCut = math.div(begin, length);
}

/// Of how many tiles the program runs a part, or all as its part.
Value Streamer::countParts() {
  Value zero = math.constant(0), one = math.constant(1);
  Value last = math.div(math.sub(end, one), length);
  Value count = math.add(math.sub(last, firstCut), one);
  return math.select(math.isLess(begin, end), count, zero);
}

/// Who runs a trip, counted as `begin` is.
Value Streamer::findRunner(Value trip) {
  Value one = math.constant(1), more = math.add(each, one);
  Value ofLonger = math.mul(left, more);
  // Where each has none, all are of those that have one more.
  Value behind = math.div(math.sub(trip, ofLonger), math.max(each, one));
  return math.select(math.isLess(trip, ofLonger), math.div(trip, more), math.add(left, behind));
}

/// One turn: a whole tile, or the program's part of one.
void Streamer::run(scf::ForOp turns) {
  builder.setInsertionPointToStart(turns.getBody());
  Value turn = turns.getInductionVar(), zero = math.constant(0);
  Value isWhole = math.isLess(turn, wholeTurns);
  Value inTurn = math.add(math.mul(turn, grid.programs), grid.program);
  Value cut = math.add(firstCut, math.sub(turn, wholeTurns));
  Value at = math.select(isWhole, grid.number(math, inTurn), math.add(whole, cut));
  tileBegin = math.mul(cut, length);
  tileEnd = math.add(tileBegin, length);
  Value from = math.sub(math.max(begin, tileBegin), tileBegin);
  Value to = math.sub(math.min(end, tileEnd), tileBegin);
  from = math.select(isWhole, zero, from);
  to = math.select(isWhole, length, to);
  isPart =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, math.sub(to, from), length);
  Value last = math.min(to, trips);
  grid.fill(turns, at);
  narrowLoop(loop, from, last, trips);
}

/// The program's piece of what it has run a part of: the second, if it begins the tile.
static Value getPiece(IndexMath math, Value program, Value first) {
  Value begins =
      arith::CmpIOp::create(math.builder, math.loc, arith::CmpIPredicate::eq, program, first);
  Value piece = math.mul(program, math.constant(2));
  return math.select(begins, math.add(piece, math.constant(1)), piece);
}

/// The sums of the whole tile: those of the loop, or of all programs from `first` up to `past`,
/// which are none where the program has run the tile as a whole.
SmallVector<Value> Streamer::takeTotals(Value first, Value past) {
  auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), isPart,
                                  /*addThenBlock=*/true, /*addElseBlock=*/true);
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, loop.getResults());
  builder.setInsertionPointToStart(branch.thenBlock());
  sums.reset(builder, first);
  scf::YieldOp::create(builder, loc,
                       sums.isAtomic ? sums.take(builder, first) : sums.makeZeros(builder));
  builder.setInsertionPointAfter(branch);
  if (sums.isAtomic)
    return SmallVector<Value>(branch.getResults());
  return sums.addUp(builder, branch.getResults(), first, past,
                    [&](OpBuilder &inner, Value program) {
                      return getPiece(IndexMath{inner, loc}, program, first);
                    });
}

/// Leaves the sums of a part, and goes on behind the loop with those of all of the tile: where it
/// was run as a whole, and where all others have left theirs.
void Streamer::leave() {
  SmallVector<Operation *> rest;
  Block *body = loop->getBlock();
  for (Operation &op :
       llvm::make_range(std::next(loop->getIterator()), body->without_terminator().end()))
    rest.push_back(&op);

  builder.setInsertionPointAfter(loop);
  Type index = builder.getIndexType();
  auto parts = scf::IfOp::create(builder, loc, TypeRange{builder.getI1Type(), index, index}, isPart,
                                 /*addThenBlock=*/true, /*addElseBlock=*/true);
  builder.setInsertionPointToStart(parts.elseBlock());
  Value holds = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  Value none = math.constant(0);
  scf::YieldOp::create(builder, loc, ValueRange{holds, none, none});
  builder.setInsertionPointToStart(parts.thenBlock());
  Value one = math.constant(1);
  Value first = findRunner(tileBegin), last = findRunner(math.sub(tileEnd, one));
  sums.leave(builder, sums.isAtomic ? first : getPiece(math, grid.program, first));
  Value isLast = sums.countIn(builder, first, math.sub(last, first));
  scf::YieldOp::create(builder, loc, ValueRange{isLast, first, math.add(last, one)});

  builder.setInsertionPointAfter(parts);
  auto ends = scf::IfOp::create(builder, loc, parts.getResult(0), /*withElseRegion=*/false);
  builder.setInsertionPointToStart(ends.thenBlock());
  SmallVector<Value> totals = takeTotals(parts.getResult(1), parts.getResult(2));
  llvm::SmallPtrSet<Operation *, 16> behind(rest.begin(), rest.end());
  for (Operation *op : rest)
    op->moveBefore(ends.thenBlock()->getTerminator());
  auto isBehind = [&](OpOperand &use) {
    return behind.contains(ends.thenBlock()->findAncestorOpInBlock(*use.getOwner()));
  };
  for (auto [sum, total] : llvm::zip_equal(loop.getResults(), totals))
    sum.replaceUsesWithIf(total, isBehind);
}

void Streamer::realise(const llvm::SmallPtrSetImpl<Operation *> &bounds) {
  grid.begin(builder);
  grid.hoist(builder, bounds);
  share();
  int64_t perProgram = sums.isAtomic ? 1 : 2;
  sums.allocate(builder, perProgram, math.mul(grid.programs, math.constant(perProgram)),
                grid.programs);
  grid.numberByChiplets(math, whole);
  auto turns = scf::ForOp::create(builder, kernel.getLoc(), math.constant(0),
                                  math.add(wholeTurns, countParts()), math.constant(1));
  turns->setAttr(kProgramsAttrName, builder.getUnitAttr());
  run(turns);
  leave();
  grid.finish();
  setMetadata(kernel, "own_grid", builder.getBoolAttr(true));
  setMetadata(kernel, "streams", builder.getBoolAttr(true));
  loop->removeAttr(kShareAttrName);
  loop->removeAttr(kShareAtomicAttrName);
}

static LogicalResult realise(KernelOp kernel) {
  FailureOr<SharedLoop> shared = findSharedLoop(kernel, /*isStream=*/true);
  if (failed(shared) || !shared->loop)
    return success(succeeded(shared));
  llvm::SmallPtrSet<Operation *, 16> bounds;
  if (failed(checkKernel(shared->loop, kernel)) || failed(findBounds(shared->loop, kernel, bounds)))
    return failure();
  FailureOr<PersistentGrid> grid = PersistentGrid::get(kernel);
  if (failed(grid))
    return failure();
  if (grid->isEven())
    return emitPinError(kernel, kPersistentAttrName, "expected '")
           << kPersistentAttrName << "' without even programs, since '" << kShareAttrName
           << "' gives all of them as many trips, got even ones";
  Streamer(kernel, std::move(*grid), shared->loop, shared->role).realise(bounds);
  return success();
}

namespace {
struct RealiseStreams : kiln::impl::RealiseStreamsBase<RealiseStreams> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(realise(kernel)))
        return signalPassFailure();
  }
};
} // namespace
