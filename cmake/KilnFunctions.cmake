# One way to declare each kind of thing this repository is made of.
#
# The shared library, and a tool that asks for it, have a packed twin, `NAME-packed`, that needs no
# LLVM on the machine (cmake/KilnStatic.cmake), under <build>/packed. `kiln-package` builds all
# twins; utils/pack ships them.

# Every header TableGen writes hangs from this target, so that a library needs to
# know none of them by name.
add_custom_target(kiln-headers)
add_custom_target(kiln-package)

# kiln_tablegen(FILE.td OUT GENERATOR... [OUT GENERATOR...]): in include/, beside the .td file.
# What declares a dialect, passes or chips also makes a page of the reference, for `kiln-docs`.
# Chips are kiln-tblgen's (tools/kiln-tblgen), all else is upstream's.
function(kiln_tablegen td)
  set(LLVM_TARGET_DEFINITIONS ${td})
  set(rest ${ARGN})
  while(rest)
    list(POP_FRONT rest out gen)
    separate_arguments(gen)
    if(gen MATCHES "^-gen-chip")
      tablegen(KILN ${out} ${gen})
    else()
      mlir_tablegen(${out} ${gen})
    endif()
  endwhile()
  get_filename_component(stem ${td} NAME_WE)
  file(RELATIVE_PATH room ${PROJECT_SOURCE_DIR}/include ${CMAKE_CURRENT_SOURCE_DIR})
  string(REPLACE "/" "-" room "${room}")
  add_public_tablegen_target(${room}-${stem}-tablegen)
  add_dependencies(kiln-headers ${room}-${stem}-tablegen)
  foreach(gen ${ARGN})
    if(gen MATCHES "^-gen-dialect-decls -dialect=(.*)$")
      kiln_reference(dialect-${CMAKE_MATCH_1}.md -gen-dialect-doc -dialect=${CMAKE_MATCH_1})
    elseif(gen MATCHES "^-gen-pass-decls -name (.*)$")
      kiln_reference(passes-${CMAKE_MATCH_1}.md -gen-pass-doc)
    elseif(gen STREQUAL "-gen-chip-records")
      get_filename_component(target ${CMAKE_CURRENT_SOURCE_DIR} NAME)
      kiln_reference(chips-${target}.md -gen-chip-docs)
    endif()
  endforeach()
endfunction()

# One page of the reference, made of LLVM_TARGET_DEFINITIONS.
function(kiln_reference page)
  set(project MLIR)
  if("${ARGN}" MATCHES "^-gen-chip")
    set(project KILN)
  endif()
  tablegen(${project} ${page} ${ARGN})
  string(TOLOWER ${page} name)
  set(copy ${PROJECT_BINARY_DIR}/docs/reference/${name})
  add_custom_command(OUTPUT ${copy}
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${CMAKE_CURRENT_BINARY_DIR}/${page} ${copy}
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${page})
  add_custom_target(kiln-reference-${page} DEPENDS ${copy})
  set_property(GLOBAL APPEND PROPERTY KILN_REFERENCE kiln-reference-${page})
endfunction()

# kiln_precompile_headers(NAME header [LINK libraries...]): a target whose precompiled header others
# share.
function(kiln_precompile_headers name header)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} OBJECT ${PROJECT_SOURCE_DIR}/lib/PCH/PCH.cpp)
  add_dependencies(${name} kiln-headers)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  if(KILN_PCH)
    target_precompile_headers(${name} PRIVATE ${header})
  endif()
endfunction()

# kiln_add_library(NAME sources... [NO_MLIR] [LINK libraries...]): one room of lib/.
# NO_MLIR is for code that includes no MLIR header.
function(kiln_add_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} kiln-headers)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  target_include_directories(${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(KILN_PCH AND ARG_NO_MLIR)
    target_precompile_headers(${name} REUSE_FROM kiln-llvm-pch)
  elseif(KILN_PCH)
    target_precompile_headers(${name} REUSE_FROM kiln-pch)
  endif()
  set_property(GLOBAL APPEND PROPERTY KILN_LIBRARIES ${name})
endfunction()

# Compiles once what a final program or library and its packed twin both link.
function(_kiln_objects name no_mlir)
  add_library(${name}-objects OBJECT ${ARGN})
  add_dependencies(${name}-objects kiln-headers)
  if(KILN_PCH AND NOT no_mlir)
    target_precompile_headers(${name}-objects REUSE_FROM kiln-pch)
  endif()
endfunction()

# kiln_add_shared_library(NAME sources... [OUTPUT stem] [NO_MLIR] [LINK libraries...]): a library
# that exports only what exports.map names, with its packed twin.
function(kiln_add_shared_library name)
  cmake_parse_arguments(ARG "NO_MLIR" "OUTPUT" "LINK" ${ARGN})
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT ${name})
  endif()
  _kiln_objects(${name} ${ARG_NO_MLIR} ${ARG_UNPARSED_ARGUMENTS})
  add_library(${name} SHARED $<TARGET_OBJECTS:${name}-objects>)
  add_library(${name}-packed SHARED EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}-objects>)
  kiln_link_llvm(${name})
  kiln_link_llvm_static(${name}-packed)
  foreach(target ${name} ${name}-packed)
    target_link_libraries(${target} PRIVATE ${ARG_LINK})
    target_link_options(${target} PRIVATE -Wl,-z,defs
      -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
    set_property(TARGET ${target} APPEND PROPERTY
      LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
    target_include_directories(${target} INTERFACE
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    # As long as the major version is 0, a minor one may break what was built against another.
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${ARG_OUTPUT} LINKER_LANGUAGE CXX
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  endforeach()
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
  set_target_properties(${name}-packed PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/packed/lib)
  add_dependencies(kiln-package ${name}-packed)
  set_property(GLOBAL APPEND PROPERTY KILN_SHARED_LIBRARIES ${name})
endfunction()

# kiln_add_tool(NAME sources... [PACKED] [C_API | COMPONENTS llvm...] [NO_MLIR] [LINK libraries...]):
# one program of tools/. PACKED gives it a twin in the package. C_API is for a tool that stands on
# libkiln.so alone and links no LLVM; COMPONENTS for one that needs no more of LLVM than these.
function(kiln_add_tool name)
  cmake_parse_arguments(ARG "PACKED;C_API;NO_MLIR" "" "COMPONENTS;LINK" ${ARGN})
  if(ARG_C_API OR ARG_COMPONENTS)
    set(ARG_NO_MLIR TRUE)
  endif()
  _kiln_objects(${name} ${ARG_NO_MLIR} ${ARG_UNPARSED_ARGUMENTS})
  add_executable(${name} $<TARGET_OBJECTS:${name}-objects>)
  target_link_libraries(${name} PRIVATE ${ARG_LINK})
  if(ARG_C_API)
    target_link_libraries(${name} PRIVATE kiln)
  elseif(ARG_COMPONENTS)
    kiln_link_llvm_components(${name} ${ARG_COMPONENTS})
  else()
    kiln_link_llvm(${name})
  endif()
  set_target_properties(${name} PROPERTIES
    LINKER_LANGUAGE CXX
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}"
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  set_property(GLOBAL APPEND PROPERTY KILN_TOOLS ${name})
  if(ARG_PACKED AND TARGET kiln-packed)
    _kiln_add_packed_tool(${name} "${ARG_UNPARSED_ARGUMENTS}" "${ARG_LINK}" ${ARG_C_API})
  endif()
endfunction()

# A packed tool is a few lines that call into the packed library: a second copy of LLVM in each tool
# would more than double the package. The tool's sources are compiled into the library with `main`
# renamed; a tool on the C API alone keeps its own main.
function(_kiln_add_packed_tool name sources libraries c_api)
  if(c_api)
    add_executable(${name}-packed EXCLUDE_FROM_ALL $<TARGET_OBJECTS:${name}-objects>)
    target_link_libraries(${name}-packed PRIVATE ${libraries})
  else()
    string(MAKE_C_IDENTIFIER "kiln_tool_${name}" entry)
    _kiln_objects(${name}-packed FALSE ${sources})
    target_compile_definitions(${name}-packed-objects PRIVATE
      "main=__attribute__((visibility(\"default\"))) ${entry}")
    set_target_properties(${name}-packed-objects PROPERTIES EXCLUDE_FROM_ALL TRUE)
    target_sources(kiln-packed PRIVATE $<TARGET_OBJECTS:${name}-packed-objects>)
    target_link_libraries(kiln-packed PRIVATE ${libraries})
    set(source ${PROJECT_BINARY_DIR}/packed/${name}.cpp)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "// Written by cmake/KilnFunctions.cmake.
int ${entry}(int argc, char **argv);
int main(int argc, char **argv) { return ${entry}(argc, argv); }
")
    add_executable(${name}-packed EXCLUDE_FROM_ALL ${source})
  endif()
  target_link_libraries(${name}-packed PRIVATE kiln-packed)
  target_link_options(${name}-packed PRIVATE -static-libstdc++ -static-libgcc -Wl,--strip-all)
  set_target_properties(${name}-packed PROPERTIES
    OUTPUT_NAME ${name}
    LINKER_LANGUAGE CXX
    BUILD_WITH_INSTALL_RPATH ON
    INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib"
    INSTALL_RPATH_USE_LINK_PATH OFF
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/packed/bin)
  add_dependencies(kiln-package ${name}-packed)
  set_property(GLOBAL APPEND PROPERTY KILN_PACKED_TOOLS ${name}-packed)
endfunction()

# kiln_add_unittest(NAME sources... [LINK libraries...]): a GoogleTest program that `ctest`
# and utils/test run.
function(kiln_add_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  add_dependencies(${name} kiln-headers)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest GTest::gtest_main)
  if(KILN_PCH)
    target_precompile_headers(${name} REUSE_FROM kiln-test-pch)
  endif()
  kiln_link_llvm(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unittests)
  add_test(NAME ${name} COMMAND ${name})
  add_dependencies(kiln-unittests ${name})
endfunction()

# Links a final program or shared library against LLVM and MLIR: their shared libraries
# for development, the static archives for the self-contained build (KILN_STATIC).
function(kiln_link_llvm name)
  if(KILN_STATIC)
    kiln_link_llvm_static(${name})
  else()
    # LLD is an archive even here, and wants the compression libraries itself.
    target_link_libraries(${name} PRIVATE MLIR LLVM ZLIB::ZLIB zstd::libzstd_shared)
  endif()
endfunction()

# Links a program that uses a few components of LLVM: inside it, for the shared libraries take
# longer to load than such a program runs.
function(kiln_link_llvm_components name)
  if(KILN_STATIC)
    kiln_link_llvm_static(${name})
  else()
    llvm_map_components_to_libnames(libraries ${ARGN})
    target_link_libraries(${name} PRIVATE ${libraries} ZLIB::ZLIB zstd::libzstd_shared)
    target_link_options(${name} PRIVATE -Wl,--gc-sections)
  endif()
endfunction()
