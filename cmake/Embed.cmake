# Writes OUTPUT, a C++ file that holds the bytes of INPUT as `llvm::StringRef kiln::NAME`. Run as a
# script: cmake -DNAME=… -DINPUT=… -DOUTPUT=… -P Embed.cmake
file(READ ${INPUT} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
file(WRITE ${OUTPUT} "// Written by cmake/Embed.cmake.
#include \"llvm/ADT/StringRef.h\"

namespace kiln {
extern const llvm::StringRef ${NAME};
static const unsigned char kBytes[] = {${bytes}};
const llvm::StringRef ${NAME}(reinterpret_cast<const char *>(kBytes), sizeof(kBytes));
} // namespace kiln
")
