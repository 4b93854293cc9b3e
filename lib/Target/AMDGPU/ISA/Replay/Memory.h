// What memory holds: LDS word by word, what a lane has put by in its own memory, and of global
// memory the arguments, and words that are drawn by their address.
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_MEMORY_H
#define KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_MEMORY_H

#include "Wave.h"
#include <map>
#include <unordered_map>

namespace kiln::amdgcn {

/// What a launch gives a block: numbers of the arguments, where the block is in the grid, and what
/// words of memory are drawn by.
struct Instance {
  std::vector<uint32_t> numbers;
  unsigned block = 0, blocks = 1;
  uint64_t seed = 0;
};

class Memory {
public:
  Memory(const KernelCode &kernel, const Instance &instance);

  /// Sets the registers that hold something when a wave starts.
  void start(Wave &wave) const;
  /// Whether a place is one of the arguments.
  bool isGiven(uint64_t address) const;
  /// A word of global memory; `attempt` counts how often one has looked there in turn.
  uint32_t read(uint64_t address, uint64_t attempt = 0) const;
  /// What an atomic access finds; it puts there what the operation makes of it.
  uint32_t update(uint64_t address, const Instruction &atomic, uint32_t number, uint32_t expected);

  struct Word {
    uint32_t word = 0;
    Cause cause = 0;
  };
  std::vector<Word> lds;
  /// By wave, lane and address.
  std::map<std::pair<unsigned, uint32_t>, Words> scratch;

private:
  uint64_t getArgument(size_t number) const;

  const KernelCode &kernel;
  const Instance &instance;
  std::vector<uint8_t> arguments, packet;
  std::unordered_map<uint64_t, uint32_t> changed;
};

/// What an atomic access makes of a word.
uint32_t combine(const Instruction &atomic, uint32_t before, uint32_t number, uint32_t expected);

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_MEMORY_H
