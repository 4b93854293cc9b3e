// Whether tensor memory has room for what dots sum there, as far as that is decided: before
// anything is realised, at the dot that takes most of it.
//
// A sum that another role fetches has slots of its own, one more than its dot says to be in flight.
// Of those that a role fetches itself, and that are alike, one slot may serve all, and which do is
// not known yet but where the source says it: the check of the realised schedule counts these
// (tile-check-protocol).
#include "HandOvers.h"
#include "Rings.h"
#include "TensorUses.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Target/Common/Synchronisation.h"
#include "kiln/Target/TargetInterface.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// A sum, or an operand a that warps write to columns of its own.
struct Sum {
  DotOp dot;
  RankedTensorType type;
  int64_t slots, bytes;
  bool isHandedOver = false;
};
} // namespace

/// Dots whose sums other roles use, by what these use.
static llvm::MapVector<Value, DotOp> findHandedOver(KernelOp kernel) {
  llvm::MapVector<Value, DotOp> found;
  kernel.getBody().walk([&](Operation *op) {
    StringRef role = getRoleName(op);
    for (Value operand : op->getOperands()) {
      DotOp dot = isa<RankedTensorType>(operand.getType()) ? findSummingDot(operand) : DotOp();
      if (dot && !role.empty() && !getRoleName(dot).empty() && getRoleName(dot) != role)
        found.insert({operand, dot});
    }
  });
  return found;
}

/// Of a sum, or of operand a, whose columns copies do not share out. Copies have slots of their
/// own.
static int64_t countBytes(DotOp dot, RankedTensorType type, int64_t slots,
                          SynchronisationInterface sync) {
  RoleAttr role = lookUpRole(dot);
  int64_t copies = role ? role.getCopies() : 1;
  SmallVector<int64_t> shape(type.getShape());
  if (auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr())) {
    auto [m, n, k] = atom.getExtents();
    int dim = getSharedDim(dot.getM(), dot.getN(), m, n, copies);
    if (dim == 0 || (dim > 0 && type == dot.getType()))
      shape[dim] /= copies;
  }
  auto own = RankedTensorType::get(shape, type.getElementType());
  int64_t bytes = slots * copies * getTensorSlotBytes(own, sync);
  int64_t programs = role ? countTurns(dot->getParentOfType<KernelOp>(), role) : 1;
  return sync.getTensorBytes(bytes * programs);
}

/// Those of a and those of b, each of which has a channel.
static int64_t countScaleBytes(DotOp dot, SynchronisationInterface sync) {
  auto atom = dyn_cast_or_null<AsyncMmaAtomInterface>(dot.getAtomAttr());
  if (!atom)
    return 0;
  RoleAttr role = lookUpRole(dot);
  int64_t copies = role ? role.getCopies() : 1, all = 0;
  auto [m, n, k] = cast<MmaAtomInterface>(dot.getAtomAttr()).getExtents();
  int shared = getSharedDim(dot.getM(), dot.getN(), m, n, copies);
  for (auto [operand, scales] : llvm::enumerate(dot.getScales())) {
    auto type = cast<RankedTensorType>(scales.getType());
    SmallVector<int64_t> shape(type.getShape());
    if (shared == int(operand))
      shape[0] /= copies;
    if (auto layout = atom.getScaleLayout(operand, shape, atom.getWarps())) {
      auto own = withLayout(RankedTensorType::get(shape, type.getElementType()), *layout);
      all += sync.getTensorBytes(kSlotsOfScales * copies * getTensorSlotBytes(own, sync));
    }
  }
  return all;
}

/// Sums that their roles fetch themselves: those with numbers of columns that are said, and one of
/// each type of which nothing is said, if none of it is. Then operands in columns that are said to
/// be no sum's, nor may be.
static void addOwn(ArrayRef<DotOp> dots, SynchronisationInterface sync,
                   SmallVectorImpl<Sum> &sums) {
  auto add = [&](DotOp dot, RankedTensorType type) {
    sums.push_back({dot, type, 1, countBytes(dot, type, 1, sync)});
  };
  DenseSet<std::pair<Attribute, Attribute>> numbers; // of a role
  DenseSet<std::pair<Attribute, Type>> types;
  DenseSet<Attribute> open; // roles
  for (DotOp dot : dots) {
    Attribute role = lookUpRole(dot), columns = dot->getAttr(kColumnsAttrName);
    if (!columns)
      open.insert(role);
    else if (types.insert({role, dot.getType()}), numbers.insert({role, columns}).second)
      add(dot, dot.getType());
  }
  for (DotOp dot : dots)
    if (!dot->hasAttr(kColumnsAttrName) && types.insert({lookUpRole(dot), dot.getType()}).second)
      add(dot, dot.getType());
  for (DotOp dot : dots) {
    Attribute role = lookUpRole(dot), columns = dot->getAttr(kOperandColumnsAttrName);
    auto type = dyn_cast<RankedTensorType>(dot.getA().getType());
    if (columns && type && !dot.getTransposeA() && !open.contains(role) &&
        numbers.insert({role, columns}).second)
      add(dot, type);
  }
}

LogicalResult kiln::checkPlannedSums(KernelOp kernel) {
  TargetInterface target = getTarget(kernel);
  const std::optional<Figure> &limit = target.getChipRecord().figures.tensorMemory;
  auto sync = dyn_cast<SynchronisationInterface>(target.getReal());
  if (!limit || !sync)
    return success(); // no atom of such a chip sums there
  SmallVector<Sum> sums;
  DenseSet<Operation *> handedOver;
  for (auto &[value, dot] : findHandedOver(kernel)) {
    int64_t slots = dot.getInFlight().value_or(0) + 1;
    if (handedOver.insert(dot).second)
      sums.push_back(
          {dot, dot.getType(), slots, countBytes(dot, dot.getType(), slots, sync), true});
  }
  SmallVector<DotOp> own;
  kernel.getBody().walk([&](DotOp dot) {
    auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr());
    bool isSum = atom && atom.getAccumulatorPlace() == Place::Tensor &&
                 llvm::none_of(dot->getUsers(), llvm::IsaPred<DotOp>);
    if (isSum && !handedOver.contains(dot))
      own.push_back(dot);
  });
  addOwn(own, sync, sums);
  int64_t total = 0, scales = 0;
  kernel.getBody().walk([&](DotOp dot) {
    if (!dot.getScales().empty())
      scales = std::max(scales, countScaleBytes(dot, sync));
  });
  for (const Sum &sum : sums)
    total += sum.bytes;
  if (sums.empty() || total + scales <= limit->value)
    return success();
  const Sum &most = *llvm::max_element(
      sums, [](const Sum &one, const Sum &other) { return one.bytes < other.bytes; });
  DotOp dot = most.dot;
  bool hasOperands = llvm::any_of(sums, [](Sum &sum) { return sum.type != sum.dot.getType(); });
  InFlightDiagnostic error = dot.emitOpError("expected sums")
                             << (hasOperands ? " and operands" : "")
                             << ", of all copies and turns, of at most " << limit->value
                             << " bytes of tensor memory on " << target.getSpelling() << ", got "
                             << total << ", of which this one takes " << most.bytes;
  if (scales)
    error << ", beside " << scales << " of scales, in two slots for each copy; make fewer rows or "
          << "columns in a program";
  if (most.isHandedOver)
    error << " for " << most.slots << " slots, one more than 'in_flight', since another role "
          << "fetches it";
  for (Sum &sum : sums)
    if (&sum != &most)
      error.attachNote(sum.dot.getLoc())
          << sum.bytes << " bytes for " << sum.slots << " of "
          << RankedTensorType::get(sum.type.getShape(), sum.type.getElementType())
          << (sum.type != sum.dot.getType() ? ", since 'tile.operand_columns' are no sum's" : "");
  return error;
}
