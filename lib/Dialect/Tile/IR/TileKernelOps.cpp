// The kernel's two regions, its grid and the queries of a program's position.
#include "Checks.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace kiln::tile;

//===- KernelOp -----------------------------------------------------------------------------===//

/// Whether the text can show a name as that of an SSA value: `%name`.
static bool isArgumentName(StringRef name) {
  return !name.empty() && !llvm::isDigit(name.front()) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

/// The attributes of a parsed argument, its name among them.
static DictionaryAttr nameArgument(const OpAsmParser::Argument &argument, Builder &builder) {
  NamedAttrList attributes(argument.attrs);
  StringRef name = argument.ssaName.name.drop_front(); // the percent sign
  if (isArgumentName(name) && !attributes.get(kNameAttrName))
    attributes.set(kNameAttrName, builder.getStringAttr(name));
  return attributes.getDictionary(builder.getContext());
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  if (parser.parseSymbolName(name, getSymNameAttrName(result.name), result.attributes) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren, /*allowType=*/true,
                               /*allowAttrs=*/true) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();

  SmallVector<Type> types;
  for (const OpAsmParser::Argument &argument : arguments)
    types.push_back(argument.type);
  Builder &builder = parser.getBuilder();
  result.addAttribute(getFunctionTypeAttrName(result.name),
                      TypeAttr::get(builder.getFunctionType(types, {})));
  SmallVector<Attribute> attributes =
      llvm::map_to_vector(arguments, [&](const OpAsmParser::Argument &argument) -> Attribute {
        return nameArgument(argument, builder);
      });
  if (llvm::any_of(attributes, [](Attribute dict) { return !cast<DictionaryAttr>(dict).empty(); }))
    result.addAttribute(getArgAttrsAttrName(result.name), builder.getArrayAttr(attributes));

  // The body is region 0, as functions have it; the text puts the grid first.
  Region *body = result.addRegion();
  Region *grid = result.addRegion();
  if (succeeded(parser.parseOptionalKeyword("grid")) && parser.parseRegion(*grid, arguments))
    return failure();
  return parser.parseRegion(*body, arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  for (BlockArgument argument : getBody().getArguments()) {
    if (argument.getArgNumber() > 0)
      printer << ", ";
    SmallVector<NamedAttribute> attributes(
        getArgumentAttributes(argument.getArgNumber()).getValue());
    llvm::erase_if(attributes, [](NamedAttribute attribute) {
      auto name = dyn_cast<StringAttr>(attribute.getValue());
      return attribute.getName() == kNameAttrName && name && isArgumentName(name);
    });
    printer.printRegionArgument(argument, attributes);
  }
  printer << ')';
  printer.printOptionalAttrDictWithKeyword(
      (*this)->getAttrs(),
      {getSymNameAttrName(), getFunctionTypeAttrName(), getArgAttrsAttrName()});
  if (hasGrid()) {
    printer << " grid ";
    printer.shadowRegionArgs(getGrid(), getBody().getArguments());
    printer.printRegion(getGrid(), /*printEntryBlockArgs=*/false);
  }
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

void KernelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    if (auto name = getArgumentAttributes(argument.getArgNumber()).getAs<StringAttr>(kNameAttrName))
      if (isArgumentName(name))
        setName(argument, name);
}

DictionaryAttr KernelOp::getArgumentAttributes(unsigned index) {
  if (std::optional<ArrayAttr> attributes = getArgAttrs())
    return cast<DictionaryAttr>((*attributes)[index]);
  return DictionaryAttr::get(getContext());
}

FactsAttr KernelOp::getFacts(unsigned index) {
  return getArgumentAttributes(index).getAs<FactsAttr>(kFactsAttrName);
}

/// Facts say only what means something of an argument of this type.
static LogicalResult verifyFacts(KernelOp kernel, unsigned index, Type type, Attribute attribute) {
  auto facts = dyn_cast<FactsAttr>(attribute);
  if (!facts)
    return kernel.emitOpError("expected #tile.facts as facts of argument ")
           << index << ", got " << attribute;
  auto view = dyn_cast<ViewType>(type);
  size_t rank = view ? view.getRank() : 0;
  if ((!facts.getStrides().empty() && facts.getStrides().size() != rank) ||
      (!facts.getExtents().empty() && facts.getExtents().size() != rank))
    return kernel.emitOpError("expected facts of ")
           << rank << " strides and extents of argument " << index << ", got " << facts;
  bool isMemory = isa<ViewType, PointerType>(type);
  bool saysMemory = facts.getPointer() || facts.getIndex32() || facts.getNoalias();
  if ((saysMemory && !isMemory) || (facts.getDivisor() && !type.isIntOrIndex()))
    return kernel.emitOpError("expected facts that a value of type ")
           << type << " can have of argument " << index << ", got " << facts;
  return success();
}

/// What the dialect says of an argument: no decision, since these stand on ops.
static constexpr StringLiteral kOfArguments[] = {kNameAttrName, kFactsAttrName, kWorkspaceAttrName,
                                                 kCounterAttrName, kGridExtentAttrName};

LogicalResult KernelOp::verify() {
  if (getSymName().empty())
    return emitOpError("expected a name");
  if (getFunctionType().getNumResults() != 0)
    return emitOpError("expected no results, got ") << getFunctionType().getNumResults();
  if (!llvm::equal(getBody().getArgumentTypes(), getArgumentTypes()))
    return emitOpError("expected the body to take the kernel's arguments");
  if (getArgAttrs() && getArgAttrs()->size() != getNumArguments())
    return emitOpError("expected ") << getNumArguments() << " dictionaries of argument attributes, "
                                    << "got " << getArgAttrs()->size();
  for (auto [index, type] : llvm::enumerate(getArgumentTypes())) {
    if (!isa<ViewType, PointerType>(type) && !isElementType(type))
      return emitOpError("expected views, pointers and scalars as arguments, got ")
             << type << " as argument " << index;
    if (isa<FloatTF32Type>(type))
      return emitOpError("expected scalar arguments that memory can hold, got ")
             << type << " as argument " << index;
    for (NamedAttribute attribute : getArgumentAttributes(index)) {
      StringRef name = attribute.getName();
      bool isForeign = name.contains('.') && !name.starts_with("tile.");
      if (!isForeign && !llvm::is_contained(kOfArguments, name))
        return emitOpError("expected attributes that mean something of argument ")
               << index << ", got '" << name << "'";
      Dialect *dialect = isForeign ? attribute.getNameDialect() : nullptr;
      if (dialect &&
          failed(dialect->verifyRegionArgAttribute(*this, /*regionIndex=*/0, index, attribute)))
        return failure();
    }
    Attribute facts = getArgumentAttributes(index).get(kFactsAttrName);
    if (facts && failed(verifyFacts(*this, index, type, facts)))
      return failure();
  }
  if (hasGrid() && !llvm::equal(getGrid().getArgumentTypes(), getArgumentTypes()))
    return emitOpError("expected the grid region to take the kernel's arguments");
  return verifyHidden(*this);
}

/// Whether an op may run on the host, before any program does.
static bool mayComputeGrid(Operation *op) {
  if (!isa_and_nonnull<TileDialect>(op->getDialect()) || isa<AssumeOp>(op))
    return true;
  return !isa<ProgramIdOp, NumProgramsOp, InlineAsmOp, ExternCallOp>(op) &&
         (isMemoryEffectFree(op) || op->getNumRegions() > 0);
}

LogicalResult KernelOp::verifyRegions() {
  if (!isa<ReturnOp>(getBody().front().back()))
    return emitOpError("expected the body to end in tile.return");
  if (!hasGrid())
    return success();
  if (!isa<GridOp>(getGrid().front().back()))
    return emitOpError("expected the grid region to end in tile.grid");
  WalkResult result = getGrid().walk([](Operation *op) -> WalkResult {
    if (mayComputeGrid(op))
      return WalkResult::advance();
    return op->emitOpError("expected no access to memory, no program's position and no foreign "
                           "code in a grid region");
  });
  return failure(result.wasInterrupted());
}

//===- GridOp -------------------------------------------------------------------------------===//

LogicalResult GridOp::verify() {
  if (getExtents().empty() || getExtents().size() > 3)
    return emitOpError("expected one to three extents, got ") << getExtents().size();
  if ((*this)->getParentRegion() != &(*this)->getParentOfType<KernelOp>().getGrid())
    return emitOpError("expected to end the grid region, not the body");
  return success();
}

//===- ProgramIdOp, NumProgramsOp -----------------------------------------------------------===//

/// No chip launches more than 2^31 - 1 programs along an axis.
static ConstantIntRanges programRange(int64_t lowest, int64_t highest) {
  return ConstantIntRanges::fromSigned(APInt(64, lowest), APInt(64, highest));
}

void ProgramIdOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setResultRange) {
  setResultRange(getResult(), programRange(0, INT32_MAX - 1));
}

void NumProgramsOp::inferResultRanges(ArrayRef<ConstantIntRanges>, SetIntRangeFn setResultRange) {
  setResultRange(getResult(), programRange(1, INT32_MAX));
}
