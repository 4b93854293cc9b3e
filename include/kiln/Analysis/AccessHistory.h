// Who touched each byte of a memory last, and what of that an access clashes with.
//
// Of a byte are kept the writes that nothing orders with one another, which all wrote the same, the
// updates behind them, which go together in any order, and the reads since. Bytes of one history
// share it, so an access of many costs little more than one of a few. What an access makes of it
// takes its place if no other byte is in it, so that most accesses allocate nothing.
#ifndef KILN_ANALYSIS_ACCESSHISTORY_H
#define KILN_ANALYSIS_ACCESSHISTORY_H

#include "kiln/Analysis/HappensBefore.h"
#include <cstddef>
#include <optional>

namespace kiln::analysis {

/// Why an access may not be.
struct Clash {
  enum class Kind {
    Unwritten,   ///< nothing was ever written there
    AfterWrite,  ///< nothing orders it with a write
    AfterRead,   ///< nothing orders it with a read
    BehindFence, ///< it is an engine's, which does not find the write, or the read
    TensorFence, ///< what orders the two does not order uses of tensor memory
  };
  Kind kind;
  size_t offset;       ///< of the byte
  Event other;         ///< what it clashes with
  bool isRead = false; ///< whether that is a read
};

/// Whether a read that a thread has made may still be under way when an engine writes there, if no
/// fence stands in between, though the thread has told of it.
enum class Reads { AreDone, NeedFences };

/// What was done to one byte, or to what is always written and read as one.
struct ByteHistory {
  std::vector<Event> writes, updates, reads;

  /// An access that a thread makes or starts; the event is its own or that of a queue. What it
  /// clashes with, or nothing; if it clashes nothing changes.
  std::optional<Clash> read(const HappensBefore &order, Agent thread, const Event &event);
  /// `isSame` says whether just that is there already: copies of a value are stored by all who hold
  /// one, in any order.
  std::optional<Clash> write(const HappensBefore &order, Agent thread, const Event &event,
                             bool isSame = false, Reads kind = Reads::AreDone);
  /// Reads, writes or both as one, in any order with others of its kind.
  std::optional<Clash> update(const HappensBefore &order, Agent thread, const Event &event);

  bool operator==(const ByteHistory &other) const {
    return writes == other.writes && updates == other.updates && reads == other.reads;
  }
};

/// The histories of many bytes, where neighbours have the same.
class AccessHistory {
public:
  AccessHistory(const HappensBefore &order, size_t bytes);

  std::optional<Clash> read(Agent thread, const Event &event, size_t first, size_t count);
  std::optional<Clash> write(Agent thread, const Event &event, size_t first, size_t count,
                             const bool *isSame = nullptr);
  std::optional<Clash> update(Agent thread, const Event &event, size_t first, size_t count);

private:
  using State = ByteHistory;
  using Id = uint32_t;
  /// A state that bytes are in, so many of them; none if it is unused. What the visit of this
  /// number makes of it, for bytes that it changes and for those that it leaves the same.
  struct Kept {
    State state;
    size_t bytes = 0;
    uint64_t visit = 0;
    size_t changes[2];
  };
  /// What a visit makes of a state, for so many of its bytes.
  struct Change {
    Id before, after;
    size_t bytes;
    State state;
  };
  struct Run {
    size_t first, count, change;
  };
  template <typename Step>
  std::optional<Clash> visit(size_t first, size_t count, const bool *isSame, Step step);
  /// The id of a change's state, which other bytes may be in.
  Id keep(Change &change, size_t first);

  const HappensBefore *order;
  std::vector<Id> bytes;
  std::vector<Kept> states;
  std::vector<Id> unused;
  Id last = 0; ///< made last
  /// Of a visit. They stay for the memory that they have.
  uint64_t visits = 0;
  std::vector<Change> changes;
  std::vector<Run> runs;
};

} // namespace kiln::analysis

#endif // KILN_ANALYSIS_ACCESSHISTORY_H
