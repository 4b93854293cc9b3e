// How copies of a role take what others have of a tensor: each writes its share to a buffer of the
// program, all meet, and each reads of the buffers of all what it needs.
#include "AcrossCopies.h"
#include "Decisions.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static SmallVector<int64_t> shareOut(ArrayRef<int64_t> shape, int dim, int64_t copies) {
  SmallVector<int64_t> share(shape);
  if (dim >= 0)
    share[dim] /= copies;
  return share;
}

BufferType kiln::findShareBuffer(BufferType wanted, const ShareChange &change) {
  // What is read may lie otherwise in threads, for which a buffer counts one odd factor alone.
  auto isOdd = [](int64_t extent) { return !llvm::isPowerOf2_64(extent); };
  if (change.from >= 0 &&
      llvm::count_if(shareOut(wanted.getShape(), change.to, change.copies), isOdd) > 1)
    return {};
  SmallVector<int64_t> share = shareOut(wanted.getShape(), change.from, change.copies);
  SmallVector<int64_t> box = shareOut(share, change.to, change.copies);
  if (BufferType part = getPartType(wanted, share); part && getPartType(part, box))
    return part;
  // What counts the boxes comes behind all else.
  SmallVector<LinearLayout::Basis> bases, boxes;
  for (int dim = share.size() - 1; dim >= 0; --dim)
    for (int64_t bit = 1; bit < share[dim]; bit *= 2) {
      LinearLayout::Basis basis(share.size(), 0);
      basis[dim] = bit;
      (bit >= box[dim] ? boxes : bases).push_back(basis);
    }
  bases.append(boxes);
  std::optional<LinearLayout> layout =
      LinearLayout::create(LinearLayout::InDim{kOffset.str(), bases}, getTensorOuts(share));
  if (!layout || !layout->isInvertible() || !layout->isExact())
    return {};
  auto made = BufferType::get(wanted.getContext(), share, wanted.getElementType(),
                              LayoutAttr::get(wanted.getContext(), *layout));
  return getPartType(made, box) ? made : BufferType();
}

/// A tensor of several boxes along a dimension, which each thread counts by registers: what counts
/// an odd factor, of boxes or in them, is the highest.
static RankedTensorType getBoxes(RankedTensorType box, int dim, int64_t count) {
  LinearLayout layout = cast<LayoutAttr>(box.getEncoding()).toLinear(box.getShape());
  SmallVector<LinearLayout::InDim> ins(layout.getIns());
  SmallVector<int64_t> shape(box.getShape());
  auto *registers = llvm::find_if(ins, [](auto &in) { return in.name == kRegister; });
  SmallVector<LinearLayout::Basis> numbers;
  for (int64_t number = 1; number < count; number *= 2) {
    numbers.emplace_back(shape.size(), 0);
    numbers.back()[dim] = number * shape[dim];
  }
  auto &bases = registers->bases;
  bases.insert(llvm::isPowerOf2_64(count) ? bases.begin() : bases.end(), numbers.begin(),
               numbers.end());
  shape[dim] *= count;
  return withLayout(RankedTensorType::get(shape, box.getElementType()),
                    *LinearLayout::create(ins, getTensorOuts(shape)));
}

void CopyCombiner::exchange(ConvertLayoutOp op, BufferType type, const ShareChange &change,
                            Value copy) {
  Location loc = op.getLoc();
  OpBuilder builder(op);
  IndexMath math{builder, loc};
  SmallVector<Value> places = getBuffers({type, 0});
  auto meet = [&] {
    BarrierOp::create(builder, loc, /*publish=*/false, /*all_copies=*/true, /*global=*/false);
  };
  Value input = makeStored(builder, loc, op.getInput());
  // Nobody writes before all have read what was there before, and nobody reads before all have
  // written.
  meet();
  for (auto [number, place] : llvm::enumerate(places)) {
    Value isMine =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, copy, math.constant(number));
    OpBuilder inner = scf::IfOp::create(builder, loc, isMine).getThenBodyBuilder();
    WriteOp::create(inner, loc, input, place);
  }
  meet();
  auto result = cast<RankedTensorType>(op.getType());
  SmallVector<int64_t> shape = shareOut(type.getShape(), change.to, change.copies);
  // As the result has it, if each thread counts boxes by registers there.
  std::optional<LinearLayout> layout = getBoxLayout(getLayout(op.getResult()), shape);
  ThreadShape threads = {unsigned(getLayout(op.getResult()).getInSize(kLane)),
                         unsigned(groups.getRole(number).getWarps())};
  auto box = withLayout(RankedTensorType::get(shape, type.getElementType()),
                        layout ? *layout : getBlockedLayout(shape, /*width=*/1, threads));
  SmallVector<Value> offsets(shape.size(), math.constant(0));
  if (change.to >= 0)
    offsets[change.to] = math.mul(copy, math.constant(shape[change.to]));
  SmallVector<Value> parts;
  for (Value place : places) {
    if (change.to >= 0)
      place = PartOp::create(builder, loc, getPartType(type, shape), place, offsets);
    parts.push_back(ReadOp::create(builder, loc, box, place));
  }
  RankedTensorType stored = getStoredType(result);
  Value all =
      ConcatOp::create(builder, loc, layout ? stored : getBoxes(box, change.from, change.copies),
                       parts, change.from);
  if (!layout)
    all = ConvertLayoutOp::create(builder, loc, stored, all);
  op.getResult().replaceAllUsesWith(unmakeStored(builder, loc, all, result));
  op.erase();
}
