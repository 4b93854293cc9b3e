// Tries which roles, instructions and copies a kernel has that decides nothing: a role that loads
// by an engine (RoleDecider.h), or one that fills rings of its own (OwnRingDecider.h).
#include "Decisions.h"
#include "RoleDecider.h"
#include "Slice.h"
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Proposals.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Schedule/TryOut.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEROLES
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
struct DecideRoles : kiln::impl::DecideRolesBase<DecideRoles> {
  DecideRoles() = default;
  DecideRoles(Realise plan, Realise prove) : plan(std::move(plan)), prove(std::move(prove)) {}

  /// The bytes of shared memory that a kernel takes as it was decided, as far as a copy shows; none
  /// if it cannot be planned.
  std::optional<int64_t> measureBytes(KernelOp kernel) {
    if (!plan)
      return 0;
    int64_t bytes = 0;
    std::optional<Refusal> refusal;
    return tryOut(kernel, planAndMeasure(bytes), refusal) ? std::optional(bytes) : std::nullopt;
  }

  /// Whether a kernel can be realised as it was decided, as far as a copy shows, in as many bytes
  /// of shared memory as fit.
  bool isRealised(
      KernelOp kernel, std::optional<Refusal> &reason,
      llvm::function_ref<bool(int64_t)> fits = [](int64_t) { return true; }) {
    if (!plan)
      return fits(0);
    auto realise = [&](ModuleOp copy) {
      int64_t bytes = 0;
      return success(succeeded(planAndMeasure(bytes)(copy)) && fits(bytes) &&
                     succeeded(prove(copy)));
    };
    std::optional<Refusal> refusal;
    if (tryOut(kernel, realise, refusal))
      return true;
    reason = refusal;
    if (reason)
      reason->text = "it would be refused then: " + reason->text;
    return false;
  }

  bool overlapTrips(KernelOp kernel, TargetInterface target) {
    return loadByEngine(kernel, target, /*overlaps=*/true);
  }
  bool loadInTurn(KernelOp kernel, TargetInterface target) {
    return loadByEngine(kernel, target, /*overlaps=*/false);
  }

  /// A role of its own has an engine load; it stores by the engine or through registers. In a grid
  /// of clusters two programs may multiply together, or all load together what is the same tile.
  bool loadByEngine(KernelOp kernel, TargetInterface target, bool overlaps) {
    if (kernel->hasAttr(kClusterAttrName) &&
        loadByEngine(kernel, target, overlaps, /*ofPairs=*/true))
      return true;
    return loadByEngine(kernel, target, overlaps, /*ofPairs=*/false);
  }
  bool loadByEngine(KernelOp kernel, TargetInterface target, bool overlaps, bool ofPairs) {
    RoleDecider decider(kernel, target, ofPairs);
    bool mayTakeTurns = plan && mayBePersistent(kernel) && !ofPairs;
    bool mayShare = getClusterPrograms(kernel) > 1 && !ofPairs;
    auto has = [&](bool isOverlapped) {
      for (bool sharesTiles : {true, false})
        for (bool storesByEngine : {true, false}) {
          if (sharesTiles && !mayShare)
            continue;
          decider.write(storesByEngine, isOverlapped, sharesTiles);
          if (mayTakeTurns && takeTurns(kernel, target))
            return true;
          if (isRealised(kernel, decider.reason))
            return true;
          decider.undo();
        }
      return false;
    };
    // What copies cannot share out, one of them may make, but not only since trips overlap: in turn
    // the copies do more beside one another.
    for (bool isOpen = decider.find(); isOpen; isOpen = decider.useOneCopy()) {
      if (has(overlaps))
        return true;
      if (overlaps && has(/*isOverlapped=*/false)) {
        decider.undo();
        if (mayTakeTurns)
          dropPersistence(kernel);
        return false;
      }
    }
    if (decider.reason && !ofPairs)
      tell(*decider.reason);
    return false;
  }

  /// Has programs run tiles in turn, as many as there are cores: if a core has room for one alone.
  /// Of two, one loads while the other stores.
  bool takeTurns(KernelOp kernel, TargetInterface target) {
    writePersistence(kernel);
    std::optional<Refusal> reason;
    int64_t all = target.getChipRecord().sharedBytes;
    if (isRealised(kernel, reason, [&](int64_t bytes) { return 2 * bytes > all; }))
      return true;
    dropPersistence(kernel);
    return false;
  }

  /// By copies past the registers or through them, and by several rings a loop or one.
  static SmallVector<std::pair<bool, bool>> getWays(OwnRingDecider &decider) {
    SmallVector<std::pair<bool, bool>> ways;
    for (bool direct : {true, false})
      for (bool apart : {true, false})
        if (!apart || decider.canPart())
          ways.push_back({direct, apart});
    return ways;
  }

  /// The role that multiplies loads, and its products run on beside it.
  bool fillBeside(KernelOp kernel, TargetInterface target) {
    OwnRingDecider decider(kernel, target);
    std::optional<Refusal> reason;
    for (bool isOpen = decider.find() && decider.findDots(); isOpen; isOpen = decider.useOneCopy())
      for (auto [direct, apart] : getWays(decider)) {
        bool copies = decider.write(direct, apart);
        if ((copies || !direct) && isRealised(kernel, reason))
          return true;
        decider.undo();
      }
    return false;
  }

  /// The role that multiplies loads, past the registers or through them. These are a trip ahead,
  /// which a second program on the core is worth more than.
  bool fillOwnRings(KernelOp kernel, TargetInterface target) {
    OwnRingDecider decider(kernel, target);
    if (!decider.find())
      return false;
    std::optional<Refusal> reason;
    int64_t half = target.getChipRecord().sharedBytes / 2;
    for (std::pair<bool, bool> way : getWays(decider)) {
      bool copies = decider.write(way.first, way.second);
      // What takes more than half is taken where the kernel would without, too.
      auto fits = [&](int64_t bytes) {
        if (copies || bytes <= half)
          return true;
        decider.undo();
        bool isLarge = measureBytes(kernel).value_or(0) > half;
        decider.write(way.first, way.second);
        return isLarge;
      };
      if (isRealised(kernel, reason, fits))
        return true;
      decider.undo();
    }
    return false;
  }

  /// For whoever asks why the products of a kernel do not run on beside their warps.
  void tell(const Refusal &reason) {
    Builder builder(&getContext());
    SmallVector<NamedAttribute> members = {
        builder.getNamedAttr("why", builder.getStringAttr(reason.text))};
    if (auto place = reason.loc->findInstanceOf<FileLineColLoc>())
      members.push_back(builder.getNamedAttr("line", builder.getI64IntegerAttr(place.getLine())));
    setMetadata(getOperation(), kNoRolesMember, builder.getDictionaryAttr(members));
  }

  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    using Proposal = bool (DecideRoles::*)(KernelOp, TargetInterface);
    static constexpr Proposal proposals[kMostProposals] = {
        &DecideRoles::overlapTrips, &DecideRoles::loadInTurn, &DecideRoles::fillBeside,
        &DecideRoles::fillOwnRings};
    for (KernelOp kernel : llvm::to_vector(getOperation().getOps<KernelOp>())) {
      auto first = kernel->getAttrOfType<IntegerAttr>(kProposalAttrName);
      kernel->removeAttr(kProposalAttrName);
      bool isSaid = kernel->hasAttr(kPersistentAttrName);
      for (auto [number, proposal] : llvm::enumerate(proposals)) {
        if ((first && int64_t(number) < first.getInt()) || !(this->*proposal)(kernel, *target))
          continue;
        setMetadata(getOperation(), kProposalMember, Builder(kernel).getI64IntegerAttr(number));
        break;
      }
      // A launch's own grid would say which tiles are run.
      if (!isSaid && kernel->hasAttr(kPersistentAttrName))
        setMetadata(getOperation(), "own_grid", Builder(kernel).getBoolAttr(true));
    }
  }

  Realise planAndMeasure(int64_t &bytes) {
    return [&](ModuleOp copy) {
      if (failed(plan(copy)))
        return failure();
      for (auto kernel : copy.getOps<KernelOp>())
        if (auto shared = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttrName))
          bytes = std::max(bytes, shared.getInt());
      return success();
    };
  }

  Realise plan, prove;
};
} // namespace

std::unique_ptr<Pass> kiln::createDecideRoles(Realise plan, Realise prove) {
  return std::make_unique<DecideRoles>(std::move(plan), std::move(prove));
}
