// Finds Z3.
#include "SmtLibrary.h"
#include <cstdlib>
#include <dlfcn.h>

using namespace kiln::schedule;

namespace {
struct Opened {
  SmtLibrary library;
  std::string why;
};
} // namespace

static void *openLibrary(std::string &why) {
  const char *names[] = {"libz3.so.4", "libz3.so"};
  const char *chosen = std::getenv("KILN_Z3");
  if (chosen && *chosen)
    names[0] = names[1] = chosen;
  for (const char *name : names)
    if (void *handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL))
      return handle;
  why = "expected Z3 for the exact solver, got no '" + std::string(names[0]) +
        "': install the package libz3-4, or set KILN_Z3 to the library";
  return nullptr;
}

static Opened open() {
  Opened opened;
  void *handle = openLibrary(opened.why);
  if (!handle)
    return opened;
  auto find = [&](auto &function, const char *name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(handle, name));
    if (!function && opened.why.empty())
      opened.why = "expected Z3 4.8 or later for the exact solver, got one without '" +
                   std::string(name) + "'";
  };
#define KILN_SMT_FIND(name) find(opened.library.name, "Z3_" #name);
  KILN_SMT_FUNCTIONS(KILN_SMT_FIND)
#undef KILN_SMT_FIND
  return opened;
}

const SmtLibrary *SmtLibrary::get(std::string &why) {
  static const Opened opened = open();
  why = opened.why;
  return why.empty() ? &opened.library : nullptr;
}
