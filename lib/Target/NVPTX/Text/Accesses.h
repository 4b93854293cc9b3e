// What instructions read and write of shared memory.
#ifndef KILN_LIB_TARGET_NVPTX_TEXT_ACCESSES_H
#define KILN_LIB_TARGET_NVPTX_TEXT_ACCESSES_H

#include "Check.h"

namespace kiln::nvptx {

/// More places of one instruction are taken for all from its first to its last.
inline constexpr size_t kMostPlaces = 1 << 16;

enum class Use { Read, Write, Copy };

struct Access {
  unsigned line;
  const Warps *warps;
  Use use;
  int64_t bytes; ///< zero if only where it begins is known
  Known place;
  Known barrier = std::nullopt; ///< of an engine's copy: which counts its bytes

  /// Behind it lies what it cannot touch; of what only its beginning is known of, one byte.
  int64_t getLast() const { return place->getLast() + std::max<int64_t>(bytes, 1) - 1; }
  bool touches(int64_t first, int64_t last) const {
    return place && place->base <= last && first <= getLast();
  }
  bool isWithin(int64_t first, int64_t last) const {
    return first <= place->base && getLast() <= last;
  }
};

using Accesses = std::vector<Access>;

/// Those of the warps of a role. A place is known of all of their threads together, so branches by
/// a thread's number do not bound it. A line for which `isHome` does not hold is looked at in
/// halves of the threads, and in halves of these, down to one warp, or to one thread if need be.
Accesses collectAccesses(const Kernel &kernel, const Warps &warps,
                         llvm::function_ref<bool(const Access &)> isHome);

} // namespace kiln::nvptx

#endif // KILN_LIB_TARGET_NVPTX_TEXT_ACCESSES_H
