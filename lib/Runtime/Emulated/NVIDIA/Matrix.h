// Shared memory as descriptors of 64 bits have it, which wgmma and tcgen05 read matrices by: where
// it begins, how far the next eight rows and the next piece of a row are, and how rows are
// permuted.
#ifndef KILN_LIB_RUNTIME_EMULATED_NVIDIA_MATRIX_H
#define KILN_LIB_RUNTIME_EMULATED_NVIDIA_MATRIX_H

#include "../Block.h"
#include <algorithm>

namespace kiln::emulated {

class Matrix {
public:
  /// Of the block whose thread has started the product, which another block's may end.
  Matrix(Block &block, uint64_t descriptor, bool isTransposed, unsigned elementBytes)
      : Matrix(block, block, descriptor, isTransposed, elementBytes) {}
  /// At the same place in a block as in the one whose thread has described it.
  Matrix(Block &block, const Block &described, uint64_t descriptor, bool isTransposed,
         unsigned elementBytes)
      : block(block), isTransposed(isTransposed), bytes(elementBytes) {
    auto base = uint64_t(described.getShared().data());
    begin = uint64_t(block.getShared().data()) + (((descriptor & 0x3fff) * 16 - base) & 0x3ffff);
    leading = (descriptor >> 16 & 0x3fff) * 16;
    stride = (descriptor >> 32 & 0x3fff) * 16;
    constexpr unsigned spans[] = {16, 128, 64, 32};
    span = spans[descriptor >> 62];
  }
  /// What a product reads of it from now on, from `first` on along m or n, and along k: pieces of
  /// rows of 16 bytes. What is wrong, or nothing.
  std::string startReads(analysis::Agent by, const analysis::Event &event, unsigned first,
                         unsigned extent, unsigned depth) const {
    unsigned perPiece = 16 / bytes, lastRow = isTransposed ? depth : first + extent;
    unsigned lastColumn = isTransposed ? first + extent : depth;
    for (unsigned row = isTransposed ? 0 : first; row < lastRow; ++row)
      for (unsigned column = isTransposed ? first : 0; column < lastColumn; column += perPiece) {
        std::string wrong = block.getShared().startRead(
            by, event, addressOf(row, column), bytes * std::min(perPiece, lastColumn - column));
        if (!wrong.empty())
          return wrong;
      }
    return "";
  }
  /// Of two elements of four bits a byte, of which the first has the lower half.
  uint32_t nibbleAt(unsigned x, unsigned k) const { return at(x, k / 2) >> (k % 2 * 4) & 15; }
  /// The bits of the element at `x` along m or n and `k`. Rows are of k, or transposed of m or n.
  uint32_t at(unsigned x, unsigned k) const {
    uint64_t address = isTransposed ? addressOf(k, x) : addressOf(x, k);
    uint32_t bits = 0;
    if (block.getShared().holds(address))
      std::memcpy(&bits, reinterpret_cast<const void *>(address), bytes);
    return bits;
  }

private:
  uint64_t addressOf(unsigned row, unsigned column) const {
    unsigned perRow = span / bytes;
    return placeOf(begin + row / 8 * stride + row % 8 * span + column / perRow * leading +
                       column % perRow * bytes,
                   span);
  }

  Block &block;
  bool isTransposed;
  unsigned bytes;
  uint64_t begin, leading, stride;
  unsigned span;
};

/// Products into tensor memory want other fixed bits of a descriptor than wgmma does.
inline void checkTensorDescriptor(Block &block, uint64_t descriptor) {
  if ((descriptor >> 46 & 7) != 1 || (descriptor >> 49 & 0x1fff) != 0)
    block.fail("a descriptor of a matrix in shared memory with the bits of another instruction");
}

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_NVIDIA_MATRIX_H
