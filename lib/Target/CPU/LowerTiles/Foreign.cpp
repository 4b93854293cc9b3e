// Foreign code: inline assembly and calls into libraries.
//
// What LLVM would abort over is found before, at the op's line; what only the assembler finds, the
// code generator reports (see Emission.cpp).
#include "Program.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/Common/ForeignCode.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/Object/ELFObjectFile.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

/// The op's place in the source, as file:line:column; empty if it has none.
static std::string spellPlace(Operation *op) {
  FileLineColLoc where = op->getLoc()->findInstanceOf<FileLineColLoc>();
  if (!where)
    return "";
  return (where.getFilename().strref() + ":" + Twine(where.getLine()) + ":" +
          Twine(where.getColumn()))
      .str();
}

/// What the kernel's metadata lists under a name.
static SmallVector<Attribute> listedMetadata(Operation *kernel, StringRef name) {
  auto metadata =
      kernel->getParentOfType<ModuleOp>()->getAttrOfType<DictionaryAttr>(kMetadataAttrName);
  auto entries = metadata ? metadata.getAs<ArrayAttr>(name) : ArrayAttr();
  return entries ? llvm::to_vector(entries) : SmallVector<Attribute>();
}

/// The type in which foreign code sees an element.
static Type foreignType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  return storageType(element);
}

LogicalResult Program::lowerInlineAsm(tile::InlineAsmOp op) {
  if (failed(verifyInlineAsm(op)))
    return failure();
  // The code generator moves no value to or from a stack of registers, and aborts.
  llvm::InlineAsm::ConstraintInfoVector constraints =
      llvm::InlineAsm::ParseConstraints(op.getConstraints());
  for (const llvm::InlineAsm::ConstraintInfo &one : constraints)
    for (const std::string &code : one.Codes)
      if (one.Type != llvm::InlineAsm::isClobber &&
          (code == "f" || code == "t" || code == "u" || StringRef(code).starts_with("{st")))
        return op.emitOpError(
                   "expected constraints on registers other than the x87 stack's, got \"")
               << code << '"';
  // What the text refers to may not be there when the kernel is loaded.
  SmallVector<Attribute> places = listedMetadata(kernel, "assembly");
  places.push_back(builder.getStringAttr(spellPlace(op)));
  setMetadata(kernel, "assembly", builder.getArrayAttr(places));
  Location loc = op.getLoc();
  int64_t pack = op.getPack();
  SmallVector<int64_t> shape;
  for (Type type : llvm::concat<Type>(llvm::to_vector(op->getOperandTypes()),
                                      llvm::to_vector(op->getResultTypes())))
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  SmallVector<Value> conditions;
  Nest nest(*this, loc);
  SmallVector<int64_t> steps = shape;
  if (!steps.empty())
    steps.back() /= pack;
  nest.forEach(steps, -1, [&](Point point) {
    if (pack > 1) {
      point.at.back() = nest.mul(point.at.back(), nest.index(pack));
      point.lane = shape.size() - 1;
      point.width = pack;
    }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      Value value = isa<RankedTensorType>(operand.getType()) ? nest.vectorValue(operand, point)
                                                             : scalar(operand);
      operands.push_back(nest.toStorage(value, getElementTypeOrSelf(value)));
    }
    SmallVector<Type> types;
    for (Type type : op.getResultTypes()) {
      Type element = foreignType(getElementTypeOrSelf(type));
      types.push_back(pack > 1 && isa<RankedTensorType>(type)
                          ? Type(VectorType::get({pack}, element))
                          : element);
    }
    Type result;
    if (types.size() == 1)
      result = types.front();
    else if (types.size() > 1)
      result = LLVM::LLVMStructType::getLiteral(loc.getContext(), types);
    OpBuilder detached(loc.getContext());
    auto made = LLVM::InlineAsmOp::create(
        detached, loc, result, operands, op.getText(), op.getConstraints(),
        /*has_side_effects=*/!op.getPure(), /*is_align_stack=*/false,
        LLVM::tailcallkind::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr());
    if (op.getPure() && !op.getOperands().empty())
      nest.place(made);
    else
      nest.makeInnermost(made);
    for (auto [number, old] : llvm::enumerate(op.getResults())) {
      Value value = types.size() == 1
                        ? made->getResult(0)
                        : nest.make<LLVM::ExtractValueOp>(
                              made->getResult(0), ArrayRef<int64_t>{static_cast<int64_t>(number)});
      value = nest.fromStorage(value, getElementTypeOrSelf(old.getType()));
      if (isa<RankedTensorType>(old.getType()))
        nest.store(value, storage(old), point);
      else
        scalars.map(old, value);
    }
  });
  return success();
}

/// A library given by its path must be there and define the function. One given by its name alone
/// is the dynamic loader's to find, when the kernel is loaded.
static LogicalResult verifyLibrary(tile::ExternCallOp op) {
  StringRef path = op.getLibrary();
  if (!path.contains('/'))
    return success();
  auto file = llvm::object::ObjectFile::createObjectFile(path);
  if (!file)
    return op.emitOpError("cannot read library '")
           << path << "': " << llvm::toString(file.takeError());
  auto *library = dyn_cast<llvm::object::ELFObjectFileBase>(file->getBinary());
  if (!library || library->getEType() != llvm::ELF::ET_DYN)
    return op.emitOpError("expected a shared library, got '") << path << "'";
  for (const llvm::object::ELFSymbolRef &symbol : library->getDynamicSymbolIterators()) {
    llvm::Expected<StringRef> name = symbol.getName();
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    if (!name || !flags) {
      llvm::consumeError(name.takeError());
      llvm::consumeError(flags.takeError());
      continue;
    }
    if (*name == op.getSymbol() && !(*flags & llvm::object::SymbolRef::SF_Undefined))
      return success();
  }
  return op.emitOpError("expected a function '")
         << op.getSymbol() << "' in library '" << path << "', got none of that name";
}

/// Declares the function in the module, and says in the metadata where the loader shall find it. A
/// library's function gets a name of its own: it may be called what another library's is called,
/// or what LLVM knows under that name.
LLVM::LLVMFuncOp Program::declareForeign(tile::ExternCallOp op, LLVM::LLVMFunctionType type) {
  auto module = kernel->getParentOfType<ModuleOp>();
  SmallVector<Attribute> known = listedMetadata(kernel, "foreign");
  for (Attribute entry : known) {
    auto fields = cast<DictionaryAttr>(entry);
    auto text = [&](StringRef field) { return fields.getAs<StringAttr>(field).getValue(); };
    if (text("symbol") != op.getSymbol() || text("library") != op.getLibrary())
      continue;
    auto declared = module.lookupSymbol<LLVM::LLVMFuncOp>(text("name"));
    if (declared.getFunctionType() == type)
      return declared;
    op.emitOpError("expected one signature for '")
        << op.getSymbol() << "', got another than before";
    return {};
  }
  std::string name = op.getSymbol().str();
  if (!op.getLibrary().empty())
    name = "kiln_foreign_" + std::to_string(known.size()) + "_" + name;
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  auto declared = LLVM::LLVMFuncOp::create(top, op.getLoc(), name, type);
  auto field = [&](StringRef key, StringRef value) {
    return NamedAttribute(builder.getStringAttr(key), builder.getStringAttr(value));
  };
  known.push_back(builder.getDictionaryAttr({field("name", name), field("symbol", op.getSymbol()),
                                             field("library", op.getLibrary()),
                                             field("location", spellPlace(op))}));
  setMetadata(kernel, "foreign", builder.getArrayAttr(known));
  return declared;
}

LogicalResult Program::lowerExternCall(tile::ExternCallOp op) {
  Location loc = op.getLoc();
  SmallVector<int64_t> shape;
  SmallVector<Type> types;
  for (Type type : op->getOperandTypes()) {
    types.push_back(foreignType(getElementTypeOrSelf(type)));
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      shape.assign(tensor.getShape().begin(), tensor.getShape().end());
  }
  auto resultType = dyn_cast<RankedTensorType>(op.getResult().getType());
  if (resultType)
    shape.assign(resultType.getShape().begin(), resultType.getShape().end());
  Type result = foreignType(getElementTypeOrSelf(op.getResult().getType()));
  auto type = LLVM::LLVMFunctionType::get(result, types);
  if (failed(verifyLibrary(op)))
    return failure();
  LLVM::LLVMFuncOp declared = declareForeign(op, type);
  if (!declared)
    return failure();
  Nest nest(*this, loc);
  nest.forEach(shape, -1, [&](Point point) {
    SmallVector<Value> operands;
    for (Value operand : op.getOperands()) {
      Value value =
          isa<RankedTensorType>(operand.getType()) ? nest.value(operand, point) : scalar(operand);
      operands.push_back(nest.toStorage(value, getElementTypeOrSelf(value)));
    }
    Value value = nest.makeHere<LLVM::CallOp>(declared, operands).getResult();
    value = nest.fromStorage(value, getElementTypeOrSelf(op.getResult().getType()));
    if (resultType)
      nest.store(value, storage(op.getResult()), point);
    else
      scalars.map(op.getResult(), value);
  });
  return success();
}
