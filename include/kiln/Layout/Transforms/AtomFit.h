// Whether an instruction can do what an op is for, by what is known before layouts are decided.
#ifndef KILN_LAYOUT_TRANSFORMS_ATOMFIT_H
#define KILN_LAYOUT_TRANSFORMS_ATOMFIT_H

#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/TargetInterface.h"
#include <array>
#include <optional>
#include <string>

namespace kiln {

/// Why an instruction cannot make a product, copy what a load brings or what a store takes, by
/// types, extents and what facts say of a view: one phrase without a full stop; none if it can. The
/// same for one that a source names and for one that it gives as an attribute.
std::optional<std::string> whyUnfit(mlir::Operation *op, mlir::Attribute atom,
                                    TargetInterface target);

/// Whether the instruction that is said of a scaled product starts it, or else any of the target's.
bool canBeStarted(tile::DotScaledOp dot, TargetInterface target);

/// Into how many parts a dot is cut along m, n and k.
std::array<int64_t, 3> countParts(tile::DotOp dot);

/// The instruction that `find` has for the columns of a dot's part, of so many in all; if it has
/// none, that for all of them.
mlir::Attribute findForParts(tile::DotOp dot, int64_t columns,
                             llvm::function_ref<mlir::Attribute(int64_t)> find);

/// The name of an instruction without that of its dialect; with another ending where programs of a
/// cluster multiply by it together.
std::string getAtomName(mlir::Attribute atom);

/// What a scaled product's operand is as an engine brings it: itself, or of elements of four bits
/// the bytes, two along k in each, of which it is a bitcast. Null if these are none.
mlir::Value findStored(mlir::Value operand);

/// The order of a view's dimensions in which a load that a copy instruction makes shall see it, so
/// that its rows come last; empty if it sees them as they are. Nothing may be decided of the tile
/// that says how it lies.
llvm::SmallVector<int64_t> findTurn(tile::LoadOp load);

} // namespace kiln

#endif // KILN_LAYOUT_TRANSFORMS_ATOMFIT_H
