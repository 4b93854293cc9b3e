// The C API's handles, and how the C++ side's errors become them.
#ifndef KILN_LIB_CAPI_OBJECTS_H
#define KILN_LIB_CAPI_OBJECTS_H

#include "kiln-c/Cache.h"
#include "kiln-c/Launch.h"
#include "kiln/Binary/Artifact.h"
#include "kiln/Pipeline/Compile.h"
#include "kiln/Runtime/Cache/Cache.h"
#include "kiln/Runtime/Launch/Function.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

struct KilnError {
  KilnErrorCode code;
  std::string message;
  struct Located {
    kiln::Diagnostic diagnostic;
    int32_t parent;
  };
  std::vector<Located> diagnostics;
};

struct KilnBuffer {
  std::string bytes;
};

struct KilnArtifact {
  kiln::Artifact artifact;
};

struct KilnCache {
  std::unique_ptr<kiln::Cache> cache;
};

struct KilnFunction {
  std::unique_ptr<kiln::Function> function;
};

namespace kiln::capi {

inline KilnString string(llvm::StringRef text) { return {text.data(), text.size()}; }
inline llvm::StringRef text(const char *string) { return string ? string : ""; }

inline Device *unwrap(KilnDevice *device) { return reinterpret_cast<Device *>(device); }
inline const Device *unwrap(const KilnDevice *device) {
  return reinterpret_cast<const Device *>(device);
}
inline KilnDevice *wrap(Device *device) { return reinterpret_cast<KilnDevice *>(device); }
inline Executable *unwrap(KilnExecutable *executable) {
  return reinterpret_cast<Executable *>(executable);
}
inline const Executable *unwrap(const KilnExecutable *executable) {
  return reinterpret_cast<const Executable *>(executable);
}
inline KilnExecutable *wrap(Executable *executable) {
  return reinterpret_cast<KilnExecutable *>(executable);
}
inline const Key &unwrap(const KilnKey *key) { return *reinterpret_cast<const Key *>(key); }
static_assert(sizeof(Key) == sizeof(KilnKey));

/// NULL for success. An error without a code of its own gets `otherwise`.
KilnError *report(llvm::Error error, KilnErrorCode otherwise = KILN_ERROR_INTERNAL);
KilnError *report(KilnErrorCode code, const llvm::Twine &message);

/// An argument that must not be NULL was.
KilnError *reportNull(llvm::StringRef function, llvm::StringRef argument);

/// Prints JSON into a buffer of the caller's.
KilnError *give(llvm::json::Value value, KilnBuffer **out);

/// Notes follow what they belong to: their parent is the last diagnostic that is none.
void append(std::vector<KilnError::Located> &list, const Diagnostic &diagnostic);
KilnDiagnostic present(const Diagnostic &diagnostic, int32_t parent);

/// The artifact that a request leads to, without any cache.
KilnError *compile(const KilnCompileRequest &request, std::optional<Artifact> &out);
KilnError *requestKey(const KilnCompileRequest &request, Key &out);

} // namespace kiln::capi

#endif // KILN_LIB_CAPI_OBJECTS_H
