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

/// By KilnDType's numbers.
extern const DTypeInfo dtypeTable[KILN_BOOL + 1];

/// KILN_NONE's entry for every number that is no type. In line: each launch asks.
inline const DTypeInfo &dtypeInfo(int32_t dtype) {
  return dtypeTable[uint32_t(dtype) <= KILN_BOOL ? dtype : KILN_NONE];
}

/// The type that the IR spells so, signed where it does not say; KILN_NONE if there is none.
KilnDType dtypeOfIR(llvm::StringRef name);

/// The bits that a slot holds for an integer of that signed or unsigned type; false if the type
/// cannot hold the value.
inline bool encodeWhole(int64_t value, const DTypeInfo &type, uint64_t &bits) {
  unsigned unused = 64 - type.bits;
  bits = uint64_t(value) << unused >> unused;
  int64_t back = type.kind == DTypeInfo::Signed ? int64_t(bits << unused) >> unused : bits;
  return back == value;
}
/// Likewise for a scalar of any type.
bool encodeInteger(int64_t value, int32_t dtype, uint64_t &bits);
bool encodeReal(double value, int32_t dtype, uint64_t &bits);

} // namespace kiln

#endif // KILN_RUNTIME_LAUNCH_DTYPE_H
