// The runtime's error: a code that the C API hands on, and a message.
#ifndef KILN_RUNTIME_ERROR_H
#define KILN_RUNTIME_ERROR_H

#include "kiln-c/Base.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>
#include <system_error>

namespace kiln {

class RuntimeError : public llvm::ErrorInfo<RuntimeError> {
public:
  static inline char ID = 0;
  RuntimeError(KilnErrorCode code, std::string message) : code(code), text(std::move(message)) {}

  void log(llvm::raw_ostream &os) const override { os << text; }
  std::error_code convertToErrorCode() const override { return llvm::inconvertibleErrorCode(); }

  KilnErrorCode code;
  std::string text;
};

inline llvm::Error makeError(KilnErrorCode code, const llvm::Twine &message) {
  return llvm::make_error<RuntimeError>(code, message.str());
}

} // namespace kiln

#endif // KILN_RUNTIME_ERROR_H
