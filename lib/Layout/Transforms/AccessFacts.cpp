// Divisors of index arithmetic, and the access width that they and the facts allow.
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static constexpr int64_t kMax = int64_t(1) << 30;

/// The power of two in `multiple`; 0 says that nothing is known, or that the value is zero.
static int64_t powerOf(int64_t multiple, int64_t ifZero) {
  if (multiple == 0)
    return ifZero;
  return std::min(kMax, multiple & -multiple);
}

/// The kernel's argument that a value is, inside of a role too; null if it is none.
static BlockArgument findArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return {};
  Operation *owner = argument.getOwner()->getParentOp();
  if (auto groups = dyn_cast<WarpGroupsOp>(owner))
    return findArgument(groups.getCaptures()[argument.getArgNumber()]);
  return isa<KernelOp>(owner) ? argument : BlockArgument();
}

FactsAttr kiln::getArgumentFacts(Value value) {
  BlockArgument argument = findArgument(value);
  return argument
             ? cast<KernelOp>(argument.getOwner()->getParentOp()).getFacts(argument.getArgNumber())
             : FactsAttr();
}

bool kiln::areOfOtherMemory(Value view, Value other) {
  auto findMemory = [](Value part) {
    Value whole = getWholeView(part);
    auto made = whole.getDefiningOp<ViewFromPointerOp>();
    return findArgument(made ? made.getPointer() : whole);
  };
  BlockArgument first = findMemory(view), second = findMemory(other);
  auto isAlone = [](BlockArgument argument) {
    FactsAttr facts = getArgumentFacts(argument);
    return facts && facts.getNoalias();
  };
  return first && second && first != second && (isAlone(first) || isAlone(second));
}

static int64_t factAt(ArrayRef<int64_t> facts, int64_t dim) {
  return dim < int64_t(facts.size()) ? powerOf(facts[dim], 1) : 1;
}

bool kiln::sharesByte(Type element) {
  return element.isIntOrFloat() && element.getIntOrFloatBitWidth() < 8;
}

int64_t kiln::getElementBytes(Type type) {
  return std::max<int64_t>(1, llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
}

namespace {
/// How far a value has been followed, and through which arguments of loops.
struct Path {
  unsigned depth = 24;
  Value argument = {};
  const Path *outer = nullptr;

  Path next() const { return {depth - 1, argument, outer}; }
  Path through(Value argument) const { return {depth - 1, argument, this}; }
  bool holds(Value value) const { return argument == value || (outer && outer->holds(value)); }
};
} // namespace

static FactsAttr getViewFacts(Value view, const Path &path);
static bool isInside(SubviewOp part);

/// What a loop's argument is handed; nothing for a number that the loop counts.
static SmallVector<Value> getHandedOn(BlockArgument argument) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    if (argument.getOwner() == loop.getAfterBody())
      return {loop.getConditionOp().getArgs()[number]};
    return {loop.getInits()[number], loop.getYieldOp().getOperand(number)};
  }
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (!loop || number == 0)
    return {};
  return {loop.getInitArgs()[number - 1], loop.getBody()->getTerminator()->getOperand(number - 1)};
}

/// Of a value that a number divides, a constant part.
static int64_t getDivisorOfPart(Operation *op, int64_t divisor) {
  APInt number;
  if (!matchPattern(op->getOperand(1), m_ConstantInt(&number)) || number.isNegative() ||
      number.uge(kMax))
    return 1;
  int64_t by = number.getZExtValue();
  if (isa<arith::ShRSIOp, arith::ShRUIOp>(op))
    by = by < 31 ? int64_t(1) << by : 0;
  return by && divisor % by == 0 ? divisor / by : 1;
}

/// What comes round a loop is made of what went in by sums and products alone, so what divides all
/// that went in and is added divides it, too.
static int64_t getDivisor(Value value, const Path &path) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return powerOf(constant.getSExtValue(), kMax);
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (FactsAttr facts = getArgumentFacts(value))
      return powerOf(facts.getDivisor(), 1);
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && value == loop.getInductionVar() && path.depth)
      return std::min(getDivisor(loop.getLowerBound(), path.next()),
                      getDivisor(loop.getStep(), path.next()));
    if (path.holds(argument))
      return kMax;
    SmallVector<Value> handedOn = path.depth ? getHandedOn(argument) : SmallVector<Value>();
    int64_t divisor = handedOn.empty() ? 1 : kMax;
    for (Value each : handedOn)
      divisor = std::min(divisor, getDivisor(each, path.through(argument)));
    return divisor;
  }
  Operation *op = value.getDefiningOp();
  if (!op || !path.depth)
    return 1;
  auto least = [&](auto operands) {
    int64_t divisor = kMax;
    for (Value operand : operands)
      divisor = std::min(divisor, getDivisor(operand, path.next()));
    return divisor;
  };
  return TypeSwitch<Operation *, int64_t>(op)
      // Nobody reads it.
      .Case<ub::PoisonOp>([](auto) { return kMax; })
      .Case<arith::MulIOp>([&](auto) {
        int64_t left = getDivisor(op->getOperand(0), path.next());
        return std::min(kMax, left * getDivisor(op->getOperand(1), path.next()));
      })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp, arith::ShRSIOp, arith::ShRUIOp>(
          [&](auto) { return getDivisorOfPart(op, getDivisor(op->getOperand(0), path.next())); })
      .Case<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
            arith::MaxUIOp>([&](auto) { return least(op->getOperands()); })
      .Case<arith::SelectOp>([&](auto) { return least(op->getOperands().drop_front()); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp>(
          [&](auto) { return least(op->getOperands()); })
      .Case<MultipleOfOp>([&](MultipleOfOp hint) {
        return std::max(powerOf(hint.getDivisor(), 1), getDivisor(hint.getValue(), path.next()));
      })
      .Case<scf::IfOp>([&](scf::IfOp branch) {
        unsigned number = cast<OpResult>(value).getResultNumber();
        return least(ValueRange{branch.thenYield().getOperand(number),
                                branch.elseYield().getOperand(number)});
      })
      .Case<scf::ForOp>([&](scf::ForOp loop) {
        return getDivisor(loop.getRegionIterArgs()[cast<OpResult>(value).getResultNumber()],
                          path.next());
      })
      .Case<scf::WhileOp>([&](scf::WhileOp loop) {
        return getDivisor(loop.getConditionOp().getArgs()[cast<OpResult>(value).getResultNumber()],
                          path.next());
      })
      .Case<AddressOp>([&](AddressOp address) {
        FactsAttr facts = getViewFacts(address.getMemory(), path.next());
        return facts ? powerOf(facts.getPointer(), 1) : 1;
      })
      .Case<DimOp>([&](DimOp dim) {
        int64_t extent = dim.getView().getType().getShape()[dim.getDim()];
        if (!ShapedType::isDynamic(extent))
          return powerOf(extent, kMax);
        FactsAttr facts = getArgumentFacts(dim.getView());
        return facts ? factAt(facts.getExtents(), dim.getDim()) : 1;
      })
      .Case<StrideOp>([&](StrideOp stride) {
        ViewType view = stride.getView().getType();
        int64_t elements = view.getStrides()[stride.getDim()];
        if (!ShapedType::isDynamic(elements))
          return powerOf(elements, kMax);
        FactsAttr facts = getArgumentFacts(stride.getView());
        return facts ? std::max<int64_t>(1, factAt(facts.getStrides(), stride.getDim()) /
                                                getElementBytes(view.getElementType()))
                     : 1;
      })
      .Default(int64_t(1));
}

int64_t kiln::getKnownDivisor(Value value) { return getDivisor(value, Path()); }

/// Of an argument, its dimensions in any order, what it was promised; of a view or pointer that the
/// kernel makes what its operands' divisors say of the base address, the strides in bytes and the
/// extents.
static FactsAttr getViewFacts(Value view, const Path &path) {
  Operation *maker = view.getDefiningOp();
  if (!maker || !path.depth)
    return getArgumentFacts(view);
  if (std::optional<ArgumentView> turned = findArgumentView(view))
    return turnFacts(getArgumentFacts(turned->argument), turned->dims);
  bool index32 = false;
  auto make = [&](int64_t pointer, ArrayRef<int64_t> strides, ArrayRef<int64_t> extents) {
    return FactsAttr::get(view.getContext(), std::min<int64_t>(16, pointer), strides, extents,
                          index32, /*noalias=*/false, /*divisor=*/0);
  };
  if (auto pointer = dyn_cast<PointerFromAddressOp>(maker))
    return make(getDivisor(pointer.getAddress(), path.next()), {}, {});
  if (!isa<ViewFromPointerOp, SubviewOp>(maker))
    return {};
  auto type = cast<ViewType>(view.getType());
  if (!type.getElementType().isIntOrFloat())
    return {};
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  auto part = dyn_cast<SubviewOp>(maker);
  auto from = dyn_cast<ViewFromPointerOp>(maker);
  Value memory = part ? Value(part.getView()) : Value(from.getPointer());
  FactsAttr base = getViewFacts(memory, path.next());
  int64_t pointer = base ? powerOf(base.getPointer(), 1) : 1;
  index32 = part && base && base.getIndex32() && isInside(part);
  if (part)
    pointer = std::min(pointer, powerOf(getDivisor(part.getOffset(), path.next()) * bits / 8, 1));
  auto divisors = [&](ArrayRef<int64_t> known, ValueRange given, bool inBytes) {
    SmallVector<int64_t> result;
    for (int64_t value : known) {
      int64_t divisor = powerOf(value, kMax);
      if (ShapedType::isDynamic(value)) {
        divisor = getDivisor(given.front(), path.next());
        given = given.drop_front();
      }
      if (inBytes) // which an element may not fill
        divisor = divisor * bits % 8 ? 0 : divisor * bits / 8;
      result.push_back(divisor);
    }
    return result;
  };
  return make(pointer,
              divisors(type.getStrides(), part ? part.getStrides() : from.getStrides(), true),
              divisors(type.getShape(), part ? part.getExtents() : from.getExtents(), false));
}

FactsAttr kiln::getViewFacts(Value view) { return ::getViewFacts(view, Path()); }

/// Index arithmetic does not overflow: what it addresses exists.
static bool isNonNegative(Value value, unsigned depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isNonNegative();
  if (!depth)
    return false;
  auto all = [&](auto operands) {
    return llvm::all_of(operands, [&](Value operand) { return isNonNegative(operand, depth - 1); });
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && value == loop.getInductionVar() &&
           isNonNegative(loop.getLowerBound(), depth - 1);
  }
  Operation *op = value.getDefiningOp();
  return TypeSwitch<Operation *, bool>(op)
      .Case<ProgramIdOp, NumProgramsOp, CopyIdOp, DimOp>([](auto) { return true; })
      .Case<arith::AddIOp, arith::MulIOp, arith::DivSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp,
            arith::RemSIOp, arith::ShRSIOp, arith::ShLIOp, arith::MinSIOp, arith::IndexCastOp,
            arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp, arith::OrIOp, arith::XOrIOp>(
          [&](auto) { return all(op->getOperands()); })
      // Of unsigned numbers what comes out is at most the first.
      .Case<arith::DivUIOp, arith::CeilDivUIOp, arith::RemUIOp, arith::ShRUIOp>(
          [&](auto) { return isNonNegative(op->getOperand(0), depth - 1); })
      .Case<arith::MaxSIOp, arith::MinUIOp, arith::AndIOp>([&](auto) {
        return llvm::any_of(op->getOperands(),
                            [&](Value operand) { return isNonNegative(operand, depth - 1); });
      })
      .Case<arith::SelectOp>([&](auto) { return all(op->getOperands().drop_front()); })
      .Case<MultipleOfOp>(
          [&](MultipleOfOp hint) { return isNonNegative(hint.getValue(), depth - 1); })
      .Default(false);
}

bool kiln::isKnownNonNegative(Value value) { return isNonNegative(value, 16); }

/// Whether a number is at most an extent that 32 bits hold, as what slices leave of one is.
static bool isAtMostExtent(Value value, unsigned depth) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.isSignedIntN(32);
  Operation *op = value.getDefiningOp();
  if (!op || !depth)
    return false;
  auto isAtMost = [&](Value operand) { return isAtMostExtent(operand, depth - 1); };
  return TypeSwitch<Operation *, bool>(op)
      .Case<DimOp>([](DimOp dim) {
        FactsAttr facts = getArgumentFacts(dim.getView());
        return facts && facts.getIndex32();
      })
      .Case<arith::MinSIOp>([&](auto) { return llvm::any_of(op->getOperands(), isAtMost); })
      .Case<arith::MaxSIOp>([&](auto) { return llvm::all_of(op->getOperands(), isAtMost); })
      .Case<arith::SelectOp>(
          [&](auto) { return llvm::all_of(op->getOperands().drop_front(), isAtMost); })
      .Case<arith::SubIOp>(
          [&](auto) { return isAtMost(op->getOperand(0)) && isNonNegative(op->getOperand(1), 16); })
      .Default(false);
}

/// Whether a part lies in what it is part of, as slices do: its strides are that view's, and its
/// extents no more than one of the view's. What it reaches is the view's memory, so all of it lies
/// behind where it begins.
static bool isInside(SubviewOp part) {
  ViewType type = part.getResult().getType();
  auto isExtent = [](Value extent) {
    return isAtMostExtent(extent, 16) && isKnownNonNegative(extent);
  };
  auto isStride = [](Value stride) {
    auto of = stride.getDefiningOp<StrideOp>();
    FactsAttr facts = of ? getArgumentFacts(of.getView()) : FactsAttr();
    return facts && facts.getIndex32();
  };
  auto fits = [](int64_t known) {
    return ShapedType::isDynamic(known) || (known >= 0 && llvm::isInt<32>(known));
  };
  return llvm::all_of(type.getShape(), fits) && llvm::all_of(type.getStrides(), fits) &&
         llvm::all_of(part.getExtents(), isExtent) && llvm::all_of(part.getStrides(), isStride);
}

RowFacts kiln::getRowFacts(TypedValue<ViewType> view) {
  RowFacts result;
  ViewType type = view.getType();
  for (auto [dim, stride] : llvm::enumerate(type.getStrides()))
    if (stride == 1)
      result.dim = dim;
  FactsAttr facts = kiln::getViewFacts(view);
  if (result.dim < 0 || !facts || !type.getElementType().isIntOrFloat())
    return result;
  int64_t bytes = getElementBytes(type.getElementType());
  result.alignment = std::min<int64_t>(16, powerOf(facts.getPointer(), 1));
  for (auto [dim, stride] : llvm::enumerate(type.getStrides()))
    if (int(dim) != result.dim)
      result.alignment =
          std::min(result.alignment, ShapedType::isDynamic(stride) ? factAt(facts.getStrides(), dim)
                                                                   : powerOf(stride * bytes, kMax));
  int64_t extent = type.getShape()[result.dim];
  result.multiple = ShapedType::isDynamic(extent) ? factAt(facts.getExtents(), result.dim)
                                                  : powerOf(extent, kMax);
  return result;
}

AccessFacts kiln::getAccessFacts(TypedValue<ViewType> view, ValueRange offsets) {
  AccessFacts result;
  RowFacts row = getRowFacts(view);
  result.dim = row.dim;
  if (row.dim < 0 || !view.getType().getElementType().isIntOrFloat())
    return result;
  // In bytes: where a row begins; in elements: the offset and the extent along it.
  int64_t bytes = getElementBytes(view.getType().getElementType());
  result.aligned =
      std::max<int64_t>(1, std::min(getKnownDivisor(offsets[row.dim]), row.alignment / bytes));
  result.width = std::min(row.multiple, result.aligned);
  return result;
}

AccessFacts kiln::getAccessFacts(Operation *access) {
  auto load = dyn_cast<LoadOp>(access);
  AccessFacts facts =
      load ? getAccessFacts(load.getView(), load.getOffsets())
           : getAccessFacts(cast<StoreOp>(access).getView(), cast<StoreOp>(access).getOffsets());
  if (access->hasAttr(kWholeRowsAttrName))
    facts.width = facts.aligned;
  if (access->hasAttr(kRaggedAttrName) && facts.dim >= 0) {
    auto view = cast<TypedValue<ViewType>>(load ? load.getView() : cast<StoreOp>(access).getView());
    facts.width = std::max<int64_t>(1, 16 / getElementBytes(view.getType().getElementType()));
  }
  return facts;
}

bool kiln::hasWholeBytes(TypedValue<ViewType> view, ValueRange offsets, ArrayRef<int64_t> shape) {
  ViewType type = view.getType();
  int64_t bits = type.getElementType().getIntOrFloatBitWidth();
  FactsAttr facts = kiln::getViewFacts(view);
  if (bits % 8 == 0)
    return true;
  if (8 % bits || !facts)
    return false;
  auto isWhole = [&](int64_t known, ArrayRef<int64_t> fact, int64_t dim) {
    return (ShapedType::isDynamic(known) ? factAt(fact, dim) : known) % (8 / bits) == 0;
  };
  bool hasUnit = false;
  for (auto [dim, stride] : llvm::enumerate(type.getStrides())) {
    if (stride == 1) {
      hasUnit = true;
      if (!isWhole(type.getShape()[dim], facts.getExtents(), dim) ||
          getKnownDivisor(offsets[dim]) % (8 / bits) || shape[dim] % (8 / bits))
        return false;
    } else if (ShapedType::isDynamic(stride)) {
      // In bytes: what is a multiple of any is a whole number of them.
      if (dim >= facts.getStrides().size() || facts.getStrides()[dim] < 1)
        return false;
    } else if (stride * bits % 8) {
      return false;
    }
  }
  return hasUnit;
}
