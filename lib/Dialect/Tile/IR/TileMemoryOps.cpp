// Verifiers and effects of views, buffers and accesses to memory.
#include "Checks.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace kiln::tile;

//===- Shared checks ------------------------------------------------------------------------===//

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void addRead(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), GlobalMemory::get());
}

static void addWrite(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), GlobalMemory::get());
}

static LogicalResult verifyElementType(Operation *op, Type expected, Type got, StringRef what) {
  if (expected == got)
    return success();
  return op->emitOpError("expected ")
         << what << " of the view's element type " << expected << ", got " << got;
}

static LogicalResult verifyPadding(Operation *op, ViewType view, Value padding) {
  return padding ? verifyElementType(op, view.getElementType(), padding.getType(), "a padding")
                 : success();
}

/// A tile at an offset: ranks and element types agree, one offset a dimension.
static LogicalResult verifyTile(Operation *op, ViewType view, RankedTensorType tensor,
                                size_t offsets, std::optional<ArrayRef<int64_t>> dropped = {}) {
  if (dropped && failed(verifyDropped(op, view, tensor.getRank(), dropped)))
    return failure();
  if (!dropped && tensor.getRank() != view.getRank())
    return op->emitOpError("expected a tensor of the view's rank ")
           << view.getRank() << ", got rank " << tensor.getRank();
  if (offsets != static_cast<size_t>(view.getRank()))
    return op->emitOpError("expected ") << view.getRank() << " offsets (one a dimension of the "
                                        << "view), got " << offsets;
  return verifyElementType(op, view.getElementType(), tensor.getElementType(), "a tensor");
}

/// Elements at computed indices: one index a dimension, each shaped like the value; so the mask.
static LogicalResult verifyIndices(Operation *op, ViewType view, Type value, ValueRange indices,
                                   Value mask) {
  if (indices.size() != static_cast<size_t>(view.getRank()))
    return op->emitOpError("expected ") << view.getRank() << " indices (one a dimension of the "
                                        << "view), got " << indices.size();
  if (failed(verifyElementType(op, view.getElementType(), getElementTypeOrSelf(value), "a value")))
    return failure();
  auto tensor = dyn_cast<RankedTensorType>(value);
  auto agrees = [&](Type other) {
    auto shaped = dyn_cast<RankedTensorType>(other);
    if (!tensor || !shaped)
      return !tensor && !shaped;
    return tensor.getShape() == shaped.getShape();
  };
  for (Value index : indices)
    if (!agrees(index.getType()))
      return op->emitOpError("expected indices of the value's shape, got ")
             << index.getType() << " for a value of type " << value;
  if (mask && !agrees(mask.getType()))
    return op->emitOpError("expected a mask of the value's shape, got ")
           << mask.getType() << " for a value of type " << value;
  return success();
}

//===- Views --------------------------------------------------------------------------------===//

/// One operand for each extent and each stride that the type leaves open.
template <typename Maker>
static LogicalResult verifySizes(Maker op) {
  ViewType view = op.getType();
  if (static_cast<int64_t>(op.getExtents().size()) != view.getNumDynamicDims())
    return op.emitOpError("expected ")
           << view.getNumDynamicDims() << " extents (one a `?`), got " << op.getExtents().size();
  if (static_cast<int64_t>(op.getStrides().size()) != view.getNumDynamicStrides())
    return op.emitOpError("expected ")
           << view.getNumDynamicStrides() << " strides (one a `?`), got " << op.getStrides().size();
  return success();
}

LogicalResult ViewFromPointerOp::verify() {
  ViewType view = getType();
  if (getPointer().getType().getElementType() != view.getElementType())
    return emitOpError("expected a view of the pointer's element type ")
           << getPointer().getType().getElementType() << ", got " << view.getElementType();
  return verifySizes(*this);
}

Value kiln::tile::getWholeView(Value view) {
  while (auto part = view.getDefiningOp<SubviewOp>())
    view = part.getView();
  return view;
}

LogicalResult SubviewOp::verify() {
  Type element = getView().getType().getElementType();
  if (getType().getElementType() != element)
    return emitOpError("expected a view of the element type ")
           << element << ", got " << getType().getElementType();
  return verifySizes(*this);
}

template <typename Query>
static LogicalResult verifyQuery(Query op) {
  ViewType view = op.getView().getType();
  int64_t dim = op.getDim();
  if (dim < 0 || dim >= view.getRank())
    return op.emitOpError("expected one of the ")
           << view.getRank() << " dimensions of " << view << ", got " << dim;
  return success();
}

LogicalResult DimOp::verify() { return verifyQuery(*this); }
LogicalResult StrideOp::verify() { return verifyQuery(*this); }

//===- Tiles at an offset -------------------------------------------------------------------===//

SmallVector<int64_t> kiln::tile::getWholeShape(ArrayRef<int64_t> shape,
                                               std::optional<ArrayRef<int64_t>> dropped) {
  SmallVector<int64_t> whole(shape);
  for (int64_t dim : dropped.value_or(ArrayRef<int64_t>()))
    whole.insert(whole.begin() + dim, 1);
  return whole;
}

unsigned kiln::tile::getViewDim(unsigned dim, std::optional<ArrayRef<int64_t>> dropped) {
  for (int64_t other : dropped.value_or(ArrayRef<int64_t>()))
    dim += other <= int64_t(dim);
  return dim;
}

LogicalResult kiln::tile::verifyDropped(Operation *op, ViewType view, int64_t rank,
                                        std::optional<ArrayRef<int64_t>> dropped) {
  ArrayRef<int64_t> dims = dropped.value_or(ArrayRef<int64_t>());
  bool isInOrder = llvm::all_of(llvm::zip(dims, llvm::drop_begin(dims)),
                                [](auto pair) { return std::get<0>(pair) < std::get<1>(pair); });
  bool isInView = dims.empty() || (dims.front() >= 0 && dims.back() < view.getRank());
  if (isInOrder && isInView && rank + int64_t(dims.size()) == view.getRank())
    return success();
  return op->emitOpError("expected 'dropped' to be the dimensions in order by which ")
         << view << " has more than a tile of rank " << rank << ", got " << dims;
}

/// The decisions that loads and stores have in common. A buffer holds the tile, or some of it.
template <typename Access>
static LogicalResult verifyDecisions(Access op, RankedTensorType tile, bool isWhole) {
  if (op.getDropped() && !op.getAtomAttr() && !op->hasAttr(kAtomNameAttrName))
    return op.emitOpError("expected an atom, since 'dropped' is decided");
  if (failed(verifyCount(op, "stage", op.getStage(), 0)) ||
      failed(verifyCount(op, "order", op.getOrder(), 0)))
    return failure();
  if (!op.getBuffer())
    return success();
  auto buffer = cast<BufferType>(*op.getBuffer());
  bool fits = buffer.getElementType() == tile.getElementType() &&
              buffer.getShape().size() == tile.getShape().size();
  for (size_t dim = 0; fits && dim < buffer.getShape().size(); ++dim)
    fits = isWhole ? buffer.getShape()[dim] == tile.getShape()[dim]
                   : tile.getShape()[dim] % buffer.getShape()[dim] == 0;
  if (fits)
    return success();
  return op.emitOpError("expected a buffer of ")
         << (isWhole ? "the shape and element type" : "parts") << " of " << tile << ", got "
         << buffer;
}

LogicalResult LoadOp::verify() {
  if (getRing() && getRing()->empty())
    return emitOpError("expected ring to be a name, got \"\"");
  if (failed(
          verifyTile(*this, getView().getType(), getType(), getOffsets().size(), getDropped())) ||
      failed(verifyExtents(*this, getExtents(), getType())) ||
      failed(verifyCount(*this, "depth", getDepth(), 1)) ||
      failed(verifyMulticast(*this, getMulticast())) ||
      failed(verifyDecisions(*this, getType(), /*isWhole=*/true)))
    return failure();
  return verifyPadding(*this, getView().getType(), getPadding());
}

void LoadOp::getEffects(Effects &effects) { addRead(effects); }

LogicalResult StoreOp::verify() {
  if (failed(verifyDecisions(*this, getValue().getType(), /*isWhole=*/false)) ||
      failed(verifyCount(*this, "in_flight", getInFlight(), 0)) ||
      failed(verifyTile(*this, getView().getType(), getValue().getType(), getOffsets().size(),
                        getDropped())))
    return failure();
  return verifyExtents(*this, getExtents(), getValue().getType());
}

void StoreOp::getEffects(Effects &effects) { addWrite(effects); }

//===- Elements at computed indices ---------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  if (failed(verifyIndices(*this, getView().getType(), getType(), getIndices(), getMask())))
    return failure();
  return verifyPadding(*this, getView().getType(), getPadding());
}

void GatherOp::getEffects(Effects &effects) { addRead(effects); }

LogicalResult ScatterOp::verify() {
  Type element = getView().getType().getElementType();
  if (element.getIntOrFloatBitWidth() < 8)
    return emitOpError("expected elements of at least a byte, got ") << element;
  return verifyIndices(*this, getView().getType(), getValue().getType(), getIndices(), getMask());
}

void ScatterOp::getEffects(Effects &effects) { addWrite(effects); }

//===- Atomics ------------------------------------------------------------------------------===//

static LogicalResult verifyAtomicElement(Operation *op, Type element) {
  if (isa<Float64Type, Float32Type, Float16Type, BFloat16Type>(element) || element.isInteger(64) ||
      element.isInteger(32))
    return success();
  return op->emitOpError("expected elements of f64, f32, f16, bf16, i64 or i32, got ") << element;
}

LogicalResult AtomicRMWOp::verify() {
  if (failed(
          verifyIndices(*this, getView().getType(), getValue().getType(), getIndices(), getMask())))
    return failure();
  Type element = getElementTypeOrSelf(getValue().getType());
  if (failed(verifyAtomicElement(*this, element)))
    return failure();
  AtomicKind kind = getKind();
  if (kind == AtomicKind::Exch)
    return success();
  bool wantsFloat =
      kind == AtomicKind::AddF || kind == AtomicKind::MinF || kind == AtomicKind::MaxF;
  if (wantsFloat != isa<FloatType>(element))
    return emitOpError("expected ") << (wantsFloat ? "float" : "integer") << " values for "
                                    << stringifyAtomicKind(kind) << ", got " << element;
  return success();
}

void AtomicRMWOp::getEffects(Effects &effects) {
  addRead(effects);
  addWrite(effects);
}

LogicalResult AtomicCASOp::verify() {
  if (failed(
          verifyIndices(*this, getView().getType(), getValue().getType(), getIndices(), getMask())))
    return failure();
  return verifyAtomicElement(*this, getElementTypeOrSelf(getValue().getType()));
}

void AtomicCASOp::getEffects(Effects &effects) {
  addRead(effects);
  addWrite(effects);
}

//===- Buffers ------------------------------------------------------------------------------===//

/// All of the buffer and all of the tensor; or as many elements of the tensor as the buffer has.
static LogicalResult verifyContents(Operation *op, BufferType buffer, RankedTensorType tensor,
                                    std::optional<ArrayRef<int64_t>> extents) {
  if (extents) {
    if (failed(verifyExtents(op, extents, tensor)))
      return failure();
    if (ShapedType::getNumElements(*extents) == ShapedType::getNumElements(buffer.getShape()) &&
        buffer.getElementType() == tensor.getElementType() && !buffer.getLayout())
      return success();
    return op->emitOpError("expected a buffer without layout of ")
           << ShapedType::getNumElements(*extents) << " elements of " << tensor.getElementType()
           << ", got " << buffer;
  }
  if (buffer.getShape() == tensor.getShape() && buffer.getElementType() == tensor.getElementType())
    return success();
  return op->emitOpError("expected a tensor of the buffer's shape and element type, got ")
         << tensor << " for " << buffer;
}

/// A tensor at offsets that are multiples of its extents, which divide the buffer's.
static LogicalResult verifyPart(ReadOp op, ArrayRef<int64_t> offsets) {
  BufferType buffer = op.getBuffer().getType();
  RankedTensorType tensor = op.getType();
  bool fits = buffer.getElementType() == tensor.getElementType() && !op.getExtents() &&
              int64_t(buffer.getShape().size()) == tensor.getRank() &&
              int64_t(offsets.size()) == tensor.getRank();
  for (auto [offset, part, whole] : llvm::zip(offsets, tensor.getShape(), buffer.getShape()))
    fits = fits && offset >= 0 && offset < whole && offset % part == 0 && whole % part == 0;
  if (fits)
    return success();
  InFlightDiagnostic error = op.emitOpError("expected a part of ")
                             << buffer << " at multiples of its extents, got " << tensor << " at [";
  llvm::interleaveComma(offsets, error);
  return error << "]";
}

LogicalResult ReadOp::verify() {
  if (auto offsets = getAt())
    return verifyPart(*this, *offsets);
  return verifyContents(*this, getBuffer().getType(), getType(), getExtents());
}

LogicalResult WriteOp::verify() {
  return verifyContents(*this, getBuffer().getType(), getValue().getType(), getExtents());
}
