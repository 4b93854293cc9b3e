// What of a program is followed: the ops that matter to the protocol; and its numbers: what folders
// make of them, what is loaded, and what goes to other roles.
#include "Numbers.h"
#include "Protocol.h"
#include "kiln/Target/Common/Meetings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

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

Formula kiln::protocol::findFormula(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 || op->getNumOperands() > 2)
    return {};
  Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
  auto getBits = [](Type type) -> unsigned {
    return type.isIndex() ? 64 : type.isInteger() ? type.getIntOrFloatBitWidth() : 65;
  };
  Formula formula;
  if (getBits(from) > 64 || getBits(to) > 64)
    return formula;
  formula.bits = getBits(from);
  formula.madeBits = getBits(to);
  using Kind = Formula::Kind;
  formula.kind =
      llvm::TypeSwitch<Operation *, Kind>(op)
          .Case([](arith::AddIOp) { return Kind::Add; })
          .Case([](arith::SubIOp) { return Kind::Subtract; })
          .Case([](arith::MulIOp) { return Kind::Multiply; })
          .Case([](arith::CmpIOp) { return Kind::Compare; })
          .Case([](arith::MinUIOp) { return Kind::LeastUnsigned; })
          .Case([](arith::MinSIOp) { return Kind::Least; })
          .Case([](arith::MaxUIOp) { return Kind::MostUnsigned; })
          .Case([](arith::MaxSIOp) { return Kind::Most; })
          .Case([](arith::DivUIOp) { return Kind::DivideUnsigned; })
          .Case([](arith::DivSIOp) { return Kind::Divide; })
          .Case([](arith::CeilDivUIOp) { return Kind::DivideUpUnsigned; })
          .Case([](arith::CeilDivSIOp) { return Kind::DivideUp; })
          .Case([](arith::RemUIOp) { return Kind::RemainderUnsigned; })
          .Case([](arith::RemSIOp) { return Kind::Remainder; })
          .Case<arith::ExtUIOp, arith::IndexCastUIOp>(
              [](Operation *) { return Kind::ConvertUnsigned; })
          .Case<arith::ExtSIOp, arith::IndexCastOp>([](Operation *) { return Kind::Convert; })
          .Default(Kind::None);
  if (auto comparison = dyn_cast<arith::CmpIOp>(op))
    formula.predicate = uint8_t(comparison.getPredicate());
  return formula;
}

static bool compare(arith::CmpIPredicate predicate, int64_t a, int64_t b) {
  using Predicate = arith::CmpIPredicate;
  switch (predicate) {
  case Predicate::eq:
    return a == b;
  case Predicate::ne:
    return a != b;
  case Predicate::slt:
    return a < b;
  case Predicate::sle:
    return a <= b;
  case Predicate::sgt:
    return a > b;
  case Predicate::sge:
    return a >= b;
  case Predicate::ult:
    return uint64_t(a) < uint64_t(b);
  case Predicate::ule:
    return uint64_t(a) <= uint64_t(b);
  case Predicate::ugt:
    return uint64_t(a) > uint64_t(b);
  case Predicate::uge:
    return uint64_t(a) >= uint64_t(b);
  }
}

/// Of two numbers of 64 bits, which those of fewer are with their signs.
static std::optional<int64_t> computeWide(const Formula &formula, int64_t a, int64_t b) {
  using Kind = Formula::Kind;
  uint64_t mask = llvm::maskTrailingOnes<uint64_t>(formula.bits), ua = a & mask, ub = b & mask;
  switch (formula.kind) {
  case Kind::None:
    return std::nullopt;
  case Kind::Add:
    return int64_t(ua + ub);
  case Kind::Subtract:
    return int64_t(ua - ub);
  case Kind::Multiply:
    return int64_t(ua * ub);
  case Kind::Compare:
    return compare(arith::CmpIPredicate(formula.predicate), a, b);
  case Kind::LeastUnsigned:
    return int64_t(std::min(ua, ub));
  case Kind::Least:
    return std::min(a, b);
  case Kind::MostUnsigned:
    return int64_t(std::max(ua, ub));
  case Kind::Most:
    return std::max(a, b);
  case Kind::Convert:
    return a;
  case Kind::ConvertUnsigned:
    return int64_t(ua);
  default:
    break;
  }
  // A quotient may have no number.
  if (b == 0 || b == -1)
    return std::nullopt;
  switch (formula.kind) {
  case Kind::DivideUnsigned:
    return int64_t(ua / ub);
  case Kind::Divide:
    return a / b;
  case Kind::DivideUpUnsigned:
    return int64_t(ua / ub + (ua % ub != 0));
  case Kind::DivideUp:
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
  case Kind::RemainderUnsigned:
    return int64_t(ua % ub);
  default:
    return a % b;
  }
}

std::optional<int64_t> kiln::protocol::compute(const Formula &formula, int64_t a, int64_t b) {
  // A bit alone stands for 0 or 1.
  a = llvm::SignExtend64(a, formula.bits);
  b = llvm::SignExtend64(b, formula.bits);
  std::optional<int64_t> made = computeWide(formula, a, b);
  if (!made)
    return std::nullopt;
  return formula.madeBits == 1 ? *made & 1 : llvm::SignExtend64(*made, formula.madeBits);
}

/// What most steps of a trace compute, without an attribute for each number, which the context
/// would look up and keep. Not where folders may give an operand that can be a slot, of which more
/// is known than its number.
static std::optional<int64_t> computePlain(Operation *op, GetNumber getNumber) {
  Formula formula = findFormula(op);
  if (formula.kind == Formula::Kind::None)
    return std::nullopt;
  std::optional<int64_t> a = getNumber(op->getOperand(0));
  std::optional<int64_t> b = op->getNumOperands() > 1 ? getNumber(op->getOperand(1)) : 0;
  if (!a || !b)
    return std::nullopt;
  std::optional<int64_t> number = kiln::protocol::compute(formula, *a, *b);
  bool isOperand = !op->getResult(0).getType().isIndex() && (number == *a || number == *b);
  return isOperand ? std::nullopt : number;
}

Folded kiln::protocol::fold(Operation *op, GetNumber getNumber) {
  if (std::optional<int64_t> number = computePlain(op, getNumber))
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

LoadOp kiln::protocol::findLoad(ToScalarOp scalar) {
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
