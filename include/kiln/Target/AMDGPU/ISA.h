// The final code of a kernel, read back from its assembly text: what checks and figures are made
// of, after everything that may still change code has run.
#ifndef KILN_TARGET_AMDGPU_ISA_H
#define KILN_TARGET_AMDGPU_ISA_H

#include "kiln/Support/Protocol.h"
#include "kiln/Target/AMDGPU/Operation.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>
#include <vector>

namespace kiln::amdgcn {

/// A run of registers of 32 bits of one file, 'v', 'a' (accumulators) or 's', by the numbers that
/// instructions encode: vcc, m0 and exec are scalar registers behind those with a number.
struct Registers {
  char file = 0;
  unsigned first = 0, last = 0;
  unsigned getBytes() const { return 4 * (last - first + 1); }
  bool overlaps(const Registers &other) const {
    return file == other.file && first <= other.last && other.first <= last;
  }
  bool operator==(const Registers &other) const {
    return file == other.file && first == other.first && last == other.last;
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

/// One operand as LLVM keeps it; neither a register nor a number if it is a symbol.
struct Operand {
  std::optional<Registers> registers;
  std::optional<int64_t> number;
  bool isResult = false;
  /// The same register as a result, whose old content it is.
  bool isTied = false;
  /// Bits of the instruction itself, as an offset, and no number that is computed with.
  bool isModifier = false;
  /// Half of the register alone.
  bool isLowerHalf = false, isUpperHalf = false;
};

struct Instruction {
  /// As it is written, for messages, figures and names alone; and of the second of two in one.
  std::string mnemonic, secondMnemonic;
  unsigned line = 0;
  Kind kind = Kind::Other;
  /// Of two instructions in one, that of the second half too.
  Operation operation = Operation::None, secondOperation = Operation::None;
  bool isDual = false;
  /// Of what it gives, or compares.
  NumberType type;
  /// Of a comparison: the relations in which it holds.
  std::optional<unsigned> relations;
  /// By the scalar unit; and whether it gives that unit's condition (scc).
  bool isScalar = false, writesCondition = false;
  /// In LLVM's order: results first. Registers that the text does not name are not among them.
  llvm::SmallVector<Operand, 8> operands;
  /// All registers that it reads and writes, whether the text names them or not.
  llvm::SmallVector<Registers, 6> reads;
  llvm::SmallVector<Registers, 2> writes;
  /// Of a memory access: the bytes that one lane moves by one address (a lane's share of the
  /// result for a matrix instruction is not given).
  unsigned bytes = 0;
  /// Of a memory access: its offset in bytes; of one to two places, both.
  llvm::SmallVector<unsigned, 2> offsets;
  /// Of an access to LDS: where the address stands.
  std::optional<Operand> address;
  /// Of a wait: how many may stay outstanding, by counter.
  std::optional<unsigned> waits[kNumCounters];
  /// Of a load: where its result goes, and whether it keeps half of what stood there.
  std::optional<Registers> result;
  bool keepsHalf = false;
  /// Of an access to part of a register: the upper half of it.
  bool isOfUpperHalf = false;
  /// To the memory of one lane that the compiler took for itself.
  bool isScratch = false;
  /// Operands that come from other lanes, and those that are parts of registers.
  bool permutesLanes = false, isSubDword = false;
  /// Of an access to LDS: a word that counts round is a barrier. Some wave arrives at it, or looks
  /// at it in a loop in which it sleeps.
  bool isArrival = false, isLook = false;
  /// Where a branch may go; what follows is not among them.
  std::optional<unsigned> target;
  bool fallsThrough = true;
};

/// One of a kernel's arguments: where it lies among them, and what it is ("global_buffer",
/// "by_value", "hidden_block_count_x").
struct Argument {
  unsigned offset = 0, size = 0;
  std::string kind;
};

/// One kernel of a module's text, or a function that kernels call.
struct KernelCode {
  std::string name, chip;
  bool isFunction = false;
  std::vector<Instruction> code;
  /// The numbers of the code object's metadata: vgpr_count, sgpr_spill_count, …
  llvm::StringMap<int64_t> metadata;
  std::vector<Argument> arguments;
  /// The numbers of its descriptor, which say what registers hold at the start:
  /// user_sgpr_kernarg_segment_ptr, system_sgpr_workgroup_id_x, …
  llvm::StringMap<int64_t> descriptor;
  /// What the functions of the text write: LLVM keeps numbers in all other registers across a call.
  std::vector<Registers> writtenByFunctions;
  /// What the compiler declares of it, if anything.
  std::optional<Protocol> protocol;

  unsigned getWaveSize() const;
  /// How many threads a block has, at the most; blocks of tile programs have one dimension.
  unsigned getThreads() const;
  /// Whether all threads of a block are one wave, so that no barrier is needed, and none is kept.
  bool isOneWave() const;
  /// Whether stores are counted apart from loads (from gfx10 on).
  bool countsStoresApart() const;
  /// Whether LDS accesses and scalar loads are counted apart (from gfx12 on).
  bool countsScalarsApart() const;
  /// Whether loads from global memory write registers in the order of issue (until gfx11); they are
  /// counted in it on every chip.
  bool fillsInOrder() const;
  /// What an instruction is counted by, if anything.
  std::optional<Counter> getCounter(const Instruction &instruction) const;
  /// The most that a counter can say; a wait for that many or more waits for nothing.
  unsigned getCounterLimit(Counter counter) const;
  /// By instruction, and the end: whether a block begins there, where branches go and behind them.
  std::vector<bool> getBlockStarts() const;
  /// The loops that hold no other: the instructions of each, in order.
  std::vector<std::vector<unsigned>> getInnerLoops() const;
};

/// Reads the kernels of an assembly text as LLVM prints it, and the functions beside them, by
/// LLVM's own assembler. It is an error if that refuses a line, or if what an instruction waits for
/// or counts is not known.
llvm::Expected<std::vector<KernelCode>> parseISA(llvm::StringRef text);

} // namespace kiln::amdgcn

#endif // KILN_TARGET_AMDGPU_ISA_H
