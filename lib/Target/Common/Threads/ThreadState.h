// What is known of one kernel while it is lowered to the program of one thread.
#ifndef KILN_LIB_TARGET_COMMON_THREADS_THREADSTATE_H
#define KILN_LIB_TARGET_COMMON_THREADS_THREADSTATE_H

#include "kiln/Layout/Algebra/LinearLayout.h"
#include "kiln/Target/Common/AsyncTarget.h"
#include "kiln/Target/Common/WaveTarget.h"

namespace kiln {

struct ThreadState {
  /// The parameters that a view has become; extents and strides are of index type.
  struct View {
    mlir::Value pointer;
    llvm::SmallVector<mlir::Value> extents, strides;
    /// The kernel's argument that it is, and which of its dimensions those of the view are; none
    /// for any other view.
    std::optional<unsigned> argument;
    llvm::SmallVector<int64_t> dims;
  };

  /// Where this thread stands in a layout: one coordinate of index type a dimension.
  struct Place {
    LinearLayout layout;
    llvm::SmallVector<mlir::Value> thread;
    /// By dimension: the bits that differ from thread to thread.
    llvm::SmallVector<int64_t> threadBits;
  };

  /// The bytes of shared memory that an op's buffer or scratch takes.
  struct SharedSpan {
    int64_t first, end;
  };

  /// How a register's coordinate along `dim` stands to an extent of the tile.
  enum class Within { Always, Never, Sometimes };

  /// An element of a view: how many elements from its start, and whether it is in bounds.
  struct Element {
    mlir::Value at, inBounds;
  };

  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::DenseMap<mlir::Value, View> views;
  /// What the target has for roles and channels; null if nothing.
  const AsyncTarget *async = nullptr;
  WaveTargetInterface waves;
  /// LLVM's alias scopes of a slot of an own ring, and of all other slots.
  struct Scopes {
    mlir::ArrayAttr own, others;
  };
  /// The alias scope of each slot of an own ring, by channel, and of a buffer that is one.
  llvm::MapVector<mlir::Value, llvm::SmallVector<mlir::Attribute>> slotScopes;
  llvm::DenseMap<mlir::Value, mlir::Attribute> scopes;
  /// Whether all slots that are accessed are known when compiling.
  bool knowsSlots = true;
  /// The role that is being lowered: its number of warps and copies, and which copy this is.
  struct Role {
    tile::RoleAttr attr;
    int64_t firstBarrier = 0; ///< the named barrier of its first copy, and of all copies together
    int64_t sharedBarrier = 0;
    mlir::Value copy;
    bool oneThread = false; ///< runs it all
    /// Its warps have copies under way into shared memory, which no wait of LLVM's is to end.
    bool copiesDirectly = false;
    mlir::Value place = {}; ///< the warp's number among those of all copies
  };
  std::optional<Role> role;
  /// The barrier that the copies of the tile.put around them tell of their bytes.
  mlir::Value putBarrier;
  /// Maps by argument, box and swizzle.
  llvm::SmallVector<std::pair<mlir::Attribute, mlir::Value>> maps;
  /// What the metadata says of the parameters behind the source's, in their order.
  llvm::SmallVector<mlir::Attribute> hiddenParameters;
  /// The parameter that messages are written to, if any are, and what they say.
  mlir::Value messageBuffer;
  llvm::SmallVector<mlir::Attribute> messages;
  llvm::DenseMap<mlir::Attribute, llvm::SmallVector<mlir::Value>> threadCoordinates;
  /// The same where a layout's `warp` counts the warps of all copies of the role.
  llvm::DenseMap<mlir::Attribute, llvm::SmallVector<mlir::Value>> shareCoordinates;
  /// What has been accessed since the last barrier.
  struct {
    bool anything = true;
    llvm::SmallVector<SharedSpan> reads, writes;
  } sharedState;
};

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_THREADS_THREADSTATE_H
