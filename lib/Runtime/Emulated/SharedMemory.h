// The shared memory of an emulated block, and what happened to each byte of it.
#ifndef KILN_LIB_RUNTIME_EMULATED_SHAREDMEMORY_H
#define KILN_LIB_RUNTIME_EMULATED_SHAREDMEMORY_H

#include "Reports.h"
#include <cstdint>
#include <memory>
#include <string>

namespace kiln::emulated {

class SharedMemory {
public:
  /// In the lower 4 GiB where the system allows it, since programs keep such addresses in 32 bits.
  SharedMemory();
  ~SharedMemory();
  SharedMemory(const SharedMemory &) = delete;

  static constexpr uint64_t capacity = 256 * 1024;
  /// Null if the system had no memory.
  uint8_t *data() const { return memory; }

  /// Nothing is written; `bytes` may be used. The block's threads are agents of an order of events,
  /// from `first` on.
  void reset(uint64_t bytes, std::shared_ptr<analysis::HappensBefore> order, unsigned first,
             const Names &names);
  analysis::HappensBefore &order() const { return *events; }
  analysis::Agent agentOf(unsigned thread) const { return first + thread; }
  bool holds(uint64_t address) const {
    return address - reinterpret_cast<uint64_t>(memory) < capacity;
  }
  const Names &getNames() const { return names; }
  // Each gives what is wrong, or nothing.
  /// An access by a thread. `value` is what a store will write.
  std::string access(unsigned thread, uint64_t address, int64_t bytes, int kind, const void *value);
  /// What an engine reads from now on, at the order of an agent, until the event has ended.
  std::string startRead(analysis::Agent by, const analysis::Event &event, uint64_t address,
                        int64_t bytes);
  /// What an engine writes; the data comes when it lands.
  std::string startWrite(analysis::Agent by, const analysis::Event &event, uint64_t address,
                         int64_t bytes);
  void land(uint64_t address, int64_t bytes, const void *data);
  /// A thread makes 8 bytes a barrier: like a write.
  std::string initBarrier(unsigned thread, uint64_t address);
  /// Whether a barrier lies there, of which nothing has been written over.
  bool holdsBarrier(uint64_t address) const;
  /// A use of it, in any order with others.
  std::string useBarrier(analysis::Agent by, const analysis::Event &event, uint64_t address);

private:
  std::string checkBounds(const char *what, uint64_t offset, int64_t bytes) const;
  /// What is wrong with an access of bytes from `begin` on, or nothing, and it is kept in mind.
  std::string conclude(const std::optional<analysis::Clash> &clash, const Access &access,
                       size_t begin, size_t bytes, const char *what, const char *noun,
                       bool isWrite);

  uint8_t *memory;
  uint64_t used = 0;
  std::shared_ptr<analysis::HappensBefore> events;
  unsigned first = 0;
  Names names;
  std::unique_ptr<analysis::AccessHistory> history;
  AccessLog log;
};

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_SHAREDMEMORY_H
