// Sort, top-k and histogram, through shared memory.
//
// Pairs of a key and a position are sorted by Batcher's bitonic network, all slices along the axis
// at once; each thread compares its share of the pairs of a step. Keys are integers whose unsigned
// order is the order asked for, and equal keys are ordered by position, so that the sort is stable.
// What is sorted then fetches its elements by position.
#include "../Scratch.h"
#include "../SharedAccess.h"
#include "../ThreadPatterns.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

static unsigned bitsOf(Type element) {
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

static unsigned getKeyBits(Type element) { return bitsOf(element) <= 32 ? 32 : 64; }

static int64_t getSortBytes(Operation *op) {
  RankedTensorType keys = typeOf(op->getOperand(0));
  int64_t count = keys.getNumElements();
  int64_t bytes = count * (getKeyBits(keys.getElementType()) / 8 + 4);
  for (Value input : op->getOperands())
    bytes = std::max(bytes, count * int64_t(getSharedElementBytes(typeOf(input).getElementType())));
  return bytes;
}

/// The bits of an element as an integer that ascends, unsigned, in the order asked for.
static Value makeKey(ThreadContext &context, Value value, bool descending, bool isUnsigned) {
  Type element = value.getType();
  unsigned width = bitsOf(element), keyBits = getKeyBits(element);
  Type keyType = context.getIntegerType(keyBits);
  auto constant = [&](uint64_t bits) -> Value {
    return arith::ConstantOp::create(
        context,
        context.getIntegerAttr(keyType, APInt(keyBits, bits, false, /*implicitTrunc=*/true)));
  };
  uint64_t sign = uint64_t(1) << (width - 1), all = width == 64 ? ~uint64_t(0) : 2 * sign - 1;
  Value bits = value;
  if (element.isIndex())
    bits = arith::IndexCastOp::create(context, context.getI64Type(), value);
  else if (isa<FloatType>(element))
    bits = arith::BitcastOp::create(context, context.getIntegerType(width), value);
  if (width < keyBits)
    bits = arith::ExtUIOp::create(context, keyType, bits);
  auto flip = [&](Value key) -> Value {
    return descending ? Value(arith::XOrIOp::create(context, key, constant(all))) : key;
  };
  auto last = [&](Value isLast, Value key) -> Value {
    return arith::SelectOp::create(context, isLast, constant(~uint64_t(0)), key);
  };
  auto compare = [&](arith::CmpIPredicate how, Value left, Value right) -> Value {
    return arith::CmpIOp::create(context, how, left, right);
  };
  auto real = dyn_cast<FloatType>(element);
  if (!real) {
    if (!isUnsigned)
      bits = arith::XOrIOp::create(context, bits, constant(sign));
    return flip(bits);
  }
  if (isa<Float8E8M0FNUType>(element)) // no sign; 0xff is NaN
    return last(compare(arith::CmpIPredicate::eq, bits, constant(0xff)), flip(bits));
  // What is negative descends below zero; so -0 and +0, which are equal, have one key.
  Value negative = compare(arith::CmpIPredicate::ne,
                           arith::AndIOp::create(context, bits, constant(sign)), constant(0));
  Value below = arith::AndIOp::create(context, arith::SubIOp::create(context, constant(0), bits),
                                      constant(all));
  Value above = arith::OrIOp::create(context, bits, constant(sign));
  Value key = flip(arith::SelectOp::create(context, negative, below, above));
  const llvm::fltSemantics &semantics = real.getFloatSemantics();
  if (!APFloat::semanticsHasNaN(semantics))
    return key;
  // Above the magnitude of infinity, or of the largest number where there is no infinity.
  APFloat most = APFloat::semanticsHasInf(semantics) ? APFloat::getInf(semantics)
                                                     : APFloat::getLargest(semantics);
  Value magnitude = arith::AndIOp::create(context, bits, constant(sign - 1));
  return last(
      compare(arith::CmpIPredicate::ugt, magnitude, constant(most.bitcastToAPInt().getZExtValue())),
      key);
}

/// Sorts each row of `extent` pairs.
static void sortPairs(ThreadContext &context, Value keys, Value positions, Type keyType,
                      int64_t rows, int64_t extent) {
  if (extent == 1)
    return;
  unsigned levels = llvm::Log2_64(extent);
  Type i32Type = context.getI32Type();
  Value one = context.i32(1);
  auto make = [&](auto op, Value left, Value right) -> Value {
    return decltype(op)::create(context, left, right);
  };
  OpBuilder::InsertionGuard guard(context);
  // Blocks of 2^level are sorted, every other one backwards, by comparing at half the distance
  // each step.
  auto outer = scf::ForOp::create(context, one, context.i32(levels + 1), one);
  context.setInsertionPoint(outer.getBody()->getTerminator());
  Value level = outer.getInductionVar();
  auto inner = scf::ForOp::create(context, context.i32(0), level, one);
  context.setInsertionPoint(inner.getBody()->getTerminator());
  Value shift = make(arith::SubIOp(), make(arith::SubIOp(), level, one), inner.getInductionVar());
  Value distance = make(arith::ShLIOp(), one, shift);
  forShare(context, rows * extent / 2, [&](Value pair) {
    Value within = make(arith::AndIOp(), pair, context.i32(extent / 2 - 1));
    Value row = make(arith::ShRUIOp(), pair, context.i32(levels - 1));
    Value low = make(arith::AndIOp(), within, make(arith::SubIOp(), distance, one));
    Value high = make(arith::ShLIOp(), make(arith::ShRUIOp(), within, shift),
                      make(arith::AddIOp(), shift, one));
    Value place = make(arith::OrIOp(), high, low);
    Value first = make(arith::OrIOp(), make(arith::ShLIOp(), row, context.i32(levels)), place);
    Value second = make(arith::OrIOp(), first, distance);
    Value keyA = loadScratch(context, keys, first, keyType),
          keyB = loadScratch(context, keys, second, keyType);
    Value at = loadScratch(context, positions, first, i32Type),
          bt = loadScratch(context, positions, second, i32Type);
    auto compare = [&](arith::CmpIPredicate how, Value left, Value right) -> Value {
      return arith::CmpIOp::create(context, how, left, right);
    };
    Value after = make(arith::OrIOp(), compare(arith::CmpIPredicate::ugt, keyA, keyB),
                       make(arith::AndIOp(), compare(arith::CmpIPredicate::eq, keyA, keyB),
                            compare(arith::CmpIPredicate::ugt, at, bt)));
    Value backwards =
        compare(arith::CmpIPredicate::ne,
                make(arith::AndIOp(), make(arith::ShRUIOp(), place, level), one), context.i32(0));
    Value swap = compare(arith::CmpIPredicate::ne, after, backwards);
    auto pick = [&](Value yes, Value no) -> Value {
      return arith::SelectOp::create(context, swap, yes, no);
    };
    storeScratch(context, keys, first, pick(keyB, keyA));
    storeScratch(context, keys, second, pick(keyA, keyB));
    storeScratch(context, positions, first, pick(bt, at));
    storeScratch(context, positions, second, pick(at, bt));
  });
  context.barrier();
}

static void lowerSort(ThreadContext &context, Operation *op, int64_t axis, bool descending,
                      bool isUnsigned) {
  RankedTensorType type = typeOf(op->getOperand(0));
  int64_t extent = type.getDimSize(axis), rows = type.getNumElements() / extent;
  SmallVector<int64_t> strides = getStrides(type.getShape(), axis);
  Type keyType = context.getIntegerType(getKeyBits(type.getElementType()));
  Value base = getShared(context, op);
  Value positions =
      offsetScratch(context, base, type.getNumElements() * getSharedElementBytes(keyType));
  LinearLayout layout = getLayout(op->getOperand(0));
  ThreadPlace place = context.getPlace(layout);
  for (auto [reg, element] : llvm::enumerate(context.getElements(op->getOperand(0)))) {
    Value at = getFlatIndex(context, place, reg, strides);
    storeScratch(context, base, at, makeKey(context, element, descending, isUnsigned));
    Value position = arith::IndexCastOp::create(context, context.getI32Type(),
                                                context.getCoordinate(place, axis, reg));
    storeScratch(context, positions, at, position);
  }
  context.barrier();
  sortPairs(context, base, positions, keyType, rows, extent);

  // The positions are read before the elements take their place.
  bool isTopK = isa<TopKOp>(op);
  auto values = op->getResults().take_front(isTopK ? 1 : op->getNumResults());
  SmallVector<SmallVector<Value>> sorted;
  for (Value result : op->getResults())
    sorted.push_back(
        gatherScratch(context, positions, getLayout(result), strides, 0, context.getI32Type()));
  SmallVector<int64_t> acrossAxis(strides);
  acrossAxis[axis] = 0;
  for (auto [i, result] : llvm::enumerate(values)) {
    context.barrier();
    scatterScratch(context, base, op->getOperand(i), strides);
    context.barrier();
    LinearLayout wanted = getLayout(result);
    ThreadPlace there = context.getPlace(wanted);
    SmallVector<Value> elements;
    for (auto [reg, position] : llvm::enumerate(sorted[i])) {
      Value at =
          arith::AddIOp::create(context, getFlatIndex(context, there, reg, acrossAxis), position);
      elements.push_back(loadScratch(context, base, at, typeOf(result).getElementType()));
    }
    context.setElements(result, elements);
  }
  if (isTopK)
    context.setElements(op->getResult(1), sorted[1]);
}

static void lowerHistogram(ThreadContext &context, HistogramOp op) {
  int64_t count = op.getType().getNumElements();
  Value base = getShared(context, op);
  forShare(context, count, [&](Value bin) { storeScratch(context, base, bin, context.i32(0)); });
  context.barrier();
  LinearLayout layout = getLayout(op.getInput());
  int64_t repeated = layout.freeVariables().front();
  Value owner = context.isOwner(layout);
  SmallVector<Value> masks;
  if (op.getMask())
    masks = context.getElements(op.getMask());
  Type i64 = context.getI64Type();
  for (auto [reg, element] : llvm::enumerate(context.getElements(op.getInput()))) {
    if (reg & repeated)
      continue;
    Value wide = element;
    if (wide.getType().isIndex())
      wide = arith::IndexCastOp::create(context, i64, wide);
    else if (wide.getType() != i64)
      wide = arith::ExtSIOp::create(context, i64, wide);
    Value counts = arith::CmpIOp::create(context, arith::CmpIPredicate::ult, wide,
                                         arith::ConstantIntOp::create(context, count, 64));
    counts = context.both(counts, owner);
    if (op.getMask())
      counts = context.both(counts, masks[reg]);
    context.when(counts, [&] {
      Value bin = arith::TruncIOp::create(context, context.getI32Type(), wide);
      Value pointer = LLVM::GEPOp::create(context, base.getType(), context.getI32Type(), base,
                                          ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(bin)});
      LLVM::AtomicRMWOp::create(context, LLVM::AtomicBinOp::add, pointer, context.i32(1),
                                LLVM::AtomicOrdering::monotonic, kScopeNames[0], /*alignment=*/4);
    });
  }
  context.barrier();
  context.setElements(op.getResult(), gatherScratch(context, base, getLayout(op.getResult()), {1},
                                                    0, context.getI32Type()));
}

void kiln::populateSelectPatterns(ThreadPatterns &patterns) {
  patterns
      .add<SortOp>([](ThreadContext &context, SortOp op) {
        lowerSort(context, op, op.getAxis(), op.getDescending(), op.getUnsignedKeys());
      })
      .needsScratch(getSortBytes);
  patterns
      .add<TopKOp>([](ThreadContext &context, TopKOp op) {
        lowerSort(context, op, op.getAxis(), !op.getSmallest(), op.getUnsignedKeys());
      })
      .needsScratch(getSortBytes);
  patterns.add<HistogramOp>(lowerHistogram).needsScratch([](HistogramOp op) {
    return getTensorBytes(op.getResult());
  });
}
