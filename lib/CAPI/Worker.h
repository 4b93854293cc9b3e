// Compiling in a worker process, so that nothing a source does can harm this one.
//
// One socket joins the two. The request is a frame of JSON and one of the source's bytes; the
// worker answers with a frame for each diagnostic as it is made, then one with the artifact or
// one with the error. It puts itself under its limits before it looks at the source. A worker that
// is to stay then waits for the next request.
#ifndef KILN_LIB_CAPI_WORKER_H
#define KILN_LIB_CAPI_WORKER_H

#include "Objects.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace kiln::capi {

using DiagnosticHandler = llvm::function_ref<void(const Diagnostic &)>;

/// What compile() would give, or an error that names the kernel if the worker did not survive.
llvm::Expected<Artifact> compileInWorker(const CompileRequest &request,
                                         const KilnCompileRequest &limits,
                                         DiagnosticHandler handler);

/// Compiles in this process.
llvm::Expected<Artifact> compileHere(const CompileRequest &request, DiagnosticHandler handler);

/// A request as C++ sees it.
CompileRequest convert(const KilnCompileRequest &request);

/// A frame: one byte that says what it is, eight that say how long, the bytes.
namespace frame {
constexpr char request = 'q', source = 's', diagnostic = 'd', artifact = 'a', error = 'e';
std::string encode(char kind, llvm::StringRef bytes);
/// Takes the first frame off `stream`; false if it is not all there yet.
bool decode(std::string &stream, char &kind, std::string &bytes);
} // namespace frame

llvm::json::Object toJSON(const Diagnostic &diagnostic);
Diagnostic diagnosticFromJSON(const llvm::json::Object &object);

} // namespace kiln::capi

#endif // KILN_LIB_CAPI_WORKER_H
