// Contexts.h: a few idle contexts, each retired after so many compiles.
#include "Contexts.h"
#include "kiln/Pipeline/Registration.h"
#include <mutex>
#include <vector>

using namespace mlir;

namespace kiln {

/// What a compile makes unique, attributes and places in the source, is some hundred kilobytes.
static constexpr int kCompilesOfAContext = 32;
/// One of a kernel and one of its grid, of each of two threads that compile.
static constexpr size_t kIdleContexts = 4;

namespace {
struct IdleContexts {
  std::mutex mutex;
  std::vector<std::pair<std::unique_ptr<MLIRContext>, int>> contexts;
};
} // namespace

/// Never destroyed, as a thread may still compile while the process ends.
static IdleContexts &getIdleContexts() {
  static auto *idle = new IdleContexts;
  return *idle;
}

const DialectRegistry &getAllDialects() {
  static const DialectRegistry *registry = [] {
    auto *result = new DialectRegistry;
    registerAllDialects(*result);
    return result;
  }();
  return *registry;
}

LentContext::LentContext() {
  IdleContexts &idle = getIdleContexts();
  {
    std::lock_guard<std::mutex> lock(idle.mutex);
    if (!idle.contexts.empty()) {
      std::tie(context, compiles) = std::move(idle.contexts.back());
      idle.contexts.pop_back();
      return;
    }
  }
  context = std::make_unique<MLIRContext>(getAllDialects(), MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false); // the place is enough for a user
}

LentContext::~LentContext() {
  if (isRetired || ++compiles >= kCompilesOfAContext)
    return;
  IdleContexts &idle = getIdleContexts();
  std::lock_guard<std::mutex> lock(idle.mutex);
  if (idle.contexts.size() < kIdleContexts)
    idle.contexts.emplace_back(std::move(context), compiles);
}

} // namespace kiln
