// Cuts a tensor that an engine stores into boxes, and boxes into what of them is stored.
#include "kiln/Layout/Transforms/StoredBoxes.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

SmallVector<SmallVector<int64_t>> kiln::getStoredBoxes(ArrayRef<int64_t> extents,
                                                       ArrayRef<int64_t> box) {
  SmallVector<SmallVector<int64_t>> boxes = {{}};
  for (auto [extent, step] : llvm::zip_equal(extents, box)) {
    SmallVector<SmallVector<int64_t>> more;
    for (const SmallVector<int64_t> &prefix : boxes)
      for (int64_t at = 0; at < extent; at += step) {
        more.push_back(prefix);
        more.back().push_back(at);
      }
    boxes = std::move(more);
  }
  return boxes;
}

namespace {
/// Cuts one box.
class BoxCutter {
public:
  BoxCutter(StoreOp store, BufferType buffer) : store(store), buffer(buffer) {}

  /// Appends pieces that make up this part; false if there are none.
  bool cut(ArrayRef<int64_t> offsets, ArrayRef<int64_t> shape);

  SmallVector<StoredPiece> pieces;

private:
  BufferType getPiece(ArrayRef<int64_t> offsets, ArrayRef<int64_t> shape);

  StoreOp store;
  BufferType buffer;
  DenseSet<BufferType> failed;
};
} // namespace

/// A part that the engine copies as it lies; null if it does not.
BufferType BoxCutter::getPiece(ArrayRef<int64_t> offsets, ArrayRef<int64_t> shape) {
  if (shape == buffer.getShape())
    return getCopyBoxes(store.getAtomAttr(), buffer, store.getDropped()) ? buffer : BufferType();
  for (auto [most, extent] : llvm::zip_equal(buffer.getShape(), shape))
    if (most % extent)
      return {};
  BufferType part = getPartType(buffer, shape);
  std::optional<CopyBoxes> boxes =
      part ? getCopyBoxes(store.getAtomAttr(), part, store.getDropped()) : std::nullopt;
  bool isFirst = llvm::all_of(offsets, [](int64_t offset) { return offset == 0; });
  // One part lies behind another.
  bool isAligned = boxes && (isFirst || getSharedBytes(part) % boxes->alignment == 0);
  return isAligned ? part : BufferType();
}

/// What is no part as it is may be two, one behind the other.
bool BoxCutter::cut(ArrayRef<int64_t> offsets, ArrayRef<int64_t> shape) {
  if (BufferType piece = getPiece(offsets, shape)) {
    pieces.push_back({SmallVector<int64_t>(offsets), piece});
    return true;
  }
  auto key = BufferType::get(store.getContext(), shape, buffer.getElementType(), Attribute());
  if (failed.contains(key))
    return false;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    if (shape[dim] % 2)
      continue;
    SmallVector<int64_t> half(shape), second(offsets);
    half[dim] /= 2;
    second[dim] += half[dim];
    size_t before = pieces.size();
    if (cut(offsets, half) && cut(second, half))
      return true;
    pieces.truncate(before);
  }
  failed.insert(key);
  return false;
}

std::optional<SmallVector<StoredPiece>> kiln::findStoredPieces(StoreOp store, BufferType buffer,
                                                               ArrayRef<int64_t> extents,
                                                               ArrayRef<int64_t> at) {
  // Along each dimension all of the box, or powers of two, the largest first.
  SmallVector<std::pair<SmallVector<int64_t>, SmallVector<int64_t>>> parts = {{}};
  for (auto [extent, most, first] : llvm::zip_equal(extents, buffer.getShape(), at)) {
    SmallVector<std::pair<SmallVector<int64_t>, SmallVector<int64_t>>> more;
    for (const auto &prefix : parts) {
      int64_t rest = std::min(most, extent - first);
      for (int64_t next = 0, size = 0; rest > 0; next += size, rest -= size) {
        size = rest == most ? rest : int64_t(llvm::bit_floor(uint64_t(rest)));
        more.push_back(prefix);
        more.back().first.push_back(next);
        more.back().second.push_back(size);
      }
    }
    parts = std::move(more);
  }
  BoxCutter cutter(store, buffer);
  for (auto &[offsets, shape] : parts)
    if (!cutter.cut(offsets, shape))
      return std::nullopt;
  return std::move(cutter.pieces);
}

bool kiln::canStoreBoxes(StoreOp store, BufferType buffer, ArrayRef<int64_t> extents) {
  return llvm::all_of(getStoredBoxes(extents, buffer.getShape()), [&](ArrayRef<int64_t> at) {
    return findStoredPieces(store, buffer, extents, at).has_value();
  });
}
