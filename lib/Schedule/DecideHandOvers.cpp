// Decides how each tensor that one role makes and another uses goes from the one to the other: by
// which slots, of how many, in tensor memory or in shared memory and in which order there; and who
// keeps it, if several make it. An operand that warps make and a product reads from shared memory
// goes so too, from another role or from the product's own, in an order that the product takes.
//
// A value that several roles make, as a loop that one enters with what another has made, or a
// choice between the two, is kept by one of them: what the others make of it is handed to that one.
#include "HandOverBuffers.h"
#include "HandOvers.h"
#include "Rings.h"
#include "SourceErrors.h"
#include "Trip.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Schedule/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace kiln {
#define GEN_PASS_DEF_DECIDEHANDOVERS
#include "kiln/Schedule/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
class HandOverDecider {
public:
  explicit HandOverDecider(KernelOp kernel) : kernel(kernel), builder(kernel.getContext()) {}
  LogicalResult run();

private:
  void nameReaders();
  LogicalResult find(Operation *op, RoleAttr role);
  LogicalResult add(OpOperand &use, RoleAttr role);
  FailureOr<StringRef> findMaker(Value value, Operation *user);
  FailureOr<ChannelType> decideChannel(ConvertLayoutOp handed, HandedEdge &edge);
  ConvertLayoutOp makeRead(ConvertLayoutOp handed, RoleAttr role, bool isForDots);
  LogicalResult write(Value value, HandedEdge &edge);
  LogicalResult checkWarps(OpOperand &use, const HandedEdge &edge, RoleAttr role);
  LogicalResult takeDepths(Value value, int64_t slots);
  void dropResidency();
  LogicalResult checkDepths();

  KernelOp kernel;
  OpBuilder builder;
  /// What a role hands to others, and apart from that what it writes for its own products.
  llvm::MapVector<Value, HandedEdge> edges, ownEdges;
  /// Which of the roles that make a value has it.
  DenseMap<Value, StringRef> keepers;
  /// What each copy reads of a tensor of which it then takes its part.
  WholeReads wholeReads;
  /// What says the depth of a ring that is decided here.
  DenseSet<Operation *> deep;
};
} // namespace

ConvertLayoutOp kiln::getConversion(OpOperand *use) {
  return dyn_cast<ConvertLayoutOp>(use->getOwner());
}

/// Whether this is what products read of a hand-over, from shared memory.
static bool isReadForDots(Value value) {
  auto read = value.getDefiningOp<ConvertLayoutOp>();
  auto handed = read ? read.getInput().getDefiningOp<ConvertLayoutOp>() : ConvertLayoutOp();
  return handed && handed->hasAttr(kHandedAttrName) && read->hasAttr(kResidencyAttrName);
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
  auto result = dyn_cast<OpResult>(value);
  if (auto loop = result ? dyn_cast<scf::ForOp>(result.getOwner()) : scf::ForOp())
    value = loop.getRegionIterArg(result.getResultNumber());
  // What else has been given a role since leaves it with who keeps it.
  if (auto at = keepers.find(value); at != keepers.end())
    return at->second;
  if (makers.size() < 2)
    return makers.empty() ? StringRef() : makers.front();
  StringRef keeper = findKeeper(value);
  keepers[value] = keeper;
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
  bool isOwn = name->empty() || *name == role.getName();
  if (isOwn && (!isWrittenForDot(use) || isReadForDots(use.get())))
    return success();
  FailureOr<RoleAttr> maker = isOwn ? role : findRole(user, *name);
  if (failed(maker))
    return failure();
  HandedEdge &edge = (isOwn ? ownEdges : edges)[use.get()];
  edge.maker = *maker;
  edge.isOwn = isOwn;
  if (SmallVector<OpOperand *> &uses = edge.uses[role]; !llvm::is_contained(uses, &use))
    uses.push_back(&use);
  return success();
}

/// Whether what a role runs takes a value of another's: not what an op of none computes for that
/// one.
static bool isTakenFromOther(OpOperand &use, RoleAttr role) {
  llvm::SetVector<StringRef> makers = findMakers(use.get());
  makers.remove(role.getName());
  return !makers.empty() && !isOfOther(use.getOwner(), role.getName());
}

/// What is handed to the role of a loop or a condition, an op of none in there computes with in
/// that role.
void HandOverDecider::nameReaders() {
  kernel.getBody().walk([](Operation *op) {
    StringRef role = getRoleName(op);
    if (role.empty() || !isa<scf::ForOp, scf::WhileOp, scf::IfOp>(op))
      return;
    auto isHanded = [&](Value value) {
      if (!isa<RankedTensorType>(value.getType()) ||
          op->isAncestor(value.getParentBlock()->getParentOp()))
        return false;
      StringRef keeper = findKeeper(value);
      return !keeper.empty() && keeper != role;
    };
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      if (inner != op && !getRoleName(inner).empty())
        return WalkResult::skip();
      bool computes = inner->getNumResults() && !isa<scf::ForOp, scf::WhileOp, scf::IfOp>(inner);
      if (computes && llvm::any_of(inner->getOperands(), isHanded))
        setRoleName(inner, role);
      return WalkResult::advance();
    });
  });
}

/// What stands in a loop or a condition may have a role of its own.
LogicalResult HandOverDecider::find(Operation *op, RoleAttr role) {
  WalkResult result = op->walk<WalkOrder::PreOrder>([&](Operation *inner) -> WalkResult {
    if (StringRef name = getRoleName(inner); !name.empty() && name != role.getName()) {
      FailureOr<RoleAttr> own = findRole(inner, name);
      return failed(own) || failed(find(inner, *own)) ? WalkResult::interrupt()
                                                      : WalkResult::skip();
    }
    for (OpOperand &operand : inner->getOpOperands()) {
      Value value = operand.get();
      Operation *around = value.getParentBlock()->getParentOp();
      if (!isa<RankedTensorType>(value.getType()) ||
          (op->isAncestor(around) && !isWrittenForDot(operand) && !isTakenFromOther(operand, role)))
        continue;
      FailureOr<StringRef> maker = findMaker(value, op);
      if (failed(maker) || failed(add(operand, role)))
        return WalkResult::interrupt();
      auto conversion = dyn_cast<ConvertLayoutOp>(inner);
      bool isOwn = maker->empty() || *maker == role.getName();
      if (isOwn && conversion && !conversion.getHow() && !conversion->hasAttr(kHandedAttrName) &&
          !isReadForDots(conversion))
        return emitSourceError(op, "expected to convert what another role makes, since '")
               << spellDecision(op, "role") << "' is decided";
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Whether each copy of a role of so many warps has all of a tensor.
static bool isOfEachCopy(Value value, int64_t warps) {
  auto type = cast<RankedTensorType>(value.getType());
  auto layout = dyn_cast_or_null<LayoutAttr>(type.getEncoding());
  if (!layout)
    return false;
  LinearLayout whole = layout.toLinear(type.getShape());
  size_t own = std::min<size_t>(llvm::Log2_64_Ceil(warps), whole.getInBits("warp"));
  return llvm::all_of(whole.getBases("warp").drop_front(own), [](const auto &basis) {
    return llvm::all_of(basis, [](int64_t value) { return value == 0; });
  });
}

/// A role reads what it gets laid out over its own warps.
LogicalResult HandOverDecider::checkWarps(OpOperand &use, const HandedEdge &edge, RoleAttr role) {
  if (getConversion(&use) || isWrittenForDot(use) ||
      role.getTotalWarps() == edge.maker.getTotalWarps() ||
      (role.getWarps() == edge.maker.getWarps() && isOfEachCopy(use.get(), role.getWarps())))
    return success();
  return use.getOwner()->emitOpError("expected ")
         << edge.maker.getTotalWarps() << " warps in role \"" << role.getName()
         << "\", as in role \"" << edge.maker.getName()
         << "\", whose tensor it uses as it lies, got " << role.getTotalWarps();
}

SmallVector<Operation *> kiln::findHandedDepths(Value value) {
  SmallVector<Operation *> found;
  llvm::SetVector<Value> values;
  auto add = [&](Value value) {
    auto result = dyn_cast<OpResult>(value);
    if (auto loop = result ? dyn_cast<scf::ForOp>(result.getOwner()) : scf::ForOp())
      value = loop.getRegionIterArg(result.getResultNumber());
    if (isa<RankedTensorType>(value.getType()))
      values.insert(value);
  };
  add(value);
  for (unsigned i = 0; i < values.size(); ++i) {
    Value made = values[i];
    Operation *op = made.getDefiningOp();
    if (op && op->hasAttr(spellDepth(op)) && !isa<scf::WhileOp>(op)) {
      found.push_back(op);
    } else if (isa_and_nonnull<ConvertLayoutOp, SliceOp>(op)) {
      add(op->getOperand(0));
    } else if (isa_and_nonnull<scf::IfOp>(op)) {
      for (OpOperand *source : getSources(made))
        add(source->get());
    } else if (isa_and_nonnull<scf::ForOp, scf::WhileOp>(
                   op ? op : made.getParentBlock()->getParentOp())) {
      // What a loop begins with, something else may hand over.
      add(getSources(made).back()->get());
    }
  }
  return found;
}

int64_t kiln::countSlots(Value value) {
  if (SmallVector<Operation *> said = findHandedDepths(value); !said.empty())
    return said.front()->getAttrOfType<IntegerAttr>(spellDepth(said.front())).getInt();
  if (std::optional<int64_t> depth = getLoopDepth(value.getParentBlock()))
    return *depth;
  int64_t held = 0;
  for (OpOperand &use : value.getUses())
    if (isWrittenForDot(use))
      held = std::max<int64_t>(held, cast<DotOp>(use.getOwner()).getInFlight().value_or(0));
  return held + 1;
}

/// A sum in tensor memory stays there, where so many more than one have room as its dot says to be
/// in flight. Any other tensor goes through shared memory; so many have room as it says, or the
/// loop of how deep its rings are.
FailureOr<ChannelType> HandOverDecider::decideChannel(ConvertLayoutOp handed, HandedEdge &edge) {
  MLIRContext *context = kernel.getContext();
  Value value = handed.getInput();
  auto made = cast<RankedTensorType>(value.getType());
  if (DotOp dot = edge.isOwn ? DotOp() : findSummingDot(value))
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
  FailureOr<BufferType> buffer = decideHandedBuffer(handed, edge, *target, wholeReads);
  if (failed(buffer))
    return failure();
  int64_t boxes = type.getNumElements() / ShapedType::getNumElements(buffer->getShape());
  int64_t slots = countSlots(value);
  if (failed(takeDepths(value, slots)))
    return failure();
  // What ends by commit gives a slot back by itself, to whoever fills it.
  auto dot = edge.isOwn ? dyn_cast<DotOp>(first.getOwner()) : DotOp();
  return ChannelType::get(context, slots, dot && !endsByCommit(dot.getAtomAttr()),
                          SmallVector<Type>(boxes, *buffer));
}

/// What says a depth of what is handed over so is obeyed.
LogicalResult HandOverDecider::takeDepths(Value value, int64_t slots) {
  SmallVector<Operation *> said = findHandedDepths(value);
  if (Operation *loop = said.empty() ? findDeepLoop(value.getParentBlock()) : nullptr)
    deep.insert(loop);
  for (Operation *op : said) {
    deep.insert(op);
    int64_t depth = op->getAttrOfType<IntegerAttr>(spellDepth(op)).getInt();
    if (depth == slots)
      continue;
    InFlightDiagnostic error = op->emitOpError("expected one depth ('depth') of all that becomes "
                                               "one tensor, which is handed over by ")
                               << slots << " slots, got " << depth;
    error.attachNote(said.front()->getLoc()) << "the other";
    return error;
  }
  return success();
}

ConvertLayoutOp HandOverDecider::makeRead(ConvertLayoutOp handed, RoleAttr role, bool isForDots) {
  auto read = inRole(
      ConvertLayoutOp::create(builder, handed.getLoc(), handed.getType(), handed.getResult()),
      role);
  if (isForDots)
    read->setAttr(kResidencyAttrName, builder.getStringAttr("shared"));
  return read;
}

/// A conversion of the maker's hands the value over, as it says; one of each other role reads it,
/// and one for its products stands for the slot itself.
LogicalResult HandOverDecider::write(Value value, HandedEdge &edge) {
  // Who can fetch sums in tensor memory, the atom says.
  bool isSum = !edge.isOwn && findSummingDot(value);
  if (edge.isOwn && edge.maker.getSkew())
    return edge.uses.front().second.front()->getOwner()->emitOpError("expected no skew of role \"")
           << edge.maker.getName()
           << "\", which itself writes what its products read from shared memory, got "
           << edge.maker.getSkew();
  for (auto &[role, uses] : edge.uses)
    for (OpOperand *use : uses)
      if (!isSum && failed(checkWarps(*use, edge, cast<RoleAttr>(role))))
        return failure();
  auto handed = value.getDefiningOp<ConvertLayoutOp>();
  if (!handed || !handed->hasAttr(kHandedAttrName)) {
    if (Operation *op = value.getDefiningOp())
      builder.setInsertionPointAfter(op);
    else
      builder.setInsertionPointToStart(value.getParentBlock());
    handed = inRole(ConvertLayoutOp::create(builder, value.getLoc(), value.getType(), value),
                    edge.maker);
    FailureOr<ChannelType> channel = decideChannel(handed, edge);
    if (failed(channel))
      return failure();
    handed->setAttr(kHandedAttrName, TypeAttr::get(*channel));
  }
  builder.setInsertionPointAfter(handed);
  for (auto &[attr, uses] : edge.uses) {
    ConvertLayoutOp read[2];
    for (OpOperand *use : uses) {
      if (ConvertLayoutOp conversion = getConversion(use)) {
        use->set(handed);
        if (RankedTensorType whole = wholeReads.lookup(use)) {
          OpBuilder inFront(conversion);
          auto all = ConvertLayoutOp::create(inFront, conversion.getLoc(), whole, handed);
          inRole(all, cast<RoleAttr>(attr));
          if (Attribute stage = getDecision(conversion, "stage"))
            all->setAttr(spellDecision(all, "stage"), stage);
          use->set(all);
        }
        continue;
      }
      bool isForDots = isWrittenForDot(*use);
      if (!read[isForDots])
        read[isForDots] = makeRead(handed, cast<RoleAttr>(attr), isForDots);
      use->set(read[isForDots]);
    }
  }
  return success();
}

/// Whether a put fills slots that are copied out of again: it is that of a store.
static bool isOfStore(PutOp put) {
  return llvm::any_of(put.getChannel().getUsers(), [](Operation *user) {
    auto get = dyn_cast<GetOp>(user);
    return get && llvm::any_of(get.getBuffers(), [](Value buffer) {
             return llvm::any_of(findReaders(buffer), llvm::IsaPred<CopyOutOp>);
           });
  });
}

/// Where operands are read stands in types now, but for what products read of a hand-over.
void HandOverDecider::dropResidency() {
  kernel.getBody().walk([](Operation *op) {
    if (op->getNumResults() != 1 || !isReadForDots(op->getResult(0)))
      op->removeAttr(kResidencyAttrName);
  });
}

/// The depths of the rings that loads of a loop fill, in conditions or not, but for inner loops.
static SmallVector<int64_t> findDepths(Operation *loop) {
  SmallVector<int64_t> depths;
  loop->getRegions().back().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<scf::ForOp, scf::WhileOp>(op))
      return WalkResult::skip();
    if (auto put = dyn_cast<PutOp>(op); put && !isOfStore(put))
      depths.push_back(put.getChannel().getType().getDepth());
    return WalkResult::advance();
  });
  return depths;
}

/// The depth that a loop says is that of its loads' rings, and of those that are decided here. Of a
/// tensor it is that of such a ring alone.
LogicalResult HandOverDecider::checkDepths() {
  WalkResult result = kernel.getBody().walk([&](Operation *op) -> WalkResult {
    bool isLoop = isa<scf::ForOp, scf::WhileOp>(op);
    auto said = dyn_cast_or_null<IntegerAttr>(op->removeAttr(spellDepth(op)));
    if (!said || deep.contains(op))
      return WalkResult::advance();
    SmallVector<int64_t> depths = isLoop ? findDepths(op) : SmallVector<int64_t>();
    if (llvm::is_contained(depths, said.getInt()))
      return WalkResult::advance();
    InFlightDiagnostic error = op->emitOpError("expected ");
    auto dot = dyn_cast<DotOp>(op);
    if (dot && dot.getAtomAttr() && endsByCommit(dot.getAtomAttr()))
      error << "no '" << kDepthAttrName
            << "' of a sum in tensor memory, which has one slot more than 'in_flight' says, got "
            << said.getInt();
    else if (!depths.empty())
      error << "a 'depth' that its loads do not all say themselves, got " << said.getInt()
            << " where they say " << depths.front();
    else if (isLoop)
      error << "loads with 'atom' or 'buffer' in a loop with '" << kDepthAttrName
            << "', or tensors that one role makes and another uses";
    else
      error << "a tensor that another role uses or that products read from shared memory, since '"
            << kDepthAttrName << "' is decided";
    return error;
  });
  return failure(result.wasInterrupted());
}

LogicalResult HandOverDecider::run() {
  nameReaders();
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
  for (auto &[value, edge] : llvm::concat<std::pair<Value, HandedEdge>>(edges, ownEdges))
    if (failed(write(value, edge)))
      return failure();
  if (kernel->hasAttr(kRolesAttrName))
    dropResidency();
  return checkDepths();
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
