// Which barriers which waves pass: proven against what is declared of groups that lag.
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_LAGS_H
#define KILN_LIB_TARGET_AMDGPU_ISA_LAGS_H

#include "Paths.h"
#include "kiln/Target/AMDGPU/Waits.h"
#include <set>

namespace kiln::amdgcn {

/// Waves that run one part of the program, and by how many barriers they lag in it.
struct WaveGroup {
  unsigned first, last, lag;
};
/// As they are declared; all waves where none are. Copies of a role of some of the waves lag by
/// words in LDS, and by no barrier.
std::vector<WaveGroup> getGroups(const KernelCode &kernel);

/// What holds of barriers and waves, whichever way is taken.
struct Lags {
  std::vector<WaitProblem> problems;
  /// By instruction: by how many barriers some waves are behind others there.
  std::vector<unsigned> most;
  /// By branch at which waves part: how many barriers all have passed where they meet again.
  std::map<unsigned, unsigned> rounds;
  /// Barriers on such ways, at which only some waves come by.
  std::set<unsigned> alone;
  /// Each group, and its ways.
  struct Group {
    WaveGroup waves;
    Paths paths;
  };
  std::vector<Group> groups;
};
Lags followLags(const KernelCode &kernel);

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_LAGS_H
