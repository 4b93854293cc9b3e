// Makes a view end where a tile does that copies of a role share out.
#include "NarrowViews.h"
#include "Decisions.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

Value kiln::narrowView(OpBuilder &builder, Location loc, Value view, int64_t dim, Value offset,
                       int64_t extent) {
  auto type = cast<ViewType>(view.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = ShapedType::kDynamic;
  auto narrow = ViewType::get(type.getContext(), shape, type.getElementType(), type.getStrides());
  IndexMath math{builder, loc};
  SmallVector<Value> extents, strides;
  for (int64_t at = 0; at < type.getRank(); ++at) {
    if (narrow.isDynamicDim(at))
      extents.push_back(DimOp::create(builder, loc, builder.getIndexType(), view, uint64_t(at)));
    if (at == dim)
      extents.back() = arith::MinSIOp::create(builder, loc, extents.back(),
                                              math.add(offset, math.constant(extent)));
    if (type.isDynamicStride(at))
      strides.push_back(StrideOp::create(builder, loc, builder.getIndexType(), view, uint64_t(at)));
  }
  return SubviewOp::create(builder, loc, narrow, view, math.constant(0), extents, strides);
}
