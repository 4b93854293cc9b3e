// Puts the groups that a dot's instructions alternate in where the code generator looks for them:
// behind everything that they may take from.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEINTERLEAVING
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether instructions are ordered on both sides of an op apart.
static bool isBoundary(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() ||
         isa<BarrierOp, ScheduleBarrierOp, WarpGroupsOp, RegionBranchOpInterface>(op);
}

/// The op that begins what follows the stretch of code that an op stands in.
static Operation *findEnd(Operation *op) {
  while (!isBoundary(op))
    op = op->getNextNode();
  return op;
}

namespace {
struct RealiseInterleaving : public kiln::impl::RealiseInterleavingBase<RealiseInterleaving> {
  void runOnOperation() override {
    // How many dots of a stretch, by its end, have a list already.
    DenseMap<Operation *, int64_t> lists;
    getOperation().walk([&](DotOp dot) {
      InterleaveAttr interleave = dot.getInterleaveAttr();
      if (!interleave)
        return;
      Operation *end = findEnd(dot);
      OpBuilder builder(end);
      int64_t list = lists[end]++;
      for (InstructionGroup group : interleave.getSequence())
        ScheduleGroupOp::create(builder, dot.getLoc(), group.count, group.kind, list);
      dot.removeInterleaveAttr();
    });
  }
};
} // namespace
