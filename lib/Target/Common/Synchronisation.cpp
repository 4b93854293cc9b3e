// The interface by which targets say what their warps wait by.
#include "kiln/Target/Common/Synchronisation.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Target/Common/TensorColumns.h"

#include "kiln/Target/Common/Synchronisation.cpp.inc"

using namespace mlir;
using namespace kiln;

/// Of a lane in one column.
static constexpr int64_t kLaneBytes = 4;

/// The columns of a tensor of which every warp writes all, as of scales, where a column has
/// elements of one row; 0 of others.
static int64_t countColumnsOfAll(RankedTensorType tensor) {
  auto layout = dyn_cast_or_null<tile::LayoutAttr>(tensor.getEncoding());
  if (!layout)
    return 0;
  LinearLayout own = layout.toLinear(tensor.getShape());
  auto isZero = [](int64_t value) { return value == 0; };
  bool isWhole = own.getInBits(kWarp) > 0 &&
                 llvm::all_of(own.getBases(kWarp), [&](const LinearLayout::Basis &basis) {
                   return llvm::all_of(basis, isZero);
                 });
  int64_t together = kLaneBytes * 8 / int64_t(tensor.getElementTypeBitWidth());
  return isWhole ? own.getInSize(kRegister) / std::min(together, tensor.getDimSize(1)) : 0;
}

int64_t kiln::getTensorSlotBytes(RankedTensorType tensor, SynchronisationInterface sync) {
  if (int64_t columns = countColumnsOfAll(tensor))
    return columns * sync.getTensorColumnBytes();
  int64_t rows = llvm::alignTo(tensor.getDimSize(0), sync.getTensorColumnBytes() / kLaneBytes);
  return rows * tensor.getDimSize(1) * tensor.getElementTypeBitWidth() / 8;
}

int64_t kiln::alignTensorBytes(int64_t bytes, SynchronisationInterface sync) {
  return llvm::alignTo(bytes, sync.getTensorBytes(1));
}
