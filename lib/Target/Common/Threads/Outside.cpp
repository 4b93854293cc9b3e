// What a program tells the outside: lines of text and failed conditions.
#include "ThreadLowering.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// A thread whose condition is false ends the launch; the target says, where it can, which it was.
LogicalResult ThreadLowering::lowerAssert(AssertOp op) {
  SmallVector<Value> conditions;
  if (isa<RankedTensorType>(op.getCondition().getType()))
    conditions = getElements(op.getCondition());
  else
    conditions = {get(op.getCondition())};
  Value holds;
  for (Value condition : conditions)
    holds = both(holds, condition);
  cf::AssertOp::create(builder, loc, holds, op.getMessage());
  return success();
}

/// A percent sign of a text that is not a directive.
static std::string escape(StringRef text) {
  std::string escaped;
  for (char c : text)
    escaped += c == '%' ? "%%" : std::string(1, c);
  return escaped;
}

/// One line an element, by the first of the threads that hold it.
LogicalResult ThreadLowering::lowerPrint(PrintOp op) {
  Type i32Type = builder.getI32Type(), i64 = builder.getI64Type();
  SmallVector<Value> program;
  for (gpu::Dimension dim : {gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z})
    program.push_back(arith::IndexCastOp::create(builder, loc, i32Type,
                                                 gpu::BlockIdOp::create(builder, loc, dim)));
  auto line = [&](ArrayRef<Value> indices, Value value) {
    std::string format = "(%d, %d, %d) ";
    SmallVector<Value> arguments(program);
    for (auto [i, at] : llvm::enumerate(indices)) {
      format += i == 0 ? "[%d" : ", %d";
      arguments.push_back(arith::IndexCastOp::create(builder, loc, i32Type, at));
    }
    format += indices.empty() ? "" : "] ";
    format += escape(op.getPrefix());
    if (value) {
      Type type = value.getType();
      if (type.isIndex()) {
        value = arith::IndexCastOp::create(builder, loc, i64, value);
        type = i64;
      }
      unsigned bits = type.getIntOrFloatBitWidth();
      if (isa<FloatType>(type) && !op.getHex()) {
        format += ": %.9g";
        if (bits < 64)
          value = arith::ExtFOp::create(builder, loc, builder.getF64Type(), value);
      } else {
        bool isUnsigned = op.getUnsignedValues() || op.getHex() || bits == 1;
        format += op.getHex()  ? ": 0x%0" + std::to_string((bits + 3) / 4) + "llx"
                  : isUnsigned ? ": %llu"
                               : ": %lld";
        if (isa<FloatType>(type))
          value = arith::BitcastOp::create(builder, loc, builder.getIntegerType(bits), value);
        if (bits < 64)
          value = isUnsigned ? Value(arith::ExtUIOp::create(builder, loc, i64, value))
                             : Value(arith::ExtSIOp::create(builder, loc, i64, value));
      }
      arguments.push_back(value);
    }
    gpu::PrintfOp::create(builder, loc, builder.getStringAttr(format + "\n"), arguments);
  };
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, getThread(), i32(0));
  if (op.getValues().empty())
    when(isFirst, [&] { line({}, {}); });
  for (Value value : op.getValues()) {
    if (!isa<RankedTensorType>(value.getType())) {
      when(isFirst, [&] { line({}, get(value)); });
      continue;
    }
    LinearLayout layout = getLayout(value);
    int64_t repeated = layout.freeVariables().front();
    Place place = getPlace(layout);
    SmallVector<Value> elements = getElements(value);
    when(isOwner(layout), [&] {
      for (auto [reg, element] : llvm::enumerate(elements)) {
        if (int64_t(reg) & repeated)
          continue;
        SmallVector<Value> at;
        for (unsigned dim = 0; dim < place.thread.size(); ++dim)
          at.push_back(getCoordinate(place, dim, reg));
        when(op.getExtents() ? isWithinTile(place, reg, *op.getExtents()) : Value(),
             [&, element = element] { line(at, element); });
      }
    });
  }
  return success();
}
