// The interface of instructions that move a warp's elements to or from shared memory.
#ifndef KILN_LAYOUT_TRANSFORMS_WARPCOPYATOMINTERFACE_H
#define KILN_LAYOUT_TRANSFORMS_WARPCOPYATOMINTERFACE_H

#include "kiln/Dialect/Tile/IR/TileAtomInterfaces.h"
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

#include "kiln/Layout/Transforms/WarpCopyAtomInterface.h.inc"

#endif // KILN_LAYOUT_TRANSFORMS_WARPCOPYATOMINTERFACE_H
