// Sort, top-k and histogram.
//
// A slice along the axis is sorted as pairs of key and position by a merge sort that doubles the
// runs' length each time, which is stable by nature. Keys are 64-bit integers whose unsigned order
// is the order asked for, so that one compare serves all types and directions.
#include "Program.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

/// The bits of an element as a 64-bit key that ascends in the order asked for.
static Value makeKey(Nest &nest, Value value, bool descending, bool isUnsigned) {
  MLIRContext *context = nest.loc.getContext();
  Type element = value.getType(), i64 = IntegerType::get(context, 64);
  if (isa<IndexType>(element)) {
    value = nest.make<arith::IndexCastOp>(i64, value);
    element = i64;
  }
  unsigned width = element.getIntOrFloatBitWidth();
  Type bitsType = IntegerType::get(context, width);
  auto constant = [&](uint64_t v) { return nest.integer(i64, static_cast<int64_t>(v)); };
  uint64_t sign = uint64_t(1) << (width - 1), all = width == 64 ? ~uint64_t(0) : 2 * sign - 1;
  auto flip = [&](Value key) {
    return descending ? nest.make<arith::XOrIOp>(key, constant(all)) : key;
  };
  auto wide = [&](Value bits) { return width == 64 ? bits : nest.make<arith::ExtUIOp>(i64, bits); };
  if (!isa<FloatType>(element)) {
    Value key = wide(value);
    if (!isUnsigned)
      key = nest.make<arith::XOrIOp>(key, constant(sign));
    return flip(key);
  }
  Value bits = wide(nest.make<arith::BitcastOp>(bitsType, value));
  if (isa<Float8E8M0FNUType>(element)) { // no sign; 0xff is NaN
    Value nan = nest.make<arith::CmpIOp>(arith::CmpIPredicate::eq, bits, constant(0xff));
    return nest.make<arith::SelectOp>(nan, constant(~uint64_t(0)), flip(bits));
  }
  Value negative = nest.make<arith::CmpIOp>(
      arith::CmpIPredicate::ne, nest.make<arith::AndIOp>(bits, constant(sign)), constant(0));
  // What is negative descends below zero; so -0 and +0, which are equal, have one key.
  Value below =
      nest.make<arith::AndIOp>(nest.make<arith::SubIOp>(constant(0), bits), constant(all));
  Value above = nest.make<arith::OrIOp>(bits, constant(sign));
  Value key = flip(nest.make<arith::SelectOp>(negative, below, above));
  const llvm::fltSemantics &semantics = cast<FloatType>(element).getFloatSemantics();
  if (!llvm::APFloat::semanticsHasNaN(semantics))
    return key;
  // Above the magnitude of infinity, or of the largest number where there is no infinity.
  llvm::APFloat last = llvm::APFloat::semanticsHasInf(semantics)
                           ? llvm::APFloat::getInf(semantics)
                           : llvm::APFloat::getLargest(semantics);
  Value magnitude = nest.make<arith::AndIOp>(bits, constant(sign - 1));
  Value nan = nest.make<arith::CmpIOp>(arith::CmpIPredicate::ugt, magnitude,
                                       constant(last.bitcastToAPInt().getZExtValue()));
  return nest.make<arith::SelectOp>(nan, constant(~uint64_t(0)), key);
}

/// Sorts keys and positions in (keys[0], positions[0]); the sorted ones end in arrays [result].
static int mergeSort(OpBuilder &builder, Location loc, int64_t extent, Value keys[2],
                     Value positions[2]) {
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto index = [&](int64_t v) -> Value { return arith::ConstantIndexOp::create(builder, loc, v); };
  auto address = [&](Value base, Value at, Type type) -> Value {
    Value offset = arith::IndexCastOp::create(builder, loc, i64, at);
    return LLVM::GEPOp::create(builder, loc, pointer, type, base, ArrayRef<LLVM::GEPArg>{offset});
  };
  auto load = [&](Value base, Value at, Type type) -> Value {
    return LLVM::LoadOp::create(builder, loc, type, address(base, at, type));
  };
  int from = 0;
  for (int64_t run = 1; run < extent; run *= 2, from = 1 - from) {
    auto runs = scf::ForOp::create(builder, loc, index(0), index(extent), index(2 * run));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(runs.getBody()->getTerminator());
    Value start = runs.getInductionVar(), length = index(extent);
    Value middle = arith::MinSIOp::create(
        builder, loc, arith::AddIOp::create(builder, loc, start, index(run)), length);
    Value end = arith::MinSIOp::create(
        builder, loc, arith::AddIOp::create(builder, loc, start, index(2 * run)), length);
    auto merge = scf::ForOp::create(builder, loc, start, end, index(1), ValueRange{start, middle});
    builder.setInsertionPointToStart(merge.getBody());
    Value i = merge.getRegionIterArg(0), j = merge.getRegionIterArg(1);
    // Indices are kept in range; whether they count is asked beside.
    Value last = index(extent - 1);
    Value safeI = arith::MinSIOp::create(builder, loc, i, last);
    Value safeJ = arith::MinSIOp::create(builder, loc, j, last);
    auto below = [&](Value a, Value b) -> Value {
      return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, a, b);
    };
    Value left = load(keys[from], safeI, i64), right = load(keys[from], safeJ, i64);
    Value noLater = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, left, right);
    Value rightDone = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, j, end);
    Value take = arith::AndIOp::create(builder, loc, below(i, middle),
                                       arith::OrIOp::create(builder, loc, rightDone, noLater));
    Value which = arith::SelectOp::create(builder, loc, take, safeI, safeJ);
    Value key = arith::SelectOp::create(builder, loc, take, left, right);
    Value position = load(positions[from], which, i32);
    Value at = merge.getInductionVar();
    LLVM::StoreOp::create(builder, loc, key, address(keys[1 - from], at, i64));
    LLVM::StoreOp::create(builder, loc, position, address(positions[1 - from], at, i32));
    Value step = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), take);
    Value nextI = arith::AddIOp::create(builder, loc, i, step);
    Value nextJ =
        arith::AddIOp::create(builder, loc, j, arith::SubIOp::create(builder, loc, index(1), step));
    scf::YieldOp::create(builder, loc, ValueRange{nextI, nextJ});
  }
  return from;
}

void Program::lowerSort(Operation *op, int64_t axis, bool descending, bool isUnsigned) {
  Location loc = op->getLoc();
  Value input = op->getOperand(0);
  auto type = cast<RankedTensorType>(input.getType());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t extent = shape[axis];
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  Array keyArrays[2] = {buffer(temp(op, 0), {extent}, i64), buffer(temp(op, 2), {extent}, i64)};
  Array positionArrays[2] = {buffer(temp(op, 1), {extent}, i32),
                             buffer(temp(op, 3), {extent}, i32)};
  Value keys[2] = {keyArrays[0].base, keyArrays[1].base};
  Value positions[2] = {positionArrays[0].base, positionArrays[1].base};
  SmallVector<Array> results;
  for (Value result : op->getResults())
    results.push_back(storage(result));
  bool topk = isa<tile::TopKOp>(op);
  int64_t kept = cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(axis);

  // Loops over the slices, by hand: three nests run one after another in each.
  SmallVector<Value> slice;
  SmallVector<scf::ForOp> loops;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    if (static_cast<int64_t>(dim) == axis || size == 1) {
      slice.push_back(indexConstant(loc, 0));
      continue;
    }
    auto loop = scf::ForOp::create(builder, loc, indexConstant(loc, 0), indexConstant(loc, size),
                                   indexConstant(loc, 1));
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    loops.push_back(loop);
    slice.push_back(loop.getInductionVar());
  }
  auto at = [&](Value index) {
    Point point;
    point.at = slice;
    point.at[axis] = index;
    return point;
  };
  {
    Nest nest(*this, loc);
    Value index = extent > 1 ? nest.open(0, extent) : nest.index(0);
    Value key = makeKey(nest, nest.value(input, at(index)), descending, isUnsigned);
    nest.store(key, keyArrays[0], Point{{index}});
    nest.store(nest.make<arith::IndexCastOp>(i32, index), positionArrays[0], Point{{index}});
    if (extent > 1)
      nest.close();
  }
  int sorted = mergeSort(builder, loc, extent, keys, positions);
  {
    Nest nest(*this, loc);
    Value index = kept > 1 ? nest.open(0, kept) : nest.index(0);
    Value position = nest.load(positionArrays[sorted], Point{{index}});
    Value from = nest.make<arith::IndexCastOp>(nest.index(0).getType(), position);
    if (topk) {
      nest.store(nest.value(input, at(from)), results[0], at(index));
      nest.store(position, results[1], at(index));
    } else {
      for (auto [operand, result] : llvm::zip_equal(op->getOperands(), results))
        nest.store(nest.value(operand, at(from)), result, at(index));
    }
    if (kept > 1)
      nest.close();
  }
  if (!loops.empty())
    builder.setInsertionPointAfter(loops.front());
}

void Program::lowerHistogram(tile::HistogramOp op) {
  Location loc = op.getLoc();
  Array bins = storage(op.getResult());
  int64_t count = cast<RankedTensorType>(op.getResult().getType()).getNumElements();
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  {
    Nest nest(*this, loc);
    nest.forEach({count}, 0, [&](Point point) { nest.store(nest.integer(i32, 0), bins, point); });
  }
  SmallVector<Value> conditions;
  insideConditions(op.getInput(), conditions);
  if (op.getMask())
    insideConditions(op.getMask(), conditions);
  versions(loc, conditions, [&](bool inside) {
    Nest nest(*this, loc, inside);
    auto shape = cast<RankedTensorType>(op.getInput().getType()).getShape();
    nest.forEach(shape, -1, [&](Point point) {
      Value element = nest.value(op.getInput(), point);
      if (isa<IndexType>(element.getType()))
        element = nest.make<arith::IndexCastOp>(i64, element);
      else if (element.getType() != i64)
        element = nest.make<arith::ExtSIOp>(i64, element);
      Value counts =
          nest.make<arith::CmpIOp>(arith::CmpIPredicate::ult, element, nest.integer(i64, count));
      if (op.getMask())
        counts = nest.make<arith::AndIOp>(counts, nest.value(op.getMask(), point));
      Value bin = nest.address(bins.base, element, i32);
      bin = nest.make<arith::SelectOp>(counts, bin, scratch());
      Value old = nest.makeHere<LLVM::LoadOp>(i32, bin).getResult();
      nest.makeHere<LLVM::StoreOp>(nest.make<arith::AddIOp>(old, nest.integer(i32, 1)), bin);
    });
  });
}
