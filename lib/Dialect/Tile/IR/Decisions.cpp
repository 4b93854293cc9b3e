// The list of decisions, and how to read them wherever they stand.
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/Proposals.h"
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

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
static bool onOthers(Operation *op) { return !isa_and_nonnull<TileDialect>(op->getDialect()); }
static bool onOthersInOrder(Operation *op) { return onOthers(op) || callsOrder(op); }
static bool onProgram(Operation *op) { return !isa<KernelOp>(op); }
static bool onTensor(Operation *op) {
  return op->getNumResults() == 1 && isa<RankedTensorType>(op->getResult(0).getType());
}

static bool onMask(Operation *op) { return isa<arith::SelectOp>(op) && onTensor(op); }

ArrayRef<Decision> kiln::tile::getDecisions() {
  constexpr ReadBy Layout = ReadBy::Layout, Schedule = ReadBy::Schedule,
                   Lowering = ReadBy::Lowering;
  static constexpr Decision all[] = {
      // By which instruction, and through which memory.
      {"atom", on<LoadOp, StoreOp>, Schedule},
      {"atom", on<DotOp, DotScaledOp>, Lowering},
      {"buffer", on<LoadOp, StoreOp>, Schedule},
      {"read_atom", on<LoadOp>, Schedule},
      {kResidencyAttrName, onTensor, Schedule},
      {kCarriedAttrName, on<DotOp, WaitOp>, Schedule},
      {kFetchedAttrName, on<StoreOp, SliceOp>, Schedule},
      {kHandedAttrName, on<ConvertLayoutOp>, Schedule},
      // When, and by whom.
      {"stage", onOurs, Schedule},
      {kStageAttrName, onOthers, Schedule},
      {"order", onOursInOrder, Schedule},
      {kOrderAttrName, onOthersInOrder, Schedule},
      {"role", onOurs, Schedule},
      {kRoleAttrName, onOthers, Schedule},
      {"ring", on<LoadOp>, Schedule},
      {"depth", on<LoadOp>, Schedule},
      {kDepthAttrName, on<scf::ForOp, scf::WhileOp>, Schedule},
      {"multicast", on<LoadOp, CopyInOp>, Schedule},
      {"in_flight", on<DotOp, StoreOp>, Schedule},
      {kWriteStageAttrName, on<LoadOp>, Schedule},
      {kGuardedAttrName, onMask, Schedule},
      {kSplitLoopAttrName, on<scf::IfOp>, Schedule},
      // In which parts, and how its instructions alternate with others.
      {"parts", on<DotOp>, Schedule, /*isMark=*/false, /*isOfParts=*/true},
      {"reads_ahead", on<DotOp>, Schedule, /*isMark=*/false, /*isOfParts=*/true},
      {"promote", on<DotOp>, Schedule, /*isMark=*/false, /*isOfParts=*/true},
      {"swap", on<DotOp>, Layout, /*isMark=*/false, /*isOfParts=*/true},
      {"interleave", on<DotOp>, Schedule},
      // How many programs share a loop's trips.
      {kShareAttrName, on<scf::ForOp>, Schedule},
      {kShareAtomicAttrName, on<scf::ForOp>, Schedule},
      // Behind which op what follows on the stream may begin.
      {kTriggersAttrName, onProgram, Schedule},
      // Which instruction, by its name; and who holds what of a result.
      {kAtomNameAttrName, on<DotOp, LoadOp, StoreOp>, Layout},
      {kLayoutAttrName, onTensor, Layout},
      // Which lanes meet, which warp or program acts for others, and how many tell of something.
      {kLanesAttrName, on<PutOp>, Lowering},
      {kFirstOfPairAttrName, on<PutOp, GetOp, StartDotOp, ReleaseOp>, Lowering},
      {kByWarpAttrName, on<AllocTensorOp, FreeTensorOp>, Lowering},
      {kEndsAttrName, on<InitOp>, Lowering},
      {kInstructionsAttrName, on<WaitPutsOp>, Lowering},
      {kMeetsAttrName, mayMeet, Lowering},
      // How far neighbours are reached together.
      {kWholeRowsAttrName, on<LoadOp, StoreOp>, Lowering},
      {kRunAttrName, on<GatherOp, ScatterOp>, Lowering},
      // What passes say of loops.
      {kLeastTripsAttrName, on<scf::ForOp>, Schedule, /*isMark=*/true},
      {kProgramsAttrName, on<scf::ForOp>, Lowering, /*isMark=*/true},
      // Of a kernel.
      {kRolesAttrName, on<KernelOp>, Schedule},
      {kTurnsAttrName, on<KernelOp>, Lowering},
      {kBlockProgramsAttrName, on<KernelOp>, Lowering},
      {kPersistentAttrName, on<KernelOp>, Schedule},
      {kRasterAttrName, on<KernelOp>, Schedule},
      {kPerCoreAttrName, on<KernelOp>, Schedule},
      {kProposalAttrName, on<KernelOp>, Schedule, /*isMark=*/true},
      {kWarpsAttrName, on<KernelOp>, Lowering},
      {kClusterAttrName, on<KernelOp>, Lowering},
      {kOverlapAttrName, on<KernelOp>, Schedule},
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
