// A proof that a kernel's final code has what the compiler declares of its protocol, and nothing of
// the kind beside.
//
//  - Roles are the block's waves. How groups of them lag is proven with the waits (Waits.h).
//  - Each word of LDS at which waves count arrivals is declared, with how many a phase awaits.
//    Waves of the roles that are said to arrive do, and of no other one; those that are said to
//    wait look at it, and nobody else; and somebody has made it.
//  - Copies past the registers go to the slots of rings. Each slot is filled, and read, as the
//  first
//    one is, and who uses a ring between roles reaches nothing beside it.
//  - Barriers have no numbers, fences are no instructions, and no role sets registers.
//
// Which instructions waves of a role come to is found by their numbers (Paths.h); where an access
// is, by intervals as for the waits, and by the runs of the block, to the byte (Replay.h).
#ifndef KILN_TARGET_AMDGPU_DECLARED_H
#define KILN_TARGET_AMDGPU_DECLARED_H

#include "kiln/Target/AMDGPU/Replay.h"

namespace kiln::amdgcn {

/// What of the code is not as it is declared, or is not declared.
std::vector<WaitProblem> checkDeclared(const KernelCode &kernel);

/// The same by where waves were found. If runs have come to all that matters, what was not found is
/// not there.
std::vector<WaitProblem> checkDeclaredPlaces(const KernelCode &kernel,
                                             const ReplayResult &replayed);

} // namespace kiln::amdgcn

#endif // KILN_TARGET_AMDGPU_DECLARED_H
