// NVIDIA's chips: a record of each for the common passes, and one for this folder.
#include "Chips.h"
#include "kiln/Target/Registry.h"
#include <iterator>

using namespace kiln;
using namespace kiln::nvptx;

// Shared memory is what a block may ask for, less what the system keeps. The version of PTX is
// the first that knows the chip in full; without one LLVM takes a default that may be too old.
// Groups of four warps resize their threads' registers, in steps of eight (`setmaxnreg`).
static constexpr RoleRegisters kResizable = {8, 24, 256, 4};

static const Chip kChips[] = {
    {"sm_80", 32, 1024, 255, 65536, 166912, "+ptx80"},
    {"sm_86", 32, 1024, 255, 65536, 101376, "+ptx80"},
    {"sm_89", 32, 1024, 255, 65536, 101376, "+ptx84"},
    {"sm_90a", 32, 1024, 255, 65536, 232448, "+ptx86", kPlainPhases, /*flushesHalves=*/false,
     kResizable},
    {"sm_100a", 32, 1024, 255, 65536, 232448, "+ptx86", kPlainPhases, /*flushesHalves=*/false,
     kResizable},
    {"sm_103a", 32, 1024, 255, 65536, 232448, "+ptx88", kPlainPhases, /*flushesHalves=*/false,
     kResizable},
    {"sm_120a", 32, 1024, 255, 65536, 101376, "+ptx87", kPlainPhases, /*flushesHalves=*/false,
     kResizable},
};

// In the same order. Multiprocessors: CUDA's programming guide, "Compute Capabilities".
static const Abilities kAbilities[] = {
    /*sm_80*/ {false, true, false, 64, 32},
    /*sm_86*/ {false, true, false, 48, 16},
    /*sm_89*/ {true, true, false, 48, 24},
    /*sm_90a*/ {true, false, true, 64, 32},
    /*sm_100a*/ {true, false, false, 64, 32},
    /*sm_103a*/ {true, false, false, 64, 32},
    /*sm_120a*/ {true, false, false, 48, 24},
};
static_assert(std::size(kChips) == std::size(kAbilities), "each chip has both records");

llvm::ArrayRef<Chip> kiln::nvptx::getChips() { return kChips; }

const Abilities &kiln::nvptx::getAbilities(llvm::StringRef chip) {
  static const Abilities none = {};
  const Chip *known = findChip(kChips, chip);
  return known ? kAbilities[known - kChips] : none;
}
