# Finds the Python that Kiln's tests run in and that its extension is built for, and the extension's
# binding library, which is a Python package.
#
# KILN_VENV names a virtual environment made by utils/; without one, Debian's own Python is taken
# before the first on the path, which may be a shim without headers.
set(KILN_VENV "${PROJECT_SOURCE_DIR}/.venv" CACHE PATH "Virtual environment made by utils/")

if(NOT Python_EXECUTABLE)
  if(DEFINED SKBUILD AND DEFINED PYTHON_EXECUTABLE)
    set(Python_EXECUTABLE ${PYTHON_EXECUTABLE})
  elseif(EXISTS ${KILN_VENV}/bin/python)
    set(Python_EXECUTABLE ${KILN_VENV}/bin/python)
  elseif(EXISTS /usr/include/python3.11/Python.h AND EXISTS /usr/bin/python3.11)
    set(Python_EXECUTABLE /usr/bin/python3.11)
  endif()
endif()
if(KILN_PYTHON)
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
else()
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
endif()
set(Python3_EXECUTABLE ${Python_EXECUTABLE})

if(KILN_PYTHON)
  execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
    OUTPUT_VARIABLE _kiln_nanobind OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(_kiln_nanobind)
    list(APPEND CMAKE_PREFIX_PATH ${_kiln_nanobind})
    find_package(nanobind CONFIG REQUIRED)
  else()
    message(STATUS "No Python extension: ${Python_EXECUTABLE} has no nanobind "
      "(utils/test installs it, or set KILN_VENV)")
    set(KILN_PYTHON OFF)
  endif()
endif()
