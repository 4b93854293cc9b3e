// The amdgcn dialect.
#ifndef KILN_TARGET_AMDGPU_AMDGPU_H
#define KILN_TARGET_AMDGPU_AMDGPU_H

#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/WarpCopyAtomInterface.h"
#include "kiln/Layout/Transforms/WarpMmaAtomInterface.h"
#include "kiln/Target/Common/BoundedMemory.h"
#include "kiln/Target/Common/CacheHints.h"
#include "kiln/Target/Common/ForeignTarget.h"
#include "kiln/Target/Common/Synchronisation.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"

#include "kiln/Target/AMDGPU/AMDGPUDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "kiln/Target/AMDGPU/AMDGPUAttrs.h.inc"

namespace kiln::amdgcn {

/// ROCm's libraries of device functions.
VendorLibrary findDeviceLibraries();

llvm::ArrayRef<const Chip *> getChips();

/// The matrix instructions of a chip for these types, best first.
llvm::SmallVector<mlir::Attribute> getMatrixAtoms(llvm::StringRef chip, mlir::Type a, mlir::Type b,
                                                  mlir::Type accumulator);
/// The same with a scale for each block of a and b.
llvm::SmallVector<mlir::Attribute> getScaledMatrixAtoms(llvm::StringRef chip, mlir::Type a,
                                                        mlir::Type scaleA, mlir::Type b,
                                                        mlir::Type scaleB, mlir::Type accumulator);
/// The reads of LDS by which elements of a type change lanes.
llvm::SmallVector<mlir::Attribute> getTransposingReads(llvm::StringRef chip, mlir::Type element);

} // namespace kiln::amdgcn

#endif // KILN_TARGET_AMDGPU_AMDGPU_H
