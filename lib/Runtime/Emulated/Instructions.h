// What the chips' instructions do, by the vendors' manuals and not by Kiln's own tables.
#ifndef KILN_LIB_RUNTIME_EMULATED_INSTRUCTIONS_H
#define KILN_LIB_RUNTIME_EMULATED_INSTRUCTIONS_H

#include <cstdint>
#include <cstring>

namespace kiln::emulated {

/// Those who execute an instruction: the lanes of a warp, or one thread alone.
struct Lanes {
  const char *name;
  unsigned first; ///< the number of the first one's thread
  unsigned count;
  const void *const *operands;
  void *const *results;

  /// Element `index` of `Type`, from `offset` bytes into a lane's packed operands.
  template <typename Type>
  Type read(unsigned lane, unsigned offset, unsigned index = 0) const {
    Type value;
    std::memcpy(&value, static_cast<const char *>(operands[lane]) + offset + index * sizeof(Type),
                sizeof(Type));
    return value;
  }
  template <typename Type>
  void write(unsigned lane, unsigned index, Type value) const {
    std::memcpy(static_cast<char *>(results[lane]) + index * sizeof(Type), &value, sizeof(Type));
  }
};

/// What stands behind an instruction's name: nothing, what LLVM adds for the types that it leaves
/// open, or what one entry has for all of a kind.
enum class Suffix : uint8_t {
  None,
  Type,   ///< of one value: ".v4i32"
  Types,  ///< of several
  Shared, ///< of a pointer to shared memory: ".p3"
  Rank,   ///< of a tensor, from one to five: ".2d"
  Shape,  ///< of a warp group's product: ".m64n128k16.f32.bf16.bf16"
};

struct Instruction {
  /// LLVM's name without "llvm.", and without the suffix.
  const char *name;
  /// Whether the lanes of a warp must all come to it.
  bool together;
  void (*execute)(const Lanes &lanes);
  Suffix suffix = Suffix::None;
};

/// Null if none has just this name: what stands behind a known one makes another instruction.
const Instruction *findInstruction(const char *name);

// The lists, each ended by a null name.
extern const Instruction kWarpInstructions[], kEngineInstructions[], kTensorInstructions[],
    kScaledInstructions[], kWaveInstructions[], kProductInstructions[];

/// Reads an element of a matrix as a double, whatever its type is.
double widenHalf(uint16_t bits);
double widenBFloat(uint16_t bits);
double widenTF32(uint32_t bits);
double widenE4M3(uint8_t bits);
double widenE5M2(uint8_t bits);
double widenE2M3(uint8_t bits);
double widenE3M2(uint8_t bits);
double widenE2M1(uint8_t bits);

/// The floats of a byte that chips convert.
enum class ByteFloat { E4M3FN, E5M2 };

/// To nearest, ties to even; what is too large becomes the largest number, a NaN the positive one.
uint8_t narrowSaturating(ByteFloat format, float value);
/// The bits of an f16, which holds every value of both.
uint16_t widenToHalf(ByteFloat format, uint8_t bits);

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_INSTRUCTIONS_H
