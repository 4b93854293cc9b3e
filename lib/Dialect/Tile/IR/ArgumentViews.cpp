// Arguments seen with their dimensions in another order.
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;

namespace kiln::tile {

/// The dimension of the argument that an extent or a stride is asked of; nothing if it is another
/// number.
template <typename Query>
static std::optional<int64_t> findDim(Value number, BlockArgument argument) {
  auto query = number.getDefiningOp<Query>();
  return query && query.getView() == argument ? std::optional<int64_t>(query.getDim())
                                              : std::nullopt;
}

std::optional<ArgumentView> findArgumentView(Value view) {
  auto type = cast<ViewType>(view.getType());
  if (auto argument = dyn_cast<BlockArgument>(view))
    return ArgumentView{argument, llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()))};
  auto part = view.getDefiningOp<SubviewOp>();
  auto argument = part ? dyn_cast<BlockArgument>(part.getView()) : BlockArgument();
  auto whole = argument ? cast<ViewType>(argument.getType()) : ViewType();
  if (!whole || !isConstantIntValue(part.getOffset(), 0) || whole.getRank() != type.getRank())
    return std::nullopt;
  ArgumentView found{argument, {}};
  SmallVector<bool> isTaken(type.getRank(), false);
  ValueRange extents = part.getExtents(), strides = part.getStrides();
  for (int64_t i = 0; i < type.getRank(); ++i) {
    std::optional<int64_t> extentDim, strideDim;
    if (type.isDynamicDim(i)) {
      extentDim = findDim<DimOp>(extents.front(), argument);
      extents = extents.drop_front();
      if (!extentDim)
        return std::nullopt;
    }
    if (type.isDynamicStride(i)) {
      strideDim = findDim<StrideOp>(strides.front(), argument);
      strides = strides.drop_front();
      if (!strideDim)
        return std::nullopt;
    }
    auto isIt = [&](int64_t dim) {
      return !isTaken[dim] && whole.getShape()[dim] == type.getShape()[i] &&
             whole.getStrides()[dim] == type.getStrides()[i] && extentDim.value_or(dim) == dim &&
             strideDim.value_or(dim) == dim;
    };
    auto dims = llvm::seq<int64_t>(0, type.getRank());
    auto dim = llvm::find_if(dims, isIt);
    if (dim == dims.end())
      return std::nullopt;
    isTaken[*dim] = true;
    found.dims.push_back(*dim);
  }
  return found;
}

SmallVector<int64_t> findRowOrder(ViewType type) {
  SmallVector<int64_t> order;
  int64_t last = -1;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.getStrides()[dim] == 1)
      last = dim;
  for (int64_t dim = 0; last >= 0 && dim < type.getRank(); ++dim)
    if (dim != last)
      order.push_back(dim);
  if (last >= 0)
    order.push_back(last);
  return order;
}

ViewType turnType(ViewType type, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape, strides;
  for (int64_t dim : dims) {
    shape.push_back(type.getShape()[dim]);
    strides.push_back(type.getStrides()[dim]);
  }
  return ViewType::get(type.getContext(), shape, type.getElementType(), strides);
}

FactsAttr turnFacts(FactsAttr facts, ArrayRef<int64_t> dims) {
  if (!facts)
    return facts;
  auto turn = [&](ArrayRef<int64_t> known) {
    SmallVector<int64_t> turned;
    for (int64_t dim : dims)
      turned.push_back(dim < int64_t(known.size()) ? known[dim] : 0);
    return turned;
  };
  return FactsAttr::get(facts.getContext(), facts.getPointer(), turn(facts.getStrides()),
                        turn(facts.getExtents()), facts.getIndex32(), facts.getNoalias(),
                        facts.getDivisor());
}

SubviewOp turnView(OpBuilder &builder, Location loc, BlockArgument argument,
                   ArrayRef<int64_t> dims) {
  auto type = cast<ViewType>(argument.getType());
  SmallVector<Value> extentValues, strideValues;
  for (int64_t dim : dims) {
    if (type.isDynamicDim(dim))
      extentValues.push_back(
          DimOp::create(builder, loc, builder.getIndexType(), argument, uint64_t(dim)));
    if (type.isDynamicStride(dim))
      strideValues.push_back(
          StrideOp::create(builder, loc, builder.getIndexType(), argument, uint64_t(dim)));
  }
  Value origin = arith::ConstantIndexOp::create(builder, loc, 0);
  return SubviewOp::create(builder, loc, turnType(type, dims), argument, origin, extentValues,
                           strideValues);
}

} // namespace kiln::tile
