// Loads of which nothing but boxes are used.
#ifndef KILN_LIB_SCHEDULE_BOXLOADS_H
#define KILN_LIB_SCHEDULE_BOXLOADS_H

#include "Decisions.h"

namespace kiln {

/// The slices that use a load, those of one box together, boxes in the order of their first uses.
/// If there are other users, or a box cannot be loaded where it is used, none, and what was
/// expected.
using BoxUses = llvm::SmallVector<llvm::SmallVector<tile::SliceOp>>;
BoxUses findBoxUses(tile::LoadOp load, std::string &expected);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_BOXLOADS_H
