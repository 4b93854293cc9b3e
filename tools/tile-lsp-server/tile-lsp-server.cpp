// Speaks the Language Server Protocol over standard input and output, so that an editor shows
// errors, types, definitions and uses in .mlir files of any stage.
#include "kiln/Pipeline/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LLVM.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  kiln::registerAllDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
