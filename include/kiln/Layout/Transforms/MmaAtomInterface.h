// The interface of matrix instructions, and its layouts.
#ifndef KILN_LAYOUT_TRANSFORMS_MMAATOMINTERFACE_H
#define KILN_LAYOUT_TRANSFORMS_MMAATOMINTERFACE_H

#include "kiln/Layout/Algebra/LinearLayout.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"
#include <array>

#include "kiln/Layout/Transforms/MmaAtomInterface.h.inc"

#endif // KILN_LAYOUT_TRANSFORMS_MMAATOMINTERFACE_H
