// What a request says of a module, in front of all stages.
#ifndef KILN_LIB_PIPELINE_PREPAREMODULE_H
#define KILN_LIB_PIPELINE_PREPAREMODULE_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/BuiltinOps.h"

namespace kiln {

/// The kernel that the request names, or the only one there is; all others are dropped.
llvm::FailureOr<tile::KernelOp> selectKernel(mlir::ModuleOp module, llvm::StringRef name);

void allowFastMath(mlir::ModuleOp module);

} // namespace kiln

#endif // KILN_LIB_PIPELINE_PREPAREMODULE_H
