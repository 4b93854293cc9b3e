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

/// Where the stretch of code ends that an op stands in: in front of the op that begins what follows
/// it, or, as in a role, of nothing.
static Block::iterator findEnd(Operation *op) {
  Block::iterator end = op->getIterator();
  while (end != op->getBlock()->end() && !isBoundary(&*end))
    ++end;
  return end;
}

namespace {
struct RealiseInterleaving : public kiln::impl::RealiseInterleavingBase<RealiseInterleaving> {
  void runOnOperation() override {
    // How many dots of a stretch, by its block and its end, have a list already.
    DenseMap<std::pair<Block *, Operation *>, int64_t> lists;
    getOperation().walk([&](DotOp dot) {
      InterleaveAttr interleave = dot.getInterleaveAttr();
      if (!interleave)
        return;
      Block *block = dot->getBlock();
      Block::iterator end = findEnd(dot);
      OpBuilder builder(block, end);
      int64_t list = lists[{block, end == block->end() ? nullptr : &*end}]++;
      for (InstructionGroup group : interleave.getSequence())
        ScheduleGroupOp::create(builder, dot.getLoc(), group.count, group.kind, list);
      dot.removeInterleaveAttr();
    });
  }
};
} // namespace
