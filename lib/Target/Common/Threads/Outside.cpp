// What a program tells the outside: lines of text and failed conditions.
//
// Threads leave records in memory of the host's (MessageRecord.h), a hidden parameter; the texts
// stand in the metadata. A program whose assertion fails says so once and ends, all its threads at
// the same place, so that nobody waits for one who is gone and the device goes on to the next
// program. Where others may wait for what the program would have done (a role for another, a
// program in a loop for another program) the launch ends by a trap instead, behind the record.
#include "ThreadLowering.h"
#include "kiln/Runtime/Device/MessageRecord.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- Records ------------------------------------------------------------------------------===//

void ThreadLowering::leaveMessage(Attribute message, ValueRange program, Value element,
                                  Value value) {
  if (!messageBuffer) {
    unsigned number = function.getNumArguments();
    (void)function.insertArgument(
        number, LLVM::LLVMPointerType::get(builder.getContext(), kGlobalSpace), {}, loc);
    messageBuffer = function.getArgument(number);
    hiddenParameters.push_back(
        builder.getDictionaryAttr(builder.getNamedAttr("kind", builder.getStringAttr("messages"))));
  }
  auto *known = llvm::find(messages, message);
  int64_t number = known - messages.begin() + 1;
  if (known == messages.end())
    messages.push_back(message);

  Type i64 = builder.getI64Type(), i32Type = builder.getI32Type();
  auto at = [&](Value base, size_t bytes) -> Value {
    return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(bytes))});
  };
  auto addOne = [&](size_t bytes) -> Value {
    return LLVM::AtomicRMWOp::create(builder, loc, LLVM::AtomicBinOp::add, at(messageBuffer, bytes),
                                     arith::ConstantIntOp::create(builder, loc, 1, 64),
                                     LLVM::AtomicOrdering::monotonic, kScopeNames[2],
                                     /*alignment=*/8);
  };
  Value place = addOne(offsetof(MessageHeader, claimed));
  Value capacity = LLVM::LoadOp::create(
      builder, loc, i64, at(messageBuffer, offsetof(MessageHeader, capacity)), /*alignment=*/8);
  Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place, capacity);
  auto branch = scf::IfOp::create(builder, loc, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&branch.getElseRegion().front());
  addOne(offsetof(MessageHeader, dropped));
  builder.setInsertionPointToStart(&branch.getThenRegion().front());
  Value size = arith::ConstantIntOp::create(builder, loc, sizeof(MessageRecord), 64);
  Value record = LLVM::GEPOp::create(
      builder, loc, messageBuffer.getType(), builder.getI8Type(),
      at(messageBuffer, sizeof(MessageHeader)),
      ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(arith::MulIOp::create(builder, loc, place, size))});
  auto store = [&](size_t bytes, Value part, unsigned alignment) {
    LLVM::StoreOp::create(builder, loc, part, at(record, bytes), alignment);
  };
  store(offsetof(MessageRecord, message), i32(number), 16);
  for (gpu::Dimension dim : {gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z}) {
    Value id = program.empty() ? Value(gpu::BlockIdOp::create(builder, loc, dim))
                               : get(program[unsigned(dim)]);
    store(offsetof(MessageRecord, program) + 4 * unsigned(dim),
          arith::IndexCastOp::create(builder, loc, i32Type, id), 4);
  }
  if (element)
    store(offsetof(MessageRecord, element), element, 16);
  if (value)
    store(offsetof(MessageRecord, value), value, 8);
}

//===- Assertions ---------------------------------------------------------------------------===//

/// Whether somebody may wait for ever if this program ends here: another role, or a program whose
/// loop ends by what it reads.
static bool isWaitedFor(AssertOp op) {
  if (op->getParentOfType<WarpGroupsOp>())
    return true;
  auto kernel = op->getParentOfType<KernelOp>();
  WalkResult result = kernel.getBody().walk([](scf::WhileOp loop) {
    return loop.walk([](Operation *inner) {
      bool reads =
          isa<LoadOp, GatherOp, AtomicRMWOp, AtomicCASOp, InlineAsmOp, ExternCallOp>(inner);
      return reads ? WalkResult::interrupt() : WalkResult::advance();
    });
  });
  return result.wasInterrupted();
}

/// Whether threads have conditions of their own, which are brought together.
static bool isShared(AssertOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getCondition().getType());
  if (!type || isWaitedFor(op))
    return false;
  LinearLayout layout = getLayout(op.getCondition());
  return llvm::any_of(layout.getIns(), [](const LinearLayout::InDim &in) {
    return in.name != kRegister && llvm::any_of(in.bases, [](const LinearLayout::Basis &basis) {
             return llvm::any_of(basis, [](int64_t part) { return part != 0; });
           });
  });
}

int64_t kiln::getAssertBytes(AssertOp op) { return isShared(op) ? 4 : 0; }

/// A condition of each thread's as one of the program's.
Value ThreadLowering::holdsForAll(AssertOp op, Value holds) {
  Value base = getShared(op),
        isFirst =
            arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, getThread(), i32(0));
  barrier();
  when(isFirst, [&] { storeScratch(base, i32(0), i32(0)); });
  barrier();
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  when(arith::XOrIOp::create(builder, loc, holds, yes),
       [&] { storeScratch(base, i32(0), i32(1)); });
  barrier();
  Value failed = loadScratch(base, i32(0), builder.getI32Type());
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, failed, i32(0));
}

LogicalResult ThreadLowering::lowerAssert(AssertOp op) {
  SmallVector<Value> conditions;
  if (isa<RankedTensorType>(op.getCondition().getType()))
    conditions = getElements(op.getCondition());
  else
    conditions = {get(op.getCondition())};
  Value holds;
  for (Value condition : conditions)
    holds = both(holds, condition);
  bool traps = isWaitedFor(op);
  if (isShared(op))
    holds = holdsForAll(op, holds);

  NamedAttrList message;
  message.set("kind", builder.getStringAttr("assert"));
  message.set("text", op.getMessageAttr());
  if (auto place = loc->findInstanceOf<FileLineColLoc>()) {
    message.set("file", place.getFilename());
    message.set("line", builder.getI64IntegerAttr(place.getLine()));
    message.set("column", builder.getI64IntegerAttr(place.getColumn()));
  }
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value tells = arith::XOrIOp::create(builder, loc, holds, yes);
  // Who traps must have told before, so each tells for himself.
  if (!traps)
    tells = both(
        tells, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, getThread(), i32(0)));
  when(tells, [&] {
    leaveMessage(message.getDictionary(builder.getContext()), op.getProgram(), {}, {});
    if (traps)
      LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::release); // for the host, too
  });
  auto end = cf::AssertOp::create(builder, loc, holds, op.getMessage());
  if (traps)
    end->setAttr(kTrapsAttrName, builder.getUnitAttr());
  return success();
}

//===- Lines --------------------------------------------------------------------------------===//

/// One line, of a tensor's element or of a scalar.
void ThreadLowering::lowerLine(PrintOp op, Value value, ArrayRef<int64_t> shape, Value element) {
  Type i64 = builder.getI64Type();
  NamedAttrList message;
  StringRef kind = "line";
  if (value) {
    Type type = value.getType();
    if (type.isIndex()) {
      value = arith::IndexCastOp::create(builder, loc, i64, value);
      type = i64;
    }
    if (isa<FloatTF32Type>(type)) { // shown as the f32 that it is
      type = builder.getF32Type();
      value = arith::ExtFOp::create(builder, loc, type, value);
    }
    unsigned bits = type.getIntOrFloatBitWidth();
    bool isReal = isa<FloatType>(type) && !op.getHex();
    bool isUnsigned = op.getUnsignedValues() || op.getHex() || bits == 1;
    kind = isReal ? "real" : op.getHex() ? "hex" : isUnsigned ? "unsigned" : "signed";
    if (op.getHex())
      message.set("digits", builder.getI64IntegerAttr((bits + 3) / 4));
    if (isReal && bits < 64)
      value = arith::ExtFOp::create(builder, loc, builder.getF64Type(), value);
    if (!isReal && isa<FloatType>(type))
      value = arith::BitcastOp::create(builder, loc, builder.getIntegerType(bits), value);
    if (!isReal && bits < 64)
      value = isUnsigned ? Value(arith::ExtUIOp::create(builder, loc, i64, value))
                         : Value(arith::ExtSIOp::create(builder, loc, i64, value));
  }
  message.set("kind", builder.getStringAttr(kind));
  message.set("text", op.getPrefixAttr());
  if (element)
    message.set("shape", builder.getDenseI64ArrayAttr(shape));
  leaveMessage(message.getDictionary(builder.getContext()), op.getProgram(), element, value);
}

/// One line an element, by the first of the threads that hold it.
LogicalResult ThreadLowering::lowerPrint(PrintOp op) {
  Value isFirst =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, getThread(), i32(0));
  if (op.getValues().empty())
    when(isFirst, [&] { lowerLine(op, {}, {}, {}); });
  for (Value value : op.getValues()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      when(isFirst, [&] { lowerLine(op, get(value), {}, {}); });
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
        Value at = getFlatIndex(place, reg, getStrides(type.getShape()));
        when(op.getExtents() ? isWithinTile(place, reg, *op.getExtents()) : Value(),
             [&, element = element] { lowerLine(op, element, type.getShape(), at); });
      }
    });
  }
  return success();
}
