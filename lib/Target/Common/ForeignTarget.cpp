// Where a vendor's library of device functions is.
#include "kiln/Target/Common/ForeignTarget.h"
#include "kiln/Support/FileHash.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <cstdlib>

using namespace mlir;
using namespace kiln;

#include "kiln/Target/Common/ForeignTarget.cpp.inc"

/// The files in a folder; the first must be there, others may be.
static std::vector<std::string> findIn(StringRef folder, ArrayRef<StringRef> files) {
  std::vector<std::string> found;
  for (StringRef file : files) {
    SmallString<128> path(folder);
    llvm::sys::path::append(path, file);
    if (llvm::sys::fs::is_regular_file(path))
      found.push_back(path.str().str());
    else if (found.empty())
      break;
  }
  return found;
}

VendorLibrary kiln::findVendorFiles(StringRef variable, ArrayRef<StringRef> roots, StringRef inside,
                                    ArrayRef<StringRef> files) {
  VendorLibrary library;
  const char *chosen = std::getenv(variable.str().c_str());
  if (chosen && *chosen) {
    library.looked = ("'" + files.front() + "' in $" + variable + ", '" + chosen + "'").str();
    if (StringRef(chosen) == "none")
      return library;
    library.isChosen = true;
    // The one file may be named itself.
    if (files.size() == 1 && llvm::sys::fs::is_regular_file(chosen))
      library.files = {chosen};
    else
      library.files = findIn(chosen, files);
    return library;
  }
  library.looked = ("'" + files.front() + "' in $" + variable + " (not set)").str();
  for (StringRef root : roots) {
    SmallString<128> folder(root);
    if (root.consume_front("$")) {
      const char *value = std::getenv(root.str().c_str());
      folder = value ? value : "";
      if (folder.empty()) {
        library.looked += (", $" + root + " (not set)").str();
        continue;
      }
    }
    llvm::sys::path::append(folder, inside);
    library.looked += (", '" + folder + "'").str();
    library.files = findIn(folder, files);
    if (!library.files.empty())
      break;
  }
  return library;
}

std::string kiln::identify(const VendorLibrary &library) {
  if (library.files.empty())
    return library.isChosen ? library.looked : "";
  std::string text;
  for (const std::string &file : library.files)
    text += file + " " + stampOfFile(file).value_or("unreadable") + "\n";
  return text;
}
