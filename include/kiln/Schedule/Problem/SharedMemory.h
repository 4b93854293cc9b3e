// How many bytes of shared memory a program takes, and where each thing in it lies.
//
// What decides depths, what verifies a schedule and what plans the memory of a kernel ask the same
// function, so that none of them finds room where another has none.
#ifndef KILN_SCHEDULE_PROBLEM_SHAREDMEMORY_H
#define KILN_SCHEDULE_PROBLEM_SHAREDMEMORY_H

#include "llvm/ADT/ArrayRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace kiln::schedule {

/// A ring, a buffer or scratch: bytes that are in use from one point of the program to another.
struct SharedPiece {
  /// What errors call it.
  std::string name;
  int64_t bytes = 0;
  /// The first and the last point at which it is in use, in the order of the program.
  int64_t first = 0, last = 0;
  int64_t alignment = 128;
  /// Of those that run beside one another, the one that alone uses it. Their points say nothing of
  /// one another's.
  std::optional<unsigned> part = std::nullopt;
  /// Of scratch, which is used between other scratch: the points between which all that is no
  /// scratch is kept away from it.
  std::optional<std::pair<int64_t, int64_t>> around = std::nullopt;
  /// How far what several copies have lies apart, where each has its own; else 0.
  int64_t step = 0;
  int64_t offset = 0;

  bool livesWith(const SharedPiece &other) const {
    bool isOfOthers = part && other.part && part != other.part;
    auto [begin, end] = around && !other.around ? *around : std::pair(first, last);
    auto [otherBegin, otherEnd] =
        other.around && !around ? *other.around : std::pair(other.first, other.last);
    return isOfOthers || !(otherEnd < begin || end < otherBegin);
  }
  /// Whether one may lie on the other where they do not live together. Copies use scratch without
  /// waiting for one another, so each copy's must then be at the same bytes.
  bool mayLieOn(const SharedPiece &other) const {
    bool isScratch = around && other.around && (step || other.step);
    return !livesWith(other) && (!isScratch || (step == other.step && offset == other.offset));
  }
};

/// Puts each piece, in their order, at the lowest place that none takes which is in use with it.
/// Returns the bytes of all together.
int64_t placePieces(llvm::MutableArrayRef<SharedPiece> pieces);

} // namespace kiln::schedule

#endif // KILN_SCHEDULE_PROBLEM_SHAREDMEMORY_H
