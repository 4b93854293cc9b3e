// The cpu dialect: the target attribute and the few ops between tiles and LLVM.
#ifndef KILN_TARGET_CPU_CPU_H
#define KILN_TARGET_CPU_CPU_H

#include "kiln/Target/TargetInterface.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "kiln/Target/CPU/CPUDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "kiln/Target/CPU/CPUAttrs.h.inc"

#define GET_OP_CLASSES
#include "kiln/Target/CPU/CPUOps.h.inc"

#endif // KILN_TARGET_CPU_CPU_H
