// The tensor memory of an emulated block: who holds which columns, what they hold, and products in
// flight into them.
//
// A product that was started, and the commit behind it, are done only when a thread waits for the
// commit's barrier. Accesses of a column by threads and products must be ordered by what their
// threads tell one another and by the fences of tensor memory (kiln/Analysis/HappensBefore.h), and
// a warp must wait to have written what a product reads.
#ifndef KILN_LIB_RUNTIME_EMULATED_TENSORMEMORY_H
#define KILN_LIB_RUNTIME_EMULATED_TENSORMEMORY_H

#include "Engines.h"
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace kiln::emulated {

class TensorMemory {
public:
  explicit TensorMemory(Engines &engines) : engines(engines) {}
  /// Nobody holds anything; the order of events is the engines' from now on.
  void reset();
  /// That of the other block of the pair, or null.
  void join(TensorMemory *other) { mate = other; }

  static constexpr unsigned lanes = 128, columns = 512;
  /// An address has its lane in the upper half and its column in the lower.
  static unsigned laneOf(uint32_t address) { return address >> 16; }
  static unsigned columnOf(uint32_t address) { return address & 0xffff; }

  // Each gives what is wrong, or nothing.
  /// All that a program does here is for one block, or all of it for a pair.
  std::string useFor(unsigned blocks);
  std::string allocate(unsigned thread, unsigned count, uint32_t &address);
  std::string endAllocations();
  std::string release(unsigned thread, uint32_t address, unsigned count);
  /// Columns from an address on.
  struct Columns {
    uint32_t address = 0;
    unsigned count = 0;
  };
  /// A product that a thread starts, into some columns, of operands in others, if there are any; of
  /// a pair, in those of both blocks.
  std::string start(unsigned thread, Columns sums, std::vector<Columns> operands,
                    std::function<std::string()> multiply);
  /// What products that a thread starts read of shared memory, until a commit behind them has
  /// ended.
  analysis::Event startReads(unsigned thread);
  /// To one or several barriers of the cluster.
  void commit(unsigned thread, std::vector<uint64_t> barriers);
  /// Does what commits to a barrier tell of, if there are any, and tells.
  std::string land(uint64_t barrier);
  std::string finish();

  /// Columns of a lane, by a thread. What a warp writes is there when it has waited for that.
  std::string read(unsigned thread, unsigned lane, unsigned column, unsigned count, uint32_t *bits);
  std::string write(unsigned thread, unsigned warp, unsigned lane, unsigned column, unsigned count,
                    const uint32_t *bits);
  void waitForWrites(unsigned warp);
  /// By products.
  bool isWritten(unsigned lane, unsigned column) const { return cells[lane][column].isWritten; }
  uint32_t get(unsigned lane, unsigned column) const { return cells[lane][column].bits; }
  void set(unsigned lane, unsigned column, uint32_t bits) {
    cells[lane][column] = {bits, true, kNobody};
  }

private:
  static constexpr unsigned kNobody = ~0u;
  struct Cell {
    uint32_t bits = 0;
    bool isWritten = false;
    unsigned writer = kNobody; ///< the warp that has not waited to have written it
    bool isWatched = false;    ///< the order by which it has
  };
  /// A product, or a commit to barriers.
  struct Order {
    unsigned thread;
    Columns sums;
    std::vector<Columns> operands;
    std::function<std::string()> multiply;
    std::vector<uint64_t> barriers = {};
    analysis::Tick tick = 0; ///< of a commit
  };
  analysis::Agent queueOf(unsigned thread);
  void noteUse(const Cell &cell) const;
  bool isHeld(unsigned first, unsigned count) const;
  std::string checkStart(Columns columns, const char *what) const;
  /// What is wrong with an access of columns of a lane, or nothing, and it is kept in mind.
  std::string conclude(const std::optional<analysis::Clash> &clash, analysis::Agent by,
                       const analysis::Event &event, size_t first, size_t count, const char *what,
                       const char *noun);
  /// What is wrong with an access of columns of a lane by a thread, or nothing.
  std::string use(unsigned thread, unsigned lane, unsigned column, unsigned count, bool isWrite);
  std::string takeAll(unsigned thread, const char *what, unsigned first, unsigned count);
  static size_t cellOf(unsigned lane, unsigned column) { return size_t(lane) * columns + column; }
  std::string runUpTo(size_t last);

  Engines &engines;
  std::map<unsigned, analysis::Agent> queues; ///< by the thread that starts products
  TensorMemory *mate = nullptr;
  unsigned blocks = 0;    ///< that use it together; 0 until something does
  std::vector<int> taken; ///< columns set aside, or negative, given back, in turn
  std::vector<std::vector<Cell>> cells;
  std::unique_ptr<analysis::AccessHistory> history; ///< of a cell as of a byte
  AccessLog log;
  std::vector<bool> held;
  std::vector<Order> orders; ///< oldest first
  bool mayAllocate = true;
};

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_TENSORMEMORY_H
