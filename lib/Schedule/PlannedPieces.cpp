// What decisions will have in shared memory: rings, buffers of stores, conversions, scratch.
#include "AcrossCopies.h"
#include "HandOvers.h"
#include "Rings.h"
#include "TensorUses.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/SharedLayout.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The role that will run an op, or null: what has no role is made by each that needs it.
static RoleAttr getRunner(Operation *op) {
  if (RoleAttr role = lookUpRole(op))
    return role;
  auto roles = op->getParentOfType<KernelOp>()->getAttrOfType<ArrayAttr>(kRolesAttrName);
  return roles && roles.size() == 1 ? cast<RoleAttr>(roles[0]) : RoleAttr();
}

static unsigned getNumber(RoleAttr role, KernelOp kernel) {
  auto roles = kernel->getAttrOfType<ArrayAttr>(kRolesAttrName);
  return llvm::find(roles, role) - roles.begin();
}

/// The bytes of what each copy that takes programs in turn has for itself, or of what all share.
static int64_t getBytesOfTurns(int64_t bytes, RoleAttr role, KernelOp kernel) {
  bool takes = role && takesTurns(kernel, role);
  return takes ? getBytesOfCopies(bytes, withTurns(kernel, role)) : bytes;
}

/// Whether a dot adds to no other dot's sum.
static bool beginsSum(DotOp dot) { return !dot.getAccumulator().getDefiningOp<DotOp>(); }

/// Whether a dot's sum is in tensor memory. Shared memory has the barriers of such sums, and of
/// operands there.
static bool isInTensorMemory(DotOp dot) {
  auto atom = dyn_cast_or_null<MmaAtomInterface>(dot.getAtomAttr());
  return atom && atom.getAccumulatorPlace() == Place::Tensor;
}

ChannelType kiln::getChannelType(Ring &ring, MLIRContext *context) {
  return ChannelType::get(context, ring.depth, ring.isOwn(), ring.uses.front().getBuffers());
}

/// The loops in which a role fills a ring of its own and reads it; none if some of it lies
/// outside of any.
static SmallVector<Operation *> findLoops(Ring &ring) {
  SmallVector<Operation *> loops;
  if (!ring.isOwn() || ring.getConsumers().size() != 1)
    return {};
  for (RingUse &use : ring.uses) {
    Operation *loop = getLoopOfTrips(use.getSite());
    if (!loop || use.store)
      return {};
    loops.push_back(loop);
  }
  return loops;
}

/// What reads a conversion from its buffer, if that is not the op itself: slices of it, and stores
/// that go box by box, if what they store is made of it where they stand (tile-sink-slices).
static void addReaders(Value converted, SmallVectorImpl<Operation *> &users) {
  llvm::SetVector<Value> values;
  values.insert(converted);
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      auto store = dyn_cast<StoreOp>(user);
      bool isSunk =
          isa<BroadcastOp, ReshapeOp>(user) || OpTrait::hasElementwiseMappableTraits(user);
      if ((store && store.getAtomAttr()) || (isa<SliceOp>(user) && values[i] == converted))
        users.push_back(user);
      else if (isSunk && isa<RankedTensorType>(user->getResult(0).getType()))
        values.insert(user->getResult(0));
    }
}

/// Whose a tensor is that products read from shared memory: whether the role of any of them makes
/// it itself, and whether another does.
static std::pair<bool, bool> findWriters(Value value) {
  StringRef maker = findKeeper(value);
  bool isOwn = false, isOthers = false;
  for (OpOperand &use : value.getUses()) {
    if (!isWrittenForDot(use))
      continue;
    bool isIts = maker.empty() || maker == getRoleName(use.getOwner());
    (isIts ? isOwn : isOthers) = true;
  }
  return {isOwn, isOthers};
}

SharedPieces kiln::planSharedPieces(KernelOp kernel, RingPlan &plan) {
  SharedPieces found;
  ProgramPoints points(kernel);
  // As long as roles run, if no more is said.
  auto add = [&](Operation *op, std::string name, int64_t bytes) -> schedule::SharedPiece & {
    schedule::SharedPiece &piece = found.add(op, std::move(name), bytes);
    piece.last = std::numeric_limits<int64_t>::max();
    piece.alignment = kEngineAlignment;
    return piece;
  };
  DenseSet<Operation *> handedOver;
  for (Ring &ring : plan) {
    ChannelType type = getChannelType(ring, kernel.getContext());
    add(ring.uses.front().getSite(),
        nameRing(type) + " that role \"" + ring.producer.getName().str() + "\" fills",
        getChannelBytes(type));
    if (SmallVector<Operation *> users = findLoops(ring);
        !users.empty() && canMeetBetween(kernel, ring.producer))
      points.setLife(found, getNumber(ring.producer, kernel), users);
    for (RingUse &use : ring.uses)
      handedOver.insert(use.store);
  }
  // What several ops go through in turn lies where the first of them has it.
  llvm::MapVector<std::pair<RoleAttr, BufferType>, SmallVector<Operation *>> conversions;
  llvm::MapVector<std::pair<RoleAttr, std::pair<BufferType, unsigned>>, SmallVector<Operation *>>
      combined;
  // What is handed over has a place where it is made, or used first.
  DenseSet<Value> written, read;
  auto addSlots = [&](Value value, Operation *user, bool hasBarriers, StringRef what = "") {
    Operation *maker = value.getDefiningOp();
    RankedTensorType tensor = getHandedType(cast<RankedTensorType>(value.getType()));
    auto buffer = BufferType::get(tensor.getContext(), tensor.getShape(), tensor.getElementType(),
                                  LayoutAttr());
    int64_t slots = countSlots(value);
    auto type = ChannelType::get(tensor.getContext(), slots, /*own=*/!hasBarriers, Type(buffer));
    std::string depth = slots > 1 ? ", of " + std::to_string(slots) + " slots ('depth')" : "";
    add(maker ? maker : user, nameBuffer(buffer) + what.str() + depth, getChannelBytes(type));
  };
  auto addWritten = [&](OpOperand &operand) {
    if (!isWrittenForDot(operand) || !written.insert(operand.get()).second)
      return;
    auto [isOwn, isOthers] = findWriters(operand.get());
    bool isCommitted = endsByCommit(cast<DotOp>(operand.getOwner()).getAtomAttr());
    for (auto [is, hasBarriers] : {std::pair(isOwn, isCommitted), std::pair(isOthers, true)})
      if (is)
        addSlots(operand.get(), operand.getOwner(), hasBarriers, " that products read");
  };
  // Sums in tensor memory stay there.
  auto addHandedOver = [&](OpOperand &operand) {
    Operation *user = operand.getOwner();
    Value value = operand.get();
    if (!isa<RankedTensorType>(value.getType()) || getRoleName(user).empty() ||
        handedOver.contains(user) || isWrittenForDot(operand) || findSummingDot(value))
      return;
    StringRef maker = findKeeper(value);
    if (!maker.empty() && maker != getRoleName(user) && read.insert(value).second)
      addSlots(value, user, /*hasBarriers=*/true);
  };
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    RoleAttr role = getRunner(op);
    for (OpOperand &operand : op->getOpOperands()) {
      addWritten(operand);
      addHandedOver(operand);
    }
    if (auto store = dyn_cast<StoreOp>(op);
        store && role && store.getAtomAttr() && store.getBuffer() && !handedOver.contains(store)) {
      auto buffer = cast<BufferType>(*store.getBuffer());
      RoleAttr all = withTurns(kernel, role);
      int64_t bytes = getBytesOfCopies(getSharedBytes(buffer), all);
      for (uint64_t i = 0; i <= store.getInFlight().value_or(0); ++i)
        add(op, nameBuffer(buffer, all) + (i ? ", by 'in_flight'" : ""), bytes);
    }
    if (auto dot = dyn_cast<DotOp>(op); dot && isInTensorMemory(dot)) {
      // Each copy has slots of its own.
      auto addSums = [&](RankedTensorType tensor, int64_t depth) {
        auto slot = PendingType::get(tensor, /*inTensorMemory=*/true);
        auto type = ChannelType::get(op->getContext(), depth * (role ? role.getCopies() : 1),
                                     /*own=*/false, {slot});
        add(op, nameRing(type), getChannelBytes(type));
      };
      if (beginsSum(dot))
        addSums(dot.getType(), dot.getInFlight().value_or(0) + 1);
      if (auto a = dyn_cast<RankedTensorType>(dot.getA().getType());
          a && !isReadFromBuffer(dot.getAMutable()) && !isWrittenForDot(dot.getAMutable()))
        addSums(a, 1);
      for (Value scales : dot.getScales())
        if (written.insert(scales).second)
          addSums(cast<RankedTensorType>(scales.getType()), kSlotsOfScales);
      return;
    }
    if (auto conversion = dyn_cast<ConvertLayoutOp>(op)) {
      ConversionAttr how = conversion.getHowAttr();
      if (!how || how.getKind() != ConversionKind::Memory)
        return;
      RankedTensorType type = getStoredType(conversion.getType());
      auto buffer = BufferType::get(op->getContext(), type.getShape(), type.getElementType(),
                                    how.getBuffer());
      SmallVector<Operation *> &users = conversions[{role, buffer}];
      users.push_back(op);
      addReaders(conversion.getResult(), users);
      return;
    }
    if (role && isAcrossCopies(op, role))
      for (auto key : getPartialBuffers(op))
        combined[{role, key}].push_back(op);
    int64_t bytes = getScratchBytes(op);
    if (!bytes)
      return;
    int64_t copies = role ? role.getCopies() : 1;
    if (role)
      bytes = getBytesOfCopies(llvm::divideCeil(bytes, copies), withTurns(kernel, role));
    found.add(op, "'" + op->getName().getStringRef().str() + "'", bytes);
    std::tie(found.pieces.back().first, found.pieces.back().last) = points.of(op);
    if (role)
      points.setScratch(found, getNumber(role, kernel), withTurns(kernel, role),
                        canMeetBetween(kernel, role), bytes);
  });
  for (auto &[key, users] : conversions) {
    auto [role, buffer] = key;
    add(users.front(), nameBuffer(buffer) + " by which a layout is converted",
        getBytesOfTurns(getSharedBytes(buffer), role, kernel));
    if (role && canMeetBetween(kernel, role))
      points.setLife(found, getNumber(role, kernel), users);
  }
  for (auto &[key, users] : combined) {
    auto [role, its] = key;
    for (int64_t i = 0; i < role.getCopies(); ++i) {
      schedule::SharedPiece &piece =
          add(users.front(), nameBuffer(its.first), getSharedBytes(its.first));
      piece.alignment = schedule::SharedPiece().alignment;
      if (canMeetBetween(kernel, role))
        points.setLife(found, getNumber(role, kernel), users);
    }
  }
  return found;
}
