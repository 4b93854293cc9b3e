// The passes of the AMDGPU target alone.
#ifndef KILN_TARGET_AMDGPU_PASSES_H
#define KILN_TARGET_AMDGPU_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "kiln/Target/AMDGPU/Passes.h.inc"

} // namespace kiln

#endif // KILN_TARGET_AMDGPU_PASSES_H
