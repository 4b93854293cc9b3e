// The generated half of the interfaces of asynchronous instructions, and the boxes of a buffer.
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Transforms/SharedLayout.h"

using namespace mlir;

#include "kiln/Layout/Transforms/AsyncAtomInterfaces.cpp.inc"

bool kiln::areRowsOfPieces(unsigned bytes, Type element, const LinearLayout &layout) {
  unsigned each = std::max(bytes / std::max(1u, getSharedElementBytes(element)), 1u);
  ArrayRef<LinearLayout::Basis> bases = layout.getBases(kOffset);
  for (auto [bit, basis] : llvm::enumerate(bases.take_front(llvm::Log2_32(each))))
    for (auto [dim, value] : llvm::enumerate(basis))
      if (value != (dim + 1 == basis.size() ? int64_t(1) << bit : 0))
        return false;
  // Pieces stay whole where they lie.
  return llvm::all_of(
      bases.drop_front(std::min<size_t>(llvm::Log2_32(each), bases.size())),
      [&](const LinearLayout::Basis &basis) { return basis.empty() || basis.back() % each == 0; });
}

std::optional<kiln::CopyBoxes> kiln::getCopyBoxes(Attribute atom, tile::BufferType buffer,
                                                  std::optional<ArrayRef<int64_t>> dropped) {
  auto engine = dyn_cast<EngineAtomInterface>(atom);
  if (!engine)
    return std::nullopt;
  auto layout = dyn_cast_or_null<tile::LayoutAttr>(buffer.getLayout());
  LinearLayout linear;
  if (layout)
    linear = layout.toLinear(buffer.getShape());
  std::optional<CopyBoxes> boxes =
      engine.getBoxes(buffer.getShape(), buffer.getElementType(), layout ? &linear : nullptr);
  if (!boxes)
    return std::nullopt;
  boxes->box = tile::getWholeShape(boxes->box, dropped);
  for (SmallVector<int64_t> &place : boxes->places)
    for (int64_t dim : dropped.value_or(ArrayRef<int64_t>()))
      place.insert(place.begin() + dim, 0);
  return boxes;
}
