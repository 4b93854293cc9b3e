// How each op is lowered to threads: a table that groups of ops fill, and that says as well which
// ops there are, which of them are emulated, and what they need of shared memory.
//
// A group is a file in Patterns/. It registers its ops and knows nothing of other groups; what they
// share is in the headers beside this one. An op that is added is registered in one place.
#ifndef KILN_LIB_TARGET_COMMON_THREADS_THREADPATTERNS_H
#define KILN_LIB_TARGET_COMMON_THREADS_THREADPATTERNS_H

#include "ThreadContext.h"
#include <functional>

namespace kiln {

/// What is known of one kind of op.
struct ThreadPattern {
  /// Null if no such op is left when tiles are lowered, or if the op around it takes it along.
  std::function<mlir::LogicalResult(ThreadContext &, mlir::Operation *)> lower;
  /// Why not; none if it can be lowered. Null: it always can.
  std::function<std::optional<std::string>(mlir::Operation *)> whyUnsupported;
  /// Whether it is lowered through other ops, or in another type, rather than to what the chip has
  /// for it. Null: it never is.
  std::function<bool(mlir::Operation *, TargetInterface)> isEmulated;
  /// The scratch in shared memory that it needs, in bytes. Null: none.
  std::function<int64_t(mlir::Operation *)> getScratchBytes;
};

/// What an op of a realised schedule takes beside the warps: barriers in shared memory, or engines
/// too, which these barriers count the bytes of.
enum class Takes { Nothing, Engines };

/// Fails, with an error, if the chip has no roles or not what the op takes.
mlir::LogicalResult checkSchedule(ThreadContext &context, mlir::Operation *op, Takes takes);

/// Fails, with an error, at an op that one thread does for all and that stands in no
/// `tile.one_thread`.
mlir::LogicalResult requireOneThread(mlir::Operation *op, bool ofEachWarp = false);
/// What one thread does: the copy's first, if the op says `oneThread`, or else that of the region
/// around it, in which it must stand.
mlir::LogicalResult emitForOne(ThreadContext &context, mlir::Operation *op, bool oneThread,
                               llvm::function_ref<void()> emit);

class ThreadPatterns {
public:
  /// Those of all groups.
  static const ThreadPatterns &get();

  /// Null if nobody lowers such ops.
  const ThreadPattern *find(mlir::Operation *op) const;

  /// What else a group says of ops that it has added. Each function may take the op itself or, for
  /// several kinds of ops, an `Operation *`.
  template <typename... Ops>
  class Added {
  public:
    explicit Added(ThreadPatterns &patterns) : patterns(patterns) {}

    template <typename Fn>
    Added &unsupportedIf(Fn why) {
      ((patterns.at<Ops>().whyUnsupported =
            [why](mlir::Operation *op) { return why(llvm::cast<Ops>(op)); }),
       ...);
      return *this;
    }
    template <typename Fn>
    Added &emulatedIf(Fn isEmulated) {
      ((patterns.at<Ops>().isEmulated =
            [isEmulated](mlir::Operation *op, TargetInterface target) {
              return isEmulated(llvm::cast<Ops>(op), target);
            }),
       ...);
      return *this;
    }
    /// Nobody is at these bytes when the op begins; it meets between its writes and its reads, with
    /// which it ends.
    template <typename Fn>
    Added &needsScratch(Fn getBytes) {
      ((patterns.at<Ops>().getScratchBytes =
            [getBytes](mlir::Operation *op) { return getBytes(llvm::cast<Ops>(op)); }),
       ...);
      return *this;
    }

  private:
    ThreadPatterns &patterns;
  };

  /// `lower` takes the context and the op, and returns a LogicalResult, or nothing if it cannot
  /// fail. Of an op that was added before it takes the place.
  template <typename... Ops, typename Fn>
  Added<Ops...> add(Fn lower) {
    ((
         at<Ops>() = {},
         at<Ops>().lower =
             [lower](ThreadContext &context, mlir::Operation *op) {
               if constexpr (std::is_void_v<decltype(lower(context, llvm::cast<Ops>(op)))>) {
                 lower(context, llvm::cast<Ops>(op));
                 return mlir::success();
               } else {
                 return lower(context, llvm::cast<Ops>(op));
               }
             }),
     ...);
    return Added<Ops...>(*this);
  }

  /// The same of ops that a schedule is realised as, for chips that have roles and what `takes` (or
  /// a function of the op) says.
  template <typename... Ops, typename Fn, typename What>
  Added<Ops...> addScheduled(Fn lower, What takes) {
    return add<Ops...>([lower, takes](ThreadContext &context, auto op) {
      Takes its;
      if constexpr (std::is_same_v<What, Takes>)
        its = takes;
      else
        its = takes(op);
      if (mlir::failed(checkSchedule(context, op, its)))
        return mlir::failure();
      if constexpr (std::is_void_v<decltype(lower(context, op))>) {
        lower(context, op);
        return mlir::success();
      } else {
        return lower(context, op);
      }
    });
  }

  /// Ops that others were made of before, or that the op around them takes along.
  template <typename... Ops>
  Added<Ops...> addWithoutLowering() {
    ((at<Ops>() = {}), ...);
    return Added<Ops...>(*this);
  }

  /// What a group has left to do when a kernel's last op was lowered.
  void addEnd(void (*end)(ThreadContext &)) { ends.push_back(end); }
  void end(ThreadContext &context) const {
    for (auto end : ends)
      end(context);
  }

private:
  template <typename Op>
  ThreadPattern &at() {
    return patterns[mlir::TypeID::get<Op>()];
  }

  llvm::DenseMap<mlir::TypeID, ThreadPattern> patterns;
  llvm::SmallVector<void (*)(ThreadContext &)> ends;
};

/// Whether an operand or a result has floats that are computed in a wider type.
bool hasNarrowFloats(mlir::Operation *op, TargetInterface target);
/// Whether an operand or a result has elements that share bytes, or a view that it accesses.
bool hasPackedElements(mlir::Operation *op, TargetInterface target);
/// How many elements a tensor's registers hold: its extents are padded to powers of two.
int64_t getPaddedElements(llvm::ArrayRef<int64_t> shape);
std::string spell(mlir::Type type);
/// What a tensor takes in shared memory, an element a whole number of bytes.
int64_t getTensorBytes(mlir::Value tensor);

// The groups, each in the file of its name.
void populateAsyncDotPatterns(ThreadPatterns &patterns);
void populateAtomicPatterns(ThreadPatterns &patterns);
void populateBufferPatterns(ThreadPatterns &patterns);
void populateChannelPatterns(ThreadPatterns &patterns);
void populateControlFlowPatterns(ThreadPatterns &patterns);
void populateCopyPatterns(ThreadPatterns &patterns);
void populateDotPatterns(ThreadPatterns &patterns);
void populateElementwisePatterns(ThreadPatterns &patterns);
void populateForeignPatterns(ThreadPatterns &patterns);
void populateGatherPatterns(ThreadPatterns &patterns);
void populateMemoryPatterns(ThreadPatterns &patterns);
void populateOutsidePatterns(ThreadPatterns &patterns);
void populateOwnRingPatterns(ThreadPatterns &patterns);
void populateProgramPatterns(ThreadPatterns &patterns);
void populateRearrangePatterns(ThreadPatterns &patterns);
void populateReducePatterns(ThreadPatterns &patterns);
void populateRolePatterns(ThreadPatterns &patterns);
void populateScanPatterns(ThreadPatterns &patterns);
void populateSelectPatterns(ThreadPatterns &patterns);
void populateShapePatterns(ThreadPatterns &patterns);
void populateTakePatterns(ThreadPatterns &patterns);
void populateThreadPatterns(ThreadPatterns &patterns);
void populateViewPatterns(ThreadPatterns &patterns);

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_THREADS_THREADPATTERNS_H
