// Shares tensors out among the copies of a role, by the bits of `warp` above those of one copy, and
// what engines bring for it. A sum in tensor memory that goes to another role each copy hands to
// the copy of its own number there.
#include "CopyRealiser.h"
#include "NarrowViews.h"
#include "SumChannels.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kiln {
#define GEN_PASS_DEF_REALISECOPIES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

LogicalResult CopyRealiser::realise() {
  // Looks at all before it changes any.
  WalkResult looked = region.walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    for (Value value : op->getResults())
      if (failed(look(op, value)))
        return WalkResult::interrupt();
    for (Region &inner : op->getRegions())
      for (BlockArgument argument : inner.getArguments())
        if (failed(look(op, argument)))
          return WalkResult::interrupt();
    return success(succeeded(check(op)));
  });
  if (looked.wasInterrupted())
    return failure();
  if (parts.empty() && wholeAtomics.empty() && spreads.empty() && exchanges.empty() &&
      llvm::none_of(shares, [](const auto &entry) { return entry.second.dim >= 0; }))
    return success();
  OpBuilder builder = OpBuilder::atBlockBegin(&region.front());
  copy = CopyIdOp::create(builder, region.getLoc(), builder.getIndexType());
  SmallVector<Operation *> ops;
  region.walk([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops)
    shift(op);
  for (Operation *op : wholeAtomics)
    maskOthers(op);
  for (auto &[value, share] : shares)
    retype(value, share.type);
  for (ConvertLayoutOp op : spreads)
    spread(op);
  for (auto &[op, change] : exchanges)
    combiner.exchange(op, buffers.lookup(op), change, copy);
  for (Operation *op : across)
    combiner.combine(op, copy);
  // A copy's share of a tensor may lie otherwise in memory than the whole: that is decided anew.
  region.walk([&](ConvertLayoutOp op) {
    if (ConversionAttr how = op.getHowAttr();
        how && how.getKind() == ConversionKind::Memory && getDim(op) >= 0)
      op.removeHowAttr();
  });
  return success();
}

PartOp kiln::getWindow(Value operand) {
  return cast<BufferType>(operand.getType()).isWindow() ? operand.getDefiningOp<PartOp>()
                                                        : PartOp();
}

Value kiln::getAtomicTensor(Operation *op) {
  Value value = TypeSwitch<Operation *, Value>(op)
                    .Case<AtomicRMWOp, AtomicCASOp>([](auto atomic) { return atomic.getValue(); })
                    .Default(Value());
  return value && isa<RankedTensorType>(value.getType()) ? value : Value();
}

/// The first copy makes the access.
void CopyRealiser::maskOthers(Operation *atomic) {
  OpBuilder builder(atomic);
  Location loc = atomic->getLoc();
  Value value = getAtomicTensor(atomic);
  auto share = shares.find(value);
  auto type = share == shares.end() ? cast<RankedTensorType>(value.getType()) : share->second.type;
  type = type.clone(builder.getI1Type());
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, copy, zero);
  Value mask = SplatOp::create(builder, loc, type, isFirst);
  TypeSwitch<Operation *>(atomic).Case<AtomicRMWOp, AtomicCASOp>([&](auto op) {
    if (op.getMask())
      mask = arith::AndIOp::create(builder, loc, TypeRange{type}, ValueRange{op.getMask(), mask});
    op.getMaskMutable().assign(mask);
  });
}

void CopyRealiser::spread(ConvertLayoutOp op) {
  BufferType whole = buffers.lookup(op);
  Location loc = op.getLoc();
  OpBuilder entry = OpBuilder::atBlockBegin(&region.front()), builder(op);
  Value buffer = AllocOp::create(entry, loc, whole);
  auto meet = [&] {
    BarrierOp::create(builder, loc, /*publish=*/false, /*all_copies=*/false, /*global=*/false);
  };
  Value input = makeStored(builder, loc, op.getInput());
  meet();
  WriteOp::create(builder, loc, input, buffer, DenseI64ArrayAttr(), /*atom=*/Attribute());
  meet();
  Value part = getPart(builder, buffer, getDim(op.getResult()), op.getResult());
  auto type = cast<RankedTensorType>(op.getType());
  Value read = ReadOp::create(builder, loc, getStoredType(type), part, DenseI64ArrayAttr(),
                              /*atom=*/Attribute());
  op.getResult().replaceAllUsesWith(unmakeStored(builder, loc, read, type));
  op.erase();
}

/// This copy's part of an operand in shared memory. Of a window that is a window of its part.
Value CopyRealiser::getPart(OpBuilder &builder, Value operand, int dim, Value accumulator) {
  auto whole = cast<BufferType>(operand.getType());
  if (PartOp window = getWindow(operand)) {
    Value part = getPart(builder, window.getBuffer(), dim, accumulator);
    SmallVector<int64_t> shape(whole.getShape());
    shape[dim] = cast<BufferType>(part.getType()).getShape()[dim];
    return PartOp::create(builder, operand.getLoc(),
                          getWindowType(cast<BufferType>(part.getType()), shape), part,
                          window.getOffsets());
  }
  SmallVector<int64_t> shape(whole.getShape());
  const Share &share = shares.find(accumulator)->second;
  shape[dim] = share.type.getDimSize(share.dim);
  IndexMath math{builder, operand.getLoc()};
  SmallVector<Value> offsets(shape.size(), math.constant(0));
  offsets[dim] = getOffset(builder, accumulator);
  return PartOp::create(builder, operand.getLoc(), getWindowType(whole, shape), operand, offsets);
}

/// Counts from the copy's place on.
void CopyRealiser::shiftIota(IotaOp iota) {
  OpBuilder builder(iota->getContext());
  builder.setInsertionPointAfter(iota);
  Location loc = iota.getLoc();
  RankedTensorType type = shares.find(iota.getResult())->second.type;
  Value offset = getOffset(builder, iota.getResult());
  if (!type.getElementType().isIndex())
    offset = arith::IndexCastOp::create(builder, loc, type.getElementType(), offset);
  Value first = SplatOp::create(builder, loc, type, offset);
  auto sum = arith::AddIOp::create(builder, loc, TypeRange{type}, ValueRange{iota, first});
  iota.getResult().replaceAllUsesExcept(sum.getResult(), sum);
}

void CopyRealiser::shiftCopy(CopyInOp copyIn) {
  if (auto part = parts.find(copyIn); part != parts.end())
    takeParts(copyIn, part->second, copy);
}

/// Moves what an op reads or writes to the copy's place.
void CopyRealiser::shift(Operation *op) {
  if (auto copyIn = dyn_cast<CopyInOp>(op))
    return shiftCopy(copyIn);
  if (auto put = dyn_cast<PutOp>(op))
    return put.setBytes(put.getBytes() / role.getCopies());
  OpBuilder builder(op);
  auto moveOffset = [&](MutableOperandRange offsets, Value tensor,
                        std::optional<ArrayRef<int64_t>> dropped = {}) {
    int dim = getDim(tensor);
    if (dim < 0)
      return;
    IndexMath math{builder, op->getLoc()};
    OpOperand &offset = offsets[getViewDim(dim, dropped)];
    offset.set(math.add(offset.get(), getOffset(builder, tensor)));
  };
  // What a tile has grown by is at the end of it, with the last copies, for which the view ends.
  auto shareExtents = [&](auto access, Value tensor) {
    int dim = getDim(tensor);
    if (dim < 0 || !access.getExtents())
      return;
    SmallVector<int64_t> extents(*access.getExtents());
    int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
    int64_t own = shares.find(tensor)->second.type.getDimSize(dim);
    if (extents[dim] < size) {
      int64_t at = getViewDim(dim, access.getDropped());
      access.getViewMutable().set(narrowView(builder, op->getLoc(), access.getView(), at,
                                             access.getOffsets()[at], extents[dim]));
    }
    extents[dim] = own;
    access.setExtents(extents);
  };
  if (auto load = dyn_cast<LoadOp>(op)) {
    shareExtents(load, load.getResult());
    return moveOffset(load.getOffsetsMutable(), load.getResult(), load.getDropped());
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    shareExtents(store, store.getValue());
    return moveOffset(store.getOffsetsMutable(), store.getValue(), store.getDropped());
  }
  if (auto iota = dyn_cast<IotaOp>(op)) {
    if (getDim(iota.getResult()) == int(iota.getDim()))
      shiftIota(iota);
    return;
  }
  if (auto read = dyn_cast<ReadOp>(op)) {
    if (int dim = getDim(read.getResult()); dim >= 0)
      read.getBufferMutable().set(getPart(builder, read.getBuffer(), dim, read.getResult()));
    return;
  }
  if (auto write = dyn_cast<WriteOp>(op)) {
    if (int dim = getDim(write.getValue()); dim >= 0)
      write.getBufferMutable().set(getPart(builder, write.getBuffer(), dim, write.getValue()));
    return;
  }
  if (isa<DotOp, StartDotOp>(op)) {
    Value accumulator = op->getOperand(2);
    int dim = getDim(accumulator);
    if (dim < 0)
      return;
    bool isTransposed = op->hasAttr(dim == 0 ? "transpose_a" : "transpose_b");
    OpOperand &operand = op->getOpOperand(dim);
    if (isa<BufferType>(operand.get().getType()))
      operand.set(getPart(builder, operand.get(), isTransposed ? 1 - dim : dim, accumulator));
  }
}

void CopyRealiser::retype(Value value, RankedTensorType tensor) {
  auto pending = dyn_cast<PendingType>(value.getType());
  value.setType(pending ? Type(PendingType::get(tensor, pending.getInTensorMemory()))
                        : Type(tensor));
  auto constant = value.getDefiningOp<arith::ConstantOp>();
  if (auto elements = constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : nullptr)
    constant.setValueAttr(elements.resizeSplat(tensor));
}

/// Whether the copies of a role meet at all, without which none lags behind another.
static bool meets(Region &region) {
  return region
      .walk([](BarrierOp barrier) {
        return barrier.getAllCopies() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct RealiseCopies : kiln::impl::RealiseCopiesBase<RealiseCopies> {
  void runOnOperation() override {
    WalkResult result = getOperation().walk([](WarpGroupsOp groups) -> WalkResult {
      for (auto [i, region] : llvm::enumerate(groups.getBodies())) {
        RoleAttr role = groups.getRole(i);
        // Copies that take programs in turn share nothing out.
        if (role.getCopies() == 1 || takesTurns(groups->getParentOfType<KernelOp>(), role))
          continue;
        if (failed(CopyRealiser(groups, i).realise()))
          return WalkResult::interrupt();
        if (role.getSkew() && !meets(region)) {
          groups.emitOpError("expected a loop with '")
              << kDepthAttrName << "' in role \"" << role.getName() << "\", which has a skew";
          return WalkResult::interrupt();
        }
      }
      shareOutSlots(groups);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
