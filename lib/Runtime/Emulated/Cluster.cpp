// Cluster.h: who runs next, and memory that blocks share.
#include "Cluster.h"
#include <algorithm>
#include <mutex>

using namespace kiln;
using namespace kiln::emulated;

namespace {
/// The shared memory of blocks that run. A process has room for some thousands in the addresses
/// that programs keep in 32 bits, and may have loaded more kernels than that.
class SharedPool {
public:
  std::unique_ptr<SharedMemory> take() {
    std::lock_guard<std::mutex> lock(mutex);
    if (free.empty())
      return std::make_unique<SharedMemory>();
    std::unique_ptr<SharedMemory> taken = std::move(free.back());
    free.pop_back();
    return taken;
  }
  void give(std::unique_ptr<SharedMemory> memory) {
    std::lock_guard<std::mutex> lock(mutex);
    free.push_back(std::move(memory));
  }

private:
  std::mutex mutex;
  std::vector<std::unique_ptr<SharedMemory>> free;
};

/// Launches may go on while the process ends: it stays.
SharedPool &getSharedPool() {
  static auto *pool = new SharedPool;
  return *pool;
}
} // namespace

Cluster::Cluster(const Launch &launch, GlobalMemory &global, const int64_t along[3])
    : launch(launch), global(global), extents{along[0], along[1], along[2]} {
  for (int64_t i = 0; i < extents[0] * extents[1] * extents[2]; ++i) {
    shared.push_back(getSharedPool().take());
    blocks.push_back(std::make_unique<Block>(launch, *shared.back(), global));
  }
  Block::joinCluster(blocks);
}

Cluster::~Cluster() {
  blocks.clear();
  for (std::unique_ptr<SharedMemory> &memory : shared)
    if (memory->data())
      getSharedPool().give(std::move(memory));
}

std::string Cluster::whatLacks() const {
  if (std::any_of(shared.begin(), shared.end(), [](const auto &memory) { return !memory->data(); }))
    return "shared memory";
  bool hasStacks = std::all_of(blocks.begin(), blocks.end(),
                               [](const auto &block) { return block->isComplete(); });
  return hasStacks ? "" : "the stacks of its threads";
}

//===- Running ------------------------------------------------------------------------------===//

void Cluster::begin(const uint32_t first[3]) {
  unsigned threads = launch.threads * unsigned(blocks.size());
  if (launch.profile && order)
    launch.profile->end(*order);
  order = std::make_shared<analysis::HappensBefore>(threads, launch.warpSize);
  order->watch(launch.watch);
  run = global.begin(order, launch.threads, first, extents);
  for (size_t i = 0; i < blocks.size(); ++i) {
    uint32_t program[3] = {first[0] + uint32_t(i % extents[0]),
                           first[1] + uint32_t(i / extents[0] % extents[1]),
                           first[2] + uint32_t(i / (extents[0] * extents[1]))};
    blocks[i]->begin(program, order, run, unsigned(i));
  }
  if (launch.profile)
    launch.profile->begin(*order, threads);
}

bool Cluster::advance() {
  if (launch.profile)
    launch.profile->enter(*order);
  bool movedAtAll = false;
  for (bool moved = true; moved;) {
    moved = false;
    for (const auto &block : blocks) {
      moved |= block->advance();
      if (!block->getError().empty())
        return true;
    }
    movedAtAll |= moved;
  }
  return movedAtAll;
}

bool Cluster::isDone() const {
  return std::all_of(blocks.begin(), blocks.end(),
                     [](const auto &block) { return block->isDone(); });
}

std::string Cluster::getError() const {
  for (const auto &block : blocks)
    if (!block->getError().empty())
      return block->getError();
  return "";
}

std::string Cluster::finish() {
  std::string wrong;
  for (size_t i = 0; i < blocks.size() && wrong.empty(); ++i)
    wrong = blocks[i]->isDone() ? blocks[i]->finish() : blocks[i]->describeBlocked();
  if (isDone())
    global.end(run);
  return wrong;
}

//===- Waiting for other programs -----------------------------------------------------------===//

bool Cluster::looks(bool atomically) const {
  return std::any_of(blocks.begin(), blocks.end(),
                     [&](const auto &block) { return block->looks(atomically); });
}

bool Cluster::wake(bool anyway) {
  bool hasNews = anyway || std::any_of(blocks.begin(), blocks.end(),
                                       [](const auto &block) { return block->hasNews(); });
  for (const auto &block : blocks)
    if (hasNews)
      block->lookAgain();
  return hasNews;
}

uint64_t Cluster::countSteps() const {
  uint64_t steps = 0;
  for (const auto &block : blocks)
    steps += block->countSteps();
  return steps;
}

std::string Cluster::describeLook() const {
  for (const auto &block : blocks)
    if (block->looks(/*atomically=*/true))
      return block->describeLook();
  return "";
}

std::string Cluster::describeState() const {
  return blocks.front()->describeState(blocks.front()->describeProgram() + ", ");
}
