// What a thread accesses of a tile of a view: so many registers at a time.
#ifndef KILN_LIB_TARGET_COMMON_THREADS_REGISTERACCESS_H
#define KILN_LIB_TARGET_COMMON_THREADS_REGISTERACCESS_H

#include "ThreadContext.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include <map>

namespace kiln {

struct RegisterAccess {
  const ThreadView &view;
  ThreadPlace place;
  llvm::SmallVector<mlir::Value> offsets;
  mlir::Type elementType;
  /// Consecutive registers that one access takes.
  int64_t width;
  /// Those of the tile, where it is smaller than the tensor.
  std::optional<llvm::ArrayRef<int64_t>> extents;
  /// By dimension and register coordinate, since many registers share these.
  std::map<std::pair<unsigned, int64_t>, mlir::Value> terms, bounds;
};

/// The consecutive registers that one access takes.
int64_t getAccessWidth(const AccessFacts &facts, std::optional<llvm::ArrayRef<int64_t>> extents,
                       const LinearLayout &layout);
RegisterAccess getRegisterAccess(ThreadContext &context, mlir::Value view, mlir::ValueRange offsets,
                                 std::optional<llvm::ArrayRef<int64_t>> extents,
                                 const AccessFacts &facts, const LinearLayout &layout);
/// Where a register's element is.
mlir::Value getRegisterPointer(ThreadContext &context, RegisterAccess &access, int64_t reg);

/// The bits of a padding that is known when compiling; zeros if there is none.
std::optional<llvm::APInt> getKnownPadding(mlir::Value padding, unsigned bits);

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_THREADS_REGISTERACCESS_H
