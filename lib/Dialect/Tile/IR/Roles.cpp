// Follows tensors from role to role.
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace kiln::tile {

StringRef getRoleName(Operation *op) {
  auto role = dyn_cast_or_null<StringAttr>(getDecision(op, "role"));
  return role ? role.getValue() : StringRef();
}

int64_t countTurns(KernelOp kernel, RoleAttr role) {
  if (int64_t programs = countBlockPrograms(kernel); programs > 1)
    return programs;
  auto turns = kernel->getAttrOfType<DictionaryAttr>(kTurnsAttrName);
  auto copies = turns ? turns.getAs<IntegerAttr>(role.getName()) : IntegerAttr();
  return copies ? copies.getInt() : 1;
}

bool takesTurns(KernelOp kernel, RoleAttr role) { return countTurns(kernel, role) > 1; }

int64_t countWarps(KernelOp kernel, RoleAttr role) {
  return role.getTotalWarps() * countTurns(kernel, role);
}

RoleAttr withTurns(KernelOp kernel, RoleAttr role) {
  if (!takesTurns(kernel, role))
    return role;
  return RoleAttr::get(role.getContext(), role.getName(), role.getWarps(), countTurns(kernel, role),
                       role.getSkew(), role.getRegisters());
}

RoleAttr lookUpRole(Operation *op) {
  auto kernel = op->getParentOfType<KernelOp>();
  auto roles = kernel ? kernel->getAttrOfType<ArrayAttr>(kRolesAttrName) : ArrayAttr();
  if (roles)
    for (auto role : roles.getAsRange<RoleAttr>())
      if (role.getName() == getRoleName(op))
        return role;
  return {};
}

FailureOr<RoleAttr> findRole(Operation *op, StringRef name) {
  auto kernel = op->getParentOfType<KernelOp>();
  auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName);
  if (!roles)
    return kernel.emitOpError("expected '") << kRolesAttrName << "' to be decided";
  for (auto role : roles.getAsRange<RoleAttr>())
    if (role.getName() == name)
      return role;
  return op->emitOpError("expected one of the kernel's roles, got \"") << name << "\"";
}

bool sharesEvenly(int64_t extent, int64_t least, int64_t copies) {
  return copies == 1 || (extent % (least * copies) == 0 && llvm::isPowerOf2_64(extent / copies));
}

int getSharedDim(int64_t m, int64_t n, int64_t leastM, int64_t leastN, int64_t copies) {
  return sharesEvenly(m, leastM, copies) ? 0 : sharesEvenly(n, leastN, copies) ? 1 : -1;
}

int64_t chooseCopies(int64_t m, int64_t leastM) {
  for (int64_t copies : {2, 3})
    if (sharesEvenly(m, leastM, copies))
      return copies;
  return 1;
}

bool fillsBuffer(Operation *op) {
  auto load = dyn_cast_or_null<LoadOp>(op);
  return load && (load.getAtomAttr() || load->hasAttr(kAtomNameAttrName));
}

bool isSharedScalar(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return load && load.getType().getNumElements() == 1 &&
         llvm::all_of(load.getView().getUsers(),
                      [](Operation *user) { return isa<LoadOp, GatherOp, DimOp>(user); });
}

namespace {
/// Tensors, or numbers too, that are left to look at, each once.
class TensorWork {
public:
  explicit TensorWork(Value first, bool withNumbers = false)
      : withNumbers(withNumbers), left{first} {}
  void add(Value value) {
    Type type = value.getType();
    bool counts = isa<RankedTensorType>(type) || (withNumbers && type.isIntOrIndexOrFloat());
    if (counts && seen.insert(value).second)
      left.push_back(value);
  }
  bool isDone() const { return left.empty(); }
  Value take() { return left.pop_back_val(); }

private:
  bool withNumbers;
  DenseSet<Value> seen;
  SmallVector<Value> left;
};
} // namespace

/// What an argument of a loop's body is handed.
static void addSources(BlockArgument argument, TensorWork &work) {
  Operation *parent = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
    bool isAfter = argument.getOwner() == loop.getAfterBody();
    work.add(isAfter ? loop.getConditionOp().getArgs()[number] : loop.getInits()[number]);
    if (!isAfter)
      work.add(loop.getYieldOp().getOperand(number));
  }
  auto loop = dyn_cast<scf::ForOp>(parent);
  if (loop && number > 0)
    work.add(loop.getResult(number - 1));
}

llvm::SetVector<StringRef> findMakers(Value value, bool behindNumbers) {
  llvm::SetVector<StringRef> makers;
  TensorWork work(value, behindNumbers);
  while (!work.isDone()) {
    Value next = work.take();
    if (auto argument = dyn_cast<BlockArgument>(next)) {
      addSources(argument, work);
      continue;
    }
    Operation *op = next.getDefiningOp();
    unsigned index = cast<OpResult>(next).getResultNumber();
    if (StringRef role = getRoleName(op); !role.empty() && !fillsBuffer(op)) {
      makers.insert(role);
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      work.add(loop.getInitArgs()[index]);
      work.add(loop.getBody()->getTerminator()->getOperand(index));
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      work.add(loop.getConditionOp().getArgs()[index]);
    } else if (auto condition = dyn_cast<scf::IfOp>(op)) {
      work.add(condition.thenYield().getOperand(index));
      work.add(condition.elseYield().getOperand(index));
    } else {
      for (Value operand : op->getOperands())
        work.add(operand);
    }
  }
  return makers;
}

/// Where an operand of a loop or of what ends a region is seen next.
static void addTargets(OpOperand &use, TensorWork &work) {
  Operation *op = use.getOwner();
  unsigned index = use.getOperandNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return work.add(loop.getTiedLoopRegionIterArg(&use));
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return work.add(loop.getBeforeArguments()[index]);
  if (auto condition = dyn_cast<scf::ConditionOp>(op)) {
    auto loop = cast<scf::WhileOp>(op->getParentOp());
    work.add(loop.getAfterArguments()[index - 1]);
    return work.add(loop.getResult(index - 1));
  }
  if (auto yield = dyn_cast<scf::YieldOp>(op)) {
    Operation *parent = op->getParentOp();
    if (auto loop = dyn_cast<scf::WhileOp>(parent))
      return work.add(loop.getBeforeArguments()[index]);
    if (auto loop = dyn_cast<scf::ForOp>(parent))
      work.add(loop.getRegionIterArgs()[index]);
    return work.add(parent->getResult(index));
  }
  for (Value result : op->getResults())
    work.add(result);
}

/// What a loop hands from trip to trip has one keeper, in it and behind it.
static Value findCarried(Value tensor) {
  auto result = dyn_cast<OpResult>(tensor);
  auto loop = result ? dyn_cast<scf::ForOp>(result.getOwner()) : scf::ForOp();
  return loop ? loop.getRegionIterArg(result.getResultNumber()) : tensor;
}

StringRef findKeeper(Value tensor) {
  llvm::SetVector<StringRef> makers = findMakers(tensor);
  if (makers.size() < 2)
    return makers.empty() ? StringRef() : makers.front();
  llvm::SetVector<StringRef> users = findUsers(findCarried(tensor));
  auto makes = [&](StringRef user) { return makers.contains(user); };
  if (const auto *at = llvm::find_if(users, makes); at != users.end())
    return *at;
  return users.empty() ? makers.front() : users.front();
}

bool isOfOther(Operation *op, StringRef role) {
  if (StringRef own = getRoleName(op); !own.empty())
    return own != role;
  return llvm::any_of(op->getResults(), [&](Value value) {
    llvm::SetVector<StringRef> makers = findMakers(value);
    return !makers.empty() && !makers.contains(role);
  });
}

/// The roles that make what an op of none computes with: it belongs to them.
static llvm::SetVector<StringRef> findOthers(Operation *op) {
  llvm::SetVector<StringRef> makers;
  if (op->hasTrait<OpTrait::IsTerminator>() || op->getNumRegions() > 0)
    return makers;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      makers.insert_range(findMakers(operand));
  return makers;
}

llvm::SetVector<StringRef> findUsers(Value tensor) {
  llvm::SetVector<StringRef> users;
  TensorWork work(tensor);
  while (!work.isDone())
    for (OpOperand &use : work.take().getUses()) {
      Operation *user = use.getOwner();
      if (StringRef role = getRoleName(user); !role.empty())
        users.insert(role);
      else if (llvm::SetVector<StringRef> others = findOthers(user); !others.empty())
        users.insert_range(others);
      else
        addTargets(use, work);
    }
  return users;
}

} // namespace kiln::tile
