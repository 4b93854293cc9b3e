// What a schedule is asked for: the ops of one loop, what they need of one another, and what the
// chip has for them. Pure C++, no IR.
//
// The model
// ---------
// A problem is the body of one loop, or a block that runs once. Its ops are run by roles: groups of
// warps that run beside one another, each of which starts its own ops one after another. A solution
// (Solution.h) says for each op which role runs it and at which cycle it starts; the loop starts an
// iteration every `interval` cycles, so op v of iteration i starts at start(v) + i * interval. This
// is modulo scheduling (Rau, "Iterative Modulo Scheduling", 1994).
//
// - **Time.** All roles share one time line. A dependence from u to v of distance d says
//   start(v) + d * interval >= start(u) + latency.
// - **Trips, stages, orders.** A role has an origin, the cycle at which its trip 0 begins. Its trip
//   t lasts from origin + t * interval to the next. The stage of an op is how many whole intervals
//   it starts behind its role's origin, so stages count within a role, from 0. Orders number the
//   ops of a role by where in a trip they start, 0 to n - 1. The stages and orders of a role are
//   what the compiler realises. How far one role runs ahead of another is the depth of rings alone.
// - **Completion.** An op is *direct*, or it only starts work that goes on beside its role.
//   *Counted* work is waited for by a count: by then, so many later starts of its counter may be
//   under way (`in_flight`). The wait stands in front of the first op of the trip that uses the
//   result, or at the trip's end; work that only its own kind continues (a chain of dots that add
//   to one accumulator) is waited for at the end of each trip. *Signalled* work tells a barrier,
//   which each user waits for.
// - **Rings.** What goes from one role to another, or is read out of a buffer within one, lies in a
//   ring of slots. What another role uses is not counted: its own role alone could wait. The maker
//   waits for a free slot. A slot is in use from the maker's start until all readers of it are
//   known to be done: for counted work that is where it is waited for.
// - **Units** are the parts of a core that ops keep busy: so many ops at once, each for so many
//   cycles.
// - **Registers** are estimated: the most bytes of results that are live at once in the trips of a
//   role. The assembler has the last word.
//
// What the model leaves out: scalars that each role makes for itself are no ops here; loads put
// into one slot together are one op; identical copies of a role are one role, whose ops take the
// units for all of them. Of copies that lag behind one another, the waits of the first and of the
// last are told apart (lib/Schedule/Problem/Waits.h).
#ifndef KILN_SCHEDULE_PROBLEM_PROBLEM_H
#define KILN_SCHEDULE_PROBLEM_PROBLEM_H

#include "kiln/Schedule/Problem/SharedMemory.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>

namespace kiln::schedule {

/// A part of a core that ops keep busy.
struct Unit {
  std::string name;
  /// How many ops it serves at once.
  int64_t count = 1;
  /// Whether each role has such units for itself, as of its warps' issue slots, or all share these.
  bool isPerRole = false;
};

/// What an op takes of a unit.
struct Reservation {
  unsigned unit;
  /// How long, in cycles, and how many cycles after the op's start that begins.
  int64_t cycles;
  int64_t offset = 0;
};

/// How work is known to be done.
enum class Completion {
  /// When the op's latency is over; users need no wait.
  Direct,
  /// When so few starts of its counter as the wait says are under way. Work of one counter is done
  /// in the order in which it was started.
  Counted,
  /// By a barrier of its own.
  Signalled,
};

/// Decisions that are not the solver's. Each subset is allowed.
struct Pins {
  std::optional<unsigned> role;
  /// How many trips after the first of its iteration, within its role, from 0.
  std::optional<int64_t> stage;
  /// A rank among the ops of its role that have such a pin: ops without one may stand between.
  std::optional<int64_t> order;
  /// Slots of the ring that holds its result.
  std::optional<int64_t> depth;
  /// Later starts of its counter that may be under way when it is waited for.
  std::optional<int64_t> inFlight;
};

struct Op {
  /// What errors call it.
  std::string name;
  /// Cycles from its start until its result may be used.
  int64_t latency = 0;
  /// At most one of each unit.
  llvm::SmallVector<Reservation, 2> reservations;
  Completion completion = Completion::Direct;
  /// Which counter counts it, if it is counted.
  unsigned counter = 0;
  /// As how much work it is counted, all of which it starts at once.
  int64_t starts = 1;
  /// Whether it only waits, so that it comes as late as its users let it (see Complete.h).
  bool isLate = false;
  /// Only a role with a multiple of so many warps can run it.
  int64_t warpMultiple = 1;
  /// Bytes of the result in the registers of all threads of its role together.
  int64_t registerBytes = 0;
  /// What one slot takes of a ring that holds the result: bytes of shared memory, columns of
  /// tensor memory, named barriers. Without bytes or columns no ring can hold it.
  int64_t bufferBytes = 0;
  int64_t bufferColumns = 0;
  int64_t slotBarriers = 0;
  /// Whether ops of its own role read it from the ring too, rather than from registers.
  bool isBuffered = false;
  /// Where copies of its role lag: whether they start it in turns, so that they meet in front of it
  /// and behind it, or of several such as nothing parts them; whether it parts them; and how many
  /// turns are in it, at least.
  bool isInTurns = false, partsTurns = false;
  int64_t innerTurns = 0;
  Pins pins;

  bool canLieInRing() const { return bufferBytes > 0 || bufferColumns > 0; }
  /// Whether other roles can use the result. Of counted work only its own role knows when it is
  /// done.
  bool canBeHandedOver() const { return canLieInRing() && completion != Completion::Counted; }
};

struct Dependence {
  enum Kind {
    /// The result is used.
    Value,
    /// The result is continued by the same unit, in the same registers or columns. The unit itself
    /// keeps the order, and nobody waits.
    Chain,
    /// Nothing is handed on, but one comes behind the other.
    Order,
  };
  unsigned from, to;
  /// Iterations from the maker's to the user's.
  int64_t distance = 0;
  Kind kind = Value;
  /// Cycles between the two starts; the maker's latency if nothing is said.
  std::optional<int64_t> latency = std::nullopt;
  /// Whether the user's result takes the place of the maker's in registers, as that of a chain
  /// does.
  bool isInPlace = false;
};

struct Role {
  std::string name;
  int64_t warps = 1;
  /// Bytes of registers that all its threads together have for results.
  std::optional<int64_t> registerBytes = std::nullopt;
  /// By how many meetings of all its copies the last of them lags behind the first.
  int64_t lag = 0;
};

/// What counts starts of work, in each role for itself.
struct Counter {
  std::string name;
  /// The largest count that a wait can name.
  std::optional<int64_t> limit = std::nullopt;
};

/// What the roles share; nothing said is no limit.
struct Budget {
  std::optional<int64_t> sharedBytes;
  std::optional<int64_t> tensorColumns;
  std::optional<int64_t> namedBarriers;
};

/// A decision, or a part of a problem, that breaks a limit.
struct Violation {
  /// The op's index and name; none if it is of the whole problem or of a role.
  std::optional<unsigned> op;
  std::string name;
  /// What was decided: `stage`, `order`, `role`, `depth`, `in_flight`, `start`, `interval`, ….
  std::string decision;
  /// The limit that does not hold: "expected …, got …".
  std::string limit;
  /// The ops that set the limit, each once.
  llvm::SmallVector<unsigned> others = {};
  /// With how many slots a ring holds, for want of which roles wait for one another.
  std::optional<int64_t> leastDepth = std::nullopt;

  /// All of it in one line: "op 3 'dot': stage: expected at least 1, …, got 0".
  std::string str() const;
};

struct Problem {
  llvm::SmallVector<Role> roles;
  llvm::SmallVector<Unit> units;
  llvm::SmallVector<Counter> counters;
  /// In the order of the source.
  llvm::SmallVector<Op> ops;
  /// What an op needs, in the order of its operands.
  llvm::SmallVector<Dependence> dependences;
  Budget budget;
  /// What else lies in shared memory while the ops run.
  llvm::SmallVector<SharedPiece> otherPieces;
  /// Whether the ops run more than once. A block has one stage, and its rings one slot.
  bool isLoop = true;
  /// The most stages that a role may have; nothing said is no limit.
  std::optional<int64_t> mostStages;

  /// Cycles from the start of what is needed to the start of what needs it. A hand-over from one
  /// role to another takes at least one.
  int64_t getLatency(const Dependence &dependence, bool crossesRoles) const;
  /// Whether one place holds the op's result in all iterations, since the next continues it.
  bool isContinued(unsigned op) const;
  /// A violation at an op.
  Violation at(unsigned op, llvm::StringRef decision, std::string limit) const;
};

/// What a problem has at most: ops and dependences; cycles of an op; trips, slots and work in
/// flight; all else. Within these no sum overflows, and no interval is longer than kMostInterval.
inline constexpr int64_t kMostOps = 4096, kMostDependences = 4 * kMostOps;
inline constexpr int64_t kMostCycles = int64_t(1) << 20;
inline constexpr int64_t kMostTrips = 1024;
inline constexpr int64_t kMostNumber = int64_t(1) << 30;
inline constexpr int64_t kMostInterval = int64_t(1) << 40;

/// What makes a problem no problem: an index that names nothing, a number that is out of range, a
/// cycle of needs within one iteration, pins that contradict one another whatever the schedule.
std::optional<Violation> check(const Problem &problem);

} // namespace kiln::schedule

#endif // KILN_SCHEDULE_PROBLEM_PROBLEM_H
