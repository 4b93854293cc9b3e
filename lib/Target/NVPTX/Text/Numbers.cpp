// Numbers.h: arithmetic of such sets.
#include "Numbers.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace llvm;
using namespace kiln::nvptx;

/// What is more than this is taken for a run.
static constexpr size_t kMostParts = 8;
/// The bits of a descriptor that say where, and how many bytes one more is.
static constexpr int64_t kWhere = 0x3fff, kUnit = 16;

int64_t Numbers::getLast() const {
  int64_t last = base;
  for (const Part &part : parts)
    last += part.step * (part.count - 1);
  return last;
}

std::optional<SmallVector<int64_t, 0>> Numbers::list(size_t most) const {
  SmallVector<int64_t, 0> numbers{base};
  for (const Part &part : parts) {
    if (numbers.size() * size_t(part.count) > most)
      return std::nullopt;
    size_t size = numbers.size();
    for (int64_t i = 1; i < part.count; ++i)
      for (size_t each = 0; each < size; ++each)
        numbers.push_back(numbers[each] + i * part.step);
  }
  llvm::sort(numbers);
  numbers.erase(llvm::unique(numbers), numbers.end());
  return numbers;
}

static int64_t getCommonStep(ArrayRef<Part> parts) {
  int64_t step = 0;
  for (const Part &part : parts)
    step = std::gcd(step, part.step);
  return step;
}

/// All from the first on, so far apart.
static Numbers getRow(Numbers::Of of, int64_t first, int64_t last, int64_t step) {
  Numbers row{of, first, {}};
  if (last > first)
    row.parts.push_back({step, (last - first) / step + 1});
  return row;
}

Numbers kiln::nvptx::getRun(int64_t first, int64_t last) {
  return getRow(Numbers::Of::Nothing, first, last, 1);
}

/// Steps are positive and in order, and no part goes on where another one ends.
static Numbers order(Numbers::Of of, int64_t base, SmallVector<Part, 4> parts) {
  for (Part &part : parts)
    if (part.step < 0) {
      base += part.step * (part.count - 1);
      part.step = -part.step;
    }
  erase_if(parts, [](const Part &part) { return part.count < 2 || part.step == 0; });
  llvm::sort(parts, [](const Part &a, const Part &b) { return a.step < b.step; });
  Numbers numbers{of, base, {}};
  for (const Part &part : parts) {
    if (numbers.parts.empty()) {
      numbers.parts.push_back(part);
      continue;
    }
    Part &last = numbers.parts.back();
    if (part.step == last.step)
      last.count += part.count - 1;
    else if (part.step == last.step * last.count)
      last.count *= part.count;
    else
      numbers.parts.push_back(part);
  }
  if (numbers.parts.size() > kMostParts)
    return getRow(of, base, numbers.getLast(), getCommonStep(numbers.parts));
  return numbers;
}

//===- Sums and products --------------------------------------------------------------------===//

Known kiln::nvptx::add(const Known &a, const Known &b) {
  if (!a || !b)
    return std::nullopt;
  if (!a->isInteger() && !b->isInteger())
    return std::nullopt;
  if (a->isInteger() && !b->isInteger())
    return add(b, a);
  if (a->of == Numbers::Of::Descriptor) {
    // Of what is added, only the lowest bits say where.
    if (!b->isOne())
      return std::nullopt;
    return order(a->of, a->base + (b->base & kWhere) * kUnit, a->parts);
  }
  SmallVector<Part, 4> parts(a->parts);
  parts.append(b->parts.begin(), b->parts.end());
  return order(a->of, a->base + b->base, parts);
}

static Known scale(const Known &a, int64_t factor) {
  if (!a || !a->isInteger())
    return std::nullopt;
  SmallVector<Part, 4> parts(a->parts);
  for (Part &part : parts)
    part.step *= factor;
  return order(a->of, a->base * factor, parts);
}

Known kiln::nvptx::subtract(const Known &a, const Known &b) {
  // What lies between two places is no place.
  if (a && b && a->of == Numbers::Of::Shared && b->of == a->of && b->isOne())
    return order(Numbers::Of::Nothing, a->base - b->base, a->parts);
  return add(a, scale(b, -1));
}

Known kiln::nvptx::multiply(const Known &a, const Known &b) {
  if (a && a->isOne() && a->isInteger())
    return scale(b, a->base);
  return b && b->isOne() && b->isInteger() ? scale(a, b->base) : std::nullopt;
}

Known kiln::nvptx::shiftLeft(const Known &a, const Known &by) {
  constexpr int64_t kMost = 48;
  if (!by || !by->isOne() || by->base < 0 || by->base > kMost)
    return std::nullopt;
  return scale(a, int64_t(1) << by->base);
}

Known kiln::nvptx::divide(const Known &a, const Known &by) {
  if (!a || !by || !a->isInteger() || !by->isOne() || by->base < 1 || a->base < 0)
    return std::nullopt;
  int64_t size = by->base, below = a->base % size;
  SmallVector<Part, 4> parts;
  for (const Part &part : a->parts) {
    int64_t turn = size % part.step == 0 ? size / part.step : 0;
    if (part.step % size == 0) {
      parts.push_back({part.step / size, part.count});
    } else if (turn && part.count % turn == 0) {
      below += part.step * (turn - 1);
      parts.push_back({1, part.count / turn});
    } else {
      below += part.step * (part.count - 1);
    }
  }
  // What is below the divisor altogether adds nothing.
  if (below < size)
    return order(a->of, a->base / size, parts);
  return getRun(a->base / size, a->getLast() / size);
}

Known kiln::nvptx::remainder(const Known &a, const Known &by) {
  if (!by || !by->isOne() || by->base < 1)
    return std::nullopt;
  if (a && a->isInteger() && a->base >= 0 && a->getLast() < by->base)
    return a;
  return getRun(0, by->base - 1);
}

Known kiln::nvptx::minimum(const Known &a, const Known &b) {
  if (a && b && a->isInteger() && b->isInteger())
    return getRun(std::min(a->base, b->base), std::min(a->getLast(), b->getLast()));
  return std::nullopt;
}

//===- Bits ---------------------------------------------------------------------------------===//

namespace {
/// Bits that are ones, and those that may be.
struct Bits {
  uint64_t ones = 0, open = 0;
};
} // namespace

static std::optional<Bits> getBits(const Known &a) {
  if (!a || a->base < 0)
    return std::nullopt;
  Bits bits{uint64_t(a->base), 0};
  bool areApart = true;
  for (const Part &part : a->parts) {
    uint64_t own = uint64_t(part.step) * (uint64_t(part.count) - 1);
    areApart &=
        isPowerOf2_64(part.step) && isPowerOf2_64(part.count) && !(own & (bits.open | bits.ones));
    bits.open |= own;
  }
  if (areApart)
    return bits;
  // Below the lowest step and above where they differ all are alike.
  uint64_t last = a->getLast(), step = getCommonStep(a->parts);
  uint64_t low = maskTrailingOnes<uint64_t>(countr_zero(step));
  uint64_t differ = maskTrailingOnes<uint64_t>(bit_width(uint64_t(a->base) ^ last));
  return Bits{uint64_t(a->base) & (low | ~differ), differ & ~low};
}

static Numbers fromBits(Numbers::Of of, Bits bits) {
  SmallVector<Part, 4> parts;
  while (bits.open) {
    unsigned from = countr_zero(bits.open), count = countr_one(bits.open >> from);
    parts.push_back({int64_t(1) << from, int64_t(1) << count});
    bits.open &= ~maskTrailingOnes<uint64_t>(from + count);
  }
  return order(of, int64_t(bits.ones), parts);
}

/// Zero or minus one, as a bit with its sign has it.
static bool isSign(const Known &a) {
  return a && a->isInteger() && a->base == -1 && a->parts.size() == 1 && a->parts[0] == Part{1, 2};
}

Known kiln::nvptx::bitAnd(const Known &a, const Known &b) {
  if (!(b && b->isOne()) && a && a->isOne())
    return bitAnd(b, a);
  if (isSign(a) && b && b->isInteger())
    return join(getNumber(0), b);
  if (!b || !b->isOne() || !b->isInteger()) {
    std::optional<Bits> one = getBits(a), other = getBits(b);
    if (!one || !other || !a->isInteger() || !b->isInteger())
      return std::nullopt;
    uint64_t ones = one->ones & other->ones;
    uint64_t open = (one->ones | one->open) & (other->ones | other->open) & ~ones;
    return fromBits(Numbers::Of::Nothing, {ones, open});
  }
  uint64_t mask = uint64_t(b->base);
  if (a && a->isInteger() && a->base >= 0 && isMask_64(mask) && uint64_t(a->getLast()) <= mask)
    return a;
  constexpr unsigned kWindow = 24; // the bits of a place in shared memory of a program
  if (a && a->of == Numbers::Of::Shared)
    return countr_one(mask) >= int(kWindow) ? a : std::nullopt;
  if (a && a->of == Numbers::Of::Descriptor) {
    // All of what says where, or all but low bits that are zeros.
    int64_t where = (b->base & kWhere) * kUnit, unit = where & -where;
    bool isKept = where + unit == (kWhere + 1) * kUnit && a->base % unit == 0 &&
                  getCommonStep(a->parts) % unit == 0;
    return isKept ? a : std::nullopt;
  }
  if (std::optional<Bits> bits = getBits(a))
    return fromBits(Numbers::Of::Nothing, {bits->ones & mask, bits->open & mask});
  if (b->base < 0)
    return std::nullopt;
  return fromBits(Numbers::Of::Nothing, {0, mask});
}

/// LLVM has an `or` for a sum whose operands share no bit.
Known kiln::nvptx::bitOr(const Known &a, const Known &b) {
  if (!a || !b)
    return std::nullopt;
  if (!a->isInteger() || !b->isInteger())
    return add(a, b);
  std::optional<Bits> one = getBits(a), other = getBits(b);
  if (!one || !other)
    return std::nullopt;
  uint64_t ones = one->ones | other->ones;
  return fromBits(Numbers::Of::Nothing, {ones, (one->open | other->open) & ~ones});
}

Known kiln::nvptx::bitXor(const Known &a, const Known &b) {
  if (a && b && a->isInteger() && !b->isInteger())
    return bitXor(b, a);
  std::optional<Bits> one = getBits(a), other = getBits(b);
  if (!one || !other || !b->isInteger() || a->of == Numbers::Of::Descriptor)
    return std::nullopt;
  uint64_t open = one->open | other->open;
  return fromBits(a->of, {(one->ones ^ other->ones) & ~open, open});
}

Known kiln::nvptx::shiftRight(const Known &a, const Known &by) {
  constexpr int64_t kMost = 48;
  if (!a || !by || !by->isOne() || by->base < 0 || by->base > kMost)
    return std::nullopt;
  int64_t unit = int64_t(1) << by->base;
  if (a->of == Numbers::Of::Shared && unit == kUnit)
    return Numbers{Numbers::Of::Descriptor, a->base, a->parts};
  return divide(a, getNumber(unit));
}

Known kiln::nvptx::extract(const Known &a, const Known &from, const Known &count, bool isSigned) {
  constexpr int64_t kMost = 32;
  if (!from || !count || !from->isOne() || !count->isOne() || count->base < 1 ||
      count->base > kMost)
    return std::nullopt;
  int64_t mask = (int64_t(1) << count->base) - 1;
  Known field = bitAnd(shiftRight(a, from), getNumber(mask));
  if (!field)
    field = fromBits(Numbers::Of::Nothing, {0, uint64_t(mask)});
  if (!isSigned)
    return field;
  return mask == 1 ? scale(field, -1) : std::nullopt;
}

//===- Either -------------------------------------------------------------------------------===//

/// What two have in common, and what is left of each.
static void separate(Numbers &a, Numbers &b, SmallVectorImpl<Part> &common) {
  for (const Part &part : SmallVector<Part, 4>(a.parts)) {
    auto other = llvm::find(b.parts, part);
    if (other == b.parts.end())
      continue;
    common.push_back(part);
    b.parts.erase(other);
    a.parts.erase(llvm::find(a.parts, part));
  }
}

Known kiln::nvptx::join(const Known &a, const Known &b) {
  if (!a || !b || a->of != b->of)
    return std::nullopt;
  if (*a == *b)
    return a;
  Numbers one = *a, other = *b;
  SmallVector<Part, 4> common;
  separate(one, other, common);
  if (one.parts.size() > 1 || other.parts.size() > 1) {
    one = *a, other = *b;
    common.clear();
  }
  int64_t step = std::gcd(getCommonStep(one.parts), getCommonStep(other.parts));
  step = std::gcd(step, std::abs(one.base - other.base));
  int64_t first = std::min(one.base, other.base);
  int64_t last = std::max(one.getLast(), other.getLast());
  Numbers both = getRow(a->of, first, last, step);
  common.append(both.parts);
  return order(a->of, first, common);
}

//===- Comparisons --------------------------------------------------------------------------===//

std::optional<Compare> kiln::nvptx::findCompare(StringRef name) {
  return StringSwitch<std::optional<Compare>>(name)
      .Case("eq", Compare::Equal)
      .Case("ne", Compare::Unequal)
      .Cases({"lt", "lo"}, Compare::Less)
      .Cases({"le", "ls"}, Compare::LessOrEqual)
      .Cases({"gt", "hi"}, Compare::Greater)
      .Cases({"ge", "hs"}, Compare::GreaterOrEqual)
      .Default(std::nullopt);
}

Compare kiln::nvptx::invert(Compare compare) {
  switch (compare) {
  case Compare::Equal:
    return Compare::Unequal;
  case Compare::Unequal:
    return Compare::Equal;
  case Compare::Less:
    return Compare::GreaterOrEqual;
  case Compare::LessOrEqual:
    return Compare::Greater;
  case Compare::Greater:
    return Compare::LessOrEqual;
  case Compare::GreaterOrEqual:
    return Compare::Less;
  }
  return compare;
}

static std::optional<bool> isLess(const Numbers &a, const Numbers &b) {
  if (a.getLast() < b.base)
    return true;
  return a.base >= b.getLast() ? std::optional(false) : std::nullopt;
}

static std::optional<bool> isEqual(const Numbers &a, const Numbers &b) {
  if (a.isOne() && b.isOne())
    return a.base == b.base;
  return a.getLast() < b.base || b.getLast() < a.base ? std::optional(false) : std::nullopt;
}

static std::optional<bool> negate(std::optional<bool> holds) {
  return holds ? std::optional(!*holds) : holds;
}

std::optional<bool> kiln::nvptx::compare(Compare compare, const Known &a, const Known &b) {
  if (!a || !b || !a->isInteger() || !b->isInteger())
    return std::nullopt;
  switch (compare) {
  case Compare::Equal:
    return isEqual(*a, *b);
  case Compare::Unequal:
    return negate(isEqual(*a, *b));
  case Compare::Less:
    return isLess(*a, *b);
  case Compare::GreaterOrEqual:
    return negate(isLess(*a, *b));
  case Compare::Greater:
    return isLess(*b, *a);
  case Compare::LessOrEqual:
    return negate(isLess(*b, *a));
  }
  return std::nullopt;
}

Known kiln::nvptx::keepIf(const Known &a, Compare compare, int64_t number) {
  if (!a || !a->isInteger() || a->parts.size() > 1)
    return a;
  int64_t step = a->isOne() ? 1 : a->parts[0].step, first = a->base, last = a->getLast();
  auto upTo = [&](int64_t most) {
    if (most < last && most >= first)
      last = first + (most - first) / step * step;
  };
  auto from = [&](int64_t least) {
    if (least > first && least <= last)
      first += (least - first + step - 1) / step * step;
  };
  switch (compare) {
  case Compare::Equal:
    upTo(number);
    from(number);
    break;
  case Compare::Unequal:
    if (number == last && last > first)
      last -= step;
    if (number == first && last > first)
      first += step;
    break;
  case Compare::Less:
    upTo(number - 1);
    break;
  case Compare::LessOrEqual:
    upTo(number);
    break;
  case Compare::Greater:
    from(number + 1);
    break;
  case Compare::GreaterOrEqual:
    from(number);
    break;
  }
  return getRow(a->of, first, last, step);
}
