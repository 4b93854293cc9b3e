// The boxes by which a tensor goes through shared memory to an engine that stores it, and which
// pieces of a box the engine stores, where the tensor has grown by padding.
#ifndef KILN_LAYOUT_TRANSFORMS_STOREDBOXES_H
#define KILN_LAYOUT_TRANSFORMS_STOREDBOXES_H

#include "kiln/Dialect/Tile/IR/Tile.h"

namespace kiln {

/// A part of a box.
struct StoredPiece {
  llvm::SmallVector<int64_t> offsets;
  tile::BufferType type;
};

/// Where boxes begin in a tensor of which `extents` are stored, the last dimension fastest. Those
/// of which nothing is stored are left out.
llvm::SmallVector<llvm::SmallVector<int64_t>> getStoredBoxes(llvm::ArrayRef<int64_t> extents,
                                                             llvm::ArrayRef<int64_t> box);
/// The pieces that the store's engine copies of the box that begins at `at`, if `extents` are
/// stored of all: the whole box, or parts of the buffer that add up to what is there, as few as the
/// engine can copy. None if it cannot.
std::optional<llvm::SmallVector<StoredPiece>> findStoredPieces(tile::StoreOp store,
                                                               tile::BufferType buffer,
                                                               llvm::ArrayRef<int64_t> extents,
                                                               llvm::ArrayRef<int64_t> at);
/// Whether it can copy all boxes of such a buffer.
bool canStoreBoxes(tile::StoreOp store, tile::BufferType buffer, llvm::ArrayRef<int64_t> extents);

} // namespace kiln

#endif // KILN_LAYOUT_TRANSFORMS_STOREDBOXES_H
