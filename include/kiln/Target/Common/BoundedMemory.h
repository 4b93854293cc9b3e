// Memory behind descriptors that know its size, for targets that have them.
#ifndef KILN_TARGET_COMMON_BOUNDEDMEMORY_H
#define KILN_TARGET_COMMON_BOUNDEDMEMORY_H

#include "kiln/Target/Common/CacheHints.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/Builders.h"

#include "kiln/Target/Common/BoundedMemory.h.inc"

#endif // KILN_TARGET_COMMON_BOUNDEDMEMORY_H
