// What a role runs in one trip of a loop, or in any other block: which ops, in which order, and
// each at which stage.
//
// At stage s an op works on the iteration that began s trips before. What it takes from an op of
// the same stage is of its own trip; from one of an earlier stage, of an earlier trip.
#ifndef KILN_LIB_SCHEDULE_TRIP_H
#define KILN_LIB_SCHEDULE_TRIP_H

#include "Decisions.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"

namespace kiln {

/// A point of time of an iteration: so many trips after its first, where this op stands.
struct TripTime {
  int64_t stage = 0;
  size_t place = 0;
  bool operator<(const TripTime &other) const {
    return stage != other.stage ? stage < other.stage : place < other.place;
  }
};

/// What an op needs of another one of the block: of the same iteration, or of one so many before.
struct Dependence {
  mlir::Operation *op;
  int64_t distance;
};

/// A slot that dots which stay in flight from trip to trip read. It goes back at the end of a trip,
/// once the dots of the iteration so many later have been waited for; what has no such iteration,
/// behind the loop.
struct HeldSlot {
  tile::GetOp get;
  int64_t stage, later;
};

/// An accumulator that stays in flight from trip to trip, as a value of the loop.
struct HeldDot {
  unsigned index;
  /// What it was in front of the loop.
  mlir::Value initial;
  mlir::Location loc;
  /// Where it is decided to be in tensor memory; null if nobody has said.
  mlir::Attribute columns;
};

/// A slot of a role's own ring that is known when compiling: the ring has so many, each iteration
/// takes so many of them, and this is which of these.
struct KnownSlot {
  int64_t depth, uses, place;
};

/// Whether a get is of the next use of its ring, whichever that is, so that it is to be released.
inline bool isCounted(tile::GetOp get) { return get.getSlot().getDefiningOp<tile::NextOp>(); }

/// What reads a buffer, or parts of it.
llvm::SmallVector<mlir::Operation *> findReaders(mlir::Value buffer);
/// Whether lanes read what is got into registers, so that they meet before its slot is released.
bool isReadByLanes(tile::GetOp get);
/// Whether dots in flight read what is got, or parts of it, as engines do.
bool isReadByDots(tile::GetOp get);
/// Whether commits give back what is got, perhaps beside others that read it.
bool isReadUntilCommit(tile::GetOp get);
/// Gives a slot back for dots that read it and end by commit, or for all others that do.
tile::ReleaseOp makeRelease(mlir::OpBuilder &builder, mlir::Location loc, tile::GetOp get,
                            mlir::Value slot, bool byCommit);

/// The rings of a role that only dots read which end by commit, and those that others read, too.
/// All slots of one go back in the same ways.
struct RingReaders {
  llvm::DenseSet<mlir::Value> byDots, byBoth;
};
/// Before anything is in flight.
RingReaders findRingReaders(mlir::Region &region);

struct Trip {
  /// By the stages and orders that ops have. One without follows the op in front of it.
  explicit Trip(mlir::Block &block);

  mlir::Block &block;
  /// The loop whose body the block is, or null: an `scf.for`, or an `scf.while` whose condition is
  /// a number that it carries (tile-rotate-loops).
  mlir::Operation *loop;
  /// All but the terminator and what is free, in the order of a trip.
  llvm::SmallVector<mlir::Operation *> ops;
  llvm::DenseMap<mlir::Operation *, int64_t> stages;
  /// Scalars that follow from the induction variable alone. They are made again wherever they are
  /// used, and have no stage.
  llvm::DenseSet<mlir::Operation *> free;
  /// What waits for a start, and which start a wait is for.
  llvm::DenseMap<mlir::Operation *, tile::WaitOp> waits;
  llvm::DenseMap<mlir::Operation *, tile::StartDotOp> starts;
  /// How many trips later a dot that stays in flight is done.
  llvm::DenseMap<mlir::Operation *, int64_t> heldFor;
  llvm::SmallVector<HeldSlot> heldSlots;
  llvm::SmallVector<HeldDot> heldDots;

  /// How many sets of registers dots in flight take for operands that trips make again: a trip
  /// writes the set that was read so many trips before. Each trip of a round has its own.
  int64_t registerSets = 1;
  /// Whether the loop's role fills rings of its own; then:
  bool fillsRings = false;
  /// The role, if its copies lag behind one another in the loop, and the stage at which they get.
  tile::RoleAttr lagging;
  int64_t lagStage = 0;
  /// After so many trips slots repeat.
  int64_t round = 1;
  /// By their `tile.next`.
  llvm::DenseMap<mlir::Operation *, KnownSlot> slots;
  /// Puts that arrive later, as the source has them, and which one each wait is for.
  llvm::SmallVector<tile::PutOp> asyncPuts;
  llvm::DenseMap<mlir::Operation *, tile::PutOp> putWaits;

  size_t getPlace(mlir::Operation *op) const { return llvm::find(ops, op) - ops.begin(); }
  TripTime getTime(mlir::Operation *op) const { return {stages.lookup(op), getPlace(op)}; }
  void insert(size_t place, mlir::Operation *op, int64_t stage) {
    ops.insert(ops.begin() + place, op);
    stages[op] = stage;
  }
  /// The op of this block that this one is, or is in; null if there is none.
  mlir::Operation *findHere(mlir::Operation *op) const { return block.findAncestorOpInBlock(*op); }
  /// What an op and the ops in it use of values that this block makes.
  llvm::SmallVector<mlir::Value> getOperands(mlir::Operation *op) const;
  /// The loop, if its trips are counted in front of it; else null.
  mlir::scf::ForOp getCounted() const { return llvm::dyn_cast_or_null<mlir::scf::ForOp>(loop); }
  /// Of an `scf.while`: which of the loop's values says whether there is a next iteration. It comes
  /// behind all others, which are the loop's results.
  std::optional<unsigned> getConditionIndex() const {
    return getCounted() ? std::nullopt : std::optional(loop->getNumResults());
  }
  /// How many values go from iteration to iteration.
  unsigned countCarried() const { return loop->getNumResults() + !getCounted(); }
  /// What the loop's `index`-th value is at first, and where it says what the next iteration has.
  mlir::OpOperand &getInit(unsigned index) const;
  mlir::OpOperand &getYield(unsigned index) const;
  mlir::Value getYielded(unsigned index) const { return getYield(index).get(); }
  /// Makes the loop's `index`-th value, which is one of its results, one of another type.
  void setType(unsigned index, mlir::Type type) const;
  /// Which of the loop's values a value is, or nothing.
  std::optional<unsigned> getCarriedIndex(mlir::Value value) const;
  /// The op of this block that makes a value, perhaps some iterations before.
  std::optional<Dependence> findMaker(mlir::Value value) const;

private:
  void findFree();
};

/// Whether a block has anything that the rest of it must be put into order for.
bool hasDecisions(mlir::Block &block);
/// The number that is decided of an op, or nothing.
std::optional<int64_t> findNumber(mlir::Operation *op, llvm::StringRef name);
/// Whether the stages and orders of a trip leave uses of rings and accesses of memory as the source
/// has them.
mlir::LogicalResult checkSchedule(const Trip &trip);
/// Whether an op, or one in it, may write what a view reaches.
bool mayWrite(mlir::Operation *op, mlir::Value view);
/// The puts of a role that it gets itself, each with the get of the same use, both among these ops.
llvm::MapVector<tile::PutOp, tile::GetOp> pairUses(llvm::ArrayRef<mlir::Operation *> source);
/// The use of a ring's slot before a trip's `place`th use of the ring puts it: which of the trip's
/// uses that is, and how many trips before.
std::pair<size_t, int64_t> findUseBefore(size_t place, int64_t uses, int64_t depth);
/// Notes where what is got is read, if another line of the source does that.
void noteReader(mlir::InFlightDiagnostic &error, tile::GetOp get);
/// Tells of too few slots at the use that still has one.
mlir::InFlightDiagnostic emitTooFewSlots(tile::GetOp earlier, int64_t depth);
/// Makes starts and waits of dots in flight.
mlir::LogicalResult startDots(Trip &trip);
/// Releases each slot that is got once all that reads it is done.
mlir::LogicalResult releaseSlots(Trip &trip, const RingReaders &readers);
/// Makes a loop in which a role fills rings of its own one over index numbers.
void countByIndex(mlir::Block &block);
/// Makes waits for what a role has put into rings of its own, and the barriers that tell its warps
/// of puts and of releases. With `knownSlots` slots are constants.
mlir::LogicalResult waitForPuts(Trip &trip, tile::RoleAttr role, bool knownSlots);
/// Whether each op of the whole trip stands behind what it needs; an error at one that does not.
mlir::LogicalResult checkTrip(const Trip &trip);
/// Makes the block what the trip says. A loop whose ops have several stages becomes one whose trips
/// overlap.
void expandTrip(Trip &trip);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_TRIP_H
