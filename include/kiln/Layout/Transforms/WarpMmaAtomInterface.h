// The interface of matrix instructions, and its layouts.
#ifndef KILN_LAYOUT_TRANSFORMS_WARPMMAATOMINTERFACE_H
#define KILN_LAYOUT_TRANSFORMS_WARPMMAATOMINTERFACE_H

#include "kiln/Dialect/Tile/IR/TileAtomInterfaces.h"
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include <array>

#include "kiln/Layout/Transforms/WarpMmaAtomInterface.h.inc"

#endif // KILN_LAYOUT_TRANSFORMS_WARPMMAATOMINTERFACE_H
