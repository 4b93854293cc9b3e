// The passes that have one program run several of the source's in step.
#ifndef KILN_SCHEDULE_BATCH_PASSES_H
#define KILN_SCHEDULE_BATCH_PASSES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "kiln/Schedule/Batch/Passes.h.inc"

} // namespace kiln

#endif // KILN_SCHEDULE_BATCH_PASSES_H
