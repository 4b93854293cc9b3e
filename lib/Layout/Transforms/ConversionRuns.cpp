// ConversionRuns.h: conversions through memory, by blocks and by uses.
#include "ConversionRuns.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace kiln::tile;

namespace kiln {

bool isHandedOver(ConvertLayoutOp op) { return !op.getHowAttr() && getDecision(op, "role"); }

SmallVector<SmallVector<ConvertLayoutOp>> findConversionRuns(KernelOp kernel, int64_t shared) {
  SmallVector<SmallVector<ConvertLayoutOp>> runs;
  kernel.walk([&](Block *block) {
    int64_t bytes = 0;
    Operation *last = nullptr;
    for (Operation &op : *block) {
      auto convert = dyn_cast<ConvertLayoutOp>(op);
      if (!convert || isHandedOver(convert) ||
          convert.getHowAttr().getKind() != ConversionKind::Memory)
        continue;
      int64_t more = getSharedBytes(cast<RankedTensorType>(convert.getType()));
      bool follows = last && last->getNextNode() == &op && bytes + more <= shared / 2 &&
                     convert.getInput().getDefiningOp() != last;
      if (!follows) {
        runs.emplace_back();
        bytes = 0;
      }
      runs.back().push_back(convert);
      bytes += more;
      last = &op;
    }
  });
  return runs;
}

DotOp findDeferredUse(ConvertLayoutOp op, SmallVectorImpl<Operation *> &views) {
  Operation *user = op;
  while (user->hasOneUse() && (user == op || isa<ReshapeOp, TransposeOp>(user))) {
    user = *user->user_begin();
    views.push_back(user);
  }
  auto dot = dyn_cast<DotOp>(user);
  if (!dot)
    return {};
  views.pop_back();
  auto loop = dyn_cast<LoopLikeOpInterface>(dot->getParentOp());
  return loop && loop->getBlock() == op->getBlock() ? dot : DotOp();
}

} // namespace kiln
