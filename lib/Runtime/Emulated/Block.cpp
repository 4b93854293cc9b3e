// Fibres, and the scheduler that runs them to where they wait.
#include "Thread.h"
#include <algorithm>
#include <utility>

using namespace kiln;
using namespace kiln::emulated;

static thread_local Block *currentBlock = nullptr;

Block *Block::current() { return currentBlock; }

Block::Block(const Launch &launch, SharedMemory &shared, GlobalMemory &global)
    : engines(shared), launch(launch), shared(shared), global(global), turns(launch.seed) {
  for (unsigned i = 0; i < launch.threads; ++i)
    threads.push_back(std::make_unique<Thread>(i, launch.stackBytes));
  for (auto &thread : threads)
    complete &= thread->fibre != nullptr;
  for (unsigned i = 0; i < 3; ++i)
    hidden[i] = launch.grid[i];
}

Block::~Block() = default;

unsigned Block::currentThread() const { return running->number; }
Block::Look Block::getLastLook() const { return running->look; }

//===- Fibres -------------------------------------------------------------------------------===//

void Block::runThread() {
  // A fibre serves one program after another.
  while (true) {
    Block *block = Block::current();
    block->launch.kernel(block->launch.slots);
    block->running->state = State::Done;
    ++block->ended;
    block->yield();
  }
}

// To and fro a fibre goes by jumps: a swap of contexts would ask the kernel for the mask of signals
// each time.
void Block::resume(Thread &thread) {
  running = &thread;
  thread.begun = true;
  shared.order().setSite(thread.site);
  if (_setjmp(scheduler) == 0) {
    if (thread.fibre->started)
      _longjmp(thread.fibre->place, 1);
    thread.fibre->start(&Block::runThread);
  }
  running = nullptr;
}

void Block::yield() {
  if (_setjmp(running->fibre->place) == 0)
    _longjmp(scheduler, 1);
}

void Block::fail(const std::string &what) {
  blame("thread " + std::to_string(running->number), running->site, what);
  yield();
  __builtin_unreachable();
}

//===- Scheduling ---------------------------------------------------------------------------===//

void Block::joinCluster(const std::vector<std::unique_ptr<Block>> &cluster) {
  std::vector<Block *> blocks;
  std::vector<Engines *> engines;
  for (const auto &block : cluster) {
    blocks.push_back(block.get());
    engines.push_back(&block->engines);
  }
  for (size_t i = 0; i < cluster.size(); ++i) {
    cluster[i]->cluster = blocks;
    cluster[i]->engines.join(engines, i);
    bool hasMate = (i ^ 1) < cluster.size();
    cluster[i]->tensors.join(hasMate ? &cluster[i ^ 1]->tensors : nullptr);
  }
}

void Block::begin(const uint32_t which[3], const std::shared_ptr<analysis::HappensBefore> &order,
                  analysis::Run of, unsigned number) {
  run = of;
  shared.reset(launch.sharedBytes, order, number * launch.threads, launch.names, launch.profile);
  steps = 0;
  quietSteps = launch.profile ? 0 : launch.mostSteps;
  std::copy(which, which + 3, program);
  error.clear();
  for (auto &thread : threads) {
    thread->state = State::Ready;
    thread->begun = false;
    thread->words[false] = thread->words[true] = {};
  }
  copies.assign(threads.size(), {});
  products.assign(threads.size() / launch.warpSize + 1, {});
  reads.assign(products.size(), {});
  values.assign(threads.size(), {});
  registers.clear();
  engines.reset(global, run);
  tensors.reset();
  ended = 0;
  clusterArrivals = 0;
  clusterRound = 0;
  clusterOpen = clusterEnded = {};
}

bool Block::advance() {
  if (isDone())
    return false;
  currentBlock = this;
  unsigned warps = (launch.threads + launch.warpSize - 1) / launch.warpSize;
  bool movedAtAll = false;
  while (error.empty()) {
    bool moved = false;
    for (unsigned warp : turns.order(warps)) {
      for (uint64_t most = turns.most(); most && error.empty() && step(warp); --most)
        moved = true;
      if (launch.profile)
        launch.profile->endTurn();
    }
    movedAtAll |= moved;
    if (moved || !error.empty())
      continue;
    // Nobody can go on by himself: all have ended, or all have come to the barrier.
    if (isDone())
      engines.close();
    if (isDone() || isBlocked())
      break;
    meetAll();
    movedAtAll = true;
  }
  return movedAtAll;
}

/// All have come to the barrier.
void Block::meetAll() {
  for (auto &thread : threads) {
    if (thread->state == State::Done) {
      error = "thread " + std::to_string(thread->number) +
              " has ended while others wait at a barrier" + describeState();
      return;
    }
    // Chips count warps, wherever each of them stands; those of a warp wait at one barrier.
    unsigned first = thread->number / launch.warpSize * launch.warpSize;
    if (thread->site != threads[first]->site) {
      error = "threads " + std::to_string(first) + " and " + std::to_string(thread->number) +
              " of a warp wait at different barriers" + describeState();
      return;
    }
  }
  // Each at the barrier that it is at.
  analysis::HappensBefore &order = shared.order();
  analysis::HappensBefore::Place place;
  for (auto &thread : threads) {
    order.setSite(thread->site);
    order.release(shared.agentOf(thread->number), place);
  }
  for (auto &thread : threads) {
    order.setSite(thread->site);
    order.acquire(shared.agentOf(thread->number), place);
    thread->state = State::Ready;
  }
}

/// What must be done when all threads have ended.
std::string Block::finish() {
  std::string wrong = engines.finish();
  if (wrong.empty())
    wrong = tensors.finish();
  auto isUnderWay = [](const InFlight &work) {
    return work.groups.size() > work.landed || !work.ungrouped.empty();
  };
  auto left = std::find_if(copies.begin(), copies.end(), isUnderWay);
  if (left != copies.end())
    wrong = "the program ends while copies into shared memory are under way" +
            shared.describeLast(left->queue);
  return wrong;
}

//===- Clusters -----------------------------------------------------------------------------===//

void Block::arriveAtCluster() {
  Block &first = *cluster.front();
  running->clusterRound = first.clusterRound;
  ++first.clusterArrivals;
  shared.order().release(shared.agentOf(running->number), first.clusterOpen);
}

void Block::waitForCluster() {
  Block *first = cluster.front();
  uint64_t round = running->clusterRound;
  auto hasEnded = [=] {
    if (first->clusterRound != round)
      return true;
    unsigned expected = 0;
    for (const Block *block : first->cluster)
      expected += block->threads.size() - block->ended;
    if (first->clusterArrivals < expected)
      return false;
    first->clusterArrivals = 0;
    ++first->clusterRound;
    first->clusterEnded = std::exchange(first->clusterOpen, {});
    return true;
  };
  waitUntil(hasEnded, [] { return "the barrier of the cluster"; });
  shared.order().acquire(shared.agentOf(running->number), first->clusterEnded);
}

Block *Block::getOfPair(unsigned place) {
  size_t number = (engines.getNumber() & ~1u) + place;
  return number < cluster.size() ? cluster[number] : nullptr;
}

std::string Block::landCommits(uint64_t barrier) {
  for (Block *block : cluster)
    if (std::string wrong = block->tensors.land(barrier); !wrong.empty())
      return wrong;
  return "";
}

/// Runs the ready threads of a warp, then what they have come to; false if nothing could be done.
bool Block::step(unsigned warp) {
  unsigned first = warp * launch.warpSize;
  unsigned last = std::min<unsigned>(first + launch.warpSize, threads.size());
  bool moved = false;
  unsigned lanes = last - first, begin = turns.begin(lanes);
  for (unsigned lane = 0; lane < lanes && error.empty(); ++lane) {
    unsigned i = first + (begin + lane) % lanes;
    if (threads[i]->state == State::Blocked && threads[i]->mayGo())
      threads[i]->state = State::Ready;
    if (!error.empty()) {
      blame("thread " + std::to_string(i), threads[i]->site, error);
      break;
    }
    if (threads[i]->state == State::Ready) {
      resume(*threads[i]);
      moved = true;
    }
  }
  if (!error.empty())
    return false;
  unsigned waiting = 0, blocked = 0;
  for (unsigned i = first; i < last; ++i) {
    waiting += threads[i]->state == State::AtInstruction;
    blocked += threads[i]->state == State::Blocked;
  }
  if (!waiting || blocked)
    return moved;
  executeTogether(warp);
  return error.empty();
}

void Block::executeTogether(unsigned warp) {
  unsigned first = warp * launch.warpSize;
  unsigned last = std::min<unsigned>(first + launch.warpSize, threads.size());
  const void *operands[64];
  void *results[64];
  const Thread &leader = *threads[first];
  for (unsigned i = first; i < last; ++i) {
    const Thread &thread = *threads[i];
    if (thread.state != State::AtInstruction || thread.site != leader.site ||
        leader.state != State::AtInstruction) {
      const Thread &at = leader.state == State::AtInstruction ? leader : thread;
      error = "the lanes of warp " + std::to_string(warp) + " part: not all come to the same '" +
              (at.instruction ? at.instruction->name : "instruction") + "'" + describeState();
      return;
    }
    operands[i - first] = thread.operands;
    results[i - first] = thread.result;
  }
  shared.order().setSite(leader.site);
  leader.instruction->execute({leader.name, first, last - first, operands, results});
  if (!error.empty())
    blame("warp " + std::to_string(warp), leader.site, error);
  for (unsigned i = first; i < last; ++i)
    threads[i]->state = State::Ready;
}

//===- What threads ask for -----------------------------------------------------------------===//

uint32_t Block::getRegister(int number) const {
  uint32_t x = running->number;
  switch (number) {
  case 0:
    return x;
  case 3:
  case 4:
  case 5:
    return program[number - 3];
  case 6:
  case 7:
  case 8:
    return launch.grid[number - 6];
  case 9:
    return launch.threads;
  case 10:
  case 11:
    return 1;
  case 12:
    return x % launch.warpSize;
  case 13:
    return x / launch.warpSize;
  case 14:
    return engines.getNumber();
  default:
    return 0;
  }
}

void Block::place(int site) {
  running->site = site;
  shared.order().setSite(site);
}

void Block::enter(int site) {
  place(site);
  if (++steps > quietSteps)
    countStep();
}

void Block::meet(int site) {
  enter(site);
  running->state = State::AtBarrier;
  yield();
}

void Block::execute(const char *name, const void *operands, void *result, int site) {
  enter(site);
  // The names are constants of the code, which stays while the block does.
  auto [known, isNew] = instructions.try_emplace(name);
  if (isNew)
    known->second = findInstruction(name);
  const Instruction *instruction = known->second;
  if (!instruction)
    fail(std::string("the emulator does not know the instruction '") + name + "'");
  if (!instruction->together) {
    instruction->execute({name, running->number, 1, &operands, &result});
    return;
  }
  running->instruction = instruction;
  running->name = name;
  running->operands = operands;
  running->result = result;
  running->state = State::AtInstruction;
  yield();
}

void Block::access(uint64_t address, int64_t bytes, int kind, const void *value) {
  if (launch.profile)
    launch.profile->access(shared.agentOf(running->number), running->site, address, bytes, kind);
  constexpr int kShared = 8;
  if (kind & kShared) {
    std::string wrong = shared.access(running->number, address, bytes, kind & 7, value);
    if (!wrong.empty())
      fail(wrong);
    constexpr int kWrite = 2, kAtomic = 4;
    if ((kind & kAtomic) && !(kind & kWrite))
      engines.lookAtWord(running->number, address);
    running->look = {address, engines.countEndedWords()};
    return;
  }
  if (std::string wrong = global.checkBounds(address, bytes, kind); !wrong.empty())
    fail(wrong);
  bool isAtomic = kind & GlobalMemory::Atomic;
  if (isAtomic || (!(kind & GlobalMemory::Writes) && global.mayChange(address, bytes)))
    look(address, bytes, isAtomic);
  analysis::Agent agent = shared.agentOf(running->number);
  std::string wrong =
      global.access(run, agent, shared.order().now(agent), address, bytes, kind, value);
  if (!wrong.empty())
    fail(wrong);
}

std::string Block::accessGlobal(unsigned thread, const analysis::Event &event, uint64_t address,
                                int64_t bytes, int kind, const void *value) {
  std::string wrong = global.checkBounds(address, bytes, kind);
  if (wrong.empty())
    wrong = global.access(run, shared.agentOf(thread), event, address, bytes, kind, value);
  return wrong;
}

void Block::fence(int kind) { global.fence(run, shared.agentOf(running->number), kind); }

void Block::fenceProxy() { global.fenceProxy(run, shared.agentOf(running->number)); }

void Block::publish(const Lanes &lanes) {
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    global.publish(run, shared.agentOf(lanes.first + lane));
}

void Block::look(uint64_t address, int64_t bytes, bool isAtomic) {
  constexpr unsigned most = 16;
  Thread::Word &word = running->words[isAtomic];
  bool isAgain = word.address == address && word.site == running->site && !word.hasChanged();
  if (!isAgain) {
    word = {address, running->site, std::min<size_t>(bytes, sizeof(word.seen))};
    std::memcpy(word.seen, reinterpret_cast<const void *>(address), word.bytes);
    return;
  }
  if (++word.looks < most)
    return;
  word.looks = 0;
  word.isWaitedFor = true;
  waitUntil([this, round = lookRound] { return lookRound != round; },
            [=] {
              return global.describe(address, bytes) +
                     " to change, at which it looks again and again";
            });
  word.isWaitedFor = false;
}

void Block::accessRow(uint64_t address, int64_t bytes, int kind, unsigned rows) {
  if (running->number % launch.warpSize < rows)
    access(address, bytes, kind, nullptr);
}

void Block::waitUntil(std::function<bool()> mayGo, std::function<std::string()> what) {
  if (mayGo())
    return;
  if (!error.empty())
    fail(std::string(error));
  running->mayGo = std::move(mayGo);
  running->waitsFor = std::move(what);
  running->state = State::Blocked;
  yield();
}

std::string Block::writeShared(unsigned thread, uint64_t address, const void *data, int64_t bytes) {
  constexpr int writing = 2, inShared = 8;
  if (launch.profile)
    launch.profile->access(shared.agentOf(thread), shared.order().getSite(), address, bytes,
                           writing | inShared);
  std::string wrong = shared.access(thread, address, bytes, writing, data);
  if (wrong.empty())
    std::memcpy(reinterpret_cast<void *>(address), data, bytes);
  return wrong;
}

void Block::meetLanes(const Lanes &lanes) {
  std::vector<analysis::Agent> all;
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    all.push_back(shared.agentOf(lanes.first + lane));
  shared.order().meet(all);
}

//===- The functions that code calls --------------------------------------------------------===//

extern "C" {
int32_t kiln_emulated_register(int32_t which) { return Block::current()->getRegister(which); }
void kiln_emulated_barrier(int32_t site) { Block::current()->meet(site); }
void kiln_emulated_instruction(const char *name, const void *operands, void *result, int32_t site) {
  Block::current()->execute(name, operands, result, site);
}
void kiln_emulated_access(void *pointer, int64_t bytes, int32_t kind, const void *value,
                          int32_t site) {
  Block *block = Block::current();
  block->enter(site);
  block->access(reinterpret_cast<uint64_t>(pointer), bytes, kind, value);
}
void kiln_emulated_fence(int32_t kind, int32_t site) {
  Block *block = Block::current();
  block->enter(site);
  block->fence(kind);
}
void kiln_emulated_trip(int32_t site) { Block::current()->enter(site); }
void kiln_emulated_arrival(void *pointer, int32_t last) {
  Block *block = Block::current();
  block->engines.arriveAtWord(block->currentThread(), reinterpret_cast<uint64_t>(pointer), last);
}
void *kiln_emulated_shared() { return Block::current()->getSharedBase(); }
void kiln_emulated_row(void *pointer, int64_t bytes, int32_t kind, int32_t rows, int32_t site) {
  Block *block = Block::current();
  block->place(site);
  block->accessRow(reinterpret_cast<uint64_t>(pointer), bytes, kind, rows);
}
}
