// By which instruction the warps of a role write what goes through shared memory.
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Layout/Transforms/WarpCopyAtomInterface.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Chip.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEWRITES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The quickest of the target's that can move the tensor to the buffer; null if each thread does
/// best by its own stores.
static Attribute choose(WriteOp write, TargetInterface target) {
  RankedTensorType type = write.getValue().getType();
  BufferType buffer = write.getBuffer().getType();
  LinearLayout tensor = getLayout(write.getValue());
  auto given = dyn_cast_or_null<LayoutAttr>(buffer.getLayout());
  LinearLayout order =
      given ? given.toLinear(buffer.getShape()) : getRowMajorLayout(buffer.getShape());
  unsigned bytes = getSharedElementBytes(type.getElementType());
  auto measure = [&](Attribute atom) {
    SharedSide side =
        measureSide(tensor, order, bytes, target.getChipRecord(), /*isWrite=*/true, atom);
    return std::make_pair(side.instructions * side.cycles, side.instructions);
  };
  Attribute best;
  auto least = measure({});
  for (Attribute attr : target.getCopyAtoms(type.getElementType())) {
    auto atom = cast<WarpCopyAtomInterface>(attr);
    if (!atom.canCopy(Place::Registers, Place::Shared) ||
        !canMove(atom, getSharedOffsets(tensor, &order)))
      continue;
    if (auto cost = measure(attr); cost < least) {
      least = cost;
      best = attr;
    }
  }
  return best;
}

namespace {
struct DecideWrites : kiln::impl::DecideWritesBase<DecideWrites> {
  void runOnOperation() override {
    SmallVector<WriteOp> writes;
    getOperation().walk([&](WriteOp write) {
      if (WarpGroupsOp::getRoleOf(write) && !write.getAtomAttr() && !write.getExtents())
        writes.push_back(write);
    });
    if (writes.empty())
      return;
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (WriteOp write : writes)
      if (Attribute atom = choose(write, *target))
        write.setAtomAttr(atom);
  }
};
} // namespace
