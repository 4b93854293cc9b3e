// The stage list in one readable place, and the pass that runs it from the command line.
#include "kiln/Pipeline/Pipeline.h"
#include "kiln/Dialect/Tile/IR/Proposals.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Pipeline/Registration.h"
#include "kiln/Schedule/Batch/Passes.h"
#include "kiln/Schedule/Model.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Schedule/TryOut.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/Common/Passes.h"
#include "kiln/Target/Common/Threads.h"
#include "kiln/Target/Registry.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace kiln {

/// The passes of the stage `layout` that come behind what decides roles, for a device.
static void addLayouts(OpPassManager &pm) {
  auto add = [&](auto... passes) { (pm.addPass(std::move(passes)), ...); };
  add(createTurnViews(), createFoldTileViews(), createRealisePairs(), createDecideGuards(),
      createGuardMasks(), createSplitEdges(), createDecideRuns(), tile::createMultiplyDivisions(),
      createLegaliseDots());
  // What has come to stand between a load and its users has roles too.
  add(createCompleteRoles(), createDecideAtoms(), createDecideLayouts(), createPlaceConversions(),
      createDecideBuffers(), createDecideConversions(), createRealiseConversions(),
      createDecideParts());
}

/// The passes of the stage `schedule` until shared memory is planned, for a device.
static void addPlan(OpPassManager &pm, bool exact = false, const SharedSolver &solver = nullptr);

/// Those behind it, which prove what was realised.
static void addProof(OpPassManager &pm, const SharedProofs &proofs) {
  pm.addPass(createOrderShared());
  pm.addPass(createCheckProtocol(proofs));
  pm.addPass(createOrderBare());
}

/// Has a copy, on which something is tried, run passes for its target.
static LogicalResult runOn(ModuleOp copy,
                           llvm::function_ref<void(OpPassManager &, TargetInterface)> add) {
  PassManager pm(copy.getContext(), ModuleOp::getOperationName());
  pm.enableVerifier(false);
  FailureOr<TargetInterface> target = requireTarget(copy);
  if (failed(target))
    return failure();
  add(pm, *target);
  return pm.run(copy);
}

/// What roles that a pass has decided take of shared memory, tried on a copy; and then whether they
/// are proven and can be lowered.
static LogicalResult planRoles(ModuleOp copy) {
  return runOn(copy, [](OpPassManager &pm, TargetInterface) {
    addLayouts(pm);
    addPlan(pm);
  });
}
static LogicalResult proveRoles(ModuleOp copy, const SharedProofs &proofs) {
  return runOn(copy, [&](OpPassManager &pm, TargetInterface) {
    addProof(pm, proofs);
    pm.addPass(createLowerToThreads());
  });
}
static std::unique_ptr<Pass> createDecideRoles(SharedProofs proofs) {
  return createDecideRoles(planRoles, [=](ModuleOp copy) { return proveRoles(copy, proofs); });
}

/// Whether what is decided in front of all else can be realised, and has room: tried on a copy.
static LogicalResult realiseStages(ModuleOp copy, const SharedProofs &proofs) {
  return runOn(copy, [&](OpPassManager &pm, TargetInterface target) {
    for (Stage stage : {Stage::Layout, Stage::Schedule})
      addStage(pm, target, stage, proofs);
  });
}

/// Whether programs that one block shall run can be: tried on a copy.
static LogicalResult realiseBlocks(ModuleOp copy, const SharedProofs &proofs) {
  return runOn(copy, [&](OpPassManager &pm, TargetInterface target) {
    for (Stage stage : {Stage::Layout, Stage::Schedule})
      addStage(pm, target, stage, proofs);
    pm.addPass(createLowerToThreads());
  });
}

/// The same, of one kernel.
static bool tryStages(tile::KernelOp kernel, const SharedProofs &proofs) {
  std::optional<Refusal> refusal;
  return bool(tryOut(kernel, [&](ModuleOp copy) { return realiseStages(copy, proofs); }, refusal));
}

/// The passes of the stage `layout` that come behind what completes pins, for a device.
static void addDecidedLayouts(OpPassManager &pm, const SharedProofs &proofs);

/// Whether completed pins can be realised and lowered: tried on a copy.
static LogicalResult realisePins(ModuleOp copy, const SharedProofs &proofs) {
  return runOn(copy, [&](OpPassManager &pm, TargetInterface target) {
    addDecidedLayouts(pm, proofs);
    addStage(pm, target, Stage::Schedule, proofs);
    pm.addPass(createLowerToThreads());
  });
}

/// By which proposal a kernel runs whose extents are decided.
static std::optional<int64_t> rankExtents(ModuleOp copy, const SharedProofs &proofs) {
  auto add = [&](OpPassManager &pm, TargetInterface) {
    pm.addPass(createSplitShapes());
    pm.addPass(createResolveAtomNames());
    pm.addPass(createCheckDecisions());
    pm.addPass(createDecideRoles(proofs));
  };
  if (failed(runOn(copy, add)))
    return std::nullopt;
  // What was proposed has been realised.
  auto members = copy->getAttrOfType<DictionaryAttr>(kMetadataAttrName);
  if (auto proposal = members ? members.getAs<IntegerAttr>(tile::kProposalMember) : IntegerAttr())
    return proposal.getInt();
  bool isRealised = succeeded(planRoles(copy)) && succeeded(proveRoles(copy, proofs));
  return isRealised ? std::optional(tile::kMostProposals) : std::nullopt;
}

/// The same, tried on a copy.
static std::optional<int64_t> tryExtents(tile::KernelOp kernel, const SharedProofs &proofs) {
  std::optional<int64_t> rank;
  std::optional<Refusal> refusal;
  auto realise = [&](ModuleOp copy) {
    rank = rankExtents(copy, proofs);
    return success(rank.has_value());
  };
  tryOut(kernel, realise, refusal);
  return rank;
}

static void addDecidedLayouts(OpPassManager &pm, const SharedProofs &proofs) {
  auto add = [&](auto... passes) { (pm.addPass(std::move(passes)), ...); };
  add(createDecideSwap(), createRealiseSwap(), createFoldTileViews(), createCompleteRoles(),
      createRealiseShares());
  // What an instruction is chosen for, and held against, is a tile as it will be.
  add(tile::createExpandArgReduce(), tile::createExpandPhilox(), tile::createExpandTF32(),
      createDecideExtents([=](tile::KernelOp kernel) { return tryExtents(kernel, proofs); }),
      createSplitShapes(), createResolveAtomNames(), createCheckDecisions(), createRealiseStreams(),
      createDecideRoles(proofs));
  addLayouts(pm);
}

static void addPlan(OpPassManager &pm, bool exact, const SharedSolver &solver) {
  auto add = [&](auto... passes) { (pm.addPass(std::move(passes)), ...); };
  add(createRotateLoops());
  if (!exact)
    add(createDecideRegisters(), createDecideStages(solver));
  add(createCheckSchedule(), createCountTrips(), createRealisePersistence(),
      createRealiseBlockPrograms(), createRealiseOverlap(), createRealiseRings(),
      createCarryParts(), createDecideHandOvers(), createRealiseHandOvers(),
      createRealiseWarpGroups(), createRealiseTurns(), createRealiseParts(), createCompleteStages(),
      createRealiseStages(), createSplitLoops(), createRealiseCopies(), createDecideConversions(),
      createDecideCarriedSums(), createDecideColumns(), createRealiseAccumulators(),
      createOrderTurns(), createRealiseSlots(), createRealiseStores(), createDecideFetches(),
      createRealiseFetches(), createSinkSlices(), createDecideBoxLoads(), createRealiseBoxLoads(),
      createRealiseOwnConversions(), createRealiseClusters());
  // Who runs what, what waits for what, what stays in front of what: the lowering decides none.
  add(createDecideWrites(), createOrderAccesses(), createRealiseFences(), createOrderDots(),
      createRealisePriorities(), createRealiseInterleaving(), createRealiseThreads(),
      createCheckRealised(), createPrepareRoles(), createCountPuts(), createPlanSharedMemory());
}

void addStage(OpPassManager &pm, TargetInterface target, Stage stage, const SharedProofs &proofs,
              bool exact, const SharedSolver &solver) {
  auto add = [&](auto... passes) { (pm.addPass(std::move(passes)), ...); };
  // One thread of the host runs a program as loops; on a device threads share its tensors.
  bool isHost = target.runsOnHost();
  switch (stage) {
  case Stage::Tile:
    // The last clean-ups before decisions are realised.
    add(tile::createInlineFunctions(), tile::createVerifyKernels(), tile::createSimplify(),
        tile::createHoistBreaks(), tile::createCountWhiles(), tile::createNarrowIndices(),
        tile::createHoistInvariants());
    return;
  case Stage::Layout:
    // A tile that is too large for a target may be computed in pieces.
    add(createDecideRowStarts(), createRealiseRowStarts());
    add(createDecideChunks([=](tile::KernelOp kernel) { return tryStages(kernel, proofs); }),
        createRealiseChunks(), createCheckTarget());
    if (!isHost) {
      add(createJoinScales(),
          createDecideClusters([=](ModuleOp copy) { return realiseStages(copy, proofs); }),
          createRoundClusters(), createDecideBatch(), createRealiseBatch(),
          createDecideBlockPrograms([=](ModuleOp copy) { return realiseBlocks(copy, proofs); }),
          createGatherPrograms(),
          createCompletePins([=](ModuleOp copy) { return realisePins(copy, proofs); }));
      addDecidedLayouts(pm, proofs);
      return;
    }
    // Of schedules a host realises the grid's alone.
    add(createRealiseBatch(), createDecideSwap(), createRealiseSwap(), createFoldTileViews(),
        createCompleteRoles(), createRealiseShares(), createResolveAtomNames(),
        createCheckDecisions(), createRealiseStreams(), createRealisePersistence(),
        createCheckRealised(), tile::createMultiplyDivisions(), tile::createExpandPhilox());
    target.addOwnPasses(pm, stage);
    return;
  case Stage::Schedule:
    if (isHost)
      return;
    addPlan(pm, exact, solver);
    addProof(pm, proofs);
    return;
  case Stage::Target:
    if (isHost)
      target.addOwnPasses(pm, stage);
    else {
      add(createLowerToThreads(), tile::createCanonicalize(), createCSEPass());
      pm.addNestedPass<func::FuncOp>(createShareReciprocals());
    }
    return;
  case Stage::LLVM:
    if (!isHost)
      add(math::createMathExtendToSupportedTypes());
    target.addOwnPasses(pm, stage);
    if (!isHost)
      add(tile::createCanonicalize(), createCSEPass());
    return;
  default:
    return;
  }
}

llvm::json::Object modelKernel(ModuleOp module, StringRef name, TargetInterface target) {
  auto kernel = module.lookupSymbol<tile::KernelOp>(name);
  // A product may be computed as its transpose.
  auto swap = [](ModuleOp copy) {
    return runOn(copy, [](OpPassManager &pm, TargetInterface target) {
      if (target.runsOnHost())
        return;
      pm.addPass(createDecideSwap());
      pm.addPass(createRealiseSwap());
      pm.addPass(createFoldTileViews());
    });
  };
  std::optional<Refusal> refusal;
  OwningOpRef<ModuleOp> copy = tryOut(kernel, swap, refusal);
  return describeModel(copy ? copy->lookupSymbol<tile::KernelOp>(name) : kernel, target);
}

void addChecks(OpPassManager &pm, TargetInterface target, Stage stage) {
  if (target.runsOnHost() || (stage != Stage::Layout && stage != Stage::Schedule))
    return;
  pm.addPass(createCheckThreads());
  if (stage == Stage::Layout) {
    pm.addPass(createRealiseConversions());
    return;
  }
  pm.addPass(createCheckRealised());
  pm.addPass(createCheckSharedMemory());
  pm.addPass(createCheckProtocol());
}

FailureOr<TargetInterface> chooseTarget(ModuleOp module, TargetInterface asked) {
  Attribute own = module->getAttr(kTargetAttrName);
  if (own && !isa<TargetInterface>(own))
    return module.emitError() << "expected '" << kTargetAttrName << "' to be a target, got " << own;
  if (own && asked && own != asked && own != asked.getReal())
    return module.emitError() << "expected the target that the module is for, "
                              << cast<TargetInterface>(own).getSpelling() << ", got "
                              << asked.getSpelling();
  if (asked || !own) {
    auto emitError = [&] { return module.emitError(); };
    FailureOr<TargetInterface> target = asked;
    if (!asked)
      target = parseTarget("cpu", module.getContext(), emitError);
    if (failed(target))
      return failure();
    own = *target;
  }
  module->setAttr(kTargetAttrName, own);
  return cast<TargetInterface>(own);
}

namespace {
/// A pass, not a pass pipeline: which passes to run is known once the target's name has become an
/// attribute, which takes a context.
struct TilePipeline : public PassWrapper<TilePipeline, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TilePipeline)

  TilePipeline() = default;
  TilePipeline(const TilePipeline &other) : PassWrapper(other) {}

  StringRef getArgument() const final { return "tile-pipeline"; }
  StringRef getDescription() const final {
    return "run the stages that Kiln ships for a target, to the one named";
  }
  void getDependentDialects(DialectRegistry &registry) const final {
    registerAllDialects(registry);
  }

  void runOnOperation() final {
    ModuleOp module = getOperation();
    // An option is wrong and not the module: an error at the module would print it.
    auto emitError = [&] { return mlir::emitError(UnknownLoc::get(&getContext())); };
    FailureOr<TargetInterface> parsed = TargetInterface();
    if (!target.empty())
      parsed = parseTarget(target, &getContext(), emitError);
    std::optional<Stage> last = parseStage(stopAfter);
    if (!last || *last > Stage::LLVM)
      emitError() << "expected stop-after to be tile, layout, schedule, target or llvm, got '"
                  << stopAfter << "'";
    if (failed(parsed) || !last || *last > Stage::LLVM)
      return signalPassFailure();
    parsed = chooseTarget(module, *parsed);
    if (failed(parsed))
      return signalPassFailure();
    auto proofs = std::make_shared<Proofs>();
    for (Stage stage : getStages()) {
      if (stage > *last)
        return;
      OpPassManager pm(ModuleOp::getOperationName());
      addStage(pm, *parsed, stage, proofs);
      if (failed(runPipeline(pm, module)))
        return signalPassFailure();
    }
  }

  Option<std::string> target{*this, "target",
                             llvm::cl::desc("what to compile for: cpu, or a chip "
                                            "(default: what the module says, else cpu)"),
                             llvm::cl::init("")};
  Option<std::string> stopAfter{*this, "stop-after", llvm::cl::desc("the last stage to run"),
                                llvm::cl::init("llvm")};
};
} // namespace

void registerTilePipeline() { PassRegistration<TilePipeline>(); }

} // namespace kiln
