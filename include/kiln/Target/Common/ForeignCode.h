// Inline assembly, checked before LLVM sees it: it aborts over what it takes for granted.
#ifndef KILN_TARGET_COMMON_FOREIGNCODE_H
#define KILN_TARGET_COMMON_FOREIGNCODE_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include <optional>
#include <string>

namespace kiln {

/// Whether text and constraints are such that LLVM can read them, for as many operands and results
/// as the op has, and the text stays in the kernel's section; an error at the op if not.
mlir::LogicalResult verifyInlineAsm(tile::InlineAsmOp op);

/// Why a target whose registers are named by these letters cannot take the op's constraints.
std::optional<std::string> whyForeignConstraints(tile::InlineAsmOp op, llvm::StringRef letters);

} // namespace kiln

#endif // KILN_TARGET_COMMON_FOREIGNCODE_H
