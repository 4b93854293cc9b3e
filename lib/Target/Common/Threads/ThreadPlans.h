// How ops are to be lowered to threads, and what they need of shared memory: known before any is.
#ifndef KILN_LIB_TARGET_COMMON_THREADS_THREADPLANS_H
#define KILN_LIB_TARGET_COMMON_THREADS_THREADPLANS_H

#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Target/Common/SharedPieces.h"
#include "kiln/Target/Common/Threads.h"
#include "mlir/IR/Builders.h"

namespace kiln {

/// What global memory holds for an element, and its bits as another type's.
mlir::Type getStorageType(mlir::Type element);
mlir::Value castBits(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                     mlir::Type element);
/// What an access's hints say of its lines' eviction.
tile::Eviction getEviction(std::optional<tile::Cache> cache,
                           std::optional<tile::Eviction> eviction);
/// Whether it is not worth keeping in caches.
bool isStreaming(std::optional<tile::Cache> cache, std::optional<tile::Eviction> eviction);

/// Tells in the metadata what each move of a tile costs: widths, instructions, bank conflicts.
void explainMoves(tile::KernelOp kernel, TargetInterface target);

/// Where the parts of a channel are in its memory, in bytes; each buffer has its slots in a row.
struct ChannelPlan {
  llvm::SmallVector<int64_t> offsets, bytes; ///< of each buffer's first slot, and of one slot
  int64_t full, empty;                       ///< of the barriers
  int64_t address;                           ///< of where tensor memory is, if slots are there
  int64_t total;
};
ChannelPlan planChannel(tile::ChannelType type);

/// The part of a coordinate that the bits of `number` (i32) bring, xor `sum`, as i32; null if
/// none.
mlir::Value combineBits(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value number,
                        llvm::ArrayRef<LinearLayout::Basis> bases, unsigned dim, mlir::Value sum);

/// From the places of a tensor to the offsets of a buffer, in elements.
LinearLayout getBufferOffsets(const LinearLayout &tensor, tile::BufferType buffer);
/// By which the offsets of a part that is read differ from those; over F2, as they are.
int64_t getStart(tile::ReadOp op);

/// How a reduction goes: what each thread folds of its own, what lanes exchange, and what goes
/// through shared memory. Bits are those of the input's layout along the axis.
struct ReducePlan {
  struct Step {
    bool acrossLanes;
    unsigned bit; ///< of the register or lane number
  };
  llvm::SmallVector<Step> steps;
  /// Registers with one of these bits set are folded away, or repeat another.
  int64_t droppedRegisters = 0;
  /// Values of the axis whose partial results meet in memory, ascending; each doubles them.
  llvm::SmallVector<int64_t> remaining;
  bool commutative = false;
};
ReducePlan planReduce(tile::ReduceOp op);

/// The steps of a scan, by the bits of the axis from the lowest up; bits of warps that follow each
/// other are one step, through memory.
struct ScanStep {
  enum Kind { Registers, Lanes, Memory } kind;
  unsigned bit;                      ///< of the register or lane number
  llvm::SmallVector<unsigned> warps; ///< the bits of the warp number, ascending along the axis
};
llvm::SmallVector<ScanStep> planScan(tile::ScanOp op);

/// Whether each thread has the slice's elements already, or those of what is put together.
bool isOwnSlice(tile::SliceOp op);
bool isOwnConcat(tile::ConcatOp op);

/// Whether each thread has both of each pair, and the tensors that they are joined from or split to
/// lie alike.
bool isOwnPair(mlir::Operation *joinOrSplit);

/// Whether each thread's part of a tile of elements that share bytes is whole bytes.
bool storesWholeBytes(tile::StoreOp op);

/// How far apart the scratch of the copies of a role lies.
int64_t getRoleScratchStep(mlir::Operation *op);
int64_t getReduceBytes(tile::ReduceOp op);
int64_t getScanBytes(tile::ScanOp op);
int64_t getSortBytes(mlir::Operation *op);
int64_t getAtomicBytes(mlir::Operation *op);
int64_t getAssertBytes(tile::AssertOp op);

/// What shared memory holds for an element, a whole number of bytes, and the way there and back.
mlir::Type getSharedType(mlir::Type element);
mlir::Value toShared(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value element);
mlir::Value fromShared(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value element,
                       mlir::Type type);
/// Row-major strides of a shape; with an axis, as if it were the last dimension.
llvm::SmallVector<int64_t> getStrides(llvm::ArrayRef<int64_t> shape, int64_t axis = -1);

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_THREADS_THREADPLANS_H
