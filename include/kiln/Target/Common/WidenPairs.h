// Narrow floats to wider ones, two at a time.
#ifndef KILN_TARGET_COMMON_WIDENPAIRS_H
#define KILN_TARGET_COMMON_WIDENPAIRS_H

#include "mlir/IR/PatternMatch.h"

namespace kiln {

/// Patterns that widen vectors of f8, f6 and f4 by way of f16, which holds all their numbers.
/// Subnormal f16 must count as what they are.
void populateWidenPairsPatterns(mlir::RewritePatternSet &patterns);

} // namespace kiln

#endif // KILN_TARGET_COMMON_WIDENPAIRS_H
