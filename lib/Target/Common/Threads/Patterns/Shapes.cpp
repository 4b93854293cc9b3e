// Ops that leave every element where it is, or ask another lane for it.
#include "../ThreadPatterns.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// Elements of a thread as words that keep together what goes from lane to lane together.
class PackedRegisters {
public:
  PackedRegisters(ThreadContext &context, ArrayRef<Value> elements, ArrayRef<unsigned> packed);
  /// The word that a register's element is in.
  Value &at(int64_t reg) { return words[reg & ~mask]; }
  /// Whether it stands for all that are in its word.
  bool isFirst(int64_t reg) const { return !(reg & mask); }
  Value getElement(int64_t reg);

private:
  ThreadContext &context;
  Type type;
  int64_t mask = 0;
  /// By the number of an element in its word, what it adds to the first one's register.
  SmallVector<int64_t> places = {0};
  SmallVector<Value> words;
  DenseMap<Value, Value> unpacked;
};
} // namespace

PackedRegisters::PackedRegisters(ThreadContext &context, ArrayRef<Value> elements,
                                 ArrayRef<unsigned> packed)
    : context(context), type(elements.front().getType()), words(elements) {
  if (packed.empty())
    return;
  for (unsigned bit : packed) {
    mask |= int64_t(1) << bit;
    for (size_t i = 0, count = places.size(); i < count; ++i)
      places.push_back(places[i] | int64_t(1) << bit);
  }
  Type word = context.getIntegerType(type.getIntOrFloatBitWidth() * places.size());
  for (int64_t reg = 0; reg < int64_t(elements.size()); ++reg) {
    if (!isFirst(reg))
      continue;
    auto parts = llvm::map_to_vector(places, [&](int64_t place) { return elements[reg | place]; });
    Value vector =
        castVector(context, context.getLoc(), makeVector(context, context.getLoc(), parts), word);
    words[reg] = elementAt(context, context.getLoc(), vector, 0);
  }
}

Value PackedRegisters::getElement(int64_t reg) {
  Value word = at(reg);
  if (places.size() == 1)
    return word;
  Value &vector = unpacked[word];
  if (!vector) {
    auto one = VectorType::get({1}, word.getType());
    vector = castVector(context, context.getLoc(),
                        vector::FromElementsOp::create(context, one, word), type);
  }
  return elementAt(context, context.getLoc(), vector,
                   llvm::find(places, reg & mask) - places.begin());
}

/// Exchanges a bit of the register's number with one of the lane's, one after another: of two words
/// a lane keeps one and gives the other to the lane that differs in that bit.
static void lowerSwaps(ThreadContext &context, ConvertLayoutOp op, const Conversion &conversion) {
  SmallVector<Value> inputs = context.getElements(op.getInput()), elements;
  Type type = inputs.front().getType();
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  PackedRegisters registers(context, inputs, getPackedBits(conversion, bits));
  for (LaneSwap swap : conversion.swaps) {
    int64_t above = int64_t(1) << swap.registerBit, mask = int64_t(1) << swap.laneBit;
    Value bit = arith::AndIOp::create(context, context.lane, context.i32(mask));
    Value isUpper = arith::CmpIOp::create(context, arith::CmpIPredicate::ne, bit, context.i32(0));
    for (int64_t reg = 0; reg < int64_t(inputs.size()); ++reg) {
      if ((reg & above) || !registers.isFirst(reg))
        continue;
      Value &low = registers.at(reg), &high = registers.at(reg | above);
      Value given = arith::SelectOp::create(context, isUpper, low, high);
      Value taken = context.shuffleXor(given, mask);
      low = arith::SelectOp::create(context, isUpper, taken, low);
      high = arith::SelectOp::create(context, isUpper, high, taken);
    }
  }
  const LinearLayout &places = conversion.places;
  for (int64_t reg = 0; reg < places.getInSize(kRegister); ++reg) {
    LinearLayout::Basis from = places.applyTo(kRegister, reg);
    for (LaneSwap swap : conversion.swaps)
      if (from[1] >> swap.laneBit & 1)
        from[0] |= int64_t(1) << swap.registerBit;
    elements.push_back(registers.getElement(from[0]));
  }
  context.setElements(op.getResult(), elements);
}

static LogicalResult lowerConversion(ThreadContext &context, ConvertLayoutOp op) {
  LinearLayout from = getLayout(op.getInput()), to = getLayout(op.getResult());
  Conversion conversion = classifyConversion(from, to);
  const LinearLayout &places = conversion.places;
  SmallVector<Value> inputs = context.getElements(op.getInput()), elements;
  if (conversion.kind == tile::ConversionKind::Memory)
    return op.emitOpError("expected a conversion within warps, got one that needs memory");
  int64_t registers = to.getInSize(kRegister);
  if (conversion.kind == tile::ConversionKind::Registers) {
    for (int64_t reg = 0; reg < registers; ++reg)
      elements.push_back(inputs[places.applyTo(kRegister, reg)[0]]);
    context.setElements(op.getResult(), elements);
    return success();
  }
  if (!conversion.swaps.empty()) {
    lowerSwaps(context, op, conversion);
    return success();
  }
  // Which lane to ask is this lane's own affair; which register it shall give may depend on who
  // asks, in one bit: then both are asked for, and one is taken.
  ThreadPlace lanes = context.getPlace(places);
  int64_t choice = 0;
  int64_t chooser = 0;
  for (auto [bit, basis] : llvm::enumerate(places.getBases(kLane)))
    if (basis[0]) {
      choice = basis[0];
      chooser |= int64_t(1) << bit;
    }
  Value chosen;
  if (choice) {
    Value bits = arith::AndIOp::create(context, context.lane, context.i32(chooser));
    // The parity of the choosing bits.
    for (unsigned shift : {16, 8, 4, 2, 1})
      bits = arith::XOrIOp::create(context, bits,
                                   arith::ShRUIOp::create(context, bits, context.i32(shift)));
    bits = arith::AndIOp::create(context, bits, context.i32(1));
    chosen = arith::CmpIOp::create(context, arith::CmpIPredicate::ne, bits, context.i32(0));
  }
  for (int64_t reg = 0; reg < registers; ++reg) {
    Value source = arith::IndexCastOp::create(context, context.getI32Type(),
                                              context.getCoordinate(lanes, 1, reg));
    int64_t sourceReg = places.applyTo(kRegister, reg)[0];
    Value element = context.shuffleFrom(inputs[sourceReg], source);
    if (choice)
      element = arith::SelectOp::create(
          context, chosen, context.shuffleFrom(inputs[sourceReg ^ choice], source), element);
    elements.push_back(element);
  }
  context.setElements(op.getResult(), elements);
  return success();
}

/// The layout has gone along, so every element stays where it is.
static void lowerRenaming(ThreadContext &context, Operation *op) {
  context.set(op->getResult(0), context.get(op->getOperand(0)));
}

void kiln::populateShapePatterns(ThreadPatterns &patterns) {
  patterns.add<ReshapeOp, TransposeOp>(lowerRenaming);
  patterns.add<ConvertLayoutOp>(lowerConversion);
  patterns.add<SplatOp>([](ThreadContext &context, SplatOp op) {
    context.set(op, vector::BroadcastOp::create(context, context.convert(op.getType()),
                                                context.get(op.getValue())));
  });
  patterns.add<ToScalarOp>([](ThreadContext &context, ToScalarOp op) {
    context.set(op, vector::ExtractOp::create(context, context.get(op.getInput()), 0));
  });
  patterns.add<IotaOp>([](ThreadContext &context, IotaOp op) {
    context.setCoordinates(op.getResult(), op.getDim());
  });
}
