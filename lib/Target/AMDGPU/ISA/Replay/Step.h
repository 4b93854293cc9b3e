// An instruction as it is executed: its operands in the order in which they are computed with.
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_STEP_H
#define KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_STEP_H

#include "Arithmetic.h"
#include "llvm/Support/MathExtras.h"

namespace kiln::amdgcn {

inline constexpr unsigned kMostLanes = 64;
inline constexpr Registers kMet{'s', 106, 107}, kLanes{'s', 126, 127};

/// A register, or a run of them, or a number; a symbol is zero.
struct Input {
  std::optional<Registers> registers;
  uint64_t number = 0;
  bool isNegated = false, isAbsolute = false;
  /// Of a register: the bits that are taken, with a sign or without.
  unsigned shift = 0, bits = 32;
  bool isSigned = false;
  bool isVector() const { return registers && registers->file != 's'; }
  uint32_t getBits() const { return llvm::maskTrailingOnes<uint32_t>(bits) << shift; }
};

/// One of the two halves of an instruction, or all of it.
struct Part {
  Operation operation = Operation::None;
  Arithmetic arithmetic; ///< none if what it computes is not known
  llvm::SmallVector<Input, 4> inputs;
  std::optional<Registers> result;
  /// The bits of the result that are written; the others stay, or are zero.
  unsigned shift = 0, bits = 32;
  bool keepsOthers = false;
  uint64_t name = 0; ///< of what it computes
  /// So many inputs may change places; and whether it does not matter how often one is among them.
  unsigned interchangeable = 0;
  bool isOfSet = false;
  bool isKnown = true; ///< what it takes of its inputs
};

struct Step {
  const Instruction *instruction = nullptr;
  Part first;
  std::optional<Part> second;
  /// Of one that changes two registers: the other one.
  Registers secondResult;
  /// Of a vector instruction: the masks of lanes that it gives besides, its carry or what it
  /// compared; and the one that it takes.
  llvm::SmallVector<Registers, 2> masks;
  Input mask;
  uint64_t table = 0;
  /// Of one whose first operand comes from other lanes: by which pattern, and which rows and banks
  /// of lanes take part.
  std::optional<unsigned> pattern;
  unsigned rows = 15, banks = 15;
  bool zeroesOthers = false;
  /// Of an access to memory: the registers that say where, and of what is stored.
  llvm::SmallVector<Input, 3> address;
  llvm::SmallVector<Input, 2> data;
  bool isByDescriptor = false; ///< of a buffer
  int64_t offset = 0;
};

Step makeStep(const Instruction &instruction, unsigned generation);

/// Whether an instruction computes with parts of registers, and the parts that it takes and writes
/// (Halves.cpp).
bool takesParts(const Instruction &instruction);
void readParts(const Instruction &instruction, unsigned generation, Part &part);

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_STEP_H
