// The list of decisions, and how to read them wherever they stand.
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/ChunkDecisions.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Proposals.h"
#include "kiln/Dialect/Tile/IR/TakeDecisions.h"
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace kiln::tile;

template <typename... Ops>
static bool on(Operation *op) {
  return isa<Ops...>(op);
}
static bool onOurs(Operation *op) {
  return isa_and_nonnull<TileDialect>(op->getDialect()) && !isa<KernelOp>(op);
}
/// The order of an atomic is that of memory.
static bool callsOrder(Operation *op) { return isa<AtomicRMWOp, AtomicCASOp>(op); }
static bool onOursInOrder(Operation *op) { return onOurs(op) && !callsOrder(op); }
/// Of a program; a module is of none.
static bool onOthers(Operation *op) {
  return !isa_and_nonnull<TileDialect>(op->getDialect()) && !isa<ModuleOp>(op);
}
static bool onOthersInOrder(Operation *op) { return onOthers(op) || callsOrder(op); }
static bool onProgram(Operation *op) { return !isa<KernelOp, ModuleOp>(op); }
static bool onTensor(Operation *op) {
  return op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType());
}

static bool onComputed(Operation *op) { return onTensor(op) && !isa<LoadOp, DotOp>(op); }

/// Of a loop's rings, or of what is handed over. Loads have an attribute of their own.
/// Of a loop whose trips are shared out among programs: by their number, or as a stream.
template <typename Share>
static bool onShared(Operation *op) {
  return isa<scf::ForOp>(op) && isa_and_nonnull<Share>(op->getAttr(kShareAttrName));
}
/// Of what one role hands to another; a load's depth is its own attribute.
static bool onHanded(Operation *op) { return onTensor(op) && !isa<LoadOp>(op); }
static bool onMask(Operation *op) { return isa<arith::SelectOp>(op) && onTensor(op); }

ArrayRef<Decision> kiln::tile::getDecisions() {
  constexpr ReadBy Layout = ReadBy::Layout, Schedule = ReadBy::Schedule,
                   Lowering = ReadBy::Lowering;
  static constexpr Decision all[] = {
      // By which instruction, and through which memory.
      {"atom", on<LoadOp, StoreOp>, Schedule, "tile-realise-rings"},
      {"atom", on<DotOp, DotScaledOp>, Lowering, "tile-lower-to-threads"},
      {"buffer", on<LoadOp, StoreOp>, Schedule, "tile-realise-rings"},
      {"read_atom", on<LoadOp>, Schedule, "tile-realise-rings"},
      {kResidencyAttrName, on<LoadOp, DotOp>, Schedule, "tile-realise-rings"},
      {kResidencyAttrName, onComputed, Schedule, "tile-realise-hand-overs"},
      {kCarriedAttrName, on<DotOp, WaitOp>, Schedule, "tile-realise-accumulators"},
      {kColumnsAttrName, on<DotOp, WaitOp>, Schedule, "tile-realise-accumulators"},
      {kOperandColumnsAttrName, on<DotOp, StartDotOp>, Schedule, "tile-realise-accumulators"},
      {kFetchedAttrName, on<StoreOp, SliceOp>, Schedule, "tile-realise-fetches"},
      {kHeldAttrName, on<LoadOp>, Schedule, "tile-realise-box-loads"},
      {kHandedAttrName, on<ConvertLayoutOp>, Schedule, "tile-realise-hand-overs"},
      // When, and by whom.
      {"stage", onOurs, Schedule, "tile-realise-stages"},
      {kStageAttrName, onOthers, Schedule, "tile-realise-stages"},
      {"order", onOursInOrder, Schedule, "tile-realise-stages"},
      {kOrderAttrName, onOthersInOrder, Schedule, "tile-realise-stages"},
      {"role", onOurs, Schedule, "tile-realise-warp-groups"},
      {kRoleAttrName, onOthers, Schedule, "tile-realise-warp-groups"},
      {"ring", on<LoadOp>, Schedule, "tile-realise-rings"},
      {"depth", on<LoadOp>, Schedule, "tile-realise-rings"},
      {kDepthAttrName, on<scf::ForOp, scf::WhileOp>, Schedule, "tile-decide-hand-overs"},
      {kDepthAttrName, onHanded, Schedule, "tile-decide-hand-overs"},
      {"multicast", on<LoadOp, CopyInOp>, Schedule, "tile-realise-rings"},
      {"in_flight", on<DotOp, DotScaledOp, StoreOp>, Schedule, "tile-realise-stages"},
      {kWriteStageAttrName, on<LoadOp>, Schedule, "tile-realise-rings"},
      {kGuardedAttrName, onMask, Schedule, "tile-guard-masks"},
      {kSplitLoopAttrName, on<scf::IfOp>, Schedule, "tile-split-loops"},
      // In which parts, and how its instructions alternate with others.
      {"parts", on<DotOp>, Schedule, "tile-realise-parts", /*isMark=*/false, /*isOfParts=*/true},
      {"reads_ahead", on<DotOp>, Schedule, "tile-realise-parts", /*isMark=*/false,
       /*isOfParts=*/true},
      {"part_stages", on<DotOp>, Schedule, "tile-realise-parts", /*isMark=*/false,
       /*isOfParts=*/true},
      {"part_orders", on<DotOp>, Schedule, "tile-realise-parts", /*isMark=*/false,
       /*isOfParts=*/true},
      {"promote", on<DotOp>, Schedule, "tile-realise-parts", /*isMark=*/false, /*isOfParts=*/true},
      {"swap", on<DotOp>, Layout, "tile-realise-swap", /*isMark=*/false, /*isOfParts=*/true},
      {kExtentsAttrName, on<DotOp>, Layout, "tile-split-shapes", /*isMark=*/false,
       /*isOfParts=*/true},
      {"interleave", on<DotOp>, Schedule, "tile-realise-interleaving"},
      // In which pieces, and what of it stays from loop to loop.
      {kChunkAttrName, on<KernelOp>, Layout, "tile-realise-chunks"},
      {kKeptAttrName, on<LoadOp>, Layout, "tile-realise-chunks"},
      {kRowStartsAttrName, on<KernelOp>, Layout, "tile-realise-row-starts"},
      // How many programs share a loop's trips.
      {kShareAttrName, onShared<IntegerAttr>, Schedule, "tile-realise-shares"},
      {kShareAtomicAttrName, onShared<IntegerAttr>, Schedule, "tile-realise-shares"},
      {kShareAttrName, onShared<StringAttr>, Schedule, "tile-realise-streams"},
      {kShareAtomicAttrName, onShared<StringAttr>, Schedule, "tile-realise-streams"},
      // Behind which op what follows on the stream may begin.
      {kTriggersAttrName, onProgram, Schedule, "tile-realise-overlap"},
      // Which instruction, by its name; and who holds what of a result.
      {kAtomNameAttrName, on<DotOp, DotScaledOp, LoadOp, StoreOp>, Layout,
       "tile-resolve-atom-names"},
      {kLayoutAttrName, onTensor, Layout, "tile-decide-layouts"},
      // Which lanes meet, which warp or program acts for others, and how many tell of something.
      {kLanesAttrName, on<PutOp>, Lowering, "tile-lower-to-threads"},
      {kFirstOfPairAttrName, on<PutOp, GetOp, StartDotOp, ReleaseOp>, Lowering,
       "tile-lower-to-threads"},
      {kByWarpAttrName, on<AllocTensorOp, FreeTensorOp>, Lowering, "tile-lower-to-threads"},
      {kEndsAttrName, on<InitOp>, Lowering, "tile-lower-to-threads"},
      {kInstructionsAttrName, on<WaitPutsOp>, Lowering, "tile-lower-to-threads"},
      {kMeetsAttrName, mayMeet, Lowering, "tile-lower-to-threads"},
      // How far neighbours are reached together.
      {kWholeRowsAttrName, on<LoadOp, StoreOp>, Lowering, "tile-lower-to-threads"},
      {kRaggedAttrName, on<LoadOp, StoreOp>, Lowering, "tile-lower-to-threads"},
      {kRunAttrName, on<GatherOp, ScatterOp>, Lowering, "tile-lower-to-threads"},
      // What passes say of loops.
      {kLeastTripsAttrName, on<scf::ForOp>, Schedule, "tile-realise-stages", /*isMark=*/true},
      {kProgramsAttrName, on<scf::ForOp>, Lowering, "tile-lower-to-threads", /*isMark=*/true},
      // Of a kernel.
      {kRolesAttrName, on<KernelOp>, Schedule, "tile-realise-warp-groups"},
      {kTurnsAttrName, on<KernelOp>, Lowering, "tile-lower-to-threads"},
      {kBatchAttrName, on<KernelOp>, Layout, "tile-realise-batch"},
      {kBlockProgramsAttrName, on<KernelOp>, Lowering, "tile-lower-to-threads"},
      {kPersistentAttrName, on<KernelOp>, Schedule, "tile-realise-persistence"},
      {kRasterAttrName, on<KernelOp>, Schedule, "tile-realise-persistence"},
      {kPerCoreAttrName, on<KernelOp>, Schedule, "tile-realise-persistence"},
      {kProposalAttrName, on<KernelOp>, Schedule, "tile-decide-roles", /*isMark=*/true},
      {kWarpsAttrName, on<KernelOp>, Lowering, "tile-lower-to-threads"},
      {kClusterAttrName, on<KernelOp>, Lowering, "tile-lower-to-threads"},
      {kOverlapAttrName, on<KernelOp>, Schedule, "tile-realise-overlap"},
  };
  return all;
}

const Decision *kiln::tile::lookUpDecision(Operation *op, StringRef attribute) {
  auto found = llvm::find_if(getDecisions(), [&](const Decision &decision) {
    return decision.name == attribute && decision.standsOn(op);
  });
  return found == getDecisions().end() ? nullptr : found;
}

std::string kiln::tile::spellDecision(Operation *op, StringRef name) {
  bool isPlain = onOurs(op) && !(name == "order" && callsOrder(op));
  return isPlain ? name.str() : "tile." + name.str();
}

Attribute kiln::tile::getDecision(Operation *op, StringRef name) {
  return op->getAttr(spellDecision(op, name));
}

std::string kiln::tile::findDecision(Operation *op, function_ref<bool(const Decision &)> isMeant) {
  // Most ops have no attribute that could be one.
  if (op->getAttrs().empty() && op->getPropertiesStorageSize() == 0)
    return "";
  for (const Decision &decision : getDecisions())
    if (isMeant(decision) && decision.standsOn(op) && op->getAttr(decision.name))
      return decision.name.str();
  return "";
}

std::string kiln::tile::findDecision(Operation *op) {
  return findDecision(
      op, [](const Decision &decision) { return !decision.isMark && !decision.isOfParts; });
}

std::string kiln::tile::findPartsDecision(Operation *op) {
  return findDecision(op, [](const Decision &decision) { return decision.isOfParts; });
}

void kiln::tile::takeDecisions(Operation *op, Operation *from) {
  for (const Decision &decision : getDecisions())
    if (decision.standsOn(from))
      if (Attribute value = from->getAttr(decision.name))
        op->setAttr(decision.name, value);
}
