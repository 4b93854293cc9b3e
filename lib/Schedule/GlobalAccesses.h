// What ops access of global memory, and whether two of them may meet there.
#ifndef KILN_LIB_SCHEDULE_GLOBALACCESSES_H
#define KILN_LIB_SCHEDULE_GLOBALACCESSES_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace kiln {

/// An access to global memory.
struct GlobalAccess {
  mlir::Operation *op;
  /// Null if that is unknown.
  mlir::Value view;
  bool writes;
  /// An engine makes it beside the warps, which have only started it.
  bool isByEngine;
};

/// What an op accesses, not counting those in its regions; none if it accesses nothing.
std::optional<GlobalAccess> findGlobalAccess(mlir::Operation *op);

/// Whether a loop may store what it loads, or gathers, in a later turn.
bool mayStoreLoaded(mlir::Operation *loop, mlir::Operation *load);

/// When an access was made that another one may meet, and by whom: by another thread of the same
/// warps, or, of `copies` that run one region, by another copy.
struct Meeting {
  /// A loop of which it was another, earlier turn; null if it was the same.
  mlir::Operation *loop = nullptr;
  int64_t copies = 1;
};

/// Whether an access may reach what an earlier one by another thread did. They do not meet if both
/// read, if two arguments are known not to overlap, if their tiles lie apart, and if each thread
/// comes back to its own elements.
bool mayMeet(const GlobalAccess &earlier, const GlobalAccess &later, const Meeting &meeting);

/// Whether accesses of two roles surely reach one argument, of which one writes, and are not known
/// to reach different elements of it.
bool mayMeetAcrossRoles(const GlobalAccess &first, const GlobalAccess &second);

/// Whether an op is an atomic by which others learn of what the program wrote before.
bool releases(mlir::Operation *op);

/// Whether others may learn by the later access that the earlier one is done, or the program by the
/// earlier one what others have done: an atomic, which one thread makes for all.
bool isOrderedByAtomic(const GlobalAccess &earlier, const GlobalAccess &later);

/// Whether an op of another role may be an atomic by which others learn of what an access writes,
/// or by which the program learns of what one reads.
bool isToldByAtomic(const GlobalAccess &access, mlir::Operation *other);

} // namespace kiln

#endif // KILN_LIB_SCHEDULE_GLOBALACCESSES_H
