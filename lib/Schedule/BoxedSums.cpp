// Follows a tensor of which boxes are taken back to the sums that it is made of.
#include "BoxedSums.h"
#include "CutParts.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

RankedTensorType kiln::getTensorType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

Slices kiln::findSlices(ModuleOp module) {
  Slices slices;
  module.walk([&](SliceOp slice) {
    if (WarpGroupsOp::getRoleOf(slice))
      slices[slice.getInput()].push_back(slice);
  });
  return slices;
}

/// Whether each element of an op's one result is made of the elements at its place.
static bool isElementwise(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumRegions() || !isMemoryEffectFree(op) ||
      !OpTrait::hasElementwiseMappableTraits(op))
    return false;
  RankedTensorType type = getTensorType(op->getResult(0));
  return type && llvm::all_of(op->getOperands(), [&](Value operand) {
           RankedTensorType other = getTensorType(operand);
           return !other || (other.getShape() == type.getShape() &&
                             other.getEncoding() == type.getEncoding());
         });
}

/// Each has the elements of its threads.
static bool areColumns(Value whole, ArrayRef<SliceOp> boxes) {
  RankedTensorType type = getTensorType(whole);
  SliceOp first = boxes.front();
  RankedTensorType box = first.getType();
  return type.getRank() == 2 && box == getBoxType(whole, box.getShape()) &&
         llvm::all_of(boxes, [&](SliceOp slice) {
           return slice.getType() == box && slice->getBlock() == whole.getParentBlock() &&
                  slice.getOffsets()[0] == 0 && box.getDimSize(0) == type.getDimSize(0);
         });
}

/// The release of the slot that a sum is fetched from, behind it; none of what is written over by
/// then, which dots give back.
static ReleaseOp findRelease(FetchOp fetch) {
  auto get = fetch.getPending().getDefiningOp<GetOp>();
  for (Operation *op = get ? fetch->getNextNode() : nullptr; op; op = op->getNextNode())
    if (auto release = dyn_cast<ReleaseOp>(op);
        release && release.getChannel() == get.getChannel() && release.getSlot() == get.getSlot())
      return release.getCommit() ? ReleaseOp() : release;
  return {};
}

/// Whether nothing between a release and another op waits for another role, but for sums of other
/// channels that are fetched there: it might wait for the slot, which will be released behind it.
static bool waitsForNone(ReleaseOp release, Operation *last) {
  if (last->isBeforeInBlock(release))
    return true;
  for (Operation *op = release; op != last; op = op->getNextNode()) {
    auto get = dyn_cast<GetOp>(op);
    bool isSum = get && get.getChannel().getType().getAccumulator() && !get.getToStart() &&
                 get.getChannel() != release.getChannel();
    if (op->getNumRegions() || isa<AcquireOp>(op) || (get && !isSum))
      return false;
  }
  return true;
}

std::optional<BoxedSums> kiln::findBoxedSums(Value whole, ArrayRef<SliceOp> boxes,
                                             std::string &expected) {
  Operation *last = whole.getDefiningOp();
  if (!last || !areColumns(whole, boxes)) {
    expected =
        "boxes of one kind, each of some columns in all rows, of a tensor made in front of them";
    return std::nullopt;
  }
  if (!llvm::all_of(whole.getUsers(), llvm::IsaPred<SliceOp>)) {
    expected = "a tensor of which nothing but boxes is used";
    return std::nullopt;
  }
  BoxedSums sums = {whole, SmallVector<SliceOp>(boxes), {}, {}};
  DenseSet<Operation *> inside;
  auto isInside = [&](Operation *user) { return inside.contains(user); };
  for (Operation *op = last; op; op = op->getPrevNode()) {
    auto fetch = dyn_cast<FetchOp>(op);
    if (op != last && (op->use_empty() || !llvm::all_of(op->getUsers(), isInside)))
      continue;
    if (!fetch && !isElementwise(op))
      continue;
    if (fetch) {
      int64_t rows = cast<MmaAtomInterface>(fetch.getAtom()).getExtents()[0];
      ReleaseOp release = findRelease(fetch);
      if (!release || fetch.getType().getDimSize(0) != rows || !waitsForNone(release, boxes.back()))
        continue;
      sums.releases.insert({fetch, release});
    }
    inside.insert(op);
    sums.ops.push_back(op);
  }
  std::reverse(sums.ops.begin(), sums.ops.end());
  if (!sums.releases.empty() && inside.contains(last))
    return sums;
  expected =
      "a tensor made of sums in tensor memory element by element, which nothing else uses, and no "
      "wait for another role behind their fetches";
  return std::nullopt;
}
