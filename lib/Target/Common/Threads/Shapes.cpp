// Ops that move elements: within a thread by renaming registers, else between lanes.
#include "ThreadLowering.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

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
static bool isOwnPart(const LinearLayout &from, const LinearLayout &to,
                      ArrayRef<int64_t> offsets) {
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

bool kiln::isOwnSlice(SliceOp op) {
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

bool kiln::isOwnConcat(ConcatOp op) {
  bool isOwn = true;
  forEachInput(op, [&](Value input, ArrayRef<int64_t> offsets) {
    isOwn = isOwn && isOwnPart(getLayout(op.getResult()), getLayout(input), offsets);
  });
  return isOwn;
}

bool kiln::isOwnPair(Operation *op) {
  Value pairs = isa<JoinOp>(op) ? op->getResult(0) : op->getOperand(0);
  ValueRange halves = isa<JoinOp>(op) ? ValueRange(op->getOperands()) : op->getResults();
  std::optional<LinearLayout> each = splitPairs(getLayout(pairs));
  return each && llvm::all_of(halves, [&](Value half) { return getLayout(half) == *each; });
}

LogicalResult ThreadLowering::lowerPairs(Operation *op) {
  bool joins = isa<JoinOp>(op);
  LinearLayout pairs = getLayout(joins ? op->getResult(0) : op->getOperand(0));
  LinearLayout half = getLayout(joins ? op->getOperand(0) : op->getResult(0));
  SmallVector<Value> together, parts[2];
  if (joins)
    for (unsigned side : {0, 1})
      parts[side] = getElements(op->getOperand(side));
  else
    together = getElements(op->getOperand(0));
  auto withoutSide = [](LinearLayout::Basis element) {
    element.pop_back();
    return element;
  };
  if (joins) {
    SmallVector<int64_t> matched = matchRegisters(pairs, half, withoutSide);
    for (auto [reg, from] : llvm::enumerate(matched))
      together.push_back(parts[pairs.applyTo(kRegister, reg).back()][from]);
    setElements(op->getResult(0), together);
    return success();
  }
  for (unsigned side : {0, 1}) {
    auto withSide = [side](LinearLayout::Basis element) {
      element.push_back(side);
      return element;
    };
    for (int64_t from : matchRegisters(half, pairs, withSide))
      parts[side].push_back(together[from]);
    setElements(op->getResult(side), parts[side]);
  }
  return success();
}

/// Numbers along a dimension, from a scalar on if there is one. It is added to the thread's place
/// once, and the constants of registers to that: constants that were added to the place first would
/// not change in a loop that changes the scalar, and would be kept in a register each. That is for
/// roles beside others, whose registers are few; elsewhere LLVM chooses.
void ThreadLowering::lowerIota(Value result, unsigned dim, Value start) {
  LinearLayout layout = getLayout(result);
  Place place = getPlace(layout);
  Type type = getElementTypeOrSelf(result.getType());
  auto cast = [&](Value value) {
    return type.isIndex() ? value : arith::IndexCastOp::create(builder, loc, type, value);
  };
  DenseMap<int64_t, Value> firsts;
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); ++reg) {
    if (!start) {
      elements.push_back(cast(getCoordinate(place, dim, reg)));
      continue;
    }
    int64_t constant = place.layout.applyTo(kRegister, reg)[dim];
    int64_t met = constant & place.threadBits[dim], apart = constant & ~met;
    Value &first = firsts[met];
    if (!first) {
      Value at = place.thread[dim];
      at = met ? arith::XOrIOp::create(builder, loc, at, index(met)) : at;
      first = arith::AddIOp::create(builder, loc, start, cast(at));
    }
    Value more = arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, apart));
    elements.push_back(apart ? arith::AddIOp::create(builder, loc, first, more) : first);
  }
  setElements(result, elements);
}

LogicalResult ThreadLowering::lowerShape(Operation *op) {
  Value result = op->getResult(0);
  auto vectorType = dyn_cast<VectorType>(convert(result.getType()));
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<SplatOp>([&](SplatOp splat) {
        set(result, vector::BroadcastOp::create(builder, loc, vectorType, get(splat.getValue())));
        return success();
      })
      .Case<ToScalarOp>([&](ToScalarOp scalar) {
        set(result, vector::ExtractOp::create(builder, loc, get(scalar.getInput()), 0));
        return success();
      })
      .Case<IotaOp>([&](IotaOp iota) {
        lowerIota(result, iota.getDim());
        return success();
      })
      .Case<ReshapeOp, TransposeOp>([&](auto) {
        // The layout has gone along, so every element stays where it is.
        set(result, get(op->getOperand(0)));
        return success();
      })
      .Case<BroadcastOp>([&](BroadcastOp broadcast) {
        LinearLayout from = getLayout(broadcast.getInput()), to = getLayout(result);
        SmallVector<Value> inputs = getElements(broadcast.getInput()), elements;
        auto project = [&](LinearLayout::Basis element) {
          for (auto [value, extent] : llvm::zip(element, from.getShape()))
            value = extent == 1 ? 0 : value;
          return element;
        };
        for (int64_t reg : matchRegisters(to, from, project))
          elements.push_back(inputs[reg]);
        setElements(result, elements);
        return success();
      })
      .Case<SliceOp>([&](SliceOp slice) {
        LinearLayout from = getLayout(slice.getInput()), to = getLayout(result);
        SmallVector<Value> inputs = getElements(slice.getInput()), elements;
        auto shift = [&](LinearLayout::Basis element) {
          for (auto [value, offset] : llvm::zip(element, slice.getOffsets()))
            value += offset;
          return element;
        };
        for (int64_t reg : matchRegisters(to, from, shift))
          elements.push_back(inputs[reg]);
        setElements(result, elements);
        return success();
      })
      .Case<ConcatOp>([&](ConcatOp concat) {
        LinearLayout to = getLayout(result);
        SmallVector<Value> elements(to.getInSize(kRegister));
        forEachInput(concat, [&](Value input, ArrayRef<int64_t> offsets) {
          SmallVector<Value> inputs = getElements(input);
          auto shift = [&](LinearLayout::Basis element) {
            for (auto [value, offset] : llvm::zip(element, offsets))
              value += offset;
            return element;
          };
          for (auto [reg, at] : llvm::enumerate(matchRegisters(getLayout(input), to, shift)))
            elements[at] = inputs[reg];
        });
        // Registers that hold what others do.
        for (auto [reg, first] : llvm::enumerate(
                 matchRegisters(to, to, [](LinearLayout::Basis element) { return element; })))
          elements[reg] = elements[first];
        setElements(result, elements);
        return success();
      })
      .Case<BitcastOp>([&](BitcastOp bitcast) {
        if (!bitcast.keepsElements())
          return lowerBits(bitcast);
        set(result, arith::BitcastOp::create(builder, loc, vectorType, get(bitcast.getInput())));
        return success();
      });
}

LogicalResult ThreadLowering::lowerConversion(ConvertLayoutOp op) {
  LinearLayout from = getLayout(op.getInput()), to = getLayout(op.getResult());
  Conversion conversion = classifyConversion(from, to);
  const LinearLayout &places = conversion.places;
  SmallVector<Value> inputs = getElements(op.getInput()), elements;
  if (conversion.kind == tile::ConversionKind::Memory)
    return op.emitOpError("expected a conversion within warps, got one that needs memory");
  int64_t registers = to.getInSize(kRegister);
  if (conversion.kind == tile::ConversionKind::Registers) {
    for (int64_t reg = 0; reg < registers; ++reg)
      elements.push_back(inputs[places.applyTo(kRegister, reg)[0]]);
    setElements(op.getResult(), elements);
    return success();
  }
  // Which lane to ask is this lane's own affair; which register it shall give may depend on who
  // asks, in one bit: then both are asked for, and one is taken.
  Place lanes = getPlace(places);
  int64_t choice = 0;
  int64_t chooser = 0;
  for (auto [bit, basis] : llvm::enumerate(places.getBases(kLane)))
    if (basis[0]) {
      choice = basis[0];
      chooser |= int64_t(1) << bit;
    }
  Value chosen;
  if (choice) {
    Value bits = arith::AndIOp::create(builder, loc, lane, i32(chooser));
    // The parity of the choosing bits.
    for (unsigned shift : {16, 8, 4, 2, 1})
      bits = arith::XOrIOp::create(builder, loc, bits,
                                   arith::ShRUIOp::create(builder, loc, bits, i32(shift)));
    bits = arith::AndIOp::create(builder, loc, bits, i32(1));
    chosen = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, bits, i32(0));
  }
  for (int64_t reg = 0; reg < registers; ++reg) {
    Value source = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                              getCoordinate(lanes, 1, reg));
    int64_t sourceReg = places.applyTo(kRegister, reg)[0];
    Value element = shuffleFrom(inputs[sourceReg], source);
    if (choice)
      element = arith::SelectOp::create(builder, loc, chosen,
                                        shuffleFrom(inputs[sourceReg ^ choice], source), element);
    elements.push_back(element);
  }
  setElements(op.getResult(), elements);
  return success();
}
