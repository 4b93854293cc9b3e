// The interface by which targets say what their warps wait by.
#include "kiln/Target/Common/Synchronisation.h"

#include "kiln/Target/Common/Synchronisation.cpp.inc"

using namespace mlir;
using namespace kiln;

/// Of a lane in one column.
static constexpr int64_t kLaneBytes = 4;

int64_t kiln::getTensorSlotBytes(RankedTensorType tensor, SynchronisationInterface sync) {
  int64_t rows = llvm::alignTo(tensor.getDimSize(0), sync.getTensorColumnBytes() / kLaneBytes);
  return rows * tensor.getDimSize(1) * tensor.getElementTypeBitWidth() / 8;
}
