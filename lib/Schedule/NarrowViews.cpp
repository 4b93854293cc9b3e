// NarrowViews.h: the same view with another extent.
#include "NarrowViews.h"
#include "Decisions.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

Value kiln::endViewAt(OpBuilder &builder, Location loc, Value view, int64_t dim, Value end) {
  auto type = cast<ViewType>(view.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = ShapedType::kDynamic;
  auto narrow = ViewType::get(type.getContext(), shape, type.getElementType(), type.getStrides());
  SmallVector<Value> extents, strides;
  for (int64_t at = 0; at < type.getRank(); ++at) {
    if (narrow.isDynamicDim(at))
      extents.push_back(DimOp::create(builder, loc, builder.getIndexType(), view, uint64_t(at)));
    if (at == dim)
      extents.back() = arith::MinSIOp::create(builder, loc, extents.back(), end);
    if (type.isDynamicStride(at))
      strides.push_back(StrideOp::create(builder, loc, builder.getIndexType(), view, uint64_t(at)));
  }
  Value start = arith::ConstantIndexOp::create(builder, loc, 0);
  return SubviewOp::create(builder, loc, narrow, view, start, extents, strides);
}

Value kiln::narrowView(OpBuilder &builder, Location loc, Value view, int64_t dim, Value offset,
                       int64_t extent) {
  IndexMath math{builder, loc};
  return endViewAt(builder, loc, view, dim, math.add(offset, math.constant(extent)));
}
