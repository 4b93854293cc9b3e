// Has tiles loaded some boxes at a time that are too large to be held beside a product's sums.
#include "BoxLoads.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEBOXLOADS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The registers of 32 bits that a thread has of a tensor.
static int64_t countRegisters(Value tensor) {
  Type element = cast<RankedTensorType>(tensor.getType()).getElementType();
  int64_t bits = element.isIndex() ? 64 : std::max(8u, element.getIntOrFloatBitWidth());
  return llvm::divideCeil(getLayout(tensor).getInSize(kRegister) * bits, 32);
}

/// What a thread of a role has.
static int64_t getRegisters(RoleAttr role, int64_t warps, const Chip &chip) {
  int64_t own = role.getRegisters() ? role.getRegisters() : chip.getRegistersAtEntry(warps);
  return std::min<int64_t>(own, chip.registersPerThread);
}

/// Of the loads of one block, in whose order boxes are used together.
static void decide(ArrayRef<LoadOp> loads, int64_t registers, int64_t least) {
  Block *block = loads.front()->getBlock();
  int64_t each = 0, count = std::numeric_limits<int64_t>::max();
  std::string expected;
  llvm::SetVector<Value> loaded;
  for (LoadOp load : loads) {
    BoxUses boxes = findBoxUses(load, expected);
    count = std::min<int64_t>(count, boxes.size());
    int64_t most = 0;
    for (ArrayRef<SliceOp> uses : boxes) {
      SliceOp box = uses.front();
      most = std::max(most, countRegisters(box.getResult()));
    }
    each += most;
    loaded.insert(load.getResult());
  }
  // Beside boxes there are all tensors that are cut, and what is made of a box.
  llvm::SetVector<Value> whole;
  int64_t made = 0;
  for (SliceOp slice : block->getOps<SliceOp>())
    if (!loaded.contains(slice.getInput())) {
      whole.insert(slice.getInput());
      made = std::max(made, countRegisters(slice.getResult()));
    }
  int64_t left = registers - least - made;
  for (Value tensor : whole)
    left -= countRegisters(tensor);
  int64_t held = std::max<int64_t>(1, left / std::max<int64_t>(1, each));
  if (held >= count)
    return;
  auto attr = IntegerAttr::get(IntegerType::get(block->getParentOp()->getContext(), 64), held);
  for (LoadOp load : loads)
    load->setAttr(kHeldAttrName, attr);
}

namespace {
struct DecideBoxLoads : kiln::impl::DecideBoxLoadsBase<DecideBoxLoads> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    const Chip &chip = target->getChipRecord();
    getOperation().walk([&](WarpGroupsOp groups) {
      int64_t warps = 0;
      for (RoleAttr role : groups.getRoles().getAsRange<RoleAttr>())
        warps += role.getTotalWarps();
      for (auto [role, region] :
           llvm::zip_equal(groups.getRoles().getAsRange<RoleAttr>(), groups.getBodies())) {
        llvm::MapVector<Block *, SmallVector<LoadOp>> loads;
        region.walk([&](LoadOp load) {
          std::string expected;
          if (!load->hasAttr(kHeldAttrName) && findBoxUses(load, expected).size() > 1)
            loads[load->getBlock()].push_back(load);
        });
        for (auto &[block, its] : loads)
          decide(its, getRegisters(role, warps, chip), chip.roleRegisters.least);
      }
    });
  }
};
} // namespace
