// Whether the copies of a role can share out what it does, and how each op takes part in that.
#include "CopyRealiser.h"
#include "NarrowViews.h"
#include "SourceErrors.h"
#include "SumChannels.h"
#include "kiln/Dialect/Tile/IR/BareTypes.h"
#include "kiln/Layout/Transforms/SharedLayout.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

LogicalResult CopyRealiser::look(Operation *op, Value value) {
  RankedTensorType tensor = dyn_cast<RankedTensorType>(value.getType());
  if (auto pending = dyn_cast<PendingType>(value.getType()))
    tensor = pending.getTensor();
  if (!tensor)
    return success();
  FailureOr<Share> share = divideTensor(op, tensor, role);
  if (failed(share))
    return failure();
  if (share->type != tensor)
    shares[value] = *share;
  return success();
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

FailureOr<SharedStrips> kiln::shareOutBuffer(Operation *copy, BufferType whole, Attribute atom,
                                             RoleAttr role) {
  if (std::optional<SharedStrips> part = findSharedStrips(whole, atom, role.getCopies()))
    return *part;
  return emitSourceError(copy, "expected a tile of which each of the ")
         << role.getCopies() << " copies of role \"" << role.getName()
         << "\" ('copies') brings as many rows or columns, in whole boxes of " << atom << ", got "
         << RankedTensorType::get(whole.getShape(), whole.getElementType());
}

/// Each copy announces and brings its part of each buffer.
LogicalResult CopyRealiser::checkPut(PutOp put) {
  if (!put.getBytes())
    return success();
  for (auto copyIn : put.getBody().front().getOps<CopyInOp>()) {
    FailureOr<SharedStrips> part =
        shareOutBuffer(copyIn, copyIn.getBuffer().getType(), copyIn.getAtom(), role);
    if (failed(part))
      return failure();
    parts[copyIn] = *part;
  }
  return success();
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

/// No op may carry elements from one copy to another but by their partial results, or through a
/// buffer.
LogicalResult CopyRealiser::check(Operation *op) {
  if (Value value = getAtomicTensor(op); value && getDim(value) < 0) {
    if (!op->use_empty())
      return op->emitOpError("expected a result that nothing uses, or a tensor that the copies of "
                             "role \"")
             << role.getName() << "\" share out, since one of them makes the access, got "
             << getBareType(value.getType());
    wholeAtomics.push_back(op);
  }
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
    exchanges.push_back({conversion, getChange(conversion)});
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
