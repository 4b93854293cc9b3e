// Reshapes and transposes beside a tile that an instruction copies: dimensions of one element that
// a reshape takes away, or adds, are the view's alone, and a product reads an operand either way.
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kiln {
#define GEN_PASS_DEF_FOLDTILEVIEWS
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

std::optional<DroppedUnits> kiln::findDroppedUnits(LoadOp load) {
  auto first = load->use_empty() ? ReshapeOp() : dyn_cast<ReshapeOp>(*load->user_begin());
  auto isAlike = [&](Operation *user) {
    return isa<ReshapeOp>(user) && findDecision(user).empty() &&
           user->getResultTypes().front() == first.getType();
  };
  if (!first || load.getDropped() || load.getExtents() || !llvm::all_of(load->getUsers(), isAlike))
    return std::nullopt;
  auto dims = findDropped(load.getType().getShape(), first.getType().getShape());
  return dims ? std::optional(DroppedUnits{first.getType(), *dims}) : std::nullopt;
}

/// A pinned buffer has no more dimensions than its tile.
template <typename Access>
static void dropOfBuffer(Access access, ArrayRef<int64_t> dropped) {
  BufferType buffer = access.getBuffer().value_or(BufferType());
  auto order = buffer ? dyn_cast_or_null<LayoutAttr>(buffer.getLayout()) : LayoutAttr();
  if (!order)
    return;
  SmallVector<int64_t> shape(buffer.getShape());
  LinearLayout whole = order.toLinear(shape);
  SmallVector<LinearLayout::InDim> ins(whole.getIns());
  for (int64_t dim : llvm::reverse(dropped)) {
    if (dim >= int64_t(shape.size()) || shape[dim] != 1)
      return;
    shape.erase(shape.begin() + dim);
    for (LinearLayout::InDim &in : ins)
      for (LinearLayout::Basis &basis : in.bases)
        basis.erase(basis.begin() + dim);
  }
  std::optional<LinearLayout> rest = LinearLayout::create(ins, getTensorOuts(shape));
  if (rest)
    access.setBuffer(BufferType::get(access.getContext(), shape, buffer.getElementType(),
                                     LayoutAttr::get(access.getContext(), *rest)));
}

static void drop(LoadOp load) {
  std::optional<DroppedUnits> dropped = findDroppedUnits(load);
  if (!dropped)
    return;
  load.setDropped(dropped->dims);
  dropOfBuffer(load, dropped->dims);
  load.getResult().setType(dropped->type);
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
  dropOfBuffer(store, *dropped);
  store.getValueMutable().assign(reshape.getInput());
  if (reshape->use_empty())
    reshape.erase();
}

static bool areApart(SliceOp x, SliceOp y) {
  for (auto [i, extent] : llvm::enumerate(x.getType().getShape())) {
    int64_t first = x.getOffsets()[i], second = y.getOffsets()[i];
    if (first + extent <= second || second + y.getType().getDimSize(i) <= first)
      return true;
  }
  return false;
}

/// A load of which nothing but slices is used, each element in one of them, is a load of each.
static void split(LoadOp load) {
  SmallVector<SliceOp> slices;
  for (Operation *user : load->getUsers()) {
    auto slice = dyn_cast<SliceOp>(user);
    auto isApart = [&](SliceOp other) { return areApart(slice, other); };
    if (!slice || !findDecision(slice).empty() || !llvm::all_of(slices, isApart))
      return;
    slices.push_back(slice);
  }
  if (slices.empty() || load.getOrder() || load.getBuffer())
    return;
  llvm::sort(slices, [](SliceOp x, SliceOp y) { return x.getOffsets() < y.getOffsets(); });
  OpBuilder builder(load);
  for (SliceOp slice : slices) {
    auto part = cast<LoadOp>(builder.clone(*load));
    OpBuilder before(part);
    for (auto [dim, by] : llvm::enumerate(slice.getOffsets())) {
      if (!by)
        continue;
      OpOperand &offset = part.getOffsetsMutable()[getViewDim(dim, load.getDropped())];
      Value shift = arith::ConstantIndexOp::create(before, load.getLoc(), by);
      offset.set(arith::AddIOp::create(before, load.getLoc(), offset.get(), shift));
    }
    part.getResult().setType(slice.getType());
    slice.replaceAllUsesWith(part.getResult());
    slice.erase();
  }
  load.erase();
}

/// The matrices of which a value is the transpose, of the transpose, and so on.
static SmallVector<TransposeOp> findTransposes(Value value) {
  SmallVector<TransposeOp> transposes;
  auto transpose = value.getDefiningOp<TransposeOp>();
  while (transpose && transpose.getType().getRank() == 2 && findDecision(transpose).empty() &&
         transpose.getPermutation()[0] == 1) {
    transposes.push_back(transpose);
    transpose = transpose.getInput().getDefiningOp<TransposeOp>();
  }
  return transposes;
}

/// A product of a transposed operand reads the operand transposed.
static void turn(DotOp dot) {
  for (OpOperand *operand : {&dot.getAMutable(), &dot.getBMutable()}) {
    SmallVector<TransposeOp> transposes = findTransposes(operand->get());
    if (transposes.empty() || !fillsBuffer(transposes.back().getInput().getDefiningOp()))
      continue;
    operand->set(transposes.back().getInput());
    bool isTurned = transposes.size() % 2 == 1;
    if (operand == &dot.getAMutable())
      dot.setTransposeA(dot.getTransposeA() != isTurned);
    else
      dot.setTransposeB(dot.getTransposeB() != isTurned);
    for (TransposeOp transpose : transposes)
      if (transpose->use_empty())
        transpose.erase();
  }
}

namespace {
struct FoldTileViews : kiln::impl::FoldTileViewsBase<FoldTileViews> {
  void runOnOperation() override {
    SmallVector<Operation *> accesses;
    getOperation().walk([&](Operation *op) {
      if (isa<LoadOp, StoreOp>(op) && (op->hasAttr("atom") || op->hasAttr(kAtomNameAttrName)))
        accesses.push_back(op);
    });
    for (Operation *op : accesses) {
      auto load = dyn_cast<LoadOp>(op);
      if (!load) {
        drop(cast<StoreOp>(op));
        continue;
      }
      // A layout that is pinned is of the tile as it is loaded.
      if (load->hasAttr(kLayoutAttrName))
        continue;
      drop(load);
      split(load);
    }
    getOperation().walk([](DotOp dot) { turn(dot); });
  }
};
} // namespace
