// Passes that more than one target runs, and the patterns they are made of.
#ifndef KILN_TARGET_COMMON_PASSES_H
#define KILN_TARGET_COMMON_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class RewritePatternSet;
namespace arith {
class ArithDialect;
} // namespace arith
namespace func {
class FuncOp;
} // namespace func
} // namespace mlir

namespace kiln {
class TargetInterface;
namespace tile {
class KernelOp;
} // namespace tile

#define GEN_PASS_DECL
#include "kiln/Target/Common/Passes.h.inc"

/// Whether the warps of a kernel, or of its roles, are as many as the chip runs and as layouts
/// count; an error says at the kernel how many.
llvm::LogicalResult checkWarps(tile::KernelOp kernel, TargetInterface target);
/// The name of a decision that an op has and that means nothing without roles; empty if it has
/// none.
std::string findRolesDecision(mlir::Operation *op);

/// What `expand-narrow-floats` does, for a conversion that has more to do.
void populateExpandNarrowFloatsPatterns(mlir::RewritePatternSet &patterns);

/// f64 to f16 and bf16 by way of an f32 that is rounded to odd, so that each rounds once.
void populateRoundOncePatterns(mlir::RewritePatternSet &patterns);

/// erf of f32, for targets whose exp2 is one instruction: within 2.5 ulp.
void populateExpandErfPatterns(mlir::RewritePatternSet &patterns);

/// All functions of mathematics of f64, and most of f32, as calls that `linkDeviceMath` resolves;
/// of f32 not those that the target has itself.
void populateCallDeviceMathPatterns(mlir::RewritePatternSet &patterns,
                                    llvm::function_ref<bool(llvm::StringRef)> isNative);

#define GEN_PASS_REGISTRATION
#include "kiln/Target/Common/Passes.h.inc"

} // namespace kiln

#endif // KILN_TARGET_COMMON_PASSES_H
