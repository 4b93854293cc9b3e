// Places buffers in the scratch memory so that those that never live together share it.
//
// The largest goes first, to the lowest place that is free while it lives. That looks at all pairs,
// so a kernel of very many buffers is swept from its first op to its last instead: a buffer takes
// the smallest hole that holds it when its life begins, and leaves one when it ends.
#include "Materialization.h"
#include "kiln/Target/CPU/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>
#include <set>

namespace kiln::cpu {
#define GEN_PASS_DEF_PLANSCRATCH
#include "kiln/Target/CPU/Passes.h.inc"
} // namespace kiln::cpu

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

namespace {

/// First and last number of the ops that use a buffer.
struct Life {
  Block *owner = nullptr;
  int64_t first = 0, last = 0;
};

/// Up to this many buffers, all pairs are looked at.
constexpr size_t kFewBuffers = 500;

/// Gives each buffer its offset, the largest first.
SmallVector<int64_t> placeLargestFirst(ArrayRef<int64_t> bytes, ArrayRef<Life> lives) {
  SmallVector<unsigned> order(llvm::to_vector(llvm::seq<unsigned>(0, bytes.size())));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return bytes[a] != bytes[b] ? bytes[a] > bytes[b] : a < b;
  });
  SmallVector<int64_t> offsets(bytes.size(), kScratchHeaderBytes);
  SmallVector<unsigned> placed;
  for (unsigned buffer : order) {
    SmallVector<std::pair<int64_t, int64_t>> taken;
    for (unsigned other : placed)
      if (lives[other].first <= lives[buffer].last && lives[buffer].first <= lives[other].last)
        taken.push_back({offsets[other], offsets[other] + bytes[other]});
    llvm::sort(taken);
    for (auto [from, to] : taken)
      if (offsets[buffer] < to && from < offsets[buffer] + bytes[buffer])
        offsets[buffer] = to;
    placed.push_back(buffer);
  }
  return offsets;
}

/// The memory of a sweep: holes, by where they are and by their size, below an end that grows.
class Holes {
public:
  int64_t take(int64_t bytes) {
    auto fit = bySize.lower_bound({bytes, 0});
    if (fit == bySize.end()) {
      int64_t offset = end;
      end += bytes;
      return offset;
    }
    auto [size, offset] = *fit;
    erase(offset, size);
    if (size > bytes)
      insert(offset + bytes, size - bytes);
    return offset;
  }
  void give(int64_t offset, int64_t bytes) {
    auto after = byOffset.lower_bound(offset);
    if (after != byOffset.end() && after->first == offset + bytes) {
      bytes += after->second;
      erase(after->first, after->second);
    }
    auto before = byOffset.lower_bound(offset);
    if (before != byOffset.begin() && (--before)->first + before->second == offset) {
      auto [from, size] = *before;
      erase(from, size);
      offset = from;
      bytes += size;
    }
    insert(offset, bytes);
  }

private:
  void insert(int64_t offset, int64_t bytes) {
    byOffset[offset] = bytes;
    bySize.insert({bytes, offset});
  }
  void erase(int64_t offset, int64_t bytes) {
    byOffset.erase(offset);
    bySize.erase({bytes, offset});
  }

  std::map<int64_t, int64_t> byOffset;
  std::set<std::pair<int64_t, int64_t>> bySize;
  int64_t end = kScratchHeaderBytes;
};

/// Gives each buffer its offset, in the order in which their lives begin.
SmallVector<int64_t> placeBySweep(ArrayRef<int64_t> bytes, ArrayRef<Life> lives) {
  SmallVector<unsigned> births(llvm::to_vector(llvm::seq<unsigned>(0, bytes.size())));
  llvm::sort(births, [&](unsigned a, unsigned b) {
    return lives[a].first != lives[b].first ? lives[a].first < lives[b].first : a < b;
  });
  std::set<std::pair<int64_t, unsigned>> alive; // by when they die
  SmallVector<int64_t> offsets(bytes.size(), kScratchHeaderBytes);
  Holes holes;
  for (unsigned buffer : births) {
    if (!bytes[buffer])
      continue;
    while (!alive.empty() && alive.begin()->first < lives[buffer].first) {
      unsigned dead = alive.begin()->second;
      alive.erase(alive.begin());
      holes.give(offsets[dead], bytes[dead]);
    }
    offsets[buffer] = holes.take(bytes[buffer]);
    alive.insert({lives[buffer].last, buffer});
  }
  return offsets;
}

struct Planner {
  tile::KernelOp kernel;
  /// First and last number of each op, those inside included.
  DenseMap<Operation *, std::pair<int64_t, int64_t>> span;
  SmallVector<Life> lives;

  void number(Block &block, int64_t &next) {
    for (Operation &op : block) {
      int64_t first = next++;
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          number(inner, next);
      span[&op] = {first, next++};
    }
  }

  /// `op` uses the buffer. Inside a loop that the buffer outlives, it is used all along.
  void touch(int64_t buffer, Operation *op) {
    if (buffer < 0)
      return;
    Life &life = lives[buffer];
    if (!life.owner)
      life.owner = op->getBlock();
    Operation *ancestor = life.owner->findAncestorOpInBlock(*op);
    while (!ancestor) { // used outside the block of its first user: it belongs further out
      Operation *parent = life.owner->getParentOp();
      life.first = std::min(life.first, span[parent].first);
      life.last = std::max(life.last, span[parent].second);
      life.owner = parent->getBlock();
      ancestor = life.owner->findAncestorOpInBlock(*op);
    }
    auto [first, last] = span[ancestor];
    if (life.last == 0)
      life.first = first;
    life.first = std::min(life.first, first);
    life.last = std::max(life.last, last);
  }

  int64_t run() {
    auto bytes = kernel->getAttrOfType<DenseI64ArrayAttr>(kBufferBytesAttr).asArrayRef();
    lives.resize(bytes.size());
    int64_t next = 1;
    for (Block &block : kernel.getBody())
      number(block, next);
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (StringRef name :
           {StringRef(kBuffersAttr), StringRef(kBeforeBuffersAttr), StringRef(kTempsAttr)})
        if (auto buffers = op->getAttrOfType<DenseI64ArrayAttr>(name))
          for (int64_t buffer : buffers.asArrayRef())
            touch(buffer, op);
      if (auto alloc = dyn_cast<tile::AllocOp>(op)) // lives until the program ends
        for (int64_t buffer : op->getAttrOfType<DenseI64ArrayAttr>(kTempsAttr).asArrayRef())
          lives[buffer] = {&kernel.getBody().front(), 1, next};
      // What is computed where it is used reads nothing before: its users are asked.
      if (op->getNumResults() && llvm::all_of(op->getResults(), isInline))
        return;
      for (Value operand : op->getOperands())
        if (isa<RankedTensorType>(operand.getType()))
          walkTree(operand, [&](Value leaf) { touch(bufferOf(leaf), op); });
      if (auto reduce = dyn_cast<tile::ReduceOp>(op)) // what it computes on its way is read here
        if (Operation *input = reduce.getInputs().front().getDefiningOp();
            input && input->hasAttr(kFusedAttr))
          for (Value operand : input->getOperands())
            if (isa<RankedTensorType>(operand.getType()))
              walkTree(operand, [&](Value leaf) { touch(bufferOf(leaf), op); });
    });

    SmallVector<int64_t> offsets =
        bytes.size() <= kFewBuffers ? placeLargestFirst(bytes, lives) : placeBySweep(bytes, lives);
    int64_t total = kScratchHeaderBytes;
    for (auto [offset, size] : llvm::zip_equal(offsets, bytes))
      total = std::max(total, offset + size);
    MLIRContext *context = kernel.getContext();
    kernel->setAttr(kBufferOffsetsAttr, DenseI64ArrayAttr::get(context, offsets));
    kernel->setAttr(kScratchBytesAttr, IntegerAttr::get(IntegerType::get(context, 64), total));
    return total;
  }
};

struct PlanPass : kiln::cpu::impl::PlanScratchBase<PlanPass> {
  using PlanScratchBase::PlanScratchBase;
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](tile::KernelOp kernel) {
      if (failed(checkDecisions(kernel)))
        return WalkResult::interrupt();
      Planner planner;
      planner.kernel = kernel;
      int64_t total = planner.run();
      if (total <= kMostScratchBytes)
        return WalkResult::advance();
      kernel.emitOpError("expected tiles that fit ")
          << kMostScratchBytes << " bytes of scratch memory together, got " << total << " bytes";
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
