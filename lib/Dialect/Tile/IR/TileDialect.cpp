// Registers what the tile dialect is made of.
#include "Checks.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln::tile;

#include "kiln/Dialect/Tile/IR/TileDialect.cpp.inc"
#include "kiln/Dialect/Tile/IR/TileEnums.cpp.inc"

#define GET_OP_CLASSES
#include "kiln/Dialect/Tile/IR/TileOps.cpp.inc"

void TileDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "kiln/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}

/// The dialect's attributes on ops of any dialect: each stands where it means something.
LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == kFactsAttrName)
    return op->emitError() << "expected '" << name << "' on an argument of a kernel";
  if (name == kTargetAttrName && !isa<ModuleOp>(op))
    return op->emitError() << "expected '" << name << "' on a module";
  if (name != kTunablesAttrName)
    return verifyDecision(op, name, attribute.getValue());
  auto tunables = dyn_cast<ArrayAttr>(attribute.getValue());
  if (isa<KernelOp>(op) && tunables && llvm::all_of(tunables, llvm::IsaPred<TunableAttr>))
    return success();
  return op->emitError() << "expected '" << name << "' on a kernel, as an array of #tile.tunable";
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
