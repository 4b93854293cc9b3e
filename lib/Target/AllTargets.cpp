// Calls each target of the build's list by name; the list is the build's, not this file's.
#include "kiln/Target/AllTargets.h"
#include "kiln/Target/Common/Passes.h"
#include "kiln/Target/Registry.h"
#include <mutex>

namespace kiln {

#define KILN_TARGET(Name) void register##Name##Target();
#include "kiln/Target/Targets.def"
#undef KILN_TARGET

void registerAllTargets() {
  static std::once_flag once;
  std::call_once(once, [] {
#define KILN_TARGET(Name) register##Name##Target();
#include "kiln/Target/Targets.def"
#undef KILN_TARGET
  });
}

void registerTargetDialects(mlir::DialectRegistry &registry) {
  registerAllTargets();
  for (const TargetEntry &entry : getTargets())
    entry.registerDialects(registry);
}

void registerTargetPasses() {
  registerAllTargets();
  registerTargetCommonPasses();
  for (const TargetEntry &entry : getTargets())
    entry.registerPasses();
}

} // namespace kiln
