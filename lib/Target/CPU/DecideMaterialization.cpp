// Decides which tensors live in scratch memory and which are computed where they are used.
//
// Consumers are decided before producers, so that for each tensor the ops that will run its
// computation (its roots) are known: its users, or theirs if they are computed in place too.
#include "Materialization.h"
#include "kiln/Target/CPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace kiln::cpu {
#define GEN_PASS_DEF_DECIDEMATERIALIZATION
#include "kiln/Target/CPU/Passes.h.inc"
} // namespace kiln::cpu

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

namespace {

/// Above this, work that would be repeated is kept in a buffer instead. A load is 3.
constexpr int64_t kCheap = 6;

int64_t costOf(Operation *op) {
  if (isa<arith::ConstantOp, tile::SplatOp, tile::IotaOp, tile::BroadcastOp, tile::ReshapeOp,
          tile::TransposeOp, tile::SliceOp, tile::SplitOp>(op))
    return 0;
  if (isa<tile::LoadOp, tile::ReadOp>(op))
    return 3;
  if (isa<tile::GatherOp>(op))
    return 16;
  if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
          arith::RemUIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op))
    return 8;
  if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp, math::CountLeadingZerosOp,
          math::CountTrailingZerosOp, math::CtPopOp, math::FloorOp, math::FmaOp>(op))
    return 1;
  if (isa<math::MathDialect>(op->getDialect()))
    return 16;
  for (Type type : op->getOperandTypes()) // narrow floats are expanded to integer arithmetic
    if (Type element = getElementTypeOrSelf(type);
        isa<FloatType>(element) && element.getIntOrFloatBitWidth() <= 8)
      return 6;
  return 1;
}

struct Decider {
  tile::KernelOp kernel;
  SmallVector<int64_t> bytes;
  DenseMap<Value, int64_t> cost;
  DenseMap<Value, llvm::SmallSetVector<Operation *, 4>> roots;

  int64_t makeBuffer(int64_t size) {
    bytes.push_back(llvm::alignTo(std::max<int64_t>(size, 1), 64));
    return bytes.size() - 1;
  }
  int64_t makeBuffer(Type type) { return makeBuffer(bytesOf(cast<RankedTensorType>(type))); }

  void estimate(Operation *op);
  bool mustKeep(Operation *op, OpResult result);
  bool writtenBetween(Operation *op, Operation *root, bool (*writes)(Operation *));
  void decide(Operation *op);
  void decideTemps(Operation *op);
  void decideYield(Operation *yield);
  void run();
};

/// What computing one element costs if everything cheap is computed in place.
void Decider::estimate(Operation *op) {
  int64_t sum = costOf(op);
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      sum += cost.lookup(operand);
  for (Value result : op->getResults()) {
    bool kept = !isInlineable(op) || (sum > kCheap && !result.hasOneUse());
    cost[result] = kept ? 2 : sum;
  }
}

/// Whether a write may come between `op`, which reads memory, and `root`, which would do it.
bool Decider::writtenBetween(Operation *op, Operation *root, bool (*writes)(Operation *)) {
  Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*root);
  for (Operation *other = op->getNextNode(); other && other != ancestor;
       other = other->getNextNode())
    if (writes(other))
      return true;
  if (ancestor == root || !writes(ancestor))
    return false;
  bool inLoop = false, otherWrites = false;
  for (Operation *parent = root->getParentOp(); parent != op->getParentOp();
       parent = parent->getParentOp())
    inLoop |= isa<LoopLikeOpInterface>(parent);
  ancestor->walk([&](Operation *inner) {
    otherWrites |= inner->getNumRegions() == 0 && inner != root && writes(inner);
  });
  return inLoop || otherWrites;
}

bool Decider::mustKeep(Operation *op, OpResult result) {
  if (!isInlineable(op))
    return true;
  if (isa<tile::SplatOp, tile::IotaOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return false;
  auto &mine = roots[result];
  int64_t price = cost.lookup(result);
  int64_t full = costOf(op);
  for (Value operand : op->getOperands())
    full += cost.lookup(operand);
  bool readsGlobal = isa<tile::LoadOp, tile::GatherOp>(op), readsShared = isa<tile::ReadOp>(op);
  for (Operation *root : mine) {
    if (readsGlobal) {
      if (writtenBetween(op, root, writesGlobal))
        return true;
      // A store copies what it may overlap; the writes of others fall anywhere.
      bool store = isa<tile::StoreOp>(root);
      if (writesGlobal(root) && root->getNumRegions() == 0 && !(store && isa<tile::LoadOp>(op)))
        return true;
    }
    if (readsShared && (writtenBetween(op, root, writesShared) ||
                        (isa<tile::WriteOp>(root) &&
                         !readsSameElement(cast<tile::WriteOp>(root).getValue(), result))))
      return true;
    bool perLane = isa<tile::SortOp, tile::TopKOp, tile::TakeOp, tile::HistogramOp, tile::PrintOp,
                       tile::AtomicRMWOp, tile::AtomicCASOp, tile::ScanOp>(root);
    if (perLane && full > kCheap)
      return true;
    // A loop between the two repeats the computation.
    for (Operation *parent = root->getParentOp(); parent != op->getParentOp();
         parent = parent->getParentOp())
      if (isa<LoopLikeOpInterface>(parent) && full > 1)
        return true;
  }
  if ((mine.size() > 1 && full > kCheap) || (mine.size() > 3 && price > 1))
    return true;
  for (Operation *user : result.getUsers()) {
    if (isa<tile::BroadcastOp>(user) && full > 4)
      return true;
    if (auto reshape = dyn_cast<tile::ReshapeOp>(user);
        reshape && mergesDimensions(reshape.getInput().getType().getShape(),
                                    reshape.getResult().getType().getShape()))
      return true;
  }
  return false;
}

/// Yielded tensors that would overwrite what others still read go through buffers of their own.
/// Only a loop reads what it overwrites: a branch has no operands, and the two sides of scf.while
/// have buffers each.
void Decider::decideYield(Operation *yield) {
  SmallVector<int64_t> temps(yield->getNumOperands(), -1);
  if (auto loop = dyn_cast<scf::ForOp>(yield->getParentOp()))
    for (unsigned k : planYields(loop).temps)
      temps[k] = makeBuffer(yield->getOperand(k).getType());
  yield->setAttr(kTempsAttr, DenseI64ArrayAttr::get(yield->getContext(), temps));
}

/// Buffers for packed operands, sorted keys and copies.
void Decider::decideTemps(Operation *op) {
  SmallVector<int64_t> temps;
  for (int64_t size : tempBytes(op))
    temps.push_back(makeBuffer(size));
  if (!temps.empty() || needsTemps(op))
    op->setAttr(kTempsAttr, DenseI64ArrayAttr::get(op->getContext(), temps));
}

void Decider::decide(Operation *op) {
  MLIRContext *context = op->getContext();
  SmallVector<int64_t> buffers;
  bool any = false;
  for (OpResult result : op->getResults()) {
    int64_t buffer = -1;
    if (auto type = dyn_cast<RankedTensorType>(result.getType())) {
      auto &mine = roots[result];
      for (Operation *user : result.getUsers()) {
        if (isInlineable(user) && user->getNumResults() && isInline(user->getResult(0)) &&
            isa<RankedTensorType>(user->getResult(0).getType()))
          for (Value theirs : user->getResults())
            mine.insert(roots[theirs].begin(), roots[theirs].end());
        else
          mine.insert(user);
      }
      if (mustKeep(op, result))
        buffer = makeBuffer(type);
      any |= buffer >= 0;
    }
    buffers.push_back(buffer);
  }
  if (any)
    op->setAttr(kBuffersAttr, DenseI64ArrayAttr::get(context, buffers));
}

/// Whether the dot may add into the buffer that the loop carries: nobody reads it afterwards.
static bool canAccumulateInPlace(tile::DotOp dot, BlockArgument carried) {
  if (dot.getResult().getType().getElementType().isF16())
    return false;
  bool fine = readsSameElement(dot.getAccumulator(), carried);
  Block *body = carried.getOwner();
  auto readsCarried = [&](Value tensor) {
    bool found = false;
    walkTree(tensor, [&](Value value) { found |= value == carried; });
    return found;
  };
  body->walk([&](Operation *op) {
    bool root = false;
    for (Value operand : op->getOperands()) {
      if (!isa<RankedTensorType>(operand.getType()) || !readsCarried(operand))
        continue;
      root |= op != dot || operand != dot.getAccumulator();
    }
    if (!root || (op->getNumResults() && isInline(op->getResult(0))))
      return;
    Operation *ancestor = body->findAncestorOpInBlock(*op);
    fine &= ancestor != dot && ancestor->isBeforeInBlock(dot);
  });
  return fine;
}

void Decider::run() {
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { estimate(op); });

  // Buffers of control flow come first: what is inside refers to them.
  auto number = [&](TypeRange types) {
    SmallVector<int64_t> buffers;
    for (Type type : types)
      buffers.push_back(isa<RankedTensorType>(type) ? makeBuffer(type) : -1);
    return DenseI64ArrayAttr::get(kernel.getContext(), buffers);
  };
  kernel.getBody().walk([&](Operation *op) {
    if (isa<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp>(op))
      op->setAttr(kBuffersAttr, number(op->getResultTypes()));
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      op->setAttr(kBeforeBuffersAttr, number(loop.getBefore().getArgumentTypes()));
  });

  SmallVector<Operation *> order;
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) { order.push_back(op); });
  for (Operation *op : llvm::reverse(order))
    if (!op->hasAttr(kBuffersAttr))
      decide(op);

  for (Operation *op : order) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop)
      continue;
    auto buffers = op->getAttrOfType<DenseI64ArrayAttr>(kBuffersAttr);
    for (auto [k, value] : llvm::enumerate(loop.getYieldedValues())) {
      auto dot = value.getDefiningOp<tile::DotOp>();
      if (dot && dot->getBlock() == loop.getBody() &&
          canAccumulateInPlace(dot, loop.getRegionIterArg(k)))
        dot->setAttr(kBuffersAttr, DenseI64ArrayAttr::get(op->getContext(), buffers[k]));
    }
  }
  for (Operation *op : order)
    if (fillingReduction(op))
      op->setAttr(kFusedAttr, UnitAttr::get(op->getContext()));
  for (Operation *op : order) {
    if (isa<scf::YieldOp>(op))
      decideYield(op);
    decideTemps(op);
  }
  kernel->setAttr(kBufferBytesAttr, DenseI64ArrayAttr::get(kernel.getContext(), bytes));
}

struct DecidePass : kiln::cpu::impl::DecideMaterializationBase<DecidePass> {
  using DecideMaterializationBase::DecideMaterializationBase;
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](tile::KernelOp kernel) -> WalkResult {
      if (failed(checkUndecided(kernel)))
        return WalkResult::interrupt();
      Decider decider;
      decider.kernel = kernel;
      decider.run();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
