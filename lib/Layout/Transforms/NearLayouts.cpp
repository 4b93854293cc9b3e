// NearLayouts.h: which bits change places.
#include "NearLayouts.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

using Basis = LinearLayout::Basis;
using InDim = LinearLayout::InDim;

static constexpr int64_t kSectorBytes = 32;

AccessCost kiln::countAccess(LoadOp load, const LinearLayout &layout) {
  AccessFacts facts = getAccessFacts(load);
  int64_t registers = layout.getInSize(kRegister);
  // Elements that lie who knows where are a sector each.
  if (facts.dim < 0)
    return {countSectors(layout, 0, 1, kSectorBytes), registers};
  int64_t width = std::min(facts.width, layout.getContiguity(kRegister, getDimName(facts.dim)));
  return {countSectors(layout, facts.dim, width, getElementBytes(load.getType().getElementType())),
          std::max<int64_t>(1, registers / width)};
}

namespace {
/// A bit of a place: of a register's number, or of a lane's.
struct PlaceBit {
  bool isLane;
  unsigned bit;
  bool operator==(const PlaceBit &other) const {
    return isLane == other.isLane && bit == other.bit;
  }
};

/// From bits to bits of the same two numbers.
struct Rearrangement {
  std::vector<PlaceBit> registers, lanes;

  explicit Rearrangement(const LinearLayout &layout) {
    for (unsigned bit = 0; bit < layout.getInBits(kRegister); ++bit)
      registers.push_back({false, bit});
    for (unsigned bit = 0; bit < layout.getInBits(kLane); ++bit)
      lanes.push_back({true, bit});
  }
  LinearLayout apply(const LinearLayout &layout) const {
    SmallVector<InDim> ins(layout.getIns());
    for (InDim &in : ins) {
      if (in.name == kWarp)
        continue;
      in.bases.clear();
      for (PlaceBit from : in.name == kLane ? lanes : registers)
        in.bases.push_back(layout.getBases(from.isLane ? kLane : kRegister)[from.bit]);
    }
    return *LinearLayout::create(ins, layout.getOuts());
  }
};

/// Finds which bits have which elements of a row.
class RowBits {
public:
  RowBits(const LinearLayout &layout, unsigned dim) : layout(layout), dim(dim) {}

  Basis getBasis(PlaceBit place) const {
    return layout.getBases(place.isLane ? kLane : kRegister)[place.bit];
  }
  /// Whether a bit has elements this far apart in the row, and no others.
  bool has(PlaceBit place, int64_t distance) const {
    Basis basis(layout.getOuts().size(), 0);
    basis[dim] = distance;
    return getBasis(place) == basis;
  }
  /// Where bits may change places: what counts an extent's odd factor stays.
  bool isMovable(PlaceBit place) const {
    Basis basis = getBasis(place);
    for (auto [value, extent] : llvm::zip_equal(basis, layout.getShape()))
      if (value >= getPowerOf2Factor(extent))
        return false;
    return true;
  }

private:
  const LinearLayout &layout;
  unsigned dim;
};
} // namespace

static std::vector<PlaceBit>::iterator find(std::vector<PlaceBit> &places, const RowBits &row,
                                            int64_t distance) {
  return llvm::find_if(places, [&](PlaceBit place) { return row.has(place, distance); });
}

/// Registers with `width` consecutive elements, and lanes with what follows of so many; none if
/// other warps have some of these, or there are not bits enough.
static std::optional<Rearrangement> rearrange(const LinearLayout &loaded, unsigned dim,
                                              int64_t width, int64_t inLanes) {
  RowBits row(loaded, dim);
  Rearrangement places(loaded);
  // Consecutive elements come to the lowest registers; where lanes had them, these have what
  // follows in the row instead, or else whatever registers have.
  unsigned first = 0;
  for (int64_t distance = 1; distance < width; distance *= 2, ++first) {
    if (auto own = find(places.registers, row, distance); own != places.registers.end()) {
      std::rotate(places.registers.begin() + first, own, own + 1);
      continue;
    }
    auto lane = find(places.lanes, row, distance);
    auto given = places.registers.end();
    for (int64_t next = width; next < loaded.getShape()[dim] && given == places.registers.end();
         next *= 2)
      given = find(places.registers, row, next);
    auto isFree = [&](PlaceBit place) {
      int64_t next = 1;
      while (next < width && !row.has(place, next))
        next *= 2;
      return next >= width && row.isMovable(place);
    };
    if (given == places.registers.end() || !isFree(*given))
      given = llvm::find_if(places.registers, isFree);
    if (lane == places.lanes.end() || given == places.registers.end())
      return std::nullopt;
    std::swap(*lane, *given);
    std::rotate(places.registers.begin() + first, given, given + 1);
  }
  for (int64_t distance = width; distance < inLanes; distance *= 2) {
    if (find(places.lanes, row, distance) != places.lanes.end())
      continue;
    auto given = find(places.registers, row, distance);
    auto isOther = [&](PlaceBit place) {
      int64_t next = width;
      while (next < inLanes && !row.has(place, next))
        next *= 2;
      return next >= inLanes && row.isMovable(place);
    };
    auto lane = llvm::find_if(places.lanes, isOther);
    if (given == places.registers.end() || lane == places.lanes.end() || !row.isMovable(*given))
      return std::nullopt;
    std::swap(*lane, *given);
  }
  return places;
}

std::vector<LinearLayout> kiln::findNearLayouts(const LinearLayout &wanted,
                                                const LinearLayout &loaded, LoadOp load) {
  std::vector<LinearLayout> layouts = {wanted};
  AccessFacts facts = getAccessFacts(load);
  auto isAlike = [&](StringRef part) { return wanted.getInBits(part) == loaded.getInBits(part); };
  if (facts.dim < 0 || sharesByte(load.getType().getElementType()) || !isAlike(kRegister) ||
      !isAlike(kLane))
    return layouts;
  int64_t sector = kSectorBytes / getElementBytes(load.getType().getElementType());
  for (int64_t width = 1; width <= facts.width; width *= 2)
    for (int64_t inLanes = width; inLanes <= std::max(width, sector); inLanes *= 2)
      if (std::optional<Rearrangement> places = rearrange(loaded, facts.dim, width, inLanes))
        layouts.push_back(places->apply(wanted));
  return layouts;
}
