// Disputes.h: the state of each wave's earlier accesses.
#include "Disputes.h"
#include "../Lags.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace kiln::amdgcn;

Disputes::Disputes(const KernelCode &kernel, ArrayRef<WaitProblem> problems)
    : kernel(kernel), problems(problems) {
  for (const WaitProblem &problem : problems)
    for (const EarlierAccess &access : problem.earlier) {
      earlier.insert(access.at);
      open[{problem.at, access.at}] = access.isDone;
    }
  if (!problems.empty())
    for (const WaveGroup &group : getGroups(kernel))
      neededBarriers = std::max(neededBarriers, 1 + group.lag);
}

void Disputes::begin(unsigned count) {
  seen.clear();
  waves.assign(count, {});
}

void Disputes::end() {
  for (const Pair &pair : seen)
    open.erase(pair);
}

void Disputes::step(unsigned wave, unsigned at) {
  if (open.empty())
    return;
  const Instruction &instruction = kernel.code[at];
  Watched &own = waves[wave];
  for (auto it = open.lower_bound({at, 0}); it != open.end() && it->first.first == at; ++it) {
    auto access = own.accesses.find(it->first.second);
    if (access == own.accesses.end())
      continue;
    bool isDone = access->second.isDone;
    if (!isDone || (it->second && access->second.barriers < neededBarriers))
      seen.insert(it->first);
  }
  for (auto &[earlierAt, access] : own.accesses) {
    if (instruction.isArrival)
      access.isTold |= access.isDone;
    bool meets = instruction.kind == Kind::Barrier || instruction.kind == Kind::BarrierSignal ||
                 (instruction.isLook && access.isTold);
    access.barriers += meets && access.isDone;
    std::optional<Counter> counter = kernel.getCounter(kernel.code[earlierAt]);
    const std::optional<unsigned> &count = instruction.waits[unsigned(*counter)];
    access.isDone |= instruction.kind == Kind::Wait && count &&
                     access.number + *count <= own.issued[unsigned(*counter)];
  }
  if (std::optional<Counter> counter = kernel.getCounter(instruction)) {
    uint64_t number = ++own.issued[unsigned(*counter)];
    if (earlier.count(at))
      own.accesses[at] = {number};
  }
}

std::vector<WaitProblem> Disputes::listOpen() const {
  std::vector<WaitProblem> list;
  for (const WaitProblem &problem : problems)
    if (any_of(problem.earlier,
               [&](const EarlierAccess &access) { return open.count({problem.at, access.at}); })) {
      list.push_back(problem);
      list.back().isOpen = true;
    }
  return list;
}
