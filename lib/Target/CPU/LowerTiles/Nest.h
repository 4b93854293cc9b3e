// Loop nests over the elements of a tile, and the values of tensors inside them.
//
// A nest is a stack of loops. Whatever is computed in it is put as far out as its operands allow:
// an op depends on the innermost loop that one of its operands depends on (its level), and stands
// in that loop's body, in front of the loop within. So what is the same for a whole row is
// computed once a row, without asking LLVM to prove that loads may move across stores.
//
// `value` computes a tensor at a point: the element at an index, or a vector of elements along one
// dimension. It recurses through the ops that are computed where they are used, and ends at
// scratch memory, views and scalars. Elements that are the same for all lanes come as a scalar.
#ifndef KILN_LIB_TARGET_CPU_LOWERTILES_NEST_H
#define KILN_LIB_TARGET_CPU_LOWERTILES_NEST_H

#include "../Materialization.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include <map>

namespace kiln::cpu {

class Program;

/// Where elements are taken: an index for each dimension, and lanes along one of them.
struct Point {
  mlir::SmallVector<mlir::Value> at;
  int lane = -1;     ///< the dimension that lanes run along; -1: one element
  int64_t step = 1;  ///< from one lane to the next
  int64_t width = 1; ///< number of lanes
};

/// A strided array in memory. Extents and strides are index values.
struct Array {
  mlir::Value base;
  mlir::Type element;
  mlir::SmallVector<mlir::Value> extents, strides;
  bool packed = false; ///< elements narrower than a byte, low bits first
};

/// The last dimension with more than one element, or -1.
int lastWide(llvm::ArrayRef<int64_t> shape);
/// The point in the tensor that lacks the dimension.
Point without(const Point &point, int64_t axis);

/// Where elements at computed indices are, and which of them count.
struct Places {
  mlir::Value position; ///< i64, a vector if lanes differ; of a run that of its first lane
  mlir::Value mask;     ///< a vector if lanes differ; null: all
  bool isRun = false;   ///< the lanes are neighbours in memory
};

class Nest {
public:
  /// A nest in front of the program's insertion point. With `inside` no tile that is loaded or
  /// stored crosses the border of its view.
  Nest(Program &program, mlir::Location loc, bool inside = false);
  ~Nest();

  //===- Structure --------------------------------------------------------------------------===//

  mlir::Value open(int64_t from, int64_t to, int64_t step = 1);
  mlir::Value open(mlir::Value from, mlir::Value to, int64_t step, mlir::ValueRange carried,
                   mlir::SmallVector<mlir::Value> *inside);
  mlir::SmallVector<mlir::Value> close(mlir::ValueRange yields = {});

  /// Runs `body` for all points of a shape, lanes along `lane` (-1: none).
  void forEach(mlir::ArrayRef<int64_t> shape, int lane, llvm::function_ref<void(Point)> body,
               int skipped = -1);
  /// Runs `body` for stretches of `extent`: whole vectors in a loop, then shorter ones.
  void forLanes(int64_t extent, llvm::function_ref<void(mlir::Value, int64_t)> body);

  //===- Ops at their level -----------------------------------------------------------------===//

  template <typename Op, typename... Args>
  mlir::Value make(Args &&...args) {
    Op op = Op::create(detached, loc, std::forward<Args>(args)...);
    place(op);
    return op->getNumResults() ? mlir::Value(op->getResult(0)) : mlir::Value();
  }
  /// For ops that must stay in the innermost loop.
  template <typename Op, typename... Args>
  Op makeHere(Args &&...args) {
    Op op = Op::create(detached, loc, std::forward<Args>(args)...);
    placeAt(op, levels.size() - 1);
    return op;
  }
  void place(mlir::Operation *op);
  void makeInnermost(mlir::Operation *op) { placeAt(op, levels.size() - 1); }
  void placeAt(mlir::Operation *op, int level);
  int levelOf(mlir::Value value) const { return levelOfValue.lookup(value); }

  mlir::Value index(int64_t value);
  mlir::Value integer(mlir::Type type, int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value toI64(mlir::Value index);
  mlir::Value splat(mlir::Value scalar, int64_t width);
  /// 0, step, 2·step, … as a vector.
  mlir::Value lanes(mlir::Type element, int64_t width, int64_t step = 1);
  mlir::Value constant(mlir::TypedAttr value);

  //===- Values -----------------------------------------------------------------------------===//

  mlir::Value value(mlir::Value tensor, const Point &point);
  /// The same, with all lanes of the point.
  mlir::Value vectorValue(mlir::Value tensor, const Point &point);
  /// The ops of a combining region on scalars or vectors.
  mlir::SmallVector<mlir::Value> combine(mlir::Region &region, mlir::ValueRange arguments);
  mlir::SmallVector<mlir::Value> elementwise(mlir::Operation *op, mlir::ValueRange operands);

  //===- Memory -----------------------------------------------------------------------------===//

  /// Elements of an array in scratch memory or in a view. No bounds are looked at.
  mlir::Value load(const Array &array, const Point &point, mlir::Value mask = {},
                   mlir::Value padding = {});
  void store(mlir::Value value, const Array &array, const Point &point, mlir::Value mask = {});
  /// Where a view's elements are: an index for each dimension, tensors or scalars, and a mask.
  Places places(const Array &array, mlir::ValueRange indices, mlir::Value mask, const Point &point);
  /// The lanes of the point, moved by offsets, that lie inside the array; null: all do.
  mlir::Value insideMask(const Array &array, mlir::ValueRange offsets, const Point &point);
  Point moved(const Point &point, mlir::ValueRange offsets);

  mlir::Value toStorage(mlir::Value value, mlir::Type element);
  mlir::Value fromStorage(mlir::Value value, mlir::Type element);
  mlir::Value address(mlir::Value base, mlir::Value offset, mlir::Type storage);
  /// The position of the point's first lane, in elements.
  mlir::Value linear(mlir::ValueRange at, mlir::ValueRange strides);
  mlir::Value gatherElements(const Array &array, mlir::Value offsets, mlir::Value mask,
                             mlir::Value padding);
  void scatterElements(mlir::Value value, const Array &array, mlir::Value offsets,
                       mlir::Value mask);
  mlir::Value loadRun(const Array &array, const Places &places, mlir::Value padding, int64_t width);
  void storeRun(mlir::Value value, const Array &array, const Places &places);

  Program &program;
  mlir::Location loc;
  const bool inside;
  /// Where loads read from, if not from their view, and at which offsets: copied tiles.
  mlir::DenseMap<mlir::Operation *, std::pair<Array, mlir::SmallVector<mlir::Value>>> redirected;

private:
  struct Level {
    mlir::Block *block;
    mlir::Block::iterator before;
  };
  struct Known {
    mlir::SmallVector<mlir::Value> values;
    size_t level;
  };

  mlir::SmallVector<mlir::Value> compute(mlir::Value tensor, const Point &point);
  mlir::Value computeLoad(tile::LoadOp load, const Point &point);
  mlir::Value computeGather(tile::GatherOp gather, const Point &point);
  mlir::Value computeReshape(mlir::Value input, mlir::ArrayRef<int64_t> shape, const Point &point);
  mlir::Value loadPacked(const Array &array, const Point &point, mlir::Value mask,
                         mlir::Value padding);
  /// A vector of neighbours of a packed array, as bytes.
  mlir::Value loadPackedRun(const Array &array, const Point &point);
  void storePacked(mlir::Value value, const Array &array, const Point &point, mlir::Value mask);
  mlir::Value vectorOffsets(const Array &array, const Point &point);
  mlir::Value paddingBits(mlir::Type element, mlir::Value padding, int64_t width);

  mlir::OpBuilder detached;
  mlir::SmallVector<Level> levels;
  mlir::DenseMap<mlir::Value, int> levelOfValue;
  std::map<int64_t, mlir::Value> indices;
  std::map<std::vector<const void *>, std::pair<mlir::Value, size_t>> arithmetic;
  std::map<std::vector<const void *>, Known> known;
};

} // namespace kiln::cpu

#endif // KILN_LIB_TARGET_CPU_LOWERTILES_NEST_H
