// How large the numbers in registers can be: enough to tell one part of LDS from another.
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_RANGES_H
#define KILN_LIB_TARGET_AMDGPU_ISA_RANGES_H

#include "kiln/Target/AMDGPU/ISA.h"
#include <map>

namespace kiln::amdgcn {

/// An unsigned number of 32 bits, the same for all lanes or not.
struct Range {
  uint64_t low = 0, high = UINT32_MAX;
  /// How many low bits are zero, at the least.
  unsigned zeros = 0;
  /// The bits that may be ones.
  uint64_t ones = UINT32_MAX;
  bool operator==(const Range &other) const {
    return low == other.low && high == other.high && zeros == other.zeros && ones == other.ones;
  }
  bool isAll() const { return low == 0 && high >= UINT32_MAX && ones >= UINT32_MAX; }
};

/// By register; what is absent may be anything.
class Ranges {
public:
  Range get(char file, unsigned number) const;
  Range get(const Operand &operand) const;
  /// After the instruction.
  void apply(const Instruction &instruction);
  /// In a block of so many threads, which the chip numbers in the first vector register.
  void setThreads(unsigned threads);
  /// Whether a branch is taken, where LLVM goes by a constant that it put by on the way: so it
  /// joins and parts again paths that have nothing to do with one another.
  std::optional<bool> isTaken(const Instruction &branch) const;
  /// What a branch by a comparison tells of a register, taken or not.
  void refine(const Instruction &branch, bool isTaken);
  /// Where two paths meet. What grew becomes unknown if `widen`, so that loops come to an end.
  /// Whether this changed.
  bool join(const Ranges &other, bool widen);

private:
  void set(const Registers &registers, Range range);
  /// A scalar put by into a lane of a vector register, or taken back; false if it is neither.
  bool applyLane(const Instruction &instruction);
  void applyWide(const Instruction &instruction);
  void applyComparison(const Instruction &instruction);
  std::map<std::pair<char, unsigned>, Range> known;

  /// What the scalar unit's condition says of a register.
  struct Comparison {
    Registers registers;
    Operation operation;
    uint32_t number;
    bool operator==(const Comparison &other) const {
      return registers == other.registers && operation == other.operation && number == other.number;
    }
  };
  std::optional<Comparison> comparison;
};

/// The bytes of LDS that an access may touch.
Range getPlace(const Instruction &access, const Ranges &ranges, unsigned waveSize);

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_RANGES_H
