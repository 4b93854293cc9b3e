// One kernel on its way to the program of one thread.
#ifndef KILN_LIB_TARGET_COMMON_THREADS_THREADLOWERING_H
#define KILN_LIB_TARGET_COMMON_THREADS_THREADLOWERING_H

#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Target/Common/Threads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"

namespace kiln {

/// Rebuilds a kernel, op by op and in order, as a function that one thread runs. A tensor becomes
/// a vector of the registers that the thread holds of it, in the order of its layout's register
/// bits; a scalar stays itself, the same in every thread. Barriers may stand wherever ops do,
/// since all control flow of a tile program is common to its threads.
///
/// Where a thread stands in a tensor is linear: the coordinates of register r are those of the
/// thread (its lane's and warp's bases, computed once at the top of the function) xor a constant.
/// Where no bit of the two meets, the xor is an add, which addressing modes can fold.
class ThreadLowering {
public:
  ThreadLowering(tile::KernelOp kernel, TargetInterface target);
  mlir::LogicalResult run();

  /// The parameters that a view has become; extents and strides are of index type.
  struct View {
    mlir::Value pointer;
    llvm::SmallVector<mlir::Value> extents, strides;
  };

private:
  //===- Values -----------------------------------------------------------------------------===//

  mlir::Value get(mlir::Value value) const { return values.lookup(value); }
  void set(mlir::Value value, mlir::Value lowered) { values[value] = lowered; }
  llvm::SmallVector<mlir::Value> getElements(mlir::Value tensor);
  void setElements(mlir::Value tensor, llvm::ArrayRef<mlir::Value> elements);
  mlir::Type convert(mlir::Type type) const;
  mlir::Value index(int64_t value);
  mlir::Value i32(int64_t value);

  //===- Places -----------------------------------------------------------------------------===//

  /// Where this thread stands in a layout: one coordinate of index type a dimension.
  struct Place {
    LinearLayout layout;
    llvm::SmallVector<mlir::Value> thread;
    /// By dimension: no bit of a register's coordinate meets one of a thread's.
    llvm::SmallVector<bool> additive;
  };
  Place getPlace(const LinearLayout &layout);
  /// A coordinate of register `reg`, added to `offset` if one is given.
  mlir::Value getCoordinate(const Place &place, unsigned dim, int64_t reg, mlir::Value offset = {});
  /// Whether this thread is the first of those that hold its elements.
  mlir::Value isOwner(const LinearLayout &layout);

  //===- Threads ----------------------------------------------------------------------------===//

  void barrier();
  /// The element that another lane of this warp holds: lane xor mask, or a lane by number.
  mlir::Value shuffleXor(mlir::Value element, int64_t mask);
  mlir::Value shuffleFrom(mlir::Value element, mlir::Value sourceLane);
  mlir::Value shuffle(mlir::Value element, mlir::Value offset, bool isXor);
  mlir::Value getShared(mlir::Operation *op);

  //===- Ops, by group; each in the file named -----------------------------------------------===//

  mlir::LogicalResult lower(mlir::Block &block);
  mlir::LogicalResult lower(mlir::Operation *op);
  // ThreadLowering.cpp
  void lowerParameters();
  mlir::LogicalResult lowerLoop(mlir::Operation *op);
  mlir::LogicalResult lowerIf(mlir::Operation *op);
  mlir::LogicalResult lowerConstant(mlir::Operation *op);
  mlir::LogicalResult lowerElementwise(mlir::Operation *op);
  // Memory.cpp
  struct Access;
  Access getAccess(mlir::Operation *op, mlir::Value view, mlir::ValueRange offsets,
                   const LinearLayout &layout);
  mlir::Value getPointer(Access &access, int64_t reg);
  mlir::Value getInBounds(Access &access, int64_t reg);
  mlir::LogicalResult lowerLoad(tile::LoadOp op);
  mlir::LogicalResult lowerStore(tile::StoreOp op);
  mlir::LogicalResult lowerViewFromPointer(tile::ViewFromPointerOp op);
  mlir::LogicalResult lowerViewQuery(mlir::Operation *op);
  mlir::Value getZeros();
  // Shared.cpp
  /// Moves registers to or from shared memory whose element offsets are `layout`'s only
  /// coordinate.
  void writeShared(mlir::Value base, const LinearLayout &offsets,
                   llvm::ArrayRef<mlir::Value> elements);
  llvm::SmallVector<mlir::Value> readShared(mlir::Value base, const LinearLayout &offsets,
                                            mlir::Type elementType);
  mlir::LogicalResult lowerBuffer(mlir::Operation *op);
  // Shapes.cpp
  mlir::LogicalResult lowerShape(mlir::Operation *op);
  mlir::LogicalResult lowerConversion(tile::ConvertLayoutOp op);
  // Reduce.cpp
  mlir::LogicalResult lowerReduce(tile::ReduceOp op);
  llvm::SmallVector<mlir::Value> combine(tile::ReduceOp op, llvm::ArrayRef<mlir::Value> left,
                                         llvm::ArrayRef<mlir::Value> right);
  // Dot.cpp
  mlir::LogicalResult lowerDot(tile::DotOp op);
  mlir::LogicalResult lowerDotByAtom(tile::DotOp op, MmaAtomInterface atom);
  mlir::LogicalResult lowerDotByFma(tile::DotOp op);

  tile::KernelOp kernel;
  TargetInterface target;
  const Chip &chip;
  unsigned warps;
  mlir::OpBuilder builder;
  /// Stands at the end of what every thread computes first.
  mlir::OpBuilder prologue;
  mlir::Location loc;
  mlir::func::FuncOp function;
  mlir::Value lane, warp;
  llvm::DenseMap<mlir::Value, mlir::Value> values;
  llvm::DenseMap<mlir::Value, View> views;
  llvm::DenseMap<mlir::Attribute, llvm::SmallVector<mlir::Value>> threadCoordinates;
};

/// The bytes that an element takes in shared memory: sub-byte elements have one each.
unsigned getSharedElementBytes(mlir::Type type);

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

/// The scratch that a reduction needs, in bytes; zero if no partial results meet in memory.
int64_t getScratchBytes(tile::ReduceOp op);

} // namespace kiln

#endif // KILN_LIB_TARGET_COMMON_THREADS_THREADLOWERING_H
