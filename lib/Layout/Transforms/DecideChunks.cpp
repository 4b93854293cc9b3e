// Which tiles are too long for the registers of a program, how long the chunks are in which they
// are computed, by how many warps, and what of them stays in shared memory.
//
// A core reads and writes memory at its best only if several programs share it: while one computes,
// others load. So a tile is cut once a core's registers hold no more than a few programs of it.
// What loops over its chunks use again is kept in shared memory if a program has room for it there;
// else it is loaded again, which the second-level cache answers (docs/rationale/long-rows.md).
#include "ChunkPhases.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/ChunkDecisions.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDECHUNKS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// So many programs of a tile in registers, with a second value of 32 bits for each element beside
/// it, keep memory busy: fewer are cut. On an H200 rows of 16,384 lost a twentieth to a fifth by
/// chunks, but for norms that sum twice; rows of 32,768 gained up to a quarter. What a single loop
/// does holds no tile: it is cut where code for all registers of a core would grow too long.
static constexpr int64_t kFewestPrograms = 2;
static constexpr int64_t kValuesPerElement = 2;
/// What a loop over chunks takes of a thread's registers.
static constexpr int64_t kRegistersPerThread = 48;
/// Of a chunk a thread has a vector of so many bytes, of the narrowest that is loaded or stored,
/// but no more than so many elements; of so many loads a trip asks before it waits for any.
static constexpr int64_t kBytesPerThread = 16;
static constexpr int64_t kMostElementsPerThread = 16;
static constexpr int64_t kLoadsAtOnce = 4;
/// More programs on a core have nothing more to overlap.
static constexpr int64_t kMostPrograms = 8;
/// What a program takes of shared memory beside what it keeps, for sums across warps.
static constexpr int64_t kScratchBytes = 4096;
/// The part of the second-level cache that lines which will be loaded again may fill: others go
/// through it meanwhile.
static constexpr double kCachePart = 0.6;

/// Whether nobody has decided anything but how many warps run a program, or what it is not.
static bool isUndecided(KernelOp kernel) {
  bool isOpen = findDecision(kernel, [&](const Decision &decision) {
                  bool isNone = isa_and_nonnull<BoolAttr>(kernel->getAttr(decision.name)) &&
                                decision.name != kChunkAttrName;
                  return !decision.isMark && decision.name != kWarpsAttrName && !isNone;
                }).empty();
  WalkResult decided = kernel.getBody().walk([](Operation *op) {
    auto isOfTiles = [](const Decision &decision) {
      return !decision.isMark && !decision.isOfParts && decision.name != kRaggedAttrName;
    };
    bool isLeft = findDecision(op, isOfTiles).empty() && !isa<DotOp, DotScaledOp>(op);
    return isLeft ? WalkResult::advance() : WalkResult::interrupt();
  });
  return isOpen && !decided.wasInterrupted();
}

static int64_t countBytes(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getNumElements() * getElementBytes(type.getElementType());
}

namespace {
/// What a kernel may be decided to do.
struct Plan {
  Chunks chunks;
  int64_t warps;
  SmallVector<LoadOp> kept;
};

/// One kernel whose longest tiles can be cut.
class ChunkDecider {
public:
  ChunkDecider(KernelOp kernel, const ChunkPhases &phases, const Chip &chip)
      : kernel(kernel), phases(phases), chip(chip) {
    for (Operation *op : phases.getCut()) {
      for (Value result : op->getResults())
        see(result);
      if (auto store = dyn_cast<StoreOp>(op))
        narrow(store.getValue().getType());
      auto load = dyn_cast<LoadOp>(op);
      if (!load)
        continue;
      narrow(load.getType());
      auto [first, last] = phases.getUses(load);
      if (first == last)
        continue;
      usedAgain.push_back(load);
      bytesUsedAgain += countBytes(load.getResult());
      canKeep &= !sharesByte(load.getType().getElementType());
    }
  }

  bool isTooLong() const {
    bool isHeld = phases.countPhases() > 1;
    int64_t registers = isHeld ? kFewestPrograms * kValuesPerElement * elements : elements;
    return registers > int64_t(chip.registersPerCore);
  }

  /// The best first.
  SmallVector<Plan> propose() const {
    SmallVector<Plan> plans;
    int64_t own = bytesUsedAgain + kScratchBytes;
    if (!usedAgain.empty() && canKeep && own <= int64_t(chip.sharedBytes))
      add(plans, countShared(own), usedAgain);
    add(plans, countCached(), {});
    return plans;
  }

private:
  void narrow(RankedTensorType type) {
    narrowest = std::min(narrowest, getElementBytes(type.getElementType()));
  }
  void see(Value value) {
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      elements = std::max(elements, type.getNumElements());
  }

  /// How many programs a core has shared memory for.
  int64_t countShared(int64_t bytes) const {
    const std::optional<Figure> &all = chip.figures.sharedPerCore;
    return std::clamp<int64_t>((all ? all->value : chip.sharedBytes) / bytes, 1, kMostPrograms);
  }
  /// How many programs of each core find again in the second-level cache what they have loaded.
  int64_t countCached() const {
    const Figures &figures = chip.figures;
    if (!bytesUsedAgain || !figures.l2Bytes || !figures.cores)
      return kMostPrograms / 2;
    double most = kCachePart * figures.l2Bytes->value / figures.cores->value / bytesUsedAgain;
    return std::clamp<int64_t>(int64_t(most), 1, kMostPrograms / 2);
  }

  void add(SmallVector<Plan> &plans, int64_t programs, ArrayRef<LoadOp> kept) const {
    auto pinned = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName);
    int64_t most = chip.registersPerCore / kRegistersPerThread / programs;
    most = std::min<int64_t>(most, chip.maxThreads);
    int64_t warps = std::max<int64_t>(most / chip.warpSize, 1);
    warps = pinned ? pinned.getInt() : int64_t(llvm::bit_floor(uint64_t(warps)));
    // A chunk of each row of the tile.
    int64_t rows = std::max<int64_t>(elements / phases.getExtent(), 1);
    int64_t each = std::min(kBytesPerThread / narrowest, kMostElementsPerThread);
    int64_t chunk = warps * chip.warpSize * each / rows;
    int64_t divisor = phases.getExtent() & -phases.getExtent();
    int64_t length =
        std::min<int64_t>(llvm::bit_floor(uint64_t(std::max<int64_t>(chunk, 1))), divisor);
    if (phases.getExtent() < 2 * length || length * rows < warps * chip.warpSize)
      return;
    auto isKept = [&](LoadOp load) { return llvm::is_contained(kept, load); };
    if (!phases.findConflict(isKept))
      plans.push_back({{length, kLoadsAtOnce}, warps, llvm::to_vector(kept)});
  }

  KernelOp kernel;
  const ChunkPhases &phases;
  const Chip &chip;
  /// Of the largest tile that is cut.
  int64_t elements = 1;
  /// Of the elements that are loaded and stored, in bytes.
  int64_t narrowest = 8;
  SmallVector<LoadOp> usedAgain;
  int64_t bytesUsedAgain = 0;
  bool canKeep = true;
};
} // namespace

static void write(KernelOp kernel, const Plan &plan) {
  Builder builder(kernel.getContext());
  setChunks(kernel, plan.chunks);
  kernel->setAttr(kWarpsAttrName, builder.getI64IntegerAttr(plan.warps));
  for (LoadOp load : plan.kept)
    load->setAttr(kKeptAttrName, builder.getStringAttr(kKeptInShared));
}

static void decide(KernelOp kernel, const Chip &chip, const TryKernel &tryKernel) {
  if (!isUndecided(kernel))
    return;
  ChunkPhases phases(kernel);
  if (phases.getObstacle())
    return;
  ChunkDecider decider(kernel, phases, chip);
  if (!decider.isTooLong())
    return;
  Attribute warps = kernel->getAttr(kWarpsAttrName);
  for (const Plan &plan : decider.propose()) {
    write(kernel, plan);
    if (!tryKernel || tryKernel(kernel))
      return;
    kernel->removeAttr(kChunkAttrName);
    kernel->removeAttr(kWarpsAttrName);
    if (warps)
      kernel->setAttr(kWarpsAttrName, warps);
    for (LoadOp load : plan.kept)
      load->removeAttr(kKeptAttrName);
  }
}

namespace {
struct DecideChunks : kiln::impl::DecideChunksBase<DecideChunks> {
  DecideChunks() = default;
  explicit DecideChunks(TryKernel tryKernel) : tryKernel(std::move(tryKernel)) {}

  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    if (target->runsOnHost())
      return;
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      decide(kernel, target->getChipRecord(), tryKernel);
  }

  TryKernel tryKernel;
};
} // namespace

std::unique_ptr<Pass> kiln::createDecideChunks(TryKernel tryKernel) {
  return std::make_unique<DecideChunks>(std::move(tryKernel));
}
