// From source to artifact: the one function that the C API, the tools and the compile worker call.
// No MLIR type appears here, so that its callers need none.
#ifndef KILN_PIPELINE_COMPILE_H
#define KILN_PIPELINE_COMPILE_H

#include "kiln/Binary/Artifact.h"
#include "kiln/Support/SourceLimits.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace kiln {

enum class Severity { Error = 0, Warning = 1, Remark = 2, Note = 3 };

/// One message at one place. A note follows the diagnostic that it belongs to.
struct Diagnostic {
  Severity severity = Severity::Error;
  std::string file;    ///< empty if unknown
  unsigned line = 0;   ///< from 1; 0 if unknown
  unsigned column = 0; ///< from 1; 0 if unknown
  std::string text;
};

using DiagnosticSink = llvm::function_ref<void(const Diagnostic &)>;

struct CompileRequest {
  llvm::StringRef source;              ///< MLIR text or bytecode
  std::string sourceName = "<source>"; ///< what diagnostics call it
  std::string kernel;                  ///< empty: the module's only kernel
  /// "cpu", or another target's name and chip; several kinds of processor, with commas, for an
  /// artifact that holds a version for each. Empty: what the module says, else the CPU.
  std::string target = "cpu";
  std::vector<std::string> keepStages; ///< kept as sections "ir:<stage>"; "all": each
  int optLevel = 3;                    ///< 0 to 3
  bool fastMath = false;               ///< may reassociate, approximate, flush, ignore NaN
  bool vendorMath = false;             ///< the vendor's mathematics where that is found
  std::string options;                 ///< more pipeline options, see below
  uint32_t maxDepth = kMaxSourceDepth; ///< nesting of brackets; what is deeper is not parsed
};

/// The pipeline options, "name=value name=value":
///   stop-after=STAGE  the last stage to run
///   from=STAGE        the source is what `stop-after=STAGE` keeps, perhaps with other decisions in
///                     it; the stages behind are run. The target, the optimisation level and the
///                     mathematics are those that the source was compiled with.
///   model=true        the metadata says how long the kernel takes, as "model" (kiln-c/Model.h), or
///                     why nobody knows, as "no_model"
///   solver=exact      schedules are found by the solver that proves them (Schedule/Problem/
///                     ExactSolver.h), and kept in the cache of compiled kernels; it takes seconds,
///                     and Z3. With solver=swing by the usual one
///   exact=true        with from=layout: what it leaves open is not decided
///
/// Compiles one kernel. Diagnostics go to `sink` as they are made, from this thread; a failure is
/// reported there with the places, and by the returned error in one line that is complete without
/// them. The artifact's metadata is described in kiln-c/Artifact.h; "compiler" is filled in by the
/// caller. Safe to call from many threads at once.
llvm::Expected<Artifact> compile(const CompileRequest &request, DiagnosticSink sink);

/// The targets built in, as the JSON object that kilnTargetsDescribe promises.
std::string describeTargets();

/// Why no target of this name is built in, with those that are; empty if one is.
std::string whyUnknown(llvm::StringRef target);

/// What code for `target` depends on beside the request: the CPU of the machine at hand and its
/// features, the assembler that was found, the vendor's libraries. Part of the cache key.
std::string targetIdentity(llvm::StringRef target);

} // namespace kiln

#endif // KILN_PIPELINE_COMPILE_H
