# One way to declare each kind of thing this repository is made of.

# Every header TableGen writes hangs from this target, so that a library needs to
# know none of them by name.
add_custom_target(kiln-headers)

# kiln_tablegen(FILE.td OUT GENERATOR... [OUT GENERATOR...]): in include/, beside the .td file.
function(kiln_tablegen td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest out gen)
    separate_arguments(gen)
    mlir_tablegen(${out} ${gen})
  endwhile()
  get_filename_component(stem ${td} NAME_WE)
  file(RELATIVE_PATH room ${PROJECT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" "-" room "${room}")
  add_public_tablegen_target(${room}-${stem}-tablegen)
  add_dependencies(kiln-headers ${room}-${stem}-tablegen)
endfunction()

# kiln_add_library(NAME sources... [NO_PCH] [LINK libraries...]): one room of lib/.
# NO_PCH is for code that includes no MLIR header.
function(kiln_add_library name)
  cmake_parse_arguments(ARG "NO_PCH" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} kiln-headers)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  if(KILN_PCH AND NOT ARG_NO_PCH)
    target_precompile_headers(${name} REUSE_FROM kiln-pch)
  endif()
  set_property(GLOBAL APPEND PROPERTY KILN_LIBRARIES ${name})
endfunction()

# kiln_add_tool(NAME sources... [LINK libraries...]): one program of tools/.
function(kiln_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} kiln-headers)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  kiln_link_llvm(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_property(GLOBAL APPEND PROPERTY KILN_TOOLS ${name})
endfunction()

# kiln_add_unittest(NAME sources... [LINK libraries...]): a GoogleTest program that `ctest`
# and utils/test run.
function(kiln_add_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} kiln-headers)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest GTest::gtest_main)
  kiln_link_llvm(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unittests)
  add_test(NAME ${name} COMMAND ${name})
  add_dependencies(kiln-unittests ${name})
endfunction()

# Links a final program or shared library against LLVM and MLIR: their shared libraries
# for development, the static archives for the self-contained library (KILN_STATIC).
function(kiln_link_llvm name)
  if(KILN_STATIC)
    kiln_link_llvm_static(${name})
  else()
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  endif()
endfunction()
