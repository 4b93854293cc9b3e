// Whole numbers of a kernel as functions of its arguments' sizes, written as JSON.
#ifndef KILN_LIB_SCHEDULE_MODEL_NUMBERS_H
#define KILN_LIB_SCHEDULE_MODEL_NUMBERS_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/JSON.h"

namespace kiln {

/// Each number is an object that says its operation and the places of what it is made of
/// (docs/rationale/model.md). A program is the one in the middle of the grid, a loop's variable
/// that of its middle trip.
class Numbers {
public:
  /// The place of a number; nothing if it is made of what is not known in front of a launch, of
  /// which `unknown` is the first.
  std::optional<int64_t> add(mlir::Value value);
  std::optional<int64_t> addTrips(mlir::scf::ForOp loop);
  int64_t addConstant(int64_t value);
  int64_t addProduct(llvm::ArrayRef<int64_t> factors);
  int64_t addExtent(mlir::BlockArgument view, int64_t dim);

  llvm::json::Array take() { return std::move(all); }
  mlir::Operation *unknown = nullptr;

private:
  int64_t push(llvm::json::Object number) {
    all.push_back(std::move(number));
    return int64_t(all.size()) - 1;
  }
  std::optional<int64_t> make(mlir::Value value);
  std::optional<int64_t> make(llvm::StringRef name, mlir::ValueRange of,
                              llvm::json::Object further = {});

  llvm::json::Array all;
  llvm::DenseMap<mlir::Value, std::optional<int64_t>> places;
};

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_MODEL_NUMBERS_H
