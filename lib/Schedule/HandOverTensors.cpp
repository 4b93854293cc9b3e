// Tensors that one role makes and another uses: each is written to a slot of a ring and read from
// it.
//
// A value that several roles make, as a loop that one enters with what another has made, or a
// choice between the two, is kept by one of them: what the others make of it is handed to that one.
#include "Rings.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
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
  LogicalResult add(OpOperand &use, RoleAttr role);
  FailureOr<StringRef> findMaker(Value value, Operation *user);
  LogicalResult realise(Value value, Edge &edge);
  LogicalResult checkFetcher(DotOp dot, RoleAttr role);
  LogicalResult handOverSum(Value value, Edge &edge, DotOp dot);
  FailureOr<RankedTensorType> getReadType(OpOperand &use, const Edge &edge, RoleAttr role);
  void setInsertionPointAfter(Value value);

  KernelOp kernel;
  OpBuilder builder;
  llvm::MapVector<Value, Edge> edges;
  /// Which of the roles that make a value has it.
  DenseMap<Value, StringRef> keepers;
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
FailureOr<StringRef> TensorHandOver::findMaker(Value value, Operation *user) {
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

LogicalResult TensorHandOver::add(OpOperand &use, RoleAttr role) {
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

LogicalResult TensorHandOver::find(Operation *op, RoleAttr role) {
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
      if (isOwn && conversion && !conversion.getHow())
        return op->emitOpError("expected to convert what another role makes, since '")
               << spellDecision(op, "role") << "' is decided";
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

/// The type as which a role reads what it gets for a use: laid out over its own warps.
FailureOr<RankedTensorType> TensorHandOver::getReadType(OpOperand &use, const Edge &edge,
                                                        RoleAttr role) {
  if (ConvertLayoutOp conversion = getConversion(&use))
    return conversion.getType();
  if (role.getTotalWarps() == edge.maker.getTotalWarps())
    return cast<RankedTensorType>(use.get().getType());
  return use.getOwner()->emitOpError("expected a tile.convert_layout in role \"")
         << role.getName() << "\", which has " << role.getTotalWarps() << " warps, of what role \""
         << edge.maker.getName() << "\" makes with " << edge.maker.getTotalWarps();
}

/// As bytes: a slot holds no less.
static RankedTensorType widen(RankedTensorType type) {
  bool isNarrow = !type.getElementType().isIndex() && type.getElementTypeBitWidth() < 8;
  return isNarrow ? cast<RankedTensorType>(type.clone(IntegerType::get(type.getContext(), 8)))
                  : type;
}

/// A tensor of another type's elements: bytes of fewer bits, or the bits of bytes.
static Value changeWidth(OpBuilder &builder, Location loc, Value value, RankedTensorType type,
                         RoleAttr role) {
  auto from = cast<RankedTensorType>(value.getType());
  if (from == type)
    return value;
  RankedTensorType narrow = from.getElementTypeBitWidth() < 8 ? from : type;
  RankedTensorType bits =
      cast<RankedTensorType>(narrow.clone(builder.getIntegerType(narrow.getElementTypeBitWidth())));
  auto cast = [&](RankedTensorType to) {
    if (value.getType() != to)
      value = inRole(arith::BitcastOp::create(builder, loc, to, value), role);
  };
  if (narrow == type) {
    value = inRole(arith::TruncIOp::create(builder, loc, bits, value), role);
    cast(type);
  } else {
    cast(bits);
    value = inRole(arith::ExtUIOp::create(builder, loc, type, value), role);
  }
  return value;
}

/// The dot in tensor memory whose sum a value is, perhaps behind the loop that carries it; or null.
static DotOp findSummingDot(Value value) {
  while (isa_and_nonnull<scf::ForOp, scf::WhileOp>(value.getDefiningOp())) {
    Operation *loop = value.getDefiningOp();
    unsigned number = cast<OpResult>(value).getResultNumber();
    if (auto asks = dyn_cast<scf::WhileOp>(loop)) {
      auto handed = dyn_cast<BlockArgument>(asks.getConditionOp().getArgs()[number]);
      if (!handed || handed.getOwner() != asks.getBeforeBody())
        return {};
      number = handed.getArgNumber();
    }
    value = loop->getRegions().back().front().getTerminator()->getOperand(number);
  }
  auto dot = value.getDefiningOp<DotOp>();
  return dot && dot.getInFlight() && endsByCommit(dot.getAtomAttr()) ? dot : DotOp();
}

/// Each warp of those that fetch has its own part of tensor memory.
LogicalResult TensorHandOver::checkFetcher(DotOp dot, RoleAttr role) {
  int64_t first = 0, warps = cast<MmaAtomInterface>(dot.getAtomAttr()).getWarps();
  for (auto other : kernel->getAttrOfType<ArrayAttr>(kRolesAttrName).getAsRange<RoleAttr>()) {
    if (other == role)
      break;
    first += countWarps(kernel, other);
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
  if (edge.maker.getCopies() > 1)
    return dot.emitOpError("expected a role of one copy to hand over what ")
           << dot.getAtomAttr() << " has in tensor memory, since each copy has slots of its own, "
           << "which one role would have to wait for apart, got " << edge.maker.getCopies()
           << " copies of role \"" << edge.maker.getName() << "\"";
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
  auto made = cast<RankedTensorType>(value.getType()), type = widen(made);
  Operation *user = edge.uses.front().second.front()->getOwner();
  if (!isa_and_nonnull<LayoutAttr>(type.getEncoding()))
    return user->emitOpError("expected a tensor with a layout from role \"")
           << edge.maker.getName() << "\", got " << made;
  int64_t warps = 0;
  DenseMap<OpOperand *, RankedTensorType> types;
  for (auto &[role, uses] : edge.uses) {
    warps += cast<RoleAttr>(role).getTotalWarps();
    for (OpOperand *use : uses) {
      FailureOr<RankedTensorType> read = getReadType(*use, edge, cast<RoleAttr>(role));
      if (failed(read))
        return failure();
      types[use] = *read;
    }
  }
  FailureOr<TargetInterface> target = requireTarget(kernel);
  if (failed(target))
    return failure();
  auto toLinear = [](RankedTensorType tensor) {
    return cast<LayoutAttr>(tensor.getEncoding()).toLinear(tensor.getShape());
  };
  SharedPlan plan =
      planShared(toLinear(type), toLinear(types.lookup(edge.uses.front().second.front())),
                 getSharedElementBytes(type.getElementType()), target->getChipRecord(), {});
  auto buffer = BufferType::get(kernel.getContext(), type.getShape(), type.getElementType(),
                                LayoutAttr::get(kernel.getContext(), plan.layout));

  std::optional<int64_t> depth = getLoopDepth(value.getParentBlock());
  if (depth)
    deepLoops.insert(value.getParentBlock()->getParentOp());
  Location loc = value.getLoc();
  builder.setInsertionPointToStart(&kernel.getBody().front());
  Ring ring;
  ring.channel = ChannelOp::create(
      builder, loc,
      ChannelType::get(kernel.getContext(), depth.value_or(1), /*own=*/false, {buffer}),
      edge.maker.getTotalWarps(), warps);
  setInsertionPointAfter(value);
  Value written = changeWidth(builder, loc, value, type, edge.maker);
  NextOp next = makeNext(builder, loc, ring, edge.maker);
  auto put = inRole(
      PutOp::create(builder, loc, ring.channel, next.getSlot(), next.getPhase(), /*bytes=*/0),
      edge.maker);
  Block &body = put.getBody().emplaceBlock();
  OpBuilder inner = OpBuilder::atBlockEnd(&body);
  WriteOp::create(inner, loc, written, body.addArgument(buffer, loc));
  for (auto &[attr, uses] : edge.uses) {
    auto role = cast<RoleAttr>(attr);
    next = makeNext(builder, loc, ring, role);
    auto get =
        inRole(GetOp::create(builder, loc, ring.channel, next.getSlot(), next.getPhase()), role);
    DenseMap<Type, Value> tensors;
    for (OpOperand *use : uses) {
      RankedTensorType wanted = types.lookup(use);
      Value &tensor = tensors[wanted];
      if (!tensor) {
        auto read = inRole(ReadOp::create(builder, loc, widen(wanted), get.getBuffers().front(),
                                          DenseI64ArrayAttr(), Attribute()),
                           role);
        tensor = changeWidth(builder, loc, read.getResult(), wanted, role);
      }
      if (ConvertLayoutOp conversion = getConversion(use)) {
        conversion.getResult().replaceAllUsesWith(tensor);
        conversion.erase();
      } else {
        use->set(tensor);
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
