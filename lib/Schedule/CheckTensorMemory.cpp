// Whether what dots sum in tensor memory can be fetched from there, and whether there is room for
// it, as far as that is decided: before anything is realised; of room at the dot that takes most of
// it.
//
// A sum that another role fetches has slots of its own, one more than its dot says to be in flight.
// Of those that a role fetches itself, and that are alike, one slot may serve all, and which do is
// not known yet: the check of the realised schedule counts these (tile-check-protocol).
#include "HandOvers.h"
#include "Rings.h"
#include "TensorUses.h"
#include "kiln/Dialect/Tile/IR/Swapped.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Target/Common/Synchronisation.h"
#include "kiln/Target/TargetInterface.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
struct Sum {
  DotOp dot;
  int64_t slots, bytes;
  bool isHandedOver;
};
} // namespace

/// Dots whose sums other roles use, and which roles.
static llvm::MapVector<DotOp, llvm::SetVector<RoleAttr>> findHandedOver(KernelOp kernel) {
  llvm::MapVector<DotOp, llvm::SetVector<RoleAttr>> found;
  kernel.getBody().walk([&](Operation *op) {
    StringRef role = getRoleName(op);
    for (Value operand : op->getOperands()) {
      DotOp dot = isa<RankedTensorType>(operand.getType()) ? findSummingDot(operand) : DotOp();
      if (dot && !role.empty() && !getRoleName(dot).empty() && getRoleName(dot) != role)
        found[dot].insert(lookUpRole(op));
    }
  });
  return found;
}

/// Copies have slots of their own.
static int64_t countBytes(DotOp dot, int64_t slots, SynchronisationInterface sync) {
  RoleAttr role = lookUpRole(dot);
  int64_t copies = role ? role.getCopies() : 1;
  SmallVector<int64_t> shape(dot.getType().getShape());
  if (auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr())) {
    auto [m, n, k] = atom.getExtents();
    if (int dim = getSharedDim(shape[0], shape[1], m, n, copies); dim >= 0)
      shape[dim] /= copies;
  }
  auto own = RankedTensorType::get(shape, dot.getType().getElementType());
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

/// Each copy fetches the sums of the copy of its own number, and each warp of those that do has its
/// own part of tensor memory.
static LogicalResult checkFetcher(KernelOp kernel, DotOp dot, RoleAttr role) {
  RoleAttr maker = lookUpRole(dot);
  if (role.getCopies() != maker.getCopies())
    return dot.emitOpError("expected as many copies of role \"")
           << role.getName() << "\" as of role \"" << maker.getName() << "\", " << maker.getCopies()
           << ", since each fetches what one of these has in tensor memory by " << dot.getAtomAttr()
           << ", got " << role.getCopies();
  int64_t first = 0, warps = cast<MmaAtomInterface>(dot.getAtomAttr()).getWarps();
  for (auto other : kernel->getAttrOfType<ArrayAttr>(kRolesAttrName).getAsRange<RoleAttr>()) {
    if (other == role)
      break;
    first += countWarps(kernel, other);
  }
  if (role.getWarps() == warps && first % warps == 0)
    return success();
  return dot.emitOpError("expected a role of ")
         << warps << " warps behind a multiple of " << warps << " to use the result, since "
         << dot.getAtomAttr() << " has it in tensor memory, got role \"" << role.getName()
         << "\" of " << role.getWarps() << " behind " << first;
}

/// Nothing counts what a commit tells of by itself; `in_flight` is slots for another role.
static LogicalResult checkInFlight(DotOp dot) {
  int64_t inFlight = dot.getInFlight().value_or(0);
  if (inFlight == 0)
    return success();
  InFlightDiagnostic error =
      dot.emitOpError("expected in_flight of 0, since ")
      << dot.getAtomAttr() << " tells of each dot by itself when it ends, and no other role "
      << "uses the result, got " << inFlight << "; stages say for how many trips it is in flight";
  noteSwapped(error, dot);
  return error;
}

static bool isAddedTo(DotOp dot) {
  return llvm::any_of(dot->getUses(), [](OpOperand &use) {
    auto next = dyn_cast<DotOp>(use.getOwner());
    return next && next.getAccumulator() == use.get();
  });
}

LogicalResult kiln::checkPlannedSums(KernelOp kernel) {
  TargetInterface target = getTarget(kernel);
  const std::optional<Figure> &limit = target.getChipRecord().figures.tensorMemory;
  auto sync = dyn_cast<SynchronisationInterface>(target.getReal());
  if (!limit || !sync)
    return success(); // no atom of such a chip sums there
  SmallVector<Sum> sums;
  llvm::MapVector<DotOp, llvm::SetVector<RoleAttr>> handedOver = findHandedOver(kernel);
  for (auto &[dot, roles] : handedOver) {
    for (RoleAttr role : roles)
      if (failed(checkFetcher(kernel, dot, role)))
        return failure();
    DotOp summing = dot;
    int64_t slots = summing.getInFlight().value_or(0) + 1;
    sums.push_back({dot, slots, countBytes(dot, slots, sync), true});
  }
  DenseSet<std::pair<Type, Attribute>> own;
  WalkResult result = kernel.getBody().walk([&](DotOp dot) -> WalkResult {
    auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr());
    bool isSum = atom && atom.getAccumulatorPlace() == Place::Tensor && !isAddedTo(dot);
    if (!isSum || handedOver.contains(dot))
      return WalkResult::advance();
    if (own.insert({dot.getType(), lookUpRole(dot)}).second)
      sums.push_back({dot, 1, countBytes(dot, 1, sync), false});
    return checkInFlight(dot);
  });
  if (result.wasInterrupted())
    return failure();
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
  InFlightDiagnostic error = dot.emitOpError("expected sums, of all copies and turns, of at most ")
                             << limit->value << " bytes of tensor memory on "
                             << target.getSpelling() << ", got " << total
                             << ", of which this one takes " << most.bytes;
  if (scales)
    error << ", beside " << scales << " of scales, in two slots for each copy; make fewer rows or "
          << "columns in a program";
  if (most.isHandedOver)
    error << " for " << most.slots << " slots, one more than 'in_flight', since another role "
          << "fetches it";
  for (Sum &sum : sums) {
    RankedTensorType type = sum.dot.getType();
    if (sum.dot != dot)
      error.attachNote(sum.dot.getLoc())
          << sum.bytes << " bytes for " << sum.slots << " of "
          << RankedTensorType::get(type.getShape(), type.getElementType());
  }
  return error;
}
