// What the deciding and the realising passes agree on: which ops can be computed where they are
// used, how elements lie in scratch memory, and the attributes that hold the decisions.
#ifndef KILN_LIB_TARGET_CPU_MATERIALIZATION_H
#define KILN_LIB_TARGET_CPU_MATERIALIZATION_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SetVector.h"

namespace kiln::cpu {

/// On an op: one buffer number for each result, -1 for none.
inline constexpr llvm::StringLiteral kBuffersAttr = "cpu.buffers";
/// On scf.while: the same for what its first region is given.
inline constexpr llvm::StringLiteral kBeforeBuffersAttr = "cpu.before_buffers";
/// On an op: buffers that only its own realisation uses.
inline constexpr llvm::StringLiteral kTempsAttr = "cpu.temps";
/// On an op that is kept: the reduction after it computes and keeps the elements as it reads them.
inline constexpr llvm::StringLiteral kFusedAttr = "cpu.fused";
/// On the kernel: the size of each buffer, its place, and the whole.
inline constexpr llvm::StringLiteral kBufferBytesAttr = "cpu.buffer_bytes";
inline constexpr llvm::StringLiteral kBufferOffsetsAttr = "cpu.buffer_offsets";
inline constexpr llvm::StringLiteral kScratchBytesAttr = "cpu.scratch_bytes";

/// What the scratch memory begins with: 64 bytes that may be overwritten at any time, and the
/// number of failed asserts.
inline constexpr int64_t kAssertCountOffset = 64;
inline constexpr int64_t kScratchHeaderBytes = 128;
/// Each thread has its own: more than this is a mistake in a tile's shape.
inline constexpr int64_t kMostScratchBytes = int64_t(1) << 30;

/// How one element lies in scratch memory, and in views whose elements fill bytes: an LLVM type
/// of whole bytes. What is narrower than a byte takes one; bf16 and smaller floats are integers; a
/// tf32 is an f32 whose low 13 bits are zero.
mlir::Type storageType(mlir::Type element);
int64_t storageBytes(mlir::Type element);
inline int64_t bytesOf(mlir::RankedTensorType type) {
  return type.getNumElements() * storageBytes(type.getElementType());
}
/// The bits of an element in a view: 8 for i1, which takes a byte there.
int64_t viewBits(mlir::Type element);

/// Whether an op's tensors can be computed element by element where they are used.
bool isInlineable(mlir::Operation *op);
/// Whether an element of the result depends on the same element of the operands only.
bool isElementwise(mlir::Operation *op);
/// Whether a reshape of these shapes merges dimensions (beside those of extent 1).
bool mergesDimensions(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

/// The numbers of one of the attributes above; none if it is not there.
inline llvm::ArrayRef<int64_t> numbersOf(mlir::Operation *op, llvm::StringRef name) {
  auto numbers = op->getAttrOfType<mlir::DenseI64ArrayAttr>(name);
  return numbers ? numbers.asArrayRef() : llvm::ArrayRef<int64_t>();
}

/// The buffer that holds a tensor, or -1.
int64_t bufferOf(mlir::Value tensor);
inline bool isInline(mlir::Value tensor) {
  mlir::Operation *op = tensor.getDefiningOp();
  return op && isInlineable(op) && bufferOf(tensor) < 0;
}

/// Visits the tensors that computing `tensor` reads, itself first, down to those in buffers.
void walkTree(mlir::Value tensor, llvm::function_ref<void(mlir::Value)> visit);
/// Whether computing an element of `tensor` reads only the same element of `leaf`, if any.
bool readsSameElement(mlir::Value tensor, mlir::Value leaf);

/// How a loop's yielded tensors get into the buffers of the carried ones, all of which they may
/// read. `temps` come first: computed before any carried tensor is overwritten, copied after all
/// others. `direct` are computed into their places in this order, each after those that read what
/// it overwrites. What is in its place already is in neither.
struct YieldPlan {
  llvm::SmallVector<unsigned> temps, direct;
};
/// The plan with few temporaries, beside those that `given` has numbers for.
YieldPlan planYields(mlir::scf::ForOp loop, llvm::ArrayRef<int64_t> given = {});

/// Loads in the tree of a store's value that must see the memory as it was before the store,
/// and are not known to: where the store may overlap them, they are copied first.
llvm::SmallVector<tile::LoadOp> loadsToGuard(tile::StoreOp store);

/// Whether the op, or one inside, writes memory that a load may read.
bool writesGlobal(mlir::Operation *op);
bool writesShared(mlir::Operation *op);

//===- Decisions ----------------------------------------------------------------------------===//

/// Whether an op has `cpu.temps`, and the bytes of each of its buffers.
bool needsTemps(mlir::Operation *op);
llvm::SmallVector<int64_t> tempBytes(mlir::Operation *op);

/// The reduction that can fill this kept tensor on its way: the first op that reads it, with only
/// such ops between that read scalars or write buffers of their own.
tile::ReduceOp fillingReduction(mlir::Operation *op);

/// No decision has been taken yet.
llvm::LogicalResult checkUndecided(tile::KernelOp kernel);
/// Each op has the buffers that it needs, and they are large enough.
llvm::LogicalResult checkDecisions(tile::KernelOp kernel);
/// The same, and each buffer has its place.
llvm::LogicalResult checkPlaces(tile::KernelOp kernel);

} // namespace kiln::cpu

#endif // KILN_LIB_TARGET_CPU_MATERIALIZATION_H
