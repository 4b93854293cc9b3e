// Views that end where something does that is smaller than a tile.
#ifndef KILN_LIB_SCHEDULE_NARROWVIEWS_H
#define KILN_LIB_SCHEDULE_NARROWVIEWS_H

#include "kiln/Dialect/Tile/IR/Tile.h"

namespace kiln {

/// A view of which a dimension ends there, an index of at least 0, if not before.
mlir::Value endViewAt(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value view, int64_t dim,
                      mlir::Value end);

/// A view of which a dimension ends so far behind an offset, if not before: what lies behind is out
/// of bounds, for each copy that takes a part of the tile there.
mlir::Value narrowView(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value view, int64_t dim,
                       mlir::Value offset, int64_t extent);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_NARROWVIEWS_H
