// How a kernel's arguments flatten to parameters, the same on every target.
//
// A view becomes a pointer, then one extent for each `?` of its shape, then one stride (in
// elements) for each `?` of its strides; a pointer and a scalar stay themselves. Extents and
// strides are i64, index is i64, i1 is i8. What a target hides behind the last one (workspaces,
// counters) it adds to the module's metadata.
#ifndef KILN_TARGET_COMMON_ABI_H
#define KILN_TARGET_COMMON_ABI_H

#include "kiln/Dialect/Tile/IR/Marks.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "llvm/Support/JSON.h"

namespace kiln {

struct Parameter {
  enum class Kind { Pointer, Extent, Stride, Scalar };
  Kind kind;
  /// The kernel's argument, and the dimension of an extent or stride.
  unsigned argument;
  unsigned dim;
  /// What the kernel sees: an element type behind a pointer, i64, or the scalar's type.
  mlir::Type type;
};

/// The parameters of all arguments, in order.
llvm::SmallVector<Parameter> getParameters(tile::KernelOp kernel);

/// A type as the metadata spells it: "f32", "i64", "f8E4M3FN".
std::string spellType(mlir::Type type);

/// The metadata's "abi" and "arguments" of what a caller gives, as kiln-c/Artifact.h describes
/// them. An argument says "written" if the kernel stores to it, and takes its name from its
/// `tile.name` attribute.
llvm::json::Array describeParameters(tile::KernelOp kernel);
llvm::json::Array describeArguments(tile::KernelOp kernel);
/// The entries of "abi" for the arguments that a launch makes, which come next.
llvm::SmallVector<mlir::Attribute> describeHidden(tile::KernelOp kernel);

using tile::kMetadataAttrName;

/// The member that lists, as "abi" does, the parameters that a target put behind the source's.
inline constexpr llvm::StringLiteral kHiddenParametersName = "hidden_parameters";

/// The member that tells by which protocol warps hand data to one another
/// (kiln/Support/Protocol.h).
inline constexpr llvm::StringLiteral kProtocolName = "protocol";
/// The same as text, for who reads the final code; empty if nothing is declared.
std::string spellProtocol(mlir::Operation *module);

/// Sets one member of the metadata of `op`'s module.
void setMetadata(mlir::Operation *op, llvm::StringRef name, mlir::Attribute value);

/// An attribute of the metadata as JSON: integers, floats, booleans, strings, arrays of them,
/// dictionaries, and `unit` for null.
llvm::json::Value toJSON(mlir::Attribute value);

} // namespace kiln

#endif // KILN_TARGET_COMMON_ABI_H
