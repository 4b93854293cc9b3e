// AMD's chips: a record of each for the common passes, and one for this folder.
#include "Chips.h"
#include "kiln/Target/Registry.h"
#include <iterator>

using namespace kiln;
using namespace kiln::amdgcn;

// Reads of 16 bytes are served four lanes here and four there (AMD's Composable Kernel guide, "LDS
// bank conflicts"); the last of these chips reads from 64 banks, by figures that HipKittens took.
static constexpr SharedPhases kCdnaPhases = {
    {{32, {1, 2, 4, 8, 16}}, {32, {1, 2, 4, 8}}, {32, {1, 2, 20}}},
    {{32, {1, 2, 4, 8, 16}}, {32, {1, 2, 4, 8}}, {32, {1, 2, 4}}}};
static constexpr SharedPhases kCdna4Phases = {
    {{64, {1, 2, 4, 8, 16, 32}}, {64, {1, 2, 4, 8, 16}}, {64, {1, 2, 12, 20}}},
    {{32, {1, 2, 4, 8, 16}}, {32, {1, 2, 4, 8}}, {32, {1, 2, 4}}}};

static const Chip kChips[] = {
    {"gfx90a", 64, 1024, 512, 131072, 65536, "", kCdnaPhases, /*flushesHalves=*/true},
    {"gfx942", 64, 1024, 512, 131072, 65536, "", kCdnaPhases},
    {"gfx950", 64, 1024, 512, 131072, 163840, "", kCdna4Phases},
    {"gfx1100", 32, 1024, 256, 196608, 65536, ""},
    {"gfx1201", 32, 1024, 256, 196608, 65536, ""},
};

static constexpr int64_t kCdnaBuffer = 7 << 12 | 4 << 15,
                         kRdnaBuffer = kCdnaBuffer | 1 << 24 | 3 << 28;

// In the same order.
static const Abilities kAbilities[] = {
    /*gfx90a*/ {4, false, false, false, kCdnaBuffer, 2},
    /*gfx942*/ {4, false, false, false, kCdnaBuffer, 2},
    /*gfx950*/ {16, true, true, false, kCdnaBuffer, 2},
    /*gfx1100*/ {0, false, false, true, kRdnaBuffer, 2},
    /*gfx1201*/ {0, false, false, false, kRdnaBuffer, 1},
};
static_assert(std::size(kChips) == std::size(kAbilities), "each chip has both records");

llvm::ArrayRef<Chip> kiln::amdgcn::getChips() { return kChips; }

const Abilities &kiln::amdgcn::getAbilities(llvm::StringRef chip) {
  static const Abilities none = {};
  const Chip *known = findChip(kChips, chip);
  return known ? kAbilities[known - kChips] : none;
}
