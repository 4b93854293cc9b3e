// A check that the PTX of kernels has what the compiler declares of their protocol, and nothing of
// the kind beside:
//
//  - each barrier in shared memory (`mbarrier.init`), by its byte and the arrivals that it awaits;
//  - each numbered barrier (`bar.sync`), by its number and its warps;
//  - each number of registers that a role sets (`setmaxnreg`);
//  - fences, of each kind as many as are declared, or more.
//
// Who waits for whom at them the check of the schedule proves (tile-check-protocol).
#ifndef KILN_TARGET_NVPTX_DECLARED_H
#define KILN_TARGET_NVPTX_DECLARED_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace kiln::nvptx {

/// What stands in front of a kernel's protocol, in a line of its own.
inline constexpr llvm::StringLiteral kProtocolMark = "// kiln.protocol ";

/// Whether a text is PTX.
bool isText(llvm::StringRef text);

/// One thing that is wrong, at a line of the text.
struct TextProblem {
  unsigned line;
  std::string kernel, text;
};

/// It is an error if the declaration of a kernel is missing or cannot be read.
llvm::Expected<std::vector<TextProblem>> checkText(llvm::StringRef text);

} // namespace kiln::nvptx

#endif // KILN_TARGET_NVPTX_DECLARED_H
