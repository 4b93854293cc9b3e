// Tensors that one role makes and another uses: each is written to a slot of a ring and read from
// it.
#include "Rings.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// A value, who makes it, and where others use it.
struct Edge {
  RoleAttr maker;
  llvm::MapVector<Attribute, SmallVector<OpOperand *>> uses; // by role
};

class TensorHandOver {
public:
  explicit TensorHandOver(KernelOp kernel) : kernel(kernel), builder(kernel.getContext()) {}
  LogicalResult run();
  /// The loops whose depth is that of a ring made here.
  DenseSet<Operation *> deepLoops;

private:
  LogicalResult find(Operation *op, RoleAttr role);
  LogicalResult realise(Value value, Edge &edge);
  LogicalResult checkFetcher(DotOp dot, RoleAttr role);
  LogicalResult handOverSum(Value value, Edge &edge, DotOp dot);
  FailureOr<RankedTensorType> getReadType(Value value, const Edge &edge, RoleAttr role);
  void setInsertionPointAfter(Value value);

  KernelOp kernel;
  OpBuilder builder;
  llvm::MapVector<Value, Edge> edges;
};
} // namespace

/// A conversion reads what it converts as it wants it.
static ConvertLayoutOp getConversion(OpOperand *use) {
  return dyn_cast<ConvertLayoutOp>(use->getOwner());
}

LogicalResult TensorHandOver::find(Operation *op, RoleAttr role) {
  WalkResult result = op->walk([&](Operation *inner) -> WalkResult {
    for (OpOperand &operand : inner->getOpOperands()) {
      Value value = operand.get();
      Operation *around = value.getParentBlock()->getParentOp();
      if (!isa<RankedTensorType>(value.getType()) || op->isAncestor(around))
        continue;
      llvm::SetVector<StringRef> makers = findMakers(value);
      if (makers.empty() || (makers.size() == 1 && makers[0] == role.getName())) {
        if (auto conversion = dyn_cast<ConvertLayoutOp>(inner); conversion && !conversion.getHow())
          return op->emitOpError("expected to convert what another role makes, since '")
                 << spellDecision(op, "role") << "' is decided";
        continue;
      }
      if (makers.size() > 1)
        return op->emitOpError("expected a value that one role makes, got one of roles \"")
               << makers[0] << "\" and \"" << makers[1] << "\"";
      FailureOr<RoleAttr> maker = findRole(op, makers[0]);
      if (failed(maker))
        return WalkResult::interrupt();
      Edge &edge = edges[value];
      edge.maker = *maker;
      edge.uses[role].push_back(&operand);
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

void TensorHandOver::setInsertionPointAfter(Value value) {
  if (Operation *op = value.getDefiningOp())
    builder.setInsertionPointAfter(op);
  else
    builder.setInsertionPointToStart(value.getParentBlock());
}

/// The type as which a role reads what it gets: laid out over its own warps.
FailureOr<RankedTensorType> TensorHandOver::getReadType(Value value, const Edge &edge,
                                                        RoleAttr role) {
  ArrayRef<OpOperand *> uses = edge.uses.find(role)->second;
  auto type = cast<RankedTensorType>(value.getType());
  if (llvm::all_of(uses, getConversion)) {
    Type wanted = getConversion(uses.front()).getType();
    if (llvm::all_of(uses, [&](OpOperand *use) { return getConversion(use).getType() == wanted; }))
      return cast<RankedTensorType>(wanted);
  }
  if (role.getTotalWarps() == edge.maker.getTotalWarps())
    return type;
  return uses.front()->getOwner()->emitOpError("expected a tile.convert_layout in role \"")
         << role.getName() << "\", which has " << role.getTotalWarps() << " warps, of what role \""
         << edge.maker.getName() << "\" makes with " << edge.maker.getTotalWarps();
}

/// The dot in tensor memory whose sum a value is, perhaps behind the loop that carries it; or null.
static DotOp findSummingDot(Value value) {
  while (auto loop = value.getDefiningOp<scf::ForOp>())
    value = loop.getBody()->getTerminator()->getOperand(cast<OpResult>(value).getResultNumber());
  auto dot = value.getDefiningOp<DotOp>();
  return dot && dot.getInFlight() && endsByCommit(dot.getAtomAttr()) ? dot : DotOp();
}

/// Each warp of those that fetch has its own part of tensor memory.
LogicalResult TensorHandOver::checkFetcher(DotOp dot, RoleAttr role) {
  int64_t first = 0, warps = cast<MmaAtomInterface>(dot.getAtomAttr()).getWarps();
  for (auto other : kernel->getAttrOfType<ArrayAttr>(kRolesAttrName).getAsRange<RoleAttr>()) {
    if (other == role)
      break;
    first += other.getTotalWarps();
  }
  if (role.getTotalWarps() == warps && first % warps == 0)
    return success();
  return dot.emitOpError("expected a role of ")
         << warps << " warps behind a multiple of " << warps << " to use the result, since "
         << dot.getAtomAttr() << " has it in tensor memory, got role \"" << role.getName()
         << "\" of " << role.getTotalWarps() << " behind " << first;
}

/// A sum stays in tensor memory, where so many more than one have room as its dot says to be in
/// flight.
LogicalResult TensorHandOver::handOverSum(Value value, Edge &edge, DotOp dot) {
  unsigned uses = 0;
  int64_t warps = 0;
  for (auto &[role, operands] : edge.uses) {
    uses += operands.size();
    warps += cast<RoleAttr>(role).getTotalWarps();
    if (failed(checkFetcher(dot, cast<RoleAttr>(role))))
      return failure();
    for (OpOperand *use : operands)
      if (getConversion(use))
        return use->getOwner()->emitOpError("expected the layout in which ")
               << dot.getAtomAttr() << " has the sum, got "
               << use->getOwner()->getResult(0).getType();
  }
  if (!value.hasNUses(uses))
    return dot.emitOpError(
               "expected a result that other roles alone use, since one does, and role \"")
           << edge.maker.getName() << "\" has it in tensor memory";
  Location loc = value.getLoc();
  auto sum = PendingType::get(cast<RankedTensorType>(value.getType()), /*inTensorMemory=*/true);
  builder.setInsertionPointToStart(&kernel.getBody().front());
  Ring ring;
  ring.channel = ChannelOp::create(
      builder, loc,
      ChannelType::get(kernel.getContext(), *dot.getInFlight() + 1, /*own=*/false, {sum}),
      /*full=*/1, warps);
  dot.setInFlight(0);
  setInsertionPointAfter(value);
  NextOp next = makeNext(builder, loc, ring, edge.maker);
  auto pend = inRole(PendOp::create(builder, loc, sum, value), edge.maker);
  inRole(CommitOp::create(builder, loc, pend, ring.channel, next.getSlot()), edge.maker);
  for (auto &[attr, operands] : edge.uses) {
    auto role = cast<RoleAttr>(attr);
    next = makeNext(builder, loc, ring, role);
    auto get =
        inRole(GetOp::create(builder, loc, ring.channel, next.getSlot(), next.getPhase()), role);
    auto fetch = inRole(
        FetchOp::create(builder, loc, value.getType(), get.getBuffers().front(), dot.getAtomAttr()),
        role);
    for (OpOperand *use : operands)
      use->set(fetch.getResult());
  }
  return success();
}

LogicalResult TensorHandOver::realise(Value value, Edge &edge) {
  if (DotOp dot = findSummingDot(value))
    return handOverSum(value, edge, dot);
  auto type = cast<RankedTensorType>(value.getType());
  Operation *user = edge.uses.front().second.front()->getOwner();
  if (!isa_and_nonnull<LayoutAttr>(type.getEncoding()))
    return user->emitOpError("expected a tensor with a layout from role \"")
           << edge.maker.getName() << "\", got " << type;
  unsigned bits = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
  if (bits < 8)
    return user->emitOpError("expected elements of at least a byte from role \"")
           << edge.maker.getName() << "\", got " << type;
  int64_t warps = 0;
  SmallVector<RankedTensorType> types;
  for (auto &[role, uses] : edge.uses) {
    warps += cast<RoleAttr>(role).getTotalWarps();
    FailureOr<RankedTensorType> read = getReadType(value, edge, cast<RoleAttr>(role));
    if (failed(read))
      return failure();
    types.push_back(*read);
  }
  FailureOr<TargetInterface> target = requireTarget(kernel);
  if (failed(target))
    return failure();
  auto toLinear = [](RankedTensorType tensor) {
    return cast<LayoutAttr>(tensor.getEncoding()).toLinear(tensor.getShape());
  };
  SharedPlan plan =
      planShared(toLinear(type), toLinear(types.front()),
                 getSharedElementBytes(type.getElementType()), target->getChipRecord(), {});
  auto buffer = BufferType::get(kernel.getContext(), type.getShape(), type.getElementType(),
                                LayoutAttr::get(kernel.getContext(), plan.layout));

  auto loop = dyn_cast<scf::ForOp>(value.getParentBlock()->getParentOp());
  auto depth = loop ? loop->getAttrOfType<IntegerAttr>(kDepthAttrName) : IntegerAttr();
  if (depth)
    deepLoops.insert(loop);
  Location loc = value.getLoc();
  builder.setInsertionPointToStart(&kernel.getBody().front());
  Ring ring;
  ring.channel = ChannelOp::create(
      builder, loc,
      ChannelType::get(kernel.getContext(), depth ? depth.getInt() : 1, /*own=*/false, {buffer}),
      edge.maker.getTotalWarps(), warps);
  setInsertionPointAfter(value);
  NextOp next = makeNext(builder, loc, ring, edge.maker);
  auto put = inRole(
      PutOp::create(builder, loc, ring.channel, next.getSlot(), next.getPhase(), /*bytes=*/0),
      edge.maker);
  Block &body = put.getBody().emplaceBlock();
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  WriteOp::create(inner, loc, value, body.addArgument(buffer, loc));
  for (auto [entry, read] : llvm::zip_equal(edge.uses, types)) {
    auto role = cast<RoleAttr>(entry.first);
    next = makeNext(builder, loc, ring, role);
    auto get =
        inRole(GetOp::create(builder, loc, ring.channel, next.getSlot(), next.getPhase()), role);
    auto tensor = inRole(ReadOp::create(builder, loc, read, get.getBuffers().front(),
                                        DenseI64ArrayAttr(), Attribute()),
                         role);
    for (OpOperand *use : entry.second) {
      ConvertLayoutOp conversion = getConversion(use);
      if (conversion && conversion.getType() == read) {
        conversion.getResult().replaceAllUsesWith(tensor.getResult());
        conversion.erase();
      } else {
        use->set(tensor.getResult());
      }
    }
  }
  return success();
}

LogicalResult TensorHandOver::run() {
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
    if (failed(realise(value, edge)))
      return failure();
  return success();
}

FailureOr<DenseSet<Operation *>> kiln::handOverTensors(KernelOp kernel) {
  TensorHandOver handOver(kernel);
  if (failed(handOver.run()))
    return failure();
  return std::move(handOver.deepLoops);
}
