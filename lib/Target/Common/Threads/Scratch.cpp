// Scratch in shared memory, element by element: what ops need that move elements where no linear
// map does.
#include "ThreadLowering.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

int64_t kiln::getScratchBytes(Operation *op) {
  auto bytesOf = [](Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return type.getNumElements() * int64_t(getSharedElementBytes(type.getElementType()));
  };
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return getReduceBytes(reduce);
  if (auto scan = dyn_cast<ScanOp>(op))
    return getScanBytes(scan);
  if (isa<SortOp, TopKOp>(op))
    return getSortBytes(op);
  if (auto assertion = dyn_cast<AssertOp>(op))
    return getAssertBytes(assertion);
  if (isa<AtomicRMWOp, AtomicCASOp>(op))
    return getAtomicBytes(op);
  if (auto slice = dyn_cast<SliceOp>(op); slice && isOwnSlice(slice))
    return 0;
  if (auto concat = dyn_cast<ConcatOp>(op); concat && isOwnConcat(concat))
    return 0;
  if (isa<JoinOp, SplitOp>(op) && isOwnPair(op))
    return 0;
  if (isa<SliceOp, SplitOp, TakeOp>(op))
    return bytesOf(op->getOperand(0));
  if (isa<ConcatOp, JoinOp, HistogramOp>(op))
    return bytesOf(op->getResult(0));
  if (auto bitcast = dyn_cast<BitcastOp>(op))
    return bitcast.keepsElements() ? 0 : bytesOf(bitcast.getInput());
  if (auto store = dyn_cast<StoreOp>(op))
    return sharesByte(store.getValue().getType().getElementType()) && !storesWholeBytes(store)
               ? bytesOf(store.getValue())
               : 0;
  return 0;
}

int64_t kiln::getRoleScratchStep(Operation *op) {
  return llvm::alignTo(getScratchBytes(op), kEngineAlignment);
}

SmallVector<int64_t> kiln::getStrides(ArrayRef<int64_t> shape, int64_t axis) {
  SmallVector<int64_t> strides(shape.size(), 1);
  int64_t stride = axis < 0 ? 1 : shape[axis];
  for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
    if (dim == axis)
      continue;
    strides[dim] = stride;
    stride *= shape[dim];
  }
  return strides;
}

static Value getScratchPointer(OpBuilder &builder, Location loc, Value base, Value at,
                               Type stored) {
  return LLVM::GEPOp::create(builder, loc, base.getType(), stored, base,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(at)});
}

Value ThreadLowering::loadScratch(Value base, Value at, Type element) {
  Type stored = getSharedType(element);
  Value value =
      LLVM::LoadOp::create(builder, loc, stored, getScratchPointer(builder, loc, base, at, stored),
                           getSharedElementBytes(element));
  return fromShared(builder, loc, value, element);
}

void ThreadLowering::storeScratch(Value base, Value at, Value element) {
  Type stored = getSharedType(element.getType());
  LLVM::StoreOp::create(builder, loc, toShared(builder, loc, element),
                        getScratchPointer(builder, loc, base, at, stored),
                        getSharedElementBytes(element.getType()));
}

Value ThreadLowering::offsetScratch(Value base, int64_t bytes) {
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(bytes))});
}

Value ThreadLowering::getFlatIndex(const Place &place, int64_t reg, ArrayRef<int64_t> strides,
                                   int64_t start) {
  Value sum = index(start);
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    if (stride == 0)
      continue;
    Value at = getCoordinate(place, dim, reg);
    if (stride != 1)
      at = arith::MulIOp::create(builder, loc, at, index(stride));
    sum = arith::AddIOp::create(builder, loc, sum, at);
  }
  return arith::IndexCastOp::create(builder, loc, builder.getI32Type(), sum);
}

void ThreadLowering::scatterScratch(Value base, Value tensor, ArrayRef<int64_t> strides,
                                    int64_t start) {
  Place place = getPlace(getLayout(tensor));
  for (auto [reg, element] : llvm::enumerate(getElements(tensor)))
    storeScratch(base, getFlatIndex(place, reg, strides, start), element);
}

SmallVector<Value> ThreadLowering::gatherScratch(Value base, const LinearLayout &layout,
                                                 ArrayRef<int64_t> strides, int64_t start,
                                                 Type element) {
  Place place = getPlace(layout);
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); ++reg)
    elements.push_back(loadScratch(base, getFlatIndex(place, reg, strides, start), element));
  return elements;
}

Value ThreadLowering::getThread() {
  Value first = arith::MulIOp::create(builder, loc, warp, i32(chip.warpSize));
  return arith::AddIOp::create(builder, loc, first, lane);
}

void ThreadLowering::forShare(int64_t count, llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(builder, loc, getThread(), i32(count), i32(warps * chip.warpSize));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
}

void ThreadLowering::when(Value guard, llvm::function_ref<void()> body) {
  OpBuilder::InsertionGuard insertion(builder);
  if (guard) {
    auto branch = scf::IfOp::create(builder, loc, guard, /*withElseRegion=*/false);
    builder.setInsertionPointToStart(&branch.getThenRegion().front());
  }
  body();
}

Value ThreadLowering::both(Value left, Value right) {
  if (!left || !right)
    return left ? left : right;
  return arith::AndIOp::create(builder, loc, left, right);
}

Value ThreadLowering::isWithinTile(const Place &place, int64_t reg, ArrayRef<int64_t> extents) {
  Value within;
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (extent < place.layout.getShape()[dim])
      within = both(within, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                                  getCoordinate(place, dim, reg), index(extent)));
  return within;
}
