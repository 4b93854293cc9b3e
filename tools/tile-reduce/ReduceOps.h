// The reduction that works inside kernels: one op at a time.
#ifndef KILN_TOOLS_TILE_REDUCE_REDUCEOPS_H
#define KILN_TOOLS_TILE_REDUCE_REDUCEOPS_H

namespace kiln {

/// Registers `reduce-ops`. Stock `reduction-tree` erases ranges of ops and so rarely gets
/// inside a block whose values are used; this one only tries what keeps the module valid: to
/// erase an op that nobody uses, whatever its effects, and to give an op's users its operand
/// of the same type.
void registerReduceOpsPass();

} // namespace kiln

#endif // KILN_TOOLS_TILE_REDUCE_REDUCEOPS_H
