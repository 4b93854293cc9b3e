// How many registers the threads of each role have, where an author says none and what the warps
// begin with does not hold the sums of products that a role carries: roles that only have engines
// copy keep the least, others what their tensors take, and those that multiply have the rest.
#include "LoopProblem.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEREGISTERS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Of lanes that copy a tile: where their pieces lie, on both sides, and whether they are there.
static constexpr int64_t kAddresses = 48;

namespace {
/// What a thread of a role has at once, in registers.
struct Need {
  /// Sums that loops carry, and the most that an op beside them makes or a product reads.
  int64_t sums = 0, most = 0;
  bool multiplies = false;
  int64_t getRegisters() const { return sums + most + kOtherRegisters; }
};
} // namespace

static int64_t countRegisters(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !isa_and_nonnull<LayoutAttr>(type.getEncoding()))
    return 0;
  return llvm::divideCeil(getLayout(value).getInSize(kRegister) * type.getElementTypeBitWidth(),
                          32);
}

/// Whether a dot reads an operand out of its warps' registers: not what a copy brings to shared
/// memory, or warps write there.
static bool isReadFromRegisters(OpOperand &operand, MmaAtomInterface atom) {
  Operation *maker = operand.get().getDefiningOp();
  auto place = maker ? maker->getAttrOfType<StringAttr>(kResidencyAttrName) : StringAttr();
  return !isReadFromBuffer(operand) && !(place && place == "shared") &&
         atom.readsFrom(operand.getOperandNumber(), Place::Registers);
}

static void add(DotOp dot, Need &need) {
  auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr());
  if (!atom)
    return;
  need.multiplies = true;
  int64_t most = 0;
  for (OpOperand &operand : dot->getOpOperands().take_front(2))
    if (isReadFromRegisters(operand, atom))
      most += countRegisters(operand.get());
  bool isAdded = dot.getAccumulator().getDefiningOp<DotOp>();
  if (atom.getAccumulatorPlace() == Place::Registers && !isAdded)
    (isa<BlockArgument>(dot.getAccumulator()) ? need.sums : most) +=
        countRegisters(dot.getResult());
  need.most = std::max(need.most, most);
}

static llvm::MapVector<StringRef, Need> findNeeds(KernelOp kernel) {
  llvm::MapVector<StringRef, Need> needs;
  kernel.getBody().walk([&](Operation *op) {
    StringRef role = getRoleName(op);
    if (role.empty())
      return;
    Need &need = needs[role];
    if (auto dot = dyn_cast<DotOp>(op))
      return add(dot, need);
    // An engine copies past the registers, and lanes have addresses alone.
    if (auto load = dyn_cast<LoadOp>(op);
        load && isInBuffer(load.getResult()) && !isThroughRegisters(load.getResult())) {
      if (!isa<EngineAtomInterface>(load.getAtomAttr()))
        need.most = std::max(need.most, kAddresses);
      return;
    }
    // Other ops work on a few elements at a time.
    if (op->getNumRegions() == 0)
      for (Value result : op->getResults())
        need.most = std::max(need.most, countRegisters(result));
  });
  return needs;
}

/// The roles with registers; null if what they begin with suffices, or nothing does.
static ArrayAttr decide(KernelOp kernel, const Chip &chip) {
  const RoleRegisters &rule = chip.roleRegisters;
  auto roles =
      llvm::to_vector(kernel->getAttrOfType<ArrayAttr>(kRolesAttrName).getAsRange<RoleAttr>());
  int64_t warps = 0;
  for (RoleAttr role : roles)
    warps += countWarps(kernel, role);
  int64_t before = chip.getRegistersAtEntry(warps), left = before * warps, rest = 0;
  llvm::MapVector<StringRef, Need> needs = findNeeds(kernel);
  SmallVector<int64_t> registers;
  bool suffices = true;
  for (RoleAttr role : roles) {
    if (role.getWarps() % rule.warps)
      return {};
    const Need &need = needs[role.getName()];
    int64_t its = role.getRegisters();
    if (!its) {
      suffices &= need.getRegisters() <= before;
      its = std::max<int64_t>(llvm::alignTo(need.getRegisters(), rule.step), rule.least);
      rest += need.multiplies ? countWarps(kernel, role) : 0;
    }
    registers.push_back(its);
    left -= its * countWarps(kernel, role);
  }
  if (suffices || left < 0 || rest == 0)
    return {};
  int64_t most = std::min<int64_t>(rule.most, chip.registersPerThread / rule.step * rule.step);
  int64_t more = llvm::alignDown(left / rest, rule.step);
  SmallVector<Attribute> decided;
  for (auto [role, its] : llvm::zip_equal(roles, registers)) {
    if (!role.getRegisters() && needs[role.getName()].multiplies)
      its = std::min(its + more, most);
    if (its > most)
      return {};
    decided.push_back(RoleAttr::get(kernel.getContext(), role.getName(), role.getWarps(),
                                    role.getCopies(), role.getSkew(), its));
  }
  return ArrayAttr::get(kernel.getContext(), decided);
}

namespace {
struct DecideRegisters : kiln::impl::DecideRegistersBase<DecideRegisters> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    const Chip &chip = target->getChipRecord();
    if (!chip.roleRegisters.step)
      return;
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (kernel->hasAttr(kRolesAttrName))
        if (ArrayAttr roles = decide(kernel, chip))
          kernel->setAttr(kRolesAttrName, roles);
  }
};
} // namespace
