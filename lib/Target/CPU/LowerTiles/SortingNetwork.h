// Sorting of vectors in memory, by a network of comparisons that no data changes.
#ifndef KILN_LIB_TARGET_CPU_LOWERTILES_SORTINGNETWORK_H
#define KILN_LIB_TARGET_CPU_LOWERTILES_SORTINGNETWORK_H

#include "mlir/IR/Builders.h"

namespace kiln::cpu {

/// Emits, at the builder's place, sorts of arrays of unsigned integers: one array, or two that are
/// compared by the first and then by the second. Counts are powers of two of at least one vector,
/// and `start` is in elements.
class SortingNetwork {
public:
  using Value = mlir::Value;
  using Values = mlir::SmallVector<Value>;

  SortingNetwork(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type element, int64_t lanes,
                 mlir::ArrayRef<Value> bases);

  /// In ascending order.
  void sort(Value start, int64_t count);
  /// Of two sorted runs the lower half, sorted, in the place of the first.
  void keepLower(Value start, Value other, int64_t count);
  /// Whether an element from `start` on is below the one at `limit`.
  Value isAnyBelow(Value start, int64_t count, Value limit);

  Value index(int64_t value);
  Value add(Value a, Value b);
  void loop(Value from, Value to, Value step, mlir::function_ref<void(Value)> body);

private:
  Values load(Value at);
  void store(const Values &values, Value at);
  Value isBelow(const Values &a, const Values &b);
  std::pair<Values, Values> order(const Values &a, const Values &b);
  Values shuffled(const Values &a, const Values &b, mlir::function_ref<int64_t(int64_t)> from);
  Values reversed(const Values &a);
  Values within(const Values &a, int64_t distance);
  Value twoTo(Value exponent);
  Value sub(Value a, Value b);
  void merge(Value start, Value end, Value exponent);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  mlir::Type element;
  mlir::VectorType vector;
  int64_t lanes;
  Values bases;
};

} // namespace kiln::cpu

#endif // KILN_LIB_TARGET_CPU_LOWERTILES_SORTINGNETWORK_H
