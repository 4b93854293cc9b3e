// Parses and prints a function over a view with the installed dialect.
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

int main() {
  mlir::DialectRegistry registry;
  registry.insert<kiln::tile::TileDialect, mlir::func::FuncDialect>();
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(
      "func.func private @f(!tile.view<?x4xf32>)", &context);
  if (!module)
    return 1;
  module->print(llvm::outs());
  return 0;
}
