// Bounds, bytes that were never written, and accesses that nothing orders.
#include "SharedMemory.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>

using namespace kiln::analysis;
using namespace kiln::emulated;

namespace {
enum Kind { Read = 1, Write = 2, Atomic = 4 };
/// What lies where nothing was written, or where a copy is under way.
constexpr int kNoData = 0xa5;
/// What lies where a barrier is: what it looks like on a chip no program may know.
constexpr uint64_t kBarrier = 0xba221e2ba221e2ba;
} // namespace

SharedMemory::SharedMemory() {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_32BIT
  flags |= MAP_32BIT;
#endif
  void *mapped = ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, flags, -1, 0);
  memory = mapped == MAP_FAILED ? nullptr : static_cast<uint8_t *>(mapped);
}

SharedMemory::~SharedMemory() {
  if (memory)
    ::munmap(memory, capacity);
}

void SharedMemory::reset(uint64_t size, std::shared_ptr<HappensBefore> order, unsigned count,
                         unsigned from) {
  used = size;
  events = std::move(order);
  threads = count;
  first = from;
  history = std::make_unique<AccessHistory>(*events, used);
  std::memset(memory, kNoData, used);
}

//===- What is wrong ------------------------------------------------------------------------===//

std::string SharedMemory::checkBounds(const char *what, uint64_t offset, int64_t size) const {
  if (offset <= used && uint64_t(size) <= used - offset)
    return "";
  return std::string(what) + " of " + std::to_string(size) + " bytes at offset " +
         std::to_string(int64_t(offset)) + " of shared memory, which has " + std::to_string(used) +
         " bytes";
}

std::string SharedMemory::nameOf(Agent agent) const {
  if (events->isQueue(agent))
    return "an engine";
  std::string name = "thread " + std::to_string(agent % threads);
  bool isOwn = agent / threads == first / threads;
  return isOwn ? name : name + " of block " + std::to_string(agent / threads) + " of the cluster";
}

std::string SharedMemory::describe(const Clash &clash, const char *what) const {
  std::string at =
      std::string(what) + " byte " + std::to_string(clash.offset) + " of shared memory, ";
  bool isUnderWay = !events->hasEnded(clash.other);
  std::string other = nameOf(clash.other.agent);
  switch (clash.kind) {
  case Clash::Kind::Unwritten:
    return at + "which no thread has written";
  case Clash::Kind::AfterWrite:
    if (isUnderWay)
      return at + "into which a copy is still under way";
    return "a race: " + at + "which " + other + " writes; nothing orders the two";
  case Clash::Kind::AfterRead:
    if (isUnderWay)
      return at + "which an engine is still reading";
    return "a race: " + at + "which " + other + " reads; nothing orders the two";
  case Clash::Kind::BehindFence:
    return "a race: " + at + "which " + other +
           " writes; no fence of the proxy stands between the write and the engine";
  case Clash::Kind::TensorFence:
    return "a race: " + at + "which " + other +
           " writes; no fence of tensor memory stands between what orders the two and the product";
  }
  return at;
}

//===- Accesses -----------------------------------------------------------------------------===//

std::string SharedMemory::access(unsigned thread, uint64_t address, int64_t size, int kind,
                                 const void *value) {
  uint64_t begin = address - reinterpret_cast<uint64_t>(memory);
  if (std::string wrong = checkBounds("an access", begin, size); !wrong.empty())
    return wrong;
  if (begin % std::min<uint64_t>(size & -size, 16))
    return "a misaligned access of " + std::to_string(size) + " bytes at byte " +
           std::to_string(begin) + " of shared memory";
  Agent agent = agentOf(thread);
  Event event = events->now(agent);
  if (kind & Atomic) {
    auto clash = history->update(agent, event, begin, size);
    return clash ? describe(*clash, "an atomic access to") : "";
  }
  if (kind & Read)
    if (auto clash = history->read(agent, event, begin, size))
      return describe(*clash, "a read of");
  if (!(kind & Write))
    return "";
  // To write what is there already harms nobody: copies of a value are stored by all who hold one.
  std::unique_ptr<bool[]> isSame;
  if (value) {
    isSame.reset(new bool[size]);
    for (int64_t i = 0; i < size; ++i)
      isSame[i] = memory[begin + i] == static_cast<const uint8_t *>(value)[i];
  }
  auto clash = history->write(agent, event, begin, size, isSame.get());
  return clash ? describe(*clash, "a write of") : "";
}

std::string SharedMemory::startRead(Agent by, const Event &event, uint64_t address, int64_t size) {
  uint64_t begin = address - reinterpret_cast<uint64_t>(memory);
  if (std::string wrong = checkBounds("a read", begin, size); !wrong.empty())
    return wrong;
  auto clash = history->read(by, event, begin, size);
  return clash ? describe(*clash, "a read by an engine of") : "";
}

std::string SharedMemory::startWrite(Agent by, const Event &event, uint64_t address, int64_t size) {
  uint64_t begin = address - reinterpret_cast<uint64_t>(memory);
  if (std::string wrong = checkBounds("a copy", begin, size); !wrong.empty())
    return wrong;
  if (auto clash = history->write(by, event, begin, size))
    return describe(*clash, "a copy into");
  std::memset(memory + begin, kNoData, size);
  return "";
}

void SharedMemory::land(uint64_t address, int64_t size, const void *data) {
  std::memcpy(reinterpret_cast<void *>(address), data, size);
}

//===- Barriers -----------------------------------------------------------------------------===//

std::string SharedMemory::initBarrier(unsigned thread, uint64_t address) {
  std::string wrong = access(thread, address, sizeof(kBarrier), Write, nullptr);
  if (wrong.empty())
    land(address, sizeof(kBarrier), &kBarrier);
  return wrong;
}

bool SharedMemory::holdsBarrier(uint64_t address) const {
  return std::memcmp(reinterpret_cast<const void *>(address), &kBarrier, sizeof(kBarrier)) == 0;
}

std::string SharedMemory::useBarrier(Agent by, const Event &event, uint64_t address) {
  auto clash =
      history->update(by, event, address - reinterpret_cast<uint64_t>(memory), sizeof(kBarrier));
  return clash ? describe(*clash, "a use of the barrier at") : "";
}
