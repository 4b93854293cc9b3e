// The attribute interface that every target implements, and what its code generator returns.
#ifndef KILN_TARGET_TARGETINTERFACE_H
#define KILN_TARGET_TARGETINTERFACE_H

#include "kiln/Dialect/Tile/IR/Marks.h"
#include "kiln/Target/Chip.h"
#include "kiln/Target/Stage.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include <optional>
#include <string>
#include <vector>

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace kiln {

/// How far to go from the LLVM dialect, and how hard to try.
struct EmitRequest {
  /// The last stage wanted: LLVMIR, Asm or Binary.
  Stage last = Stage::Binary;
  /// 0 to 3.
  int optLevel = 3;
  /// Whether to keep what lies on the way, where it costs extra work.
  bool keepLLVMIR = false;
  bool keepAssembly = false;
};

/// What a kernel became. What was not asked for is empty.
struct TargetCode {
  std::string llvmIR;
  std::string assembly;
  std::string binary;
  /// Numbers for the artifact's metadata, by name: registers, scratch bytes, …
  std::vector<std::pair<std::string, int64_t>> figures;
};

} // namespace kiln

#include "kiln/Target/TargetInterface.h.inc"

namespace kiln {

using tile::kTargetAttrName;

/// The target of the module that holds `op`; null if none is set.
TargetInterface getTarget(mlir::Operation *op);

/// The target of `op`'s module; an error at `op` if the module has none.
mlir::FailureOr<TargetInterface> requireTarget(mlir::Operation *op);

/// The one way to refuse what a target cannot do: "'tile.sort' is not supported on amdgpu
/// yet: reason", at the user's location.
mlir::InFlightDiagnostic emitUnsupported(mlir::Operation *op, TargetInterface target,
                                         llvm::StringRef reason = "");

} // namespace kiln

#endif // KILN_TARGET_TARGETINTERFACE_H
