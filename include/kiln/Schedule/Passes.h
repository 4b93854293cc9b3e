// The passes of the schedule stage.
#ifndef KILN_SCHEDULE_PASSES_H
#define KILN_SCHEDULE_PASSES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Schedule/Problem/Solver.h"
#include "kiln/Schedule/Proofs.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <functional>

namespace kiln {

/// What finds schedules; null for swing modulo scheduling.
using SharedSolver = std::shared_ptr<const schedule::Solver>;

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "kiln/Schedule/Passes.h.inc"

/// The same, of what `realise` can make of a copy of the module alone; it leaves undecided what
/// fails there. `plan` does so until shared memory is planned, `prove` goes on from there.
std::unique_ptr<mlir::Pass>
createDecideRoles(std::function<llvm::LogicalResult(mlir::ModuleOp)> plan,
                  std::function<llvm::LogicalResult(mlir::ModuleOp)> prove);
std::unique_ptr<mlir::Pass>
createCompletePins(std::function<llvm::LogicalResult(mlir::ModuleOp)> realise);
std::unique_ptr<mlir::Pass>
createDecideClusters(std::function<llvm::LogicalResult(mlir::ModuleOp)> realise);
std::unique_ptr<mlir::Pass>
createDecideBlockPrograms(std::function<llvm::LogicalResult(mlir::ModuleOp)> realise);

/// The same, by another solver.
std::unique_ptr<mlir::Pass> createDecideStages(SharedSolver solver);

/// The same, but for kernels that were proven before, to which it adds.
std::unique_ptr<mlir::Pass> createCheckProtocol(SharedProofs proofs);

/// Whether an engine reads what lies in the slots of a captured channel: by copies out of it, or by
/// dots in flight.
bool isReadByEngine(tile::WarpGroupsOp groups, unsigned capture);
/// Whether an engine fills the slots of a channel, by copies that count bytes.
bool isFilledByEngine(tile::WarpGroupsOp groups, unsigned capture);

} // namespace kiln

#endif // KILN_SCHEDULE_PASSES_H
