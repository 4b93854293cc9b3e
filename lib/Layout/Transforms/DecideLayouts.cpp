// Writes the inferred layouts into types; where ops disagree a conversion says so.
#include "LayoutInference.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/DistributionInterface.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"
#include <array>
#include <vector>

namespace kiln {
#define GEN_PASS_DEF_DECIDELAYOUTS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
struct DecideLayouts : kiln::impl::DecideLayoutsBase<DecideLayouts> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    WalkResult result = getOperation().walk([&](KernelOp kernel) {
      return succeeded(decide(kernel, *target)) ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

  LogicalResult check(KernelOp kernel) {
    if (!llvm::hasSingleElement(kernel.getBody()))
      return kernel.emitOpError("expected one block in the body");
    if (!kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName) && !kernel->hasAttr(kRolesAttrName))
      return kernel.emitOpError("expected '") << kWarpsAttrName << "', which is decided with atoms";
    WalkResult result = kernel.getBody().walk([&](Operation *op) {
      if (auto dot = dyn_cast<DotOp>(op); dot && !dot.getAtomAttr()) {
        dot.emitOpError("expected an atom");
        return WalkResult::interrupt();
      }
      if (auto dot = dyn_cast<DotScaledOp>(op);
          dot && !isa_and_nonnull<ScaledMmaAtomInterface>(dot.getAtomAttr())) {
        dot.emitOpError("expected an atom that takes scales");
        return WalkResult::interrupt();
      }
      auto isTensor = [](Type type) { return isa<RankedTensorType>(type); };
      bool handsOn = isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::YieldOp, scf::ConditionOp>(op);
      if (!handsOn && !isa<DistributionInterface>(op) &&
          (llvm::any_of(op->getOperandTypes(), isTensor) ||
           llvm::any_of(op->getResultTypes(), isTensor))) {
        op->emitOpError("expected an op that says how it is spread over threads");
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  /// What warp groups run has layouts: they were decided before the roles were realised.
  static bool isRealised(KernelOp kernel) {
    return kernel.walk([](WarpGroupsOp) { return WalkResult::interrupt(); }).wasInterrupted();
  }

  static LogicalResult checkRealised(KernelOp kernel) {
    auto isBare = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && !isa_and_nonnull<LayoutAttr>(tensor.getEncoding());
    };
    WalkResult result = kernel.getBody().walk([&](Operation *op) -> WalkResult {
      if (llvm::none_of(op->getResultTypes(), isBare))
        return WalkResult::advance();
      return op->emitOpError("expected a result with a layout, since roles are realised");
    });
    return failure(result.wasInterrupted());
  }

  static LogicalResult checkWarps(KernelOp kernel) {
    if (kernel->hasAttr(kRolesAttrName))
      return success();
    int64_t warps = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName).getInt();
    if (warps < 1 || !llvm::isPowerOf2_64(warps))
      return kernel.emitOpError("expected a power of two of warps, got ") << warps;
    return success();
  }

  /// What combines elements along an axis lies as what it is made of does: where else it is said to
  /// lie, a conversion behind it brings it.
  static void convertPinned(KernelOp kernel) {
    kernel.getBody().walk([](Operation *op) {
      auto said = op->getAttrOfType<LayoutAttr>(kLayoutAttrName);
      if (!said || !isa<ReduceOp, ScanOp>(op))
        return;
      OpBuilder builder(op->getContext());
      builder.setInsertionPointAfter(op);
      Value result = op->getResult(0);
      auto type = cast<RankedTensorType>(result.getType());
      auto conversion = ConvertLayoutOp::create(
          builder, op->getLoc(),
          RankedTensorType::get(type.getShape(), type.getElementType(), said), result);
      conversion->setAttr(kLayoutAttrName, op->removeAttr(kLayoutAttrName));
      result.replaceAllUsesExcept(conversion, conversion);
    });
  }

  /// Extents that are no powers of two are those that products were said to keep.
  static InFlightDiagnostic refuseExtents(KernelOp kernel, Value value) {
    InFlightDiagnostic error = emitError(value.getLoc())
                               << "expected extents that are powers of two, or that one part of a "
                                  "place counts, got "
                               << value.getType();
    kernel.getBody().walk([&](DotOp dot) {
      std::array<int64_t, 3> extents = {dot.getM(), dot.getN(), dot.getK()};
      const int64_t *odd = llvm::find_if_not(extents, llvm::isPowerOf2_64);
      if (odd != extents.end())
        error.attachNote(dot.getLoc())
            << "this product keeps an extent of " << *odd << " by its '" << kExtentsAttrName << "'";
    });
    return error;
  }

  /// What threads of a role cannot have as they take it.
  static LogicalResult refuseTaken(KernelOp kernel, OpOperand &operand) {
    InFlightDiagnostic error = refuseExtents(kernel, operand.get());
    ArrayRef<int64_t> shape = cast<RankedTensorType>(operand.get().getType()).getShape();
    const int64_t *extent = llvm::find_if_not(shape, llvm::isPowerOf2_64);
    RoleAttr role = lookUpRole(operand.getOwner());
    if (role && extent != shape.end())
      error.attachNote(operand.getOwner()->getLoc())
          << "role \"" << role.getName() << "\" takes it, of which "
          << (*extent >> llvm::countr_zero(uint64_t(*extent)))
          << " copies ('copies') have a power of two of " << *extent << " each";
    return error;
  }

  LogicalResult decide(KernelOp kernel, TargetInterface target) {
    if (isRealised(kernel))
      return checkRealised(kernel);
    if (failed(check(kernel)) || failed(checkWarps(kernel)))
      return failure();
    convertPinned(kernel);
    ProgramThreads threads(kernel, target.getChipRecord().warpSize);
    LayoutInference inference(kernel, threads);

    // What each operand should be, while the types are still bare; then the types; then the
    // conversions.
    std::vector<std::pair<OpOperand *, LinearLayout>> wanted;
    std::vector<std::pair<Value, LinearLayout>> types;
    DenseMap<Value, LinearLayout> reads;
    kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (insideCombiner(op))
        return;
      for (OpOperand &operand : op->getOpOperands())
        if (isa<RankedTensorType>(operand.get().getType()) && !isReadFromBuffer(operand) &&
            !isWrittenForDot(operand)) {
          wanted.push_back({&operand, inference.getWanted(operand)});
          reads.try_emplace(operand.get(), wanted.back().second);
        }
      for (Value result : op->getResults())
        if (isa<RankedTensorType>(result.getType()))
          types.push_back({result, inference.get(result)});
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            if (inference.has(argument))
              types.push_back({argument, inference.get(argument)});
    });
    // What a copy atom brings has a layout only if someone reads it into registers: that of the
    // first who does.
    for (auto &[value, layout] : types) {
      if (!layout.isExact() && !isInBuffer(value))
        return refuseExtents(kernel, value);
      auto read = reads.find(value);
      Operation *op = value.getDefiningOp();
      bool isSaid = op && op->hasAttr(kLayoutAttrName);
      if (ThreadShape shape = threads.of(value); isSaid && (layout.getInSize(kLane) > shape.lanes ||
                                                            layout.getInSize(kWarp) > shape.warps))
        return op->emitError() << "expected a layout for at most " << shape.lanes << " lanes and "
                               << shape.warps << " warps, got " << op->getAttr(kLayoutAttrName);
      if (!isInBuffer(value) || isThroughRegisters(value) || (isSaid && read != reads.end()))
        setLayout(value, layout);
      else if (isSaid)
        return op->emitError() << "expected no '" << kLayoutAttrName
                               << "', since all that use it read it out of its buffer";
      else if (read != reads.end() && !isPinned(value))
        setLayout(value, read->second);
    }
    // From here on it says that the layout stays.
    kernel.getBody().walk([](Operation *op) {
      if (op->hasAttr(kLayoutAttrName))
        op->setAttr(kLayoutAttrName,
                    cast<RankedTensorType>(op->getResult(0).getType()).getEncoding());
    });
    OpBuilder builder(kernel);
    for (auto &[operand, layout] : wanted) {
      Value value = operand->get();
      Operation *user = operand->getOwner();
      if (auto dot = dyn_cast<DotOp>(user);
          dot && operand == &dot.getAccumulatorMutable() && layout != getLayout(dot.getResult()))
        return dot.emitOpError("expected a result laid out as its atom has it, or not yet, got ")
               << dot.getType();
      if (getLayout(value) == layout)
        continue;
      if (!layout.isExact())
        return refuseTaken(kernel, *operand);
      builder.setInsertionPoint(user);
      auto type = withLayout(cast<RankedTensorType>(value.getType()), layout);
      auto conversion = ConvertLayoutOp::create(builder, value.getLoc(), type, value);
      operand->set(conversion);
      // Of one role for another, or what copies do not share out as those of the maker do: they
      // find it in a slot. What no role makes, as a constant, each makes for itself.
      Operation *taker = findTaker(user);
      unsigned copies = threads.of(taker).copies;
      bool isOfOthers = !(threads.of(value) == threads.of(taker));
      bool isAcross = getCopiesDim(getLayout(value), copies) != getCopiesDim(layout, copies);
      llvm::SetVector<StringRef> makers;
      if (isOfOthers || (isAcross && !getRoleName(taker).empty()))
        makers = findMakers(value);
      bool isHandedOver = !makers.empty() && (isOfOthers || !makers.contains(getRoleName(taker)));
      if (!isInBuffer(value) && !isHandedOver)
        continue;
      followUser(conversion, user);
      if (getRoleName(user).empty())
        if (StringRef keeper = findKeeper(*operand); !keeper.empty())
          conversion->setAttr(spellDecision(conversion, "role"), builder.getStringAttr(keeper));
    }
    return success();
  }

  /// Who takes what an op uses: of what a condition of a role hands on, the condition.
  static Operation *findTaker(Operation *user) {
    Operation *parent = user->getParentOp();
    bool isHandedOn = isa<scf::YieldOp>(user) && isa<scf::IfOp>(parent);
    return isHandedOn && !getRoleName(parent).empty() ? parent : user;
  }

  /// The role that has what becomes of an operand, if more than one makes it.
  static StringRef findKeeper(OpOperand &operand) {
    Operation *user = operand.getOwner();
    if (auto loop = dyn_cast<scf::ForOp>(user))
      return tile::findKeeper(loop.getTiedLoopResult(&operand));
    Operation *parent = user->getParentOp();
    bool isYielded = isa<scf::YieldOp>(user) && isa<scf::WhileOp>(parent);
    if (auto loop = dyn_cast<scf::WhileOp>(isYielded ? parent : user))
      return tile::findKeeper(loop.getBeforeArguments()[operand.getOperandNumber()]);
    if (isa<scf::ConditionOp>(user))
      return tile::findKeeper(parent->getResult(operand.getOperandNumber() - 1));
    if (isa<scf::YieldOp>(user) && isa<scf::ForOp, scf::IfOp>(parent))
      return tile::findKeeper(parent->getResult(operand.getOperandNumber()));
    return user->getNumResults() == 1 ? tile::findKeeper(user->getResult(0)) : StringRef();
  }

  static bool isPinned(Value value) {
    return cast<RankedTensorType>(value.getType()).getEncoding() != nullptr;
  }

  static bool insideCombiner(Operation *op) {
    return isa<ReduceOp, ScanOp, ArgReduceOp>(op->getParentOp());
  }
};
} // namespace
