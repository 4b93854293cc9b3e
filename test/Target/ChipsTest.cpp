// What the records of chips state agrees: with the vendors' peaks, with itself, and with what each
// list of chips is made of.
#include "kiln/Target/AllTargets.h"
#include "kiln/Target/Registry.h"
#include "llvm/ADT/STLExtras.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace kiln;
using testing::ElementsAreArray;

namespace {

/// The chips of every target that is no emulation and not the host.
llvm::SmallVector<const Chip *> getAccelerators() {
  registerAllTargets();
  llvm::SmallVector<const Chip *> chips;
  for (const TargetEntry &entry : getTargets())
    if (entry.name != "emu")
      for (const Chip *chip : entry.chips)
        if (!chip->machine.empty())
          chips.push_back(chip);
  return chips;
}

int64_t get(const Chip &chip, std::optional<Figure> Figures::*member) {
  const std::optional<Figure> &figure = chip.figures.*member;
  return figure ? figure->value : 0;
}

TEST(Chips, EachNumberHasASource) {
  int numbers = 0;
  for (const Chip *chip : getAccelerators()) {
    EXPECT_FALSE(chip->source.empty()) << chip->name.str();
    for (const Quantity &quantity : getQuantities())
      if (const std::optional<Figure> &figure = chip->figures.*quantity.member) {
        EXPECT_GT(figure->value, 0) << chip->name.str() << " " << quantity.name.str();
        EXPECT_GE(figure->source.size(), 5u) << chip->name.str() << " " << quantity.name.str();
        ++numbers;
      }
  }
  EXPECT_GT(numbers, 200);
}

TEST(Chips, QuantitiesAreDescribed) {
  EXPECT_GT(getQuantities().size(), 50u);
  for (const Quantity &quantity : getQuantities())
    EXPECT_FALSE(quantity.summary.empty()) << quantity.name.str();
}

/// A peak counts a multiply-add as two operations.
TEST(Chips, PeaksAreCoresByClockByRate) {
  struct Peak {
    std::optional<Figure> Figures::*peak, Figures::*rate;
    bool isAtMatrixClock;
  } peaks[] = {{&Figures::peakFmaF32, &Figures::fmaF32, false},
               {&Figures::peakMatrixF64, &Figures::matrixF64, false},
               {&Figures::peakMatrixTF32, &Figures::matrixTF32, true},
               {&Figures::peakMatrixF16, &Figures::matrixF16, true},
               {&Figures::peakMatrixF8, &Figures::matrixF8, true}};
  int checked = 0;
  for (const Chip *chip : getAccelerators()) {
    const Figures &of = chip->figures;
    ASSERT_TRUE(of.cores && of.clock) << chip->name.str();
    for (const Peak &peak : peaks) {
      int64_t stated = get(*chip, peak.peak), rate = get(*chip, peak.rate);
      if (!stated)
        continue;
      int64_t clock =
          peak.isAtMatrixClock && of.matrixClock ? of.matrixClock->value : of.clock->value;
      double product = double(of.cores->value) * clock * 1e-3 * rate * 2;
      EXPECT_NEAR(product / stated, 1, 0.03) << chip->name.str() << " " << stated;
      ++checked;
    }
  }
  EXPECT_GT(checked, 20);
}

TEST(Chips, LimitsAgree) {
  for (const Chip *chip : getAccelerators()) {
    SCOPED_TRACE(chip->name.str());
    const Figures &of = chip->figures;
    ASSERT_TRUE(of.threadsPerCore && of.warpsPerCore && of.sharedPerCore && of.clock);
    EXPECT_EQ(of.threadsPerCore->value, of.warpsPerCore->value * chip->warpSize);
    EXPECT_LE(chip->maxThreads, of.threadsPerCore->value);
    EXPECT_LE(chip->sharedBytes, of.sharedPerCore->value);
    EXPECT_LE(chip->registersPerThread * chip->warpSize, chip->registersPerCore);
    if (of.matrixClock)
      EXPECT_LE(of.matrixClock->value, of.clock->value);
    if (of.measuredBandwidth) {
      EXPECT_LE(of.measuredBandwidth->value, of.memoryBandwidth->value);
      EXPECT_GT(of.measuredBandwidth->value * 3, of.memoryBandwidth->value * 2);
    }
  }
}

TEST(Chips, FartherMemoryTakesLonger) {
  std::optional<Figure> Figures::*order[] = {&Figures::sharedLatency,    &Figures::l1Latency,
                                             &Figures::l2Latency,        &Figures::l2FarLatency,
                                             &Figures::lastLevelLatency, &Figures::memoryLatency};
  std::optional<Figure> Figures::*rates[] = {&Figures::matrixF64, &Figures::matrixTF32,
                                             &Figures::matrixF16, &Figures::matrixF8,
                                             &Figures::matrixF4};
  for (const Chip *chip : getAccelerators()) {
    SCOPED_TRACE(chip->name.str());
    int64_t before = 0;
    for (auto member : order)
      if (int64_t cycles = get(*chip, member)) {
        EXPECT_LE(before, cycles);
        before = cycles;
      }
    before = 0;
    for (auto member : rates)
      if (int64_t rate = get(*chip, member)) {
        EXPECT_LE(before, rate);
        before = rate;
      }
  }
}

/// A loop's ops have a cost on each chip (OpCosts.h) but where nobody has published it, which
/// docs/rationale/scheduling-problem.md says.
TEST(Chips, StateWhatASolverAsksFor) {
  std::optional<Figure> Figures::*asked[] = {
      &Figures::fmaLatency, &Figures::memoryLatency, &Figures::matrixF16, &Figures::fmaF32,
      &Figures::addI32,     &Figures::exp2s,         &Figures::specials,  &Figures::conversions};
  std::string lacking;
  for (const Chip *chip : getAccelerators()) {
    bool states = get(*chip, &Figures::shuffleLatency) || get(*chip, &Figures::sharedLatency);
    for (auto member : asked)
      states &= get(*chip, member) > 0;
    if (!states)
      lacking += chip->name.str() + " ";
  }
  EXPECT_EQ(lacking, "sm_120a ");
}

TEST(Chips, EmulatedOnesAreTheOthers) {
  llvm::SmallVector<const Chip *> chips = getAccelerators();
  const TargetEntry *emulated =
      llvm::find_if(getTargets(), [](const TargetEntry &entry) { return entry.name == "emu"; });
  ASSERT_NE(emulated, getTargets().end());
  EXPECT_THAT(emulated->chips, ElementsAreArray(chips));
  for (const Chip *chip : chips)
    EXPECT_EQ(whyNoTarget(("emu:" + chip->name).str()), "");
}

TEST(Chips, NamesAreUniqueAndListedWhereOneIsUnknown) {
  llvm::SmallVector<const Chip *> chips = getAccelerators();
  std::string why = whyNoTarget("emu:none");
  for (const Chip *chip : chips) {
    EXPECT_EQ(llvm::count_if(chips, [&](const Chip *other) { return other->name == chip->name; }),
              1);
    EXPECT_THAT(why, testing::HasSubstr(chip->name.str()));
  }
}

} // namespace
