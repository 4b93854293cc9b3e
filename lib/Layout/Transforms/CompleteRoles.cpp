// Gives each op that must say who runs it the role that the ops around it tell.
#include "HandedTiles.h"
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/PinnedPlaces.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace kiln {
#define GEN_PASS_DEF_COMPLETEROLES
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static bool isControl(Operation *op) { return isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op); }

/// Whether an op uses what a load brings into a buffer, or a condition has it for a result.
static bool readsBuffer(Operation *op) {
  auto isBrought = [](Value operand) { return fillsBuffer(operand.getDefiningOp()); };
  if (!isa<scf::IfOp>(op))
    return llvm::any_of(op->getOperands(), isBrought);
  return llvm::any_of(op->getRegions(), [&](Region &region) {
    return !region.empty() &&
           llvm::any_of(region.front().getTerminator()->getOperands(), isBrought);
  });
}

/// Whether an op must say its role: what only computes is computed by each role that needs it.
static bool needsRole(Operation *op) {
  if (!getRoleName(op).empty() || op->hasTrait<OpTrait::IsTerminator>())
    return false;
  for (StringRef name : {"stage", "order", "in_flight"})
    if (getDecision(op, name))
      return true;
  return readsBuffer(op) || (!isControl(op) && !(isMemoryEffectFree(op) || isSharedScalar(op)));
}

namespace {
/// The roles that make what an op uses, and those that use what it makes; where there are neither,
/// those that make what its numbers, or those of the conditions around it, are computed from.
struct Neighbours {
  explicit Neighbours(Operation *op) {
    if (fillsBuffer(op))
      addOfRing(cast<LoadOp>(op));
    if (isControl(op))
      addInside(op);
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        makers.insert_range(findMakers(operand));
    for (Value result : op->getResults())
      if (isa<RankedTensorType>(result.getType()))
        users.insert_range(findUsers(result));
    if (makers.empty() && users.empty())
      addNumbers(op);
  }
  void addNumbers(Operation *op) {
    for (; makers.empty() && op && !isa<KernelOp>(op); op = op->getParentOfType<scf::IfOp>())
      for (Value operand : op->getOperands())
        if (!isa<ViewType>(operand.getType()))
          makers.insert_range(findMakers(operand, /*behindNumbers=*/true));
  }
  /// Loads of one ring are of one role.
  void addOfRing(LoadOp load) {
    load->getParentOfType<KernelOp>().walk([&](LoadOp other) {
      bool isOfRing = fillsBuffer(other) && other.getRing() == load.getRing() &&
                      (load.getRing() || other->getBlock() == load->getBlock());
      if (StringRef name = getRoleName(other); isOfRing && !name.empty())
        makers.insert(name);
    });
  }
  /// What stands in a loop or a condition, and else what makes its results.
  void addInside(Operation *op) {
    op->walk([&](Operation *inner) {
      if (StringRef name = getRoleName(inner); !name.empty())
        makers.insert(name);
    });
    for (Value result : op->getResults())
      if (makers.empty() && isa<RankedTensorType>(result.getType()))
        makers.insert_range(findMakers(result));
  }
  StringRef getOnly() const {
    const auto &told = makers.empty() ? users : makers;
    return told.size() == 1 ? told[0] : StringRef();
  }

  llvm::SetVector<StringRef> makers, users;
};
} // namespace

//===- What several roles compute -----------------------------------------------------------===//

/// Whether each role that needs what an op computes may compute it itself: clean-ups make one op of
/// two that an author wrote for two roles. A product or a reduction is no op to compute twice
/// unasked, and places in a trip are those of one role.
static bool mayCopy(Operation *op) {
  if (!getRoleName(op).empty() || isControl(op) || op->hasTrait<OpTrait::IsTerminator>() ||
      isa<DotOp, DotScaledOp>(op) || op->getNumRegions() > 0 || !isMemoryEffectFree(op))
    return false;
  return llvm::none_of(ArrayRef<StringRef>{"stage", "order", "in_flight", "depth"},
                       [&](StringRef name) { return bool(getDecision(op, name)); });
}

namespace {
/// An op of no role that several roles use, and the ops of none between it and what theirs are.
class Copied {
public:
  /// Finds the ops. Fails where a loop or a condition hands on what they compute.
  LogicalResult add(Operation *op) {
    if (!ops.insert(op))
      return success();
    for (OpOperand &use : op->getUses()) {
      Operation *user = use.getOwner();
      if (StringRef role = findRoleOf(user); !role.empty())
        uses.emplace_back(&use, role);
      else if (!mayCopy(user) || Neighbours(user).makers.size() > 1 || failed(add(user)))
        return failure();
    }
    return success();
  }

  /// Gives each role ops of its own. The op at which the search began is the one that must say so.
  void copy() {
    Operation *first = ops.front();
    llvm::SetVector<Operation *> sorted = topologicalSort(ops);
    for (StringRef role : Neighbours(first).users) {
      IRMapping mapping;
      for (Operation *op : sorted) {
        if (!llvm::is_contained(Neighbours(op).users, role))
          continue;
        Operation *made = OpBuilder(op).clone(*op, mapping);
        if (op == first)
          made->setAttr(spellDecision(op, "role"), StringAttr::get(op->getContext(), role));
      }
      for (auto [use, owner] : uses)
        if (owner == role)
          use->set(mapping.lookup(use->get()));
    }
    for (Operation *op : llvm::reverse(sorted.getArrayRef()))
      op->erase();
  }

private:
  /// The role that an op says, or that makes what it computes with beside these ops, or that alone
  /// uses what each role may not compute for itself.
  static StringRef findRoleOf(Operation *op) {
    if (StringRef role = getRoleName(op); !role.empty())
      return role;
    if (isControl(op) || op->hasTrait<OpTrait::IsTerminator>())
      return {};
    Neighbours around(op);
    if (around.makers.empty() && around.users.size() == 1 && !mayCopy(op))
      return around.users[0];
    return around.makers.size() == 1 ? around.makers[0] : StringRef();
  }

  llvm::SetVector<Operation *> ops;
  SmallVector<std::pair<OpOperand *, StringRef>> uses;
};
} // namespace

/// Whether an op reads, writes, prints or asserts numbers alone, which no role's tensors tell.
static bool isOfNumbers(Operation *op) {
  auto isNumber = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return !tensor || tensor.getNumElements() == 1;
  };
  auto isSaid = [&](StringRef name) { return bool(getDecision(op, name)); };
  Neighbours around(op);
  return around.makers.empty() && around.users.empty() &&
         isa<LoadOp, StoreOp, AtomicRMWOp, AtomicCASOp, PrintOp, AssertOp>(op) &&
         llvm::all_of(op->getOperandTypes(), isNumber) &&
         llvm::all_of(op->getResultTypes(), isNumber) &&
         llvm::none_of(ArrayRef<StringRef>{"stage", "order", "atom"}, isSaid);
}

/// Whether a loop or a condition holds anything of a role; a kernel does.
static bool isRunByRoles(Operation *op) {
  auto isOfRole = [](Operation *inner) {
    return getRoleName(inner).empty() ? WalkResult::advance() : WalkResult::interrupt();
  };
  return isa<KernelOp>(op) || op->walk(isOfRole).wasInterrupted();
}

/// The kernel's argument that an op reads or writes; null if it is none, or not known.
static Value findMemory(Operation *op) {
  for (Value operand : op->getOperands())
    if (isa<ViewType>(operand.getType())) {
      std::optional<ArgumentView> view = findArgumentView(operand);
      return view ? Value(view->argument) : Value();
    }
  return {};
}

/// Who reads and writes a number: the one role that uses its memory otherwise, so that all accesses
/// come in the order of the text, or `last` if none does. Nothing if several do, or memory of an
/// unknown argument is used.
static std::optional<StringRef> findRoleOfMemory(Operation *op, StringRef last) {
  if (isa<PrintOp>(op))
    return last;
  Value memory = findMemory(op);
  if (!memory)
    return std::nullopt;
  llvm::SetVector<StringRef> names;
  op->getParentOfType<KernelOp>().getBody().walk([&](Operation *other) {
    if (isMemoryEffectFree(other) || isControl(other) || findMemory(other) != memory)
      return;
    if (StringRef name = getRoleName(other); !name.empty())
      names.insert(name);
  });
  if (names.size() > 1)
    return std::nullopt;
  return names.empty() ? last : names[0];
}

static LogicalResult refuse(Operation *op) {
  for (StringRef name : {"stage", "order"})
    if (getDecision(op, name) && !op->getParentOfType<LoopLikeOpInterface>())
      return op->emitOpError("expected to stand in a loop, since '")
             << spellDecision(op, name) << "' is decided";
  Neighbours around(op);
  InFlightDiagnostic error = op->emitOpError("expected '")
                             << spellDecision(op, "role") << "' to be decided, since ";
  auto list = [&](const llvm::SetVector<StringRef> &names) {
    StringRef before = "\"";
    auto roles = op->getParentOfType<KernelOp>()->getAttrOfType<ArrayAttr>(kRolesAttrName);
    for (auto role : roles.getAsRange<RoleAttr>())
      if (names.contains(role.getName()))
        error << std::exchange(before, "\" and \"") << role.getName();
    error << "\"";
  };
  if (!around.makers.empty()) {
    error << "roles ";
    list(around.makers);
    error << (isControl(op) ? " run what it holds" : " make its operands");
  } else if (!around.users.empty()) {
    error << "roles ";
    list(around.users);
    error << " use its results";
  } else {
    error << "no role makes its operands or uses its results";
  }
  return error;
}

/// A loop's role is one that makes of the tensors that it carries from trip to trip.
static LogicalResult checkCarried(Operation *loop) {
  StringRef role = getRoleName(loop);
  if (role.empty() || !isa<scf::ForOp, scf::WhileOp>(loop))
    return success();
  auto counted = dyn_cast<scf::ForOp>(loop);
  Operation *yield = counted ? counted.getBody()->getTerminator()
                             : cast<scf::WhileOp>(loop).getYieldOp().getOperation();
  // Who makes it, whatever the loop itself says.
  std::string name = spellDecision(loop, "role");
  Attribute said = loop->removeAttr(name);
  llvm::SetVector<StringRef> makers;
  for (Value carried : yield->getOperands())
    if (isa<RankedTensorType>(carried.getType()) && (makers.empty() || makers.contains(role)))
      makers = findMakers(carried);
  loop->setAttr(name, said);
  if (makers.empty() || makers.contains(role))
    return success();
  return loop->emitOpError("expected '")
         << name << "' to be a role that makes what the loop carries, \"" << makers.front()
         << "\", got \"" << role << "\"";
}

static LogicalResult complete(KernelOp kernel, ArrayAttr roles) {
  SmallVector<Operation *> open;
  llvm::SetVector<StringRef> named;
  WalkResult result = kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    if (StringRef name = getRoleName(op); !name.empty()) {
      if (failed(findRole(op, name)))
        return WalkResult::interrupt();
      named.insert(name);
    }
    if (needsRole(op))
      open.push_back(op);
    return isControl(op) ? WalkResult::advance() : WalkResult::skip();
  });
  if (result.wasInterrupted())
    return failure();
  auto setRole = [&](Operation *op, StringRef name) {
    op->setAttr(spellDecision(op, "role"), StringAttr::get(op->getContext(), name));
    named.insert(name);
  };
  if (roles.size() == 1)
    for (Operation *op : std::exchange(open, {}))
      setRole(op, cast<RoleAttr>(roles[0]).getName());
  // What one op is told may tell another one.
  auto tell = [&] {
    for (size_t before = open.size() + 1; open.size() < before;) {
      before = open.size();
      llvm::erase_if(open, [&](Operation *op) {
        StringRef name = Neighbours(op).getOnly();
        if (!name.empty())
          setRole(op, name);
        return !name.empty();
      });
    }
  };
  tell();
  // Numbers that have to do with no role's tensors. Each role asserts of them in what it runs.
  StringRef last = cast<RoleAttr>(roles[roles.size() - 1]).getName();
  llvm::erase_if(open, [&](Operation *op) {
    bool isEachs = isa<AssertOp>(op) && isOfNumbers(op);
    if (isEachs && !isRunByRoles(op->getParentOp()))
      setRole(op, last);
    return isEachs;
  });
  for (Operation *op : llvm::to_vector(open)) {
    std::optional<StringRef> role = isOfNumbers(op) ? findRoleOfMemory(op, last) : std::nullopt;
    if (role)
      setRole(op, *role);
  }
  llvm::erase_if(open, [](Operation *op) { return !getRoleName(op).empty(); });
  tell();
  for (Operation *op : open) {
    if (!mayCopy(op) || !Neighbours(op).makers.empty() || Neighbours(op).users.size() < 2)
      continue;
    // The copies tell other ops what one op of several roles could not.
    if (Copied copied; succeeded(copied.add(op))) {
      copied.copy();
      return complete(kernel, roles);
    }
  }
  for (Operation *op : open)
    return refuse(op);
  result = kernel.getBody().walk([](Operation *op) { return WalkResult(checkCarried(op)); });
  if (result.wasInterrupted())
    return failure();
  for (auto role : roles.getAsRange<RoleAttr>())
    if (!named.contains(role.getName()))
      return emitPinError(kernel, kRolesAttrName,
                          "expected something for each role to do, got nothing for \"")
             << role.getName() << "\"";
  return success();
}

namespace {
struct CompleteRoles : kiln::impl::CompleteRolesBase<CompleteRoles> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName)) {
        if (failed(complete(kernel, roles)))
          return signalPassFailure();
        if (roles.size() > 1)
          shareHandedTiles(kernel);
      }
  }
};
} // namespace
