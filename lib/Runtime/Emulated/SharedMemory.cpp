// Bounds, bytes that were never written, and races between barriers.
#include "SharedMemory.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>

using namespace kiln::emulated;

namespace {
enum Kind { Read = 1, Write = 2, Atomic = 4 };
constexpr uint16_t kMany = 0xffff, kAtomically = 0xfffe;
constexpr unsigned kMostThreads = 1024;
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

void SharedMemory::reset(uint64_t size) {
  used = size;
  epoch = 1;
  bytes.assign(used, Byte());
  meetings.assign(kMostThreads / warpSize + 1, 0);
  std::memset(memory, 0xa5, used);
}

std::string SharedMemory::at(uint64_t offset) const {
  return "byte " + std::to_string(offset) + " of shared memory";
}

/// Whether another thread made an access that nothing orders with what this one does now.
bool SharedMemory::isByOther(const Access &access, unsigned thread) const {
  unsigned warp = thread / warpSize;
  bool haveMet = access.warp == warp && access.meeting < meetings[warp];
  return access.epoch == epoch && access.thread != thread && !haveMet;
}

void SharedMemory::note(Access &access, unsigned thread) const {
  uint16_t warp = thread / warpSize;
  bool isOne = !isByOther(access, thread);
  bool isOfWarp = isOne || access.warp == warp;
  access = {epoch, meetings[warp], isOne ? uint16_t(thread) : kMany, isOfWarp ? warp : kMany};
}

std::string SharedMemory::access(unsigned thread, uint64_t address, int64_t size, int kind,
                                 const void *value) {
  uint64_t first = address - reinterpret_cast<uint64_t>(memory);
  if (first > used || uint64_t(size) > used - first)
    return "an access of " + std::to_string(size) + " bytes at offset " +
           std::to_string(int64_t(first)) + " of shared memory, which has " + std::to_string(used) +
           " bytes";
  if (first % std::min<uint64_t>(size & -size, 16))
    return "a misaligned access of " + std::to_string(size) + " bytes at " + at(first);
  for (uint64_t offset = first; offset < first + size; ++offset) {
    Byte &byte = bytes[offset];
    if (byte.isArriving)
      return std::string(kind & Read ? "a read of " : "a write of ") + at(offset) +
             ", into which a copy is still under way";
    bool isWritten = byte.write.epoch != 0;
    if (kind & Atomic) {
      if ((byte.write.thread != kAtomically && isByOther(byte.write, thread)) ||
          isByOther(byte.read, thread))
        return "a race: an atomic access to " + at(offset) +
               ", which another thread uses between the same barriers";
      if (!isWritten)
        return "an atomic access to " + at(offset) + ", which no thread has written";
      uint16_t warp = thread / warpSize;
      bool isFirst = byte.write.epoch != epoch || byte.write.thread != kAtomically;
      byte.write = {epoch, meetings[warp], kAtomically,
                    isFirst || byte.write.warp == warp ? warp : kMany};
      continue;
    }
    if (kind & Read) {
      if (!isWritten)
        return "a read of " + at(offset) + ", which no thread has written";
      if (isByOther(byte.write, thread))
        return "a race: a read of " + at(offset) +
               ", which another thread writes between the same barriers";
      note(byte.read, thread);
    }
    if (kind & Write) {
      // To write what is there already harms nobody: copies of a value are stored by all who hold
      // one.
      bool same = isWritten && value &&
                  memory[offset] == static_cast<const uint8_t *>(value)[offset - first];
      if (!same && (isByOther(byte.write, thread) || isByOther(byte.read, thread)))
        return "a race: a write of " + at(offset) +
               ", which another thread uses between the same barriers";
      if (same && byte.write.epoch == epoch)
        continue;
      byte.write = {epoch, meetings[thread / warpSize], uint16_t(thread),
                    uint16_t(thread / warpSize)};
    }
  }
  return "";
}

std::string SharedMemory::inspect(uint64_t address, int64_t size) const {
  uint64_t first = address - reinterpret_cast<uint64_t>(memory);
  if (first > used || uint64_t(size) > used - first)
    return "a read of " + std::to_string(size) + " bytes at offset " +
           std::to_string(int64_t(first)) + " of shared memory, which has " + std::to_string(used) +
           " bytes";
  for (uint64_t offset = first; offset < first + size; ++offset) {
    if (bytes[offset].isArriving)
      return "a read of " + at(offset) + ", into which a copy is still under way";
    if (!bytes[offset].write.epoch)
      return "a read of " + at(offset) + ", which no thread has written";
    bytes[offset].inspectEpoch = epoch;
  }
  return "";
}

std::string SharedMemory::beginCopyFromOutside(uint64_t address, int64_t size, uint32_t known) {
  uint64_t first = address - reinterpret_cast<uint64_t>(memory);
  if (first > used || uint64_t(size) > used - first)
    return "a copy of " + std::to_string(size) + " bytes to offset " +
           std::to_string(int64_t(first)) + " of shared memory, which has " + std::to_string(used) +
           " bytes";
  for (uint64_t offset = first; offset < first + size; ++offset) {
    Byte &byte = bytes[offset];
    if (byte.isArriving)
      return "a copy into " + at(offset) + ", into which another is still under way";
    if (std::max(byte.read.epoch, byte.inspectEpoch) > known)
      return "a race: a copy into " + at(offset) +
             " of another program of the cluster, which was not told that it has been read";
    byte.isArriving = true;
    memory[offset] = 0xa5;
  }
  return "";
}

std::string SharedMemory::beginCopy(unsigned thread, uint64_t address, int64_t size) {
  std::string wrong = access(thread, address, size, Write, nullptr);
  if (!wrong.empty())
    return wrong;
  uint64_t first = address - reinterpret_cast<uint64_t>(memory);
  for (uint64_t offset = first; offset < first + size; ++offset) {
    bytes[offset].isArriving = true;
    memory[offset] = 0xa5;
  }
  return "";
}

std::string SharedMemory::landCopy(unsigned thread, uint64_t address, int64_t size,
                                   const void *data) {
  uint64_t first = address - reinterpret_cast<uint64_t>(memory);
  for (uint64_t offset = first; offset < first + size; ++offset)
    bytes[offset].isArriving = false;
  std::memcpy(memory + first, data, size);
  return access(thread, address, size, Write, nullptr);
}
