// Inline assembly, once for each group of elements that a thread holds, and calls of libraries'
// functions, once for each element.
//
// A constraint says which register an operand is in, and so how wide it is, and a function what it
// takes: an element, or the elements that are packed, go into that bit for bit, zeros above them.
#include "../ThreadPatterns.h"
#include "kiln/Target/Common/ForeignCalls.h"
#include "kiln/Target/Common/ForeignCode.h"
#include "llvm/IR/InlineAsm.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static unsigned bitsOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

/// The elements of a group, low bits first, in a register.
static Value packRegister(ThreadContext &context, ArrayRef<Value> elements, Type type) {
  Type element = elements.front().getType();
  if (elements.size() == 1 && element == type)
    return elements.front();
  unsigned bits = bitsOf(element), total = bitsOf(type);
  Type word = context.getIntegerType(total);
  Value packed;
  for (size_t i = 0; i < elements.size(); ++i) {
    Value value = elements[i];
    if (element.isIndex())
      value = arith::IndexCastOp::create(context, context.getI64Type(), value);
    else if (isa<FloatType>(element))
      value = arith::BitcastOp::create(context, context.getIntegerType(bits), value);
    if (bits < total)
      value = arith::ExtUIOp::create(context, word, value);
    if (i > 0) {
      Value by = arith::ConstantIntOp::create(context, word, int64_t(i * bits));
      value = arith::ShLIOp::create(context, value, by);
    }
    packed = packed ? Value(arith::OrIOp::create(context, packed, value)) : value;
  }
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(context, type, packed)) : packed;
}

static SmallVector<Value> unpackRegister(ThreadContext &context, Value value, Type element,
                                         int64_t count) {
  if (count == 1 && value.getType() == element)
    return {value};
  unsigned bits = bitsOf(element), total = bitsOf(value.getType());
  Type word = context.getIntegerType(total), narrow = context.getIntegerType(bits);
  if (isa<FloatType>(value.getType()))
    value = arith::BitcastOp::create(context, word, value);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i) {
    Value part = value;
    if (i > 0) {
      Value by = arith::ConstantIntOp::create(context, word, i * bits);
      part = arith::ShRUIOp::create(context, part, by);
    }
    if (bits < total)
      part = arith::TruncIOp::create(context, narrow, part);
    if (element.isIndex())
      part = arith::IndexCastOp::create(context, element, part);
    else if (isa<FloatType>(element))
      part = arith::BitcastOp::create(context, element, part);
    elements.push_back(part);
  }
  return elements;
}

/// Whether each `pack` registers in turn hold neighbours of the last dimension.
static bool packs(const LinearLayout &layout, int64_t pack) {
  return layout.getContiguity(kRegister, layout.getOutNames().back()) >= pack;
}

static LogicalResult lowerInlineAsm(ThreadContext &context, InlineAsmOp op) {
  if (failed(verifyInlineAsm(op)))
    return failure();
  int64_t pack = op.getPack();
  SmallVector<Value> sources(op.getOperands()), all(sources);
  llvm::append_range(all, op.getResults());
  int64_t count = 1;
  for (Value value : all)
    if (isa<RankedTensorType>(value.getType())) {
      LinearLayout layout = getLayout(value);
      count = layout.getInSize(kRegister);
      if (pack > 1 && (!llvm::isPowerOf2_64(pack) || count % pack || !packs(layout, pack)))
        return emitUnsupported(op, context.target,
                               "expected a tile of which a thread holds " + std::to_string(pack) +
                                   " elements of a row side by side");
    }
  auto foreign = dyn_cast<ForeignTargetInterface>(context.target.getReal());
  // By number: results first.
  SmallVector<Type> registers;
  unsigned numResults = op->getNumResults();
  llvm::InlineAsm::ConstraintInfoVector constraints =
      llvm::InlineAsm::ParseConstraints(op.getConstraints());
  for (const llvm::InlineAsm::ConstraintInfo &one : constraints) {
    if (one.Type == llvm::InlineAsm::isClobber)
      continue;
    size_t number = registers.size();
    Value value = number < numResults ? Value(op.getResult(number)) : sources[number - numResults];
    bool isTensor = isa<RankedTensorType>(value.getType());
    unsigned bits = bitsOf(getElementTypeOrSelf(value.getType())) * (isTensor ? pack : 1);
    StringRef code = one.Codes.front();
    unsigned tied;
    if (!code.getAsInteger(10, tied)) {
      if (tied >= numResults)
        return op.emitOpError("expected to share a register with a result, got \"") << code << '"';
      registers.push_back(registers[tied]);
    } else {
      Type type = foreign ? foreign.getRegisterType(context, code.front(), bits) : Type();
      if (!type)
        return op.emitOpError("expected a register of the chip's, got the constraint \"")
               << code << '"';
      registers.push_back(type);
    }
    if (bits > bitsOf(registers.back()))
      return op.emitOpError("expected a register of ")
             << bits << " bits, got the constraint \"" << code << "\" for one of "
             << bitsOf(registers.back());
  }
  ArrayRef<Type> types = ArrayRef(registers).take_front(numResults);
  Type result;
  if (types.size() == 1)
    result = types.front();
  else if (types.size() > 1)
    result = LLVM::LLVMStructType::getLiteral(context.getContext(), types);
  SmallVector<SmallVector<Value>> held(numResults), given;
  for (Value source : sources)
    given.push_back(isa<RankedTensorType>(source.getType())
                        ? context.getElements(source)
                        : SmallVector<Value>{context.get(source)});
  for (int64_t first = 0; first < count; first += pack) {
    SmallVector<Value> operands;
    for (auto [i, elements] : llvm::enumerate(given)) {
      bool isTensor = isa<RankedTensorType>(sources[i].getType());
      ArrayRef<Value> group = elements;
      operands.push_back(packRegister(context, isTensor ? group.slice(first, pack) : group,
                                      registers[numResults + i]));
    }
    auto made = LLVM::InlineAsmOp::create(
        context, result, operands, op.getText(), op.getConstraints(),
        /*has_side_effects=*/!op.getPure(), /*is_align_stack=*/false,
        LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
    for (auto [i, old] : llvm::enumerate(op.getResults())) {
      Value value = made->getResult(0);
      if (numResults > 1)
        value = LLVM::ExtractValueOp::create(context, value,
                                             ArrayRef<int64_t>{static_cast<int64_t>(i)});
      Type element = getElementTypeOrSelf(old.getType());
      int64_t size = isa<RankedTensorType>(old.getType()) ? pack : 1;
      llvm::append_range(held[i], unpackRegister(context, value, element, size));
    }
  }
  for (auto [old, elements] : llvm::zip(op.getResults(), held)) {
    if (isa<RankedTensorType>(old.getType()))
      context.setElements(old, elements);
    else
      context.set(old, elements.front());
  }
  return success();
}

//===- Functions of libraries ---------------------------------------------------------------===//

/// Whether a library's function can be given an element as what it takes: the same type, or its
/// bits as an integer where C has no such type.
static bool takes(Type parameter, Type element) {
  if (parameter == element)
    return true;
  if (element.isIndex())
    return parameter.isInteger(64);
  unsigned bits = bitsOf(element);
  bool isNarrowFloat = isa<FloatType>(element) && bits <= 16 && !element.isF16();
  bool isNarrow = bits < 8;
  return (isNarrowFloat || isNarrow) && parameter.isInteger(bits <= 8 ? 8 : 16);
}

static LogicalResult lowerExternCall(ThreadContext &context, ExternCallOp op) {
  auto foreign = dyn_cast<ForeignTargetInterface>(context.target.getReal());
  if (!foreign)
    return emitUnsupported(op, context.target, "expected a target that reads libraries");
  llvm::Expected<ForeignFunction> found =
      findForeign(op.getContext(), foreign, op.getLibrary(), op.getSymbol());
  if (!found)
    return op.emitOpError(llvm::toString(found.takeError()));
  SmallVector<Type> elements;
  for (Type type : op->getOperandTypes())
    elements.push_back(getElementTypeOrSelf(type));
  Type element = getElementTypeOrSelf(op.getResult().getType());
  FunctionType type = found->type;
  bool fits = elements.size() == type.getNumInputs() && takes(type.getResult(0), element);
  for (size_t i = 0; fits && i < elements.size(); ++i)
    fits = takes(type.getInput(i), elements[i]);
  if (!fits)
    return op.emitOpError("expected the signature of '")
           << op.getSymbol() << "' in library '" << found->library << "', " << type << ", got "
           << FunctionType::get(op.getContext(), elements, element);
  func::FuncOp declared =
      declareForeign(context.function->getParentOfType<ModuleOp>(), op.getLoc(), *found);
  SmallVector<SmallVector<Value>> given;
  for (Value source : op.getOperands())
    given.push_back(isa<RankedTensorType>(source.getType())
                        ? context.getElements(source)
                        : SmallVector<Value>{context.get(source)});
  auto tensor = dyn_cast<RankedTensorType>(op.getResult().getType());
  int64_t count = tensor ? getLayout(op.getResult()).getInSize(kRegister) : 1;
  SmallVector<Value> results;
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> operands;
    for (auto [values, parameter] : llvm::zip(given, type.getInputs()))
      operands.push_back(packRegister(context, values[values.size() > 1 ? i : 0], parameter));
    Value made = func::CallOp::create(context, declared, operands).getResult(0);
    llvm::append_range(results, unpackRegister(context, made, element, 1));
  }
  if (tensor)
    context.setElements(op.getResult(), results);
  else
    context.set(op.getResult(), results.front());
  return success();
}

void kiln::populateForeignPatterns(ThreadPatterns &patterns) {
  patterns.add<InlineAsmOp>(lowerInlineAsm);
  patterns.add<ExternCallOp>(lowerExternCall);
}
