// The nvptx dialect.
#ifndef KILN_TARGET_NVPTX_NVPTX_H
#define KILN_TARGET_NVPTX_NVPTX_H

#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/WarpCopyAtomInterface.h"
#include "kiln/Layout/Transforms/WarpMmaAtomInterface.h"
#include "kiln/Target/Common/CacheHints.h"
#include "kiln/Target/Common/ForeignTarget.h"
#include "kiln/Target/Common/Synchronisation.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"

#include "kiln/Target/NVPTX/NVPTXDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "kiln/Target/NVPTX/NVPTXAttrs.h.inc"

namespace kiln::nvptx {

llvm::ArrayRef<const Chip *> getChips();

/// The instructions that a chip has for these types.
llvm::SmallVector<mlir::Attribute> getMmaSyncAtoms(llvm::StringRef chip, mlir::Type a, mlir::Type b,
                                                   mlir::Type accumulator);

/// The widest form of wgmma that multiplies a dot's operands, or each copy's share of them; null if
/// there is none.
mlir::Attribute getWgmmaAtom(tile::DotOp dot, const Chip &chip);

/// The same of tcgen05.
mlir::Attribute getTcgen05Atom(tile::DotOp dot);
/// The form of tcgen05 that multiplies a scaled dot's operands, whether or not its extents fit.
mlir::Attribute getTcgen05Atom(tile::DotScaledOp dot);
/// The form by which two programs multiply together, each with a tile of the dot's extents.
mlir::Attribute getTcgen05PairAtom(tile::DotOp dot);

/// NVIDIA's library of device functions.
VendorLibrary findLibdevice();

/// The instructions by which warps move elements of this type from shared memory, which every chip
/// has, and to it.
llvm::SmallVector<mlir::Attribute> getMatrixCopies(mlir::Type element, bool storesToo);

} // namespace kiln::nvptx

#endif // KILN_TARGET_NVPTX_NVPTX_H
