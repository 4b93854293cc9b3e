// Finds the boxes that are used of a load.
#include "BoxLoads.h"
#include "GlobalAccesses.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether memory that is loaded may be stored to behind the load and in front of another op: by
/// the role itself, or by another one, which a barrier then orders behind the load.
static bool mayBeStored(LoadOp load, Operation *until) {
  std::optional<GlobalAccess> loaded = findGlobalAccess(load);
  for (Operation *op = load->getNextNode(); op != until; op = op->getNextNode()) {
    WalkResult result = op->walk([&](Operation *each) {
      std::optional<GlobalAccess> access = findGlobalAccess(each);
      auto barrier = dyn_cast<BarrierOp>(each);
      bool meets = (barrier && barrier.getGlobal()) ||
                   (access && access->writes && (!loaded || mayMeet(*access, *loaded, Meeting())));
      return meets ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return true;
  }
  return false;
}

BoxUses kiln::findBoxUses(LoadOp load, std::string &expected) {
  llvm::MapVector<ArrayAttr, SmallVector<SliceOp>> found;
  Builder builder(load);
  expected =
      "a load of which nothing but boxes are used, among which registers choose, in its block";
  for (Operation *user : load->getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    if (!slice || slice->getBlock() != load->getBlock() || load.getExtents() || load.getAtomAttr())
      return {};
    RankedTensorType type = slice.getType();
    std::optional<LinearLayout> layout = getBoxLayout(getLayout(load.getResult()), type.getShape());
    if (!layout || withLayout(type, *layout) != type)
      return {};
    found[builder.getArrayAttr({slice.getOffsetsAttr(), TypeAttr::get(type)})].push_back(slice);
  }
  auto isBefore = [](SliceOp one, SliceOp other) { return one->isBeforeInBlock(other); };
  auto boxes = llvm::map_to_vector(found, [](auto &entry) { return entry.second; });
  for (SmallVector<SliceOp> &uses : boxes)
    llvm::sort(uses, isBefore);
  llvm::sort(boxes, [&](const auto &one, const auto &other) {
    return isBefore(one.front(), other.front());
  });
  if (!boxes.empty() && mayBeStored(load, boxes.back().front())) {
    expected = "memory that nobody stores to in front of the last box";
    return {};
  }
  return boxes;
}
