// Construction of linear layouts, and what can be asked of one.
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace kiln {

std::string getDimName(unsigned index) { return "dim" + std::to_string(index); }

SmallVector<LinearLayout::OutDim> getTensorOuts(ArrayRef<int64_t> shape) {
  SmallVector<LinearLayout::OutDim> outs;
  for (auto [i, size] : llvm::enumerate(shape))
    outs.push_back({getDimName(i), size});
  return outs;
}

std::optional<LinearLayout> LinearLayout::create(ArrayRef<InDim> ins, ArrayRef<OutDim> outs,
                                                 std::string *error) {
  auto fail = [&](const std::string &why) {
    if (error)
      *error = why;
    return std::nullopt;
  };
  for (const OutDim &out : outs)
    if (out.size < 1)
      return fail("expected an extent of at least 1 along " + out.name + ", got " +
                  std::to_string(out.size));
  for (auto [i, in] : llvm::enumerate(ins)) {
    for (const InDim &other : ins.take_front(i))
      if (other.name == in.name)
        return fail("expected one list of bases for '" + in.name + "', got two");
    for (const Basis &basis : in.bases) {
      if (basis.size() != outs.size())
        return fail("expected " + std::to_string(outs.size()) + " coordinates in each basis of '" +
                    in.name + "', got " + std::to_string(basis.size()));
      for (auto [value, out] : llvm::zip(basis, outs))
        if (value < 0 || value >= int64_t(llvm::PowerOf2Ceil(out.size)))
          return fail("expected a basis of '" + in.name + "' within the extent " +
                      std::to_string(out.size) + ", got " + std::to_string(value));
    }
  }
  LinearLayout layout;
  layout.ins.assign(ins.begin(), ins.end());
  layout.outs.assign(outs.begin(), outs.end());
  if (layout.getTotalInBits() > 62 || layout.getTotalOutBits() > 62)
    return fail("expected at most 62 bits of places and of elements");
  return layout;
}

LinearLayout LinearLayout::identity(int64_t size, StringRef in, StringRef out) {
  LinearLayout layout;
  InDim bits{in.str(), {}};
  for (int64_t value = 1; value < size; value *= 2)
    bits.bases.push_back({value});
  layout.ins.push_back(bits);
  layout.outs.push_back({out.str(), size});
  return layout;
}

LinearLayout LinearLayout::zeros(int64_t size, StringRef in, StringRef out) {
  LinearLayout layout = identity(size, in, out);
  for (Basis &basis : layout.ins.front().bases)
    basis = {0};
  layout.outs.front().size = 1;
  return layout;
}

//===- Looking ------------------------------------------------------------------------------===//

/// What an extent is a multiple of, by a power of two.
static int64_t getUnit(int64_t size) { return size & -size; }

static unsigned countCuttingBits(int64_t size) { return llvm::Log2_64_Ceil(size / getUnit(size)); }

/// Whether the highest bits of a part count the units of a coordinate, of whose bits they are the
/// highest as well.
static bool isCutBy(ArrayRef<LinearLayout::Basis> bases, unsigned dim, int64_t size) {
  unsigned bits = countCuttingBits(size);
  if (bits == 0 || bases.size() < bits)
    return false;
  for (auto [bit, basis] : llvm::enumerate(bases.take_back(bits)))
    for (auto [at, value] : llvm::enumerate(basis))
      if (value != (at == dim ? getUnit(size) << bit : 0))
        return false;
  return true;
}

int64_t LinearLayout::getInSize(StringRef in) const {
  ArrayRef<Basis> bases = getBases(in);
  for (auto [dim, out] : llvm::enumerate(outs))
    if (!llvm::isPowerOf2_64(out.size) && isCutBy(bases, dim, out.size))
      return out.size / getUnit(out.size) << (bases.size() - countCuttingBits(out.size));
  return int64_t(1) << bases.size();
}

bool LinearLayout::isThere(ArrayRef<int64_t> place) const {
  return llvm::all_of(llvm::zip_equal(ins, place), [&](auto part) {
    auto [in, value] = part;
    return value < getInSize(in.name);
  });
}

bool LinearLayout::isExact() const {
  for (auto [dim, out] : llvm::enumerate(outs)) {
    if (llvm::isPowerOf2_64(out.size))
      continue;
    unsigned cuts = 0;
    for (const InDim &in : ins) {
      ArrayRef<Basis> below = in.bases;
      if (isCutBy(in.bases, dim, out.size)) {
        below = below.drop_back(countCuttingBits(out.size));
        ++cuts;
      }
      for (const Basis &basis : below)
        if (basis[dim] >= getUnit(out.size))
          return false;
    }
    if (cuts != 1)
      return false;
  }
  return true;
}

LinearLayout LinearLayout::dropCuts() const {
  LinearLayout result = *this;
  for (auto [dim, out] : llvm::enumerate(outs)) {
    if (llvm::isPowerOf2_64(out.size))
      continue;
    for (InDim &in : result.ins)
      if (isCutBy(in.bases, dim, out.size))
        in.bases.truncate(in.bases.size() - countCuttingBits(out.size));
    result.outs[dim].size = getUnit(out.size);
  }
  return result;
}

ArrayRef<LinearLayout::Basis> LinearLayout::getBases(StringRef name) const {
  for (const InDim &in : ins)
    if (in.name == name)
      return in.bases;
  return {};
}

bool LinearLayout::hasIn(StringRef name) const {
  return llvm::any_of(ins, [&](const InDim &in) { return in.name == name; });
}

int LinearLayout::getOutIndex(StringRef name) const {
  for (auto [i, out] : llvm::enumerate(outs))
    if (out.name == name)
      return i;
  return -1;
}

unsigned LinearLayout::getTotalInBits() const {
  unsigned bits = 0;
  for (const InDim &in : ins)
    bits += in.bases.size();
  return bits;
}

unsigned LinearLayout::getTotalOutBits() const {
  unsigned bits = 0;
  for (const OutDim &out : outs)
    bits += llvm::Log2_64_Ceil(out.size);
  return bits;
}

SmallVector<int64_t> LinearLayout::getShape() const {
  return llvm::map_to_vector(outs, [](const OutDim &out) { return out.size; });
}

SmallVector<std::string> LinearLayout::getInNames() const {
  return llvm::map_to_vector(ins, [](const InDim &in) { return in.name; });
}

SmallVector<std::string> LinearLayout::getOutNames() const {
  return llvm::map_to_vector(outs, [](const OutDim &out) { return out.name; });
}

LinearLayout::Basis LinearLayout::apply(ArrayRef<int64_t> place) const {
  Basis element(outs.size(), 0);
  for (auto [in, value] : llvm::zip(ins, place))
    for (auto [bit, basis] : llvm::enumerate(in.bases))
      if (value >> bit & 1)
        for (auto [sum, coordinate] : llvm::zip(element, basis))
          sum ^= coordinate;
  return element;
}

LinearLayout::Basis LinearLayout::applyTo(StringRef name, int64_t value) const {
  return apply(llvm::map_to_vector(
      ins, [&](const InDim &in) { return in.name == name ? value : int64_t(0); }));
}

int64_t LinearLayout::flatten(ArrayRef<int64_t> element) const {
  int64_t flat = 0;
  for (auto [value, out] : llvm::zip(element, outs))
    flat = (flat << llvm::Log2_64_Ceil(out.size)) | value;
  return flat;
}

LinearLayout::Basis LinearLayout::unflatten(int64_t flat) const {
  Basis element(outs.size());
  for (int i = outs.size() - 1; i >= 0; --i) {
    unsigned bits = llvm::Log2_64_Ceil(outs[i].size);
    element[i] = flat & ((int64_t(1) << bits) - 1);
    flat >>= bits;
  }
  return element;
}

int64_t LinearLayout::flattenPlace(ArrayRef<int64_t> place) const {
  int64_t flat = 0;
  unsigned shift = 0;
  for (auto [value, in] : llvm::zip(place, ins)) {
    flat |= value << shift;
    shift += in.bases.size();
  }
  return flat;
}

LinearLayout::Basis LinearLayout::unflattenPlace(int64_t flat) const {
  Basis place;
  for (const InDim &in : ins) {
    place.push_back(flat & ((int64_t(1) << in.bases.size()) - 1));
    flat >>= in.bases.size();
  }
  return place;
}

F2Matrix LinearLayout::getMatrix() const {
  SmallVector<uint64_t> columns;
  for (const InDim &in : ins)
    for (const Basis &basis : in.bases)
      columns.push_back(flatten(basis));
  return F2Matrix(columns);
}

SmallVector<int64_t> LinearLayout::freeVariables() const {
  Basis masks = unflattenPlace(getMatrix().dependentColumns());
  return SmallVector<int64_t>(masks.begin(), masks.end());
}

SmallVector<LinearLayout::Basis> LinearLayout::kernel() const {
  SmallVector<Basis> places;
  for (uint64_t vector : getMatrix().kernel())
    places.push_back(unflattenPlace(vector));
  return places;
}

SmallVector<LinearLayout::Basis> LinearLayout::image() const {
  F2Matrix matrix = getMatrix();
  uint64_t dependent = matrix.dependentColumns();
  SmallVector<Basis> elements;
  for (unsigned j = 0; j < matrix.getNumColumns(); ++j)
    if (!(dependent >> j & 1))
      elements.push_back(unflatten(matrix.getColumn(j)));
  return elements;
}

int64_t LinearLayout::getContiguity(StringRef in, StringRef out) const {
  int index = getOutIndex(out);
  int64_t run = 1;
  for (const Basis &basis : getBases(in)) {
    Basis next(outs.size(), 0);
    if (index < 0 || run >= outs[index].size)
      break;
    next[index] = run;
    if (basis != next)
      break;
    run *= 2;
  }
  // A run must also not be broken up by what the other bits add: their coordinates along
  // `out` must be multiples of it.
  for (const InDim &dim : ins)
    for (auto [bit, basis] : llvm::enumerate(dim.bases))
      if (dim.name != in || (int64_t(1) << bit) >= run)
        while (run > 1 && basis[index] % run != 0)
          run /= 2;
  while (getInSize(in) % run)
    run /= 2;
  return run;
}

SmallVector<unsigned> LinearLayout::getOrder(StringRef in) const {
  SmallVector<unsigned> order;
  for (const Basis &basis : getBases(in))
    for (unsigned i = 0; i < outs.size(); ++i)
      if (basis[i] && !llvm::is_contained(order, i))
        order.push_back(i);
  for (int i = outs.size() - 1; i >= 0; --i)
    if (!llvm::is_contained(order, unsigned(i)))
      order.push_back(i);
  return order;
}

} // namespace kiln
