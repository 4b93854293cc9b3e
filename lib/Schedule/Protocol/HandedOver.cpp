// Numbers that go from one role to others: where what an op makes is put, and whether what is put
// has a name. A loop may carry a number to a later trip, which puts it.
#include "Numbers.h"
#include "Protocol.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

namespace {
/// What a number is also: a value, so many trips later.
struct Later {
  Value value;
  int64_t trips;
};

/// Follows a number that an op makes to the op that writes it to a slot.
class HandOverFinder {
public:
  explicit HandOverFinder(Value number) : op(number.getDefiningOp()), number(number) {}
  /// Behind loops, too, or where they hand on alone.
  std::optional<HandedOver> find(bool isBehindLoops);

private:
  void follow(OpOperand &use, int64_t trips, bool isBehindLoops);
  std::optional<HandedOver> findPut(Operation *write, int64_t trips);
  void add(Value value, int64_t trips) {
    if (seen.insert(value).second)
      values.push_back({value, trips});
  }

  Operation *op;
  Value number;
  SmallVector<Later> values;
  llvm::SmallPtrSet<Value, 8> seen;
};
} // namespace

void HandOverFinder::follow(OpOperand &use, int64_t trips, bool isBehindLoops) {
  Operation *user = use.getOwner();
  unsigned at = use.getOperandNumber();
  if (isa<arith::IndexCastOp, arith::ExtUIOp, SplatOp>(user)) {
    add(user->getResult(0), trips);
  } else if (auto loop = dyn_cast<scf::ForOp>(user); loop && at >= loop.getNumControlOperands()) {
    add(loop.getRegionIterArg(at - loop.getNumControlOperands()), trips);
  } else if (auto loop = dyn_cast<scf::WhileOp>(user)) {
    add(loop.getBeforeArguments()[at], trips);
  } else if (auto condition = dyn_cast<scf::ConditionOp>(user); condition && at > 0) {
    auto loop = cast<scf::WhileOp>(user->getParentOp());
    add(loop.getAfterArguments()[at - 1], trips);
    if (isBehindLoops)
      add(loop.getResult(at - 1), trips);
  } else if (isa<scf::YieldOp>(user)) {
    Operation *parent = user->getParentOp();
    if (auto loop = dyn_cast<scf::WhileOp>(parent))
      return add(loop.getBeforeArguments()[at], trips + 1);
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (loop)
      add(loop.getRegionIterArg(at), trips + 1);
    if (!loop || isBehindLoops)
      add(parent->getResult(at), trips);
  }
}

/// How many puts stand between an op and another one behind it, which may stand in a loop or a
/// condition.
static int64_t countPuts(Operation *from, Operation *to, Value channel) {
  Block *block = from->getBlock();
  int64_t count = 0;
  for (Operation *user : channel.getUsers()) {
    Operation *at = block->findAncestorOpInBlock(*user);
    auto loop = user->getParentOfType<LoopLikeOpInterface>();
    bool isInLoop = loop && block->findAncestorOpInBlock(*loop);
    count +=
        isa<PutOp>(user) && at && !isInLoop && from->isBeforeInBlock(at) && at->isBeforeInBlock(to);
  }
  return count;
}

/// Where it is put, and how many others are in between. Each trip puts one, but the trip that makes
/// it may have done so before.
std::optional<HandedOver> HandOverFinder::findPut(Operation *write, int64_t trips) {
  auto put = dyn_cast<PutOp>(write->getParentOp());
  BufferType buffer =
      isa<WriteOp>(write) && put ? put.getChannel().getType().getBuffer(0) : BufferType();
  if (!buffer || ShapedType::getNumElements(buffer.getShape()) != 1)
    return std::nullopt;
  int64_t behind = trips;
  Operation *maker = put->getBlock()->findAncestorOpInBlock(*op);
  if (maker && trips > 0)
    behind -= put->isBeforeInBlock(maker);
  else if (Operation *at = op->getBlock()->findAncestorOpInBlock(*put))
    behind += countPuts(op, at, put.getChannel());
  return HandedOver{getCapture(put.getChannel()), buffer.getElementType().getIntOrFloatBitWidth(),
                    behind};
}

std::optional<HandedOver> HandOverFinder::find(bool isBehindLoops) {
  seen.clear();
  add(number, 0);
  while (!values.empty()) {
    auto [value, trips] = values.pop_back_val();
    for (OpOperand &use : value.getUses()) {
      if (std::optional<HandedOver> put = findPut(use.getOwner(), trips))
        return put;
      follow(use, trips, isBehindLoops);
    }
  }
  return std::nullopt;
}

/// Whether a value is an op's own, and no more than what is handed to it, or a cast of that.
static bool isMade(Value number) {
  Operation *op = number.getDefiningOp();
  if (!op || op->getNumRegions() > 0)
    return false;
  if (!isa<arith::IndexCastOp, arith::ExtUIOp>(op))
    return true;
  SmallVector<Value> sources;
  findSources(op->getOperand(0), sources);
  return isa<BlockArgument>(op->getOperand(0)) && sources.empty();
}

std::optional<HandedOver> kiln::protocol::findHandedOver(Value number) {
  if (!isMade(number))
    return std::nullopt;
  HandOverFinder finder(number);
  std::optional<HandedOver> found = finder.find(/*isBehindLoops=*/false);
  return found ? found : finder.find(/*isBehindLoops=*/true);
}

/// What is splat of what a value is; null if that is no splat.
static SplatOp findSplat(Value value) {
  SmallVector<Value> values = {value};
  llvm::SmallPtrSet<Value, 8> seen = {value};
  while (!values.empty()) {
    Value each = values.pop_back_val();
    if (auto splat = each.getDefiningOp<SplatOp>())
      return splat;
    SmallVector<Value> sources;
    findSources(each, sources);
    llvm::copy_if(sources, std::back_inserter(values),
                  [&](Value source) { return seen.insert(source).second; });
  }
  return {};
}

bool kiln::protocol::hasName(WarpGroupsOp groups, unsigned channel) {
  for (Region &role : groups.getBodies())
    for (Operation *user : role.getArgument(channel).getUsers()) {
      auto put = dyn_cast<PutOp>(user);
      if (!put)
        continue;
      for (auto write : put.getBody().front().getOps<WriteOp>()) {
        SplatOp splat = findSplat(write.getValue());
        auto scalar = splat ? splat.getValue().getDefiningOp<ToScalarOp>() : ToScalarOp();
        return isa<FloatType>(write.getValue().getType().getElementType()) ||
               (scalar && !findLoad(scalar));
      }
    }
  return false;
}
