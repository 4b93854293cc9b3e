// The passes of the schedule stage.
#ifndef KILN_SCHEDULE_PASSES_H
#define KILN_SCHEDULE_PASSES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace kiln {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "kiln/Schedule/Passes.h.inc"

} // namespace kiln

#endif // KILN_SCHEDULE_PASSES_H
