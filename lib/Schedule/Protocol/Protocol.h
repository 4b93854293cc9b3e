// The check of a realised schedule, in parts that the pass runs one after another.
//
// 1. `checkCounts` compares what is said once: bytes, arrivals, registers, uses of pending results.
// 2. `trace` runs one copy of one role on its own, on small extents and with real numbers for every
//    scalar, and follows what it holds: slots, dots and stores in flight, who has seen a buffer. A
//    role waits only for channels and barriers, so what it does in between needs no other role.
//    The trace is what it does to them.
// 3. `play` runs all traces against one another. Use `i` of a channel can be put once use
//    `i - depth` was released by all, and got once it was put; so whether all traces reach their
//    ends does not depend on who is faster (Kahn, "The semantics of a simple language for parallel
//    programming", 1974), and a round that moves nobody is a deadlock.
// 4. `Replay` asks of what they did in that order what is ordered with what, and whether accesses
//    to a buffer are (Replay.h): by the same clocks as the emulator, so what is missing in front of
//    an access is told by both accesses and by what would have ordered them (Blame.cpp).
//
// A role's own ring, into which it puts and from which it gets, holds nobody up: only barriers of
// its copies and their waits for what they put order its uses.
//
// An accumulator in tensor memory is put in two steps: it is acquired, and committed once dots have
// been started into it. The chip ends dots in order and waits for nobody, so in part 3 what a
// commit tells of counts as done at once. Fences of tensor memory part 2 follows by itself.
//
// A number that one role hands to others through a slot of one element is the instance's to say:
// its maker has it from where it hands it over on, and each reader that of the use that it got. Of
// reals, and of what a role has of its tensors, it says a name alone, and numbers that come of
// them, as of a comparison, are drawn by that (Names.cpp): roles that ask the same have the same
// answer.
//
// Where copies go to several programs of a cluster, part 2 runs all of its programs, and part 3 all
// their traces together. A slot is full when all bytes that its own program announces have come,
// whoever brings them; and who puts must have heard from every program that its copies reach that
// the slot's use before was released there. So programs that fill a ring not equally often, or
// release a slot to others than those who fill it, come to a standstill, or are found out.
//
// What a pair of programs uses together is followed in both of them, though the first alone gets
// the slots, starts the dots and releases the slots: so what the second one does of these makes no
// events.
//
// Part 2 asks of the k-th use of a channel by one copy that its slot is k mod depth and its phase
// k / depth mod 2. On the chip a wait for a wrong phase may pass by luck; here it never does. It
// shows only where a ring is gone round, so there are instances for that (Rounds.h).
#ifndef KILN_LIB_SCHEDULE_PROTOCOL_PROTOCOL_H
#define KILN_LIB_SCHEDULE_PROTOCOL_PROTOCOL_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/bit.h"
#include <array>
#include <memory>
#include <vector>

namespace kiln::protocol {

class Decoded;

/// One launch, as a program of it sees it: what stands for each scalar that only a launch knows.
struct Instance {
  /// Which program of how many; where those of clusters work together, which cluster.
  int64_t program, programs;
  /// What an extent is along a dimension of an argument.
  int64_t getExtent(unsigned argument, unsigned dim) const;
  /// What a scalar argument is: an extent, or fewer where a loop counts it in small steps.
  int64_t getScalar(tile::WarpGroupsOp groups, unsigned argument) const;
  /// What memory holds at a place of a view: the same number for all that load it.
  int64_t getLoaded(unsigned argument, llvm::ArrayRef<int64_t> place) const;
  /// The number that is handed over as this use of a channel, as an element of so many bits. What
  /// it is computed of, nobody follows; those who make it and those who read it have the same. In
  /// half of the instances it counts on from the program's number, as what an atomic counts does.
  int64_t getHandedOver(unsigned channel, int64_t position, unsigned bits) const;
  /// What comes of reals, or of a tensor, as a number: by its name, the same for all who have it.
  /// It may be on either side of what numbers are compared with, of which these are all.
  int64_t draw(uint64_t name, mlir::Type type, llvm::ArrayRef<int64_t> compared) const;
  /// Which of the lists of extents, and how many times as large they are.
  unsigned pattern;
  int64_t scale = 1;
  /// How many programs a cluster has along each axis.
  std::array<int64_t, 3> extents = {1, 1, 1};
  /// Of those that work together, how many there are, and which of them this is; of others one
  /// alone is looked at.
  std::array<int64_t, 3> cluster = {1, 1, 1}, place = {0, 0, 0};
  /// Of the role that is run, which copy.
  unsigned copy = 0;

  int64_t getProgram(tile::Axis axis) const {
    unsigned i = unsigned(axis);
    return (i == 0 ? program : 0) * extents[i] + place[i];
  }
  int64_t getPrograms(tile::Axis axis) const {
    unsigned i = unsigned(axis);
    return (i == 0 ? programs : 1) * extents[i];
  }
  int64_t getClusterPrograms() const { return cluster[0] * cluster[1] * cluster[2]; }
  /// The program's number in its cluster, by which masks and peers name it.
  unsigned getNumber() const {
    return unsigned((place[2] * cluster[1] + place[1]) * cluster[0] + place[0]);
  }
  bool isFirstOfPair() const { return getNumber() % 2 == 0; }
  /// The same launch by clusters of these extents, seen by each program of one, by their numbers,
  /// or, where they do not work together, by the first.
  std::vector<Instance> getProgramsOfCluster(std::array<int64_t, 3> extents, bool together) const;
};

/// The instances that every kernel is checked on.
std::vector<Instance> getInstances();
void describe(mlir::InFlightDiagnostic &error, tile::WarpGroupsOp groups, const Instance &instance);

/// The name of what follows from all of these.
uint64_t getName(std::initializer_list<uint64_t> parts);

/// Programs of the cluster, a bit each, and what goes to each of them: bytes, or an arrival.
struct Reach {
  uint64_t programs;
  int64_t bytes = 0;
};

/// Those of a mask.
inline llvm::SmallVector<unsigned, 8> getPrograms(uint64_t mask) {
  llvm::SmallVector<unsigned, 8> programs;
  for (; mask; mask &= mask - 1)
    programs.push_back(llvm::countr_zero(mask));
  return programs;
}

/// One thing that a copy of a role does to a channel, to memory, or with others.
struct Event {
  enum Kind {
    Acquire, ///< waits until the slot is empty, which dots or a tile.fill write next
    Put,     ///< the same, of who writes it by copies or by its warps
    Fill,    ///< tells that the slot is full, or will be
    Get,
    Release,
    Meet, ///< all copies of the role
    // What waits for no other copy:
    Barrier, ///< the warps of the copy
    Fence,
    Read,
    Write,
    Use,  ///< of scratch
    Copy, ///< starts a copy into a slot
    WaitPuts,
    DotRead, ///< what the next StartDot reads, and writes
    DotWrite,
    StartDot,
    WaitDots,
    Store, ///< starts a copy out of a buffer
    WaitStores,
  } kind;
  /// The threads of the copy that do it.
  enum Who : uint8_t { All, EachWarp, First } who = All;
  /// The captured channel, and which use of it; for Meet, which of the copy's meetings; of a wait,
  /// how many may be under way behind it.
  unsigned channel = 0;
  int64_t position = 0;
  mlir::Operation *op = nullptr;
  /// Of an access: the slot and which of its buffers, or else the op that has the memory.
  int64_t slot = 0;
  unsigned buffer = 0;
  mlir::Operation *piece = nullptr;
  /// Of a put, a copy or a release where programs of a cluster share tiles out, the number of what
  /// it reaches, from 1 on; of all others 0.
  unsigned reaches = 0;

  /// Whether it waits until no more than some of a copy's own are under way.
  bool isWaitForOwn() const { return kind == WaitPuts || kind == WaitDots || kind == WaitStores; }
  /// Whether it is of a slot.
  bool usesChannel() const {
    return kind <= Release || (!piece && (kind == Read || kind == Write || kind == Copy ||
                                          kind == DotRead || kind == DotWrite || kind == Store));
  }
};

/// What of a kernel's shared memory lies on one another, once that is planned. Scratch that lies on
/// scratch is ordered by the ops themselves.
class Overlaps {
public:
  explicit Overlaps(tile::WarpGroupsOp groups);
  /// The ops that have what lies where this one's does.
  llvm::ArrayRef<mlir::Operation *> of(mlir::Operation *piece) const {
    auto at = others.find(piece);
    return at == others.end() ? llvm::ArrayRef<mlir::Operation *>() : at->second;
  }

private:
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *>> others;
};

/// The ops by whose results a trace goes on.
class Followed {
public:
  explicit Followed(tile::WarpGroupsOp groups);
  bool contains(mlir::Operation *op) const { return ops.contains(op); }

private:
  llvm::DenseSet<mlir::Operation *> ops;
};

/// How many ops a role runs at most, on one instance, for that to be followed.
inline constexpr int64_t kMostSteps = 1 << 18;

struct Trace {
  unsigned role = 0, copy = 0;
  /// In the cluster.
  unsigned program = 0;
  /// Those of a role's copies and programs that do alike are the same.
  std::shared_ptr<const std::vector<Event>> shared = {};
  llvm::ArrayRef<Event> events = {};
  /// Where it was given up, if it has too many steps to be followed.
  mlir::Operation *tooLong = nullptr;
  /// Whether some number in it was drawn, of which there may be others.
  bool draws = false;
  /// Whether it steps over uses of some slot that it uses itself, which are other copies'.
  bool skips = false;
  /// The barriers it has come to that publish, outside of puts and not for global memory.
  llvm::SmallSetVector<mlir::Operation *, 8> publishing = {};
  /// What events reach.
  std::vector<llvm::SmallVector<Reach, 2>> reached = {};
  /// What follows from all that it does, and from who does it.
  uint64_t name = 0;

  llvm::ArrayRef<Reach> getReaches(const Event &event) const {
    return event.reaches ? llvm::ArrayRef<Reach>(reached[event.reaches - 1])
                         : llvm::ArrayRef<Reach>();
  }
};

/// Events of all traces in an order in which they may happen, each with the number of its trace.
using Order = std::vector<std::pair<unsigned, const Event *>>;

/// Of a kernel that makes its channels already, whether it does so in front of the roles.
mlir::LogicalResult checkPrepared(tile::WarpGroupsOp groups);
mlir::LogicalResult checkCounts(tile::WarpGroupsOp groups);
/// Of all copies of a role in each of the programs that work together, by their numbers, copy by
/// copy. Those that go the same way are run once, for all: all but what their copies and releases
/// reach is alike.
mlir::FailureOr<std::vector<Trace>> trace(Decoded &decoded, unsigned role,
                                          llvm::ArrayRef<Instance> programs);
mlir::FailureOr<Order> play(const Decoded &decoded, llvm::ArrayRef<Trace> traces,
                            const Instance &instance);

/// Whether other roles or later ops may wait for what an op, or one inside it, does; what has none
/// of these need not be run. A barrier that is there for global memory alone is met alike by all
/// who come to it.
bool matters(mlir::Operation *op);

/// The first program of a pair.
inline unsigned getFirstOfPair(unsigned program) { return program & ~1u; }

/// Whether programs of a cluster fill one another's slots, or release them to one another.
bool sharesTiles(tile::WarpGroupsOp groups);
/// How many arrivals of one program, at each barrier that it tells, release a slot.
int64_t countReleases(tile::WarpGroupsOp groups, unsigned capture);

/// The channel that a captured value is, or null.
tile::ChannelOp getChannel(tile::WarpGroupsOp groups, unsigned capture);
/// A note where a ring is made.
void noteRing(mlir::InFlightDiagnostic &error, tile::ChannelOp channel);
/// How many arrivals at its slot's barrier a put or a release by one copy is.
int64_t countArrivals(tile::RoleAttr role, mlir::Operation *op);
/// Which captured value this is in a role's region.
unsigned getCapture(mlir::Value value);

} // namespace kiln::protocol

#endif // KILN_LIB_SCHEDULE_PROTOCOL_PROTOCOL_H
