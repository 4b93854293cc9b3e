# The device's mathematics (lib/Target/Common/Math) as bitcode inside a library.

find_program(KILN_DEVICE_CLANG NAMES clang-22 clang HINTS ${LLVM_TOOLS_BINARY_DIR}
  DOC "The clang, of LLVM's version, that compiles the device's mathematics to bitcode")

# kiln_add_device_math(LIBRARY NAME [TRIPLE]): adds `NAME`, an llvm::StringRef in namespace kiln, to
# the library: the mathematics for the triple, the host's if there is none. A device's bitcode calls
# nothing that is not in it.
function(kiln_add_device_math library name)
  if(NOT KILN_DEVICE_CLANG)
    message(FATAL_ERROR "expected clang ${LLVM_VERSION_MAJOR}, to compile the device's mathematics;"
      " set KILN_DEVICE_CLANG")
  endif()
  set(room ${PROJECT_SOURCE_DIR}/lib/Target/Common/Math)
  file(GLOB sources CONFIGURE_DEPENDS ${room}/*.c ${room}/*.h)
  set(target "")
  if(ARGN)
    set(target --target=${ARGN} -nogpulib)
  endif()
  set(stem ${CMAKE_CURRENT_BINARY_DIR}/${name})
  # Every fused operation is written as one, and none may be made of two others.
  add_custom_command(OUTPUT ${stem}.bc
    COMMAND ${KILN_DEVICE_CLANG} ${target} -std=gnu2x -O2 -ffp-contract=off -fno-math-errno
      -ffreestanding -fno-ident -Wall -Wextra -Werror -emit-llvm -c ${room}/Math.c -o ${stem}.bc
    DEPENDS ${sources} VERBATIM)
  add_custom_command(OUTPUT ${stem}.cpp
    COMMAND ${CMAKE_COMMAND} -DNAME=${name} -DINPUT=${stem}.bc -DOUTPUT=${stem}.cpp
      -P ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake
    DEPENDS ${stem}.bc ${PROJECT_SOURCE_DIR}/cmake/Embed.cmake VERBATIM)
  target_sources(${library} PRIVATE ${stem}.cpp)
  set_source_files_properties(${stem}.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
