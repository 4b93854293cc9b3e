// The final code of a kernel, read back from its assembly text: what checks and figures are made
// of, after everything that may still change code has run.
#ifndef KILN_TARGET_AMDGPU_ISA_H
#define KILN_TARGET_AMDGPU_ISA_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace kiln::amdgcn {

/// A run of registers of one file: 'v', 'a' (accumulators), 's', 'm' for m0, or 'c' for vcc.
struct Registers {
  char file;
  unsigned first, last;
  bool overlaps(const Registers &other) const {
    return file == other.file && first <= other.last && other.first <= last;
  }
};

/// What an instruction counts up when it is issued, and counts down when it is done. The first
/// generations count stores with loads, and scalar loads with LDS accesses.
enum class Counter { Load, Store, LDS, Scalar };
inline constexpr unsigned kNumCounters = 4;

enum class Kind {
  Other,
  Wait,
  Barrier,       ///< where a wave waits for the others of its block, or tells that it is there
  BarrierSignal, ///< the half of a split barrier that tells
  BarrierWait,   ///< the half that waits
  LoadGlobal,
  StoreGlobal,
  AtomicGlobal,
  LoadToLDS, ///< from global memory past the registers
  ReadLDS,
  WriteLDS,
  AtomicLDS,
  PermuteLanes, ///< by the LDS's crossbar, not its memory
  LoadScalar,
  Flat, ///< to whatever its address says
  Matrix,
  Branch,
  Call,   ///< of one of the text's functions
  Return, ///< from such a function
  End
};

struct Instruction {
  std::string mnemonic;
  /// The operands as they are written, and what follows the last one: modifiers.
  llvm::SmallVector<std::string, 4> operands;
  std::string modifiers;
  unsigned line;
  Kind kind = Kind::Other;
  /// Of a memory access: the bytes that one lane moves by one address (a lane's share of the
  /// result for a matrix instruction is not given).
  unsigned bytes = 0;
  /// Of a memory access: `offset:`, in bytes.
  unsigned offset = 0;
  /// Of a wait: how many may stay outstanding, by counter.
  std::optional<unsigned> waits[kNumCounters];
  /// Of a load: where its result goes.
  std::optional<Registers> result;
  /// Everything that is named, the result included.
  llvm::SmallVector<Registers, 6> registers;
  /// Where a branch may go; what follows is not among them.
  std::optional<unsigned> target;
  bool fallsThrough = true;
};

/// One kernel of a module's text, or a function that kernels call.
struct KernelCode {
  std::string name, chip;
  bool isFunction = false;
  std::vector<Instruction> code;
  /// The numbers of the code object's metadata: vgpr_count, sgpr_spill_count, …
  llvm::StringMap<int64_t> metadata;

  unsigned getWaveSize() const;
  /// Whether all threads of a block are one wave, so that no barrier is needed, and none is kept.
  bool isOneWave() const;
  /// Whether stores are counted apart from loads (from gfx10 on).
  bool countsStoresApart() const;
  /// Whether LDS accesses and scalar loads are counted apart (from gfx12 on).
  bool countsScalarsApart() const;
  /// Whether loads from global memory write registers in the order of issue (until gfx11); they are
  /// counted in it on every chip.
  bool fillsInOrder() const;
  /// The most that a counter can say; a wait for that many or more waits for nothing.
  unsigned getCounterLimit(Counter counter) const;
  /// The loops that hold no other: the instructions of each, in order.
  std::vector<std::vector<unsigned>> getInnerLoops() const;
};

/// Reads the kernels of an assembly text as LLVM prints it, and the functions beside them. It is an
/// error if an instruction is not of a form that is known.
llvm::Expected<std::vector<KernelCode>> parseISA(llvm::StringRef text);

} // namespace kiln::amdgcn

#endif // KILN_TARGET_AMDGPU_ISA_H
