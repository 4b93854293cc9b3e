// The registers of one wave, each with a number, and what instructions do to them.
//
// What is not computed with has a name: a hash of the instruction and the numbers that it takes,
// from which a word is drawn. Whatever follows from such a word knows the first instruction that
// gave one: its cause.
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_WAVE_H
#define KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_WAVE_H

#include "Step.h"
#include <array>

namespace kiln::amdgcn {

/// The number of an instruction, counted from one; zero if there is none.
using Cause = uint32_t;

/// A vector register: a word a lane, or one for all.
struct Words {
  std::array<uint32_t, kMostLanes> lanes = {};
  bool isUniform = true;
  /// Of the lanes whose words follow from one, and of these bits of them.
  Cause cause = 0;
  uint64_t named = ~uint64_t(0);
  uint32_t namedBits = UINT32_MAX;
  uint32_t get(unsigned lane) const { return lanes[isUniform ? 0 : lane]; }
};

class Wave {
public:
  Wave(const KernelCode &kernel, unsigned number);

  const unsigned number;
  /// The next instruction.
  unsigned at = 0;

  /// Executes what touches no memory but registers, all but branches.
  void compute(const Step &step, unsigned at);
  /// Whether a branch is taken; and what gave the number that it goes by, if that has no value.
  bool isTaken(const Step &step) const;
  Cause getCause(const Step &branch) const;

  unsigned getLanes() const { return lanes; }
  uint64_t getMask(const Registers &registers) const;
  uint64_t getExec() const { return getMask(kLanes); }
  bool isOn(unsigned lane) const { return getExec() >> lane & 1; }
  /// The first lane that is on; the first of all if none is.
  unsigned getFirstLane() const;

  uint64_t getScalar(const Input &input) const;
  void setScalar(unsigned number, uint32_t word, Cause cause);
  void setCondition(bool holds) { condition = holds, conditionCause = 0; }
  const Words &getVector(char file, unsigned number) const {
    return file == 'a' ? accumulators[number] : vectors[number];
  }
  /// Of the input's word of this number, in a lane.
  uint64_t get(const Input &input, unsigned lane, unsigned word = 0) const;
  /// Of lanes that are on.
  Cause getCause(const Input &input) const;
  Cause getCause(llvm::ArrayRef<Input> inputs) const;
  /// Says of words that they follow from what these inputs do, lane by lane, or else from `own`.
  void setCause(Words &words, llvm::ArrayRef<Input> inputs, Cause own = 0) const;
  /// Sets a register in lanes that are on, or all.
  void setVector(const Registers &file, unsigned number, const Words &words, bool inAll = false);
  /// Names registers by what an instruction takes.
  void nameAll(const Registers &registers, uint64_t name, Cause cause);

private:
  void computeScalar(const Step &step, const Part &part, Cause own);
  void computeVector(const Step &step, const Part &part, Cause own);
  void computeMatrix(const Step &step, Cause own);
  bool computeSpecial(const Step &step, Cause own);
  void compareLanes(const Step &step, Cause own);
  void saveLanes(const Step &step);
  void setMask(const Registers &registers, uint64_t mask, Cause cause);
  void setResult(const Registers &result, const Words &low, const Words &high);
  void nameVector(const Step &step, const Part &part, Cause own);
  void permuteRows(const Step &step);
  /// Of what a lane takes, the first input from another one, or from none.
  uint64_t getName(const Part &part, unsigned lane, std::optional<unsigned> from) const;
  /// The lane from which one takes its first operand; none if there is no such.
  std::optional<unsigned> getSource(const Step &step, unsigned lane) const;

  const unsigned lanes;
  /// Reads as zero; none before gfx10.
  std::optional<unsigned> nothing;
  std::array<uint32_t, 256> scalars = {};
  std::array<Cause, 256> scalarCauses = {};
  std::vector<Words> vectors, accumulators;
  bool condition = false;
  Cause conditionCause = 0;
};

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_WAVE_H
