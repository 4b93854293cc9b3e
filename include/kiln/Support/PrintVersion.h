// What the tools answer to --version.
#ifndef KILN_SUPPORT_PRINTVERSION_H
#define KILN_SUPPORT_PRINTVERSION_H

namespace kiln {

/// Makes --version print Kiln's version before LLVM's. To be called before options are parsed.
void printKilnVersion();

} // namespace kiln

#endif // KILN_SUPPORT_PRINTVERSION_H
