// What a target's chips take of code that is not Kiln's, and where a vendor's library is found.
#ifndef KILN_TARGET_COMMON_FOREIGNTARGET_H
#define KILN_TARGET_COMMON_FOREIGNTARGET_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"
#include <string>
#include <vector>

namespace llvm {
class Module;
} // namespace llvm

namespace kiln {

/// Files of bitcode that a vendor's toolkit brings.
struct VendorLibrary {
  /// All that there are; none if the library was not found.
  std::vector<std::string> files;
  /// What was looked for, and where; for errors.
  std::string looked;
  /// Whether the user named the place, so that it is an error if nothing is there.
  bool isChosen = false;
};

/// Looks for files, the first of which must be there: in the folder that `variable` names (`none`:
/// nowhere), else in `inside` each root, a folder or (with a `$` in front) what a variable says.
VendorLibrary findVendorFiles(llvm::StringRef variable, llvm::ArrayRef<llvm::StringRef> roots,
                              llvm::StringRef inside, llvm::ArrayRef<llvm::StringRef> files);

/// What tells one such library from another: paths, sizes and times, since the first launch of each
/// process asks (an artifact that was made with one holds the hash of its contents). Part of each
/// kernel's key.
std::string identify(const VendorLibrary &library);

} // namespace kiln

#include "kiln/Target/Common/ForeignTarget.h.inc"

#endif // KILN_TARGET_COMMON_FOREIGNTARGET_H
