// What layouts are put together of.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_LAYOUTBASES_H
#define KILN_LIB_LAYOUT_TRANSFORMS_LAYOUTBASES_H

#include "kiln/Layout/Algebra/LinearLayout.h"

namespace kiln {

bool isZero(const LinearLayout::Basis &basis);

/// The layout of a tensor of a shape that these bases say; an empty one if they say none.
LinearLayout makeLayout(llvm::ArrayRef<LinearLayout::InDim> ins, llvm::ArrayRef<int64_t> shape);

/// The layout of a tensor of which each copy has its share along a dimension, or all of it (-1),
/// from that of one copy.
LinearLayout shareOut(const LinearLayout &own, int dim, unsigned copies);

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_LAYOUTBASES_H
