// Shared libraries through the dynamic loader: by path, or by name where it looks for libraries.
#include "ForeignFunctions.h"
#include "kiln/Runtime/Error.h"
#include "kiln/Runtime/Host/LoadedObject.h"
#include <dlfcn.h>

using namespace kiln;
using namespace llvm;

ForeignFunctions::~ForeignFunctions() {
  for (auto &library : libraries)
    ::dlclose(library.second);
}

Expected<ForeignFunctions> ForeignFunctions::find(const Artifact &artifact, StringRef kernel) {
  ForeignFunctions found;
  const json::Array *entries = artifact.metadata().getArray("foreign");
  if (!entries)
    return std::move(found);
  for (const json::Value &value : *entries) {
    const json::Object *entry = value.getAsObject();
    auto field = [&](StringRef key) {
      std::optional<StringRef> text = entry ? entry->getString(key) : std::nullopt;
      return text ? text->str() : std::string();
    };
    std::string name = field("name"), symbol = field("symbol"), library = field("library");
    std::string place = field("location");
    auto fail = [&](const Twine &message) {
      return makeError(KILN_ERROR_UNSUPPORTED,
                       "kernel '" + kernel + "': " + place + (place.empty() ? "" : ": ") + message);
    };
    void *address;
    if (library.empty()) {
      address = LoadedObject::findInProcess(symbol);
      if (!address)
        return fail("expected a function '" + symbol + "' in this process, got none of that name");
    } else {
      void *&handle = found.libraries[library];
      if (!handle)
        handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
      if (!handle) {
        const char *reason = ::dlerror();
        found.libraries.erase(library);
        return fail("cannot load library '" + library + "': " + (reason ? reason : "no reason"));
      }
      address = ::dlsym(handle, symbol.c_str());
      if (!address)
        return fail(Twine("expected a function '") + symbol + "' in library '" + library +
                    "', got none of that name");
    }
    found.addresses[name] = address;
  }
  return std::move(found);
}
