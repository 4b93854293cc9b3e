// Philox 4x32-10 as arithmetic on tensors. Salmon et al., "Parallel random numbers: as easy as
// 1, 2, 3", SC 2011.
#ifndef KILN_DIALECT_TILE_TRANSFORMS_PHILOX_H
#define KILN_DIALECT_TILE_TRANSFORMS_PHILOX_H

#include "mlir/IR/Builders.h"

namespace kiln::tile {

/// The four words that `tile.philox` makes of each counter. Seed and stream are scalars, or tensors
/// of as many elements as there are counters.
llvm::SmallVector<mlir::Value> expandPhilox(mlir::OpBuilder &builder, mlir::Location loc,
                                            mlir::Value seed, mlir::Value stream,
                                            mlir::Value counter);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_TRANSFORMS_PHILOX_H
