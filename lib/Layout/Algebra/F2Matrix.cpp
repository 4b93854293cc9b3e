// Gaussian elimination over F2, one column at a time.
#include "kiln/Layout/Algebra/F2Matrix.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

namespace kiln {

/// Basis vectors of the image, each with a leading bit of its own and the inputs that make it.
struct F2Matrix::Echelon {
  struct Vector {
    uint64_t value;
    uint64_t inputs;
  };
  llvm::SmallVector<Vector> basis;
  llvm::SmallVector<uint64_t> kernel;
  uint64_t dependent = 0;

  explicit Echelon(const F2Matrix &matrix) {
    for (auto [j, column] : llvm::enumerate(matrix.columns)) {
      Vector folded = fold({column, uint64_t(1) << j});
      if (folded.value) {
        basis.push_back(folded);
        continue;
      }
      kernel.push_back(folded.inputs);
      dependent |= uint64_t(1) << j;
    }
  }

  /// Clears the leading bits of `vector` that the basis can clear. The basis is in order of
  /// arrival, and no vector holds the leading bit of one before it, so one pass does.
  Vector fold(Vector vector) const {
    for (const Vector &pivot : basis)
      if (vector.value & llvm::bit_floor(pivot.value)) {
        vector.value ^= pivot.value;
        vector.inputs ^= pivot.inputs;
      }
    return vector;
  }
};

F2Matrix F2Matrix::identity(unsigned bits) {
  llvm::SmallVector<uint64_t> columns;
  for (unsigned j = 0; j < bits; ++j)
    columns.push_back(uint64_t(1) << j);
  return F2Matrix(columns);
}

uint64_t F2Matrix::apply(uint64_t input) const {
  uint64_t output = 0;
  for (auto [j, column] : llvm::enumerate(columns))
    if (input >> j & 1)
      output ^= column;
  return output;
}

F2Matrix F2Matrix::compose(const F2Matrix &other) const {
  llvm::SmallVector<uint64_t> product;
  for (uint64_t column : other.columns)
    product.push_back(apply(column));
  return F2Matrix(product);
}

unsigned F2Matrix::rank() const { return Echelon(*this).basis.size(); }

uint64_t F2Matrix::dependentColumns() const { return Echelon(*this).dependent; }

llvm::SmallVector<uint64_t> F2Matrix::kernel() const { return Echelon(*this).kernel; }

std::optional<uint64_t> F2Matrix::solve(uint64_t output) const {
  Echelon echelon(*this);
  Echelon::Vector rest = echelon.fold({output, 0});
  if (rest.value)
    return std::nullopt;
  return rest.inputs;
}

} // namespace kiln
