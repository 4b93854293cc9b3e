// Makes loops over chunks of what a kernel computes along the longest dimension of its tiles: a
// loop for each phase (ChunkPhases.h).
#include "ChunkEnds.h"
#include "ChunkPhases.h"
#include "ChunkSums.h"
#include "kiln/Dialect/Tile/IR/ChunkDecisions.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Marks.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

namespace kiln {
#define GEN_PASS_DEF_REALISECHUNKS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// One kernel whose tiles can be cut.
class ChunkRealiser {
public:
  ChunkRealiser(const ChunkPhases &phases, Chunks chunks)
      : phases(phases), ends(phases), chunks(chunks), builder(phases.getBlock()->getTerminator()) {}

  void run() {
    SmallVector<Operation *> ops(llvm::make_pointer_range(phases.getBlock()->without_terminator()));
    DenseSet<Operation *> isCut(phases.getCut().begin(), phases.getCut().end());
    Operation *end = phases.getBlock()->getTerminator();
    for (unsigned level = 0; level <= phases.countPhases(); ++level) {
      for (Operation *op : ops)
        if (!isCut.contains(op) && phases.getLevel(op) == level)
          op->moveBefore(end);
      if (level == 0)
        findCount(phases.getCut().front()->getLoc());
      if (level < phases.countPhases())
        realise(level);
    }
    for (Operation *op : llvm::reverse(phases.getCut())) {
      op->dropAllUses();
      op->erase();
    }
  }

private:
  /// A chunk that a trip computes: what has become of tiles, and where it begins.
  struct Chunk {
    IRMapping map;
    Value at;
  };

  Value index(Location loc, int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value shift(Location loc, Value offset, Value by) {
    return matchPattern(offset, m_Zero()) ? by : arith::AddIOp::create(builder, loc, offset, by);
  }

  int64_t countAtOnce(unsigned phase) const;
  void findCount(Location loc);
  void realise(unsigned phase);
  SmallVector<Value> addPadding(Operation *sum, ArrayRef<Value> results);
  void cut(Operation *op, Chunk &chunk);
  void cutLoad(LoadOp load, Chunk &chunk, unsigned phase);
  void keep(LoadOp load, Chunk &chunk);
  Value getKept(LoadOp load, Value at);

  const ChunkPhases &phases;
  ChunkEnds ends;
  Chunks chunks;
  OpBuilder builder;
  /// How many elements all loops run through, and, where that need not be all, whether it is less.
  Value count, isLess;
  DenseMap<Operation *, Value> buffers;
};
} // namespace

/// The part of the buffer that keeps a chunk. Chunks lie behind one another.
Value ChunkRealiser::getKept(LoadOp load, Value at) {
  Location loc = load.getLoc();
  RankedTensorType type = phases.getChunkType(load.getResult(), chunks.length);
  unsigned dim = *phases.findDim(load.getResult());
  Value first = at;
  if (dim != 0) {
    first = arith::DivUIOp::create(builder, loc, at, index(loc, chunks.length));
    if (int64_t rows = type.getDimSize(0); rows != 1)
      first = arith::MulIOp::create(builder, loc, first, index(loc, rows));
  }
  SmallVector<Value> offsets(type.getRank(), index(loc, 0));
  offsets.front() = first;
  auto part =
      BufferType::get(builder.getContext(), type.getShape(), type.getElementType(), Attribute());
  return PartOp::create(builder, loc, part, buffers.lookup(load), offsets);
}

void ChunkRealiser::cutLoad(LoadOp load, Chunk &chunk, unsigned phase) {
  auto [first, last] = phases.getUses(load);
  RankedTensorType type = phases.getChunkType(load.getResult(), chunks.length);
  bool isKept = load->hasAttr(kKeptAttrName);
  if (isKept && phase != first) {
    Value kept = getKept(load, chunk.at);
    chunk.map.map(load.getResult(), ReadOp::create(builder, load.getLoc(), type, kept).getResult());
    return;
  }
  auto own = cast<LoadOp>(builder.clone(*load, chunk.map));
  own->removeAttr(kKeptAttrName);
  own.getResult().setType(type);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(own);
  OpOperand &offset = own.getOffsetsMutable()[*phases.findDim(load.getResult())];
  offset.set(shift(load.getLoc(), offset.get(), chunk.at));
  if (!isKept && phase != last) {
    own.removeCacheAttr();
    own.removeEvictionAttr();
  }
}

/// Writes what the phase has loaded for others.
void ChunkRealiser::keep(LoadOp load, Chunk &chunk) {
  WriteOp::create(builder, load.getLoc(), chunk.map.lookup(load.getResult()),
                  getKept(load, chunk.at));
}

/// A chunk of what an op gives, or stores.
void ChunkRealiser::cut(Operation *op, Chunk &chunk) {
  Location loc = op->getLoc();
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    RankedTensorType type = phases.getChunkType(constant, chunks.length);
    auto value = cast<SplatElementsAttr>(constant.getValue()).getSplatValue<Attribute>();
    chunk.map.map(
        constant.getResult(),
        arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, value)).getResult());
    return;
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    unsigned dim = *phases.findDim(store.getValue());
    Value offset = shift(loc, store.getOffsets()[dim], chunk.at);
    auto own = cast<StoreOp>(builder.clone(*op, chunk.map));
    own.getOffsetsMutable()[dim].set(offset);
    return;
  }
  Operation *own = builder.clone(*op, chunk.map);
  for (auto [before, result] : llvm::zip_equal(op->getResults(), own->getResults()))
    if (phases.findDim(before))
      result.setType(phases.getChunkType(before, chunks.length));
  auto iota = dyn_cast<IotaOp>(op);
  if (!iota || *phases.findDim(iota.getResult()) != iota.getDim())
    return;
  auto type = cast<RankedTensorType>(own->getResult(0).getType());
  Value at = chunk.at;
  if (!type.getElementType().isIndex())
    at = arith::IndexCastOp::create(builder, loc, type.getElementType(), at);
  Value shifted = arith::AddIOp::create(builder, loc, own->getResult(0),
                                        SplatOp::create(builder, loc, type, at));
  chunk.map.map(iota.getResult(), shifted);
}

/// How many chunks a trip takes: a power of two, so that trips of one loop end where those of
/// another do.
int64_t ChunkRealiser::countAtOnce(unsigned phase) const {
  int64_t loads = std::max<int64_t>(llvm::count_if(phases.getOps(phase), llvm::IsaPred<LoadOp>), 1);
  int64_t all = phases.getExtent() / chunks.length;
  return std::min<int64_t>(llvm::bit_floor(uint64_t(std::max<int64_t>(chunks.loads / loads, 1))),
                           all & -all);
}

void ChunkRealiser::findCount(Location loc) {
  if (!ends.areKnown()) {
    count = index(loc, phases.getExtent());
    return;
  }
  // Whole trips of all loops, since each uses what another one keeps.
  int64_t most = 1;
  for (unsigned phase = 0; phase < phases.countPhases(); ++phase)
    most = std::max(most, countAtOnce(phase));
  Value step = index(loc, most * chunks.length);
  count = arith::CeilDivUIOp::create(builder, loc, ends.countElements(builder, loc), step);
  count = arith::MulIOp::create(builder, loc, count, step);
  isLess = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, count,
                                 index(loc, phases.getExtent()));
}

/// With one element of the padding that no trip has seen, if there is any.
SmallVector<Value> ChunkRealiser::addPadding(Operation *sum, ArrayRef<Value> results) {
  if (!isLess)
    return llvm::to_vector(results);
  Location loc = sum->getLoc();
  IRMapping padding = ends.makePadding(builder, sum);
  Operation *one = builder.clone(*sum, padding);
  SmallVector<Value> both =
      combineTiles(builder, sum->getRegion(0).front(), results, one->getResults());
  for (auto [with, without] : llvm::zip_equal(both, results)) {
    auto type = cast<RankedTensorType>(with.getType()).clone(builder.getI1Type());
    Value asked = SplatOp::create(builder, loc, type, isLess);
    with = arith::SelectOp::create(builder, loc, asked, with, without);
  }
  return both;
}

void ChunkRealiser::realise(unsigned phase) {
  SmallVector<Operation *> ops = phases.getOps(phase);
  Location loc = ops.front()->getLoc();
  SmallVector<ChunkSum> sums;
  SmallVector<Value> inits;
  for (Operation *op : ops) {
    auto load = dyn_cast<LoadOp>(op);
    if (load && load->hasAttr(kKeptAttrName) && phases.getUses(load).first == phase) {
      RankedTensorType type = phases.getChunkType(load.getResult(), chunks.length);
      SmallVector<int64_t> shape(type.getShape());
      shape.front() *= phases.getExtent() / chunks.length;
      buffers[load] = AllocOp::create(
          builder, load.getLoc(),
          BufferType::get(builder.getContext(), shape, type.getElementType(), Attribute()));
    }
    if (phases.isAlong(op)) {
      sums.emplace_back(op, phases, chunks.length, inits.size());
      llvm::append_range(inits, sums.back().begin(builder));
    }
  }
  int64_t atOnce = countAtOnce(phase);
  auto loop = scf::ForOp::create(
      builder, loc, index(loc, 0), count, index(loc, chunks.length * atOnce), inits,
      [&](OpBuilder &, Location, Value at, ValueRange carried) {
        SmallVector<Chunk> trip(atOnce);
        for (auto [number, chunk] : llvm::enumerate(trip))
          chunk.at = number ? shift(loc, at, index(loc, number * chunks.length)) : at;
        Value isFirst =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, at, index(loc, 0));
        SmallVector<Value> values(carried);
        // What chunks need from memory is asked for before any of it is waited for.
        auto *loads = llvm::find_if_not(ops, llvm::IsaPred<LoadOp>);
        for (Operation *op : ArrayRef(ops.begin(), loads))
          for (Chunk &chunk : trip)
            cutLoad(cast<LoadOp>(op), chunk, phase);
        for (Operation *op : ArrayRef(ops.begin(), loads))
          for (Chunk &chunk : trip)
            if (op->hasAttr(kKeptAttrName) && phases.getUses(op).first == phase)
              keep(cast<LoadOp>(op), chunk);
        for (Operation *op : ArrayRef(loads, ops.end()))
          for (auto [number, chunk] : llvm::enumerate(trip)) {
            if (!phases.isAlong(op)) {
              cut(op, chunk);
              continue;
            }
            const ChunkSum &sum = *llvm::find_if(sums, [&](auto &it) { return it.getOp() == op; });
            sum.add(builder, chunk.map, chunk.at, number ? Value() : isFirst, values);
          }
        if (isFirst.use_empty())
          isFirst.getDefiningOp()->erase();
        scf::YieldOp::create(builder, loc, values);
      });
  for (const ChunkSum &sum : sums)
    sum.getOp()->replaceAllUsesWith(addPadding(sum.getOp(), sum.end(builder, loop.getResults())));
}

static InFlightDiagnostic refuse(const ChunkPhases::Obstacle &obstacle) {
  return obstacle.op->emitError() << obstacle.why << ", since '" << kChunkAttrName
                                  << "' is decided";
}

/// What was decided, for reports: nothing of it is left in the kernel.
static void tell(KernelOp kernel, const ChunkPhases &phases, Chunks chunks, int64_t kept) {
  Builder builder(kernel.getContext());
  auto module = kernel->getParentOfType<ModuleOp>();
  NamedAttrList members;
  if (auto before = module->getAttrOfType<DictionaryAttr>(kMetadataAttrName))
    members.append(before.begin(), before.end());
  auto number = [&](StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  };
  members.set("chunks", builder.getDictionaryAttr({number("length", chunks.length),
                                                   number("loops", phases.countPhases()),
                                                   number("kept", kept)}));
  module->setAttr(kMetadataAttrName, members.getDictionary(builder.getContext()));
}

/// Warps that run a program beside others have no barriers for what it keeps.
static LogicalResult checkAlone(LoadOp load) {
  auto kernel = load->getParentOfType<KernelOp>();
  for (StringRef name : {StringRef(kRolesAttrName), StringRef(kBlockProgramsAttrName)})
    if (Attribute decided = kernel->getAttr(name);
        decided && !(name == kBlockProgramsAttrName && countBlockPrograms(kernel) == 1))
      return load.emitOpError("expected no '")
             << name << "' beside '" << kKeptAttrName
             << "', since all warps of a block keep the tile together";
  return success();
}

static LogicalResult realise(KernelOp kernel, Chunks chunks) {
  ChunkPhases phases(kernel);
  if (phases.getObstacle())
    return refuse(*phases.getObstacle());
  if (phases.getExtent() % chunks.length)
    return kernel.emitError() << "expected chunks that divide the longest extent of a tile, "
                              << phases.getExtent() << ", got " << chunks.length << " elements in '"
                              << kChunkAttrName << "'";
  auto isKept = [](LoadOp load) { return load->hasAttr(kKeptAttrName); };
  int64_t count = 0;
  WalkResult kept = kernel.getBody().walk([&](LoadOp load) {
    if (!isKept(load))
      return WalkResult::advance();
    ++count;
    if (failed(checkAlone(load)))
      return WalkResult::interrupt();
    auto [first, last] = phases.getUses(load);
    bool isCut = phases.findDim(load.getResult()).has_value();
    if (isCut && first != last && !sharesByte(load.getType().getElementType()))
      return WalkResult::advance();
    load.emitOpError("expected a tile of whole bytes that several loops over chunks use, since '")
        << kKeptAttrName << "' is decided";
    return WalkResult::interrupt();
  });
  if (kept.wasInterrupted())
    return failure();
  if (auto conflict = phases.findConflict(isKept))
    return refuse(*conflict);
  ChunkRealiser(phases, chunks).run();
  tell(kernel, phases, chunks, count);
  return success();
}

namespace {
struct RealiseChunks : kiln::impl::RealiseChunksBase<RealiseChunks> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      std::optional<Chunks> chunks = getChunks(kernel);
      if (chunks && !target->runsOnHost() && failed(realise(kernel, *chunks)))
        return signalPassFailure();
      if (!chunks && !target->runsOnHost() && failed(checkWhole(kernel)))
        return signalPassFailure();
      kernel->removeAttr(kChunkAttrName);
      kernel.getBody().walk([](LoadOp load) { load->removeAttr(kKeptAttrName); });
    }
  }

  /// Nothing is kept of a tile that is not cut.
  static LogicalResult checkWhole(KernelOp kernel) {
    WalkResult kept = kernel.getBody().walk([](LoadOp load) {
      if (!load->hasAttr(kKeptAttrName))
        return WalkResult::advance();
      load.emitOpError("expected a kernel with '")
          << kChunkAttrName << "', since '" << kKeptAttrName << "' is decided";
      return WalkResult::interrupt();
    });
    return failure(kept.wasInterrupted());
  }
};
} // namespace
