// Errors, buffers and what else every part of the C API needs.
#include "Objects.h"
#include "kiln-c/Version.h"
#include "kiln/Runtime/Error.h"

using namespace kiln;
using namespace kiln::capi;
using namespace llvm;

//===- Making errors ------------------------------------------------------------------------===//

KilnError *capi::report(Error error, KilnErrorCode otherwise) {
  if (!error)
    return nullptr;
  auto *result = new KilnError{KILN_OK, "", {}};
  handleAllErrors(std::move(error), [&](const ErrorInfoBase &info) {
    // Of several errors the first gives the code, all of them the message.
    if (result->code == KILN_OK)
      result->code =
          info.isA<RuntimeError>() ? static_cast<const RuntimeError &>(info).code : otherwise;
    result->message += (result->message.empty() ? "" : "\n") + info.message();
  });
  return result;
}

KilnError *capi::report(KilnErrorCode code, const Twine &message) {
  return new KilnError{code, message.str(), {}};
}

KilnError *capi::reportNull(StringRef function, StringRef argument) {
  return report(KILN_ERROR_INVALID_ARGUMENT,
                function + ": expected '" + argument + "', got a null pointer");
}

KilnError *capi::give(json::Value value, KilnBuffer **out) {
  auto *buffer = new KilnBuffer;
  raw_string_ostream(buffer->bytes) << value;
  *out = buffer;
  return nullptr;
}

void capi::append(std::vector<KilnError::Located> &list, const Diagnostic &diagnostic) {
  int32_t parent = -1;
  if (diagnostic.severity == Severity::Note && !list.empty())
    parent = list.back().parent >= 0 ? list.back().parent : int32_t(list.size()) - 1;
  list.push_back({diagnostic, parent});
}

KilnDiagnostic capi::present(const Diagnostic &diagnostic, int32_t parent) {
  return {KilnSeverity(diagnostic.severity),
          parent,
          string(diagnostic.file),
          diagnostic.line,
          diagnostic.column,
          string(diagnostic.text)};
}

//===- The API ------------------------------------------------------------------------------===//

KilnString kilnBufferGet(const KilnBuffer *buffer) {
  return buffer ? string(buffer->bytes) : string("");
}
void kilnBufferDestroy(KilnBuffer *buffer) { delete buffer; }

KilnErrorCode kilnErrorGetCode(const KilnError *error) { return error ? error->code : KILN_OK; }
KilnString kilnErrorGetMessage(const KilnError *error) {
  return error ? string(error->message) : string("");
}
size_t kilnErrorGetNumDiagnostics(const KilnError *error) {
  return error ? error->diagnostics.size() : 0;
}
KilnDiagnostic kilnErrorGetDiagnostic(const KilnError *error, size_t index) {
  if (index >= kilnErrorGetNumDiagnostics(error))
    return {KILN_SEVERITY_ERROR, -1, string(""), 0, 0, string("")};
  const KilnError::Located &located = error->diagnostics[index];
  return present(located.diagnostic, located.parent);
}
void kilnErrorDestroy(KilnError *error) { delete error; }

KilnString kilnVersion() { return string(KILN_VERSION_STRING); }
uint32_t kilnApiVersion() { return KILN_API_VERSION; }
