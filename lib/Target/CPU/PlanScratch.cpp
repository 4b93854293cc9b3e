// Places buffers in the scratch memory so that those that never live together share it.
#include "Materialization.h"
#include "kiln/Target/CPU/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln::cpu {
#define GEN_PASS_DEF_PLANSCRATCH
#include "kiln/Target/CPU/Passes.h.inc"
} // namespace kiln::cpu

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

namespace {

struct Planner {
  tile::KernelOp kernel;
  /// First and last number of each op, those inside included.
  DenseMap<Operation *, std::pair<int64_t, int64_t>> span;
  struct Life {
    Block *owner = nullptr;
    int64_t first = 0, last = 0;
  };
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

    SmallVector<unsigned> order(llvm::to_vector(llvm::seq<unsigned>(0, bytes.size())));
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return bytes[a] != bytes[b] ? bytes[a] > bytes[b] : a < b;
    });
    SmallVector<int64_t> offsets(bytes.size(), kScratchHeaderBytes);
    SmallVector<unsigned> placed;
    int64_t total = kScratchHeaderBytes;
    for (unsigned buffer : order) {
      SmallVector<std::pair<int64_t, int64_t>> taken;
      for (unsigned other : placed)
        if (lives[other].first <= lives[buffer].last && lives[buffer].first <= lives[other].last)
          taken.push_back({offsets[other], offsets[other] + bytes[other]});
      llvm::sort(taken);
      for (auto [from, to] : taken)
        if (offsets[buffer] < to && from < offsets[buffer] + bytes[buffer])
          offsets[buffer] = to;
      total = std::max(total, offsets[buffer] + bytes[buffer]);
      placed.push_back(buffer);
    }
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
