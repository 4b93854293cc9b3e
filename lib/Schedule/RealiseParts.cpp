// Cuts dots into parts along m, n and k, and with them what makes their operands.
//
// What comes out of shared memory for this dot alone is read part by part, each in front of the
// first part that needs it. A read is cut no finer than what one access of a lane moves: of a
// larger piece the parts take slices, which are registers that a thread has.
#include "Trip.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEPARTS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// A part of a value: what lies from these offsets on.
struct Box {
  SmallVector<int64_t> offsets, shape;
};

/// Cuts values, each part once.
class Cutter {
public:
  explicit Cutter(DotOp dot) : dot(dot), builder(dot) {}
  Value cut(Value value, const Box &box);
  /// Erases what has been cut and is not used any more.
  void finish();
  /// How many pieces come out of shared memory by themselves.
  int64_t countPieces() const { return numPieces; }

private:
  Value make(Value value, const Box &box);
  Value read(ReadOp op, const Box &box);
  Value convert(ConvertLayoutOp op, const Box &box);
  Value slice(Value value, const Box &box);
  /// A part of a value of which a larger part is there.
  Value sliceOf(Value whole, const Box &of, const Box &box);
  /// The part that has been made of a value; null if none has.
  Value &find(Value value, const Box &box) {
    return made[{value, builder.getDenseI64ArrayAttr(box.offsets),
                 builder.getDenseI64ArrayAttr(box.shape)}];
  }
  bool isForDotAlone(Operation *op) const;
  /// Another op's like, of a part.
  Operation *clone(Operation *op, ValueRange operands, const Box &box);

  DotOp dot;
  OpBuilder builder;
  DenseMap<std::tuple<Value, Attribute, Attribute>, Value> made;
  int64_t numPieces = 0;
  /// Users before what makes their operands.
  llvm::SetVector<Operation *> replaced;
};

class DotRealiser {
public:
  explicit DotRealiser(DotOp dot) : dot(dot), builder(dot), cutter(dot) {
    if (auto given = dot.getParts())
      parts.assign(given->begin(), given->end());
  }
  LogicalResult realise();

private:
  /// Of one part: its place among the parts along m, n and k, and its operands once they are cut.
  struct Part {
    int64_t m, n, k;
    Value a, b;
  };

  LogicalResult check();
  LogicalResult checkBox(Value value, const Box &box);
  Box getBox(unsigned operand, const Part &part);
  DotOp multiply(const Part &part, Value sum, int64_t later);
  Value &getSum(const Part &part) { return sums[part.m * parts[1] + part.n]; }
  void promote(DotOp part, Value &sum);
  Value join();

  DotOp dot;
  OpBuilder builder;
  Cutter cutter;
  /// Along m, n and k.
  SmallVector<int64_t> parts = {1, 1, 1};
  /// By part of m, then of n.
  SmallVector<Value> sums;
};
} // namespace

//===- Operands -----------------------------------------------------------------------------===//

static ArrayRef<int64_t> getShape(Value value) {
  if (auto buffer = dyn_cast<BufferType>(value.getType()))
    return buffer.getShape();
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The type of a tensor's part; null if registers alone do not choose among its parts.
static RankedTensorType getBoxType(Value tensor, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  std::optional<LinearLayout> layout = getBoxLayout(getLayout(tensor), shape);
  return layout ? withLayout(type.clone(shape), *layout) : RankedTensorType();
}

static void erasePlace(Operation *op) { op->removeAttr(spellDecision(op, "order")); }

/// Whether it stands in front of the dot, in its block, and is there for it alone.
bool Cutter::isForDotAlone(Operation *op) const {
  return op->getBlock() == dot->getBlock() && llvm::all_of(op->getUsers(), [&](Operation *user) {
           return user == dot || (user->getBlock() == dot->getBlock() && replaced.contains(user));
         });
}

Operation *Cutter::clone(Operation *op, ValueRange operands, const Box &box) {
  OperationState state(op->getLoc(), op->getName(), operands,
                       TypeRange{getBoxType(op->getResult(0), box.shape)}, op->getAttrs());
  Operation *made = builder.create(state);
  erasePlace(made);
  return made;
}

Value Cutter::slice(Value value, const Box &box) {
  auto slice = SliceOp::create(builder, dot.getLoc(), getBoxType(value, box.shape), value,
                               builder.getDenseI64ArrayAttr(box.offsets));
  copyPlace(dot, slice);
  erasePlace(slice);
  return slice;
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
static Box widen(const Source &source, const Box &box) {
  ArrayRef<int64_t> whole = cast<RankedTensorType>(source.tensor.getType()).getShape();
  SmallVector<Box> wider = {box};
  while (!wider.empty()) {
    auto *found = llvm::min_element(wider, [](const Box &x, const Box &y) {
      return ShapedType::getNumElements(x.shape) < ShapedType::getNumElements(y.shape);
    });
    Box least = *found;
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
      Box more = least;
      more.shape[dim] *= 2;
      more.offsets[dim] = llvm::alignDown(more.offsets[dim], more.shape[dim]);
      wider.push_back(more);
    }
  }
  return {SmallVector<int64_t>(whole.size(), 0), SmallVector<int64_t>(whole)};
}

Value Cutter::sliceOf(Value whole, const Box &of, const Box &box) {
  if (of.shape == box.shape)
    return whole;
  Box rest = box;
  for (auto [offset, from] : llvm::zip(rest.offsets, of.offsets))
    offset -= from;
  return slice(whole, rest);
}

Value Cutter::read(ReadOp op, const Box &box) {
  auto atom = dyn_cast_or_null<WarpCopyAtomInterface>(op.getAtomAttr());
  Box piece = widen({op.getResult(), getOrder(op.getBuffer().getType()), atom}, box);
  Value &whole = find(op.getResult(), piece);
  if (!whole) {
    SmallVector<int64_t> at = piece.offsets;
    if (auto own = op.getAt())
      for (auto [offset, more] : llvm::zip(at, *own))
        offset += more;
    auto part = ReadOp::create(builder, op.getLoc(), getBoxType(op.getResult(), piece.shape),
                               op.getBuffer(), DenseI64ArrayAttr(), op.getAtomAttr(),
                               builder.getDenseI64ArrayAttr(at));
    copyPlace(op, part);
    erasePlace(part);
    if (dot.getReadsAhead().value_or(0) && dot.getStage())
      part->setAttr("stage", dot.getStageAttr());
    whole = part;
    ++numPieces;
  }
  return sliceOf(whole, piece, box);
}

/// What goes through memory later is read from there piece by piece.
Value Cutter::convert(ConvertLayoutOp op, const Box &box) {
  ConversionAttr how = op.getHowAttr();
  Source source{op.getResult(), how.getBuffer().toLinear(getShape(op.getResult())),
                dyn_cast_or_null<WarpCopyAtomInterface>(how.getRead())};
  Box piece = widen(source, box);
  Value &whole = find(op.getResult(), piece);
  if (!whole) {
    whole = getShape(op.getResult()) == ArrayRef(piece.shape) ? op.getResult()
                                                              : slice(op.getResult(), piece);
    ++numPieces;
  }
  return sliceOf(whole, piece, box);
}

/// The part of a reshape's input, if the shapes differ by extents of 1 alone.
static std::optional<Box> getReshaped(ReshapeOp op, const Box &box) {
  ArrayRef<int64_t> to = op.getType().getShape();
  Box from;
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

Value Cutter::make(Value value, const Box &box) {
  Operation *op = value.getDefiningOp();
  if (auto buffer = dyn_cast<BufferType>(value.getType())) {
    SmallVector<Value> offsets = llvm::map_to_vector(box.offsets, [&](int64_t offset) -> Value {
      return arith::ConstantIndexOp::create(builder, dot.getLoc(), offset);
    });
    auto part =
        PartOp::create(builder, dot.getLoc(), getPartType(buffer, box.shape), value, offsets);
    copyPlace(dot, part);
    erasePlace(part);
    return part;
  }
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat))) {
    auto part = arith::ConstantOp::create(builder, dot.getLoc(),
                                          splat.resizeSplat(getBoxType(value, box.shape)));
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
    Box from = box;
    for (auto [dim, of] : llvm::enumerate(transpose.getPermutation())) {
      from.offsets[of] = box.offsets[dim];
      from.shape[of] = box.shape[dim];
    }
    replaced.insert(op);
    return clone(op, cut(transpose.getInput(), from), box)->getResult(0);
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    if (std::optional<Box> from = getReshaped(reshape, box)) {
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

Value Cutter::cut(Value value, const Box &box) {
  if (getShape(value) == ArrayRef(box.shape))
    return value;
  if (Value known = find(value, box))
    return known;
  // What makes it may add to what is known.
  Value part = make(value, box);
  find(value, box) = part;
  return part;
}

void Cutter::finish() {
  for (Operation *op : replaced)
    if (op->use_empty())
      op->erase();
}

//===- Dots ---------------------------------------------------------------------------------===//

/// The part of operand a, of b, or of the sums (2).
Box DotRealiser::getBox(unsigned operand, const Part &part) {
  Value value = dot->getOperand(operand);
  Box box{SmallVector<int64_t>(getShape(value).size(), 0), SmallVector<int64_t>(getShape(value))};
  bool turned = operand == 0 ? dot.getTransposeA() : operand == 1 && dot.getTransposeB();
  unsigned rank = box.shape.size();
  auto take = [&](unsigned dim, unsigned along, int64_t number) {
    dim = rank - 2 + (turned ? 1 - dim : dim);
    box.shape[dim] /= parts[along];
    box.offsets[dim] = number * box.shape[dim];
  };
  constexpr unsigned m = 0, n = 1, k = 2;
  take(0, operand == 1 ? k : m, operand == 1 ? part.k : part.m);
  take(1, operand == 0 ? k : n, operand == 0 ? part.k : part.n);
  return box;
}

LogicalResult DotRealiser::checkBox(Value value, const Box &box) {
  if (getShape(value) == ArrayRef(box.shape))
    return success();
  if (auto buffer = dyn_cast<BufferType>(value.getType())) {
    if (getPartType(buffer, box.shape))
      return success();
    InFlightDiagnostic error = dot.emitOpError("expected parts that the buffer's order keeps "
                                               "together, got parts of [");
    llvm::interleaveComma(box.shape, error);
    return error << "] of " << buffer;
  }
  if (getBoxType(value, box.shape))
    return success();
  InFlightDiagnostic error =
      dot.emitOpError("expected parts each of which every thread has a share of, got parts of [");
  llvm::interleaveComma(box.shape, error);
  return error << "] of " << value.getType();
}

LogicalResult DotRealiser::check() {
  for (Value value : dot->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(value.getType());
        type && !isa_and_nonnull<LayoutAttr>(type.getEncoding()))
      return dot.emitOpError("expected tensors with a layout, got ") << type;
  if (auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr())) {
    std::array<int64_t, 3> extents = atom.getExtents();
    int64_t whole[] = {dot.getM(), dot.getN(), dot.getK()};
    for (unsigned dim = 0; dim < 3; ++dim)
      if (whole[dim] / parts[dim] % extents[dim])
        return dot.emitOpError("expected parts of a multiple of ")
               << extents[dim] << " along " << "mnk"[dim] << " for " << dot.getAtomAttr()
               << ", got parts of " << whole[dim] / parts[dim];
  }
  int64_t ahead = dot.getReadsAhead().value_or(0);
  if (std::optional<int64_t> inFlight = dot.getInFlight()) {
    if (parts[0] > 1 || parts[1] > 1)
      return dot.emitOpError("expected parts along k alone, since 'in_flight' is decided, got [")
             << parts[0] << ", " << parts[1] << ", " << parts[2] << "]";
    if (ahead)
      return dot.emitOpError("expected no 'reads_ahead' of a dot that reads its buffers itself");
    if (dot.getPromote() && *inFlight >= parts[2])
      return dot.emitOpError("expected in_flight below the parts along k, ")
             << parts[2] << ", since 'promote' adds them up in their trip, got " << *inFlight;
  }
  if (ahead && dot->getParentOfType<WarpGroupsOp>() && !dot.getStage() &&
      hasDecisions(*dot->getBlock()))
    return dot.emitOpError("expected 'stage', since 'reads_ahead' is decided");
  for (unsigned operand = 0; operand < 3; ++operand)
    if (failed(checkBox(dot->getOperand(operand), getBox(operand, {0, 0, 0, {}, {}}))))
      return failure();
  return success();
}

/// One part; `later` dots come behind it.
DotOp DotRealiser::multiply(const Part &part, Value sum, int64_t later) {
  auto made = cast<DotOp>(builder.clone(*dot));
  made->setOperands({part.a, part.b, sum});
  made.getResult().setType(cast<RankedTensorType>(sum.getType()));
  made.removePartsAttr();
  made.removeReadsAheadAttr();
  made.setPromote(false);
  // Of the instructions of all of them.
  if (later > 0)
    made.removeInterleaveAttr();
  if (dot.getPromote() && dot.getInFlight())
    made.setInFlight(std::min<int64_t>(*dot.getInFlight(), later));
  if (part.m || part.n || part.k)
    erasePlace(made);
  return made;
}

/// Adds the sum of a part.
void DotRealiser::promote(DotOp part, Value &sum) {
  auto added = arith::AddFOp::create(builder, dot.getLoc(), sum, part.getResult());
  copyPlace(dot, added);
  erasePlace(added);
  if (std::optional<StringRef> role = dot.getRole())
    setRoleName(added, *role);
  sum = added;
}

/// The parts of the result beside one another.
Value DotRealiser::join() {
  auto concat = [&](ArrayRef<Value> values, RankedTensorType type, int64_t axis) -> Value {
    if (values.size() == 1)
      return values.front();
    auto made = ConcatOp::create(builder, dot.getLoc(), type, values, axis);
    copyPlace(dot, made);
    erasePlace(made);
    return made;
  };
  int64_t rank = dot.getType().getRank();
  SmallVector<int64_t> shape(dot.getType().getShape());
  shape[rank - 2] /= parts[0];
  SmallVector<Value> rows;
  for (int64_t m = 0; m < parts[0]; ++m)
    rows.push_back(concat(ArrayRef(sums).slice(m * parts[1], parts[1]),
                          getBoxType(dot.getResult(), shape), rank - 1));
  return concat(rows, dot.getType(), rank - 2);
}

LogicalResult DotRealiser::realise() {
  if (failed(check()))
    return failure();
  SmallVector<Part> all;
  for (int64_t k = 0; k < parts[2]; ++k)
    for (int64_t m = 0; m < parts[0]; ++m)
      for (int64_t n = 0; n < parts[1]; ++n)
        all.push_back({m, n, k, {}, {}});
  for (const Part &part : ArrayRef(all).take_front(parts[0] * parts[1]))
    sums.push_back(cutter.cut(dot.getAccumulator(), getBox(2, part)));
  Value zero;
  if (dot.getPromote()) {
    auto type = cast<RankedTensorType>(sums.front().getType());
    zero = arith::ConstantOp::create(builder, dot.getLoc(),
                                     DenseElementsAttr::get(type, builder.getF32FloatAttr(0)));
  }
  size_t cut = 0, ahead = dot.getReadsAhead().value_or(0);
  size_t waiting = dot.getInFlight().value_or(0);
  SmallVector<DotOp> started;
  int64_t firstPieces = 0;
  for (auto [number, part] : llvm::enumerate(all)) {
    for (; cut < all.size() && cut <= number + ahead; ++cut) {
      all[cut].a = cutter.cut(dot.getA(), getBox(0, all[cut]));
      all[cut].b = cutter.cut(dot.getB(), getBox(1, all[cut]));
      if (cut == 0)
        firstPieces = cutter.countPieces();
    }
    Value &sum = getSum(part);
    started.push_back(multiply(part, dot.getPromote() ? zero : sum, all.size() - 1 - number));
    if (!dot.getPromote())
      sum = started.back().getResult();
    else if (number >= waiting)
      promote(started[number - waiting], getSum(all[number - waiting]));
  }
  if (dot.getPromote())
    for (size_t number = all.size() - waiting; number < all.size(); ++number)
      promote(started[number], getSum(all[number]));
  if (ahead > 0 && cutter.countPieces() == firstPieces)
    return dot.emitOpError("expected operands that are read out of shared memory part by part, "
                           "since 'reads_ahead' is decided");
  dot.replaceAllUsesWith(join());
  dot.erase();
  cutter.finish();
  return success();
}

namespace {
struct RealiseParts : kiln::impl::RealisePartsBase<RealiseParts> {
  void runOnOperation() override {
    SmallVector<DotOp> dots;
    getOperation().walk([&](DotOp dot) {
      if (dot.getParts() || dot.getPromote())
        dots.push_back(dot);
    });
    for (DotOp dot : dots)
      if (failed(DotRealiser(dot).realise()))
        return signalPassFailure();
  }
};
} // namespace
