// Grid.h: which programs run, and programs that wait for one another in vain.
#include "Grid.h"
#include <algorithm>

using namespace kiln;
using namespace kiln::emulated;

/// When nobody else can go on, those who look at global memory are given some looks more so often
/// at least, and until they have taken so many steps.
static constexpr unsigned kLeastRounds = 4;
static constexpr uint64_t kLeastSteps = 1 << 18;
/// Programs of whose threads a report tells.
static constexpr size_t kMostTold = 8;

Grid::Grid(const Launch &launch, const int64_t extents[3])
    : launch(launch), global(launch.ranges, launch.checksGlobal, launch.hasBareBarriers,
                             launch.blockFencesWait, launch.overlaps, launch.names),
      cluster{extents[0], extents[1], extents[2]}, turns(launch.seed) {
  for (int i = 0; i < 3; ++i)
    counts[i] = (launch.grid[i] + cluster[i] - 1) / cluster[i];
  count = counts[0] * counts[1] * counts[2];
  uint64_t blocks = cluster[0] * cluster[1] * cluster[2];
  most = std::max<uint64_t>(launch.cores * launch.blocksPerCore / blocks, 1);
}

void Grid::locate(uint64_t number, uint32_t program[3]) const {
  program[0] = uint32_t(number % counts[0] * cluster[0]);
  program[1] = uint32_t(number / counts[0] % counts[1] * cluster[1]);
  program[2] = uint32_t(number / (counts[0] * counts[1]) * cluster[2]);
}

bool Grid::start() {
  while (next < count && waiting.size() + running.size() < most)
    waiting.push_back(next++);
  if (waiting.empty())
    return false;
  auto chosen = waiting.begin() + turns.begin(waiting.size());
  uint32_t program[3];
  locate(*chosen, program);
  waiting.erase(chosen);
  if (idle.empty())
    idle.push_back(std::make_unique<Cluster>(launch, global, cluster));
  if (std::string what = idle.back()->whatLacks(); !what.empty()) {
    error = "cannot allocate " + what;
    isWithoutMemory = true;
    return false;
  }
  idle.back()->begin(program);
  running.push_back(std::move(idle.back()));
  idle.pop_back();
  return true;
}

bool Grid::advance() {
  while (error.empty()) {
    bool moved = false;
    for (size_t i = 0; i < running.size(); ++i) {
      Cluster &one = *running[i];
      if (one.wake(/*anyway=*/false))
        rounds = 0;
      bool movedHere = one.advance();
      moved |= movedHere;
      error = one.getError();
      if (error.empty() && (one.isDone() || !one.looks(/*atomically=*/false)))
        error = one.finish();
      if (error.empty() && !one.isDone())
        continue;
      idle.push_back(std::move(running[i]));
      running.erase(running.begin() + i);
      rounds = 0;
      return true;
    }
    if (moved)
      continue;
    if (!goOn())
      return !error.empty();
  }
  return false;
}

bool Grid::goOn() {
  if (start()) {
    rounds = 0;
    return true;
  }
  if (running.empty() || !error.empty())
    return false;
  uint64_t steps = 0;
  for (const auto &one : running)
    steps += one->countSteps();
  if (!rounds)
    stepsBefore = steps;
  auto waits = [](const auto &one) { return one->looks(/*atomically=*/true); };
  if (++rounds > kLeastRounds && steps - stepsBefore > kLeastSteps &&
      std::any_of(running.begin(), running.end(), waits)) {
    error = describeDeadlock();
    return false;
  }
  for (const auto &one : running)
    one->wake(/*anyway=*/true);
  return true;
}

std::string Grid::describeDeadlock() const {
  const Cluster &first = **std::find_if(running.begin(), running.end(), [](const auto &one) {
    return one->looks(/*atomically=*/true);
  });
  std::string text = "programs wait for one another forever: " + first.describeLook();
  if (next < count) {
    uint32_t program[3];
    locate(next, program);
    text += "; program (" + std::to_string(program[0]) + ", " + std::to_string(program[1]) + ", " +
            std::to_string(program[2]) +
            ") and those behind it begin only when others end, since " +
            std::to_string(launch.cores) + (launch.cores > 1 ? " cores keep " : " core keeps ") +
            std::to_string(launch.blocksPerCore) +
            " programs each (KILN_EMULATED_CORES sets how many there are)";
  }
  for (size_t i = 0; i < std::min(running.size(), kMostTold); ++i)
    text += running[i]->describeState();
  if (running.size() > kMostTold)
    text += "\n  and " + std::to_string(running.size() - kMostTold) + " more that have begun";
  return text;
}
