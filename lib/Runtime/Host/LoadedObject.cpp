// One object through JITLink, without a session.
#include "kiln/Runtime/Host/LoadedObject.h"
#include "Builtins.h"
#include "kiln/Runtime/Error.h"
#include "llvm/ExecutionEngine/JITLink/JITLink.h"
#include "llvm/ExecutionEngine/JITLink/JITLinkMemoryManager.h"
#include "llvm/Support/Process.h"
#include <dlfcn.h>

using namespace kiln;
using namespace llvm;

struct LoadedObject::Memory {
  jitlink::JITLinkMemoryManager::FinalizedAlloc allocation;
};

/// One for the process: it holds no state of its own.
static jitlink::InProcessMemoryManager &memoryManager() {
  static auto *manager = new jitlink::InProcessMemoryManager(sys::Process::getPageSizeEstimate());
  return *manager;
}

void *LoadedObject::findInProcess(StringRef name) {
  // libm by its own handle: a process whose main program does without it hides it from dlsym.
  static void *math = ::dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
  std::string text = name.str();
  if (void *address = findBuiltin(name))
    return address;
  if (math)
    if (void *address = ::dlsym(math, text.c_str()))
      return address;
  return ::dlsym(RTLD_DEFAULT, text.c_str());
}

namespace {
/// What JITLink asks of its client. It is called back before link() returns.
class Context : public jitlink::JITLinkContext {
public:
  Context(const StringMap<void *> &given, StringMap<uint64_t> &symbols,
          LoadedObject::Memory &memory, std::string &failure)
      : JITLinkContext(nullptr), given(given), symbols(symbols), memory(memory), failure(failure) {}

  jitlink::JITLinkMemoryManager &getMemoryManager() override { return memoryManager(); }

  /// Code and constants lie in one piece of memory with one protection: a mapping of its own for
  /// the constants would cost each kernel a page and the process one of its 65,530 mappings.
  Error modifyPassConfig(jitlink::LinkGraph &, jitlink::PassConfiguration &passes) override {
    passes.PostPrunePasses.push_back([](jitlink::LinkGraph &graph) {
      for (jitlink::Section &section : graph.sections())
        if (section.getMemProt() == orc::MemProt::Read)
          section.setMemProt(orc::MemProt::Read | orc::MemProt::Exec);
      return Error::success();
    });
    return Error::success();
  }

  void notifyFailed(Error error) override { failure = toString(std::move(error)); }

  void lookup(const LookupMap &wanted,
              std::unique_ptr<jitlink::JITLinkAsyncLookupContinuation> continuation) override {
    jitlink::AsyncLookupResult found;
    std::string missing;
    for (auto &[name, flags] : wanted) {
      void *address = given.lookup(*name);
      if (!address)
        address = LoadedObject::findInProcess(*name);
      if (!address && flags == jitlink::SymbolLookupFlags::RequiredSymbol)
        missing += (missing.empty() ? "'" : ", '") + (*name).str() + "'";
      found[name] = {orc::ExecutorAddr::fromPtr(address), JITSymbolFlags::Exported};
    }
    if (missing.empty())
      continuation->run(std::move(found));
    else
      continuation->run(
          makeError(KILN_ERROR_UNSUPPORTED,
                    "it needs functions that this process does not have: " + missing));
  }

  Error notifyResolved(jitlink::LinkGraph &graph) override {
    for (jitlink::Symbol *symbol : graph.defined_symbols())
      if (symbol->hasName() && symbol->getScope() != jitlink::Scope::Local)
        symbols[*symbol->getName()] = symbol->getAddress().getValue();
    return Error::success();
  }

  void notifyFinalized(jitlink::JITLinkMemoryManager::FinalizedAlloc allocation) override {
    memory.allocation = std::move(allocation);
  }

private:
  const StringMap<void *> &given;
  StringMap<uint64_t> &symbols;
  LoadedObject::Memory &memory;
  std::string &failure;
};
} // namespace

LoadedObject::LoadedObject() : memory(std::make_unique<Memory>()) {}

LoadedObject::~LoadedObject() {
  if (memory->allocation)
    consumeError(memoryManager().deallocate(std::move(memory->allocation)));
}

Expected<std::unique_ptr<LoadedObject>> LoadedObject::load(StringRef object, StringRef name,
                                                           const StringMap<void *> &given) {
  auto pool = std::make_shared<orc::SymbolStringPool>();
  std::unique_ptr<LoadedObject> loaded(new LoadedObject);
  std::string failure;
  {
    // The ELF reader wants its tables aligned, which a section of an artifact need not be.
    std::unique_ptr<MemoryBuffer> aligned = MemoryBuffer::getMemBufferCopy(object, name);
    auto graph = jitlink::createLinkGraphFromObject(*aligned, pool);
    if (!graph)
      return makeError(KILN_ERROR_CORRUPT, "cannot load the host code of '" + name +
                                               "': " + toString(graph.takeError()));
    jitlink::link(std::move(*graph),
                  std::make_unique<Context>(given, loaded->symbols, *loaded->memory, failure));
  }
  if (!failure.empty())
    return makeError(KILN_ERROR_UNSUPPORTED,
                     "cannot load the host code of '" + name + "': " + failure);
  return std::move(loaded);
}
