// Tiles that an instruction copies lose the dimensions of one element that a reshape takes away, or
// adds, beside the copy: they are of the view alone.
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Transforms/Passes.h"

namespace kiln {
#define GEN_PASS_DEF_DROPUNITS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The dimensions of one element by which a shape has more than another; none if it differs
/// otherwise.
static std::optional<SmallVector<int64_t>> findDropped(ArrayRef<int64_t> whole,
                                                       ArrayRef<int64_t> shape) {
  SmallVector<int64_t> dropped;
  for (auto [dim, extent] : llvm::enumerate(whole)) {
    if (extent == 1 && whole.size() - dim > shape.size())
      dropped.push_back(dim);
    else if (shape.empty() || shape.front() != extent)
      return std::nullopt;
    else
      shape = shape.drop_front();
  }
  return shape.empty() && !dropped.empty() ? std::optional(dropped) : std::nullopt;
}

static void drop(LoadOp load) {
  Type type = load->use_empty() ? Type() : (*load->user_begin())->getResultTypes().front();
  auto isAlike = [&](Operation *user) {
    return isa<ReshapeOp>(user) && findDecision(user).empty() &&
           user->getResultTypes().front() == type;
  };
  if (!type || load.getDropped() || !llvm::all_of(load->getUsers(), isAlike))
    return;
  auto tensor = cast<RankedTensorType>(type);
  auto dropped = findDropped(load.getType().getShape(), tensor.getShape());
  if (!dropped)
    return;
  load.setDropped(*dropped);
  load.getResult().setType(tensor);
  for (Operation *user : llvm::make_early_inc_range(load->getUsers())) {
    user->replaceAllUsesWith(load);
    user->erase();
  }
}

static void drop(StoreOp store) {
  auto reshape = store.getValue().getDefiningOp<ReshapeOp>();
  if (!reshape || !findDecision(reshape).empty() || store.getDropped())
    return;
  auto dropped = findDropped(reshape.getType().getShape(), reshape.getInput().getType().getShape());
  if (!dropped)
    return;
  store.setDropped(*dropped);
  store.getValueMutable().assign(reshape.getInput());
  if (reshape->use_empty())
    reshape.erase();
}

namespace {
struct DropUnits : kiln::impl::DropUnitsBase<DropUnits> {
  void runOnOperation() override {
    SmallVector<Operation *> accesses;
    getOperation().walk([&](Operation *op) {
      if (isa<LoadOp, StoreOp>(op) && (op->hasAttr("atom") || op->hasAttr(kAtomNameAttrName)))
        accesses.push_back(op);
    });
    for (Operation *op : accesses) {
      if (auto load = dyn_cast<LoadOp>(op))
        drop(load);
      else
        drop(cast<StoreOp>(op));
    }
  }
};
} // namespace
