// The generated half of the interfaces of asynchronous instructions.
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"

using namespace mlir;

#include "kiln/Layout/Transforms/AsyncAtomInterfaces.cpp.inc"
