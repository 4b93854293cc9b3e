// Shares tensors out among the copies of a role, by the bits of `warp` above those of one copy, and
// what engines bring for it. A sum in tensor memory that goes to another role each copy hands to
// the copy of its own number there.
#include "AcrossCopies.h"
#include "Boxes.h"
#include "NarrowViews.h"
#include "SourceErrors.h"
#include "SumChannels.h"
#include "kiln/Dialect/Tile/IR/BareTypes.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/DistributionInterface.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/Common/SharedPieces.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

namespace kiln {
#define GEN_PASS_DEF_REALISECOPIES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// A tensor's type as one copy sees it.
struct Share {
  RankedTensorType type;
  /// The dimension that is shared out; -1 if each copy has all of it.
  int dim = -1;
};

/// Rewrites one role's region.
class CopyRealiser : public CopyShares {
public:
  CopyRealiser(WarpGroupsOp groups, unsigned number)
      : region(groups.getBodies()[number]), role(groups.getRole(number)), combiner(groups, number) {
  }

  LogicalResult realise() {
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
    for (ConvertLayoutOp op : exchanges)
      combiner.exchange(op, buffers.lookup(op), getChange(op), copy);
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

private:
  LogicalResult look(Operation *op, Value value);
  FailureOr<Share> divide(Operation *op, RankedTensorType tensor);
  LogicalResult check(Operation *op);
  bool keepsTogether(Value buffer, int dim, Value tensor, bool isOfProduct) const override;
  LogicalResult checkPut(PutOp put);
  void shift(Operation *op);
  void shiftCopy(CopyInOp copyIn);
  void shiftIota(IotaOp iota);
  void maskOthers(Operation *atomic);
  ShareChange getChange(ConvertLayoutOp op) const {
    return {getDim(op.getInput()), getDim(op.getResult()), role.getCopies()};
  }
  BufferType findBuffer(ConvertLayoutOp op);
  void spread(ConvertLayoutOp op);
  void retype(Value value, RankedTensorType tensor);
  int getDim(Value value) const override {
    auto at = shares.find(value);
    return at == shares.end() ? -1 : at->second.dim;
  }
  /// This copy's offset along the dimension that a value is shared out along.
  Value getOffset(OpBuilder &builder, Value value) {
    const Share &share = shares.find(value)->second;
    IndexMath math{builder, value.getLoc()};
    return math.mul(copy, math.constant(share.type.getDimSize(share.dim)));
  }
  Value getPart(OpBuilder &builder, Value operand, int dim, Value accumulator);

  Region &region;
  RoleAttr role;
  Value copy;
  llvm::MapVector<Value, Share> shares;
  /// Of what an engine brings: the part of one copy.
  DenseMap<Operation *, SharedStrips> parts;
  /// Atomic accesses by tensors of which each copy has all.
  SmallVector<Operation *> wholeAtomics;
  /// Conversions of what each copy has all of to what they share out.
  SmallVector<ConvertLayoutOp> spreads;
  /// Conversions of what they share out to what each has all of, or to what they share out along
  /// another dimension.
  SmallVector<ConvertLayoutOp> exchanges;
  /// Through which both go.
  DenseMap<Operation *, BufferType> buffers;
  /// Reductions and scans along what they share out.
  SmallVector<Operation *> across;
  CopyCombiner combiner;
};
} // namespace

FailureOr<Share> CopyRealiser::divide(Operation *op, RankedTensorType tensor) {
  auto layout = dyn_cast_or_null<LayoutAttr>(tensor.getEncoding());
  if (!layout)
    return op->emitOpError("expected a tensor with a layout in a role of several copies, got ")
           << tensor;
  LinearLayout whole = layout.toLinear(tensor.getShape());
  size_t ownBits = llvm::Log2_64_Ceil(role.getWarps());
  if (whole.getInBits("warp") <= ownBits)
    return Share{tensor, -1};
  size_t copyBits = whole.getInBits("warp") - ownBits;
  int dim = -1;
  SmallVector<int64_t> shape(tensor.getShape());
  SmallVector<LinearLayout::InDim> ins;
  bool isRegular = true;
  for (const LinearLayout::InDim &in : whole.getIns()) {
    ins.push_back({in.name, {}});
    for (auto [bit, basis] : llvm::enumerate(in.bases)) {
      if (in.name != "warp" || bit < ownBits) {
        ins.back().bases.push_back(basis);
        continue;
      }
      for (auto [at, value] : llvm::enumerate(basis)) {
        if (!value)
          continue;
        isRegular &= dim < 0 || dim == int(at);
        dim = at;
      }
    }
  }
  if (dim < 0) { // each copy holds all of it, as of a number that roles of other warps load, too
    std::optional<LinearLayout> own = LinearLayout::create(ins, getTensorOuts(shape));
    return Share{tensor.cloneWithEncoding(LayoutAttr::get(tensor.getContext(), *own)), -1};
  }
  if (copyBits != llvm::Log2_64_Ceil(role.getCopies()))
    return op->emitOpError("expected a layout of the ")
           << role.getTotalWarps() << " warps of role \"" << role.getName() << "\", got "
           << getBareType(tensor);
  // The bits of copies must be the highest of their dimension, in order.
  isRegular &= shape[dim] % role.getCopies() == 0;
  shape[dim] /= role.getCopies();
  for (auto [bit, basis] : llvm::enumerate(whole.getBases("warp").drop_front(ownBits)))
    isRegular &= basis[dim] == (shape[dim] << bit);
  std::optional<LinearLayout> own = LinearLayout::create(ins, getTensorOuts(shape));
  if (!isRegular || !own)
    return op->emitOpError("expected a layout by which each copy has consecutive rows or columns, "
                           "got ")
           << getBareType(tensor);
  return Share{RankedTensorType::get(shape, tensor.getElementType(),
                                     LayoutAttr::get(tensor.getContext(), *own)),
               dim};
}

LogicalResult CopyRealiser::look(Operation *op, Value value) {
  RankedTensorType tensor = dyn_cast<RankedTensorType>(value.getType());
  if (auto pending = dyn_cast<PendingType>(value.getType()))
    tensor = pending.getTensor();
  if (!tensor)
    return success();
  FailureOr<Share> share = divide(op, tensor);
  if (failed(share))
    return failure();
  if (share->type != tensor)
    shares[value] = *share;
  return success();
}

/// The part of a buffer that a dot reads as a window; null if it reads all that it is given.
static PartOp getWindow(Value operand) {
  return cast<BufferType>(operand.getType()).isWindow() ? operand.getDefiningOp<PartOp>()
                                                        : PartOp();
}

/// Whether each copy's share of a tensor is one piece of a buffer, or a product finds it in a
/// window.
bool CopyRealiser::keepsTogether(Value buffer, int dim, Value tensor, bool isOfProduct) const {
  PartOp window = getWindow(buffer);
  if (window)
    buffer = window.getBuffer();
  auto whole = cast<BufferType>(buffer.getType());
  SmallVector<int64_t> shape(whole.getShape());
  const Share &share = shares.find(tensor)->second;
  shape[dim] = share.type.getDimSize(share.dim);
  return isOfProduct && !window ? bool(getWindowType(whole, shape))
                                : bool(getPartType(whole, shape));
}

/// More copies than a role has room for.
static constexpr int64_t kMostOddCopies = 8;

/// What a tile has grown by is at the end of it, with some of the copies alone.
static LogicalResult checkExtents(Operation *op, ArrayRef<int64_t> extents, int dim, int64_t size,
                                  RoleAttr role) {
  if (dim < 0 || extents[dim] == size)
    return success();
  InFlightDiagnostic error = op->emitOpError("expected a tile that the ")
                             << role.getCopies() << " copies of role \"" << role.getName()
                             << "\" share out evenly, got " << extents[dim] << " of " << size
                             << " along dimension " << dim;
  // As many as its odd factor have powers of two each.
  int64_t odd = extents[dim] >> llvm::countr_zero(uint64_t(extents[dim]));
  error.attachNote() << "of " << extents[dim] << ", "
                     << (odd > 1 && odd != role.getCopies() && odd < kMostOddCopies
                             ? llvm::utostr(odd) + " copies have a power of two each, or one copy"
                             : "one copy")
                     << " has all ('copies')";
  return error;
}

/// Each copy announces and brings its part of each buffer, in boxes of its own.
LogicalResult CopyRealiser::checkPut(PutOp put) {
  if (!put.getBytes())
    return success();
  for (auto copyIn : put.getBody().front().getOps<CopyInOp>()) {
    BufferType whole = copyIn.getBuffer().getType();
    std::optional<SharedStrips> part = findSharedStrips(whole, copyIn.getAtom(), role.getCopies());
    if (!part)
      return emitSourceError(copyIn, "expected a tile of which each of the ")
             << role.getCopies() << " copies of role \"" << role.getName()
             << "\" ('copies') brings as many rows or columns, in whole boxes of "
             << copyIn.getAtom() << ", got "
             << RankedTensorType::get(whole.getShape(), whole.getElementType());
    parts[copyIn] = *part;
  }
  return success();
}

/// The value of an access that changes elements of a tensor each once, or null.
static Value getAtomicTensor(Operation *op) {
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

/// The buffer through which each copy takes what it has of a converted tensor, if that is not what
/// it had before: of the whole, of which each has all, or of another copy's share. Null if it is,
/// or if there is no such buffer.
BufferType CopyRealiser::findBuffer(ConvertLayoutOp op) {
  ShareChange change = getChange(op);
  ConversionAttr how = op.getHowAttr();
  if (change.from == change.to || (how && how.getKind() != ConversionKind::Memory))
    return {};
  RankedTensorType stored = getStoredType(cast<RankedTensorType>(op.getInput().getType()));
  ArrayRef<int64_t> shape = stored.getShape();
  auto isOdd = [](int64_t extent) { return !llvm::isPowerOf2_64(extent); };
  if (!how && llvm::count_if(shape, isOdd) > 1)
    return {}; // an order counts the odd factor of one extent alone
  LayoutAttr order =
      how ? how.getBuffer() : LayoutAttr::get(op.getContext(), getRowMajorLayout(shape));
  return findShareBuffer(BufferType::get(op.getContext(), shape, stored.getElementType(), order),
                         change);
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

/// No op may carry elements from one copy to another but by their partial results, or through a
/// buffer.
LogicalResult CopyRealiser::check(Operation *op) {
  if (isOfAllCopies(op) && role.getSkew())
    return op->emitOpError("expected a role whose copies come to it together, since one of them "
                           "changes the number for all, got role \"")
           << role.getName() << "\" with a skew of " << role.getSkew();
  if (Value value = getAtomicTensor(op); value && getDim(value) < 0) {
    if (!op->use_empty())
      return op->emitOpError("expected a result that nothing uses, or a tensor that the copies of "
                             "role \"")
             << role.getName() << "\" share out, since one of them makes the access, got "
             << getBareType(value.getType());
    wholeAtomics.push_back(op);
  }
  auto extentsFit = [&](auto access, Value tensor) {
    int dim = getDim(tensor);
    int64_t size = dim < 0 ? 0 : cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
    return !access.getExtents() ||
           succeeded(checkExtents(op, *access.getExtents(), dim, size, role));
  };
  // An engine stores boxes of a view as the kernel has it.
  auto store = dyn_cast<StoreOp>(op);
  if (store && store.getAtomAttr() && !extentsFit(store, store.getValue()))
    return failure();
  if (auto put = dyn_cast<PutOp>(op))
    return checkPut(put);
  if (op->hasTrait<OpTrait::IsTerminator>())
    return success();
  // Each copy has slots of its own.
  if (getHandedSum(op))
    return success();
  auto conversion = dyn_cast<ConvertLayoutOp>(op);
  if (BufferType buffer = conversion ? findBuffer(conversion) : BufferType()) {
    buffers[op] = buffer;
    if (getDim(conversion.getInput()) < 0) {
      spreads.push_back(conversion);
      return success();
    }
    if (role.getSkew())
      return emitSourceError(op,
                             "expected a role whose copies come to it together, since each takes "
                             "what others have of a tensor, got role \"")
             << role.getName() << "\" with a skew of " << role.getSkew();
    exchanges.push_back(conversion);
    return success();
  }
  auto distribution = dyn_cast<DistributionInterface>(op);
  if (!distribution) {
    auto isShared = [&](Value value) { return getDim(value) >= 0; };
    bool sharesNothing = op->getNumRegions() > 0 || (llvm::none_of(op->getOperands(), isShared) &&
                                                     llvm::none_of(op->getResults(), isShared));
    return sharesNothing ? success()
                         : op->emitOpError("expected an op that says how copies share it out");
  }
  std::optional<ShareMisfit> misfit = distribution.findMisfit(*this);
  if (!misfit && isAcrossCopies(op, role)) {
    if (role.getSkew())
      return op->emitOpError("expected a role whose copies come to it together, since each makes a "
                             "part of it, got role \"")
             << role.getName() << "\" with a skew of " << role.getSkew();
    across.push_back(op);
  }
  if (!misfit)
    return success();
  if (misfit->isNeededWhole)
    return op->emitOpError("expected a tensor that the copies of role \"")
           << role.getName() << "\" do not share out, got " << getBareType(misfit->value.getType());
  if (isa<WriteOp, ReadOp, ConvertLayoutOp>(op))
    return emitSourceError(op, "expected rows or columns that the copies of role \"")
           << role.getName() << "\" ('copies') have each of its own where another role or another "
           << "layout takes them, got " << getBareType(misfit->value.getType());
  return op->emitOpError("expected operands and results that the copies of role \"")
         << role.getName() << "\" share out alike, got " << getBareType(misfit->value.getType());
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
