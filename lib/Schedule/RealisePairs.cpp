// Shares what two programs of a cluster multiply by together out between them.
//
// Each program of a pair still makes a tile of its own: it loads its own rows of a and holds its
// own rows of the sum. But both multiply by the same b, of which an instruction for two reads half
// from each. So a program loads half of b's columns, and what a ring holds is less by that; how the
// two keep in step is for `tile-realise-clusters` to say, once there are rings.
#include "Decisions.h"
#include "Differences.h"
#include "kiln/Dialect/Tile/IR/BareTypes.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/SetVector.h"

namespace kiln {
#define GEN_PASS_DEF_REALISEPAIRS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static MmaAtomInterface getAtom(DotOp dot) {
  return dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr());
}

static bool isOfPair(DotOp dot) {
  MmaAtomInterface atom = getAtom(dot);
  return atom && atom.getPrograms() > 1;
}

/// Programs that follow one another in a cluster differ along its first axis of several.
static unsigned findAxis(std::array<int64_t, 3> extents) {
  auto *axis = llvm::find_if(extents, [](int64_t extent) { return extent > 1; });
  return axis == extents.end() ? 0 : axis - extents.begin();
}

namespace {
/// One kernel with dots of pairs.
class PairRealiser {
public:
  PairRealiser(KernelOp kernel, ArrayRef<DotOp> dots)
      : kernel(kernel), dots(dots), axes{findAxis(getClusterExtents(kernel))},
        differences(kernel, axes) {}

  LogicalResult realise() {
    if (failed(checkKernel()))
      return failure();
    for (DotOp dot : dots)
      if (failed(check(dot)))
        return failure();
    for (LoadOp load : shared)
      if (failed(halve(load)))
        return failure();
    return success();
  }

private:
  LogicalResult checkKernel();
  LogicalResult check(DotOp dot);
  LogicalResult checkOperand(DotOp dot, unsigned number);
  LogicalResult checkShared(DotOp dot, LoadOp load);
  LogicalResult halve(LoadOp load);
  StringRef getAxisName() const { return stringifyAxis(Axis(axes[0])); }

  KernelOp kernel;
  ArrayRef<DotOp> dots;
  unsigned axes[1];
  Differences differences;
  /// Loads of what both programs multiply by.
  llvm::SetVector<LoadOp> shared;
};
} // namespace

LogicalResult PairRealiser::checkKernel() {
  DotOp first = dots.front();
  if (!kernel->hasAttr(kClusterAttrName))
    return first.emitOpError("expected a kernel with '")
           << kClusterAttrName << "', since " << first.getAtomAttr()
           << " multiplies for two programs of a cluster";
  if (int64_t programs = getClusterExtents(kernel)[axes[0]]; programs % 2)
    return first.emitOpError("expected a cluster of an even number of programs along ")
           << getAxisName() << ", since " << first.getAtomAttr()
           << " multiplies for two of them, got " << programs;
  if (kernel->hasAttr(kTurnsAttrName))
    return first.emitOpError("expected no copies of a role that take programs in turn, since ")
           << first.getAtomAttr() << " multiplies for two programs of a cluster";
  WalkResult others = kernel.getBody().walk([&](DotOp dot) -> WalkResult {
    MmaAtomInterface atom = getAtom(dot);
    if (!atom || atom.getAccumulatorPlace() != Place::Tensor || isOfPair(dot))
      return WalkResult::advance();
    InFlightDiagnostic error = dot.emitOpError("expected an atom of two programs, as that of the "
                                               "kernel's other dots in tensor memory, got ")
                               << atom;
    error.attachNote(first.getLoc()) << "the other dot";
    return WalkResult(error);
  });
  return failure(others.wasInterrupted());
}

LogicalResult PairRealiser::check(DotOp dot) {
  if (int64_t columns = getAtom(dot).getExtents()[1]; columns != dot.getN())
    return dot.emitOpError("expected ")
           << columns << " columns for " << dot.getAtomAttr()
           << ", of which each of two programs brings half, got " << dot.getN();
  if (dot.getParts())
    return dot.emitOpError("expected no 'parts', since ")
           << dot.getAtomAttr() << " multiplies for two programs";
  if (failed(checkSteps(
          dot, differences,
          ("two programs along " + getAxisName() + " to come to what they multiply together alike")
              .str())))
    return failure();
  return success(succeeded(checkOperand(dot, 0)) && succeeded(checkOperand(dot, 1)));
}

/// All that a slot holds is read by what one program starts for both.
LogicalResult PairRealiser::checkOperand(DotOp dot, unsigned number) {
  auto load = dot->getOperand(number).getDefiningOp<LoadOp>();
  if (!(load && load.getAtomAttr()) && !isWrittenForDot(dot->getOpOperand(number)))
    return success(); // each program's warps write their own
  auto atom = load ? dyn_cast_or_null<CopyAtomInterface>(load.getAtomAttr()) : CopyAtomInterface();
  if (!atom || atom.getCompletion() != Completion::CountedBytes)
    return (load ? load.getOperation() : dot.getOperation())
               ->emitOpError("expected 'atom' of an engine that counts the bytes it brings, since ")
           << dot.getAtomAttr() << " reads operand " << "ab"[number] << " of two programs";
  for (OpOperand &use : load.getResult().getUses()) {
    auto user = dyn_cast<DotOp>(use.getOwner());
    if (user && isOfPair(user) && use.getOperandNumber() == number)
      continue;
    InFlightDiagnostic error = load.emitOpError("expected a tile that is operand ")
                               << "ab"[number] << " of dots of two programs alone, since "
                               << dot.getAtomAttr() << " reads it for both";
    error.attachNote(use.getOwner()->getLoc()) << "the other use";
    return error;
  }
  if (load.getMulticast() && llvm::is_contained(getAxes(*load.getMulticast()), axes[0]))
    return load.emitOpError("expected no 'multicast' along ")
           << getAxisName() << ", along which " << dot.getAtomAttr()
           << " reads what each of two programs brings";
  if (failed(checkSteps(
          load, differences,
          ("two programs along " + getAxisName() + " to load what they multiply together alike")
              .str())))
    return failure();
  return number == 1 ? checkShared(dot, load) : success();
}

LogicalResult PairRealiser::checkShared(DotOp dot, LoadOp load) {
  if (load.getExtents())
    return load.emitOpError("expected a tile of whole extents, since ")
           << dot.getAtomAttr() << " has each of two programs bring half of it";
  for (auto [i, offset] : llvm::enumerate(load.getOffsets()))
    if (differences.has(offset))
      return load.emitOpError("expected the same tile for two programs along ")
             << getAxisName() << ", since " << dot.getAtomAttr()
             << " multiplies by it for both, got an offset along dimension " << i
             << " that may differ from program to program";
  if (differences.has(load.getView()))
    return load.emitOpError("expected the same view for two programs along ")
           << getAxisName() << ", since " << dot.getAtomAttr() << " multiplies by it for both";
  int64_t columns = load.getType().getShape().end()[dot.getTransposeB() ? -2 : -1];
  if (columns != dot.getN())
    return load.emitOpError("expected all ")
           << dot.getN() << " columns of " << dot.getAtomAttr()
           << ", of which each of two programs is given half, got " << columns;
  for (Operation *user : load->getUsers())
    if (cast<DotOp>(user).getTransposeB() != dot.getTransposeB())
      return load.emitOpError(
          "expected dots that all transpose the tile, or none, since each of two "
          "programs brings half of its columns");
  shared.insert(load);
  return success();
}

/// The first program of a pair brings the first half of the columns.
LogicalResult PairRealiser::halve(LoadOp load) {
  auto dot = cast<DotOp>(*load->user_begin());
  RankedTensorType type = load.getType();
  unsigned dim = type.getRank() - (dot.getTransposeB() ? 2 : 1);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] /= 2;
  if (load.getBuffer()) {
    BufferType whole = cast<BufferType>(*load.getBuffer()), half = getPartType(whole, shape);
    if (!half)
      return load.emitOpError(
                 "expected a buffer of which half the columns lie together, since each "
                 "of two programs brings half, got ")
             << getBareType(whole);
    load.setBufferAttr(TypeAttr::get(half));
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  IndexMath math{builder, load.getLoc()};
  Value program =
      ProgramIdOp::create(builder, load.getLoc(), builder.getIndexType(), Axis(axes[0]));
  Value first = math.mul(math.rem(program, math.constant(2)), math.constant(shape[dim]));
  builder.setInsertionPoint(load);
  OpOperand &offset = load.getOffsetsMutable()[getViewDim(dim, load.getDropped())];
  offset.set(math.add(offset.get(), first));
  load.getResult().setType(type.clone(shape));
  return success();
}

namespace {
struct RealisePairs : kiln::impl::RealisePairsBase<RealisePairs> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      SmallVector<DotOp> dots;
      kernel.getBody().walk([&](DotOp dot) {
        if (isOfPair(dot))
          dots.push_back(dot);
      });
      if (!dots.empty() && failed(PairRealiser(kernel, dots).realise()))
        return signalPassFailure();
    }
  }
};
} // namespace
