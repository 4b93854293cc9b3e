// Which extents that are no powers of two products keep, by which instructions could make them and
// by what comes of the kernel.
#include "DecidedExtents.h"
#include "ExactExtents.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Proposals.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEEXTENTS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

using Open = ExactExtents::Open;

namespace {
/// One kernel, of whose products some have extents that nobody has decided.
class ExtentDecider {
public:
  ExtentDecider(KernelOp kernel, TargetInterface target, const RankKernel &rankKernel)
      : kernel(kernel), target(target), rankKernel(rankKernel), classes(kernel, target) {
    kernel.getBody().walk([&](DotOp dot) {
      auto isOdd = [&](ExtentDim dim) { return classes.find(dim).has_value(); };
      if (!getDecidedExtents(dot) && dot.getType().getRank() == 2 &&
          llvm::any_of(getProductDims(dot), isOdd))
        undecided.push_back(dot);
    });
  }

  void run() {
    if (!undecided.empty())
      write(choose());
  }

private:
  ExactExtents ask(Open open) const { return ExactExtents(kernel, target, classes, open); }

  void write(const ExactExtents &exact) {
    for (DotOp dot : undecided)
      dot->setAttr(kExtentsAttrName,
                   DenseI64ArrayAttr::get(dot.getContext(), exact.getExtents(dot)));
  }

  /// What comes of the kernel; more than any proposal if it is refused.
  int64_t rank(const ExactExtents &exact) {
    write(exact);
    std::optional<int64_t> rank = rankKernel(kernel);
    for (DotOp dot : undecided)
      dot->removeAttr(kExtentsAttrName);
    return rank.value_or(kMostProposals + 1);
  }

  /// Whether a loop's trip is written out: in pieces of odd extents it takes more scalars than a
  /// wave has.
  bool hasLongTrips() {
    auto isLong = [&](scf::ForOp loop) {
      return isWrittenOut(*loop.getBody(), target.getChipRecord()) ? WalkResult::interrupt()
                                                                   : WalkResult::advance();
    };
    return kernel.getBody().walk(isLong).wasInterrupted();
  }

  /// Which instructions that nobody has decided keep extents exact. Products that run on beside
  /// their warps are asked first, and all that grows may run better than what does not.
  ExactExtents choose() {
    ExactExtents grown = ask(Open::Grown);
    int64_t best = kWaitingProposal;
    std::optional<int64_t> rankOfGrown;
    for (Open open : {Open::Beside, Open::Warps}) {
      ExactExtents exact = ask(open);
      // Products may do better than those of single warps where there are others.
      if (exact.thinksOfBeside())
        best = 0;
      if (exact.countExact() <= grown.countExact())
        continue;
      if (!rankKernel)
        return exact;
      int64_t found = rank(exact);
      if (open == Open::Beside && found >= kWaitingProposal)
        continue;
      // Where no ring is filled, threads load operands in each trip, in vectors of which an odd
      // factor leaves too few for all lanes.
      bool isPlain = open == Open::Warps && !kernel->hasAttr(kRolesAttrName);
      if (isPlain && (found > kWaitingProposal || hasLongTrips()))
        continue;
      if (found > best && !rankOfGrown)
        rankOfGrown = rank(grown);
      if (found <= std::max(best, rankOfGrown.value_or(best)))
        return exact;
    }
    return grown;
  }

  KernelOp kernel;
  TargetInterface target;
  const RankKernel &rankKernel;
  ExtentClasses classes;
  SmallVector<DotOp> undecided;
};

struct DecideExtents : kiln::impl::DecideExtentsBase<DecideExtents> {
  DecideExtents() = default;
  explicit DecideExtents(RankKernel rankKernel) : rankKernel(std::move(rankKernel)) {}

  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      ExtentDecider(kernel, *target, rankKernel).run();
  }

  RankKernel rankKernel;
};
} // namespace

std::unique_ptr<Pass> kiln::createDecideExtents(RankKernel rankKernel) {
  return std::make_unique<DecideExtents>(std::move(rankKernel));
}
