// What numbers a register may hold, as far as places in shared memory are made of them.
#ifndef KILN_LIB_TARGET_NVPTX_TEXT_NUMBERS_H
#define KILN_LIB_TARGET_NVPTX_TEXT_NUMBERS_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace kiln::nvptx {

/// Multiples of a step, from none to one less than `count`.
struct Part {
  int64_t step, count;
  bool operator==(const Part &other) const { return step == other.step && count == other.count; }
};

/// A base and one multiple of each part's step. Sums and products with a constant are exact, but
/// that each operand is taken to be any of its numbers; what else is computed may be more numbers
/// than it is.
struct Numbers {
  /// What it is of: a number; so many bytes from where shared memory begins; or the same in the
  /// lowest 14 bits of a matrix's descriptor, which count 16 bytes.
  enum class Of { Nothing, Shared, Descriptor } of = Of::Nothing;
  int64_t base = 0;
  llvm::SmallVector<Part, 4> parts = {}; ///< by step, each of which counts to two at the least

  bool operator==(const Numbers &other) const {
    return of == other.of && base == other.base && parts == other.parts;
  }
  bool operator!=(const Numbers &other) const { return !(*this == other); }
  bool isOne() const { return parts.empty(); }
  bool isInteger() const { return of == Of::Nothing; }
  int64_t getLast() const;
  /// The numbers in order, unless there are more than so many.
  std::optional<llvm::SmallVector<int64_t, 0>> list(size_t most) const;
};

/// None: it may be anything.
using Known = std::optional<Numbers>;

inline Numbers getNumber(int64_t value) { return {Numbers::Of::Nothing, value, {}}; }
/// From the first to the last of them.
Numbers getRun(int64_t first, int64_t last);

Known add(const Known &a, const Known &b);
Known subtract(const Known &a, const Known &b);
Known multiply(const Known &a, const Known &b);
Known shiftLeft(const Known &a, const Known &by);
Known shiftRight(const Known &a, const Known &by);
Known bitAnd(const Known &a, const Known &b);
Known bitOr(const Known &a, const Known &b);
Known bitXor(const Known &a, const Known &b);
Known minimum(const Known &a, const Known &b);
/// So many bits from one on.
Known extract(const Known &a, const Known &from, const Known &count, bool isSigned);
/// Of a division by a number.
Known divide(const Known &a, const Known &by);
Known remainder(const Known &a, const Known &by);
/// Either of both.
Known join(const Known &a, const Known &b);

/// Comparisons, by the names that PTX has for them ("ne", "lt").
enum class Compare { Equal, Unequal, Less, LessOrEqual, Greater, GreaterOrEqual };
std::optional<Compare> findCompare(llvm::StringRef name);
Compare invert(Compare compare);
/// Whether it holds, where all numbers agree.
std::optional<bool> compare(Compare compare, const Known &a, const Known &b);
/// Those of the numbers for which it holds with one number, as far as they are a run.
Known keepIf(const Known &a, Compare compare, int64_t number);

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_TEXT_NUMBERS_H
