// Variation.h: a forward walk, again while what loops carry changes.
#include "Variation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

Variation::Variation(KernelOp kernel) {
  for (Block &block : kernel.getBody())
    while (visit(block)) {
    }
}

bool Variation::visit(Block &block) {
  bool changed = false;
  for (Operation &op : block)
    changed |= visit(op);
  return changed;
}

bool Variation::visit(Operation &op) {
  bool changed = false;
  auto join = [&](ValueRange values, ValueRange from) {
    for (auto [value, other] : llvm::zip(values, from))
      if (varies(other))
        changed |= add(value);
  };
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    join(loop.getRegionIterArgs(), loop.getInitArgs());
    if (anyVaries({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()}))
      changed |= add(loop.getInductionVar());
    changed |= visit(*loop.getBody());
    join(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands());
    join(loop.getResults(), loop.getRegionIterArgs());
    return changed;
  }
  bool areResults = false;
  if (auto query = dyn_cast<ProgramIdOp>(op))
    areResults = query.getAxis() == Axis::X;
  for (Region &region : op.getRegions())
    for (Block &block : region) {
      changed |= visit(block);
      // Of all other ops with regions that have results nobody asks which of them vary.
      if (!isa<scf::IfOp>(op))
        op.walk([&](Operation *inner) { areResults |= anyVaries(inner->getOperands()); });
    }
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults()) {
    join(branch.getResults(), branch.thenYield().getOperands());
    join(branch.getResults(), branch.elseYield().getOperands());
  }
  if (areResults || anyVaries(op.getOperands()))
    for (Value result : op.getResults())
      changed |= add(result);
  return changed;
}

std::optional<int64_t> Variation::getStep(Value value) const {
  if (!varies(value))
    return 0;
  // What narrower integers wrap at is nothing to count on.
  Operation *op = value.getDefiningOp();
  if (!op || !(value.getType().isIndex() || value.getType().isInteger(64)))
    return std::nullopt;
  auto found = steps.find(value);
  if (found != steps.end())
    return found->second;
  auto ofOperand = [&](unsigned index) { return getStep(op->getOperand(index)); };
  auto sum = [&](int64_t sign) -> std::optional<int64_t> {
    std::optional<int64_t> left = ofOperand(0), right = ofOperand(1);
    if (!left || !right)
      return std::nullopt;
    return sign > 0 ? llvm::checkedAdd(*left, *right) : llvm::checkedSub(*left, *right);
  };
  auto product = [&]() -> std::optional<int64_t> {
    for (unsigned index : {0u, 1u}) {
      std::optional<int64_t> by = getConstantIntValue(op->getOperand(1 - index));
      std::optional<int64_t> step = ofOperand(index);
      if (by && step)
        return llvm::checkedMul(*step, *by);
    }
    return std::nullopt;
  };
  std::optional<int64_t> step = TypeSwitch<Operation *, std::optional<int64_t>>(op)
                                    .Case<ProgramIdOp>([](auto) { return 1; })
                                    .Case<arith::AddIOp>([&](auto) { return sum(1); })
                                    .Case<arith::SubIOp>([&](auto) { return sum(-1); })
                                    .Case<arith::MulIOp>([&](auto) { return product(); })
                                    .Case<arith::IndexCastOp>([&](auto) { return ofOperand(0); })
                                    .Case<MultipleOfOp>([&](auto) { return ofOperand(0); })
                                    .Default(std::nullopt);
  return steps[value] = step;
}

std::optional<unsigned> kiln::findBatchedDim(const Variation &variation, ValueRange offsets,
                                             ArrayRef<int64_t> shape) {
  std::optional<unsigned> found;
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    if (!variation.varies(offset))
      continue;
    if (found || variation.getStep(offset) != shape[dim])
      return std::nullopt;
    found = dim;
  }
  return found;
}
