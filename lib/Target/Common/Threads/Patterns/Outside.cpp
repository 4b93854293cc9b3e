// What a program tells the outside: lines of text and failed conditions.
//
// Threads leave records in memory of the host's (MessageRecord.h), a hidden parameter; the texts
// stand in the metadata. A program whose assertion fails says so once and ends, all its threads at
// the same place, so that nobody waits for one who is gone and the device goes on to the next
// program. Where others may wait for what the program would have done (a role for another, a
// program in a loop for another program) the launch ends by a trap instead, behind the record.
#include "../Scratch.h"
#include "../SharedAccess.h"
#include "../ThreadPatterns.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Runtime/Device/MessageRecord.h"
#include "kiln/Target/Common/ABI.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- Records ------------------------------------------------------------------------------===//

namespace {
struct MessageState {
  /// The parameter that messages are written to, if any are, and what they say.
  Value buffer;
  SmallVector<Attribute> messages;
};
} // namespace

/// Leaves a record for the host: which message, of which program (none: this one), and what is its
/// own.
static void leaveMessage(ThreadContext &context, Attribute message, ValueRange program,
                         Value element, Value value) {
  auto &[buffer, messages] = context.getState<MessageState>();
  if (!buffer)
    buffer = context.addParameter(
        LLVM::LLVMPointerType::get(context.getContext(), kGlobalSpace), {},
        context.getDictionaryAttr(context.getNamedAttr("kind", context.getStringAttr("messages"))));
  Value messageBuffer = buffer;
  auto *known = llvm::find(messages, message);
  int64_t number = known - messages.begin() + 1;
  if (known == messages.end())
    messages.push_back(message);

  Type i64 = context.getI64Type(), i32Type = context.getI32Type();
  auto at = [&](Value base, size_t bytes) -> Value {
    return LLVM::GEPOp::create(context, base.getType(), context.getI8Type(), base,
                               ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(bytes))});
  };
  auto addOne = [&](size_t bytes) -> Value {
    return LLVM::AtomicRMWOp::create(context, LLVM::AtomicBinOp::add, at(messageBuffer, bytes),
                                     arith::ConstantIntOp::create(context, 1, 64),
                                     LLVM::AtomicOrdering::monotonic, kScopeNames[2],
                                     /*alignment=*/8);
  };
  Value place = addOne(offsetof(MessageHeader, claimed));
  Value capacity = LLVM::LoadOp::create(
      context, i64, at(messageBuffer, offsetof(MessageHeader, capacity)), /*alignment=*/8);
  Value fits = arith::CmpIOp::create(context, arith::CmpIPredicate::ult, place, capacity);
  auto branch = scf::IfOp::create(context, fits, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(context);
  context.setInsertionPointToStart(&branch.getElseRegion().front());
  addOne(offsetof(MessageHeader, dropped));
  context.setInsertionPointToStart(&branch.getThenRegion().front());
  Value size = arith::ConstantIntOp::create(context, sizeof(MessageRecord), 64);
  Value record = LLVM::GEPOp::create(
      context, messageBuffer.getType(), context.getI8Type(),
      at(messageBuffer, sizeof(MessageHeader)),
      ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(arith::MulIOp::create(context, place, size))});
  auto store = [&](size_t bytes, Value part, unsigned alignment) {
    LLVM::StoreOp::create(context, part, at(record, bytes), alignment);
  };
  store(offsetof(MessageRecord, message), context.i32(number), 16);
  for (gpu::Dimension dim : {gpu::Dimension::x, gpu::Dimension::y, gpu::Dimension::z}) {
    Value id = program.empty() ? Value(gpu::BlockIdOp::create(context, dim))
                               : context.get(program[unsigned(dim)]);
    store(offsetof(MessageRecord, program) + 4 * unsigned(dim),
          arith::IndexCastOp::create(context, i32Type, id), 4);
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
  // Who counts itself in at a counter is counted on, by the next launch at least.
  if (hasCounter(kernel))
    return true;
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

static int64_t getAssertBytes(AssertOp op) { return isShared(op) ? 4 : 0; }

/// A condition of each thread's as one of the program's.
static Value holdsForAll(ThreadContext &context, AssertOp op, Value holds) {
  Value base = getShared(context, op),
        isFirst = arith::CmpIOp::create(context, arith::CmpIPredicate::eq, context.getThread(),
                                        context.i32(0));
  context.when(isFirst, [&] { storeScratch(context, base, context.i32(0), context.i32(0)); });
  context.barrier();
  Value yes = arith::ConstantIntOp::create(context, 1, 1);
  context.when(arith::XOrIOp::create(context, holds, yes),
               [&] { storeScratch(context, base, context.i32(0), context.i32(1)); });
  context.barrier();
  Value failed = loadScratch(context, base, context.i32(0), context.getI32Type());
  return arith::CmpIOp::create(context, arith::CmpIPredicate::eq, failed, context.i32(0));
}

static void lowerAssert(ThreadContext &context, AssertOp op) {
  SmallVector<Value> conditions;
  if (isa<RankedTensorType>(op.getCondition().getType()))
    conditions = context.getElements(op.getCondition());
  else
    conditions = {context.get(op.getCondition())};
  Value holds;
  for (Value condition : conditions)
    holds = context.both(holds, condition);
  bool traps = isWaitedFor(op);
  if (isShared(op))
    holds = holdsForAll(context, op, holds);

  NamedAttrList message;
  message.set("kind", context.getStringAttr("assert"));
  message.set("text", op.getMessageAttr());
  if (auto place = context.getLoc()->findInstanceOf<FileLineColLoc>()) {
    message.set("file", place.getFilename());
    message.set("line", context.getI64IntegerAttr(place.getLine()));
    message.set("column", context.getI64IntegerAttr(place.getColumn()));
  }
  Value yes = arith::ConstantIntOp::create(context, 1, 1);
  Value tells = arith::XOrIOp::create(context, holds, yes);
  // Who traps must have told before, so each tells for himself.
  if (!traps)
    tells = context.both(tells, arith::CmpIOp::create(context, arith::CmpIPredicate::eq,
                                                      context.getThread(), context.i32(0)));
  context.when(tells, [&] {
    leaveMessage(context, message.getDictionary(context.getContext()), op.getProgram(), {}, {});
    if (traps)
      LLVM::FenceOp::create(context, LLVM::AtomicOrdering::release); // for the host, too
  });
  auto end = cf::AssertOp::create(context, holds, op.getMessage());
  if (traps)
    end->setAttr(kTrapsAttrName, context.getUnitAttr());
}

//===- Lines --------------------------------------------------------------------------------===//

/// One line, of a tensor's element or of a scalar.
static void lowerLine(ThreadContext &context, PrintOp op, Value value, ArrayRef<int64_t> shape,
                      Value element) {
  Type i64 = context.getI64Type();
  NamedAttrList message;
  StringRef kind = "line";
  if (value) {
    Type type = value.getType();
    if (type.isIndex()) {
      value = arith::IndexCastOp::create(context, i64, value);
      type = i64;
    }
    if (isa<FloatTF32Type>(type)) { // shown as the f32 that it is
      type = context.getF32Type();
      value = arith::ExtFOp::create(context, type, value);
    }
    unsigned bits = type.getIntOrFloatBitWidth();
    bool isReal = isa<FloatType>(type) && !op.getHex();
    bool isUnsigned = op.getUnsignedValues() || op.getHex() || bits == 1;
    kind = isReal ? "real" : op.getHex() ? "hex" : isUnsigned ? "unsigned" : "signed";
    if (op.getHex())
      message.set("digits", context.getI64IntegerAttr((bits + 3) / 4));
    if (isReal && bits < 64)
      value = arith::ExtFOp::create(context, context.getF64Type(), value);
    if (!isReal && isa<FloatType>(type))
      value = arith::BitcastOp::create(context, context.getIntegerType(bits), value);
    if (!isReal && bits < 64)
      value = isUnsigned ? Value(arith::ExtUIOp::create(context, i64, value))
                         : Value(arith::ExtSIOp::create(context, i64, value));
  }
  message.set("kind", context.getStringAttr(kind));
  message.set("text", op.getPrefixAttr());
  if (element)
    message.set("shape", context.getDenseI64ArrayAttr(shape));
  leaveMessage(context, message.getDictionary(context.getContext()), op.getProgram(), element,
               value);
}

/// One line an element, by the first of the threads that hold it.
static void lowerPrint(ThreadContext &context, PrintOp op) {
  Value isFirst =
      arith::CmpIOp::create(context, arith::CmpIPredicate::eq, context.getThread(), context.i32(0));
  if (op.getValues().empty())
    context.when(isFirst, [&] { lowerLine(context, op, {}, {}, {}); });
  for (Value value : op.getValues()) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type) {
      context.when(isFirst, [&] { lowerLine(context, op, context.get(value), {}, {}); });
      continue;
    }
    LinearLayout layout = getLayout(value);
    int64_t repeated = layout.freeVariables().front();
    ThreadPlace place = context.getPlace(layout);
    SmallVector<Value> elements = context.getElements(value);
    context.when(context.isOwner(layout), [&] {
      for (auto [reg, element] : llvm::enumerate(elements)) {
        if (int64_t(reg) & repeated)
          continue;
        Value at = getFlatIndex(context, place, reg, getStrides(type.getShape()));
        context.when(
            op.getExtents() ? isWithinTile(context, place, reg, *op.getExtents()) : Value(),
            [&, element = element] { lowerLine(context, op, element, type.getShape(), at); });
      }
    });
  }
}

static void tellMessages(ThreadContext &context) {
  auto &messages = context.getState<MessageState>().messages;
  if (!messages.empty())
    setMetadata(context.kernel, "messages", context.getArrayAttr(messages));
}

void kiln::populateOutsidePatterns(ThreadPatterns &patterns) {
  patterns.add<AssertOp>(lowerAssert).needsScratch(getAssertBytes);
  patterns.add<PrintOp>(lowerPrint);
  patterns.addEnd(tellMessages);
}
