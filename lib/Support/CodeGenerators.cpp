// LLVM's list of code generators under a lock: a kernel's grid is compiled for the host while the
// kernel is for a device, and each adds what it needs.
#include "kiln/Support/CodeGenerators.h"
#include "llvm/MC/TargetRegistry.h"
#include <mutex>

static std::mutex &getLock() {
  static std::mutex lock;
  return lock;
}

bool kiln::registerCodeGenerators(llvm::function_ref<void()> add) {
  std::lock_guard<std::mutex> guard(getLock());
  add();
  return true;
}

const llvm::Target *kiln::findCodeGenerator(const llvm::Triple &triple, std::string &error) {
  std::lock_guard<std::mutex> guard(getLock());
  return llvm::TargetRegistry::lookupTarget(triple, error);
}
