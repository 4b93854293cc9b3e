# Finds Debian's LLVM/MLIR 22 and hides what its exported targets get wrong.
find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
find_package(LLD REQUIRED CONFIG HINTS ${LLVM_DIR}/../lld)
list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

# The exported static libraries name LLVM's and MLIR's shared libraries among their dependencies,
# so a program that links one statically would hold LLVM twice, and name shared libraries of the
# system that the packed library has inside or needs not. kiln_link_llvm adds what is meant.
set(_kiln_unmeant LLVM MLIR Polly PollyISL ZLIB::ZLIB zstd::libzstd_shared zstd::libzstd_static
  LibXml2::LibXml2 CURL::libcurl LibEdit::LibEdit FFI::ffi)
get_property(_kiln_imported DIRECTORY PROPERTY IMPORTED_TARGETS)
foreach(_target ${_kiln_imported})
  if(_target MATCHES "^(MLIR|mlir|LLVM|lld)")
    get_target_property(_links ${_target} INTERFACE_LINK_LIBRARIES)
    if(_links)
      list(REMOVE_ITEM _links ${_kiln_unmeant})
      list(FILTER _links EXCLUDE REGEX "libz3")
      set_target_properties(${_target} PROPERTIES INTERFACE_LINK_LIBRARIES "${_links}")
    endif()
  endif()
endforeach()

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
