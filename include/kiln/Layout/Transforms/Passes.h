// The passes of the layout stage.
#ifndef KILN_LAYOUT_TRANSFORMS_PASSES_H
#define KILN_LAYOUT_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <functional>
#include <optional>

namespace kiln {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "kiln/Layout/Transforms/Passes.h.inc"

/// What comes of a copy of the module: the number of the proposal by which its kernel runs, the
/// most that there may be if it is none, or nothing if the kernel is refused.
using TryOut = std::function<std::optional<int64_t>(mlir::ModuleOp)>;
/// The same, where extents that rest on instructions that nobody has decided yet are kept only if
/// the kernel runs as well with them.
std::unique_ptr<mlir::Pass> createSplitShapes(TryOut tryOut);

} // namespace kiln

#endif // KILN_LAYOUT_TRANSFORMS_PASSES_H
