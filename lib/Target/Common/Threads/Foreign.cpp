// Inline assembly, once for each group of elements that a thread holds, and calls of libraries'
// functions, once for each element.
//
// A constraint says which register an operand is in, and so how wide it is, and a function what it
// takes: an element, or the elements that are packed, go into that bit for bit, zeros above them.
#include "ThreadLowering.h"
#include "kiln/Target/Common/ForeignCalls.h"
#include "kiln/Target/Common/ForeignCode.h"
#include "llvm/IR/InlineAsm.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static unsigned bitsOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

/// The elements of a group, low bits first, in a register.
Value ThreadLowering::packRegister(ArrayRef<Value> elements, Type type) {
  Type element = elements.front().getType();
  if (elements.size() == 1 && element == type)
    return elements.front();
  unsigned bits = bitsOf(element), total = bitsOf(type);
  Type word = builder.getIntegerType(total);
  Value packed;
  for (size_t i = 0; i < elements.size(); ++i) {
    Value value = elements[i];
    if (element.isIndex())
      value = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
    else if (isa<FloatType>(element))
      value = arith::BitcastOp::create(builder, loc, builder.getIntegerType(bits), value);
    if (bits < total)
      value = arith::ExtUIOp::create(builder, loc, word, value);
    if (i > 0) {
      Value by = arith::ConstantIntOp::create(builder, loc, word, int64_t(i * bits));
      value = arith::ShLIOp::create(builder, loc, value, by);
    }
    packed = packed ? Value(arith::OrIOp::create(builder, loc, packed, value)) : value;
  }
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(builder, loc, type, packed))
                              : packed;
}

SmallVector<Value> ThreadLowering::unpackRegister(Value value, Type element, int64_t count) {
  if (count == 1 && value.getType() == element)
    return {value};
  unsigned bits = bitsOf(element), total = bitsOf(value.getType());
  Type word = builder.getIntegerType(total), narrow = builder.getIntegerType(bits);
  if (isa<FloatType>(value.getType()))
    value = arith::BitcastOp::create(builder, loc, word, value);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < count; ++i) {
    Value part = value;
    if (i > 0) {
      Value by = arith::ConstantIntOp::create(builder, loc, word, i * bits);
      part = arith::ShRUIOp::create(builder, loc, part, by);
    }
    if (bits < total)
      part = arith::TruncIOp::create(builder, loc, narrow, part);
    if (element.isIndex())
      part = arith::IndexCastOp::create(builder, loc, element, part);
    else if (isa<FloatType>(element))
      part = arith::BitcastOp::create(builder, loc, element, part);
    elements.push_back(part);
  }
  return elements;
}

/// Whether each `pack` registers in turn hold neighbours of the last dimension.
static bool packs(const LinearLayout &layout, int64_t pack) {
  return layout.getContiguity(kRegister, layout.getOutNames().back()) >= pack;
}

LogicalResult ThreadLowering::lowerInlineAsm(InlineAsmOp op) {
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
        return emitUnsupported(op, target,
                               "expected a tile of which a thread holds " + std::to_string(pack) +
                                   " elements of a row side by side");
    }
  auto foreign = dyn_cast<ForeignTargetInterface>(target.getReal());
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
      Type type = foreign ? foreign.getRegisterType(builder, code.front(), bits) : Type();
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
    result = LLVM::LLVMStructType::getLiteral(builder.getContext(), types);
  SmallVector<SmallVector<Value>> held(numResults), given;
  for (Value source : sources)
    given.push_back(isa<RankedTensorType>(source.getType()) ? getElements(source)
                                                            : SmallVector<Value>{get(source)});
  for (int64_t first = 0; first < count; first += pack) {
    SmallVector<Value> operands;
    for (auto [i, elements] : llvm::enumerate(given)) {
      bool isTensor = isa<RankedTensorType>(sources[i].getType());
      ArrayRef<Value> group = elements;
      operands.push_back(
          packRegister(isTensor ? group.slice(first, pack) : group, registers[numResults + i]));
    }
    auto made = LLVM::InlineAsmOp::create(
        builder, loc, result, operands, op.getText(), op.getConstraints(),
        /*has_side_effects=*/!op.getPure(), /*is_align_stack=*/false,
        LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
    for (auto [i, old] : llvm::enumerate(op.getResults())) {
      Value value = made->getResult(0);
      if (numResults > 1)
        value = LLVM::ExtractValueOp::create(builder, loc, value,
                                             ArrayRef<int64_t>{static_cast<int64_t>(i)});
      Type element = getElementTypeOrSelf(old.getType());
      int64_t size = isa<RankedTensorType>(old.getType()) ? pack : 1;
      llvm::append_range(held[i], unpackRegister(value, element, size));
    }
  }
  for (auto [old, elements] : llvm::zip(op.getResults(), held)) {
    if (isa<RankedTensorType>(old.getType()))
      setElements(old, elements);
    else
      set(old, elements.front());
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

LogicalResult ThreadLowering::lowerExternCall(ExternCallOp op) {
  auto foreign = dyn_cast<ForeignTargetInterface>(target.getReal());
  if (!foreign)
    return emitUnsupported(op, target, "expected a target that reads libraries");
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
      declareForeign(function->getParentOfType<ModuleOp>(), op.getLoc(), *found);
  SmallVector<SmallVector<Value>> given;
  for (Value source : op.getOperands())
    given.push_back(isa<RankedTensorType>(source.getType()) ? getElements(source)
                                                            : SmallVector<Value>{get(source)});
  auto tensor = dyn_cast<RankedTensorType>(op.getResult().getType());
  int64_t count = tensor ? getLayout(op.getResult()).getInSize(kRegister) : 1;
  SmallVector<Value> results;
  for (int64_t i = 0; i < count; ++i) {
    SmallVector<Value> operands;
    for (auto [values, parameter] : llvm::zip(given, type.getInputs()))
      operands.push_back(packRegister(values[values.size() > 1 ? i : 0], parameter));
    Value made = func::CallOp::create(builder, loc, declared, operands).getResult(0);
    llvm::append_range(results, unpackRegister(made, element, 1));
  }
  if (tensor)
    setElements(op.getResult(), results);
  else
    set(op.getResult(), results.front());
  return success();
}
