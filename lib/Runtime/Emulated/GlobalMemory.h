// The global memory that a launch on an emulated chip reaches: its bounds, and who of all programs
// touched each byte that they write.
//
// What programs and threads tell one another by atomics and fences orders their accesses
// (kiln/Analysis/GridOrder.h), as barriers do within a block. Arguments that no program writes are
// not looked at.
#ifndef KILN_LIB_RUNTIME_EMULATED_GLOBALMEMORY_H
#define KILN_LIB_RUNTIME_EMULATED_GLOBALMEMORY_H

#include "Reports.h"
#include "kiln/Analysis/GridHistory.h"
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace kiln::emulated {

/// Of global memory, for an argument or what the runtime adds.
struct Range {
  uint64_t first, last;
  std::string argument = ""; ///< that covers it, if one does
  bool isWritten = true;     ///< by the programs, or nobody knows
};

class GlobalMemory {
public:
  /// Nothing else is reached, if that is to be checked.
  GlobalMemory(const std::vector<Range> &ranges, bool isChecked, bool hasBareBarriers,
               bool blockFencesWait, bool overlaps, const Names &names);

  /// A cluster begins, whose programs are so many along each axis from the first on; it has ended.
  analysis::Run begin(std::shared_ptr<analysis::HappensBefore> order, unsigned threadsOfBlock,
                      const uint32_t first[3], const int64_t extents[3]);
  void end(analysis::Run run) { order.end(run); }

  /// The bits of an access, as lib/Target/Emulated/LowerToHost.h has them.
  enum Kind { Reads = 1, Writes = 2, Atomic = 4, Acquires = 16, Releases = 32, ScopeShift = 6 };
  /// What is wrong with where an access is, or nothing.
  std::string checkBounds(uint64_t address, int64_t bytes, int kind) const;
  /// Whether programs may write there.
  bool mayChange(uint64_t address, int64_t bytes) const {
    const Range *range = find(address, bytes);
    return !range || range->isWritten;
  }
  /// What is wrong with an access that a thread makes or starts, at the event, or nothing. A plain
  /// write writes what is at `value`, if that is known; of an engine's it is.
  std::string access(analysis::Run run, analysis::Agent thread, const analysis::Event &event,
                     uint64_t address, int64_t bytes, int kind, const void *value);
  /// What an engine was told to write there has been written.
  void land(uint64_t address) { underWay.erase(address); }
  void fence(analysis::Run run, analysis::Agent thread, int kind);
  void fenceProxy(analysis::Run run, analysis::Agent thread) { order.fenceProxy(run, thread); }
  /// A thread has waited for the launches in front of this one, which may use all of global memory
  /// until then, if they overlap.
  void waitForLaunch(analysis::Run run, analysis::Agent thread);
  /// A thread has waited for what it wrote.
  void publish(analysis::Run run, analysis::Agent thread) { order.publish(run, thread); }
  /// "4 bytes at byte 8 of argument 'x'", as far as it is known.
  std::string describe(uint64_t address, int64_t bytes) const;

private:
  const Range *find(uint64_t address, int64_t bytes) const;
  std::string describeNearest(uint64_t address, int64_t bytes) const;
  std::string describe(const analysis::GridClash &clash, const analysis::GridEvent &own,
                       bool isWrite) const;
  std::string describeLaunch(const analysis::GridEvent &own, uint64_t address, bool isWrite) const;
  std::string placeOf(uint64_t address) const;
  std::string nameOf(analysis::Run run, analysis::Agent thread) const;
  std::string who(const analysis::GridEvent &event) const;

  std::vector<Range> ranges;
  const bool isChecked, overlaps;
  const Names names;
  analysis::GridOrder order;
  analysis::GridHistory history{order};
  struct Programs {
    uint32_t first[3];
    int64_t extents[3];
    analysis::Agent before = 0; ///< the launches in front of this one, if they overlap
  };
  std::vector<Programs> programs; ///< by run
  /// What engines will write, by where: several may be told to write the same.
  std::unordered_map<uint64_t, std::vector<uint8_t>> underWay;
};

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_GLOBALMEMORY_H
