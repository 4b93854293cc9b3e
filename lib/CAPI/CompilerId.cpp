// What makes this library generate the code it does, as one hash.
#include "Objects.h"
#include "kiln-c/Version.h"
#include "llvm/Config/llvm-config.h"
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

using namespace kiln;
using namespace kiln::capi;
using namespace llvm;

/// The note by which linkers tell one build of a module from another.
static StringRef buildId(const dl_phdr_info &module) {
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = module.dlpi_phdr[i];
    if (segment.p_type != PT_NOTE)
      continue;
    const char *at = reinterpret_cast<const char *>(module.dlpi_addr + segment.p_vaddr);
    const char *end = at + segment.p_memsz;
    while (end - at >= ptrdiff_t(sizeof(ElfW(Nhdr)))) {
      const auto *note = reinterpret_cast<const ElfW(Nhdr) *>(at);
      const char *name = at + sizeof(*note);
      const char *bytes = name + (note->n_namesz + 3) / 4 * 4;
      if (note->n_type == NT_GNU_BUILD_ID &&
          StringRef(name, note->n_namesz) == StringRef("GNU\0", 4))
        return StringRef(bytes, note->n_descsz);
      at = bytes + (note->n_descsz + 3) / 4 * 4;
    }
  }
  return "";
}

static bool contains(const dl_phdr_info &module, const void *address) {
  uint64_t wanted = reinterpret_cast<uint64_t>(address);
  for (int i = 0; i < module.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = module.dlpi_phdr[i];
    uint64_t start = module.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && wanted >= start && wanted < start + segment.p_memsz)
      return true;
  }
  return false;
}

/// Adds the module if it is this library, or a shared library of LLVM's or MLIR's.
static int visit(dl_phdr_info *module, size_t, void *out) {
  StringRef name = module->dlpi_name ? module->dlpi_name : "";
  // By a function that no other copy of this library can stand in for.
  bool isOurs = contains(*module, reinterpret_cast<const void *>(&visit));
  if (!isOurs && !name.contains("libLLVM") && !name.contains("libMLIR"))
    return 0;
  StringRef id = buildId(*module);
  std::string line = id.empty() ? "no build id" : toHex(id);
  struct stat status;
  if (id.empty() && ::stat(name.empty() ? "/proc/self/exe" : name.str().c_str(), &status) == 0)
    line += " " + std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) +
            "." + std::to_string(status.st_mtim.tv_nsec);
  static_cast<std::vector<std::string> *>(out)->push_back(line);
  return 0;
}

KilnString kilnCompilerId() {
  static const std::string id = [] {
    std::string text = "kiln " KILN_VERSION_STRING "\nllvm " LLVM_VERSION_STRING
                       "\ntargets " KILN_TARGET_LIST "\n";
    // Sorted, because the order in which modules were loaded says nothing.
    std::vector<std::string> modules;
    ::dl_iterate_phdr(visit, &modules);
    llvm::sort(modules);
    return Key::of(text + join(modules, "\n")).hex();
  }();
  return string(id);
}
