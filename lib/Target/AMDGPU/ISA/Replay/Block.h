// The waves of one block, run by turns until all have ended.
//
// A wave goes on until it must wait: at a barrier for others, or asleep in a loop that looks at a
// word of LDS, until LDS has changed. Which of those who can go on does so is the run's order. When
// nobody can, all wait for one another.
#ifndef KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_BLOCK_H
#define KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_BLOCK_H

#include "Disputes.h"
#include "Memory.h"
#include "Order.h"
#include "kiln/Target/AMDGPU/Touched.h"
#include "kiln/Target/AMDGPU/Waits.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace kiln::amdgcn {

enum class Turns { Ascending, Descending };

/// Whether what an instruction gives, if it has a name, is a number of the kernel's data.
bool isOfData(const Instruction &instruction);

class Block {
public:
  /// Notes which instructions any wave executes, and where in LDS, if that is asked for.
  Block(const KernelCode &kernel, llvm::ArrayRef<Step> steps, const Instance &instance, Turns turns,
        llvm::BitVector &executed, Disputes &disputes, Touched *touched);

  /// Until all have ended, something is wrong, or so many instructions were executed: what is left
  /// of those.
  uint64_t run(uint64_t budget);
  bool hasEnded() const { return live == 0; }
  std::optional<WaitProblem> problem;

private:
  struct Runner {
    explicit Runner(Wave wave) : wave(std::move(wave)) {}
    Wave wave;
    enum { Running, AtBarrier, Asleep, Ended } state = Running;
    /// How many phases of the barrier it has come to; and of LDS, what had changed when it looked.
    uint64_t signalled = 0, looked = 0;
    bool hasLooked = false;
    unsigned lookedAt = 0;
    /// Loads of the same place in turn, by instruction.
    llvm::DenseMap<unsigned, std::pair<uint64_t, uint64_t>> attempts;
  };
  bool canGoOn(const Runner &runner) const;
  void endPhase();
  void run(Runner &runner, uint64_t &budget);
  void fail(unsigned at, std::string text);
  void failAll();
  /// Whether the wave goes on at once.
  bool step(Runner &runner);
  bool branch(Runner &runner, const Step &step);

  // Memory (Accesses.cpp).
  void accessMemory(Runner &runner, const Step &step);
  void accessLDS(Runner &runner, const Step &step);
  void updateLDS(const Wave &wave, const Step &step, unsigned lane, uint32_t place);
  void permute(Wave &wave, const Step &step);
  void loadScalar(Runner &runner, const Step &step);
  void loadGlobal(Runner &runner, const Step &step);
  void loadToLDS(Runner &runner, const Step &step);
  void updateGlobal(Runner &runner, const Step &step);
  void accessScratch(Runner &runner, const Step &step);
  void call(Wave &wave, const Step &step);
  uint64_t getAddress(const Wave &wave, const Step &step, unsigned lane, bool &isInBounds) const;
  uint64_t getAttempt(Runner &runner, uint64_t address);
  /// Where in LDS the lanes that are on touch so many bytes; false if that cannot be.
  bool findPlaces(const Wave &wave, const Step &step,
                  llvm::SmallVectorImpl<std::pair<unsigned, uint32_t>> &places);
  void noteTouched(const Wave &wave, const Step &step,
                   llvm::ArrayRef<std::pair<unsigned, uint32_t>> places);
  llvm::ArrayRef<Cells> getCells(llvm::ArrayRef<std::pair<unsigned, uint32_t>> places,
                                 unsigned bytes);
  bool checkCause(const Wave &wave, Cause cause, llvm::StringRef what);
  void writeLDS(uint32_t place, unsigned bytes, llvm::ArrayRef<Memory::Word> words);
  Memory::Word readLDS(uint32_t place, unsigned bytes) const;

  const KernelCode &kernel;
  llvm::ArrayRef<Step> steps;
  llvm::BitVector &executed;
  Disputes &disputes;
  Touched *const touched;
  const unsigned ldsBytes, cellBytes;
  Memory memory;
  std::vector<Runner> runners;
  std::vector<unsigned> turns; ///< whoever stands in front goes on first
  Order order;
  /// How often anything in LDS changed; which phase of the barrier is under way.
  uint64_t changes = 1, phase = 0;
  unsigned live;
  std::vector<Cells> cells;
  std::unique_ptr<bool[]> isSame;
};

} // namespace kiln::amdgcn

#endif // KILN_LIB_TARGET_AMDGPU_ISA_REPLAY_BLOCK_H
