// The shared memory of an emulated block, and who has touched each byte of it since when.
#ifndef KILN_LIB_RUNTIME_EMULATED_SHAREDMEMORY_H
#define KILN_LIB_RUNTIME_EMULATED_SHAREDMEMORY_H

#include <cstdint>
#include <string>
#include <vector>

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

  /// Nothing is written; `bytes` may be used.
  void reset(uint64_t bytes);
  /// A barrier: what was done before it is ordered with what comes behind.
  void advance() { ++epoch; }
  /// The lanes of a warp have met: what these did before is ordered with what they do next.
  void meetLanes(unsigned thread) { ++meetings[thread / warpSize]; }
  void setWarpSize(unsigned threads) { warpSize = threads; }
  uint32_t getEpoch() const { return epoch; }
  bool holds(uint64_t address) const {
    return address - reinterpret_cast<uint64_t>(memory) < capacity;
  }
  /// What is wrong with an access by a thread, or nothing. `value` is what a store will write.
  std::string access(unsigned thread, uint64_t address, int64_t bytes, int kind, const void *value);
  /// The same for what no thread reads by itself: whether all is there.
  std::string inspect(uint64_t address, int64_t bytes) const;
  /// A copy that runs on beside the thread: from its begin to its landing nobody may touch the
  /// place, and only then the data is there. What is wrong with it, or nothing.
  std::string beginCopy(unsigned thread, uint64_t address, int64_t bytes);
  /// The same of a copy that another block of the cluster starts, which has been told of all that
  /// was read here up to this epoch.
  std::string beginCopyFromOutside(uint64_t address, int64_t bytes, uint32_t known);
  std::string landCopy(unsigned thread, uint64_t address, int64_t bytes, const void *data);

private:
  /// Who accessed a byte last, and how often the lanes of its warp had met by then.
  struct Access {
    uint32_t epoch = 0, meeting = 0;
    uint16_t thread = 0, warp = 0;
  };
  struct Byte {
    Access write, read;
    bool isArriving = false;
    mutable uint32_t inspectEpoch = 0; ///< when something else than a thread read it last
  };
  bool isByOther(const Access &access, unsigned thread) const;
  void note(Access &access, unsigned thread) const;
  std::string at(uint64_t offset) const;
  uint8_t *memory;
  uint64_t used = 0;
  uint32_t epoch = 1;
  unsigned warpSize = 32;
  /// By warp, how often its lanes have met.
  std::vector<uint32_t> meetings;
  std::vector<Byte> bytes;
};

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_SHAREDMEMORY_H
