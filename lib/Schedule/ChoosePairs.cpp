// Which products two programs of a cluster had better make together, by what it costs to read their
// operands.
//
// While an instruction multiplies, it reads its operands out of shared memory, and the engine
// writes the next ones there. Of two programs each has half of operand b, and the instruction reads
// both halves at once: so each core's shared memory has that much less to do of either.
#include "OwnRingDecider.h"
#include "kiln/Layout/Transforms/Layouts.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Programs that come to a product together wait for one another: it must gain an eighth.
static constexpr int64_t kLeastGain = 8;

/// For how many cycles a core is busy with a product of a program: its units multiply, beside what
/// its shared memory takes in and gives out. None where the chip's record does not say.
static std::optional<int64_t> countBusyCycles(DotOp dot, AsyncMmaAtomInterface atom,
                                              const Chip &chip) {
  auto mma = cast<MmaAtomInterface>(atom);
  const std::optional<Figure> &bandwidth = chip.figures.sharedBandwidth;
  int64_t m = dot.getM(), n = dot.getN(), k = dot.getK();
  std::optional<int64_t> multiplying =
      mma.getIssueCycles(chip, dot.getType().getElementType(), m * n * k);
  if (!multiplying || !bandwidth)
    return std::nullopt;
  // Each row of a is written once and read once, if it comes there, and each column of b read by
  // the instruction of every so many rows.
  int64_t rows = findLoad(dot.getA()) ? m : 0, columns = n / mma.getPrograms();
  int64_t vectors = 2 * rows + columns + m / mma.getExtents()[0] * columns;
  int64_t bits = getElementTypeOrSelf(dot.getB()).getIntOrFloatBitWidth();
  return std::max(*multiplying, vectors * k * bits / 8 / bandwidth->value);
}

AsyncMmaAtomInterface kiln::findPairAtom(DotOp dot, AsyncMmaAtomInterface alone,
                                         TargetInterface target) {
  const Chip &chip = target.getChipRecord();
  for (Attribute atom : target.getAtoms(dot)) {
    auto pair = dyn_cast<AsyncMmaAtomInterface>(atom);
    if (!pair || cast<MmaAtomInterface>(atom).getPrograms() == 1)
      continue;
    std::optional<int64_t> cycles = countBusyCycles(dot, pair, chip),
                           cyclesAlone = countBusyCycles(dot, alone, chip);
    if (cycles && cyclesAlone && *cycles <= *cyclesAlone - *cyclesAlone / kLeastGain)
      return pair;
  }
  return {};
}
