// Matrices over F2, the field of two elements: what linear layouts reduce to.
#ifndef KILN_LAYOUT_ALGEBRA_F2MATRIX_H
#define KILN_LAYOUT_ALGEBRA_F2MATRIX_H

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace kiln {

/// A matrix of bits with at most 64 rows, kept as columns: column j is the image of input bit j,
/// and bit i of it is row i. Adding is exclusive or, multiplying is and, so a matrix applied to
/// an integer is the exclusive or of the columns that its set bits choose.
///
/// Everything rests on one elimination: columns are folded one after another into an echelon
/// basis that remembers which input bits made each basis vector. A column that folds to zero
/// depends on earlier columns; the bits that made it are a kernel vector.
class F2Matrix {
public:
  F2Matrix() = default;
  explicit F2Matrix(llvm::SmallVector<uint64_t> columns) : columns(std::move(columns)) {}
  static F2Matrix identity(unsigned bits);

  unsigned getNumColumns() const { return columns.size(); }
  uint64_t getColumn(unsigned j) const { return columns[j]; }

  uint64_t apply(uint64_t input) const;
  /// this · other: first `other`, then this.
  F2Matrix compose(const F2Matrix &other) const;

  unsigned rank() const;
  /// Columns that depend on columns before them, as a mask of input bits.
  uint64_t dependentColumns() const;
  /// A basis of the inputs that map to zero.
  llvm::SmallVector<uint64_t> kernel() const;
  /// An input that maps to `output`, using only independent columns; none if it is not in the
  /// image.
  std::optional<uint64_t> solve(uint64_t output) const;

  bool operator==(const F2Matrix &other) const { return columns == other.columns; }

private:
  struct Echelon;
  llvm::SmallVector<uint64_t> columns;
};

} // namespace kiln

#endif // KILN_LAYOUT_ALGEBRA_F2MATRIX_H
