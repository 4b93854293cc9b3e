// Orders.h: what LLVM's orderings and scopes say of global memory.
#include "Orders.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/IR/LLVMContext.h"

using namespace llvm;

static AtomicOrdering orderingOf(const Instruction &instruction) {
  if (auto *load = dyn_cast<LoadInst>(&instruction))
    return load->getOrdering();
  if (auto *store = dyn_cast<StoreInst>(&instruction))
    return store->getOrdering();
  if (auto *update = dyn_cast<AtomicRMWInst>(&instruction))
    return update->getOrdering();
  if (auto *exchange = dyn_cast<AtomicCmpXchgInst>(&instruction))
    return exchange->getSuccessOrdering();
  return cast<FenceInst>(instruction).getOrdering();
}

int kiln::emulated::describeOrder(const Instruction &instruction) {
  AtomicOrdering order = orderingOf(instruction);
  std::optional<SyncScope::ID> scope = getAtomicSyncScopeID(&instruction);
  StringRef name =
      instruction.getContext().getSyncScopeName(scope.value_or(SyncScope::System)).value_or("");
  name.consume_back("-one-as");
  int kind = Scope * StringSwitch<int>(name)
                         .Cases({"singlethread", "wavefront"}, 3)
                         .Cases({"block", "workgroup"}, 2)
                         .Case("cluster", 1)
                         .Default(0);
  return kind | (isAcquireOrStronger(order) ? Acquires : 0) |
         (isReleaseOrStronger(order) ? Releases : 0);
}
