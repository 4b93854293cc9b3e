// The interfaces of asynchronous matrix and copy instructions, and what passes between them and
// the lowering.
#ifndef KILN_LAYOUT_TRANSFORMS_ASYNCATOMINTERFACES_H
#define KILN_LAYOUT_TRANSFORMS_ASYNCATOMINTERFACES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include <array>
#include <optional>
#include <string>
#include <vector>

namespace kiln {

/// The part of a place in shared memory, in elements, in the layout of a buffer.
inline constexpr llvm::StringLiteral kOffset = "offset";

/// One dot for the warps that start it together.
struct AsyncDot {
  struct Operand {
    mlir::Value base;                         ///< in shared memory; null if it is not there
    mlir::Value address;                      ///< in tensor memory (i32), likewise
    LinearLayout layout;                      ///< of the tensor or the buffer, a window's whole
    llvm::SmallVector<mlir::Value> registers; ///< the tensor's elements, if in registers
    bool transposed = false;
    bool isUnsigned = false;
    /// Whether its registers are read again, in another trip of a loop that does not change them.
    bool isKept = false;
  };
  Operand a, b;
  /// Those of a and of b, in tensor memory, if there are any.
  llvm::SmallVector<Operand, 2> scales;
  int64_t m, n, k;
  /// The registers, or alone the address in tensor memory (i32).
  llvm::SmallVector<mlir::Value> accumulator;
  LinearLayout accumulatorLayout;
  /// i1; null if the accumulator always counts.
  mlir::Value accumulates;
};

/// A buffer as an engine copies it: boxes of one shape, each of which is contiguous in shared
/// memory.
struct CopyBoxes {
  llvm::SmallVector<int64_t> box;
  int64_t swizzle;   ///< bytes over which the rows of a box are permuted; 0: not at all
  int64_t alignment; ///< of where a box begins in shared memory, in bytes
  /// Where each box begins in the tile, in the order in which they lie.
  llvm::SmallVector<llvm::SmallVector<int64_t>> places;
};

/// What the lanes of a warp copy into shared memory by one instruction.
struct DirectCopy {
  /// On a target with descriptors: one, and what is added to its base, as `BoundedMemoryInterface`
  /// says.
  mlir::Value buffer, offset, uniform;
  /// On others: each lane's address, and how many bytes from there on are in bounds (i32). Of no
  /// bytes nothing is read.
  mlir::Value pointer, bytes;
  /// Where it goes: the lane's place or the warp's.
  mlir::Value shared;
  /// LLVM's alias scopes of what the copy writes, and of what it does not.
  mlir::ArrayAttr scopes, others;
  /// Whether caches shall let go of it soon, and whether those nearest shall keep it.
  bool isStreaming = false, isKeptNear = false;
};

} // namespace kiln

#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h.inc"

namespace kiln {

/// Whether pieces of so many bytes of a buffer that lies so are consecutive elements of a row each,
/// as lanes copy them, in whatever order the pieces are.
bool areRowsOfPieces(unsigned bytes, mlir::Type element, const LinearLayout &layout);

/// A buffer as an atom's engine copies it to or from a view, which has the dimensions too that the
/// buffer has dropped; nothing if there is no engine or it cannot.
std::optional<CopyBoxes> getCopyBoxes(mlir::Attribute atom, tile::BufferType buffer,
                                      std::optional<llvm::ArrayRef<int64_t>> dropped = {});

} // namespace kiln

#endif // KILN_LAYOUT_TRANSFORMS_ASYNCATOMINTERFACES_H
