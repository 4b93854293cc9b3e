// Matrix products: operands packed to the accumulator's type, then blocks of registers.
//
// C is computed in blocks of a few rows by one or two vectors, which stay in registers while k
// runs; each step takes the block's vectors of B's row and, for each row, one element of A as a
// scalar. B is packed in panels as wide as a block, so that the inner loop reads it straight on; A
// is copied as it lies, as its elements are only broadcast.
#include "Program.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

namespace {

/// The columns of C, cut into stretches of so many vectors of so many lanes.
struct Columns {
  int64_t at, count, vectors, width; // `count` stretches, from column `at` on
};

} // namespace

static SmallVector<Columns> cutColumns(int64_t n, int64_t width) {
  SmallVector<Columns> cuts;
  int64_t at = 0;
  if (int64_t count = n / (2 * width)) {
    cuts.push_back({0, count, 2, width});
    at = count * 2 * width;
  }
  while (at < n) {
    int64_t lanes = std::min<int64_t>(width, llvm::bit_floor(static_cast<uint64_t>(n - at)));
    cuts.push_back({at, 1, 1, lanes});
    at += lanes;
  }
  return cuts;
}

/// Rows of a block: as many as registers allow, and of these the number that leaves no rest.
static int64_t blockRows(int64_t m, int64_t vectors, int64_t registers) {
  int64_t most = std::min<int64_t>(m, (registers - vectors - 1) / vectors);
  most = std::min<int64_t>(most, 14);
  for (int64_t rows = most; rows > most / 2; --rows)
    if (m % rows == 0)
      return rows;
  return std::max<int64_t>(1, std::min<int64_t>(most, 8));
}

/// c += a · b for row-major a or any strides, b in panels or row-major, c row-major. All of them
/// hold c's element type.
void Program::multiply(Location loc, const Array &a, const Array &b, const Array &c,
                       ArrayRef<int64_t> extents, bool packedB) {
  int64_t m = extents[0], n = extents[1], k = extents[2];
  Type element = c.element;
  bool real = isa<FloatType>(element);
  int64_t width = vectorWidth() * 4 / storageBytes(element);
  for (Columns cut : cutColumns(n, width)) {
    int64_t rows = blockRows(m, cut.vectors, vectorRegisters());
    for (int64_t rowAt = 0; rowAt < m;) {
      int64_t height = std::min(rows, m - rowAt);
      int64_t blocks = (m - rowAt) / height;
      Nest nest(*this, loc);
      int64_t stretch = cut.vectors * cut.width;
      Value column =
          nest.add(nest.index(cut.at), nest.mul(nest.open(0, cut.count), nest.index(stretch)));
      Value row = nest.add(nest.index(rowAt), nest.mul(nest.open(0, blocks), nest.index(height)));
      auto pointAt = [&](Value i, Value j) {
        return Point{{i, j}, cut.width > 1 ? 1 : -1, 1, cut.width};
      };
      auto each = [&](auto body) {
        for (int64_t i = 0; i < height; ++i)
          for (int64_t v = 0; v < cut.vectors; ++v)
            body(nest.add(row, nest.index(i)), nest.add(column, nest.index(v * cut.width)));
      };
      SmallVector<Value> sums, carried;
      each([&](Value i, Value j) { sums.push_back(nest.load(c, pointAt(i, j))); });
      Value at = nest.open(nest.index(0), nest.index(k), 1, sums, &carried);
      SmallVector<Value> right, next;
      for (int64_t v = 0; v < cut.vectors; ++v) {
        if (!packedB) {
          right.push_back(nest.load(b, pointAt(at, nest.add(column, nest.index(v * cut.width)))));
          continue;
        }
        // Panels: all of k for one stretch, then the next stretch.
        Array panel = b;
        panel.strides = {nest.index(stretch), nest.index(1), nest.index(k)};
        Point point{{at, nest.index(v * cut.width), column}, cut.width > 1 ? 1 : -1, 1, cut.width};
        right.push_back(nest.load(panel, point));
      }
      for (int64_t i = 0; i < height; ++i) {
        Value left = nest.load(a, Point{{nest.add(row, nest.index(i)), at}});
        Value spread = nest.splat(left, cut.width);
        for (int64_t v = 0; v < cut.vectors; ++v) {
          Value sum = carried[i * cut.vectors + v];
          if (real)
            next.push_back(nest.make<math::FmaOp>(spread, right[v], sum));
          else
            next.push_back(
                nest.make<arith::AddIOp>(nest.make<arith::MulIOp>(spread, right[v]), sum));
        }
      }
      SmallVector<Value> results = nest.close(next);
      unsigned which = 0;
      each([&](Value i, Value j) { nest.store(results[which++], c, pointAt(i, j)); });
      nest.close();
      nest.close();
      rowAt += blocks * height;
    }
  }
}

/// Rounds f32 to the 10 explicit bits of tf32's fraction, ties to even.
static Value roundToTF32(Nest &nest, Value value) {
  auto vector = dyn_cast<VectorType>(value.getType());
  Type i32 = IntegerType::get(nest.loc.getContext(), 32);
  Type type = vector ? Type(VectorType::get(vector.getShape(), i32)) : i32;
  Value bits = nest.make<arith::BitcastOp>(type, value);
  Value odd = nest.make<arith::AndIOp>(nest.make<arith::ShRUIOp>(bits, nest.integer(type, 13)),
                                       nest.integer(type, 1));
  Value up = nest.make<arith::AddIOp>(odd, nest.integer(type, 0xfff));
  Value rounded = nest.make<arith::AndIOp>(nest.make<arith::AddIOp>(bits, up),
                                           nest.integer(type, ~int64_t(0x1fff)));
  Value magnitude = nest.make<arith::AndIOp>(bits, nest.integer(type, 0x7fffffff));
  Value finite = nest.make<arith::CmpIOp>(arith::CmpIPredicate::ult, magnitude,
                                          nest.integer(type, 0x7f800000));
  Value chosen = nest.make<arith::SelectOp>(finite, rounded, bits);
  return nest.make<arith::BitcastOp>(value.getType(), chosen);
}

static Value convertOperand(Nest &nest, Value value, Type to, bool isUnsigned, bool tf32) {
  Type from = getElementTypeOrSelf(value);
  auto vector = dyn_cast<VectorType>(value.getType());
  Type type = vector ? Type(VectorType::get(vector.getShape(), to)) : to;
  if (from != to) {
    if (isa<FloatType>(to))
      value = nest.make<arith::ExtFOp>(type, value);
    else if (isUnsigned)
      value = nest.make<arith::ExtUIOp>(type, value);
    else
      value = nest.make<arith::ExtSIOp>(type, value);
  }
  return tf32 && from.isF32() ? roundToTF32(nest, value) : value;
}

void Program::lowerDot(tile::DotOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  Type element = type.getElementType();
  bool half = element.isF16();
  Type sum = half ? Type(builder.getF32Type()) : element;
  int64_t m = op.getM(), n = op.getN(), k = op.getK();
  bool tf32 = op.getPrecision() == tile::DotPrecision::TF32;

  // The accumulator, in the result's buffer; f16 sums are kept in f32 and rounded at the end.
  Array result = storage(op.getResult());
  if (isInline(op.getAccumulator()) || bufferOf(op.getAccumulator()) != bufferOf(op.getResult()))
    materialize(loc, op.getAccumulator(), result);

  ArrayRef<int64_t> batch = type.getShape().drop_back(2);
  int64_t batches = 1;
  for (int64_t extent : batch)
    batches *= extent;

  // One batch: tensors seen as [batches, rows, columns] start at an index.
  scf::ForOp loop;
  Value which = indexConstant(loc, 0);
  if (batches > 1) {
    loop =
        scf::ForOp::create(builder, loc, which, indexConstant(loc, batches), indexConstant(loc, 1));
    builder.setInsertionPointToStart(loop.getBody());
    which = loop.getInductionVar();
  }
  SmallVector<Value> batchIndex(batch.size());
  Value rest = which;
  for (int dim = static_cast<int>(batch.size()) - 1; dim >= 0; --dim) {
    Value extent = indexConstant(loc, batch[dim]);
    batchIndex[dim] = dim == 0 ? rest : arith::RemUIOp::create(builder, loc, rest, extent);
    rest = arith::DivUIOp::create(builder, loc, rest, extent);
  }

  /// A whole [batch…, rows, columns] array without its batch dimensions.
  auto matrix = [&](Array array, ArrayRef<int64_t> shape) {
    int64_t elements = shape[0] * shape[1];
    Value offset = arith::MulIOp::create(builder, loc, which, indexConstant(loc, elements));
    Array flat = array;
    Type i64 = builder.getI64Type();
    Value at = arith::IndexCastOp::create(builder, loc, i64, offset);
    flat.base = LLVM::GEPOp::create(builder, loc, array.base.getType(), storageType(array.element),
                                    array.base, ArrayRef<LLVM::GEPArg>{at});
    flat.extents = {indexConstant(loc, shape[0]), indexConstant(loc, shape[1])};
    flat.strides = {indexConstant(loc, shape[1]), indexConstant(loc, 1)};
    return flat;
  };
  auto source = [&](Value operand) -> std::optional<Array> {
    if (auto type = dyn_cast<tile::BufferType>(operand.getType()))
      return buffer(temp(operand.getDefiningOp(), 0), type.getShape(), type.getElementType());
    if (!isInline(operand))
      return storage(operand);
    return std::nullopt;
  };
  /// Copies an operand's matrix, [rows, columns] as it lies, to where `at` says.
  auto pack = [&](Value operand, ArrayRef<int64_t> shape, bool isUnsigned,
                  function_ref<void(Nest &, Point, Value)> put, int lane) {
    std::optional<Array> from = source(operand);
    if (from)
      from = matrix(*from, shape);
    SmallVector<Value> conditions;
    if (!from)
      insideConditions(operand, conditions);
    versions(loc, conditions, [&](bool inside) {
      Nest nest(*this, loc, inside);
      nest.forEach(shape, lane, [&](Point point) {
        Value value;
        if (from) {
          value = nest.load(*from, point);
        } else {
          Point whole = point;
          whole.at.insert(whole.at.begin(), batchIndex.begin(), batchIndex.end());
          if (point.lane >= 0)
            whole.lane += batchIndex.size();
          value = nest.value(operand, whole);
        }
        value = nest.splat(value, point.width);
        put(nest, point, convertOperand(nest, value, sum, isUnsigned, tf32));
      });
    });
  };
  auto swapped = [](Array array) {
    std::swap(array.strides[0], array.strides[1]);
    std::swap(array.extents[0], array.extents[1]);
    return array;
  };

  // A: as it lies, unless it is in a buffer of the right type already.
  SmallVector<int64_t> shapeA = {m, k}, shapeB = {k, n};
  if (op.getTransposeA())
    std::swap(shapeA[0], shapeA[1]);
  if (op.getTransposeB())
    std::swap(shapeB[0], shapeB[1]);
  Array a;
  std::optional<Array> placeA = source(op.getA());
  int batchDims = static_cast<int>(batch.size());
  if (placeA && placeA->element == sum && !tf32) {
    a = matrix(*placeA, shapeA);
  } else {
    int lane = shapeA[1] > 1 ? 1 : 0;
    if (!placeA && shapeA[0] > 1 && !isStraight(op.getA(), batchDims + lane) &&
        isStraight(op.getA(), batchDims))
      lane = 0;
    a = lane == 1 ? buffer(temp(op, 0), shapeA, sum)
                  : swapped(buffer(temp(op, 0), {shapeA[1], shapeA[0]}, sum));
    pack(
        op.getA(), shapeA, op.getUnsignedA(),
        [&](Nest &nest, Point point, Value value) { nest.store(value, a, point); }, lane);
  }
  if (op.getTransposeA())
    a = swapped(a);

  // B: panels of a block's columns.
  Array b = buffer(temp(op, 1), {k * n}, sum);
  std::optional<Array> placeB = source(op.getB());
  bool direct = placeB && placeB->element == sum && !tf32 && !op.getTransposeB();
  if (direct) {
    b = matrix(*placeB, shapeB);
  } else {
    int64_t width = vectorWidth() * 4 / storageBytes(sum);
    SmallVector<Columns> cuts = cutColumns(n, width);
    // Columns are walked by stretches: a vector of lanes never crosses a panel.
    int columnDim = op.getTransposeB() ? 0 : 1;
    std::optional<Array> from = placeB;
    if (from)
      from = matrix(*from, shapeB);
    SmallVector<Value> conditions;
    if (!from)
      insideConditions(op.getB(), conditions);
    // Where B lies along k, squares of it are transposed in registers.
    bool across = from ? columnDim == 0
                       : !isStraight(op.getB(), batchDims + columnDim) &&
                             isStraight(op.getB(), batchDims + 1 - columnDim);
    versions(loc, conditions, [&](bool inside) {
      for (Columns cut : cuts) {
        Nest nest(*this, loc, inside);
        int64_t stretch = cut.vectors * cut.width;
        Value column =
            nest.add(nest.index(cut.at), nest.mul(nest.open(0, cut.count), nest.index(stretch)));
        auto read = [&](Value row, Value col, int lane) {
          Point point;
          point.at.resize(2);
          point.at[columnDim] = col;
          point.at[1 - columnDim] = row;
          point.lane = cut.width > 1 ? lane : -1;
          point.width = cut.width;
          Value value;
          if (from) {
            value = nest.load(*from, point);
          } else {
            Point whole = point;
            whole.at.insert(whole.at.begin(), batchIndex.begin(), batchIndex.end());
            if (point.lane >= 0)
              whole.lane += batchIndex.size();
            value = nest.value(op.getB(), whole);
          }
          return convertOperand(nest, nest.splat(value, cut.width), sum, op.getUnsignedB(), tf32);
        };
        auto put = [&](Value value, Value row, int64_t v) {
          Array panel = b;
          panel.strides = {nest.index(stretch), nest.index(1), nest.index(k)};
          panel.extents = {nest.index(k), nest.index(n), nest.index(n)};
          nest.store(
              value, panel,
              Point{
                  {row, nest.index(v * cut.width), column}, cut.width > 1 ? 1 : -1, 1, cut.width});
        };
        int64_t squares = across && cut.width >= 4 ? k / cut.width * cut.width : 0;
        if (squares > 0) {
          Value at = nest.open(0, squares, cut.width);
          for (int64_t v = 0; v < cut.vectors; ++v) {
            SmallVector<Value> rows;
            for (int64_t i = 0; i < cut.width; ++i)
              rows.push_back(
                  read(at, nest.add(column, nest.index(v * cut.width + i)), 1 - columnDim));
            for (auto [i, value] : llvm::enumerate(transposed(nest, rows)))
              put(value, nest.add(at, nest.index(i)), v);
          }
          nest.close();
        }
        if (squares < k) {
          Value at = nest.open(squares, k);
          for (int64_t v = 0; v < cut.vectors; ++v)
            put(read(at, nest.add(column, nest.index(v * cut.width)), columnDim), at, v);
          nest.close();
        }
        nest.close();
      }
    });
  }

  Array c = matrix(result, {m, n});
  Array exact = c;
  auto copy = [&](const Array &from, const Array &to, bool widen) {
    Nest nest(*this, loc);
    nest.forEach({m, n}, n > 1 ? 1 : 0, [&](Point point) {
      Value value = nest.load(from, point);
      Type type = to.element;
      if (auto vector = dyn_cast<VectorType>(value.getType()))
        type = VectorType::get(vector.getShape(), type);
      value =
          widen ? nest.make<arith::ExtFOp>(type, value) : nest.make<arith::TruncFOp>(type, value);
      nest.store(value, to, point);
    });
  };
  if (half) {
    exact = buffer(temp(op, 2), {m, n}, sum);
    copy(c, exact, /*widen=*/true);
  }
  multiply(loc, a, b, exact, {m, n, k}, !direct);
  if (half)
    copy(exact, c, /*widen=*/false);
  if (loop)
    builder.setInsertionPointAfter(loop);
}

void Program::lowerDotScaled(tile::DotScaledOp op) {
  Location loc = op.getLoc();
  Array result = storage(op.getResult());
  if (isInline(op.getAccumulator()) || bufferOf(op.getAccumulator()) != bufferOf(op.getResult()))
    materialize(loc, op.getAccumulator(), result);
  Type f32 = builder.getF32Type();
  auto shapeA = cast<RankedTensorType>(op.getA().getType()).getShape();
  auto shapeB = cast<RankedTensorType>(op.getB().getType()).getShape();
  int64_t m = shapeA[0], k = shapeA[1], n = shapeB[op.getTransposeB() ? 0 : 1];

  // Elements times their block's scale, in f32: exact for every format but at f32's borders.
  auto pack = [&](Value operand, Value scale, bool transposed, const Array &to) {
    auto shape = cast<RankedTensorType>(operand.getType()).getShape();
    int64_t block = k / cast<RankedTensorType>(scale.getType()).getDimSize(1);
    int alongK = transposed ? 0 : 1;
    SmallVector<Value> conditions;
    insideConditions(operand, conditions);
    insideConditions(scale, conditions);
    versions(loc, conditions, [&](bool inside) {
      Nest nest(*this, loc, inside);
      // Rows of scales outside, blocks of k, then the elements of one block.
      Value other = nest.open(0, shape[1 - alongK]);
      Value which = nest.open(0, k / block);
      Value factor = nest.value(scale, Point{{other, which}});
      factor = nest.make<arith::ExtFOp>(f32, factor);
      nest.forLanes(block, [&](Value at, int64_t width) {
        Point point;
        point.at.resize(2);
        point.at[alongK] = nest.add(nest.mul(which, nest.index(block)), at);
        point.at[1 - alongK] = other;
        point.lane = width > 1 ? alongK : -1;
        point.width = width;
        Value value = convertOperand(nest, nest.vectorValue(operand, point), f32, false, false);
        value = nest.make<arith::MulFOp>(value, nest.splat(factor, width));
        nest.store(value, to, point);
      });
      nest.close();
      nest.close();
    });
  };
  Array a = buffer(temp(op, 0), shapeA, f32), b = buffer(temp(op, 1), shapeB, f32);
  pack(op.getA(), op.getScaleA(), /*transposed=*/false, a);
  pack(op.getB(), op.getScaleB(), !op.getTransposeB(), b);
  if (op.getTransposeB()) {
    std::swap(b.strides[0], b.strides[1]);
    std::swap(b.extents[0], b.extents[1]);
  }
  multiply(loc, a, b, result, {m, n, k}, /*packedB=*/false);
}
