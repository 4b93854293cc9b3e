// The stage list: which passes take a module from source to the LLVM dialect.
#ifndef KILN_PIPELINE_PIPELINE_H
#define KILN_PIPELINE_PIPELINE_H

#include "kiln/Schedule/Model.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Schedule/Proofs.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Pass/PassManager.h"

namespace kiln {

/// Adds the passes of one stage, from `tile` to `llvm`, for a target. The tile stage is the same
/// for every target; the rest are the target's own. `exact`: what is decided is final, and passes
/// that would decide more about the schedule are left out. What is tried out in one stage and
/// proven needs no second proof in another that is given the same `proofs`. Schedules are found by
/// the usual solver, or by another one.
void addStage(mlir::OpPassManager &pm, TargetInterface target, Stage stage,
              const SharedProofs &proofs, bool exact = false, const SharedSolver &solver = nullptr);
/// Adds the checks of what the last passes of a stage have left, for IR that was handed back: an
/// edit may have broken it.
void addChecks(mlir::OpPassManager &pm, TargetInterface target, Stage stage);

/// What a module is compiled for, which becomes its `tile.target`: what is asked for, else what the
/// module says, else the CPU. An error if the module says something else than is asked for.
mlir::FailureOr<TargetInterface> chooseTarget(mlir::ModuleOp module, TargetInterface asked);

/// The members of the metadata of a kernel behind the stage `tile` that say how long it takes
/// (describeModel).
llvm::json::Object modelKernel(mlir::ModuleOp module, llvm::StringRef name, TargetInterface target);

/// Registers `--tile-pipeline="target=cpu stop-after=layout"`: exactly what ships.
void registerTilePipeline();

/// Registers `--tile-report-support="target=cpu"`: what the target makes of each op.
void registerReportSupport();

} // namespace kiln

#endif // KILN_PIPELINE_PIPELINE_H
