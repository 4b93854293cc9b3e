// One kernel on its way from tiles to loops: where its tensors and views are, and one function
// for each kind of op.
#ifndef KILN_LIB_TARGET_CPU_LOWERTILES_PROGRAM_H
#define KILN_LIB_TARGET_CPU_LOWERTILES_PROGRAM_H

#include "Nest.h"
#include "kiln/Target/CPU/CPU.h"
#include "mlir/IR/IRMapping.h"

namespace kiln::cpu {
class Lowerings;

class Program {
public:
  Program(tile::KernelOp kernel, TargetAttr target);

  /// Replaces the kernel's body.
  mlir::LogicalResult lower();

  mlir::OpBuilder builder;
  /// The new scalars, by the old ones.
  mlir::IRMapping scalars;

  /// Lanes of a vector of 4-byte elements.
  int64_t vectorWidth() const { return target.getVectorBits() / 32; }
  int64_t vectorRegisters() const { return target.getRegisters(); }

  mlir::Value scratch() const { return scratchBase; }
  mlir::Value services();
  const Array &view(mlir::Value view);
  /// A buffer of the plan as a row-major array.
  Array buffer(int64_t number, mlir::ArrayRef<int64_t> shape, mlir::Type element);
  Array storage(mlir::Value tensor);
  int64_t temp(mlir::Operation *op, unsigned index);
  mlir::Value scalar(mlir::Value old) { return scalars.lookupOrDefault(old); }
  mlir::SmallVector<mlir::Value> scalarRange(mlir::ValueRange old);
  /// Constant data that is not one value throughout.
  Array constant(mlir::arith::ConstantOp op);

  /// Runs `body(inside)` once: for tiles that lie inside their views, or else for any.
  void versions(mlir::Location loc, mlir::ArrayRef<mlir::Value> conditions,
                llvm::function_ref<void(bool inside)> body);
  /// Conditions for the tiles of all loads in the tree to lie inside their views.
  void insideConditions(mlir::Value tensor, mlir::SmallVectorImpl<mlir::Value> &conditions);
  mlir::Value tileInside(mlir::Location loc, const Array &array, mlir::ValueRange offsets,
                         mlir::ArrayRef<int64_t> shape);
  /// Writes a tensor's elements to an array of its shape, converted if asked.
  void materialize(mlir::Location loc, mlir::Value tensor, const Array &to,
                   llvm::function_ref<mlir::Value(Nest &, mlir::Value)> convert = {});

  /// Calls `put` for all elements of a tensor, in vectors along `lane` where that can be: squares
  /// are transposed in registers where memory holds the tensor the other way round.
  void forVectors(Nest &nest, mlir::Value tensor, int lane,
                  llvm::function_ref<void(const Point &, mlir::Value)> put);
  /// Whether computing neighbours along a dimension reads neighbours in memory.
  bool isStraight(mlir::Value tensor, int dim);
  bool isStraight(mlir::Value tensor, int dim, llvm::DenseSet<std::pair<mlir::Value, int>> &met);
  /// `lane`, or the dimension that the tensor is read straight along instead.
  int straightLane(mlir::Value tensor, mlir::ArrayRef<int64_t> shape, int lane);
  /// As many registers as they have lanes: lane i of register j becomes lane j of register i.
  mlir::SmallVector<mlir::Value> transposed(Nest &nest, mlir::SmallVector<mlir::Value> rows);

  mlir::Value indexConstant(mlir::Location loc, int64_t value);

  /// Says how each kind of op is lowered, and whether that is a detour.
  static void addLowerings(Lowerings &table);

private:
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerElements(mlir::Operation *op);
  void lowerToScalar(tile::ToScalarOp op);
  // Views.
  void defineView(mlir::Value view);
  mlir::Value pointerOf(mlir::Value memory);
  void lowerMemory(mlir::Operation *op);
  mlir::OpBuilder atEntry();

  // Control flow.
  mlir::LogicalResult lowerFor(mlir::scf::ForOp loop);
  mlir::LogicalResult lowerWhile(mlir::scf::WhileOp loop);
  mlir::LogicalResult lowerBranches(mlir::Operation *op);
  void lowerYields(mlir::Operation *yield, mlir::ArrayRef<int64_t> targets,
                   mlir::SmallVectorImpl<mlir::Value> &scalarYields);

  // Memory.
  void lowerWrite(tile::WriteOp op);
  void lowerStore(tile::StoreOp op);
  void lowerScatter(tile::ScatterOp op);
  mlir::LogicalResult lowerAtomic(mlir::Operation *op);
  // Products.
  void lowerDot(tile::DotOp op);
  void lowerDotScaled(tile::DotScaledOp op);
  void multiply(mlir::Location loc, const Array &a, const Array &b, const Array &c,
                mlir::ArrayRef<int64_t> extents, bool packedB);
  // Along an axis.
  void lowerReduce(tile::ReduceOp op);
  void lowerScan(tile::ScanOp op);
  void lowerArgReduce(tile::ArgReduceOp op);
  void lowerSort(mlir::Operation *op, int64_t axis, bool descending, bool unsignedKeys);
  void lowerHistogram(tile::HistogramOp op);
  void lowerTake(tile::TakeOp op);
  // Shapes and bits.
  void lowerConcat(tile::ConcatOp op);
  void lowerJoin(tile::JoinOp op);
  void lowerBitcast(tile::BitcastOp op);
  // The outside.
  llvm::SmallVector<mlir::Value> programOf(mlir::Location loc, mlir::ValueRange named);
  mlir::LogicalResult lowerPrint(tile::PrintOp op);
  mlir::LogicalResult lowerAssert(tile::AssertOp op);
  mlir::LogicalResult lowerInlineAsm(tile::InlineAsmOp op);
  mlir::LogicalResult lowerExternCall(tile::ExternCallOp op);
  mlir::LLVM::LLVMFuncOp declareForeign(tile::ExternCallOp op, mlir::LLVM::LLVMFunctionType type);
  mlir::Value text(mlir::StringRef bytes);
  void callService(mlir::Location loc, int64_t offset, mlir::ValueRange arguments);

  tile::KernelOp kernel;
  TargetAttr target;
  mlir::Value scratchBase, servicesBase;
  mlir::Block *entry = nullptr;
  mlir::DenseMap<mlir::Value, Array> views;
  /// Of pointers that the kernel made.
  mlir::DenseMap<mlir::Value, mlir::Value> pointers;
  std::map<int64_t, mlir::Value> indices, bufferBases;
  mlir::ArrayRef<int64_t> offsets;
  unsigned globals = 0;
};

} // namespace kiln::cpu

#endif // KILN_LIB_TARGET_CPU_LOWERTILES_PROGRAM_H
