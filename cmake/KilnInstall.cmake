# What `cmake --install` lays down, and the package that find_package(Kiln) finds there:
# Kiln::kiln, the C API; and, for who extends the compiler in C++, the libraries of lib/ by their
# own names (Kiln::KilnTile, …), which need MLIR's package and are asked for as component `Cxx`.
include(CMakePackageConfigHelpers)

get_property(_kiln_libraries GLOBAL PROPERTY KILN_LIBRARIES)
get_property(_kiln_shared GLOBAL PROPERTY KILN_SHARED_LIBRARIES)
set(_kiln_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Kiln)

if(_kiln_shared)
  install(TARGETS ${_kiln_shared} EXPORT KilnTargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
  install(EXPORT KilnTargets NAMESPACE Kiln:: DESTINATION ${_kiln_package_dir} COMPONENT library)
endif()
install(TARGETS ${_kiln_libraries} EXPORT KilnCxxTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT cxx)
install(EXPORT KilnCxxTargets NAMESPACE Kiln:: DESTINATION ${_kiln_package_dir} COMPONENT cxx)

install(DIRECTORY include/kiln-c ${PROJECT_BINARY_DIR}/include/kiln-c
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library FILES_MATCHING PATTERN "*.h")
install(DIRECTORY include/kiln ${PROJECT_BINARY_DIR}/include/kiln
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT cxx
  FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc" PATTERN "CMakeFiles" EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)
install(DIRECTORY licenses DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT library)

# pkg-config: the places are told from where the file lies, so that the tree may be moved.
set(_kiln_pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH KILN_PC_PREFIX /${_kiln_pc_dir} /)
file(RELATIVE_PATH KILN_PC_LIBDIR /${_kiln_pc_dir} /${CMAKE_INSTALL_LIBDIR})
configure_file(cmake/kiln.pc.in kiln.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/kiln.pc DESTINATION ${_kiln_pc_dir} COMPONENT library)

configure_package_config_file(cmake/KilnConfig.cmake.in KilnConfig.cmake
  INSTALL_DESTINATION ${_kiln_package_dir})
write_basic_package_version_file(KilnConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/KilnConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/KilnConfigVersion.cmake
  DESTINATION ${_kiln_package_dir} COMPONENT library)
