// Branches by whether any lane of a wave is on.
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_LANES_H
#define KILN_LIB_TARGET_AMDGPU_ISA_LANES_H

#include "kiln/Target/AMDGPU/ISA.h"

namespace kiln::amdgcn {

/// Makes such a branch go one way, where it has no other. Some lane of a wave is on when it starts,
/// and again where a mask comes back that was put by while one was: LLVM's branches there are its
/// way to write those that it always takes, or never.
void followLanes(std::vector<Instruction> &code);

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_LANES_H
