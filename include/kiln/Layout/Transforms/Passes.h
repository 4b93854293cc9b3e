// The passes of the layout stage.
#ifndef KILN_LAYOUT_TRANSFORMS_PASSES_H
#define KILN_LAYOUT_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "kiln/Layout/Transforms/Passes.h.inc"

} // namespace kiln

#endif // KILN_LAYOUT_TRANSFORMS_PASSES_H
