// How long a kernel takes, in closed form: a function of its arguments' sizes.
#ifndef KILN_SCHEDULE_MODEL_H
#define KILN_SCHEDULE_MODEL_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/Support/JSON.h"

namespace kiln {

/// The members of a kernel's metadata that say how long it takes, behind the stage `tile`: "model",
/// as kilnModelCreate takes it, or "no_model" with why there is none and the line. `of_chip` there:
/// the chip's record lacks a number, so that no kernel has a model.
llvm::json::Object describeModel(tile::KernelOp kernel, TargetInterface target);

} // namespace kiln

#endif // KILN_SCHEDULE_MODEL_H
