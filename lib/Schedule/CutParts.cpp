// What comes out of shared memory for a dot alone is read part by part. A read is cut no finer than
// what one access of a lane moves: of a larger piece the parts take slices, which are registers
// that a thread has.
#include "CutParts.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

ArrayRef<int64_t> kiln::getTileShape(Value value) {
  if (auto buffer = dyn_cast<BufferType>(value.getType()))
    return buffer.getShape();
  return cast<RankedTensorType>(value.getType()).getShape();
}

RankedTensorType kiln::getBoxType(Value tensor, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  std::optional<LinearLayout> layout = getBoxLayout(getLayout(tensor), shape);
  return layout ? withLayout(type.clone(shape), *layout) : RankedTensorType();
}

SmallVector<PartBox> kiln::getSumBoxes(DotOp dot) {
  SmallVector<PartBox> boxes;
  auto [rows, columns, depth] = countParts(dot);
  SmallVector<int64_t> shape(dot.getType().getShape());
  shape.end()[-2] /= rows;
  shape.end()[-1] /= columns;
  for (int64_t m = 0; m < rows; ++m)
    for (int64_t n = 0; n < columns; ++n) {
      PartBox &box = boxes.emplace_back(PartBox{SmallVector<int64_t>(shape.size(), 0), shape});
      box.offsets.end()[-2] = m * shape.end()[-2];
      box.offsets.end()[-1] = n * shape.end()[-1];
    }
  return boxes;
}

Value kiln::joinParts(OpBuilder &builder, DotOp dot, ArrayRef<Value> parts) {
  auto concat = [&](ArrayRef<Value> values, RankedTensorType type, int64_t axis) -> Value {
    return values.size() == 1
               ? values.front()
               : ConcatOp::create(builder, dot.getLoc(), type, values, axis).getResult();
  };
  auto [rows, columns, depth] = countParts(dot);
  int64_t rank = dot.getType().getRank();
  SmallVector<int64_t> shape(dot.getType().getShape());
  shape[rank - 2] /= rows;
  SmallVector<Value> joined;
  for (; !parts.empty(); parts = parts.drop_front(columns))
    joined.push_back(
        concat(parts.take_front(columns), getBoxType(dot.getResult(), shape), rank - 1));
  return concat(joined, dot.getType(), rank - 2);
}

void kiln::eraseOrder(Operation *op) { op->removeAttr(spellDecision(op, "order")); }

/// Whether it stands in front of the dot, in its block, and is there for it alone.
bool PartCutter::isForDotAlone(Operation *op) const {
  return op->getBlock() == dot->getBlock() && llvm::all_of(op->getUsers(), [&](Operation *user) {
           return user == dot || (user->getBlock() == dot->getBlock() && replaced.contains(user));
         });
}

Operation *PartCutter::clone(Operation *op, ValueRange operands, const PartBox &box) {
  OperationState state(op->getLoc(), op->getName(), operands,
                       TypeRange{getBoxType(op->getResult(0), box.shape)}, op->getAttrs());
  Operation *made = builder.create(state);
  eraseOrder(made);
  return made;
}

Value PartCutter::slice(Value value, const PartBox &box) {
  auto slice = SliceOp::create(builder, dot.getLoc(), getBoxType(value, box.shape), value,
                               builder.getDenseI64ArrayAttr(box.offsets));
  copyPlace(dot, slice);
  eraseOrder(slice);
  return slice;
}

/// The part of that input of a concatenation in which it lies; null if it lies in several.
Value PartCutter::takeInput(ConcatOp op, const PartBox &box) {
  int64_t axis = op.getAxis();
  PartBox own = box;
  for (Value input : op.getInputs()) {
    int64_t extent = getTileShape(input)[axis];
    if (own.offsets[axis] < extent)
      return own.offsets[axis] + own.shape[axis] <= extent ? cut(input, own) : Value();
    own.offsets[axis] -= extent;
  }
  return {};
}

/// Whether something between a read and the dot may write what it reads.
static bool isWrittenBetween(ReadOp read, DotOp dot) {
  for (Operation *op = read->getNextNode(); op && op != dot; op = op->getNextNode()) {
    WalkResult found = op->walk([&](WriteOp write) {
      return write.getBuffer() == read.getBuffer() ? WalkResult::interrupt()
                                                   : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return true;
  }
  return false;
}

/// From `offset` to coordinates.
static LinearLayout getOrder(BufferType buffer) {
  auto layout = dyn_cast_or_null<LayoutAttr>(buffer.getLayout());
  return layout ? layout.toLinear(buffer.getShape()) : getRowMajorLayout(buffer.getShape());
}

namespace {
/// A tensor that is read from a buffer.
struct Source {
  Value tensor;
  LinearLayout order;
  WarpCopyAtomInterface atom;
};
} // namespace

/// The least box around another that is read as wide as all is.
static PartBox widen(const Source &source, const PartBox &box) {
  ArrayRef<int64_t> whole = cast<RankedTensorType>(source.tensor.getType()).getShape();
  SmallVector<PartBox> wider = {box};
  while (!wider.empty()) {
    auto *found = llvm::min_element(wider, [](const PartBox &x, const PartBox &y) {
      return ShapedType::getNumElements(x.shape) < ShapedType::getNumElements(y.shape);
    });
    PartBox least = *found;
    wider.erase(found);
    RankedTensorType type = getBoxType(source.tensor, least.shape);
    if (ArrayRef(least.shape) == whole ||
        (type && isReadAsWide(cast<LayoutAttr>(type.getEncoding()).toLinear(least.shape),
                              least.offsets, getLayout(source.tensor), source.order, source.atom,
                              getSharedElementBytes(type.getElementType()))))
      return least;
    for (auto [dim, extent] : llvm::enumerate(least.shape)) {
      if (2 * extent > whole[dim])
        continue;
      PartBox more = least;
      more.shape[dim] *= 2;
      more.offsets[dim] = llvm::alignDown(more.offsets[dim], more.shape[dim]);
      wider.push_back(more);
    }
  }
  return {SmallVector<int64_t>(whole.size(), 0), SmallVector<int64_t>(whole)};
}

Value PartCutter::sliceOf(Value whole, const PartBox &of, const PartBox &box) {
  if (of.shape == box.shape)
    return whole;
  PartBox rest = box;
  for (auto [offset, from] : llvm::zip(rest.offsets, of.offsets))
    offset -= from;
  return slice(whole, rest);
}

/// A buffer is got when it is first read, and no longer when the dot runs.
static void freeGet(Value buffer) {
  auto get = buffer.getDefiningOp<GetOp>();
  if (!get)
    return;
  dropPlace(get);
  if (auto next = get.getSlot().getDefiningOp<NextOp>())
    dropPlace(next);
}

void PartCutter::putInPlace(Operation *made, Operation *like, Value buffer) {
  copyPlace(like, made);
  eraseOrder(made);
  if (place.stage)
    made->setAttr(spellDecision(made, "stage"), place.stage);
  if (place.order)
    made->setAttr(spellDecision(made, "order"), std::exchange(place.order, {}));
  if (place.isOwn)
    freeGet(buffer);
}

Value PartCutter::read(ReadOp op, const PartBox &box) {
  auto atom = dyn_cast_or_null<WarpCopyAtomInterface>(op.getAtomAttr());
  PartBox piece = widen({op.getResult(), getOrder(op.getBuffer().getType()), atom}, box);
  Value &whole = find(op.getResult(), piece);
  if (!whole) {
    SmallVector<int64_t> at = piece.offsets;
    if (auto own = op.getAt())
      for (auto [offset, more] : llvm::zip(at, *own))
        offset += more;
    auto part = ReadOp::create(builder, op.getLoc(), getBoxType(op.getResult(), piece.shape),
                               op.getBuffer(), DenseI64ArrayAttr(), op.getAtomAttr(),
                               builder.getDenseI64ArrayAttr(at));
    putInPlace(part, op, op.getBuffer());
    reads[part] = this->part;
    whole = part;
    ++numPieces;
  }
  return sliceOf(whole, piece, box);
}

/// What goes through memory later is read from there piece by piece.
Value PartCutter::convert(ConvertLayoutOp op, const PartBox &box) {
  ConversionAttr how = op.getHowAttr();
  Source source{op.getResult(), how.getBuffer().toLinear(getTileShape(op.getResult())),
                dyn_cast_or_null<WarpCopyAtomInterface>(how.getRead())};
  PartBox piece = widen(source, box);
  Value &whole = find(op.getResult(), piece);
  if (!whole) {
    whole = getTileShape(op.getResult()) == ArrayRef(piece.shape) ? op.getResult()
                                                                  : slice(op.getResult(), piece);
    ++numPieces;
  }
  return sliceOf(whole, piece, box);
}

/// The part of a reshape's input, if the shapes differ by extents of 1 alone.
static std::optional<PartBox> getReshaped(ReshapeOp op, const PartBox &box) {
  ArrayRef<int64_t> to = op.getType().getShape();
  PartBox from;
  unsigned dim = 0;
  for (int64_t extent : op.getInput().getType().getShape()) {
    while (extent != 1 && dim < to.size() && to[dim] == 1)
      ++dim;
    bool isUnit = extent == 1;
    if (!isUnit && (dim == to.size() || to[dim] != extent))
      return std::nullopt;
    from.offsets.push_back(isUnit ? 0 : box.offsets[dim]);
    from.shape.push_back(isUnit ? 1 : box.shape[dim]);
    dim += !isUnit;
  }
  return from;
}

Value PartCutter::make(Value value, const PartBox &box) {
  Operation *op = value.getDefiningOp();
  if (auto buffer = dyn_cast<BufferType>(value.getType())) {
    SmallVector<Value> offsets = llvm::map_to_vector(box.offsets, [&](int64_t offset) -> Value {
      return arith::ConstantIndexOp::create(builder, dot.getLoc(), offset);
    });
    auto part =
        PartOp::create(builder, dot.getLoc(), getWindowType(buffer, box.shape), value, offsets);
    putInPlace(part, dot, value);
    return part;
  }
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat))) {
    auto part = arith::ConstantOp::create(builder, dot.getLoc(),
                                          splat.resizeSplat(getBoxType(value, box.shape)));
    return part;
  }
  if (auto concat = dyn_cast_or_null<ConcatOp>(op))
    if (Value part = takeInput(concat, box)) {
      if (isForDotAlone(op))
        replaced.insert(op);
      return part;
    }
  if (!op || !isForDotAlone(op))
    return slice(value, box);
  if (auto whole = dyn_cast<ReadOp>(op); whole && !whole.getExtents()) {
    if (isWrittenBetween(whole, dot))
      return slice(value, box);
    replaced.insert(op);
    return read(whole, box);
  }
  auto conversion = dyn_cast<ConvertLayoutOp>(op);
  if (conversion && conversion.getHow() && conversion.getHow()->getKind() == ConversionKind::Memory)
    return convert(conversion, box);
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    PartBox from = box;
    for (auto [dim, of] : llvm::enumerate(transpose.getPermutation())) {
      from.offsets[of] = box.offsets[dim];
      from.shape[of] = box.shape[dim];
    }
    replaced.insert(op);
    return clone(op, cut(transpose.getInput(), from), box)->getResult(0);
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    if (std::optional<PartBox> from = getReshaped(reshape, box)) {
      replaced.insert(op);
      return clone(op, cut(reshape.getInput(), *from), box)->getResult(0);
    }
  if (isMemoryEffectFree(op) && OpTrait::hasElementwiseMappableTraits(op)) {
    replaced.insert(op);
    SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
      return isa<RankedTensorType>(operand.getType()) ? cut(operand, box) : operand;
    });
    return clone(op, operands, box)->getResult(0);
  }
  return slice(value, box);
}

Value PartCutter::cut(Value value, const PartBox &box) {
  if (getTileShape(value) == ArrayRef(box.shape))
    return value;
  if (Value known = find(value, box))
    return known;
  // What makes it may add to what is known.
  Value part = make(value, box);
  find(value, box) = part;
  return part;
}

void PartCutter::begin(unsigned number, PartPlace at) {
  part = number;
  place = at;
}

llvm::SetVector<unsigned> PartCutter::findReaders(Value value) const {
  llvm::SetVector<unsigned> found;
  llvm::SetVector<Operation *> makers;
  auto add = [&](Value each) {
    if (Operation *op = each.getDefiningOp(); op && op->getBlock() == dot->getBlock())
      makers.insert(op);
  };
  add(value);
  for (size_t next = 0; next < makers.size(); ++next) {
    if (auto read = reads.find(makers[next]); read != reads.end())
      found.insert(read->second);
    else
      llvm::for_each(makers[next]->getOperands(), add);
  }
  return found;
}

void PartCutter::finish() {
  for (Operation *op : replaced)
    if (op->use_empty())
      op->erase();
}
