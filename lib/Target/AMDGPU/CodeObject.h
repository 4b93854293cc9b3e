// What a code object says of its kernel.
#ifndef KILN_LIB_TARGET_AMDGPU_CODEOBJECT_H
#define KILN_LIB_TARGET_AMDGPU_CODEOBJECT_H

#include "kiln/Target/Chip.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace kiln::amdgcn {

/// Registers, spills and memory of the first kernel, by the names that the artifact's metadata
/// gives them, and the waves that one SIMD can hold of it; from the notes of a code object.
llvm::Expected<std::vector<std::pair<std::string, int64_t>>> readFigures(llvm::StringRef object,
                                                                         const Chip &chip);

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_CODEOBJECT_H
