// Derivation of shared-memory layouts: subspaces of elements over F2.
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <functional>

using namespace mlir;
using namespace kiln;

using Vectors = SmallVector<uint64_t>;

static constexpr int64_t kBankBytes = 4;

namespace {
/// The span of some vectors, kept reduced.
class Span {
public:
  Span() = default;
  explicit Span(ArrayRef<uint64_t> vectors) {
    for (uint64_t vector : vectors)
      add(vector);
  }
  uint64_t reduce(uint64_t vector) const {
    for (uint64_t pivot : pivots)
      if (vector & llvm::bit_floor(pivot))
        vector ^= pivot;
    return vector;
  }
  bool contains(uint64_t vector) const { return reduce(vector) == 0; }
  /// False if it was in the span before.
  bool add(uint64_t vector) {
    vector = reduce(vector);
    if (vector)
      pivots.push_back(vector);
    return vector != 0;
  }

private:
  Vectors pivots;
};

/// One side in element space: what its registers hold, and which lanes are served together.
struct Side {
  const LinearLayout &layout;
  const SharedPhase *phases;
  bool isWrite;
  Vectors registers;

  Side(const LinearLayout &layout, const Chip &chip, bool isWrite)
      : layout(layout), phases(isWrite ? chip.shared.writes : chip.shared.reads), isWrite(isWrite) {
    for (const LinearLayout::Basis &basis : layout.getBases(kRegister))
      registers.push_back(layout.flatten(basis));
  }
  /// The span of what one cycle serves: a vector's elements, and the lanes of a group.
  Vectors getServed(ArrayRef<uint64_t> vector, const SharedPhase &phase,
                    const LinearLayout *namedRows) const {
    Vectors served(vector);
    for (unsigned mask : phase.lanes)
      if (mask && int64_t(mask) < layout.getInSize(kLane)) {
        if (!namedRows) {
          served.push_back(layout.flatten(layout.applyTo(kLane, mask)));
          continue;
        }
        LinearLayout::Basis place = namedRows->applyTo(kLane, mask);
        served.push_back(layout.flatten(layout.applyTo(kRegister, place[0])) ^
                         layout.flatten(layout.applyTo(kLane, place[1])));
      }
    return served;
  }
};
} // namespace

static const SharedPhase &getPhase(const SharedPhase *phases, int64_t bytes) {
  return phases[bytes <= 4 ? 0 : bytes <= 8 ? 1 : 2];
}

/// The elements of an atom's row as the layout has them; empty if it has not that many.
static Vectors getRow(const LinearLayout &layout, WarpCopyAtomInterface atom) {
  LinearLayout tile = atom.getTile();
  Vectors row(llvm::Log2_64(tile.getShape()[0]), 0);
  for (StringRef part : {kRegister, kLane}) {
    if (tile.getInBits(part) > layout.getInBits(part))
      return {};
    for (auto [basis, own] : llvm::zip(tile.getBases(part), layout.getBases(part)))
      if (basis[0])
        row[llvm::Log2_64(basis[0])] = layout.flatten(own);
  }
  if (llvm::any_of(row, [](uint64_t vector) { return vector == 0; }))
    return {};
  return row;
}

/// How many of the first vectors a side has in registers.
static size_t countHeld(ArrayRef<uint64_t> vectors, const Side &side) {
  size_t held = 0;
  while (held < vectors.size() && llvm::is_contained(side.registers, vectors[held]))
    ++held;
  return held;
}

/// The vector with the fewest bits, of those in `allowed`, that none of the spans contains; zero if
/// they cover all.
static uint64_t findOutside(unsigned bits, uint64_t allowed, ArrayRef<const Span *> spans) {
  allowed &= llvm::maskTrailingOnes<uint64_t>(bits);
  auto isOutside = [&](uint64_t vector) {
    return !(vector & ~allowed) &&
           llvm::none_of(spans, [&](const Span *span) { return span->contains(vector); });
  };
  // Nothing lies outside of a span of all that is allowed, which is how most searches end.
  auto isWhole = [&](const Span *span) {
    for (uint64_t rest = allowed; rest; rest &= rest - 1)
      if (!span->contains(rest & -rest))
        return false;
    return true;
  };
  if (llvm::any_of(spans, isWhole))
    return 0;
  for (unsigned i = bits; i-- > 0;)
    if (isOutside(uint64_t(1) << i))
      return uint64_t(1) << i;
  for (unsigned i = bits; i-- > 0;)
    for (unsigned j = 0; j < i; ++j)
      if (isOutside(uint64_t(1) << i | uint64_t(1) << j))
        return uint64_t(1) << i | uint64_t(1) << j;
  constexpr unsigned kMostBits = 16;
  for (uint64_t vector = allowed & -allowed; bits <= kMostBits && vector;
       vector = (vector - allowed) & allowed)
    if (isOutside(vector))
      return vector;
  return 0;
}

/// Orders all elements: `first`, the rest of a row of banks, and rows that keep what each side is
/// served with apart.
static LinearLayout order(ArrayRef<uint64_t> first, ArrayRef<LinearLayout::OutDim> outs,
                          unsigned bits, ArrayRef<uint64_t> servedA, unsigned rowBitsA,
                          ArrayRef<uint64_t> servedB, unsigned rowBitsB) {
  // The spans grow by each row basis, so that what is chosen next is outside of them all. A row's
  // basis has nothing of a vector, or vectors would come apart.
  Span vector(first), a(servedA), b(servedB);
  uint64_t allowed = ~uint64_t(0);
  for (uint64_t element : first)
    if (llvm::isPowerOf2_64(element))
      allowed &= ~element;
  Vectors rows;
  auto add = [&](ArrayRef<const Span *> spans) {
    uint64_t found = findOutside(bits, allowed, spans);
    if (!found)
      return false;
    rows.push_back(found);
    for (Span *span : {&vector, &a, &b})
      span->add(found);
    return true;
  };
  unsigned wide = std::max(rowBitsA, rowBitsB), narrow = std::min(rowBitsA, rowBitsB);
  const Span &narrowSide = rowBitsA < rowBitsB ? a : b;
  // Where a side cannot be kept apart any more, the other one still can.
  while (rows.size() + wide < bits &&
         (add({&a, &b, &vector}) || add({&a, &vector}) || add({&b, &vector}) || add({&vector}))) {
  }
  while (rows.size() + narrow < bits && (add({&narrowSide, &vector}) || add({&vector}))) {
  }
  LinearLayout::InDim offset{kOffset.str(), {}};
  LinearLayout flat = *LinearLayout::create({}, outs);
  auto append = [&](uint64_t element) { offset.bases.push_back(flat.unflatten(element)); };
  Span all(first);
  for (uint64_t element : first)
    append(element);
  for (uint64_t row : rows)
    all.add(row);
  for (unsigned bit = 0; bit < bits; ++bit)
    if (all.add(uint64_t(1) << bit))
      append(uint64_t(1) << bit);
  for (uint64_t row : llvm::reverse(rows))
    append(row);
  return *LinearLayout::create({offset}, outs);
}

std::optional<LinearLayout> kiln::getSwizzledLayout(ArrayRef<int64_t> shape, int64_t elementBits,
                                                    int64_t span) {
  int64_t columns = span * 8 / elementBits;
  if (shape.size() != 2 || shape[0] % 8 || shape[1] % columns)
    return std::nullopt;
  // Where the bits of an address would lead without the permutation.
  SmallVector<LinearLayout::Basis> plain;
  for (int64_t column = 1; column < columns; column *= 2)
    plain.push_back({0, column});
  for (int64_t row = 1; row < shape[0]; row *= 2)
    plain.push_back({row, 0});
  for (int64_t column = columns; column < shape[1]; column *= 2)
    plain.push_back({0, column});
  // Bits 4 to 6 of the address in bytes, as many as rows are long, take those from 7 on.
  unsigned low = llvm::Log2_64(128 / elementBits), high = llvm::Log2_64(1024 / elementBits);
  LinearLayout::InDim offset{kOffset.str(), plain};
  for (unsigned i = 0; i < llvm::Log2_64(span / 16); ++i)
    for (auto [value, permuted] : llvm::zip(offset.bases[high + i], plain[low + i]))
      value ^= permuted;
  std::optional<LinearLayout> layout = LinearLayout::create({offset}, getTensorOuts(shape));
  return layout && layout->isExact() ? layout : std::nullopt;
}

LinearLayout kiln::getRowMajorLayout(ArrayRef<int64_t> shape) {
  LinearLayout::InDim offset{kOffset.str(), {}};
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim)
    for (int64_t at = 1; at < shape[dim]; at *= 2) {
      LinearLayout::Basis basis(shape.size(), 0);
      basis[dim] = at;
      offset.bases.push_back(basis);
    }
  return LinearLayout::create({offset}, getTensorOuts(shape)).value_or(LinearLayout());
}

LinearLayout kiln::getSharedOffsets(const LinearLayout &tensor, const LinearLayout *buffer) {
  if (buffer)
    if (std::optional<LinearLayout> inverse = buffer->invert())
      return LinearLayout::create(tensor.getIns(), buffer->getOuts())
          ->compose(*inverse)
          .reshapeOuts({buffer->getInSize(kOffset)});
  return tensor.reshapeOuts({int64_t(1) << tensor.getTotalOutBits()});
}

bool kiln::canMove(WarpCopyAtomInterface atom, const LinearLayout &offsets, int64_t start) {
  LinearLayout tile = atom.getTile();
  int64_t row = tile.getShape()[0];
  if (start % row)
    return false;
  // Of threads that hold the same element one stores it; by such an instruction each warp would.
  if (atom.canCopy(tile::Place::Registers, tile::Place::Shared) && !offsets.isInjective())
    return false;
  for (StringRef part : {kRegister, kLane})
    if (offsets.getInSize(part) % tile.getInSize(part))
      return false;
  for (const LinearLayout::InDim &in : offsets.getIns())
    for (auto [bit, basis] : llvm::enumerate(in.bases)) {
      bool inTile = bit < tile.getInBits(in.name);
      int64_t wanted = inTile ? tile.getBases(in.name)[bit][0] : 0;
      if (basis[0] % row != wanted || (wanted && basis[0] != wanted))
        return false;
    }
  return true;
}

int64_t VectorOrder::getRegister(int64_t reordered) const {
  int64_t reg = 0;
  for (auto [bit, old] : llvm::enumerate(bits))
    if (reordered >> bit & 1)
      reg |= int64_t(1) << old;
  return reg;
}

VectorOrder kiln::getVectorOrder(const LinearLayout &offsets, int64_t most) {
  ArrayRef<LinearLayout::Basis> bases = offsets.getBases(kRegister);
  // Those that count an extent's odd factor stay last.
  ArrayRef<LinearLayout::Basis> movable =
      bases.take_front(llvm::countr_zero(uint64_t(offsets.getInSize(kRegister))));
  VectorOrder order;
  for (int64_t next = 1; next < most; next *= 2) {
    auto *found =
        llvm::find_if(movable, [&](const LinearLayout::Basis &basis) { return basis[0] == next; });
    if (found == movable.end())
      break;
    order.bits.push_back(found - bases.begin());
  }
  for (unsigned bit = 0; bit < bases.size(); ++bit)
    if (!llvm::is_contained(order.bits, bit))
      order.bits.push_back(bit);
  SmallVector<LinearLayout::InDim> ins(offsets.getIns());
  for (LinearLayout::InDim &in : ins)
    if (in.name == kRegister)
      for (auto [bit, old] : llvm::enumerate(order.bits))
        in.bases[bit] = bases[old];
  order.offsets = *LinearLayout::create(ins, offsets.getOuts());
  order.width = std::min(most, order.offsets.getContiguity(kRegister, getDimName(0)));
  return order;
}

bool kiln::isReadAsWide(const LinearLayout &part, ArrayRef<int64_t> offsets,
                        const LinearLayout &whole, const LinearLayout &order,
                        WarpCopyAtomInterface atom, unsigned elementBytes) {
  int64_t start = order.invert()->apply(offsets)[0];
  LinearLayout own = getSharedOffsets(part, &order);
  if (atom)
    return canMove(atom, own, start);
  int64_t most = kMostSharedBytes / elementBytes;
  int64_t width = getVectorOrder(getSharedOffsets(whole, &order), most).width;
  return getVectorOrder(own, most).width == width && start % width == 0;
}

SharedSide kiln::measureSide(const LinearLayout &tensor, const LinearLayout &buffer,
                             unsigned elementBytes, const Chip &chip, bool isWrite,
                             Attribute atomAttr) {
  LinearLayout offsets = getSharedOffsets(tensor, &buffer);
  SharedSide side;
  side.atom = atomAttr;
  auto atom = dyn_cast_or_null<WarpCopyAtomInterface>(atomAttr);
  const SharedPhase *phases = isWrite ? chip.shared.writes : chip.shared.reads;
  int64_t registers = offsets.getInSize(kRegister), lanes = offsets.getInSize(kLane);
  /// Where a lane's vector, or the row that it names, begins.
  std::function<int64_t(int64_t)> begin;
  if (atom) {
    LinearLayout tile = atom.getTile(), rows = atom.getNamedRows();
    side.width = tile.getShape()[0];
    side.instructions = registers / tile.getInSize(kRegister);
    begin = [rows, offsets](int64_t lane) {
      LinearLayout::Basis place = rows.applyTo(kLane, lane);
      return offsets.applyTo(kRegister, place[0])[0] ^ offsets.applyTo(kLane, place[1])[0];
    };
  } else {
    side.width = getVectorOrder(offsets, kMostSharedBytes / elementBytes).width;
    side.instructions = registers / side.width;
    begin = [offsets](int64_t lane) { return offsets.applyTo(kLane, lane)[0]; };
  }
  // Groups are alike by linearity, so one is enough. Each bank serves one of its rows a cycle.
  int64_t bytes = side.width * elementBytes;
  const SharedPhase &phase = getPhase(phases, bytes);
  SmallVector<int64_t> group = {0};
  for (unsigned mask : phase.lanes)
    if (mask && int64_t(mask) < lanes) {
      int64_t apart = begin(mask);
      for (size_t i = 0, count = group.size(); i < count; ++i)
        group.push_back(group[i] ^ apart);
    }
  SmallVector<int64_t> words;
  for (int64_t first : group)
    for (int64_t at = 0; at < std::max(bytes, int64_t(1)); at += kBankBytes)
      words.push_back((first * elementBytes + at) / kBankBytes);
  llvm::sort(words);
  words.erase(llvm::unique(words), words.end());
  SmallVector<int64_t> rowsOfBank(phase.banks);
  for (int64_t word : words)
    ++rowsOfBank[word % phase.banks];
  int64_t most = std::max<int64_t>(1, *llvm::max_element(rowsOfBank));
  int64_t groups = std::max<int64_t>(1, lanes / int64_t(group.size()));
  side.cycles = groups * most;
  side.fewest = groups * llvm::divideCeil(words.size(), uint64_t(phase.banks));
  return side;
}

/// Plans for as much as is a power of two of each extent; that lies in memory as often as there are
/// such parts, one behind another.
static SharedPlan planParts(const LinearLayout &from, const LinearLayout &to, unsigned elementBytes,
                            const Chip &chip, ArrayRef<Attribute> copyAtoms) {
  SharedPlan plan = planShared(from.dropCuts(), to.dropCuts(), elementBytes, chip, copyAtoms);
  SmallVector<int64_t> shape = from.getShape();
  LinearLayout::InDim offset = plan.layout.getIns().front();
  for (auto [dim, extent] : llvm::enumerate(shape))
    for (int64_t value = getPowerOf2Factor(extent); value < extent; value *= 2) {
      offset.bases.emplace_back(shape.size(), 0);
      offset.bases.back()[dim] = value;
    }
  plan.layout = *LinearLayout::create({offset}, from.getOuts());
  plan.write = measureSide(from, plan.layout, elementBytes, chip, true, plan.write.atom);
  plan.read = measureSide(to, plan.layout, elementBytes, chip, false, plan.read.atom);
  return plan;
}

SharedPlan kiln::planShared(const LinearLayout &from, const LinearLayout &to, unsigned elementBytes,
                            const Chip &chip, ArrayRef<Attribute> copyAtoms) {
  if (from.getShape() != from.dropCuts().getShape())
    return planParts(from, to, elementBytes, chip, copyAtoms);
  Side write(from, chip, true), read(to, chip, false);
  unsigned bits = from.getTotalOutBits();
  size_t most = std::min<size_t>(bits, llvm::Log2_64(kMostSharedBytes / elementBytes));

  // The elements that come first: of both, then of one side; or an atom's row.
  struct Candidate {
    Vectors first;
    Attribute write, read;
  };
  SmallVector<Candidate> candidates;
  for (Attribute attr : copyAtoms) {
    auto atom = cast<WarpCopyAtomInterface>(attr);
    bool isWrite = atom.canCopy(tile::Place::Registers, tile::Place::Shared);
    Vectors row = getRow(isWrite ? from : to, atom);
    if (!row.empty())
      candidates.push_back({row, isWrite ? attr : Attribute(), isWrite ? Attribute() : attr});
  }
  for (const Side *side : {&write, &read}) {
    Candidate candidate;
    for (bool common : {true, false})
      for (uint64_t vector : side->registers)
        if (vector &&
            llvm::is_contained((side == &write ? read : write).registers, vector) == common)
          candidate.first.push_back(vector);
    // Narrower vectors leave more ways to keep the other side's lanes apart.
    for (size_t count = std::min(most, candidate.first.size()) + 1; count-- > 0;) {
      candidate.first.truncate(count);
      candidates.push_back(candidate);
    }
  }

  std::optional<SharedPlan> best;
  for (Candidate &candidate : candidates) {
    Span independent;
    if (!llvm::all_of(candidate.first, [&](uint64_t vector) { return independent.add(vector); }))
      continue;
    // Lanes that ask for less than a word share words, which are of one row as well.
    unsigned wordBits = llvm::Log2_64(std::max<int64_t>(1, kBankBytes / elementBytes));
    for (const Side *side : {&write, &read})
      for (const LinearLayout::Basis &basis : side->layout.getBases(kLane)) {
        uint64_t vector = side->layout.flatten(basis);
        if (candidate.first.size() < wordBits && independent.add(vector))
          candidate.first.push_back(vector);
      }
    auto getServed = [&](const Side &side, Attribute attr, unsigned &rowBits) {
      size_t held = attr ? candidate.first.size() : countHeld(candidate.first, side);
      const SharedPhase &phase = getPhase(side.phases, elementBytes << held);
      rowBits = llvm::Log2_64(std::max<int64_t>(1, phase.banks * kBankBytes / elementBytes));
      std::optional<LinearLayout> rows;
      if (attr)
        rows = cast<WarpCopyAtomInterface>(attr).getNamedRows();
      Vectors served = side.getServed(ArrayRef(candidate.first).take_front(held), phase,
                                      rows ? &*rows : nullptr);
      served.append(candidate.first.begin(), candidate.first.end());
      return served;
    };
    unsigned rowBitsA = 0, rowBitsB = 0;
    Vectors servedA = getServed(write, candidate.write, rowBitsA);
    Vectors servedB = getServed(read, candidate.read, rowBitsB);
    SharedPlan plan;
    plan.layout =
        order(candidate.first, from.getOuts(), bits, servedA, rowBitsA, servedB, rowBitsB);
    auto usable = [&](const LinearLayout &tensor, Attribute attr) {
      return !attr ||
             canMove(cast<WarpCopyAtomInterface>(attr), getSharedOffsets(tensor, &plan.layout));
    };
    if (!usable(from, candidate.write) || !usable(to, candidate.read))
      continue;
    plan.write = measureSide(from, plan.layout, elementBytes, chip, true, candidate.write);
    plan.read = measureSide(to, plan.layout, elementBytes, chip, false, candidate.read);
    auto key = [](const SharedPlan &plan) {
      return std::make_pair(plan.getCycles(), plan.write.instructions + plan.read.instructions);
    };
    if (!best || key(plan) < key(*best))
      best = plan;
  }
  return *best;
}
