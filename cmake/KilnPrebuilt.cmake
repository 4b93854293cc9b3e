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
install(PROGRAMS
  ${KILN_PREBUILT}/lib/libkiln.so ${KILN_PREBUILT}/bin/kiln-worker ${_kiln_extensions}
  DESTINATION kiln COMPONENT python)
