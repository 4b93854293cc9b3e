// A check that the PTX of kernels has what the compiler declares of their protocol, and nothing of
// the kind beside:
//
//  - roles are all of the block's warps (`.reqntid`), in their order;
//  - each barrier in shared memory (`mbarrier.init`), by its byte and the arrivals that it awaits;
//    the roles that arrive there, and those that wait, at each slot;
//  - rings: copies by an engine or by lanes fill them and no other place, and whoever reads them
//    reads each slot, as the first one;
//  - each numbered barrier (`bar.sync`), by its number and its warps, and the copies that pass it
//    alone, which lag;
//  - what number of registers each role sets (`setmaxnreg`);
//  - fences, of each kind as many as are declared.
//
// Who comes to an instruction, and which byte it is of, follows from the numbers of a role's
// threads (Text/Paths.h). A place of which nothing is known may be any: it accuses nobody, and what
// it may be is not missed.
//
// Who waits for whom at them the check of the schedule proves (tile-check-protocol).
#ifndef KILN_TARGET_NVPTX_DECLARED_H
#define KILN_TARGET_NVPTX_DECLARED_H

#include "kiln/Support/Protocol.h"
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

/// What is not as it is declared beside the code. It is an error if that cannot be read.
llvm::Expected<std::vector<TextProblem>> checkText(llvm::StringRef text);

/// The same of other declarations.
std::vector<TextProblem> checkText(llvm::StringRef text, std::vector<Protocol> protocols);

} // namespace kiln::nvptx

#endif // KILN_TARGET_NVPTX_DECLARED_H
