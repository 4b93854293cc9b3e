// What the common passes ask of a chip: numbers, never a vendor's name. Chip.td says how a chip is
// described.
#ifndef KILN_TARGET_CHIP_H
#define KILN_TARGET_CHIP_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace kiln {

/// A number, and the document or measurement that it is from.
struct Figure {
  int64_t value;
  llvm::StringRef source;
};

/// The cycles that so many results take, of which there are so many a cycle; nothing if nobody
/// knows how many.
inline std::optional<int64_t> countCycles(int64_t results, const std::optional<Figure> &rate) {
  if (!rate)
    return std::nullopt;
  return (results + rate->value - 1) / rate->value;
}

/// What is known of a chip, each in the unit that `getQuantities` gives; what nobody has measured
/// is unset.
struct Figures {
#define KILN_QUANTITY(name, unit, summary) std::optional<Figure> name;
#include "kiln/Target/Quantities.inc"
};

/// A number that a chip's record may state. `unit` is empty where things are counted.
struct Quantity {
  llvm::StringRef name, unit, summary;
  std::optional<Figure> Figures::*member;
};

/// All that there are.
llvm::ArrayRef<Quantity> getQuantities();

/// How shared memory serves one access of a warp. Lanes are served in groups, one group a cycle:
/// a group is the lanes that xor combinations of `lanes` name, and each other group is such a one
/// with another lane added. Within a group two lanes may not ask one bank for different rows.
struct SharedPhase {
  /// Banks of four bytes each.
  unsigned banks;
  /// A basis of the group; zeros end it.
  unsigned lanes[6];
};

/// By what each lane asks for: at most 4 bytes, 8, or 16.
struct SharedPhases {
  SharedPhase reads[3], writes[3];
};

/// 32 banks that serve lanes in their order, 128 bytes a cycle.
inline constexpr SharedPhases kPlainPhases = {
    {{32, {1, 2, 4, 8, 16}}, {32, {1, 2, 4, 8}}, {32, {1, 2, 4}}},
    {{32, {1, 2, 4, 8, 16}}, {32, {1, 2, 4, 8}}, {32, {1, 2, 4}}}};

/// How the warps of a program hand registers to one another; a step of zero: they cannot.
struct RoleRegisters {
  /// What a thread can have after it.
  unsigned step = 0, least = 0, most = 0;
  /// How many warps do it together.
  unsigned warps = 1;
};

/// The chip of a target's that stands for the machine at hand; a target's name alone means it.
inline constexpr llvm::StringLiteral kHostChip = "host";

/// One chip that a target can compile for. Sizes are those of one program (block). A target's own
/// records add what only its folder asks.
struct Chip {
  llvm::StringRef name;
  /// Threads that run in step and can exchange registers.
  unsigned warpSize = 1;
  /// The most threads that one program can have.
  unsigned maxThreads = 1;
  /// 32-bit registers: the most one thread can address, and what one core holds.
  unsigned registersPerThread = 0;
  unsigned registersPerCore = 0;
  /// The shared memory one program can use, in bytes.
  unsigned sharedBytes = 0;
  /// Features for LLVM's code generator, as it spells them.
  llvm::StringRef features = "";
  SharedPhases shared = kPlainPhases;
  /// Whether its matrix instructions take subnormal f16 and bf16 for zero.
  bool flushesHalves = false;
  /// Whether the slots of a ring that a role fills for itself must be known when compiling: the
  /// code generator's own waits tell no others apart.
  bool knownSlots = false;
  /// Its barrier waits for no access: each warp waits for its own in front of it.
  bool bareBarriers = false;
  /// Warps have priorities.
  bool priorities = false;
  RoleRegisters roleRegisters = {};
  /// The product that the numbers are of, and where the sizes above are from; empty for the host.
  llvm::StringRef machine = "", source = "";
  Figures figures = {};

  /// What each thread has when so many warps begin, of registers that they can hand on. Each of the
  /// core's four schedulers has a quarter of them, and one of nine warps shares it with two others.
  unsigned getRegistersAtEntry(unsigned warps) const {
    unsigned step = roleRegisters.step ? roleRegisters.step : 1;
    return registersPerCore / ((warps + 3) / 4 * 4 * warpSize) / step * step;
  }
};

} // namespace kiln

#endif // KILN_TARGET_CHIP_H
