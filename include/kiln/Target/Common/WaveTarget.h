// What a target's waves have to copy into shared memory by themselves and to wait for one another.
#ifndef KILN_TARGET_COMMON_WAVETARGET_H
#define KILN_TARGET_COMMON_WAVETARGET_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"

#include "kiln/Target/Common/WaveTarget.h.inc"

#endif // KILN_TARGET_COMMON_WAVETARGET_H
