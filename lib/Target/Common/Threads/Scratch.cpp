// Scratch in shared memory, element by element: what ops need that move elements where no linear
// map does.
#include "Scratch.h"
#include "SharedAccess.h"
#include "ThreadPlans.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

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

static Value getScratchPointer(ThreadContext &context, Value base, Value at, Type stored) {
  return LLVM::GEPOp::create(context, base.getType(), stored, base,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(at)});
}

Value kiln::loadScratch(ThreadContext &context, Value base, Value at, Type element) {
  Type stored = getSharedType(element);
  Value value = LLVM::LoadOp::create(context, stored, getScratchPointer(context, base, at, stored),
                                     getSharedElementBytes(element));
  return fromShared(context, value, element);
}

void kiln::storeScratch(ThreadContext &context, Value base, Value at, Value element) {
  Type stored = getSharedType(element.getType());
  LLVM::StoreOp::create(context, toShared(context, element),
                        getScratchPointer(context, base, at, stored),
                        getSharedElementBytes(element.getType()));
}

Value kiln::offsetScratch(ThreadContext &context, Value base, int64_t bytes) {
  return LLVM::GEPOp::create(context, base.getType(), context.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(bytes))});
}

Value kiln::getFlatIndex(ThreadContext &context, const ThreadPlace &place, int64_t reg,
                         ArrayRef<int64_t> strides, int64_t start) {
  Value sum = context.index(start);
  for (auto [dim, stride] : llvm::enumerate(strides)) {
    if (stride == 0)
      continue;
    Value at = context.getCoordinate(place, dim, reg);
    if (stride != 1)
      at = arith::MulIOp::create(context, at, context.index(stride));
    sum = arith::AddIOp::create(context, sum, at);
  }
  return arith::IndexCastOp::create(context, context.getI32Type(), sum);
}

void kiln::scatterScratch(ThreadContext &context, Value base, Value tensor,
                          ArrayRef<int64_t> strides, int64_t start) {
  ThreadPlace place = context.getPlace(getLayout(tensor));
  for (auto [reg, element] : llvm::enumerate(context.getElements(tensor)))
    storeScratch(context, base, getFlatIndex(context, place, reg, strides, start), element);
}

SmallVector<Value> kiln::gatherScratch(ThreadContext &context, Value base,
                                       const LinearLayout &layout, ArrayRef<int64_t> strides,
                                       int64_t start, Type element) {
  ThreadPlace place = context.getPlace(layout);
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); ++reg)
    elements.push_back(
        loadScratch(context, base, getFlatIndex(context, place, reg, strides, start), element));
  return elements;
}

void kiln::forShare(ThreadContext &context, int64_t count, llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(context, context.getThread(), context.i32(count),
                                 context.i32(context.getWarps() * context.chip.warpSize));
  OpBuilder::InsertionGuard guard(context);
  context.setInsertionPoint(loop.getBody()->getTerminator());
  body(loop.getInductionVar());
}

Value kiln::isWithinTile(ThreadContext &context, const ThreadPlace &place, int64_t reg,
                         ArrayRef<int64_t> extents) {
  Value within;
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (extent < place.layout.getShape()[dim])
      within = context.both(within, arith::CmpIOp::create(context, arith::CmpIPredicate::ult,
                                                          context.getCoordinate(place, dim, reg),
                                                          context.index(extent)));
  return within;
}
