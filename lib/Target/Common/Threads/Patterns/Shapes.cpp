// Ops that leave every element where it is, or ask another lane for it.
#include "../ThreadPatterns.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

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
