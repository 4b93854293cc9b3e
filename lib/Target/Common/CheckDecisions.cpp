// Holds the decisions of a source against its target, before any is realised; and finds those that
// are left when all should be.
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Proposals.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Target/Common/Passes.h"
#include "kiln/Target/TargetInterface.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace kiln {
#define GEN_PASS_DEF_CHECKDECISIONS
#define GEN_PASS_DEF_CHECKREALISED
#include "kiln/Target/Common/Passes.h.inc"
} // namespace kiln

/// The name of a decision that this op has and that realising a schedule takes away; empty if it
/// has none. A product's atom stays with it.
static std::string findScheduleDecision(Operation *op) {
  bool isAccess = isa<LoadOp, StoreOp>(op);
  bool isOurs = isa_and_nonnull<TileDialect>(op->getDialect());
  SmallVector<StringRef> names = {"stage", "order", "role"};
  if (isAccess)
    names.append({"atom", "buffer", "read_atom", "ring", "depth", "in_flight"});
  else if (isa<DotOp>(op))
    names.push_back("in_flight");
  else if (!isOurs)
    names.append({"depth", "split_loop"});
  for (StringRef name : names)
    if (getDecision(op, name))
      return spellDecision(op, name);
  return "";
}

//===- Before -------------------------------------------------------------------------------===//

static LogicalResult checkAtom(Operation *op, StringRef name, TargetInterface target) {
  Attribute atom = getDecision(op, name);
  if (!atom || target.hasAtom(atom))
    return success();
  return op->emitOpError("expected '")
         << name << "' to be an instruction of " << target.getSpelling() << ", got " << atom;
}

/// Decisions that come together: each names what it is nothing without.
static LogicalResult checkNeeds(Operation *op,
                                ArrayRef<std::pair<StringRef, ArrayRef<StringRef>>> needs) {
  for (auto [name, others] : needs)
    for (StringRef other : others)
      if (getDecision(op, name) && !getDecision(op, other))
        return op->emitOpError("expected '") << other << "', since '" << name << "' is decided";
  return success();
}

template <typename Access>
static LogicalResult checkHints(Access access) {
  Attribute attr = access.getAtomAttr();
  if (!attr || cast<CopyAtomInterface>(attr).follows(access.getCache(), access.getEviction()))
    return success();
  InFlightDiagnostic error = access.emitOpError("expected hints that ") << attr << " follows, got";
  if (access.getCacheAttr())
    error << " cache = " << stringifyCache(*access.getCache());
  if (access.getEvictionAttr())
    error << " evict = " << stringifyEviction(*access.getEviction());
  return error;
}

/// Operands that are not read from registers come from loads that fill a buffer; the warps of each
/// copy of the role issue the instruction together.
static LogicalResult checkOperands(DotOp dot, MmaAtomInterface atom) {
  for (unsigned number = 0; number < 2; ++number) {
    auto load = dot->getOperand(number).getDefiningOp<LoadOp>();
    if (!atom.readsFrom(number, Place::Registers) && !(load && load.getAtomAttr()))
      return dot.emitOpError("expected operand ")
             << "ab"[number] << " of a load with 'atom', since " << atom << " reads it from memory";
  }
  RoleAttr own = lookUpRole(dot);
  if (!own)
    return failure(failed(findRole(dot, getRoleName(dot))));
  auto [m, n, k] = atom.getExtents();
  int64_t copies = own.getCopies();
  if (copies > 1 && getSharedDim(dot.getM(), dot.getN(), m, n, copies) < 0)
    return dot.emitOpError("expected ")
           << m << " rows or " << n << " columns, times a power of two, for each of the " << copies
           << " copies of role \"" << own.getName() << "\" to make by " << atom << ", got "
           << dot.getM() << " and " << dot.getN() << " for all";
  int64_t first = 0;
  for (auto role : dot->getParentOfType<KernelOp>()
                       ->getAttrOfType<ArrayAttr>(kRolesAttrName)
                       .getAsRange<RoleAttr>()) {
    if (role == own)
      break;
    first += role.getTotalWarps();
  }
  if (own.getWarps() != atom.getWarps())
    return dot.emitOpError("expected ")
           << atom.getWarps() << " warps in each copy of role \"" << own.getName() << "\" for "
           << atom << ", got " << own.getWarps();
  if (first % atom.getWarps())
    return dot.emitOpError("expected roles in front of role \"")
           << own.getName() << "\" of a multiple of " << atom.getWarps() << " warps for " << atom
           << ", got " << first;
  return success();
}

static LogicalResult checkDot(DotOp dot) {
  auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr());
  bool isAsync = atom && atom.getCompletion() != Completion::InOrder;
  if (isAsync && !dot.getInFlight())
    return dot.emitOpError("expected 'in_flight', since ")
           << atom << " runs on after it has started";
  if (atom && !isAsync && dot.getInFlight())
    return dot.emitOpError("expected an atom that runs on after it has started, since 'in_flight' "
                           "is decided, got ")
           << atom;
  if (failed(checkNeeds(dot, {{"in_flight", {"atom", "role"}}})))
    return failure();
  return isAsync ? checkOperands(dot, atom) : success();
}

/// Tensors are spread over the warps of each copy of a role by bits of their number.
static LogicalResult checkWarps(KernelOp kernel) {
  if (auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName))
    for (auto role : roles.getAsRange<RoleAttr>())
      if (!llvm::isPowerOf2_64(role.getWarps()))
        return kernel.emitOpError("expected a power of two of warps in each copy of role \"")
               << role.getName() << "\", got " << role.getWarps();
  return success();
}

static LogicalResult check(Operation *op, TargetInterface target, bool hasRoles) {
  if (failed(checkAtom(op, "atom", target)) || failed(checkAtom(op, "read_atom", target)))
    return failure();
  std::string decision = findScheduleDecision(op);
  if (!hasRoles && !decision.empty())
    return op->emitOpError("expected a kernel with '")
           << kRolesAttrName << "', since '" << decision << "' is decided";
  if (auto load = dyn_cast<LoadOp>(op))
    return failure(failed(checkNeeds(load, {{"atom", {"role"}},
                                            {"buffer", {"atom"}},
                                            {"read_atom", {"atom"}},
                                            {"ring", {"atom"}},
                                            {"depth", {"atom"}}})) ||
                   failed(checkHints(load)));
  if (auto store = dyn_cast<StoreOp>(op))
    return failure(failed(checkNeeds(store, {{"atom", {"in_flight", "role"}},
                                             {"buffer", {"atom"}},
                                             {"in_flight", {"atom"}}})) ||
                   failed(checkHints(store)));
  if (auto dot = dyn_cast<DotOp>(op))
    return checkDot(dot);
  return success();
}

namespace {
struct CheckDecisions : public kiln::impl::CheckDecisionsBase<CheckDecisions> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      bool hasRoles = kernel->hasAttr(kRolesAttrName);
      if (failed(checkWarps(kernel)))
        return signalPassFailure();
      kernel.getBody().walk([&](Operation *op) {
        if (failed(check(op, *target, hasRoles)))
          signalPassFailure();
      });
    }
  }
};

//===- After --------------------------------------------------------------------------------===//

struct CheckRealised : public kiln::impl::CheckRealisedBase<CheckRealised> {
  void runOnOperation() override {
    auto refuse = [&](Operation *op, StringRef name) {
      op->emitOpError("expected no '") << name << "' once the schedule is realised: nothing "
                                       << "obeyed it";
      signalPassFailure();
    };
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      for (StringRef name : {kRolesAttrName, kPersistentAttrName, kProposalAttrName})
        if (kernel->hasAttr(name))
          refuse(kernel, name);
      kernel.getBody().walk([&](Operation *op) {
        for (const std::string &name : {findScheduleDecision(op), findPartsDecision(op)})
          if (!name.empty())
            refuse(op, name);
      });
    }
  }
};
} // namespace
