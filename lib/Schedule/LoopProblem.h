// A loop as a problem for a solver, or to hold pins against: what its ops take of a core, and what
// goes from role to role.
#ifndef KILN_LIB_SCHEDULE_LOOPPROBLEM_H
#define KILN_LIB_SCHEDULE_LOOPPROBLEM_H

#include "OpCosts.h"
#include "Rings.h"
#include "Trip.h"
#include "kiln/Schedule/Problem/Solver.h"

namespace kiln {

/// Registers of a thread that hold no tile: addresses, counters and what is about to be stored.
inline constexpr int64_t kOtherRegisters = 24;

/// Whether a dot reads no operand from registers. These are read until the wait: in flight past its
/// trip, such a dot takes another set of them for each trip, which nobody decides unasked.
bool areReadFromBuffers(tile::DotOp dot);

/// The ops of a loop, each as its role runs it.
struct LoopProblem {
  schedule::Problem problem;
  /// Of each op of the problem: the one of the loop. Loads that are put together are the first of
  /// them.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Whether it only writes what that op makes to a slot, for other roles, or what it stores; or
  /// reads it from there.
  llvm::SmallVector<bool> handsOver;

  bool isDot(unsigned op) const { return !handsOver[op] && llvm::isa<tile::DotOp>(ops[op]); }
};

/// What a problem is asked for.
enum class ProblemUse {
  /// A schedule: with costs by the chip's figures, and without what is pinned but roles and depths.
  Solve,
  /// Whether the pins hold. Nothing costs anything, since a longer interval makes room for any
  /// latency, and of registers only those count that surely hold something.
  Check,
};

/// Nothing if a figure is missing, or an op is of several roles. What names no role and is made of
/// nothing that a role makes is of the role `rest`; without one, and if it is a number, each role
/// makes it for itself.
std::optional<LoopProblem> makeProblem(const Trip &trip, RingPlan &plan, ProblemUse use,
                                       const Chip &chip, llvm::StringRef rest = "");

/// The role that runs an op of a loop; none if each makes it for itself.
llvm::StringRef findLoopRole(mlir::Operation *op, llvm::StringRef rest);

/// Whether the pins of a loop hold.
struct PinsChecked {
  /// Not of a loop that is no problem, nor of pins that contradict one another, which
  /// CompleteStages refuses.
  bool isKnown = false;
  /// The first thing that does not, of an op of this problem.
  std::optional<schedule::Violation> wrong;
  LoopProblem made;
  /// Its ops, each with a stage and an order, if they are known.
  llvm::SmallVector<schedule::Op> placed;
};
PinsChecked checkPins(mlir::Operation *loop, RingPlan &plan, const Chip &chip);

/// A violation as an error of the op says it.
std::string describe(const schedule::Violation &why);
/// Adds the ops that set its limit, which are of this problem, each with its place in the source.
void noteOthers(mlir::InFlightDiagnostic &error, const schedule::Violation &why,
                const schedule::Problem &problem, llvm::ArrayRef<mlir::Operation *> ops);

/// Decides stages, orders and counts in flight of a loop with this body, whose engine loads have
/// their depths, such that products run beside what else the role does. Returns whether that gains
/// anything; if not, nothing is written. `usesOrders`: the solver's own orders are worth it.
bool overlapLoop(mlir::Block &body, RingPlan &plan, tile::RoleAttr role, const Chip &chip,
                 const schedule::Solver &solver, bool usesOrders);

/// Delays loads for other roles by as many stages as their rings have slots too few for the trips
/// in between, such that roles do not wait for one another: those of loads whose stage is `open`.
void delayLoads(tile::KernelOp kernel, const llvm::DenseSet<tile::LoadOp> &open, const Chip &chip);

/// Where orders of some of a role's ops in a loop are said, gives its others the places that are
/// left, as in the source.
void completeOrders(mlir::Block &body);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_LOOPPROBLEM_H
