// One kernel on its way to the program of one thread: what the lowering of every op is given.
#ifndef KILN_LIB_TARGET_COMMON_THREADS_THREADCONTEXT_H
#define KILN_LIB_TARGET_COMMON_THREADS_THREADCONTEXT_H

#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Layout/Algebra/LinearLayout.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Target/Common/Synchronisation.h"
#include "kiln/Target/Common/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace kiln {

class ThreadPatterns;

/// The parameters that a view has become; extents and strides are of index type.
struct ThreadView {
  mlir::Value pointer;
  llvm::SmallVector<mlir::Value> extents, strides;
  /// The kernel's argument that it is, and which of its dimensions those of the view are; none
  /// for any other view.
  std::optional<unsigned> argument;
  llvm::SmallVector<int64_t> dims;
};

/// Where this thread stands in a layout: one coordinate of index type a dimension.
struct ThreadPlace {
  LinearLayout layout;
  llvm::SmallVector<mlir::Value> thread;
  /// By dimension: the bits that differ from thread to thread.
  llvm::SmallVector<int64_t> threadBits;
};

/// How a register's coordinate along a dimension stands to an extent of the tile.
enum class Within { Always, Never, Sometimes };
Within isWithin(const ThreadPlace &place, unsigned dim, int64_t reg, int64_t extent);

/// Coordinates of this thread by layout.
using ThreadCoordinates = llvm::DenseMap<mlir::Attribute, llvm::SmallVector<mlir::Value>>;

/// The role that is being lowered: its number of warps and copies, and which copy this is.
struct ThreadRole {
  tile::RoleAttr attr;
  int64_t firstBarrier = 0; ///< the number of its first copy's barrier, and that of all copies'
  int64_t sharedBarrier = 0;
  mlir::Value copy;
  mlir::Value place = {}; ///< the warp's number among those of all copies
  /// Where a layout's `warp` counts the warps of all copies of the role.
  ThreadCoordinates shareCoordinates = ThreadCoordinates();
};

/// Rebuilds a kernel, op by op and in order, as a function that one thread runs. A tensor becomes
/// a vector of the registers that the thread holds of it, in the order of its layout's register
/// bits; a scalar stays itself, the same in every thread. Barriers may stand wherever ops do,
/// since all control flow of a tile program is common to its threads.
///
/// Where a thread stands in a tensor is linear: the coordinates of register r are those of the
/// thread (its lane's and warp's bases, computed once at the top of the function) xor a constant.
/// Where no bit of the two meets, the xor is an add, which addressing modes can fold.
///
/// It builds at the place, and with the location, of the op that is being lowered. How that is
/// done is the op's pattern's affair (ThreadPatterns.h); here is what patterns have in common.
class ThreadContext : public mlir::ImplicitLocOpBuilder {
public:
  ThreadContext(tile::KernelOp kernel, TargetInterface target, const ThreadPatterns &patterns);

  mlir::LogicalResult lower(mlir::Block &block);
  mlir::LogicalResult lower(mlir::Operation *op);

  //===- Values -----------------------------------------------------------------------------===//

  mlir::Value get(mlir::Value value) const { return values.lookup(value); }
  void set(mlir::Value value, mlir::Value lowered) { values[value] = lowered; }
  llvm::SmallVector<mlir::Value> getElements(mlir::Value tensor);
  void setElements(mlir::Value tensor, llvm::ArrayRef<mlir::Value> elements);
  mlir::Type convert(mlir::Type type) const;
  mlir::Value index(int64_t value);
  mlir::Value i32(int64_t value);
  /// What a region makes of an element from its left and one from its right, for each input. Lanes
  /// that exchange the two must get the same bits: a sum that were merged with the product that is
  /// one lane's own would be rounded differently by each (`acrossLanes`).
  llvm::SmallVector<mlir::Value> combine(mlir::Region &combiner, llvm::ArrayRef<mlir::Value> left,
                                         llvm::ArrayRef<mlir::Value> right,
                                         bool acrossLanes = false);
  /// A parameter behind the source's, of which the metadata says `entry`.
  mlir::Value addParameter(mlir::Type type, mlir::DictionaryAttr attrs, mlir::Attribute entry);

  //===- Places -----------------------------------------------------------------------------===//

  ThreadPlace getPlace(const LinearLayout &layout);
  /// A coordinate of register `reg`, added to `offset` if one is given.
  mlir::Value getCoordinate(const ThreadPlace &place, unsigned dim, int64_t reg,
                            mlir::Value offset = {});
  /// Makes a tensor's elements their places along a dimension, from a scalar on if there is one. It
  /// is added to the thread's place once, and the constants of registers to that: constants that
  /// were added to the place first would not change in a loop that changes the scalar, and would be
  /// kept in a register each. That is for roles beside others, whose registers are few; elsewhere
  /// LLVM chooses.
  void setCoordinates(mlir::Value tensor, unsigned dim, mlir::Value start = {});
  /// Whether this thread is the first of those that hold its elements.
  mlir::Value isOwner(const LinearLayout &layout);

  //===- Threads ----------------------------------------------------------------------------===//

  /// Within an op with scratch: those meet who `tile.meets` says, or all threads of the program.
  void barrier();
  /// These do; with `isBare` all of the block meet and no more.
  void meet(tile::Meeting meeting, bool isBare);
  /// All threads of the block do.
  void meetAll();
  /// The warps of the copy of the role, or of the program.
  int64_t getWarps() const { return role ? role->attr.getWarps() : int64_t(warps); }
  /// Whether the role is all that the program has.
  bool isAllWarps() const;
  /// The element that another lane of this warp holds: lane xor mask, or a lane by number.
  mlir::Value shuffleXor(mlir::Value element, int64_t mask);
  mlir::Value shuffleFrom(mlir::Value element, mlir::Value sourceLane);
  /// This thread's number in the block, as i32.
  mlir::Value getThread();
  /// Whether this is the first thread of the copy of the role, or of the program.
  mlir::Value isFirstThread();

  //===- Conditions -------------------------------------------------------------------------===//

  void emitIf(mlir::Value condition, llvm::function_ref<void()> emit);
  /// Runs `body` where `guard` holds; a null guard always does.
  void when(mlir::Value guard, llvm::function_ref<void()> body);
  mlir::Value both(mlir::Value left, mlir::Value right);

  //===- What groups of patterns keep --------------------------------------------------------===//

  /// What a group knows of this kernel and no other group asks for: one object of each type, made
  /// when it is first asked for.
  template <typename T>
  T &getState() {
    std::shared_ptr<void> &state = states[&kStateKey<T>];
    if (!state)
      state = std::make_shared<T>();
    return *static_cast<T *>(state.get());
  }

  tile::KernelOp kernel;
  TargetInterface target;
  const Chip &chip;
  unsigned warps;
  /// What its warps wait by. Of a target that stands in front of another, that is the other's.
  SynchronisationInterface sync;
  /// Stands at the end of what every thread computes first.
  mlir::OpBuilder prologue;
  mlir::func::FuncOp function;
  mlir::Value lane, warp;
  llvm::DenseMap<mlir::Value, ThreadView> views;
  std::optional<ThreadRole> role;
  ThreadCoordinates threadCoordinates;
  /// What the metadata says of the parameters behind the source's, in their order.
  llvm::SmallVector<mlir::Attribute> hiddenParameters;

private:
  /// The warps of a copy do, or those of all, at a barrier in shared memory.
  void meetInShared(tile::Meeting meeting);

  template <typename T>
  static inline const char kStateKey = 0;

  mlir::Value shuffle(mlir::Value element, mlir::Value offset, bool isXor);

  const ThreadPatterns &patterns;
  /// Who meets in the op that is being lowered, and whether it has `kMeetsBareAttrName`.
  tile::Meeting meeting = tile::Meeting::All;
  bool meetsBare = false;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::DenseMap<const void *, std::shared_ptr<void>> states;
};

/// The part of a coordinate that the bits of `number` (i32) bring, xor `sum`, as i32; null if
/// none.
mlir::Value combineBits(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number,
                        llvm::ArrayRef<LinearLayout::Basis> bases, unsigned dim, mlir::Value sum);

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_THREADS_THREADCONTEXT_H
