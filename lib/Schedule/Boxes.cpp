// Cuts a tensor into boxes, and a buffer into parts.
#include "Boxes.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/BareTypes.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Layout/Transforms/StoredBoxes.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// How much of its tensor a store stores.
static ArrayRef<int64_t> getStored(StoreOp store) {
  return store.getExtents().value_or(store.getValue().getType().getShape());
}

size_t kiln::countCopiesOut(StoreOp store, ArrayRef<int64_t> offsets) {
  auto buffer = cast<BufferType>(*store.getBuffer());
  return findStoredPieces(store, buffer, getStored(store), offsets)->size();
}

size_t kiln::countStoredBoxes(StoreOp store) {
  auto buffer = cast<BufferType>(*store.getBuffer());
  return getStoredBoxes(getStored(store), buffer.getShape()).size();
}

FailureOr<StoreBoxes> kiln::cutIntoBoxes(StoreOp store) {
  for (StringRef name : {"buffer", "in_flight"})
    if (failed(requireDecision(store, name)))
      return failure();
  auto buffer = cast<BufferType>(*store.getBuffer());
  RankedTensorType type = store.getValue().getType();
  if (!isa_and_nonnull<LayoutAttr>(type.getEncoding()))
    return store.emitOpError("expected a tensor with a layout, got ") << type;
  for (auto [extent, step] : llvm::zip_equal(type.getShape(), buffer.getShape()))
    if (extent % step)
      return store.emitOpError("expected a buffer of parts of each copy's ")
             << getBareType(type) << ", got " << getBareType(buffer);
  std::optional<LinearLayout> layout = getBoxLayout(getLayout(store.getValue()), buffer.getShape());
  if (!layout)
    return store.emitOpError("expected a buffer whose boxes are chosen among by registers of ")
           << getBareType(type) << ", got " << getBareType(buffer);
  StoreBoxes boxes{withLayout(type.clone(buffer.getShape()), *layout),
                   getStoredBoxes(getStored(store), buffer.getShape())};
  if (!canStoreBoxes(store, buffer, getStored(store)))
    return store.emitOpError("expected a buffer that ")
           << store.getAtomAttr() << " can store, got " << buffer;
  if (boxes.offsets.size() > 1 || !store->hasAttr(kFetchedAttrName))
    return boxes;
  return store.emitOpError("expected a buffer of a part of each copy's ")
         << getBareType(type) << ", since '" << kFetchedAttrName << "' is decided, got "
         << getBareType(buffer);
}

Value kiln::takeBox(OpBuilder &builder, StoreOp store, const StoreBoxes &boxes,
                    ArrayRef<int64_t> offsets) {
  if (boxes.offsets.size() == 1)
    return store.getValue();
  auto box = SliceOp::create(builder, store.getLoc(), boxes.type, store.getValue(), offsets);
  if (Attribute fetched = store->getAttr(kFetchedAttrName))
    box->setAttr(kFetchedAttrName, fetched);
  return box;
}

SmallVector<Operation *> kiln::copyOut(OpBuilder &builder, StoreOp store, Value buffer,
                                       ArrayRef<int64_t> offsets) {
  Location loc = store.getLoc();
  IndexMath math{builder, loc};
  auto whole = cast<BufferType>(buffer.getType());
  SmallVector<StoredPiece> pieces = *findStoredPieces(store, whole, getStored(store), offsets);
  SmallVector<Operation *> copies;
  for (const StoredPiece &piece : pieces) {
    Value part = buffer;
    if (piece.type != whole) {
      SmallVector<Value> begin =
          llvm::map_to_vector(piece.offsets, [&](int64_t offset) { return math.constant(offset); });
      part = PartOp::create(builder, loc, piece.type, buffer, begin);
    }
    SmallVector<int64_t> at =
        llvm::map_to_vector(llvm::zip_equal(offsets, piece.offsets),
                            [](auto pair) { return std::get<0>(pair) + std::get<1>(pair); });
    SmallVector<Value> place = math.shiftBox(store, at);
    copies.push_back(CopyOutOp::create(builder, loc, part, store.getView(), place,
                                       store.getAtomAttr(), store.getCacheAttr(),
                                       store.getEvictionAttr(), store.getDroppedAttr()));
  }
  return copies;
}

//===- Parts --------------------------------------------------------------------------------===//

/// A part that an engine can bring as it lies, if so many share the buffer out: of its rows, or
/// else of its columns.
static std::optional<BufferPart> findEnginePart(BufferType whole, Attribute atom, int64_t count) {
  for (unsigned dim = 0; dim < whole.getShape().size(); ++dim) {
    SmallVector<int64_t> shape(whole.getShape());
    if (shape[dim] % count)
      continue;
    shape[dim] /= count;
    BufferType part = getPartType(whole, shape);
    std::optional<CopyBoxes> boxes = part ? getCopyBoxes(atom, part) : std::nullopt;
    // One part lies behind another.
    if (boxes && getSharedBytes(part) % boxes->alignment == 0)
      return BufferPart{part, dim};
  }
  return std::nullopt;
}

std::optional<SharedStrips> kiln::findSharedStrips(BufferType whole, Attribute atom,
                                                   int64_t sharers) {
  auto find = [&](unsigned dim, int64_t count) -> std::optional<SharedStrips> {
    SmallVector<int64_t> shape(whole.getShape());
    shape[dim] /= count;
    BufferType strip = getPartType(whole, shape);
    std::optional<BufferPart> part =
        strip ? findEnginePart(strip, atom, sharers) : std::optional<BufferPart>();
    return part ? std::optional(SharedStrips{count, {strip, dim}, *part}) : std::nullopt;
  };
  unsigned last = whole.getShape().size() - 1;
  for (int64_t count = 1; whole.getShape()[last] % count == 0; count *= 2)
    if (std::optional<SharedStrips> strips = find(last, count))
      return strips;
  auto findOdd = [&](unsigned dim) {
    int64_t extent = whole.getShape()[dim];
    return find(dim, extent / (extent & -extent));
  };
  std::optional<SharedStrips> strips = findOdd(0);
  return strips ? strips : findOdd(last);
}

/// The part of this number of what a copy brings.
static void takePart(CopyInOp copy, BufferPart part, Value number) {
  OpBuilder builder(copy);
  IndexMath math{builder, copy.getLoc()};
  SmallVector<Value> offsets(part.type.getShape().size(), math.constant(0));
  offsets[part.dim] = math.mul(number, math.constant(part.type.getShape()[part.dim]));
  OpOperand &offset = copy.getOffsetsMutable()[getViewDim(part.dim, copy.getDropped())];
  offset.set(math.add(offset.get(), offsets[part.dim]));
  copy.getBufferMutable().set(
      PartOp::create(builder, copy.getLoc(), part.type, copy.getBuffer(), offsets));
}

SmallVector<CopyInOp> kiln::takeParts(CopyInOp copy, const SharedStrips &strips, Value number) {
  SmallVector<CopyInOp> pieces;
  for (int64_t i = 0; i < strips.count; ++i) {
    auto piece = cast<CopyInOp>(OpBuilder(copy).clone(*copy));
    OpBuilder builder(piece);
    if (strips.count > 1)
      takePart(piece, strips.strip, arith::ConstantIndexOp::create(builder, piece.getLoc(), i));
    takePart(piece, strips.part, number);
    pieces.push_back(piece);
  }
  copy.erase();
  return pieces;
}
