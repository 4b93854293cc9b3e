// What the assembler cannot be given.
#ifndef KILN_LIB_TARGET_NVPTX_PACKEDADDS_H
#define KILN_LIB_TARGET_NVPTX_PACKEDADDS_H

#include <string>

namespace kiln::nvptx {

/// The PTX with each `add.s16x2` of the code generator as two adds of 16 bits.
std::string splitPackedAdds(const std::string &ptx);

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_PACKEDADDS_H
