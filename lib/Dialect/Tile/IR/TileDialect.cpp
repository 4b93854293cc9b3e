// Registers what the tile dialect is made of.
#include "Checks.h"
#include "kiln/Dialect/Tile/IR/Marks.h"
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
  return isMark(name) ? verifyMark(op, name, attribute.getValue())
                      : verifyDecision(op, name, attribute.getValue());
}

/// On the parameters of functions that kernels have become; a kernel looks at its own.
LogicalResult TileDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argument,
                                                    NamedAttribute attribute) {
  if (isa<KernelOp>(op) || attribute.getName() == kTensorMapAttrName)
    return success();
  return refuseMeaningless(op, attribute.getName()) << " on argument " << argument;
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}
