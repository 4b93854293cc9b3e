// The interfaces of atoms, and the one that every chip has.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "kiln/Target/Chip.h"

using namespace mlir;
using kiln::Figure;

#include "kiln/Dialect/Tile/IR/TileAtomInterfaces.cpp.inc"

//===- A multiply-add an element ------------------------------------------------------------===//

std::array<int64_t, 3> kiln::tile::FmaAtomAttr::getExtents() const { return {1, 1, 1}; }

kiln::tile::Unit kiln::tile::FmaAtomAttr::getUnit() const { return Unit::Lanes; }

std::optional<int64_t> kiln::tile::FmaAtomAttr::getIssueCycles(const Chip &chip, Type sum,
                                                               int64_t products) const {
  const Figures &figures = chip.figures;
  if (sum.isInteger())
    return countCycles(products, figures.multiplyI32 ? figures.multiplyI32 : figures.addI32);
  return countCycles(products, sum.isF64() ? figures.fmaF64 : figures.fmaF32);
}

std::optional<int64_t> kiln::tile::FmaAtomAttr::getLatency(const Chip &chip) const {
  const std::optional<Figure> &latency = chip.figures.fmaLatency;
  return latency ? std::optional(latency->value) : std::nullopt;
}

//===- A copy through registers -------------------------------------------------------------===//

bool kiln::tile::ThroughRegistersAttr::canCopy(Place from, Place to) const {
  return from == Place::Global && to == Place::Shared;
}

/// The loads do as the hints say.
bool kiln::tile::ThroughRegistersAttr::follows(std::optional<Cache>,
                                               std::optional<Eviction>) const {
  return true;
}

/// Lanes may load and store element by element.
unsigned kiln::tile::ThroughRegistersAttr::getGranularity() const { return 1; }

/// The load, and the store behind it.
std::optional<int64_t> kiln::tile::ThroughRegistersAttr::getLatency(const Chip &chip) const {
  const std::optional<Figure> &load = chip.figures.memoryLatency;
  const std::optional<Figure> &store = chip.figures.sharedLatency;
  return load ? std::optional(load->value + (store ? store->value : 0)) : std::nullopt;
}
