// Finds what a role has in tensor memory.
#include "TensorUses.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

std::optional<SumLife> kiln::findLife(WaitOp wait) {
  SumLife life;
  life.wait = wait;
  life.first = findFirstUse(wait.getPending(), life.atom);
  Operation *root = life.first ? life.first->get().getDefiningOp() : nullptr;
  bool isWhole = isa_and_nonnull<ub::PoisonOp, PendOp>(root) &&
                 life.getBegin()->getBlock() == wait->getBlock() &&
                 life.getEnd()->getBlock() == wait->getBlock();
  return isWhole ? std::optional(life) : std::nullopt;
}

SmallVector<Operation *> TensorUse::getOps() const {
  if (isSum())
    return {WaitOp(life.wait)};
  return llvm::map_to_vector(dots, [](StartDotOp dot) { return dot.getOperation(); });
}

OpOperand &TensorUse::getRead(StartDotOp dot) const {
  return scales < 0 ? dot.getAMutable() : dot.getScalesMutable()[scales];
}

std::optional<int64_t> TensorUse::getSaid(Operation *op) const {
  if (scales < 0) {
    auto columns = op->getAttrOfType<IntegerAttr>(getDecision());
    return columns ? std::optional(columns.getInt()) : std::nullopt;
  }
  auto columns = op->getAttrOfType<DenseI64ArrayAttr>(getDecision());
  return columns && columns[scales] >= 0 ? std::optional(columns[scales]) : std::nullopt;
}

void TensorUse::say(Operation *op, int64_t number) const {
  Builder builder(op->getContext());
  if (scales < 0) {
    op->setAttr(getDecision(), builder.getI64IntegerAttr(number));
    return;
  }
  SmallVector<int64_t> both(2, -1);
  if (auto known = op->getAttrOfType<DenseI64ArrayAttr>(getDecision()))
    both.assign(known.asArrayRef().begin(), known.asArrayRef().end());
  both[scales] = number;
  op->setAttr(getDecision(), builder.getDenseI64ArrayAttr(both));
}

SmallVector<Operation *> TensorUse::getBegins() const {
  if (!flight)
    return {life.getBegin()};
  return llvm::map_to_vector(flight->begins,
                             [](const SumBegin &begin) { return begin.first->getOwner(); });
}

SlotKind TensorUse::getSlotKind(RoleAttr role) const {
  if (isSum()) {
    WaitOp wait = life.wait;
    return {wait.getPending().getType(), /*full=*/1, over ? 1 : role.getWarps(),
            kind == Carried || flight, flight ? flight->slots : 1};
  }
  return {PendingType::get(getWrittenType(), /*inTensorMemory=*/true), /*full=*/0, /*empty=*/1,
          /*isCarried=*/false, /*slots=*/scales < 0 ? 1 : kSlotsOfScales};
}

/// What is committed for another role is what a dot makes, or a condition chooses.
void TensorUses::findHandedOver(Value tensor) {
  if (!tensor.hasOneUse())
    return;
  if (auto wait = tensor.getDefiningOp<WaitOp>()) {
    handedOver.insert(wait);
    return;
  }
  auto condition = tensor.getDefiningOp<scf::IfOp>();
  if (!condition)
    return;
  unsigned index = cast<OpResult>(tensor).getResultNumber();
  for (scf::YieldOp yield : {condition.thenYield(), condition.elseYield()})
    findHandedOver(yield.getOperand(index));
}

/// All waits of a flight are for what is in use from its first begin to its last wait.
TensorUse TensorUses::makeFlightUse(const SumFlight &flight, WaitOp wait) const {
  SumBegin any = flight.begins.front();
  SumLife life = {any.first, wait, any.last.getAtom()};
  SlotSpan span = {life.getBegin(), wait};
  for (const SumBegin &begin : flight.begins)
    if (Operation *owner = begin.first->getOwner(); getNumber(owner) < getNumber(span.first))
      span.first = owner;
  for (WaitOp other : flight.waits)
    if (getNumber(other) > getNumber(span.last))
      span.last = other;
  TensorUse use = {TensorUse::Fetched, span, life, {}, {}};
  use.flight = &flight;
  return use;
}

TensorUses::TensorUses(Region &region) : flights(findFlights(region)) {
  for (const SumFlight &flight : flights)
    for (WaitOp wait : flight.waits)
      flightOf[wait] = &flight;
  region.walk<WalkOrder::PreOrder>([&](Operation *op) { numbers[op] = numbers.size(); });
  region.walk([&](CommitOp commit) {
    if (auto pend = commit.getAccumulator().getDefiningOp<PendOp>())
      findHandedOver(pend.getTensor());
  });
  SmallVector<TensorUse> sums;
  region.walk<WalkOrder::PreOrder>([&](WaitOp wait) {
    if (const SumFlight *flight = findFlight(wait)) {
      sums.push_back(makeFlightUse(*flight, wait));
      return;
    }
    std::optional<SumLife> life = findLife(wait);
    if (!life || !wait.getPending().getType().getInTensorMemory() || isHandedOver(wait))
      return;
    TensorUse use = {TensorUse::Fetched, {life->getBegin(), wait}, *life, {}, {}};
    auto place = wait->getAttrOfType<StringAttr>(kCarriedAttrName);
    bool stays = place && place == "tensor_memory";
    std::string expected;
    if (stays && findChoice(wait, expected)) {
      Operation *condition = wait->getParentOp();
      use.kind = TensorUse::Chosen;
      use.span = {life->getBegin(), condition};
      all.push_back(std::move(use));
      return;
    }
    if (stays && (use.carried = findCarriedSum(wait, expected))) {
      use.kind = TensorUse::Carried;
      use.span = {use.carried->loop, use.carried->loop.getBody()->getTerminator()};
    }
    sums.push_back(std::move(use));
  });
  // By their block, the tensor, and which way they read it: by its rows, transposed, or as scales.
  enum Way : unsigned { Rows, Transposed, Scales };
  llvm::MapVector<std::pair<std::pair<Block *, Value>, unsigned>, SmallVector<StartDotOp>> operands;
  region.walk([&](StartDotOp dot) {
    if (!dot.getType().getInTensorMemory())
      return;
    if (isa<RankedTensorType>(dot.getA().getType()))
      operands[{{dot->getBlock(), dot.getA()}, dot.getTransposeA() ? Transposed : Rows}].push_back(
          dot);
    for (auto [number, scales] : llvm::enumerate(dot.getScales()))
      if (isa<RankedTensorType>(scales.getType()))
        operands[{{dot->getBlock(), scales}, unsigned(Scales + number)}].push_back(dot);
  });
  for (auto &[place, dots] : operands)
    all.push_back({TensorUse::Operand,
                   {dots.front(), dots.back()},
                   {},
                   {},
                   dots,
                   place.second < Scales ? -1 : int(place.second - Scales)});
  llvm::append_range(all, sums);
}

/// That of the last op in an op.
int64_t TensorUses::getLastNumber(Operation *op) const {
  int64_t last = 0;
  op->walk([&](Operation *inner) { last = std::max(last, numbers.lookup(inner)); });
  return last;
}

bool TensorUses::areApart(const SlotSpan &one, const SlotSpan &other) const {
  return getLastNumber(one.last) < getNumber(other.first) ||
         getLastNumber(other.last) < getNumber(one.first);
}

void TensorUses::writeOver(TensorUse &operand, TensorUse &sum) {
  operand.over = &sum;
  sum.over = &operand;
  Operation *last = operand.dots.back();
  for (TensorUse &use : all)
    if ((&use == &sum || use.isSameFlight(sum)) && getNumber(use.span.last) < getNumber(last))
      use.span.last = last;
}

/// Of a the rows of its registers, whichever way it is read.
RankedTensorType TensorUse::getWrittenType() const {
  StartDotOp reader = dots.front();
  Value value = getRead(reader).get();
  auto type = cast<RankedTensorType>(value.getType());
  if (scales >= 0 || !reader.getTransposeA())
    return type;
  LinearLayout rows = getLayout(value).transposeOuts({1, 0});
  return withLayout(type.clone({type.getDimSize(1), type.getDimSize(0)}), rows);
}

bool kiln::fitsOver(const SumLife &life, const TensorUse &operand) {
  WaitOp wait = life.wait;
  RankedTensorType sum = wait.getPending().getType().getTensor(), type = operand.getWrittenType();
  // Rows beyond the instruction's are further columns, which are others of the operand.
  if (operand.scales >= 0 || sum.getDimSize(0) != cast<MmaAtomInterface>(life.atom).getExtents()[0])
    return false;
  int64_t bits = type.getElementTypeBitWidth() * type.getDimSize(1);
  return type.getDimSize(0) == sum.getDimSize(0) &&
         sum.getDimSize(1) * sum.getElementTypeBitWidth() % bits == 0;
}
