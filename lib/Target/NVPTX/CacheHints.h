// Accesses to global memory that ask something of caches.
#ifndef KILN_LIB_TARGET_NVPTX_CACHEHINTS_H
#define KILN_LIB_TARGET_NVPTX_CACHEHINTS_H

namespace llvm {
class Module;
}

namespace kiln::nvptx {

/// Makes PTX of the loads and stores that came with hints about caches.
void expandCacheHints(llvm::Module &module);

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_CACHEHINTS_H
