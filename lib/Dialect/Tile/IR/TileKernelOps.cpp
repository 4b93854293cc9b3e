// The kernel's two regions, its grid and the queries of a program's position.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace mlir;
using namespace kiln::tile;

//===- KernelOp -----------------------------------------------------------------------------===//

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
  SmallVector<Attribute> attributes = llvm::map_to_vector(
      arguments, [](const OpAsmParser::Argument &argument) -> Attribute { return argument.attrs; });
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
    printer.printRegionArgument(argument,
                                getArgumentAttributes(argument.getArgNumber()).getValue());
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

DictionaryAttr KernelOp::getArgumentAttributes(unsigned index) {
  if (std::optional<ArrayAttr> attributes = getArgAttrs())
    return cast<DictionaryAttr>((*attributes)[index]);
  return DictionaryAttr::get(getContext());
}

FactsAttr KernelOp::getFacts(unsigned index) {
  return getArgumentAttributes(index).getAs<FactsAttr>(kFactsAttrName);
}

LogicalResult KernelOp::verify() {
  if (getFunctionType().getNumResults() != 0)
    return emitOpError("expected no results, got ") << getFunctionType().getNumResults();
  if (!llvm::equal(getBody().getArgumentTypes(), getArgumentTypes()))
    return emitOpError("expected the body to take the kernel's arguments");
  if (getArgAttrs() && getArgAttrs()->size() != getNumArguments())
    return emitOpError("expected ") << getNumArguments() << " dictionaries of argument attributes, "
                                    << "got " << getArgAttrs()->size();
  for (auto [index, type] : llvm::enumerate(getArgumentTypes()))
    if (!isa<ViewType, PointerType, FloatType, IndexType>(type) && !type.isSignlessInteger())
      return emitOpError("expected views, pointers and scalars as arguments, got ")
             << type << " as argument " << index;
  if (!hasGrid())
    return success();
  if (!llvm::hasSingleElement(getGrid()))
    return emitOpError("expected one block in the grid region");
  if (!llvm::equal(getGrid().getArgumentTypes(), getArgumentTypes()))
    return emitOpError("expected the grid region to take the kernel's arguments");
  if (getGrid().front().empty() || !isa<GridOp>(getGrid().front().back()))
    return emitOpError("expected the grid region to end in tile.grid");
  return success();
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
