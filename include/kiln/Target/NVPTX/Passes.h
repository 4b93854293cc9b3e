// The passes of the NVPTX target alone.
#ifndef KILN_TARGET_NVPTX_PASSES_H
#define KILN_TARGET_NVPTX_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "kiln/Target/NVPTX/Passes.h.inc"

} // namespace kiln

#endif // KILN_TARGET_NVPTX_PASSES_H
