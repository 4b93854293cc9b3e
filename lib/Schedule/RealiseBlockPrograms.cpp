// Has one block run several programs of a grid: each copy of the role that a program is takes one,
// if it is there.
//
//   %program = %block * N + %copy
//   scf.if %program < %extent { … }
//
// Blocks take programs along x, so that y and z are what they were. How many there are the launch
// tells, which makes as many blocks as they need: so any grid will do.
#include "Decisions.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/ABI.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEBLOCKPROGRAMS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static void realise(KernelOp kernel) {
  int64_t programs = countBlockPrograms(kernel);
  Block &body = kernel.getBody().front();
  SmallVector<Operation *> ops(llvm::make_pointer_range(body.without_terminator()));
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Location loc = kernel.getLoc();
  IndexMath math{builder, loc};
  Type index = builder.getIndexType();
  Value extent = addHidden(kernel, {HiddenArgument::GridExtent});
  Value place[3];
  for (unsigned axis = 0; axis < 3; ++axis)
    place[axis] = ProgramIdOp::create(builder, loc, index, Axis(axis));
  Value copy = CopyIdOp::create(builder, loc, index);
  place[0] = math.add(math.mul(place[0], math.constant(programs)), copy);
  auto exists = scf::IfOp::create(builder, loc, math.isLess(place[0], extent),
                                  /*withElseRegion=*/false);
  SmallVector<Operation *> queries;
  for (Operation *op : ops) {
    op->moveBefore(exists.thenBlock()->getTerminator());
    op->walk([&](Operation *inner) {
      TypeSwitch<Operation *>(inner)
          .Case<PrintOp, AssertOp>([&](auto message) {
            if (message.getProgram().empty())
              message.getProgramMutable().assign(place);
          })
          .Case<ProgramIdOp, NumProgramsOp>([&](auto query) { queries.push_back(query); });
    });
  }
  for (Operation *op : queries) {
    auto id = dyn_cast<ProgramIdOp>(op);
    auto number = dyn_cast<NumProgramsOp>(op);
    if (id)
      id.replaceAllUsesWith(place[unsigned(id.getAxis())]);
    else if (number.getAxis() == Axis::X)
      number.replaceAllUsesWith(extent);
    else
      continue;
    op->erase();
  }
  setMetadata(kernel, "programs_per_block", builder.getI64IntegerAttr(programs));
}

namespace {
struct RealiseBlockPrograms : kiln::impl::RealiseBlockProgramsBase<RealiseBlockPrograms> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (kernel->hasAttr(kBlockProgramsAttrName) && kernel->hasAttr(kRolesAttrName))
        realise(kernel);
  }
};
} // namespace
