// The interface of instructions that move a warp's elements to or from shared memory.
#ifndef KILN_LAYOUT_TRANSFORMS_COPYATOMINTERFACE_H
#define KILN_LAYOUT_TRANSFORMS_COPYATOMINTERFACE_H

#include "kiln/Layout/Algebra/LinearLayout.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Value.h"

#include "kiln/Layout/Transforms/CopyAtomInterface.h.inc"

#endif // KILN_LAYOUT_TRANSFORMS_COPYATOMINTERFACE_H
