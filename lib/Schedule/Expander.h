// Writes the trips of a loop whose ops have stages: what ExpandTrips.cpp, which peels those that
// lack some ops, PredicateTrips.cpp, where these ask for their iterations, and UncountedTrips.cpp,
// where each trip says whether there is another, share.
#ifndef KILN_LIB_SCHEDULE_EXPANDER_H
#define KILN_LIB_SCHEDULE_EXPANDER_H

#include "Trip.h"
#include <functional>
#include <limits>

namespace kiln {

/// One place that trips are written to, and what is known there of each iteration. Iterations are
/// counted from the first one in front of the loop, from that of stage 0 in it, and from their
/// number behind it.
struct Frame {
  /// Whether it is the loop, which may be split where a condition changes.
  bool isLoop = false;
  /// How many iterations come before number 0, but for whole rounds.
  int64_t first = 0;
  /// The last iteration that may be there, and is if no trip asks.
  int64_t most = std::numeric_limits<int32_t>::max();
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> values;
  /// By index: the loop's value of an iteration if that is there, else of the last one that is.
  llvm::DenseMap<std::pair<unsigned, int64_t>, mlir::Value> latest;
  /// The induction variable of an iteration.
  std::function<mlir::Value(int64_t)> getIv;
  /// A value, or the loop's value of a number, that no trip of this frame has made.
  std::function<mlir::Value(mlir::Value, int64_t)> getOlder;
  std::function<mlir::Value(Frame &, unsigned, int64_t)> getCarried;
};

/// A value, or else the loop's value of a number, as it was so many trips before.
struct Carried {
  mlir::Value value;
  unsigned index;
  int64_t age;
};

/// A trip that is there if its oldest iteration is.
struct AskedTrip {
  mlir::scf::IfOp check;
  int64_t iteration;
};
/// Puts trips in those in front of them without which they are not there. Iterations are counted
/// from the same one.
void nestTrips(llvm::ArrayRef<AskedTrip> trips);

class Expander {
public:
  explicit Expander(Trip &trip)
      : trip(trip), loop(trip.getCounted()), body(trip.block), builder(trip.loop),
        loc(trip.loop->getLoc()) {}
  void run();

private:
  void findStages();
  int64_t getStage(mlir::Value value) const { return trip.stages.lookup(value.getDefiningOp()); }
  bool isMade(mlir::Value value) const {
    mlir::Operation *op = value.getDefiningOp();
    return op && op->getBlock() == &body && !trip.free.contains(op);
  }
  bool isNumber(mlir::Value value) { return loop && value == loop.getInductionVar(); }

  void demandAll();
  void demand(mlir::Value value, int64_t iteration);
  void demandCarried(unsigned index, int64_t iteration);
  void carry(mlir::Value value, unsigned index, int64_t age);
  mlir::Value findCarried(mlir::ValueRange values, mlir::Value value, unsigned index,
                          int64_t age) const;

  mlir::Value lookup(Frame &frame, mlir::Value value, int64_t iteration);
  mlir::Value lookupCarried(Frame &frame, unsigned index, int64_t iteration);
  /// Whether an iteration is there: null if it surely is.
  using Exists = llvm::function_ref<mlir::Value(int64_t)>;
  static mlir::Value surely(int64_t) { return {}; }
  void emit(Frame &frame, mlir::Operation *op, int64_t iteration, int64_t later, Exists exists);
  void emitWait(Frame &frame, mlir::Operation *wait, int64_t iteration, Exists exists);
  bool emitKnownSlot(Frame &frame, mlir::Operation *op, int64_t iteration);
  void release(Frame &frame, const HeldSlot &held, int64_t iteration, mlir::Value condition);
  void setAbsolute(Frame &frame);
  void setRelative(Frame &frame, mlir::Value first, mlir::ValueRange older);
  llvm::SmallVector<mlir::Value> getInitial(Frame &prologue);
  void writeWhole(Frame &frame, int64_t number);
  llvm::SmallVector<mlir::Value> getCarried(Frame &frame, mlir::ValueRange older, int64_t trips);
  /// A loop of so many trips, all of whose iterations are there: what its values are behind it.
  mlir::ValueRange makeLoop(mlir::ValueRange initial, mlir::Value begin, mlir::Value end,
                            mlir::Value step, int64_t trips);
  llvm::DenseMap<mlir::Operation *, int64_t> countLater(int64_t iterations, int64_t first,
                                                        int64_t last) const;

  /// A condition whose blocks are empty.
  mlir::scf::IfOp makeIf(mlir::Value condition, mlir::TypeRange types);

  void meetBefore(int64_t number);
  void lag();

  // Peeled.
  bool goesBack(const HeldSlot &held, int64_t iteration, int64_t end) const;
  void writeTrip(Frame &frame, int64_t number, int64_t iterations);
  llvm::SmallVector<mlir::Value> writeLoop(Frame &prologue);
  llvm::SmallVector<mlir::Value> writeRest(mlir::Value begin, mlir::Value rest, int64_t number,
                                           mlir::ValueRange values);
  llvm::SmallVector<mlir::Value> drain(Frame &frame);
  mlir::Value isHeldAt(const HeldSlot &held, mlir::Value iv, int64_t number);
  mlir::Value isBehind(mlir::Value iv, int64_t iterations);
  llvm::SmallVector<mlir::Value> overlap(Frame &prologue);
  llvm::SmallVector<mlir::Value> writeOut(int64_t iterations);
  llvm::SmallVector<mlir::Value> end(Frame &frame, int64_t iterations);
  llvm::SmallVector<mlir::Value> choose(int64_t iterations);
  llvm::SmallVector<mlir::Value> getResults(Frame &frame, int64_t iteration, mlir::Value any = {});
  llvm::SmallVector<mlir::Value> getUnchanged();

  /// Whether the loop hands on a sum of which a commit tells.
  bool handsOnCommitted() const;

  // Predicated.
  bool isPredicated() const { return trip.fillsRings && loop && !handsOnCommitted(); }
  llvm::SmallVector<mlir::Value> predicate();
  llvm::SmallVector<mlir::Value> writePredicated();
  llvm::SmallVector<mlir::Value> writePrologue(Frame &prologue, Exists exists);
  llvm::SmallVector<mlir::Value> drainPredicated(mlir::Value end, mlir::ValueRange values);
  /// A trip of iterations that may be there.
  void writeTrip(Frame &frame, int64_t number, Exists exists);
  /// The condition that they stand behind; null if there is none.
  mlir::scf::IfOp writeGroup(Frame &frame, llvm::ArrayRef<mlir::Operation *> group, int64_t trips,
                             Exists exists);
  void keepLatest(Frame &frame, unsigned index, int64_t iteration, Exists exists);
  void releaseBehind(Frame &frame, int64_t number, Exists exists);
  void releaseLast(Frame &frame, Exists exists);

  // Of trips that are not counted.
  mlir::Value goesOn(Frame &frame, int64_t iteration);
  llvm::SmallVector<mlir::Value> ask(Frame &frame, int64_t number);
  mlir::ValueRange makeUncounted(mlir::ValueRange initial);
  llvm::SmallVector<mlir::Value> writeRound(Frame &frame, mlir::ValueRange older, int64_t number);
  llvm::SmallVector<mlir::Value> overlapUncounted(Frame &prologue);
  llvm::SmallVector<mlir::Value> endUncounted(mlir::ValueRange values, int64_t trips);
  llvm::SmallVector<mlir::Value> makePoison(mlir::TypeRange types);

  bool isSurelyAtLeast(int64_t iterations);
  mlir::Value isAtLeast(int64_t iterations);
  mlir::Value number(int64_t value) {
    mlir::Type type = loop.getLowerBound().getType();
    return mlir::arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  }
  mlir::Value compare(mlir::Value x, mlir::Value y) {
    auto below =
        loop.getUnsignedCmp() ? mlir::arith::CmpIPredicate::ult : mlir::arith::CmpIPredicate::slt;
    return mlir::arith::CmpIOp::create(builder, loc, below, x, y);
  }
  /// The induction variable so many iterations later.
  mlir::Value shift(mlir::Value iv, int64_t iterations);
  const HeldDot *findHeldDot(unsigned index) const {
    const auto *at = llvm::find_if(trip.heldDots, [&](auto &dot) { return dot.index == index; });
    return at == trip.heldDots.end() ? nullptr : at;
  }

  /// Waits for the sum of a dot that the loop has in flight.
  mlir::Value waitFor(const HeldDot &held, mlir::OpBuilder &builder, mlir::Value pending);

  Trip &trip;
  /// Null if trips are not counted.
  mlir::scf::ForOp loop;
  mlir::Block &body;
  mlir::OpBuilder builder;
  mlir::Location loc;
  /// The last stage, or of a loop whose trips are not counted the last one at which slots go back.
  int64_t last = 0;
  /// The stage at which a value of the loop is made for the next iteration.
  llvm::SmallVector<int64_t> madeAt;
  llvm::SmallVector<unsigned> results;
  llvm::SmallVector<Carried> carried;
  /// The trips in front of a loop and behind it that ask, of each such place.
  llvm::SmallVector<llvm::SmallVector<AskedTrip>> asked;
};

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_EXPANDER_H
