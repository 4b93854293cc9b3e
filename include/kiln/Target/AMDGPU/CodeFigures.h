// What a kernel's final code consists of, as numbers: what tests hold to figures that are checked
// in, and what `tile-check-isa` prints.
#ifndef KILN_TARGET_AMDGPU_CODEFIGURES_H
#define KILN_TARGET_AMDGPU_CODEFIGURES_H

#include "kiln/Target/AMDGPU/ISA.h"
#include "llvm/Support/JSON.h"

namespace kiln::amdgcn {

/// Accesses to global memory and LDS by the bytes that a lane moves, matrix instructions by name;
/// the same for the innermost loops, with their waits and barriers; registers, spills, scratch and
/// LDS as the code object states them.
llvm::json::Object describeCode(const KernelCode &kernel);

} // namespace kiln::amdgcn

#endif // KILN_TARGET_AMDGPU_CODEFIGURES_H
