# Finds Debian's LLVM/MLIR 22 and hides what its exported targets get wrong.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
find_package(LLD REQUIRED CONFIG HINTS ${LLVM_DIR}/../lld)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)


separate_arguments(_kiln_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
add_definitions(${_kiln_llvm_definitions})
add_compile_options(-fno-exceptions -ffunction-sections -fdata-sections
  -Wall -Wextra -Wno-unused-parameter)
if(KILN_WERROR)
  add_compile_options(-Werror)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Xclang -fno-pch-timestamp)
  add_link_options(-fuse-ld=lld)
endif()
add_link_options(-Wl,--gc-sections)
