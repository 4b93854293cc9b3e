// Rates and latencies of atoms, out of a chip's record.
#include "kiln/Target/Common/AtomCosts.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;

static constexpr int64_t kBankBytes = 4;

static const std::optional<Figure> &getMatrixRate(Type element, const Figures &figures) {
  unsigned bits = element.getIntOrFloatBitWidth();
  if (element.isInteger())
    return bits <= 4 && figures.matrixI4 ? figures.matrixI4 : figures.matrixI8;
  if (element.isF64())
    return figures.matrixF64 ? figures.matrixF64 : figures.fmaF64;
  if (element.isF32())
    return figures.matrixF32;
  if (isa<FloatTF32Type>(element))
    return figures.matrixTF32 ? figures.matrixTF32 : figures.matrixF32;
  if (bits <= 4 && figures.matrixF4)
    return figures.matrixF4;
  if (bits <= 6 && figures.matrixF6)
    return figures.matrixF6;
  return bits <= 8 && figures.matrixF8 ? figures.matrixF8 : figures.matrixF16;
}

static Type getWider(Type a, Type b) {
  return a.getIntOrFloatBitWidth() < b.getIntOrFloatBitWidth() ? b : a;
}

std::optional<int64_t> kiln::countMatrixCycles(const Chip &chip, Type a, Type b, int64_t products) {
  return countCycles(products, getMatrixRate(getWider(a, b), chip.figures));
}

std::optional<int64_t> kiln::countWarpMatrixCycles(const Chip &chip, Type a, Type b,
                                                   int64_t products) {
  Figures figures = chip.figures;
  for (auto [all, ofWarp] : {std::pair(&Figures::matrixTF32, &Figures::warpMatrixTF32),
                             {&Figures::matrixF16, &Figures::warpMatrixF16},
                             {&Figures::matrixF8, &Figures::warpMatrixF8},
                             {&Figures::matrixI8, &Figures::warpMatrixI8}})
    if (figures.*ofWarp)
      figures.*all = figures.*ofWarp;
  return countCycles(products, getMatrixRate(getWider(a, b), figures));
}

std::optional<int64_t> kiln::getCopyLatency(const Chip &chip,
                                            const std::optional<Figure> &fromCache) {
  const Figures &figures = chip.figures;
  if (!figures.memoryLatency)
    return std::nullopt;
  int64_t latency = figures.memoryLatency->value;
  if (fromCache && figures.l2Latency)
    latency += std::max<int64_t>(fromCache->value - figures.l2Latency->value, 0);
  return latency;
}

int64_t kiln::countWriteCycles(const Chip &chip, unsigned laneBytes) {
  const SharedPhase &phase = chip.shared.writes[laneBytes <= 4 ? 0 : laneBytes <= 8 ? 1 : 2];
  return llvm::divideCeil(int64_t(chip.warpSize) * laneBytes, phase.banks * kBankBytes);
}
