// SinkReads.h: which ops may wait, and where they go.
#include "SinkReads.h"
#include "kiln/Target/Common/Threads.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace kiln;

/// Whether reads that follow may change places with it.
static bool isReadOrPure(Operation &op) { return isa<LLVM::LoadOp>(op) || isMemoryEffectFree(&op); }

/// Global memory is slow to answer: what is read there is asked for early.
static bool isGlobalRead(Operation &op) {
  auto load = dyn_cast<LLVM::LoadOp>(op);
  return load && load.getAddr().getType().getAddressSpace() != kSharedSpace;
}

ReadSinker::ReadSinker(OpBuilder &builder, Operation *prologueEnd, ArrayRef<Value> wanted,
                       ArrayRef<Value> neededAtOnce)
    : builder(builder) {
  DenseSet<Operation *> needed, chain;
  for (Value value : neededAtOnce)
    needed.insert(value.getDefiningOp());
  for (Value value : wanted)
    chain.insert(value.getDefiningOp());
  for (Operation &op :
       llvm::reverse(llvm::make_range(builder.getBlock()->begin(), builder.getInsertionPoint()))) {
    if (&op == prologueEnd || !isReadOrPure(op))
      return;
    // Elements that were gathered to a tensor and taken out of it again leave the gathering behind,
    // for those who ask for the tensor.
    bool isGathering = isa<vector::FromElementsOp>(op) && op.use_empty();
    if ((!chain.contains(&op) && !isGathering) || needed.contains(&op) || isGlobalRead(op) ||
        !llvm::all_of(op.getUsers(), [&](Operation *user) { return waiting.contains(user); }))
      continue;
    waiting.insert(&op);
    order.push_back(&op);
    if (!isGathering)
      for (Value operand : op.getOperands())
        chain.insert(operand.getDefiningOp());
  }
}

void ReadSinker::need(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !waiting.erase(op))
    return;
  for (Value operand : op->getOperands())
    need(operand);
  op->moveBefore(builder.getBlock(), builder.getInsertionPoint());
}

void ReadSinker::finish() {
  for (Operation *op : llvm::reverse(order))
    if (waiting.contains(op))
      op->moveBefore(builder.getBlock(), builder.getInsertionPoint());
  waiting.clear();
}
