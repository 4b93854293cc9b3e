# Links LLVM, MLIR and LLD into a program or a shared library, so that the result needs only libc
# and libm and runs where no LLVM is installed.
#
# All of LLVM's and MLIR's archives go on the link line and the linker takes the members that are
# referred to, so there is no list of components to keep. Two things would pull in what Kiln does
# not use, and are defined empty instead: LLD initialises every code generator that LLVM was built
# with, and LLVM's pass builder asks for Polly.

# The code generators that the packed library keeps.
set(_kiln_llvm_targets "")
if("NVPTX" IN_LIST KILN_TARGETS)
  list(APPEND _kiln_llvm_targets NVPTX)
endif()
if("AMDGPU" IN_LIST KILN_TARGETS)
  list(APPEND _kiln_llvm_targets AMDGPU)
endif()
# Processors, whichever the library runs on: artifacts are compiled ahead of time for others.
list(APPEND _kiln_llvm_targets AArch64 X86)

set(_source "// Written by cmake/KilnStatic.cmake: what the packed library leaves out of LLVM.
#include \"llvm/Plugins/PassPlugin.h\"
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, \"\", \"\", nullptr};
}
extern \"C\" {
")
foreach(_target ${LLVM_TARGETS_TO_BUILD})
  if(NOT _target IN_LIST _kiln_llvm_targets)
    foreach(_part TargetInfo Target TargetMC AsmPrinter AsmParser Disassembler)
      string(APPEND _source "void LLVMInitialize${_target}${_part}() {}\n")
    endforeach()
  endif()
endforeach()
string(APPEND _source "}\n")
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/KilnStaticStubs.cpp CONTENT "${_source}" @ONLY)
add_library(kiln-static-stubs OBJECT EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/KilnStaticStubs.cpp)
set_target_properties(kiln-static-stubs PROPERTIES CXX_VISIBILITY_PRESET hidden)

file(GLOB _kiln_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a ${LLVM_LIBRARY_DIR}/libLLVM*.a
  ${LLVM_LIBRARY_DIR}/liblldELF.a ${LLVM_LIBRARY_DIR}/liblldCommon.a)
find_library(KILN_ZLIB_ARCHIVE libz.a)
find_library(KILN_ZSTD_ARCHIVE libzstd.a)
set(KILN_STATIC_LIBRARIES ${_kiln_archives} ${KILN_ZLIB_ARCHIVE} ${KILN_ZSTD_ARCHIVE}
  CACHE INTERNAL "")

# kiln_link_llvm_static(NAME): see the head of this file.
function(kiln_link_llvm_static name)
  if(NOT KILN_ZLIB_ARCHIVE OR NOT KILN_ZSTD_ARCHIVE)
    message(FATAL_ERROR "expected libz.a and libzstd.a (zlib1g-dev, libzstd-dev), got none")
  endif()
  target_sources(${name} PRIVATE $<TARGET_OBJECTS:kiln-static-stubs>)
  target_link_libraries(${name} PRIVATE ${KILN_STATIC_LIBRARIES} ${CMAKE_DL_LIBS} pthread m)
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc
    -Wl,--exclude-libs,ALL -Wl,-z,defs -Wl,--strip-all)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    target_link_options(${name} PRIVATE -Wl,--icf=all -Wl,-O2)
  endif()
endfunction()
