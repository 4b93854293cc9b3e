// What is known about a tile's address when compiling: from arguments' facts and arithmetic.
#ifndef KILN_LAYOUT_TRANSFORMS_ACCESSFACTS_H
#define KILN_LAYOUT_TRANSFORMS_ACCESSFACTS_H

#include "kiln/Dialect/Tile/IR/Tile.h"

namespace kiln {

/// What is known of a kernel's argument, by any of its names; null if of nothing or no argument.
tile::FactsAttr getArgumentFacts(mlir::Value value);

/// What is known of a view, whether it is an argument or is made by the kernel; null if nothing is.
tile::FactsAttr getViewFacts(mlir::Value view);

/// Whether two views are of different arguments, one of which no other one reaches.
bool areOfOtherMemory(mlir::Value view, mlir::Value other);

/// The largest power of two that the integer is known to be a multiple of.
int64_t getKnownDivisor(mlir::Value value);

/// Whether an integer is known to be zero or more.
bool isKnownNonNegative(mlir::Value value);

/// Whole bytes that an element of this type takes, at least one.
int64_t getElementBytes(mlir::Type type);
/// Whether an element shares its byte with others in memory.
bool sharesByte(mlir::Type element);

/// What is known of a view's rows, which are where its stride is 1.
struct RowFacts {
  int dim = -1;          ///< the dimension whose stride is 1; -1: nothing is known
  int64_t alignment = 1; ///< each row begins at a multiple of so many bytes, at most 16
  int64_t multiple = 1;  ///< a row has a multiple of so many elements
};
RowFacts getRowFacts(mlir::TypedValue<tile::ViewType> view);

/// How many consecutive elements of a view's tile, from a multiple of as many on, are known to
/// be consecutive and aligned in memory, and in bounds all together or not at all.
struct AccessFacts {
  /// The dimension whose stride is 1; -1 if none is known to be.
  int dim = -1;
  /// The elements of one access, a power of two; at most 16 bytes.
  int64_t width = 1;
  /// The same if some of them may be in bounds and others not.
  int64_t aligned = 1;
};
AccessFacts getAccessFacts(mlir::TypedValue<tile::ViewType> view, mlir::ValueRange offsets);
/// Of a load or a store, by what was decided of it, too.
AccessFacts getAccessFacts(mlir::Operation *access);

/// Whether a tile of that shape has no byte of memory in common with elements outside of it.
bool hasWholeBytes(mlir::TypedValue<tile::ViewType> view, mlir::ValueRange offsets,
                   llvm::ArrayRef<int64_t> shape);

} // namespace kiln

#endif // KILN_LAYOUT_TRANSFORMS_ACCESSFACTS_H
