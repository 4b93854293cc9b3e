// The bits by which the code of an emulated chip tells its runtime of accesses and fences.
#ifndef KILN_LIB_TARGET_EMULATED_ORDERS_H
#define KILN_LIB_TARGET_EMULATED_ORDERS_H

#include "llvm/IR/Instructions.h"

namespace kiln::emulated {

/// As LowerToHost.h numbers them.
enum Kind { Read = 1, Write = 2, Atomic = 4, Shared = 8, Acquires = 16, Releases = 32, Scope = 64 };

/// The order and the scope of an atomic access or a fence.
int describeOrder(const llvm::Instruction &instruction);

/// Whether only the thread itself is meant.
inline bool isOfThread(int kind) { return kind / Scope == 3; }

} // namespace kiln::emulated

#endif // KILN_LIB_TARGET_EMULATED_ORDERS_H
