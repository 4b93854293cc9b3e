// Places pieces of shared memory by the time in which they are in use.
#include "kiln/Schedule/Problem/SharedMemory.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln::schedule;

int64_t kiln::schedule::placePieces(llvm::MutableArrayRef<SharedPiece> pieces) {
  int64_t total = 0;
  for (auto [index, piece] : llvm::enumerate(pieces)) {
    piece.offset = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (const SharedPiece &other : pieces.take_front(index)) {
        bool isApart = piece.mayLieOn(other) || piece.offset >= other.offset + other.bytes ||
                       other.offset >= piece.offset + piece.bytes;
        if (isApart)
          continue;
        piece.offset = llvm::alignTo(other.offset + other.bytes, piece.alignment);
        moved = true;
      }
    }
    total = std::max(total, piece.offset + piece.bytes);
  }
  return total;
}
