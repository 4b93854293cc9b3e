// Sort, top-k and histogram.
//
// A slice along the axis is sorted as words of key and position, in vectors (SortingNetwork.h); the
// elements are then fetched by their positions. Keys are integers whose unsigned order is the order
// asked for, so that one compare serves all types and directions.
#include "Program.h"
#include "SortingNetwork.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

/// The bits of elements as keys in 64 bits, of as many bits as the elements, that ascend in the
/// order asked for.
static Value makeKey(Nest &nest, Value value, bool descending, bool isUnsigned) {
  MLIRContext *context = nest.loc.getContext();
  Type element = getElementTypeOrSelf(value);
  auto shaped = [vector = dyn_cast<VectorType>(value.getType())](Type type) {
    return vector ? Type(VectorType::get(vector.getShape(), type)) : type;
  };
  Type i64 = shaped(IntegerType::get(context, 64));
  if (isa<IndexType>(element)) {
    value = nest.make<arith::IndexCastOp>(i64, value);
    element = getElementTypeOrSelf(i64);
  }
  unsigned width = element.getIntOrFloatBitWidth();
  Type bitsType = shaped(IntegerType::get(context, width));
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
    return nest.make<arith::SelectOp>(nan, constant(all), flip(bits));
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
  return nest.make<arith::SelectOp>(nan, constant(all), key);
}

namespace {
/// How the elements of one slice are sorted: as words that hold the key above the position, or,
/// where 64 bits hold no both, as keys and positions apart. No two are equal, so that any way of
/// sorting is stable.
struct Words {
  unsigned positionBits;
  bool apart;
  Type element;
  int64_t lanes; ///< of a vector

  Words(Type key, int64_t extent, int64_t vectorBits) {
    unsigned keyBits = isa<IndexType>(key) ? 64 : key.getIntOrFloatBitWidth();
    positionBits = std::max(1u, llvm::Log2_64_Ceil(extent));
    apart = keyBits + positionBits > 64;
    unsigned bits = keyBits + positionBits > 32 ? 64 : 32;
    element = IntegerType::get(key.getContext(), bits);
    lanes = vectorBits / bits;
  }
};
} // namespace

/// Writes the words of a slice, from the index on and in as many lanes as asked for.
static void storeWords(Nest &nest, const Words &words, ArrayRef<Array> arrays, Value index,
                       int64_t width, Value key) {
  Type i64 = IntegerType::get(nest.loc.getContext(), 64), element = words.element;
  Value position = nest.toI64(index);
  if (width > 1) {
    i64 = VectorType::get({width}, i64), element = VectorType::get({width}, element);
    position = nest.make<arith::AddIOp>(nest.splat(position, width),
                                        nest.lanes(getElementTypeOrSelf(i64), width));
  }
  Point to{{index}, width > 1 ? 0 : -1, 1, width};
  if (words.apart) {
    nest.store(key, arrays[0], to);
    nest.store(position, arrays[1], to);
    return;
  }
  key = nest.make<arith::ShLIOp>(key, nest.integer(i64, words.positionBits));
  Value word = nest.make<arith::OrIOp>(key, position);
  if (element != i64)
    word = nest.make<arith::TruncIOp>(element, word);
  nest.store(word, arrays[0], to);
}

void Program::lowerSort(Operation *op, int64_t axis, bool descending, bool isUnsigned) {
  Location loc = op->getLoc();
  Value input = op->getOperand(0);
  auto type = cast<RankedTensorType>(input.getType());
  ArrayRef<int64_t> shape = type.getShape();
  int64_t extent = shape[axis];
  bool topk = isa<tile::TopKOp>(op);
  int64_t kept = cast<RankedTensorType>(op->getResult(0).getType()).getDimSize(axis);

  // The lowest elements are kept in a sorted run, into which the others are merged run by run; of
  // a sort, or where little would be left out, all are one run.
  Words words(type.getElementType(), extent, target.getVectorBits());
  auto runOf = [&](int64_t count) {
    return std::max<int64_t>(words.lanes, llvm::bit_ceil(static_cast<uint64_t>(count)));
  };
  int64_t whole = runOf(extent), run = topk ? runOf(kept) : whole;
  if (2 * run > whole)
    run = whole;
  int64_t room = llvm::divideCeil(extent, run) * run;
  SmallVector<Array> arrays;
  SmallVector<Value> bases;
  for (int number = 0; number < (words.apart ? 2 : 1); ++number) {
    arrays.push_back(buffer(temp(op, number), {room}, words.element));
    bases.push_back(arrays.back().base);
  }
  SmallVector<Array> results;
  for (Value result : op->getResults())
    results.push_back(storage(result));
  SmallVector<Value> conditions;
  for (Value operand : op->getOperands())
    insideConditions(operand, conditions);

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
  versions(loc, conditions, [&](bool inside) {
    Nest nest(*this, loc, inside);
    nest.forLanes(extent, [&](Value index, int64_t width) {
      Point point = at(index);
      if (width > 1)
        point.lane = axis, point.width = width;
      Value key = makeKey(nest, nest.vectorValue(input, point), descending, isUnsigned);
      storeWords(nest, words, arrays, index, width, key);
    });
    // The rest of the room is above all.
    nest.forLanes(room - extent, [&](Value index, int64_t width) {
      Point to{{nest.add(index, nest.index(extent))}, width > 1 ? 0 : -1, 1, width};
      for (const Array &array : arrays)
        nest.store(nest.integer(words.element, -1), array, to);
    });
  });
  SortingNetwork network(builder, loc, words.element, words.lanes, bases);
  network.sort(network.index(0), run);
  if (run < room) {
    Value step = network.index(run);
    network.loop(step, network.index(room), step, [&](Value start) {
      constexpr int64_t kMostVectors = 8; // to look through before the run is sorted
      scf::IfOp branch;
      if (run <= kMostVectors * words.lanes) {
        Value any = network.isAnyBelow(start, run, network.index(run - 1));
        branch = scf::IfOp::create(builder, loc, any, /*withElseRegion=*/false);
        builder.setInsertionPointToStart(branch.thenBlock());
      }
      network.sort(start, run);
      network.keepLower(network.index(0), start, run);
    });
  }
  versions(loc, conditions, [&](bool inside) {
    Nest nest(*this, loc, inside);
    Value index = kept > 1 ? nest.open(0, kept) : nest.index(0);
    Value position = nest.load(arrays.back(), Point{{index}});
    if (!words.apart) {
      int64_t mask = (int64_t(1) << words.positionBits) - 1;
      position = nest.make<arith::AndIOp>(position, nest.integer(words.element, mask));
    }
    Value from = nest.make<arith::IndexCastOp>(nest.index(0).getType(), position);
    if (topk) {
      Value found = nest.make<arith::IndexCastOp>(builder.getI32Type(), from);
      nest.store(nest.value(input, at(from)), results[0], at(index));
      nest.store(found, results[1], at(index));
    } else {
      for (auto [operand, result] : llvm::zip_equal(op->getOperands(), results))
        nest.store(nest.value(operand, at(from)), result, at(index));
    }
    if (kept > 1)
      nest.close();
  });
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
