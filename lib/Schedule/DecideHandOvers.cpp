// Decides how each tensor that one role makes and another uses goes from the one to the other: by
// which slots, of how many, in tensor memory or in shared memory and in which order there; and who
// keeps it, if several make it.
//
// A value that several roles make, as a loop that one enters with what another has made, or a
// choice between the two, is kept by one of them: what the others make of it is handed to that one.
#include "HandOvers.h"
#include "Rings.h"
#include "SourceErrors.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/MapVector.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEHANDOVERS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// A value, who makes it, and where others use it.
struct Edge {
  RoleAttr maker;
  llvm::MapVector<Attribute, SmallVector<OpOperand *>> uses; // by role
};

class HandOverDecider {
public:
  explicit HandOverDecider(KernelOp kernel) : kernel(kernel), builder(kernel.getContext()) {}
  LogicalResult run();

private:
  LogicalResult find(Operation *op, RoleAttr role);
  LogicalResult add(OpOperand &use, RoleAttr role);
  FailureOr<StringRef> findMaker(Value value, Operation *user);
  FailureOr<ChannelType> decideChannel(Value value, Edge &edge);
  LogicalResult write(Value value, Edge &edge);
  LogicalResult checkWarps(OpOperand &use, const Edge &edge, RoleAttr role);
  LogicalResult takeDepths();

  KernelOp kernel;
  OpBuilder builder;
  llvm::MapVector<Value, Edge> edges;
  /// Which of the roles that make a value has it.
  DenseMap<Value, StringRef> keepers;
  /// The loops whose depth is that of a ring that is decided here.
  DenseSet<Operation *> deepLoops;
};
} // namespace

/// A conversion reads what it converts as it wants it.
static ConvertLayoutOp getConversion(OpOperand *use) {
  return dyn_cast<ConvertLayoutOp>(use->getOwner());
}

/// What a value of several makers is made of: what each of them hands on, or computes.
static SmallVector<OpOperand *> getSources(Value value) {
  SmallVector<OpOperand *> sources;
  auto addOperand = [&](Operation *op, unsigned number) {
    sources.push_back(&op->getOpOperand(number));
  };
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op = argument ? argument.getOwner()->getParentOp() : value.getDefiningOp();
  unsigned number = argument ? argument.getArgNumber() : cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    addOperand(op, loop.getNumControlOperands() + number - 1);
    addOperand(loop.getBody()->getTerminator(), number - 1);
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    if (argument && argument.getOwner() == loop.getBeforeBody()) {
      addOperand(op, number);
      addOperand(loop.getYieldOp(), number);
    } else {
      addOperand(loop.getConditionOp(), number + 1);
    }
  } else if (auto condition = dyn_cast<scf::IfOp>(op)) {
    addOperand(condition.thenYield(), number);
    addOperand(condition.elseYield(), number);
  } else {
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        sources.push_back(&operand);
  }
  return sources;
}

/// The role that has a value when others use it; nothing if each makes its own.
FailureOr<StringRef> HandOverDecider::findMaker(Value value, Operation *user) {
  llvm::SetVector<StringRef> makers = findMakers(value);
  if (makers.size() < 2)
    return makers.empty() ? StringRef() : makers.front();
  auto result = dyn_cast<OpResult>(value);
  if (auto loop = result ? dyn_cast<scf::ForOp>(result.getOwner()) : scf::ForOp())
    value = loop.getRegionIterArg(result.getResultNumber());
  StringRef keeper = findKeeper(value);
  if (!keepers.try_emplace(value, keeper).second)
    return keeper;
  FailureOr<RoleAttr> role = findRole(user, keeper);
  if (failed(role))
    return failure();
  for (OpOperand *source : getSources(value))
    if (failed(add(*source, *role)))
      return failure();
  bool isControl =
      isa<BlockArgument>(value) || isa<scf::ForOp, scf::WhileOp, scf::IfOp>(value.getDefiningOp());
  if (!isControl)
    setRoleName(value.getDefiningOp(), keeper);
  return keeper;
}

LogicalResult HandOverDecider::add(OpOperand &use, RoleAttr role) {
  Operation *user = use.getOwner();
  FailureOr<StringRef> name = findMaker(use.get(), user);
  if (failed(name))
    return failure();
  if (name->empty() || *name == role.getName())
    return success();
  FailureOr<RoleAttr> maker = findRole(user, *name);
  if (failed(maker))
    return failure();
  Edge &edge = edges[use.get()];
  edge.maker = *maker;
  if (SmallVector<OpOperand *> &uses = edge.uses[role]; !llvm::is_contained(uses, &use))
    uses.push_back(&use);
  return success();
}

LogicalResult HandOverDecider::find(Operation *op, RoleAttr role) {
  WalkResult result = op->walk([&](Operation *inner) -> WalkResult {
    for (OpOperand &operand : inner->getOpOperands()) {
      Value value = operand.get();
      Operation *around = value.getParentBlock()->getParentOp();
      if (!isa<RankedTensorType>(value.getType()) || op->isAncestor(around))
        continue;
      FailureOr<StringRef> maker = findMaker(value, op);
      if (failed(maker) || failed(add(operand, role)))
        return WalkResult::interrupt();
      auto conversion = dyn_cast<ConvertLayoutOp>(inner);
      bool isOwn = maker->empty() || *maker == role.getName();
      if (isOwn && conversion && !conversion.getHow() && !conversion->hasAttr(kHandedAttrName))
        return emitSourceError(op, "expected to convert what another role makes, since '")
               << spellDecision(op, "role") << "' is decided";
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// A role reads what it gets laid out over its own warps.
LogicalResult HandOverDecider::checkWarps(OpOperand &use, const Edge &edge, RoleAttr role) {
  if (getConversion(&use) || role.getTotalWarps() == edge.maker.getTotalWarps())
    return success();
  return use.getOwner()->emitOpError("expected a tile.convert_layout in role \"")
         << role.getName() << "\", which has " << role.getTotalWarps() << " warps, of what role \""
         << edge.maker.getName() << "\" makes with " << edge.maker.getTotalWarps();
}

/// A sum in tensor memory stays there, where so many more than one have room as its dot says to be
/// in flight. Any other tensor goes through shared memory, in the order that is best for its first
/// use; so many have room as the tensor says, or the loop of how deep its rings are.
FailureOr<ChannelType> HandOverDecider::decideChannel(Value value, Edge &edge) {
  MLIRContext *context = kernel.getContext();
  auto made = cast<RankedTensorType>(value.getType());
  if (DotOp dot = findSummingDot(value))
    return ChannelType::get(context, *dot.getInFlight() + 1, /*own=*/false,
                            {PendingType::get(made, /*inTensorMemory=*/true)});
  RankedTensorType type = getHandedType(made);
  OpOperand &first = *edge.uses.front().second.front();
  if (!isa_and_nonnull<LayoutAttr>(type.getEncoding()))
    return first.getOwner()->emitOpError("expected a tensor with a layout from role \"")
           << edge.maker.getName() << "\", got " << made;
  FailureOr<TargetInterface> target = requireTarget(kernel);
  if (failed(target))
    return failure();
  auto toLinear = [](RankedTensorType tensor) {
    return cast<LayoutAttr>(tensor.getEncoding()).toLinear(tensor.getShape());
  };
  ConvertLayoutOp conversion = getConversion(&first);
  SharedPlan plan =
      planShared(toLinear(type), toLinear(conversion ? conversion.getType() : made),
                 getSharedElementBytes(type.getElementType()), target->getChipRecord(), {});
  auto buffer = BufferType::get(context, type.getShape(), type.getElementType(),
                                LayoutAttr::get(context, plan.layout));
  std::optional<int64_t> said = findHandedDepth(value);
  std::optional<int64_t> depth = said ? said : getLoopDepth(value.getParentBlock());
  if (said)
    for (Operation *op = value.getDefiningOp(); !op->removeAttr(kDepthAttrName);)
      op = op->getOperand(0).getDefiningOp();
  else if (depth)
    deepLoops.insert(value.getParentBlock()->getParentOp());
  return ChannelType::get(context, depth.value_or(1), /*own=*/false, {buffer});
}

/// A conversion of the maker's hands the value over, as it says; one of each other role reads it.
LogicalResult HandOverDecider::write(Value value, Edge &edge) {
  // Who can fetch sums in tensor memory, the atom says.
  bool isSum = findSummingDot(value) != nullptr;
  for (auto &[role, uses] : edge.uses)
    for (OpOperand *use : uses)
      if (!isSum && failed(checkWarps(*use, edge, cast<RoleAttr>(role))))
        return failure();
  auto handed = value.getDefiningOp<ConvertLayoutOp>();
  if (!handed || !handed->hasAttr(kHandedAttrName)) {
    FailureOr<ChannelType> channel = decideChannel(value, edge);
    if (failed(channel))
      return failure();
    if (Operation *op = value.getDefiningOp())
      builder.setInsertionPointAfter(op);
    else
      builder.setInsertionPointToStart(value.getParentBlock());
    handed = inRole(ConvertLayoutOp::create(builder, value.getLoc(), value.getType(), value),
                    edge.maker);
    handed->setAttr(kHandedAttrName, TypeAttr::get(*channel));
  }
  builder.setInsertionPointAfter(handed);
  for (auto &[attr, uses] : edge.uses) {
    ConvertLayoutOp read;
    for (OpOperand *use : uses) {
      if (getConversion(use)) {
        use->set(handed);
        continue;
      }
      if (!read)
        read = inRole(ConvertLayoutOp::create(builder, value.getLoc(), value.getType(), handed),
                      cast<RoleAttr>(attr));
      use->set(read);
    }
  }
  return success();
}

/// Whether a put fills slots that are copied out of again: it is that of a store.
static bool isOfStore(PutOp put) {
  return llvm::any_of(put.getChannel().getUsers(), [](Operation *user) {
    auto get = dyn_cast<GetOp>(user);
    return get && llvm::any_of(get.getBuffers(), [](Value buffer) {
             return llvm::any_of(buffer.getUsers(), llvm::IsaPred<CopyOutOp>);
           });
  });
}

/// The depth that a loop says is that of its loads' rings, and of those that are decided here.
LogicalResult HandOverDecider::takeDepths() {
  WalkResult result = kernel.getBody().walk([&](Operation *op) -> WalkResult {
    if (op->hasAttr(kDepthAttrName) && !isa<scf::ForOp, scf::WhileOp>(op))
      return op->emitOpError("expected another role to read from shared memory what '")
             << kDepthAttrName << "' is decided of";
    if (!op->removeAttr(kDepthAttrName) || deepLoops.contains(op) ||
        !llvm::all_of(op->getRegions().back().getOps<PutOp>(), isOfStore))
      return WalkResult::advance();
    return op->emitOpError("expected loads with 'atom' or 'buffer' in a loop with '")
           << kDepthAttrName << "', or tensors that one role makes and another uses";
  });
  return failure(result.wasInterrupted());
}

LogicalResult HandOverDecider::run() {
  WalkResult result = kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) -> WalkResult {
    StringRef name = getRoleName(op);
    if (name.empty())
      return WalkResult::advance();
    FailureOr<RoleAttr> role = findRole(op, name);
    if (failed(role) || failed(find(op, *role)))
      return WalkResult::interrupt();
    return WalkResult::skip();
  });
  if (result.wasInterrupted())
    return failure();
  for (auto &[value, edge] : edges)
    if (failed(write(value, edge)))
      return failure();
  return takeDepths();
}

namespace {
struct DecideHandOvers : kiln::impl::DecideHandOversBase<DecideHandOvers> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(HandOverDecider(kernel).run()))
        return signalPassFailure();
  }
};
} // namespace
