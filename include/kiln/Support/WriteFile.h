// Writing a file whole or not at all.
#ifndef KILN_SUPPORT_WRITEFILE_H
#define KILN_SUPPORT_WRITEFILE_H

#include "llvm/ADT/StringRef.h"
#include <system_error>

namespace kiln {

/// Writes `bytes` to the file at `path`, or to standard output if that is "-". A regular file is
/// written beside its place, flushed to the disk and then renamed, so that whoever looks finds
/// either what was there before or all of the new bytes; on an error nothing is left behind. What
/// is no regular file (a pipe, a device) is written to directly. For programs: a file over the
/// limit of its size becomes an error instead of the signal that ends the process.
std::error_code writeFile(llvm::StringRef path, llvm::StringRef bytes);

} // namespace kiln

#endif // KILN_SUPPORT_WRITEFILE_H
