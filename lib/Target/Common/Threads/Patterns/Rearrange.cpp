// Parts of tensors put together and taken apart, and bits read as other types: within a thread by
// renaming registers, else through shared memory, in row-major order.
#include "../Scratch.h"
#include "../SharedAccess.h"
#include "../ThreadPatterns.h"
#include "kiln/Layout/Transforms/Layouts.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- Within a thread ----------------------------------------------------------------------===//

/// For each register of `to`, the register of `from` that holds the element which `map` makes of
/// its own; threads stand in the same place of both.
static SmallVector<int64_t>
matchRegisters(const LinearLayout &to, const LinearLayout &from,
               function_ref<LinearLayout::Basis(LinearLayout::Basis)> map) {
  llvm::DenseMap<int64_t, int64_t> registers;
  for (int64_t reg = from.getInSize(kRegister) - 1; reg >= 0; --reg)
    registers[from.flatten(from.applyTo(kRegister, reg))] = reg;
  SmallVector<int64_t> matched;
  for (int64_t reg = 0; reg < to.getInSize(kRegister); ++reg)
    matched.push_back(registers.lookup(from.flatten(map(to.applyTo(kRegister, reg)))));
  return matched;
}

/// Whether each thread has what a part, from these offsets on, gives it.
static bool isOwnPart(const LinearLayout &from, const LinearLayout &to, ArrayRef<int64_t> offsets) {
  if (from.getBases(kLane) != to.getBases(kLane) || from.getBases(kWarp) != to.getBases(kWarp))
    return false;
  llvm::DenseSet<int64_t> held;
  for (int64_t reg = 0; reg < from.getInSize(kRegister); ++reg)
    held.insert(from.flatten(from.applyTo(kRegister, reg)));
  for (int64_t reg = 0; reg < to.getInSize(kRegister); ++reg) {
    LinearLayout::Basis element = to.applyTo(kRegister, reg);
    for (auto [dim, offset] : llvm::enumerate(offsets)) {
      int64_t threads = 0;
      for (StringRef level : {kLane, kWarp})
        for (const LinearLayout::Basis &basis : to.getBases(level))
          threads |= basis[dim];
      // What is added must not carry into the bits that tell threads apart.
      int64_t moved = element[dim] + offset;
      if (offset % to.getShape()[dim] != 0 && ((element[dim] | moved) & threads) != 0)
        return false;
      element[dim] = moved;
    }
    if (!held.contains(from.flatten(element)))
      return false;
  }
  return true;
}

/// Whether each thread has the slice's elements already.
static bool isOwnSlice(SliceOp op) {
  return isOwnPart(getLayout(op.getInput()), getLayout(op.getResult()), op.getOffsets());
}

/// Calls back with each input and the offsets from which on it lies in the result.
static void forEachInput(ConcatOp op, function_ref<void(Value, ArrayRef<int64_t>)> body) {
  SmallVector<int64_t> offsets(op.getType().getRank(), 0);
  for (Value input : op.getInputs()) {
    body(input, offsets);
    offsets[op.getAxis()] += cast<RankedTensorType>(input.getType()).getDimSize(op.getAxis());
  }
}

/// Whether each thread has those of what is put together.
static bool isOwnConcat(ConcatOp op) {
  bool isOwn = true;
  forEachInput(op, [&](Value input, ArrayRef<int64_t> offsets) {
    isOwn = isOwn && isOwnPart(getLayout(op.getResult()), getLayout(input), offsets);
  });
  return isOwn;
}

static void lowerOwnConcat(ThreadContext &context, ConcatOp op) {
  LinearLayout to = getLayout(op.getResult());
  SmallVector<Value> elements(to.getInSize(kRegister));
  forEachInput(op, [&](Value input, ArrayRef<int64_t> offsets) {
    SmallVector<Value> inputs = context.getElements(input);
    auto shift = [&](LinearLayout::Basis element) {
      for (auto [value, offset] : llvm::zip(element, offsets))
        value += offset;
      return element;
    };
    for (auto [reg, at] : llvm::enumerate(matchRegisters(getLayout(input), to, shift)))
      elements[at] = inputs[reg];
  });
  // Registers that hold what others do.
  for (auto [reg, first] :
       llvm::enumerate(matchRegisters(to, to, [](LinearLayout::Basis element) { return element; })))
    elements[reg] = elements[first];
  context.setElements(op.getResult(), elements);
}

/// Whether each thread has both of each pair, and the tensors that they are joined from or split to
/// lie alike.
static bool isOwnPair(Operation *op) {
  Value pairs = isa<JoinOp>(op) ? op->getResult(0) : op->getOperand(0);
  ValueRange halves = isa<JoinOp>(op) ? ValueRange(op->getOperands()) : op->getResults();
  std::optional<LinearLayout> each = splitPairs(getLayout(pairs));
  return each && llvm::all_of(halves, [&](Value half) { return getLayout(half) == *each; });
}

static void lowerOwnPairs(ThreadContext &context, Operation *op) {
  bool joins = isa<JoinOp>(op);
  LinearLayout pairs = getLayout(joins ? op->getResult(0) : op->getOperand(0));
  LinearLayout half = getLayout(joins ? op->getOperand(0) : op->getResult(0));
  SmallVector<Value> together, parts[2];
  if (joins)
    for (unsigned side : {0, 1})
      parts[side] = context.getElements(op->getOperand(side));
  else
    together = context.getElements(op->getOperand(0));
  auto withoutSide = [](LinearLayout::Basis element) {
    element.pop_back();
    return element;
  };
  if (joins) {
    SmallVector<int64_t> matched = matchRegisters(pairs, half, withoutSide);
    for (auto [reg, from] : llvm::enumerate(matched))
      together.push_back(parts[pairs.applyTo(kRegister, reg).back()][from]);
    context.setElements(op->getResult(0), together);
    return;
  }
  for (unsigned side : {0, 1}) {
    auto withSide = [side](LinearLayout::Basis element) {
      element.push_back(side);
      return element;
    };
    for (int64_t from : matchRegisters(half, pairs, withSide))
      parts[side].push_back(together[from]);
    context.setElements(op->getResult(side), parts[side]);
  }
}

static void lowerOwnSlice(ThreadContext &context, SliceOp op) {
  LinearLayout from = getLayout(op.getInput()), to = getLayout(op.getResult());
  SmallVector<Value> inputs = context.getElements(op.getInput()), elements;
  auto shift = [&](LinearLayout::Basis element) {
    for (auto [value, offset] : llvm::zip(element, op.getOffsets()))
      value += offset;
    return element;
  };
  for (int64_t reg : matchRegisters(to, from, shift))
    elements.push_back(inputs[reg]);
  context.setElements(op.getResult(), elements);
}

static void lowerBroadcast(ThreadContext &context, BroadcastOp op) {
  LinearLayout from = getLayout(op.getInput()), to = getLayout(op.getResult());
  SmallVector<Value> inputs = context.getElements(op.getInput()), elements;
  auto project = [&](LinearLayout::Basis element) {
    for (auto [value, extent] : llvm::zip(element, from.getShape()))
      value = extent == 1 ? 0 : value;
    return element;
  };
  for (int64_t reg : matchRegisters(to, from, project))
    elements.push_back(inputs[reg]);
  context.setElements(op.getResult(), elements);
}

//===- Through memory -----------------------------------------------------------------------===//

static RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

/// Through memory: slices, concatenations, pairs.
static void lowerRearrangement(ThreadContext &context, Operation *op) {
  Value base = getShared(context, op);
  if (auto slice = dyn_cast<SliceOp>(op)) {
    SmallVector<int64_t> strides = getStrides(slice.getInput().getType().getShape());
    int64_t start = 0;
    for (auto [offset, stride] : llvm::zip(slice.getOffsets(), strides))
      start += offset * stride;
    scatterScratch(context, base, slice.getInput(), strides);
    context.barrier();
    context.setElements(slice.getResult(),
                        gatherScratch(context, base, getLayout(slice.getResult()), strides, start,
                                      slice.getType().getElementType()));
    return;
  }
  if (auto split = dyn_cast<SplitOp>(op)) {
    scatterScratch(context, base, split.getInput(),
                   getStrides(split.getInput().getType().getShape()));
    context.barrier();
    for (auto [side, result] : llvm::enumerate(split.getResults())) {
      SmallVector<int64_t> strides = getStrides(typeOf(result).getShape());
      for (int64_t &stride : strides)
        stride *= 2;
      context.setElements(result, gatherScratch(context, base, getLayout(result), strides, side,
                                                typeOf(result).getElementType()));
    }
    return;
  }
  Value result = op->getResult(0);
  SmallVector<int64_t> strides = getStrides(typeOf(result).getShape());
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    int64_t start = 0;
    for (Value input : concat.getInputs()) {
      scatterScratch(context, base, input, strides, start);
      start += typeOf(input).getDimSize(concat.getAxis()) * strides[concat.getAxis()];
    }
  } else {
    SmallVector<int64_t> apart(ArrayRef<int64_t>(strides).drop_back());
    for (auto [side, input] : llvm::enumerate(op->getOperands()))
      scatterScratch(context, base, input, apart, side);
  }
  context.barrier();
  context.setElements(result, gatherScratch(context, base, getLayout(result), strides, 0,
                                            typeOf(result).getElementType()));
}

/// Each element is put together from those that its bits lie in, an element of the input each with
/// a whole number of bytes of its own in memory.
static void lowerBits(ThreadContext &context, BitcastOp op) {
  RankedTensorType from = op.getInput().getType(), to = op.getType();
  int64_t fromBits = from.getElementTypeBitWidth(), toBits = to.getElementTypeBitWidth();
  Value base = getShared(context, op);
  scatterScratch(context, base, op.getInput(), getStrides(from.getShape()));
  context.barrier();
  Type i64 = context.getI64Type(), raw = context.getIntegerType(fromBits);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(context, value, 32);
  };
  // Rows that were padded begin at elements of their own.
  bool rowsDiffer = from.getShape().back() * fromBits != to.getShape().back() * toBits;
  LinearLayout layout = getLayout(op.getResult());
  ThreadPlace place = context.getPlace(layout);
  SmallVector<int64_t> strides = getStrides(to.getShape());
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); ++reg) {
    Value flat = getFlatIndex(context, place, reg, strides), row;
    if (rowsDiffer) {
      Value before = arith::DivUIOp::create(context, flat, constant(to.getShape().back()));
      row = arith::MulIOp::create(context, before, constant(from.getShape().back()));
      flat = arith::RemUIOp::create(context, flat, constant(to.getShape().back()));
    }
    Value bit = arith::MulIOp::create(context, flat, constant(toBits));
    Value first = arith::DivUIOp::create(context, bit, constant(fromBits));
    if (rowsDiffer)
      first = arith::AddIOp::create(context, first, row);
    // Where the element begins in the first one that it lies in.
    Value start = arith::RemUIOp::create(context, bit, constant(fromBits));
    Value bits = arith::ConstantIntOp::create(context, 0, 64);
    for (int64_t part = 0; part * fromBits < toBits + fromBits - 1; ++part) {
      Value at = arith::AddIOp::create(context, first, constant(part));
      at = arith::MinUIOp::create(context, at, constant(from.getNumElements() - 1));
      Value piece = loadScratch(context, base, at, raw);
      if (fromBits < 64)
        piece = arith::ExtUIOp::create(context, i64, piece);
      Value shift = arith::SubIOp::create(context, constant(part * fromBits), start);
      Value left =
          arith::ExtUIOp::create(context, i64, arith::MaxSIOp::create(context, shift, constant(0)));
      Value right = arith::ExtUIOp::create(
          context, i64,
          arith::MaxSIOp::create(context, arith::SubIOp::create(context, constant(0), shift),
                                 constant(0)));
      piece = arith::ShRUIOp::create(context, piece, right);
      piece = arith::ShLIOp::create(context, piece, left);
      Value within =
          arith::CmpIOp::create(context, arith::CmpIPredicate::slt, shift, constant(toBits));
      piece = arith::SelectOp::create(context, within, piece,
                                      arith::ConstantIntOp::create(context, 0, 64));
      bits = arith::OrIOp::create(context, bits, piece);
    }
    Type integer = context.getIntegerType(toBits);
    if (toBits < 64)
      bits = arith::TruncIOp::create(context, integer, bits);
    if (to.getElementType() != integer)
      bits = arith::BitcastOp::create(context, to.getElementType(), bits);
    elements.push_back(bits);
  }
  context.setElements(op.getResult(), elements);
}

void kiln::populateRearrangePatterns(ThreadPatterns &patterns) {
  patterns.add<BroadcastOp>(lowerBroadcast);
  patterns
      .add<SliceOp>([](ThreadContext &context, SliceOp op) {
        isOwnSlice(op) ? lowerOwnSlice(context, op) : lowerRearrangement(context, op);
      })
      .needsScratch([](SliceOp op) { return isOwnSlice(op) ? 0 : getTensorBytes(op.getInput()); });
  auto lowerPairs = [](ThreadContext &context, Operation *op) {
    isOwnPair(op) ? lowerOwnPairs(context, op) : lowerRearrangement(context, op);
  };
  patterns.add<JoinOp>(lowerPairs).needsScratch([](JoinOp op) {
    return isOwnPair(op) ? 0 : getTensorBytes(op.getResult());
  });
  patterns.add<SplitOp>(lowerPairs).needsScratch([](SplitOp op) {
    return isOwnPair(op) ? 0 : getTensorBytes(op.getInput());
  });
  patterns
      .add<ConcatOp>([](ThreadContext &context, ConcatOp op) {
        isOwnConcat(op) ? lowerOwnConcat(context, op) : lowerRearrangement(context, op);
      })
      .needsScratch(
          [](ConcatOp op) { return isOwnConcat(op) ? 0 : getTensorBytes(op.getResult()); });
  patterns
      .add<BitcastOp>([](ThreadContext &context, BitcastOp op) {
        if (!op.keepsElements())
          return lowerBits(context, op);
        context.set(op, arith::BitcastOp::create(context, context.convert(op.getType()),
                                                 context.get(op.getInput())));
      })
      .needsScratch(
          [](BitcastOp op) { return op.keepsElements() ? 0 : getTensorBytes(op.getInput()); })
      .emulatedIf(hasPackedElements);
}
