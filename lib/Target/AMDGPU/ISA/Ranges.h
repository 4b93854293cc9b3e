// How large the numbers in registers can be: enough to tell one part of LDS from another.
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_RANGES_H
#define KILN_LIB_TARGET_AMDGPU_ISA_RANGES_H

#include "kiln/Target/AMDGPU/ISA.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/bit.h"
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

inline unsigned countZeros(uint64_t constant) {
  return constant ? llvm::countr_zero(constant) : 32;
}
inline Range getConstant(uint32_t value) { return {value, value, countZeros(value), value}; }
/// The greatest number that has no bit above those of this one.
uint64_t fill(uint64_t high);

/// By register; what is absent may be anything.
class Ranges {
public:
  Range get(char file, unsigned number) const;
  Range get(const Operand &operand) const;
  /// After the instruction.
  void apply(const Instruction &instruction);
  /// In threads with these numbers, which the chip has put in the first vector register.
  void setThreads(unsigned first, unsigned last);
  /// Whether a branch is taken, where what it goes by is known: LLVM may go by a constant that it
  /// put by on the way, and so join and part again paths that have nothing to do with one another.
  std::optional<bool> isTaken(const Instruction &branch) const;
  /// What a branch by a comparison tells of a register, taken or not.
  void refine(const Instruction &branch, bool isTaken);
  /// Where two paths meet. What grew takes the next of these bounds if `widen`, or becomes unknown,
  /// so that loops come to an end. Whether this changed.
  bool join(const Ranges &other, bool widen, llvm::ArrayRef<uint64_t> bounds = {});

private:
  void set(const Registers &registers, Range range);
  /// Each register of a run.
  void setAll(const Registers &registers, Range range);
  /// A scalar put by into a lane of a vector register, or taken back; false if it is neither.
  bool applyLane(const Instruction &instruction);
  /// Registers put by into the memory of a lane, or taken back; false if it is neither.
  bool applyScratch(const Instruction &instruction);
  void applyWide(const Instruction &instruction);
  std::map<std::pair<char, unsigned>, Range> known;

  /// What the scalar unit's condition says of a register, or that it does not.
  struct Comparison {
    Registers registers;
    Operation operation;
    uint32_t number;
    bool isTurned = false;
    bool operator==(const Comparison &other) const {
      return registers == other.registers && operation == other.operation &&
             number == other.number && isTurned == other.isTurned;
    }
  };
  void forgetConditions(const Registers &written);
  bool joinConditions(const Ranges &other);
  std::optional<Comparison> findAsked(const Instruction &instruction) const;
  void applyComparison(const Instruction &instruction, std::optional<Comparison> asked);
  /// What is compared, if the comparison says so or not; nothing if that cannot be.
  std::optional<Range> getIf(const Comparison &what, bool isSo) const;
  /// One of two, by the condition.
  Range select(llvm::ArrayRef<Operand> inputs) const;
  std::optional<std::pair<Comparison, bool>> findReason(const Instruction &branch) const;

  /// The condition; whether any lane met it; and masks that have all lanes on where one holds, by
  /// their first register.
  std::optional<Comparison> comparison, met;
  std::map<unsigned, Comparison> masks;
};

/// The greatest numbers of what counts round: one less than what a comparison for equality has, or
/// all ones.
std::vector<uint64_t> findBounds(const KernelCode &kernel);

/// What an instruction computes with: registers and numbers in place of one, and of scalar
/// instructions with 16 bits inside them, these.
llvm::SmallVector<Operand> getInputs(const Instruction &instruction);

/// What each of two instructions in one computes with, as gfx11 and gfx12 have them. The inputs of
/// the first come first; a move has one, and what else is followed two.
std::pair<llvm::SmallVector<Operand>, llvm::SmallVector<Operand>>
getDualInputs(const Instruction &instruction);

/// The bytes of LDS that an access may touch.
Range getPlace(const Instruction &access, const Ranges &ranges, unsigned waveSize);

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_RANGES_H
