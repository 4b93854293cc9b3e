// What of a program is followed: the ops that matter to the protocol; and its numbers: what folders
// make of them, what is loaded, and what goes to other roles.
#include "Protocol.h"
#include "kiln/Target/Common/Meetings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

bool kiln::protocol::matters(Operation *op) {
  return op
      ->walk([](Operation *inner) {
        auto barrier = dyn_cast<BarrierOp>(inner);
        bool isProtocol =
            isa<PutOp, WaitPutsOp, GetOp, ReleaseOp, StartDotOp, WaitOp, CopyOutOp, WaitStoresOp,
                AdvanceOp, AcquireOp, CommitOp, FillOp, FetchOp, FenceOp>(inner) ||
            (barrier ? barrier.getPublish() || !barrier.getGlobal() : meetsOtherCopies(inner));
        return isProtocol ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// A number as an attribute; that of a float is its bits, as some divisions need them.
static Attribute getAttribute(Type type, int64_t number) {
  auto real = dyn_cast<FloatType>(type);
  if (!real)
    return IntegerAttr::get(type, number);
  APInt bits(real.getWidth(), number, /*isSigned=*/true, /*implicitTrunc=*/true);
  return FloatAttr::get(type, APFloat(real.getFloatSemantics(), bits));
}

/// What an op makes of two whole numbers of so many bits; none if it is another op, or divides by
/// 0.
static std::optional<uint64_t> compute(Operation *op, uint64_t a, uint64_t b, unsigned bits) {
  if (isa<arith::AddIOp>(op))
    return a + b;
  if (isa<arith::SubIOp>(op))
    return a - b;
  if (isa<arith::MulIOp>(op))
    return a * b;
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    return arith::applyCmpPredicate(comparison.getPredicate(), APInt(bits, a), APInt(bits, b));
  if (isa<arith::MinUIOp>(op))
    return std::min(a, b);
  if (b == 0)
    return std::nullopt;
  if (isa<arith::DivUIOp>(op))
    return a / b;
  if (isa<arith::CeilDivUIOp>(op))
    return a / b + (a % b != 0);
  if (isa<arith::RemUIOp>(op))
    return a % b;
  return std::nullopt;
}

/// What most steps of a trace compute, without an attribute for each number, which the context
/// would look up and keep. Not where folders may give an operand that can be a slot, of which more
/// is known than its number.
static std::optional<int64_t> compute(Operation *op, GetNumber getNumber) {
  if (op->getNumOperands() != 2)
    return std::nullopt;
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  std::optional<int64_t> a = getNumber(op->getOperand(0)), b = getNumber(op->getOperand(1));
  if (!a || !b || !from.isIntOrIndex() || !to.isIntOrIndex())
    return std::nullopt;
  auto getBits = [](Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); };
  unsigned bits = getBits(from), toBits = getBits(to);
  if (bits > 64)
    return std::nullopt;
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(bits);
  std::optional<uint64_t> made = compute(op, *a & mask, *b & mask, bits);
  if (!made)
    return std::nullopt;
  // With their signs, but for a bit alone.
  int64_t number = toBits == 1 ? *made & 1 : llvm::SignExtend64(*made, toBits);
  bool isOperand = !to.isIndex() && (number == *a || number == *b);
  return isOperand ? std::nullopt : std::optional(number);
}

Folded kiln::protocol::fold(Operation *op, GetNumber getNumber) {
  if (std::optional<int64_t> number = compute(op, getNumber))
    return {number, Value()};
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> number = getNumber(operand);
    operands.push_back(number ? getAttribute(operand.getType(), *number) : Attribute());
  }
  SmallVector<OpFoldResult> folded;
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    folded.push_back(constant.getValue());
  } else if (llvm::any_of(operands, [](Attribute operand) { return !operand; }) ||
             failed(op->getName().foldHook(op, operands, folded)) || folded.size() != 1) {
    return {};
  }
  auto attribute = dyn_cast<Attribute>(folded.front());
  if (!attribute)
    return {std::nullopt, cast<Value>(folded.front())};
  auto real = dyn_cast<FloatAttr>(attribute);
  if (real && real.getType().getIntOrFloatBitWidth() <= 64)
    return {real.getValue().bitcastToAPInt().getSExtValue(), Value()};
  auto integer = dyn_cast<IntegerAttr>(attribute);
  if (!integer)
    return {};
  bool isBit = integer.getType().isInteger(1);
  return {isBit ? int64_t(integer.getValue().getZExtValue()) : integer.getValue().getSExtValue(),
          Value()};
}

/// The load of what is one number as it is.
static LoadOp findLoad(ToScalarOp scalar) {
  Operation *op = scalar.getInput().getDefiningOp();
  while (isa_and_nonnull<ReshapeOp, ConvertLayoutOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return dyn_cast_or_null<LoadOp>(op);
}

std::optional<LoadedPlace> kiln::protocol::findLoaded(ToScalarOp scalar, GetNumber getNumber) {
  LoadOp load = findLoad(scalar);
  auto view = load ? dyn_cast<BlockArgument>(load.getView()) : BlockArgument();
  if (!view || load.getType().getNumElements() != 1)
    return std::nullopt;
  LoadedPlace loaded{view.getArgNumber(), {}};
  for (Value offset : load.getOffsets()) {
    std::optional<int64_t> number = getNumber(offset);
    if (!number)
      return std::nullopt;
    loaded.place.push_back(*number);
  }
  return loaded;
}

std::optional<HandedOver> kiln::protocol::findHandedOver(Value number) {
  SmallVector<Value> values = {number};
  while (!values.empty())
    for (Operation *user : values.pop_back_val().getUsers()) {
      if (isa<arith::IndexCastOp, arith::ExtUIOp, SplatOp>(user))
        values.push_back(user->getResult(0));
      auto put = dyn_cast<PutOp>(user->getParentOp());
      BufferType buffer =
          isa<WriteOp>(user) && put ? put.getChannel().getType().getBuffer(0) : BufferType();
      if (buffer && ShapedType::getNumElements(buffer.getShape()) == 1)
        return HandedOver{getCapture(put.getChannel()),
                          buffer.getElementType().getIntOrFloatBitWidth()};
    }
  return std::nullopt;
}

bool kiln::protocol::hasName(WarpGroupsOp groups, unsigned channel) {
  for (Region &role : groups.getBodies())
    for (Operation *user : role.getArgument(channel).getUsers()) {
      auto put = dyn_cast<PutOp>(user);
      if (!put)
        continue;
      for (auto write : put.getBody().front().getOps<WriteOp>()) {
        auto splat = write.getValue().getDefiningOp<SplatOp>();
        auto scalar = splat ? splat.getValue().getDefiningOp<ToScalarOp>() : ToScalarOp();
        return isa<FloatType>(write.getValue().getType().getElementType()) ||
               (scalar && !findLoad(scalar));
      }
    }
  return false;
}
