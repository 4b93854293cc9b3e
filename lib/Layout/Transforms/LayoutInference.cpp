// The forward walk: anchors, and how each kind of op carries a layout on.
#include "LayoutInference.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static bool isTensor(Value value) { return isa<RankedTensorType>(value.getType()); }

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

//===- Threads ------------------------------------------------------------------------------===//

ThreadShape ProgramThreads::ofRole(StringRef name) const {
  auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName).getAsRange<RoleAttr>();
  auto found = llvm::find_if(roles, [&](RoleAttr role) { return role.getName() == name; });
  RoleAttr role = found == roles.end() ? *roles.begin() : *found;
  return {lanes, unsigned(role.getTotalWarps()), unsigned(role.getCopies())};
}

ThreadShape ProgramThreads::of(Value tensor) const {
  if (!kernel->hasAttr(kRolesAttrName))
    return {lanes, unsigned(kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName).getInt())};
  auto [at, isNew] = known.try_emplace(tensor);
  if (isNew) {
    llvm::SetVector<StringRef> names = findMakers(tensor);
    if (names.empty())
      names = findUsers(tensor);
    at->second = ofRole(names.empty() ? "" : names.front());
  }
  return at->second;
}

ThreadShape ProgramThreads::of(Operation *op) const {
  if (StringRef name = getRoleName(op); !name.empty() && kernel->hasAttr(kRolesAttrName))
    return ofRole(name);
  for (ValueRange values : {ValueRange(op->getResults()), ValueRange(op->getOperands())})
    for (Value value : values)
      if (isTensor(value))
        return of(value);
  return {lanes, 1};
}

//===- The walk -----------------------------------------------------------------------------===//

LayoutInference::LayoutInference(KernelOp kernel, const ProgramThreads &threads)
    : threads(threads) {
  // One width for the whole kernel, so that tensors of one shape share one layout.
  kernel.getBody().walk([&](Operation *op) {
    if (isa<LoadOp, StoreOp>(op))
      width = std::max(width, getAccessFacts(op).width);
    if (auto run = op->getAttrOfType<DenseI64ArrayAttr>(kRunAttrName))
      width = std::max(width, run[1]);
  });
  visit(kernel.getBody().front());
}

LinearLayout LayoutInference::getBlocked(Value value, ThreadShape shape, int fastest) const {
  return getBlockedLayout(shapeOf(value), width, shape, fastest);
}

LinearLayout LayoutInference::getStored(StoreOp store) const {
  Value value = store.getValue();
  // An engine's copies are coalesced whatever the threads hold, and a role's are as they are made.
  if (store.getAtomAttr())
    return get(value);
  LinearLayout here = lookup(value, threads.of(store)).layout;
  if (store.getRole())
    return here;
  AccessFacts facts = getAccessFacts(store);
  Type element = cast<RankedTensorType>(value.getType()).getElementType();
  if (facts.dim < 0 || !element.isIntOrFloat())
    return here;
  LinearLayout blocked = canonicalise(getBlocked(value, facts.dim));
  int64_t bytes = std::max(1u, element.getIntOrFloatBitWidth() / 8);
  auto count = [&](const LinearLayout &layout) {
    int64_t contiguous = layout.getContiguity(kRegister, getDimName(facts.dim));
    return countSectors(layout, facts.dim, std::min(facts.width, contiguous), bytes);
  };
  return count(here) >= 2 * count(blocked) ? blocked : here;
}

void LayoutInference::set(Value value, const LinearLayout &layout, Strength strength) {
  if (!isTensor(value))
    return;
  auto type = cast<RankedTensorType>(value.getType());
  // What the author has pinned stays.
  auto pinned = dyn_cast_or_null<LayoutAttr>(type.getEncoding());
  if (Operation *op = value.getDefiningOp(); op && op->hasAttr(kLayoutAttrName))
    pinned = op->getAttrOfType<LayoutAttr>(kLayoutAttrName);
  if (pinned)
    layouts[value] = {canonicalise(pinned.toLinear(type.getShape())), Anchored};
  else
    layouts[value] = {canonicalise(layout), strength};
}

LayoutInference::Entry LayoutInference::lookup(Value value) const {
  return layouts.find(value)->second;
}

LayoutInference::Entry LayoutInference::lookup(Value value, ThreadShape shape) const {
  if (threads.of(value) == shape)
    return lookup(value);
  return {canonicalise(getBlocked(value, shape)), Plain};
}

void LayoutInference::visit(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

void LayoutInference::visitElementwise(Operation *op) {
  std::optional<Entry> best; // a copy: setting the first result may move the table
  // What is made of free values alone is made again as well as they are.
  Strength least = isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ? Free : Plain;
  for (Value operand : op->getOperands())
    if (isTensor(operand)) {
      if (!has(operand))
        continue;
      Entry entry = lookup(operand, threads.of(op));
      if (!best || entry.strength > best->strength)
        best = entry;
    }
  for (Value result : op->getResults())
    if (isTensor(result)) {
      if (best)
        set(result, best->layout, std::max(best->strength, least));
      else
        set(result, getBlocked(result), Plain);
    }
}

void LayoutInference::visitShape(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case<ReshapeOp>([&](ReshapeOp reshape) {
        Entry input = lookup(reshape.getInput(), threads.of(op));
        set(reshape.getResult(), input.layout.reshapeOuts(shapeOf(reshape.getResult())),
            input.strength);
      })
      .Case<TransposeOp>([&](TransposeOp transpose) {
        Entry input = lookup(transpose.getInput(), threads.of(op));
        SmallVector<unsigned> permutation(transpose.getPermutation());
        set(transpose.getResult(), input.layout.transposeOuts(permutation), input.strength);
      });
}

void LayoutInference::visitLoop(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  for (auto [init, argument] : llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs()))
    if (isTensor(init)) {
      Entry entry = lookup(init, threads.of(argument));
      set(argument, entry.layout, entry.strength);
    }
  // Strengths only grow, and there are three, so this ends.
  bool changed = true;
  for (unsigned round = 0; changed && round < 2 * loop.getNumRegionIterArgs() + 1; ++round) {
    visit(*loop.getBody());
    changed = false;
    for (auto [argument, yielded] :
         llvm::zip(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands())) {
      if (!isTensor(argument))
        continue;
      Entry before = lookup(argument), after = lookup(yielded, threads.of(argument));
      if (after.strength > before.strength) {
        set(argument, after.layout, after.strength);
        changed = true;
      }
    }
  }
  for (auto [result, argument] : llvm::zip(loop.getResults(), loop.getRegionIterArgs()))
    if (isTensor(result))
      set(result, lookup(argument).layout, lookup(argument).strength);
}

void LayoutInference::visitWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  for (auto [init, argument] : llvm::zip(loop.getInits(), loop.getBeforeArguments()))
    if (isTensor(init))
      set(argument, lookup(init, threads.of(argument)).layout, Plain);
  visit(*loop.getBeforeBody());
  auto passed = loop.getConditionOp().getArgs();
  for (auto [value, argument, result] :
       llvm::zip(passed, loop.getAfterArguments(), loop.getResults()))
    if (isTensor(value))
      for (Value each : {Value(argument), Value(result)})
        set(each, lookup(value, threads.of(each)).layout, Plain);
  visit(*loop.getAfterBody());
}

void LayoutInference::visitIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
    if (!region->empty())
      visit(region->front());
  for (auto [index, result] : llvm::enumerate(branch.getResults())) {
    if (!isTensor(result))
      continue;
    Entry left = lookup(branch.thenYield().getOperand(index), threads.of(result));
    Entry right = lookup(branch.elseYield().getOperand(index), threads.of(result));
    Entry best = right.strength > left.strength ? right : left;
    set(result, best.layout, std::max(best.strength, Plain));
  }
}

void LayoutInference::visit(Operation *op) {
  TypeSwitch<Operation *>(op)
      .Case<scf::ForOp>([&](auto) { visitLoop(op); })
      .Case<scf::IfOp>([&](auto) { visitIf(op); })
      .Case<ReshapeOp, TransposeOp>([&](auto) { visitShape(op); })
      .Case<SplatOp, IotaOp, BroadcastOp>(
          [&](auto) { set(op->getResult(0), getBlocked(op->getResult(0)), Free); })
      .Case<DotOp>([&](DotOp dot) {
        set(dot.getResult(), getDotLayouts(dot, dot.getAtomAttr(), threads.of(op)).accumulator,
            Anchored);
      })
      .Case<DotScaledOp>([&](DotScaledOp dot) {
        auto atom = cast<ScaledMmaAtomInterface>(dot.getAtomAttr());
        set(dot.getResult(), getDotLayouts(dot, atom, threads.of(op)).back(), Anchored);
      })
      .Case<ReduceOp>([&](ReduceOp reduce) {
        Entry input = lookup(reduce.getInputs().front(), threads.of(op));
        LinearLayout wanted = getWanted(reduce->getOpOperand(0));
        for (Value result : reduce.getResults())
          set(result, dropDim(wanted, reduce.getAxis()), input.strength);
      })
      .Case<ConvertLayoutOp>([&](ConvertLayoutOp convert) {
        set(convert.getResult(), getLayout(convert.getResult()), Anchored);
      })
      .Case<scf::WhileOp>([&](auto) { visitWhile(op); })
      .Case<ScanOp>([&](ScanOp scan) {
        LinearLayout wanted = getWanted(scan->getOpOperand(0));
        for (Value result : scan.getResults())
          set(result, wanted,
              std::max(lookup(scan.getInputs().front(), threads.of(op)).strength, Plain));
      })
      .Case<JoinOp>([&](JoinOp join) {
        Entry left = lookup(join.getLeft(), threads.of(op));
        Entry right = lookup(join.getRight(), threads.of(op));
        const Entry &best = right.strength > left.strength ? right : left;
        set(join.getResult(), joinPairs(best.layout), best.strength);
      })
      .Case<SplitOp>([&](SplitOp split) {
        Entry input = lookup(split.getInput(), threads.of(op));
        std::optional<LinearLayout> each = splitPairs(input.layout);
        for (Value result : split.getResults())
          set(result, each ? *each : getBlocked(result), each ? input.strength : Plain);
      })
      .Case<SliceOp, ConcatOp, BitcastOp, TopKOp, TakeOp, HistogramOp>([&](auto) {
        if (auto bitcast = dyn_cast<BitcastOp>(op); bitcast && bitcast.keepsElements())
          return visitElementwise(op);
        for (Value result : op->getResults())
          set(result, getBlocked(result), Plain);
      })
      .Case<LoadOp>([&](LoadOp load) {
        int row = getAccessFacts(load.getView(), load.getOffsets()).dim, dim = -1;
        for (unsigned own = 0; own < shapeOf(load.getResult()).size(); ++own)
          if (int(getViewDim(own, load.getDropped())) == row)
            dim = own;
        set(load.getResult(), getBlocked(load.getResult(), dim), load.getAtomAttr() ? Free : Plain);
      })
      .Case<GatherOp>([&](GatherOp gather) {
        auto run = gather->getAttrOfType<DenseI64ArrayAttr>(kRunAttrName);
        if (!run)
          return visitElementwise(op);
        set(gather.getResult(), getBlocked(gather.getResult(), run[0]), Plain);
      })
      .Case<ReadOp>([&](auto) { set(op->getResult(0), getBlocked(op->getResult(0)), Plain); })
      .Default([&](Operation *) {
        if (op->hasTrait<OpTrait::ConstantLike>() && isTensor(op->getResult(0)))
          set(op->getResult(0), getBlocked(op->getResult(0)), Free);
        else
          visitElementwise(op);
      });
}

LinearLayout LayoutInference::getWanted(OpOperand &operand) const {
  Operation *op = operand.getOwner();
  unsigned index = operand.getOperandNumber();
  ThreadShape shape = threads.of(op);
  LinearLayout here = lookup(operand.get(), shape).layout;
  return TypeSwitch<Operation *, LinearLayout>(op)
      .Case<scf::ForOp>(
          [&](scf::ForOp loop) { return get(loop.getTiedLoopRegionIterArg(&operand)); })
      .Case<scf::WhileOp>([&](scf::WhileOp loop) { return get(loop.getBeforeArguments()[index]); })
      .Case<scf::ConditionOp>([&](auto) { return get(op->getParentOp()->getResult(index - 1)); })
      .Case<ScanOp>([&](ScanOp scan) {
        LinearLayout first = lookup(scan.getInputs().front(), shape).layout;
        return isSeparable(first, scan.getAxis()) ? first : getBlocked(operand.get(), shape);
      })
      .Case<ScatterOp>([&](ScatterOp scatter) { return get(scatter.getValue()); })
      .Case<HistogramOp>([&](HistogramOp histogram) { return get(histogram.getInput()); })
      .Case<TakeOp>([&](TakeOp take) { return index == 0 ? here : get(take.getResult()); })
      .Case<JoinOp>([&](JoinOp join) {
        // Both halves alike, whatever the author has pinned of the whole.
        return splitPairs(get(join.getResult())).value_or(lookup(join.getLeft(), shape).layout);
      })
      .Case<SliceOp, ConcatOp, SplitOp, SortOp, TopKOp, PrintOp, AssertOp>(
          [&](auto) { return here; })
      .Case<BitcastOp>([&](BitcastOp bitcast) {
        return bitcast.keepsElements() ? get(bitcast.getResult()) : here;
      })
      .Case<scf::YieldOp>([&](auto) {
        Operation *parent = op->getParentOp();
        if (auto loop = dyn_cast<scf::ForOp>(parent))
          return get(loop.getRegionIterArgs()[index]);
        if (auto loop = dyn_cast<scf::WhileOp>(parent))
          return get(loop.getBeforeArguments()[index]);
        return get(parent->getResult(index));
      })
      .Case<BroadcastOp>([&](BroadcastOp broadcast) {
        return projectTo(get(broadcast.getResult()), shapeOf(operand.get()));
      })
      .Case<ReduceOp>([&](ReduceOp reduce) {
        LinearLayout first = lookup(reduce.getInputs().front(), shape).layout;
        if (isSeparable(first, reduce.getAxis()))
          return first;
        return getBlocked(operand.get(), shape);
      })
      .Case<DotOp>([&](DotOp dot) {
        bool isPinned = cast<RankedTensorType>(operand.get().getType()).getEncoding() != nullptr;
        if (isPinned && index < 2)
          return here;
        DotLayouts layouts = getDotLayouts(dot, dot.getAtomAttr(), shape, &get(dot.getResult()));
        return index == 0 ? layouts.a : index == 1 ? layouts.b : layouts.accumulator;
      })
      .Case<DotScaledOp>([&](DotScaledOp dot) {
        auto atom = cast<ScaledMmaAtomInterface>(dot.getAtomAttr());
        return getDotLayouts(dot, atom, shape)[index];
      })
      .Case<StoreOp>([&](StoreOp store) { return getStored(store); })
      .Case<ConvertLayoutOp>([&](auto) { return get(operand.get()); })
      .Case<ReshapeOp, TransposeOp, ToScalarOp, WriteOp>([&](auto) { return here; })
      .Default([&](Operation *) {
        for (Value result : op->getResults())
          if (isTensor(result))
            return get(result);
        return here;
      });
}
