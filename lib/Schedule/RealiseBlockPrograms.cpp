// Has one block run several programs of a grid: each copy of the role that a program is takes one,
// if it is there.
//
//   %program = %block * N + %copy
//   scf.if %program < %extent { … }
//
// Blocks take programs along x, so that y and z are what they were. How many there are the launch
// tells, which makes as many blocks as they need: so any grid will do.
#include "Decisions.h"
#include "SmallPrograms.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Marks.h"
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

static constexpr StringLiteral kProgramsName = "programs_per_block";

/// How many programs of the source one program runs in step already.
static int64_t countInStep(KernelOp kernel) {
  auto members = kernel->getParentOp()->getAttrOfType<DictionaryAttr>(kMetadataAttrName);
  auto count = members ? members.getAs<IntegerAttr>(kProgramsName) : IntegerAttr();
  return count ? count.getInt() : 1;
}

static void realise(KernelOp kernel) {
  int64_t programs = countBlockPrograms(kernel);
  Block &body = kernel.getBody().front();
  SmallVector<Operation *> ops(llvm::make_pointer_range(body.without_terminator()));
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Location loc = kernel.getLoc();
  IndexMath math{builder, loc};
  Type index = builder.getIndexType();
  Value extent = findGridExtent(kernel);
  int64_t inStep = extent ? countInStep(kernel) : 1;
  if (!extent)
    extent = addHidden(kernel, {HiddenArgument::GridExtent});
  if (inStep > 1)
    extent = math.div(math.add(extent, math.constant(inStep - 1)), math.constant(inStep));
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
  setMetadata(kernel, kProgramsName, builder.getI64IntegerAttr(inStep * programs));
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
