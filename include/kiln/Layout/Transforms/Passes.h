// The passes of the layout stage.
#ifndef KILN_LAYOUT_TRANSFORMS_PASSES_H
#define KILN_LAYOUT_TRANSFORMS_PASSES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <functional>
#include <optional>

namespace kiln {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "kiln/Layout/Transforms/Passes.h.inc"

/// What comes of a copy of a kernel: the number of the proposal by which it runs, the most that
/// there may be if it is none, or nothing if the kernel is refused.
using RankKernel = std::function<std::optional<int64_t>(tile::KernelOp)>;
/// The same, where extents that rest on instructions that nobody has decided yet are kept only if
/// the kernel runs as well with them.
std::unique_ptr<mlir::Pass> createDecideExtents(RankKernel rankKernel);

/// Whether a copy of a kernel can be realised and lowered.
using TryKernel = std::function<bool(tile::KernelOp)>;
/// The same, of what can be realised alone.
std::unique_ptr<mlir::Pass> createDecideChunks(TryKernel tryKernel);

} // namespace kiln

#endif // KILN_LAYOUT_TRANSFORMS_PASSES_H
