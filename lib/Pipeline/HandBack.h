// IR that stands behind a stage: printed with all that later stages need, and read again, perhaps
// with other decisions, to compile on from there.
//
// A printed module says which stage it ends in `tile.emitted`, its target in `tile.target`, and the
// description of the kernel, which later stages no longer hold, in `tile.metadata`. Where the
// kernel's grid has been lowered away, the module `kiln_host_grid` inside it holds that.
#ifndef KILN_LIB_PIPELINE_HANDBACK_H
#define KILN_LIB_PIPELINE_HANDBACK_H

#include "kiln/Target/Stage.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/JSON.h"
#include <string>

namespace kiln {

/// The module's text behind `stage`. `described` is what its kernel's artifact says by then;
/// `grid` a module of the grid, or null.
std::string printHandBack(mlir::ModuleOp module, Stage stage, const llvm::json::Object &described,
                          mlir::ModuleOp grid);

/// What stands beside the IR in a module that was handed back.
struct HandedBack {
  std::string kernel;
  int optLevel;
  bool fastMath, vendorMath;
  mlir::OwningOpRef<mlir::ModuleOp> grid; ///< null if the IR still has it, or there is none
};

/// Checks that a module is what `printHandBack` printed behind `stage`, but for decisions, and
/// takes the grid and the mark of the stage out of it. What is wrong is an error at the op.
mlir::FailureOr<HandedBack> readHandBack(mlir::ModuleOp module, Stage stage);

/// Takes what `printHandBack` adds out of a module that is compiled anew.
void dropHandBack(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_LIB_PIPELINE_HANDBACK_H
