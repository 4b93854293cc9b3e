// Whether a compiled kernel is still made of the libraries that are there.
#ifndef KILN_LIB_RUNTIME_CACHE_LIBRARIES_H
#define KILN_LIB_RUNTIME_CACHE_LIBRARIES_H

#include "kiln/Binary/Artifact.h"

namespace kiln {

/// Whether each library that the artifact's metadata names has the contents whose hash stands
/// there. A key over sources, or over IR, has only a library's name, and what is found by it may
/// have changed since.
bool areLibrariesCurrent(const Artifact &artifact);

} // namespace kiln

#endif // KILN_LIB_RUNTIME_CACHE_LIBRARIES_H
