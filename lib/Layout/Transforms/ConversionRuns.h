// What deciding how conversions are made and making them both ask: which share barriers, and where
// a deferred one is read.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_CONVERSIONRUNS_H
#define KILN_LIB_LAYOUT_TRANSFORMS_CONVERSIONRUNS_H

#include "kiln/Dialect/Tile/IR/Tile.h"

namespace kiln {

/// Whether a conversion is one of a role, which gets the tensor from another role as it wants it:
/// the schedule makes a ring of it.
bool isHandedOver(tile::ConvertLayoutOp op);

/// The conversions through memory that follow one another, by runs that take at most half of so
/// many bytes of shared memory. Each has `how`.
llvm::SmallVector<llvm::SmallVector<tile::ConvertLayoutOp>>
findConversionRuns(tile::KernelOp kernel, int64_t shared);

/// The product that alone uses a conversion, in a loop behind it, by way of `views`; null if there
/// is none.
tile::DotOp findDeferredUse(tile::ConvertLayoutOp op,
                            llvm::SmallVectorImpl<mlir::Operation *> &views);

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_CONVERSIONRUNS_H
