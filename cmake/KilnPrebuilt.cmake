# A wheel from a package that utils/pack made (KILN_PREBUILT): its binaries are installed as they
# are, so that `pip wheel . -C cmake.define.KILN_PREBUILT=FOLDER` takes seconds.
if(NOT EXISTS ${KILN_PREBUILT}/lib/libkiln.so)
  message(FATAL_ERROR "expected a package made by utils/pack in '${KILN_PREBUILT}', got none")
endif()
add_custom_target(kiln-wheel)
file(GLOB _kiln_extensions ${KILN_PREBUILT}/python/kiln/_native.*.so)
if(SKBUILD_SOABI MATCHES "cpython-311")
  list(FILTER _kiln_extensions INCLUDE REGEX "cpython-311")
else()
  list(FILTER _kiln_extensions INCLUDE REGEX "abi3")
endif()
if(NOT _kiln_extensions)
  message(FATAL_ERROR "expected an extension for ${SKBUILD_SOABI} in '${KILN_PREBUILT}', got none")
endif()
file(GLOB _kiln_library ${KILN_PREBUILT}/lib/libkiln.so.*)
file(GLOB _kiln_tools ${KILN_PREBUILT}/bin/kiln-worker ${KILN_PREBUILT}/bin/tile-*)
install(PROGRAMS ${_kiln_library} ${_kiln_tools} ${_kiln_extensions}
  DESTINATION kiln COMPONENT python)
# As python/CMakeLists.txt does.
cmake_path(GET _kiln_library FILENAME _kiln_name)
file(CONFIGURE OUTPUT wheel/libkiln.so CONTENT "INPUT(${_kiln_name})\n" @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/wheel/libkiln.so DESTINATION kiln COMPONENT python)
install(DIRECTORY ${KILN_PREBUILT}/include/kiln-c DESTINATION kiln/include COMPONENT python)
