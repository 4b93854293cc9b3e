// Whether this machine's processor runs the code of an artifact.
#ifndef KILN_RUNTIME_HOST_PROCESSOR_H
#define KILN_RUNTIME_HOST_PROCESSOR_H

#include "kiln/Binary/Artifact.h"

namespace kiln {

/// The error names what the processor lacks. An artifact that does not say what it needs passes.
llvm::Error checkProcessor(const Artifact &artifact, llvm::StringRef kernel);

/// The artifact itself, or, of one that holds several versions, the one for the processor with the
/// most features that runs here.
llvm::Expected<Artifact> chooseVersion(const Artifact &artifact, llvm::StringRef kernel);

} // namespace kiln

#endif // KILN_RUNTIME_HOST_PROCESSOR_H
