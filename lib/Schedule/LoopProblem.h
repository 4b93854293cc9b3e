// A role's loop as a problem for a solver: what its ops take of a core, by the chip's figures.
#ifndef KILN_LIB_SCHEDULE_LOOPPROBLEM_H
#define KILN_LIB_SCHEDULE_LOOPPROBLEM_H

#include "Trip.h"
#include "kiln/Schedule/Problem/Problem.h"
#include "kiln/Target/Chip.h"

namespace kiln {

/// What an op keeps busy, for how many cycles, and the cycles from its start to its result.
struct OpCost {
  enum Unit { None, Matrix, Lanes };
  Unit unit = None;
  int64_t cycles = 0;
  int64_t latency = 0;
};

/// The cost of an op whose tiles the warps of a core share out; nothing if the chip's record lacks
/// a figure for it.
std::optional<OpCost> getCost(mlir::Operation *op, const Figures &figures);

/// The roles of a loop's problem.
inline constexpr unsigned kMultiplies = 0, kLoads = 1;

/// Whether an op only names elements otherwise.
bool isView(mlir::Operation *op);

/// The ops of a loop as those of a role that multiplies, and loads by engines as those of another.
/// `source` is those of the trip that are no views, in the order of the source. Nothing if a figure
/// is missing.
std::optional<schedule::Problem> makeProblem(const Trip &trip,
                                             llvm::ArrayRef<mlir::Operation *> source,
                                             tile::RoleAttr role, const Chip &chip);

/// Decides stages, orders and counts in flight of a loop whose engine loads have their depths, such
/// that products run beside what else the role does. Returns whether that gains anything; if not,
/// nothing is written.
bool overlapLoop(mlir::scf::ForOp loop, tile::RoleAttr role, const Chip &chip);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_LOOPPROBLEM_H
