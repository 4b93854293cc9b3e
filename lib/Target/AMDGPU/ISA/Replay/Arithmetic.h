// What integer instructions compute, and the few floats that integers are divided by.
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_ARITHMETIC_H
#define KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_ARITHMETIC_H

#include "kiln/Target/AMDGPU/ISA.h"

namespace kiln::amdgcn {

/// Of up to three numbers, and a fourth that is not one of the instruction's inputs: a carry, or a
/// table. Sums and differences of 32 bits keep what does not fit above these.
using Function = uint64_t (*)(const uint64_t *inputs);

struct Arithmetic {
  Function compute = nullptr;
  unsigned inputs = 0;
  /// Whether the result has 64 bits; and the inputs that have, one bit each.
  bool isWide = false;
  unsigned wideInputs = 0;
  /// What the scalar unit's condition is behind it.
  enum class Condition { IsNotZero, Carries, IsFirst, Result } condition = Condition::IsNotZero;
  /// Of floats, which are computed with only where they come of integers.
  bool isOfFloats = false;
};

/// Nothing to compute with if the operation is not one of these.
Arithmetic getArithmetic(Operation operation, const NumberType &type);

/// Whether numbers of a type are to one another as `relations` says.
bool compare(unsigned relations, const NumberType &type, uint64_t a, uint64_t b);

/// Puts one more number into a name.
inline uint64_t mix(uint64_t name, uint64_t number) {
  name = (name ^ number) * UINT64_C(0x9E3779B97F4A7C15);
  return name ^ name >> 29;
}
/// The word that is drawn by a name.
inline uint32_t draw(uint64_t name) {
  name *= UINT64_C(0xD6E8FEB86659FD93);
  return uint32_t(name >> 32);
}

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_ARITHMETIC_H
