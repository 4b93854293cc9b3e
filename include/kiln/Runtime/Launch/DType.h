// Element types by number: names, widths, and scalars as the bits of a parameter's slot.
#ifndef KILN_RUNTIME_LAUNCH_DTYPE_H
#define KILN_RUNTIME_LAUNCH_DTYPE_H

#include "kiln-c/Launch.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace kiln {

struct DTypeInfo {
  const char *name;   ///< as front ends and JSON spell it; "" for a number that is no type
  const char *irName; ///< as the IR spells it, in memory
  uint8_t bits;       ///< of an element in memory
  enum Kind : uint8_t { None, Float, Signed, Unsigned, Bool } kind;
};

/// KILN_NONE's entry for every number that is no type.
const DTypeInfo &dtypeInfo(int32_t dtype);

/// The type that the IR spells so, signed where it does not say; KILN_NONE if there is none.
KilnDType dtypeOfIR(llvm::StringRef name);

/// The bits that a slot holds for a scalar of that type; false if the type cannot hold the value.
bool encodeInteger(int64_t value, int32_t dtype, uint64_t &bits);
bool encodeReal(double value, int32_t dtype, uint64_t &bits);

} // namespace kiln

#endif // KILN_RUNTIME_LAUNCH_DTYPE_H
