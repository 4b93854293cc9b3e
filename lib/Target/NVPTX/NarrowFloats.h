// Floats of a byte by instruction, for chips that have it.
#ifndef KILN_LIB_TARGET_NVPTX_NARROWFLOATS_H
#define KILN_LIB_TARGET_NVPTX_NARROWFLOATS_H

namespace mlir {
class RewritePatternSet;
} // namespace mlir

namespace kiln::nvptx {

/// Conversions between f8E4M3FN or f8E5M2 and f16 or f32, on vectors of an even number of
/// elements, bit for bit those of `expand-narrow-floats` unless they are fast.
void populateNarrowFloatPatterns(mlir::RewritePatternSet &patterns);

/// Conversions of pairs of bf16 to f32.
void populatePairPatterns(mlir::RewritePatternSet &patterns);

/// Conversions of wider floats where subnormals of f32 are flushed.
void populateFlushedFloatPatterns(mlir::RewritePatternSet &patterns);

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_NARROWFLOATS_H
