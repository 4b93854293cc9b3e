// Bounds, bytes that were never written, and accesses that nothing orders.
#include "SharedMemory.h"
#include "llvm/ADT/SmallVector.h"
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

void SharedMemory::reset(uint64_t size, std::shared_ptr<HappensBefore> order, unsigned from,
                         const Names &called, Profile *counts) {
  used = size;
  events = std::move(order);
  first = from;
  names = called;
  profile = counts;
  history = std::make_unique<AccessHistory>(*events, used);
  log.clear();
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

std::string SharedMemory::conclude(const std::optional<Clash> &clash, const Access &access,
                                   size_t begin, size_t size, const char *what, const char *noun,
                                   bool isWrite) {
  if (!clash) {
    // A product reads thousands of rows.
    constexpr size_t keptOfThread = 1 << 11, keptOfQueue = 1 << 16;
    bool isQueue = events->isQueue(access.event.agent);
    log.note(access, isWrite, begin, size, isQueue ? keptOfQueue : keptOfThread);
    return "";
  }
  Access other = log.find(clash->other, !clash->isRead, clash->offset);
  std::string place = "byte " + std::to_string(clash->offset) + " of shared memory";
  return describe(*events, names, first, *clash, access, other, place, what, noun);
}

std::string SharedMemory::describeLast(Agent queue) const {
  std::optional<Access> last = log.findLast(queue);
  return last ? "\n  the last: " + describeAccess(*events, names, first, *last) : "";
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
  Access own{events->now(agent), agent, events->getSite()};
  if (kind & Atomic)
    return conclude(history->update(agent, own.event, begin, size), own, begin, size,
                    "an atomic access to", "access", /*isWrite=*/true);
  if (kind & Read) {
    std::string wrong = conclude(history->read(agent, own.event, begin, size), own, begin, size,
                                 "a read of", "read", /*isWrite=*/false);
    if (!wrong.empty())
      return wrong;
  }
  if (!(kind & Write))
    return "";
  // To write what is there already harms nobody: copies of a value are stored by all who hold one.
  llvm::SmallVector<bool, 64> isSame;
  if (value) {
    isSame.resize_for_overwrite(size);
    for (int64_t i = 0; i < size; ++i)
      isSame[i] = memory[begin + i] == static_cast<const uint8_t *>(value)[i];
  }
  return conclude(history->write(agent, own.event, begin, size, value ? isSame.data() : nullptr),
                  own, begin, size, "a write of", "write", /*isWrite=*/true);
}

std::string SharedMemory::startRead(Agent by, const Event &event, uint64_t address, int64_t size) {
  uint64_t begin = address - reinterpret_cast<uint64_t>(memory);
  if (std::string wrong = checkBounds("a read", begin, size); !wrong.empty())
    return wrong;
  if (profile)
    profile->move(events->getSite(), size);
  return conclude(history->read(by, event, begin, size), {event, by, events->getSite()}, begin,
                  size, "a read by an engine of", "read", /*isWrite=*/false);
}

std::string SharedMemory::startWrite(Agent by, const Event &event, uint64_t address, int64_t size) {
  uint64_t begin = address - reinterpret_cast<uint64_t>(memory);
  if (std::string wrong = checkBounds("a copy", begin, size); !wrong.empty())
    return wrong;
  if (profile)
    profile->move(events->getSite(), size);
  std::string wrong =
      conclude(history->write(by, event, begin, size), {event, by, events->getSite()}, begin, size,
               "a copy into", "copy", /*isWrite=*/true);
  if (wrong.empty())
    std::memset(memory + begin, kNoData, size);
  return wrong;
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
  uint64_t begin = address - reinterpret_cast<uint64_t>(memory);
  constexpr size_t size = sizeof(kBarrier);
  return conclude(history->update(by, event, begin, size), {event, by, events->getSite()}, begin,
                  size, "a use of the barrier at", "use", /*isWrite=*/true);
}
