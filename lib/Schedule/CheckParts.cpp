// Whether a dot can be cut into the parts that it says: before anything is realised, as far as
// tensors tell, and of buffers once they are there.
#include "CutParts.h"
#include "kiln/Dialect/Tile/IR/BareTypes.h"
#include "kiln/Layout/Transforms/Layouts.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

PartBox kiln::getPartBox(DotOp dot, unsigned operand, std::array<int64_t, 3> part) {
  constexpr unsigned m = 0, n = 1, k = 2;
  std::array<int64_t, 3> parts = countParts(dot);
  Value value = dot->getOperand(operand);
  PartBox box{SmallVector<int64_t>(getTileShape(value).size(), 0),
              SmallVector<int64_t>(getTileShape(value))};
  bool turned = operand == 0 ? dot.getTransposeA() : operand == 1 && dot.getTransposeB();
  unsigned rank = box.shape.size();
  auto take = [&](unsigned dim, unsigned along) {
    dim = rank - 2 + (turned ? 1 - dim : dim);
    box.shape[dim] /= parts[along];
    box.offsets[dim] = part[along] * box.shape[dim];
  };
  take(0, operand == 1 ? k : m);
  take(1, operand == 0 ? k : n);
  return box;
}

static LogicalResult checkBox(DotOp dot, Value value, const PartBox &box) {
  if (getTileShape(value) == ArrayRef(box.shape))
    return success();
  if (auto buffer = dyn_cast<BufferType>(value.getType())) {
    if (getWindowType(buffer, box.shape))
      return success();
    InFlightDiagnostic error = dot.emitOpError("expected 'parts' of so many rows and columns of an "
                                               "operand that the order of its buffer adds up where "
                                               "they begin, as it does powers of two, got [");
    llvm::interleaveComma(box.shape, error);
    return error << "] of " << getBareType(buffer);
  }
  if (!dyn_cast_or_null<LayoutAttr>(cast<RankedTensorType>(value.getType()).getEncoding()) ||
      getBoxType(value, box.shape))
    return success();
  InFlightDiagnostic error =
      dot.emitOpError("expected parts each of which every thread has a share of, got parts of [");
  llvm::interleaveComma(box.shape, error);
  return error << "] of " << getBareType(value.getType());
}

/// The role's copies each have a share of the whole, and a part of it is none of these.
static LogicalResult checkCopies(DotOp dot, RoleAttr role) {
  auto layout = dyn_cast_or_null<LayoutAttr>(dot.getType().getEncoding());
  if (!role || role.getCopies() == 1 || !layout)
    return success();
  std::array<int64_t, 3> parts = countParts(dot);
  // Copies are told apart by the highest bits of a warp's number; those that take programs in turn
  // have all of a tensor.
  LinearLayout places = getLayout(dot.getResult());
  ArrayRef<LinearLayout::Basis> warps = places.getBases("warp");
  bool isShared = warps.size() > llvm::Log2_64_Ceil(role.getWarps());
  for (unsigned dim : {0, 1})
    if (isShared && warps.back()[warps.back().size() - 2 + dim] && parts[dim] > 1)
      return dot.emitOpError("expected one part along ")
             << "mn"[dim] << ", which the " << role.getCopies() << " copies of role \""
             << role.getName() << "\" share out, got " << parts[dim] << " in 'parts'";
  return success();
}

/// What the dot itself says holds for the last of its parts: what comes behind it has their sum.
static LogicalResult checkStage(DotOp dot) {
  ArrayRef<int64_t> stages = dot.getPartStages().value_or(ArrayRef<int64_t>());
  int64_t last = 0;
  for (size_t number = 0; number < stages.size() / 2; ++number)
    last = std::max(last, stages[2 * number + 1]);
  if (stages.empty() || !dot.getStage() || int64_t(*dot.getStage()) == last)
    return success();
  return dot.emitOpError("expected 'stage' to be that of the last dot in 'part_stages', ")
         << last << ", got " << *dot.getStage();
}

LogicalResult kiln::checkParts(DotOp dot, RoleAttr role) {
  if (failed(checkStage(dot)))
    return failure();
  std::array<int64_t, 3> parts = countParts(dot);
  if (auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr())) {
    std::array<int64_t, 3> extents = atom.getExtents();
    int64_t whole[] = {dot.getM(), dot.getN(), dot.getK()};
    for (unsigned dim = 0; dim < 3; ++dim)
      if (whole[dim] / parts[dim] % extents[dim])
        return dot.emitOpError("expected parts of a multiple of ")
               << extents[dim] << " along " << "mnk"[dim] << " for " << dot.getAtomAttr()
               << ", got parts of " << whole[dim] / parts[dim];
  }
  if (std::optional<int64_t> inFlight = dot.getInFlight()) {
    if (dot.getReadsAhead().value_or(0))
      return dot.emitOpError("expected no 'reads_ahead' of a dot that reads its buffers itself");
    if (dot.isPromoted() && *inFlight >= parts[2])
      return dot.emitOpError("expected an in_flight of less than the parts along k, ")
             << parts[2] << ", since 'promote' adds them up in their trip, got " << *inFlight;
  }
  if (failed(checkCopies(dot, role)))
    return failure();
  for (unsigned operand : {0, 1, 2}) {
    Value value = dot->getOperand(operand);
    // What products in flight read lies in shared memory in the end.
    bool isMoved = operand < 2 && isa<RankedTensorType>(value.getType()) && dot.getInFlight() &&
                   !WarpGroupsOp::getRoleOf(dot);
    if (!isMoved && failed(checkBox(dot, value, getPartBox(dot, operand, {0, 0, 0}))))
      return failure();
  }
  return success();
}
