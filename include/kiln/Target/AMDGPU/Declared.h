// A proof that a kernel's final code has what the compiler declares of its protocol, and nothing of
// the kind beside.
//
//  - Roles are the block's waves. How groups of them lag is proven with the waits (Waits.h).
//  - Each word of LDS at which waves count arrivals is declared, with how many a phase awaits.
//  Waves
//    of the roles that are said to arrive do, those that are said to wait look at it, and somebody
//    has made it.
//  - The slots of each ring lie in the block's LDS. Somebody fills them, and somebody reads them.
//
// Which instructions waves of a role come to is found by their numbers (Paths.h); where an access
// is, as for the waits: one whose place is not known may be at any.
#ifndef KILN_TARGET_AMDGPU_DECLARED_H
#define KILN_TARGET_AMDGPU_DECLARED_H

#include "kiln/Target/AMDGPU/Waits.h"

namespace kiln::amdgcn {

/// What of the code is not as it is declared, or is not declared.
std::vector<WaitProblem> checkDeclared(const KernelCode &kernel);

} // namespace kiln::amdgcn

#endif // KILN_TARGET_AMDGPU_DECLARED_H
