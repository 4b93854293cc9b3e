// Accesses to global memory that ask something of caches.
#ifndef KILN_LIB_TARGET_AMDGPU_CACHEHINTS_H
#define KILN_LIB_TARGET_AMDGPU_CACHEHINTS_H

namespace llvm {
class Module;
}

namespace kiln::amdgcn {

/// Makes what goes past caches of the loads and stores whose hints say so; those through a buffer's
/// descriptor have bits of their own.
void expandCacheHints(llvm::Module &module);

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_CACHEHINTS_H
