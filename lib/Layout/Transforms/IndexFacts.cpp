// Each op's rule, and what all of them together say of an access.
#include "kiln/Layout/Transforms/IndexFacts.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Zero is a multiple of everything.
static constexpr int64_t kMax = int64_t(1) << 30;

static int64_t lowestBit(int64_t value) { return value ? std::min(kMax, value & -value) : kMax; }

static bool isInteger(Value value) { return getElementTypeOrSelf(value).isIntOrIndex(); }

static ArrayRef<int64_t> shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

/// What holds of any value: along a dimension of one element there is nothing that differs.
static IndexFacts getLeast(Value value) {
  IndexFacts facts;
  for (int64_t extent : shapeOf(value))
    facts.dims.push_back({extent == 1 ? kMax : 1, 1});
  return facts;
}

static IndexFacts getUniform(Value value, int64_t divisor) {
  IndexFacts facts;
  facts.divisor = divisor;
  facts.dims.assign(shapeOf(value).size(), {kMax, 1});
  return facts;
}

/// A number that is the same for all elements.
static std::optional<APInt> getConstant(Value value) {
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant;
  if (auto splat = value.getDefiningOp<SplatOp>())
    return getConstant(splat.getValue());
  if (auto broadcast = value.getDefiningOp<BroadcastOp>())
    return getConstant(broadcast.getInput());
  return std::nullopt;
}

IndexAnalysis::IndexAnalysis(KernelOp kernel) {
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (FactsAttr facts = getArgumentFacts(argument); facts && isInteger(argument))
      set(argument, getUniform(argument, facts.getDivisor() ? lowestBit(facts.getDivisor()) : 1));
  for (Block &block : kernel.getBody())
    visit(block);
}

IndexFacts IndexAnalysis::get(Value value) const {
  auto found = known.find(value);
  return found == known.end() ? getLeast(value) : found->second;
}

bool IndexAnalysis::meet(Value value, const IndexFacts &other, bool giveUp) {
  IndexFacts before = get(value), after = before;
  after.divisor = std::min(after.divisor, other.divisor);
  for (auto [dim, second] : llvm::zip(after.dims, other.dims)) {
    dim.same = std::min(dim.same, second.same);
    dim.run = std::min(dim.run, second.run);
  }
  if (after == before)
    return false;
  set(value, giveUp ? getLeast(value) : after);
  return true;
}

void IndexAnalysis::visit(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

/// What is carried starts as what came in and loses what a turn does not keep.
static constexpr unsigned kPatience = 4;

void IndexAnalysis::visitFor(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  set(loop.getInductionVar(),
      getUniform(loop.getInductionVar(),
                 std::min(get(loop.getLowerBound()).divisor, get(loop.getStep()).divisor)));
  for (auto [init, argument] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs()))
    set(argument, get(init));
  bool changed = true;
  for (unsigned round = 0; changed; ++round) {
    visit(*loop.getBody());
    changed = false;
    for (auto [argument, yielded] :
         llvm::zip(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands()))
      changed |= meet(argument, get(yielded), round >= kPatience);
  }
  for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
    set(result, get(argument));
}

void IndexAnalysis::visitWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  for (auto [init, argument] : llvm::zip(loop.getInits(), loop.getBeforeArguments()))
    set(argument, get(init));
  bool changed = true;
  for (unsigned round = 0; changed; ++round) {
    visit(*loop.getBeforeBody());
    for (auto [value, argument, result] :
         llvm::zip(loop.getConditionOp().getArgs(), loop.getAfterArguments(), loop.getResults())) {
      set(argument, get(value));
      set(result, get(value));
    }
    visit(*loop.getAfterBody());
    changed = false;
    for (auto [argument, yielded] :
         llvm::zip(loop.getBeforeArguments(), loop.getAfterBody()->getTerminator()->getOperands()))
      changed |= meet(argument, get(yielded), round >= kPatience);
  }
}

void IndexAnalysis::visitIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
    if (!region->empty())
      visit(region->front());
  for (auto [index, result] : llvm::enumerate(branch.getResults())) {
    set(result, get(branch.thenYield().getOperand(index)));
    meet(result, get(branch.elseYield().getOperand(index)), false);
  }
}

void IndexAnalysis::visit(Operation *op) {
  if (isa<scf::ForOp>(op))
    return visitFor(op);
  if (isa<scf::WhileOp>(op))
    return visitWhile(op);
  if (isa<scf::IfOp>(op))
    return visitIf(op);
  // Nothing is known of what other regions are given.
  for (Region &region : op->getRegions())
    for (Block &block : region)
      visit(block);
  for (Value result : op->getResults())
    if (isInteger(result))
      set(result, compute(op, result));
}

//===- Rules ----------------------------------------------------------------------------------===//

/// A type's width bounds a run: no group of half its values crosses the end.
static int64_t getLongestRun(Value value) {
  Type element = getElementTypeOrSelf(value);
  unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  return bits > 30 ? kMax : int64_t(1) << (bits - 1);
}

/// How many of a run's elements in a row stand in one relation to another operand: they begin at a
/// multiple of as many, and so is what they are held against.
static int64_t getShared(const IndexFacts::Dim &run, const IndexFacts::Dim &other,
                         int64_t divisor) {
  return std::min({run.run, other.same, divisor});
}

namespace {
struct Operands {
  IndexFacts left, right;
  std::optional<APInt> constant; ///< the right one
};
} // namespace

static IndexFacts::Dim applyToDim(Operation *op, const Operands &of, const IndexFacts::Dim &left,
                                  const IndexFacts::Dim &right) {
  IndexFacts::Dim dim{std::min(left.same, right.same), 1};
  int64_t leftRuns = getShared(left, right, of.right.divisor);
  int64_t rightRuns = getShared(right, left, of.left.divisor);
  if (isa<arith::AddIOp>(op))
    dim.run = std::max(leftRuns, rightRuns);
  if (isa<arith::SubIOp>(op))
    dim.run = leftRuns;
  // No multiple of the divisor lies within such a group.
  if (isa<arith::DivUIOp, arith::FloorDivSIOp>(op))
    dim.same = std::max(dim.same, leftRuns);
  if (isa<arith::RemUIOp>(op) && of.constant && !of.constant->isZero())
    dim.run = leftRuns;
  if (isa<arith::ShRSIOp, arith::ShRUIOp>(op) && of.constant && of.constant->ult(30))
    dim.same = std::max(dim.same, std::min(left.run, int64_t(1) << of.constant->getZExtValue()));
  if (isa<arith::AndIOp>(op) && of.constant) {
    dim.run = std::min(left.run, int64_t(1) << std::min(30u, of.constant->countr_one()));
    dim.same = std::max(
        dim.same, std::min(left.run, int64_t(1) << std::min(30u, of.constant->countr_zero())));
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    using P = arith::CmpIPredicate;
    P predicate = compare.getPredicate();
    if (llvm::is_contained({P::slt, P::ult, P::sge, P::uge}, predicate))
      dim.same = std::max(dim.same, leftRuns);
    if (llvm::is_contained({P::sgt, P::ugt, P::sle, P::ule}, predicate))
      dim.same = std::max(dim.same, rightRuns);
  }
  return dim;
}

static int64_t getDivisor(Operation *op, const Operands &of) {
  int64_t left = of.left.divisor, right = of.right.divisor;
  bool isShift = of.constant && of.constant->ult(30);
  int64_t shift = isShift ? int64_t(1) << of.constant->getZExtValue() : 1;
  return TypeSwitch<Operation *, int64_t>(op)
      .Case<arith::MulIOp>([&](auto) { return std::min(kMax, left * right); })
      .Case<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp,
            arith::MaxUIOp, arith::OrIOp, arith::XOrIOp>(
          [&](auto) { return std::min(left, right); })
      .Case<arith::AndIOp>([&](auto) { return std::max(left, right); })
      .Case<arith::ShLIOp>([&](auto) { return isShift ? std::min(kMax, left * shift) : left; })
      .Case<arith::ShRSIOp, arith::ShRUIOp>(
          [&](auto) { return isShift ? std::max<int64_t>(1, left / shift) : 1; })
      // An exact multiple of a power of two stays one when divided by less.
      .Case<arith::DivUIOp, arith::FloorDivSIOp>([&](auto) {
        bool isPower = of.constant && of.constant->isPowerOf2() && of.constant->ult(kMax);
        return isPower && left < kMax
                   ? std::max<int64_t>(1, left / int64_t(of.constant->getZExtValue()))
                   : 1;
      })
      .Case<arith::RemUIOp, arith::RemSIOp>([&](auto) { return std::min(left, right); })
      .Default(int64_t(1));
}

/// Of a shape with the same elements in the same order.
static IndexFacts reshape(const IndexFacts &input, Value from, Value to) {
  IndexFacts facts = getLeast(to);
  facts.divisor = input.divisor;
  ArrayRef<int64_t> before = shapeOf(from), after = shapeOf(to);
  // From the last dimension on, as long as the extents agree.
  int64_t i = before.size() - 1, j = after.size() - 1;
  while (true) {
    while (i >= 0 && before[i] == 1)
      --i;
    while (j >= 0 && after[j] == 1)
      --j;
    if (i < 0 || j < 0)
      return facts;
    if (before[i] != after[j])
      break;
    facts.dims[j--] = input.dims[i--];
  }
  // Where one is cut or others are put together, groups that both have.
  int64_t common = std::min(lowestBit(before[i]), lowestBit(after[j]));
  facts.dims[j] = {std::min(input.dims[i].same, common), std::min(input.dims[i].run, common)};
  return facts;
}

IndexFacts IndexAnalysis::compute(Operation *op, Value result) const {
  IndexFacts least = getLeast(result);
  auto input = [&](unsigned i = 0) { return get(op->getOperand(i)); };
  APInt constant;
  if (matchPattern(op, m_ConstantInt(&constant)))
    return getUniform(result, constant.trySExtValue() ? lowestBit(constant.getSExtValue()) : 1);
  auto capped = [&](IndexFacts facts) {
    for (IndexFacts::Dim &dim : facts.dims)
      dim.run = std::min(dim.run, getLongestRun(result));
    return facts;
  };
  return TypeSwitch<Operation *, IndexFacts>(op)
      .Case<SplatOp>([&](auto) { return getUniform(result, input().divisor); })
      .Case<IotaOp>([&](IotaOp iota) {
        IndexFacts facts = getUniform(result, 1);
        facts.dims[iota.getDim()] = {shapeOf(result)[iota.getDim()] == 1 ? kMax : 1,
                                     getLongestRun(result)};
        return facts;
      })
      .Case<BroadcastOp>([&](auto) {
        IndexFacts facts = input();
        for (auto [dim, extent] : llvm::zip(facts.dims, shapeOf(op->getOperand(0))))
          if (extent == 1)
            dim = {kMax, 1};
        return facts;
      })
      .Case<ReshapeOp>([&](auto) { return reshape(input(), op->getOperand(0), result); })
      .Case<TransposeOp>([&](TransposeOp transpose) {
        IndexFacts facts = input();
        IndexFacts moved = facts;
        for (auto [to, dim] : llvm::enumerate(transpose.getPermutation()))
          moved.dims[to] = facts.dims[dim];
        return moved;
      })
      .Case<SliceOp>([&](SliceOp slice) {
        IndexFacts facts = input();
        for (auto [dim, offset] : llvm::zip(facts.dims, slice.getOffsets())) {
          dim.same = std::min(dim.same, lowestBit(offset));
          dim.run = std::min(dim.run, lowestBit(offset));
        }
        for (auto [dim, extent] : llvm::zip(facts.dims, shapeOf(result)))
          if (extent == 1)
            dim.same = kMax;
        return facts;
      })
      .Case<ConvertLayoutOp>([&](auto) { return input(); })
      .Case<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp, arith::ExtUIOp,
            arith::TruncIOp>([&](auto) { return capped(input()); })
      .Case<MultipleOfOp>([&](MultipleOfOp hint) {
        IndexFacts facts = input();
        facts.divisor = std::max(facts.divisor, lowestBit(hint.getDivisor()));
        return facts;
      })
      .Case<DimOp, StrideOp>([&](auto) { return getUniform(result, getKnownDivisor(result)); })
      .Case<arith::SelectOp>([&](auto) {
        IndexFacts condition = input(0), yes = input(1), no = input(2), facts = yes;
        facts.divisor = std::min(yes.divisor, no.divisor);
        for (auto [d, dim] : llvm::enumerate(facts.dims)) {
          int64_t chosen = d < condition.dims.size() ? condition.dims[d].same : kMax;
          dim = {std::min({chosen, yes.dims[d].same, no.dims[d].same}),
                 std::min({chosen, yes.dims[d].run, no.dims[d].run})};
        }
        return facts;
      })
      .Default([&](Operation *) {
        bool isElementwise = op->hasTrait<OpTrait::Elementwise>() && op->getNumOperands() > 0 &&
                             isa<arith::ArithDialect>(op->getDialect());
        if (!isElementwise)
          return least;
        if (op->getNumOperands() != 2 || !isInteger(op->getOperand(0))) {
          for (auto [d, dim] : llvm::enumerate(least.dims)) {
            dim.same = kMax;
            for (Value operand : op->getOperands())
              dim.same = std::min(dim.same, get(operand).dims[d].same);
          }
          return least;
        }
        Operands of{input(0), input(1), getConstant(op->getOperand(1))};
        IndexFacts facts = least;
        facts.divisor = getDivisor(op, of);
        for (auto [d, dim] : llvm::enumerate(facts.dims))
          dim = applyToDim(op, of, of.left.dims[d], of.right.dims[d]);
        return capped(facts);
      });
}

//===- Accesses -------------------------------------------------------------------------------===//

RunFacts kiln::getRunFacts(const IndexAnalysis &analysis, TypedValue<ViewType> view,
                           ValueRange indices, Value mask) {
  RunFacts best;
  RowFacts row = getRowFacts(view);
  // What is narrower than a byte shares it with neighbours.
  if (row.dim < 0 || view.getType().getElementType().getIntOrFloatBitWidth() < 8)
    return best;
  int64_t bytes = getElementBytes(view.getType().getElementType());
  int64_t most = std::min(row.multiple, row.alignment / bytes);
  SmallVector<IndexFacts> facts;
  for (Value index : indices)
    facts.push_back(analysis.get(index));
  for (size_t dim = facts.front().dims.size(); dim-- > 0;) {
    int64_t width = most;
    for (auto [i, index] : llvm::enumerate(facts))
      width = std::min(width, int(i) == row.dim ? index.dims[dim].run : index.dims[dim].same);
    if (mask)
      width = std::min(width, analysis.get(mask).dims[dim].same);
    if (width > best.width)
      best = {int(dim), width};
  }
  return best;
}
