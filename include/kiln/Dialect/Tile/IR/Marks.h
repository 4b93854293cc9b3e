// What is said of modules, kernels and functions beside decisions: by whom they are compiled, what
// they became so far, and what a later stage must know of them.
#ifndef KILN_DIALECT_TILE_IR_MARKS_H
#define KILN_DIALECT_TILE_IR_MARKS_H

#include "mlir/IR/Diagnostics.h"

namespace kiln::tile {

// Of a module.

/// What it is compiled for.
inline constexpr llvm::StringLiteral kTargetAttrName = "tile.target";
/// A dictionary that passes fill with what the runtime must know of the compiled kernel; it becomes
/// members of the artifact's metadata.
inline constexpr llvm::StringLiteral kMetadataAttrName = "tile.metadata";
/// The stage that it was written behind, to go on from.
inline constexpr llvm::StringLiteral kEmittedAttrName = "tile.emitted";
/// Its kernel may take subnormals of f32 for zeros. What else it may do is on its ops, as the flags
/// of LLVM.
inline constexpr llvm::StringLiteral kFlushAttrName = "tile.flush_subnormals";

// Of a kernel, or of the function that it becomes.

/// What a tuner chose.
inline constexpr llvm::StringLiteral kTunablesAttrName = "tile.tunables";
/// It makes pointers of integers.
inline constexpr llvm::StringLiteral kAnyMemoryAttrName = "tile.any_memory";
/// Its mathematics is the vendor's library's, where that is found, and not Kiln's own.
inline constexpr llvm::StringLiteral kVendorMathAttrName = "tile.vendor_math";

// Of functions, their parameters and their ops.

/// A library defines the function: a dictionary of "library", its path, its "hash" and "symbol",
/// what it calls the function.
inline constexpr llvm::StringLiteral kForeignAttrName = "tile.foreign";
/// The parameter holds a map of a view, for engines that copy.
inline constexpr llvm::StringLiteral kTensorMapAttrName = "tile.tensor_map";
/// The gpu.barrier orders accesses to global memory too; others need not.
inline constexpr llvm::StringLiteral kOrdersGlobalAttrName = "tile.orders_global";
/// The failure of the cf.assert ends the whole launch; it ends a program otherwise.
inline constexpr llvm::StringLiteral kTrapsAttrName = "tile.traps";

/// The error that an attribute means nothing of an op. Dialects report it of what they do not know
/// and has their name.
mlir::InFlightDiagnostic refuseMeaningless(mlir::Operation *op, llvm::StringRef attribute);

} // namespace kiln::tile

#endif // KILN_DIALECT_TILE_IR_MARKS_H
