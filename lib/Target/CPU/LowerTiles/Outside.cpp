// What a program tells its caller: printing and asserting.
#include "Program.h"
#include "kiln/Runtime/Host/Services.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

/// The address of constant bytes.
Value Program::text(StringRef bytes) {
  auto module = kernel->getParentOfType<ModuleOp>();
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  auto global = LLVM::GlobalOp::create(
      top, kernel.getLoc(),
      LLVM::LLVMArrayType::get(builder.getI8Type(), std::max<size_t>(bytes.size(), 1)),
      /*isConstant=*/true, LLVM::Linkage::Internal,
      (kernel.getSymName() + "_text_" + Twine(globals++)).str(),
      builder.getStringAttr(bytes.empty() ? StringRef("\0", 1) : bytes));
  OpBuilder start = atEntry();
  return LLVM::AddressOfOp::create(start, kernel.getLoc(), global);
}

/// Calls the service at an offset of the table; the table itself is the first argument.
void Program::callService(Location loc, int64_t offset, ValueRange arguments) {
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Value slot = LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), services(),
                                   ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offset)});
  Value function = LLVM::LoadOp::create(builder, loc, pointer, slot);
  SmallVector<Type> types{pointer};
  SmallVector<Value> operands{function, services()};
  for (Value argument : arguments) {
    types.push_back(argument.getType());
    operands.push_back(argument);
  }
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), types);
  LLVM::CallOp::create(builder, loc, type, operands);
}

/// The program that a message is of, along each axis: the one it names, or this one.
SmallVector<Value> Program::programOf(Location loc, ValueRange named) {
  SmallVector<Value> ids;
  for (tile::Axis axis : {tile::Axis::X, tile::Axis::Y, tile::Axis::Z}) {
    Value id = named.empty() ? Value(tile::ProgramIdOp::create(builder, loc, axis))
                             : scalar(named[unsigned(axis)]);
    ids.push_back(arith::IndexCastOp::create(builder, loc, builder.getI64Type(), id));
  }
  return ids;
}

LogicalResult Program::lowerPrint(tile::PrintOp op) {
  Location loc = op.getLoc();
  Type i64 = builder.getI64Type(), f64 = builder.getF64Type();
  Value prefix = text(op.getPrefix());
  auto words = [&](StringRef bytes) {
    return std::pair(text(bytes), static_cast<int64_t>(bytes.size()));
  };
  // Made once, in front of all loops.
  auto open = words("("), comma = words(", "), close = words(") "), bracket = words("["),
       shut = words("] "), colon = words(": "), nothing = words("0x");
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  };
  auto print = [&](std::pair<Value, int64_t> what) {
    callService(loc, offsetof(HostServices, printText), {what.first, constant(what.second)});
  };
  auto printInteger = [&](Value value, bool isUnsigned) {
    callService(loc,
                isUnsigned ? offsetof(HostServices, printUnsigned)
                           : offsetof(HostServices, printSigned),
                {value});
  };
  auto line = [&](ValueRange indices, Value value) {
    print(open);
    for (auto [n, id] : llvm::enumerate(programOf(loc, op.getProgram()))) {
      if (n)
        print(comma);
      printInteger(id, false);
    }
    print(close);
    if (!indices.empty()) {
      print(bracket);
      for (auto [n, index] : llvm::enumerate(indices)) {
        if (n)
          print(comma);
        printInteger(arith::IndexCastOp::create(builder, loc, i64, index), false);
      }
      print(shut);
    }
    print({prefix, static_cast<int64_t>(op.getPrefix().size())});
    if (value) {
      print(colon);
      Type type = value.getType();
      if (isa<IndexType>(type)) {
        value = arith::IndexCastOp::create(builder, loc, i64, value);
        type = i64;
      }
      unsigned bits = type.getIntOrFloatBitWidth();
      if (op.getHex()) {
        if (isa<FloatTF32Type>(type)) { // shown as the f32 that it is
          value = arith::ExtFOp::create(builder, loc, builder.getF32Type(), value);
          type = builder.getF32Type();
          bits = 32;
        }
        if (isa<FloatType>(type))
          value = arith::BitcastOp::create(builder, loc, builder.getIntegerType(bits), value);
        if (bits < 64)
          value = arith::ExtUIOp::create(builder, loc, i64, value);
        print(nothing);
        // Digits from the highest on: the table knows decimals only.
        Value digits = text("0123456789abcdef");
        for (int digit = (bits + 3) / 4 - 1; digit >= 0; --digit) {
          Value nibble = arith::AndIOp::create(
              builder, loc, arith::ShRUIOp::create(builder, loc, value, constant(4 * digit)),
              constant(15));
          Value at = LLVM::GEPOp::create(builder, loc, digits.getType(), builder.getI8Type(),
                                         digits, ArrayRef<LLVM::GEPArg>{nibble});
          callService(loc, offsetof(HostServices, printText), {at, constant(1)});
        }
      } else if (isa<FloatType>(type)) {
        if (bits < 64)
          value = arith::ExtFOp::create(builder, loc, f64, value);
        callService(loc, offsetof(HostServices, printReal), {value});
      } else {
        bool isUnsigned = op.getUnsignedValues() || bits == 1;
        if (bits < 64)
          value = isUnsigned ? arith::ExtUIOp::create(builder, loc, i64, value).getResult()
                             : arith::ExtSIOp::create(builder, loc, i64, value).getResult();
        printInteger(value, isUnsigned);
      }
    }
    callService(loc, offsetof(HostServices, printLine), {});
  };
  if (op.getValues().empty())
    line({}, {});
  for (Value value : op.getValues()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      line({}, scalar(value));
      continue;
    }
    SmallVector<Value> at;
    SmallVector<scf::ForOp> loops;
    for (int64_t extent : type.getShape()) {
      loops.push_back(scf::ForOp::create(builder, loc, indexConstant(loc, 0),
                                         indexConstant(loc, extent), indexConstant(loc, 1)));
      builder.setInsertionPoint(loops.back().getBody()->getTerminator());
      at.push_back(loops.back().getInductionVar());
    }
    Value element;
    {
      Nest nest(*this, loc);
      element = nest.value(value, Point{at});
    }
    line(at, element);
    if (!loops.empty())
      builder.setInsertionPointAfter(loops.front());
  }
  return success();
}

LogicalResult Program::lowerAssert(tile::AssertOp op) {
  Location loc = op.getLoc();
  // All lanes together; what failed is reported once a program.
  Value condition;
  auto type = dyn_cast<RankedTensorType>(op.getCondition().getType());
  if (!type) {
    condition = scalar(op.getCondition());
  } else {
    Nest nest(*this, loc);
    SmallVector<Value> all{nest.integer(builder.getI1Type(), 1)}, point;
    int opened = 0;
    for (int64_t extent : type.getShape()) {
      if (extent == 1) {
        point.push_back(nest.index(0));
        continue;
      }
      SmallVector<Value> carried;
      point.push_back(nest.open(nest.index(0), nest.index(extent), 1, all, &carried));
      all = carried;
      ++opened;
    }
    all = {nest.make<arith::AndIOp>(all[0], nest.value(op.getCondition(), Point{point}))};
    while (opened--)
      all = nest.close(all);
    condition = all[0];
  }
  FileLineColLoc place = loc->findInstanceOf<FileLineColLoc>();
  StringRef file = place ? place.getFilename().strref() : StringRef();
  Value message = text(op.getMessage()), fileText = text(file);
  Value yes = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  Value failed = arith::XOrIOp::create(builder, loc, condition, yes);
  auto branch = scf::IfOp::create(builder, loc, failed, /*withElse=*/false);
  services();
  builder.setInsertionPoint(branch.thenYield());
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(value));
  };
  SmallVector<Value> arguments{message,
                               constant(op.getMessage().size()),
                               fileText,
                               constant(file.size()),
                               constant(place ? place.getLine() : 0),
                               constant(place ? place.getColumn() : 0)};
  llvm::append_range(arguments, programOf(loc, op.getProgram()));
  callService(loc, offsetof(HostServices, reportAssert), arguments);
  Value count =
      LLVM::GEPOp::create(builder, loc, scratchBase.getType(), builder.getI8Type(), scratchBase,
                          ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(kAssertCountOffset)});
  LLVM::StoreOp::create(
      builder, loc, arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(1)), count);
  builder.setInsertionPointAfter(branch);
  return success();
}
