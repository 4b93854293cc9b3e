// A proof over the final code that whatever is read was waited for.
//
// Memory accesses run on while the wave goes on; a wait holds it until at most so many of a kind
// are outstanding, and each kind is done in the order of issue. Three facts are proven for every
// path through a kernel, around its loops included:
//
//  - a register that a load fills is not touched before the load is done, but by a load from
//    global memory that is sure to fill it later (not on gfx12: there they are counted in order,
//    but write registers in any), or by one that fills its other half. Reads of LDS come in order,
//    too, but LLVM does not build on that;
//  - between a write to LDS and a read of the same place by another wave, the write is done, and
//    then a barrier stands; and so between a read and a write that follows it;
//  - the same for loads that go to LDS directly, which are done when the counter of loads says so.
//
// Some waves may lag behind others. A barrier counts waves, wherever they stand; so one that stands
// alone behind a branch lets those that pass it by run ahead by one, until they meet another such
// one. In between, the waves that lag do at one barrier what the others did before the one that
// came before it, and an access must be one barrier further behind for each by which they lag.
//
// Waves of one role meet others at words in LDS that count arrivals (`ds_inc_u32`): whatever a wave
// has done in LDS it has waited for when it arrives, and what is done and told of so lies in front
// of the next look at such a word that ends a wait. Which arrivals a look waits for, and so that a
// slot is not filled before those who read it have told of that, is not proven here: words are not
// told apart, and each path is one role's. Of that the waves of a block are run (Replay.h).
//
// The state before an instruction is, for each access that may be outstanding, how many of its
// kind were issued since at the least: a wait for n completes what is at least n old. Where paths
// meet, the younger counts. Places in LDS are intervals of bytes, found by following what is known
// of the size of registers (Ranges.h), and by what branches tell of it: so waves of a role are
// those that its comparisons let pass. What is not known is all of it. Where LLVM joins paths of
// several roles and parts them again by a constant, each is followed by itself.
#ifndef KILN_TARGET_AMDGPU_WAITS_H
#define KILN_TARGET_AMDGPU_WAITS_H

#include "kiln/Target/AMDGPU/ISA.h"

namespace kiln::amdgcn {

/// An access to LDS that may be outstanding where another one reaches what may be its place: its
/// own wave knows that it is done, if `isDone`, and the others perhaps not.
struct EarlierAccess {
  unsigned at;
  bool isDone;
};

/// One thing that is wrong, at an instruction of the code.
struct WaitProblem {
  unsigned at;
  std::string text;
  /// If nothing is wrong but that its place in LDS may be that of earlier accesses: these. Which
  /// bytes each wave touches there is for the replay to say (Replay.h).
  llvm::SmallVector<EarlierAccess, 0> earlier = {};
  /// It may be right: the check cannot tell.
  bool isOpen = false;
};

/// What is not waited for; nothing if all is. One problem an instruction.
std::vector<WaitProblem> checkWaits(const KernelCode &kernel);

/// Waits of the innermost loops that could let one more access run on, and the proof still holds.
/// Those for LDS in front of barriers are left out, which fences make and which wait for all, and
/// kernels whose registers are spilled, where LLVM's own waits are. The kernel must be free of
/// problems.
std::vector<WaitProblem> findStrongWaits(const KernelCode &kernel);

} // namespace kiln::amdgcn

#endif // KILN_TARGET_AMDGPU_WAITS_H
