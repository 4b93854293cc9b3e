// Functions of libraries of bitcode: found when a call is lowered, linked when the module is made
// code.
#ifndef KILN_TARGET_COMMON_FOREIGNCALLS_H
#define KILN_TARGET_COMMON_FOREIGNCALLS_H

#include "kiln/Dialect/Tile/IR/Marks.h"
#include "kiln/Target/Common/ForeignTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/Error.h"

namespace kiln {

using tile::kForeignAttrName;
using tile::kVendorMathAttrName;

/// The member of the metadata that lists the libraries which went into the code: "path" and "hash".
inline constexpr llvm::StringLiteral kLibrariesName = "libraries";

struct ForeignFunction {
  std::string library, hash, symbol;
  /// Of scalars: integers and floats of the builtin dialect.
  mlir::FunctionType type;
};

/// Finds a function in a library, given by its path, or in the vendor's (an empty path). The error
/// says what was looked for and where.
llvm::Expected<ForeignFunction> findForeign(mlir::MLIRContext *context,
                                            ForeignTargetInterface target, llvm::StringRef library,
                                            llvm::StringRef symbol);

/// Declares the function, once, under a name that no other library's has.
mlir::func::FuncOp declareForeign(mlir::ModuleOp module, mlir::Location loc,
                                  const ForeignFunction &function);

/// Math ops of f64 and f32 as calls into the vendor's library; those that it lacks stay.
void populateCallVendorMathPatterns(mlir::RewritePatternSet &patterns,
                                    ForeignTargetInterface target);

/// Links all that `source` declares of libraries into the code that it became, with what those need
/// of the vendor's, and says in the metadata what went in. Errors are at the calls' lines.
mlir::LogicalResult linkForeign(mlir::ModuleOp source, llvm::Module &code,
                                ForeignTargetInterface target);

} // namespace kiln

#endif // KILN_TARGET_COMMON_FOREIGNCALLS_H
