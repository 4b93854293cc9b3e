// Which layout each value of a kernel should have, before anything is changed.
#ifndef KILN_LIB_LAYOUT_TRANSFORMS_LAYOUTINFERENCE_H
#define KILN_LIB_LAYOUT_TRANSFORMS_LAYOUTINFERENCE_H

#include "kiln/Layout/Transforms/BufferReaders.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace kiln {

/// The dimension of a loaded tile that memory walks first; -1 if it has none.
int getFastestDim(tile::LoadOp load);
/// The dimension that copies share out of a tensor laid out so; -1 if each has all of it.
int getCopiesDim(const LinearLayout &layout, unsigned copies);

/// The threads that tensors of a program are spread over: all of them, or those of the role that
/// makes a tensor or, where none does, of the one that uses it.
class ProgramThreads {
public:
  ProgramThreads(tile::KernelOp kernel, unsigned lanes) : kernel(kernel), lanes(lanes) {}

  ThreadShape of(mlir::Value tensor) const;
  /// Those that an op runs on.
  ThreadShape of(mlir::Operation *op) const;

private:
  /// Those of a role, or of the first one where the kernel has none of this name.
  ThreadShape ofRole(llvm::StringRef name) const;

  tile::KernelOp kernel;
  unsigned lanes;
  mutable llvm::DenseMap<mlir::Value, ThreadShape> known;
};

/// One forward walk over a kernel's body. Values come in three strengths: *free* ones can be
/// made in any layout at no cost (constants, iota, splats, broadcasts), *plain* ones have the
/// layout that their loads gave them, *anchored* ones come from a matrix instruction. What a copy
/// atom brings into a buffer is free: it is read in any layout. An op on several operands takes the
/// layout of the strongest. A loop is walked again while what it yields is stronger than what it
/// started with; and all is, once, where copies load tiles that others share out otherwise.
class LayoutInference {
public:
  LayoutInference(tile::KernelOp kernel, const ProgramThreads &threads);

  enum Strength { Free, Plain, Anchored };
  const LinearLayout &get(mlir::Value value) const { return layouts.find(value)->second.layout; }
  bool has(mlir::Value value) const { return layouts.contains(value); }
  /// The layout that `op` wants its tensor operand to have.
  LinearLayout getWanted(mlir::OpOperand &operand) const;

  // What the ops' models ask and tell (DistributionInterface.h).
  struct Entry {
    LinearLayout layout;
    Strength strength;
  };
  void set(mlir::Value value, const LinearLayout &layout, Strength strength);
  /// As the threads of an op get a value.
  Entry lookup(mlir::Value value, mlir::Operation *op) const {
    return lookup(value, getThreads(op));
  }
  LinearLayout getBlocked(mlir::Value value, int fastest = -1) const {
    return getBlocked(value, threads.of(value), fastest);
  }
  /// The same for the threads of an op.
  LinearLayout getBlocked(mlir::Value value, mlir::Operation *op) const {
    return getBlocked(value, getThreads(op));
  }
  ThreadShape getThreads(mlir::Operation *op) const { return threads.of(op); }

private:
  void visit(mlir::Block &block);
  void visit(mlir::Operation *op);
  bool grow(mlir::ValueRange carried, mlir::ValueRange yielded);
  void visitLoop(mlir::Operation *loop);
  void visitWhile(mlir::Operation *loop);
  void visitIf(mlir::Operation *branch);
  LinearLayout getBlocked(mlir::Value value, ThreadShape shape, int fastest = -1) const;
  /// An operand that a product reads from shared memory.
  BufferReader getDotReader(mlir::OpOperand &use) const;
  /// Copies that write what products read from shared memory share it out so that each has a part
  /// of the buffer to itself; nothing if they do in this layout, or in no other.
  std::optional<LinearLayout> shareOutForDots(mlir::Value value, const LinearLayout &layout,
                                              llvm::ArrayRef<BufferReader> dots, int64_t width,
                                              int fastest = -1) const;
  std::optional<LinearLayout> shareOutWritten(mlir::Value value, const LinearLayout &layout) const;
  /// Nothing if it is, or if they do not alike.
  std::optional<LinearLayout> shareOutAsRead(tile::LoadOp load) const;
  void findSharedDims(mlir::Value value, llvm::SmallDenseSet<int> &dims) const;
  Entry lookup(mlir::Value value) const;
  /// As these threads get a value: as it is made, if they are those that make it.
  Entry lookup(mlir::Value value, ThreadShape shape) const;

  /// With fewer lanes along the dimension that memory walks first, and as many more along others,
  /// if what is reduced along it spares more exchanges between lanes than accesses take lines of
  /// memory.
  LinearLayout shareRows(const LinearLayout &blocked, int fastest) const;

  const ProgramThreads &threads;
  int64_t width = 1;
  /// Of that width; and the kernel's accesses to tiles, and what it reduces, if it has no products.
  int64_t widthBytes = 1, accesses = 0, reductions = 0;
  llvm::DenseMap<mlir::Value, Entry> layouts;
  /// Of what copies load through registers: as those who read it share it out, so that each copy
  /// has a part of the buffer to itself.
  llvm::DenseMap<mlir::Value, LinearLayout> asRead;
};

} // namespace kiln

#endif // KILN_LIB_LAYOUT_TRANSFORMS_LAYOUTINFERENCE_H
