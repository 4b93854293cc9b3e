// What accesses to global memory ask of caches, on its way to a target's instructions.
#ifndef KILN_TARGET_COMMON_CACHEHINTS_H
#define KILN_TARGET_COMMON_CACHEHINTS_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"

#include "kiln/Target/Common/CacheHints.h.inc"

namespace llvm {
class Instruction;
} // namespace llvm

namespace kiln {

struct CacheHints {
  std::optional<tile::Cache> cache;
  std::optional<tile::Eviction> eviction;

  /// How soon lines may be let go of, by both hints.
  tile::Eviction getEviction() const;
  /// Whether data is not worth keeping once it has been used.
  bool isStreaming() const { return getEviction() == tile::Eviction::First; }
};

/// Those of an op that has some.
template <typename Access>
CacheHints getHints(Access access) {
  return {access.getCache(), access.getEviction()};
}

/// An access to global memory by LLVM's own instructions. LLVM knows data that is used once, and no
/// further hint, so that all of them come along as an alias scope that nothing is held against:
/// what becomes of the access as LLVM optimises keeps it. A target reads them where it makes its
/// instructions.
mlir::Value loadGlobal(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type,
                       mlir::Value pointer, unsigned alignment, CacheHints hints);
void storeGlobal(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                 mlir::Value pointer, unsigned alignment, CacheHints hints);

/// What came along; nothing where an access asks for no more than any does.
std::optional<CacheHints> readHints(const llvm::Instruction &access);

} // namespace kiln

#endif // KILN_TARGET_COMMON_CACHEHINTS_H
