// Long blocks, cut for a code generator that is in a hurry.
#ifndef KILN_LIB_BINARY_SHORTENBLOCKS_H
#define KILN_LIB_BINARY_SHORTENBLOCKS_H

namespace llvm {
class Module;
}

namespace kiln {

/// Cuts each block of more than a few hundred instructions into several, which run one behind the
/// other. Without optimisation the code generator schedules what it cannot select instruction by
/// instruction, a block at a time, in a time that grows with the square of the block's length.
void shortenBlocks(llvm::Module &module);

} // namespace kiln

#endif // KILN_LIB_BINARY_SHORTENBLOCKS_H
