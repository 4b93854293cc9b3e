// What is known of the integers that index memory: which are multiples of what, which neighbours in
// a tile are the same, and which count on.
//
// The facts hold for every element, whatever the arguments are. They are found in one walk over a
// kernel, loops until nothing changes. Arithmetic wraps: a run of a power of two that begins at one
// of its multiples never crosses the end of its type.
#ifndef KILN_LAYOUT_TRANSFORMS_INDEXFACTS_H
#define KILN_LAYOUT_TRANSFORMS_INDEXFACTS_H

#include "kiln/Dialect/Tile/IR/Tile.h"

namespace kiln {

/// Of one integer, or of a tile of them. All numbers are powers of two.
struct IndexFacts {
  struct Dim {
    /// As many neighbours, from a multiple of as many on, are the same.
    int64_t same = 1;
    /// As many neighbours, from a multiple of as many on, are v, v + 1, v + 2, …, where v is a
    /// multiple of as many.
    int64_t run = 1;
    bool operator==(const Dim &other) const { return same == other.same && run == other.run; }
  };
  /// Each value is a multiple of it.
  int64_t divisor = 1;
  llvm::SmallVector<Dim, 4> dims;
  bool operator==(const IndexFacts &other) const {
    return divisor == other.divisor && dims == other.dims;
  }
};

class IndexAnalysis {
public:
  explicit IndexAnalysis(tile::KernelOp kernel);

  /// Of any value that is an integer or a tile of integers.
  IndexFacts get(mlir::Value value) const;

private:
  void visit(mlir::Block &block);
  void visit(mlir::Operation *op);
  void visitFor(mlir::Operation *op);
  void visitWhile(mlir::Operation *op);
  void visitIf(mlir::Operation *op);
  IndexFacts compute(mlir::Operation *op, mlir::Value result) const;
  void set(mlir::Value value, IndexFacts facts) { known[value] = std::move(facts); }
  /// Forgets what does not hold for the other too; whether that was anything.
  bool meet(mlir::Value value, const IndexFacts &other, bool giveUp);

  llvm::DenseMap<mlir::Value, IndexFacts> known;
};

/// How many neighbours along a tile's dimension a gather or a scatter finds side by side in memory,
/// aligned, and in bounds and chosen all together or not at all.
struct RunFacts {
  int dim = -1;      ///< of the tile; -1: each element is on its own
  int64_t width = 1; ///< a power of two, at most 16 bytes
};
RunFacts getRunFacts(const IndexAnalysis &analysis, mlir::TypedValue<tile::ViewType> view,
                     mlir::ValueRange indices, mlir::Value mask);

} // namespace kiln

#endif // KILN_LAYOUT_TRANSFORMS_INDEXFACTS_H
