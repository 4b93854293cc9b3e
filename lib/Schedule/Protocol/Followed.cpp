// Of what roles compute, what tells their slots, their conditions and their loops: most of it is
// places in global memory and tensors, which no trace asks for.
#include "Numbers.h"
#include "Protocol.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

void kiln::protocol::findSources(Value value, SmallVectorImpl<Value> &sources) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Block *block = argument.getOwner();
    Operation *parent = block->getParentOp();
    unsigned number = argument.getArgNumber();
    if (auto loop = dyn_cast<scf::ForOp>(parent); loop && number > 0) {
      sources.append({loop.getInitArgs()[number - 1],
                      loop.getBody()->getTerminator()->getOperand(number - 1)});
    } else if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      if (block == loop.getBeforeBody())
        sources.append({loop.getInits()[number], loop.getYieldOp().getOperand(number)});
      else
        sources.push_back(loop.getConditionOp().getArgs()[number]);
    }
    return;
  }
  auto result = cast<OpResult>(value);
  unsigned number = result.getResultNumber();
  Operation *op = result.getOwner();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    sources.append(
        {loop.getInitArgs()[number], loop.getBody()->getTerminator()->getOperand(number)});
  else if (auto loop = dyn_cast<scf::WhileOp>(op))
    sources.push_back(loop.getConditionOp().getArgs()[number]);
  else if (auto condition = dyn_cast<scf::IfOp>(op))
    for (Region &region : condition->getRegions())
      sources.push_back(region.front().getTerminator()->getOperand(number));
}

Followed::Followed(WarpGroupsOp groups) {
  SmallVector<Value> values;
  auto append = [&](Value value) {
    if (value)
      values.push_back(value);
  };
  auto isNumber = [](Value value) { return value.getType().isIntOrIndexOrFloat(); };
  groups->walk([&](Operation *op) {
    if (isa<scf::ForOp>(op))
      values.append(op->operand_begin(), op->operand_begin() + 3);
    else if (isa<scf::IfOp, scf::ConditionOp>(op))
      values.push_back(op->getOperand(0));
    else if (auto copy = dyn_cast<CopyInOp>(op))
      append(copy.getMask()); // where it copies from, nobody asks
    else if (isa<CopyOutOp>(op))
      return;
    else if (op->getNumRegions() == 0 ? matters(op) : isa<PutOp>(op))
      llvm::append_range(values, llvm::make_filter_range(op->getOperands(), isNumber));
  });
  DenseSet<Value> seen;
  while (!values.empty()) {
    Value value = values.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    size_t before = values.size();
    findSources(value, values);
    Operation *op = value.getDefiningOp();
    if (!op || values.size() > before)
      continue;
    // Inside of an op, too, whatever that takes.
    ops.insert(op);
    op->walk([&](Operation *inner) { llvm::append_range(values, inner->getOperands()); });
  }
}
