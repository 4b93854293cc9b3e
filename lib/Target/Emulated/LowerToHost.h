// From the LLVM IR of one thread of a chip to that of a function of the host.
//
// The object that comes of it defines `kiln_emulated_kernel(const uint64_t *slots)`, which runs one
// thread to its end, and calls what lib/Runtime/Emulated defines:
//
//   int32_t kiln_emulated_register(int32_t which)     a thread's or block's number or count
//   void    kiln_emulated_barrier(int32_t site)       meets all threads of the block
//   void    kiln_emulated_instruction(const char *name, const void *operands, void *result,
//                                     int32_t site)   any other instruction of the chip
//   void    kiln_emulated_access(void *pointer, int64_t bytes, int32_t kind, const void *value,
//                                int32_t site)        before each access to memory
//   void    kiln_emulated_row(void *pointer, int64_t bytes, int32_t kind, int32_t rows,
//                             int32_t site)           before an access by which each of a warp's
//                                                     first lanes names a row for all
//   void    kiln_emulated_arrival(void *pointer, int32_t last)
//                                                     before an update of a word of shared memory
//                                                     that counts round
//   void    kiln_emulated_fence(int32_t kind, int32_t site)
//                                                     a fence that orders global memory
//   void    kiln_emulated_trip(int32_t site)          at the end of each trip of a loop
//
// A site is the number of the call in the program, whose place Sites.h's tables tell; the lanes of
// a warp must meet at one site. Operands and result are packed without gaps. The kinds of access
// are bits: 1 reads, 2 writes, 4 is atomic, 8 is in shared memory, 16 acquires, 32 releases, and
// times 64, for whom: 0 the device, 1 the cluster, 2 the block, 3 the thread. `value` is what a
// plain store writes, else null. Shared memory itself is what `kiln_emulated_shared` gives.
#ifndef KILN_LIB_TARGET_EMULATED_LOWERTOHOST_H
#define KILN_LIB_TARGET_EMULATED_LOWERTOHOST_H

#include "Sites.h"
#include "llvm/Support/Error.h"

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace kiln::emulated {

/// Rewrites in place, for the machine's data layout. The module holds one kernel, and its lines are
/// numbers of places.
llvm::Error lowerToHost(llvm::Module &module, llvm::TargetMachine &machine,
                        const SourcePlaces &places);

} // namespace kiln::emulated

#endif // KILN_LIB_TARGET_EMULATED_LOWERTOHOST_H
