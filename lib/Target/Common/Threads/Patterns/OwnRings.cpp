// Rings that a role fills for itself: each warp copies its share and counts what is under way.
//
// A slot holds a buffer's elements in the order of their offsets. An instruction of an atom fills
// the bytes of one warp, lane behind lane; the warps of the role stand behind one another, and so
// do the turns. Which element a lane reads for its place, the buffer's layout says: permutations of
// the buffer are made in global memory.
//
// A slot that is known when compiling is a scope of its own for LLVM: what is read from one need
// not wait for what is copied into another.
#include "../Rings.h"
#include "../SharedAccess.h"
#include "../ThreadPatterns.h"
#include "../ThreadPlans.h"
#include "../TileAccess.h"
#include "../ViewAccess.h"
#include "kiln/Dialect/Tile/IR/BareTypes.h"
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
struct RingState {
  /// The alias scope of each slot of an own ring, by channel, and of a buffer that is one.
  llvm::MapVector<Value, SmallVector<Attribute>> slotScopes;
  DenseMap<Value, Attribute> scopes;
  /// Whether all slots that are accessed are known when compiling.
  bool knowsSlots = true;
};
} // namespace

void kiln::lowerOwnChannel(ThreadContext &context, ChannelOp op) {
  context.set(op, getShared(context, op));
  context.function->getParentOfType<ModuleOp>()
      .lookupSymbol<LLVM::GlobalOp>(kSharedSymbol)
      .setAlignment(kEngineAlignment);
  auto &slotScopes = context.getState<RingState>().slotScopes;
  // One domain for all rings: their slots are apart.
  auto domain = slotScopes.empty()
                    ? LLVM::AliasScopeDomainAttr::get(context.getContext())
                    : cast<LLVM::AliasScopeAttr>(slotScopes.front().second.front()).getDomain();
  SmallVector<Attribute> &slots = slotScopes[op];
  for (int64_t slot = 0; slot < op.getResult().getType().getDepth(); ++slot)
    slots.push_back(LLVM::AliasScopeAttr::get(domain));
}

ChannelOp kiln::findChannel(Value name) {
  auto argument = cast<BlockArgument>(name);
  auto groups = cast<WarpGroupsOp>(argument.getOwner()->getParentOp());
  return groups.getCaptures()[argument.getArgNumber()].getDefiningOp<ChannelOp>();
}

/// The buffers of a slot, each with its scope: none if the slot is not known when compiling.
static void setOwnSlot(ThreadContext &context, ValueRange buffers, Value channel, Value slot) {
  auto &state = context.getState<RingState>();
  APInt number;
  bool isKnown = matchPattern(slot, m_ConstantInt(&number));
  for (auto [buffer, address] : llvm::zip(buffers, getSlot(context, channel, slot))) {
    context.set(buffer, address);
    state.knowsSlots &= isKnown;
    if (isKnown)
      state.scopes[buffer] = state.slotScopes.lookup(findChannel(channel))[number.getSExtValue()];
  }
}

/// What is accessed of shared memory beside the slots waits for no copy into them either.
static void setOtherScopes(ThreadContext &context) {
  auto &state = context.getState<RingState>();
  if (state.slotScopes.empty() || !state.knowsSlots)
    return;
  SmallVector<Attribute> slots;
  for (auto &[channel, own] : state.slotScopes)
    llvm::append_range(slots, own);
  auto domain = cast<LLVM::AliasScopeAttr>(slots.front()).getDomain();
  ArrayAttr own = context.getArrayAttr(LLVM::AliasScopeAttr::get(domain));
  ArrayAttr others = context.getArrayAttr(slots);
  auto isShared = [](Value pointer) {
    auto type = dyn_cast<LLVM::LLVMPointerType>(pointer.getType());
    return type && type.getAddressSpace() == kSharedSpace;
  };
  context.function->walk([&](LLVM::AliasAnalysisOpInterface access) {
    SmallVector<Value> accessed = access.getAccessedOperands();
    if (access.getAliasScopesOrNull() || accessed.empty() || !llvm::all_of(accessed, isShared))
      return;
    access.setAliasScopes(own);
    access.setNoAliasScopes(others);
  });
}

SlotScopes kiln::getSlotScopes(ThreadContext &context, Value buffer) {
  auto &state = context.getState<RingState>();
  Attribute own = state.scopes.lookup(buffer);
  if (!own)
    return {};
  SmallVector<Attribute> others;
  for (auto &[channel, slots] : state.slotScopes)
    llvm::copy_if(slots, std::back_inserter(others), [&](Attribute scope) { return scope != own; });
  return {context.getArrayAttr(own), context.getArrayAttr(others)};
}

void kiln::setPartOfSlot(ThreadContext &context, Value part, Value buffer) {
  auto &scopes = context.getState<RingState>().scopes;
  if (Attribute scope = scopes.lookup(buffer))
    scopes[part] = scope;
}

void kiln::accessSlot(ThreadContext &context, Value buffer, llvm::function_ref<void()> emit) {
  Block *block = context.getBlock();
  bool isFirst = context.getInsertionPoint() == block->begin();
  Block::iterator before = isFirst ? block->end() : std::prev(context.getInsertionPoint());
  emit();
  SlotScopes slot = getSlotScopes(context, buffer);
  if (!slot.own)
    return;
  for (Operation &op :
       llvm::make_range(isFirst ? block->begin() : std::next(before), context.getInsertionPoint()))
    if (auto access = dyn_cast<LLVM::AliasAnalysisOpInterface>(op)) {
      access.setAliasScopes(slot.own);
      access.setNoAliasScopes(slot.others);
    }
}

LogicalResult kiln::lowerOwnPut(ThreadContext &context, PutOp op) {
  setOwnSlot(context, op.getBody().getArguments(), op.getChannel(), op.getSlot());
  if (failed(context.lower(op.getBody().front())))
    return failure();
  if (!op.getBody().front().getOps<CopyInOp>().empty())
    context.sync.endCopies(context, context.getLoc());
  return success();
}

void kiln::lowerOwnGet(ThreadContext &context, GetOp op) {
  setOwnSlot(context, op.getBuffers(), op.getChannel(), op.getSlot());
}

/// Each put is one group.
static LogicalResult lowerWaitPuts(ThreadContext &context, WaitPutsOp op) {
  FailureOr<int64_t> instructions = 0;
  if (op.getInFlight() > 0)
    instructions = requireThreadNumber(op, kInstructionsAttrName);
  if (failed(instructions))
    return failure();
  context.sync.waitForCopies(context, context.getLoc(), op.getInFlight(), *instructions);
  return success();
}

namespace {
/// Who copies what of a buffer: the pieces of all instructions, in the order of their offsets, are
/// shared out among some warps of the role. Of pieces and warps of one odd factor its part of the
/// warps has consecutive ones.
struct DirectShares {
  /// From lanes, warps of the role and turns (registers).
  LinearLayout layout;
  int64_t pieces, warps;

  /// The pieces between a warp's turns, and between what an odd factor counts of the warps.
  int64_t getStride() const { return getPowerOf2Factor(warps); }
  int64_t getOddStride() const { return getPowerOf2Factor(pieces); }
  bool isOdd() const { return getStride() != warps; }
};
} // namespace

static FailureOr<DirectShares> getShares(ThreadContext &context, CopyInOp op,
                                         DirectAtomInterface atom) {
  BufferType type = op.getBuffer().getType();
  auto given = dyn_cast_or_null<LayoutAttr>(type.getLayout());
  int64_t elements = ShapedType::getNumElements(type.getShape());
  LinearLayout layout =
      given ? given.toLinear(type.getShape())
            : LinearLayout::identity(elements, kOffset, getDimName(0)).reshapeOuts(type.getShape());
  layout = layout.reshapeOuts(getWholeShape(type.getShape(), op.getDropped()));
  int64_t each = atom.getGranularity() / getSharedElementBytes(type.getElementType());
  if (sharesByte(type.getElementType()))
    return op.emitOpError("expected elements of at least a byte, for ")
           << atom << ", got " << getBareType(type);
  int64_t roleWarps = context.role->attr.getTotalWarps(), piece = each * context.chip.warpSize;
  std::optional<int64_t> warps;
  if (each >= 1 && elements % piece == 0)
    warps = countCopyingWarps(elements / piece, roleWarps, atom);
  if (!warps)
    return op.emitOpError("expected a buffer that ")
           << roleWarps << " warps share out by " << atom << ", got " << getBareType(type);
  AccessFacts facts = getAccessFacts(cast<TypedValue<ViewType>>(op.getView()), op.getOffsets());
  ArrayRef<LinearLayout::Basis> bases = layout.getBases(kOffset);
  for (auto [bit, basis] : llvm::enumerate(bases.take_front(llvm::Log2_64(each))))
    for (auto [dim, place] : llvm::enumerate(basis))
      if (place != (int(dim) == facts.dim ? int64_t(1) << bit : 0))
        return op.emitOpError("expected a buffer that has ")
               << each << " elements of a row behind one another, for " << atom << ", got "
               << getBareType(type);
  if ((atom.fillsInPart() ? facts.aligned : facts.width) < each)
    return op.emitOpError("expected a view whose pointer, rows and offsets facts say are multiples "
                          "of ")
           << atom.getGranularity() << " bytes, for " << atom;
  DirectShares shares{layout, elements / piece, *warps};
  SmallVector<LinearLayout::InDim> ins = {
      {kRegister.str(), {}}, {kLane.str(), {}}, {kWarp.str(), {}}};
  bases = bases.drop_front(llvm::Log2_64(each));
  size_t lanes = llvm::Log2_64(context.chip.warpSize);
  size_t some = lanes + llvm::Log2_64(shares.getStride());
  size_t odd = shares.isOdd() ? lanes + llvm::Log2_64(shares.getOddStride()) : bases.size();
  for (auto [bit, basis] : llvm::enumerate(bases))
    ins[bit < lanes ? 1 : bit < some || bit >= odd ? 2 : 0].bases.push_back(basis);
  shares.layout = *LinearLayout::create(ins, layout.getOuts());
  return shares;
}

LogicalResult kiln::lowerDirectCopy(ThreadContext &context, CopyInOp op) {
  auto atom = dyn_cast<DirectAtomInterface>(op.getAtom());
  if (!atom || !context.target.hasAtom(op.getAtom()))
    return op.emitOpError("expected an atom by which warps of ")
           << context.target.getSpelling() << " copy into shared memory, got " << op.getAtom();
  FailureOr<DirectShares> shares = getShares(context, op, atom);
  if (failed(shares))
    return failure();
  int64_t warpBytes = int64_t(context.chip.warpSize) * atom.getGranularity();
  int64_t stride = shares->getStride();
  Value place = context.role->place;
  Value at = arith::MulIOp::create(context, place, context.i32(warpBytes));
  if (shares->isOdd()) {
    Value before = arith::DivUIOp::create(context, place, context.i32(stride));
    at = arith::AddIOp::create(
        context, at,
        arith::MulIOp::create(context, before,
                              context.i32((shares->getOddStride() - stride) * warpBytes)));
  }
  if (atom.namesLanePlaces())
    at = arith::AddIOp::create(
        context, at,
        arith::MulIOp::create(context, context.lane, context.i32(atom.getGranularity())));
  Value base = getSharedAt(context, context.get(op.getBuffer()), at);
  SlotScopes slot = getSlotScopes(context, op.getBuffer());
  auto emit = [&](int64_t turn, DirectCopy copy) {
    int64_t left = shares->isOdd() ? shares->warps : shares->pieces - turn * stride;
    if (left <= 0)
      return;
    copy.shared = turn ? getSharedAt(context, base, context.i32(turn * stride * warpBytes)) : base;
    copy.scopes = slot.own;
    copy.others = slot.others;
    copy.isStreaming = getHints(op).isStreaming();
    copy.isKeptNear = op.getCache() == Cache::All;
    auto make = [&] { atom.copy(context, context.getLoc(), copy); };
    int64_t busy = std::min(left, shares->warps);
    if (busy == context.role->attr.getTotalWarps())
      return make();
    // A turn may be that of some warps alone.
    context.emitIf(
        arith::CmpIOp::create(context, arith::CmpIPredicate::ult, place, context.i32(busy)), make);
  };
  // Here `warp` counts the warps of all copies.
  Value copyWarp = std::exchange(context.warp, context.role->place);
  std::swap(context.threadCoordinates, context.role->shareCoordinates);
  LogicalResult copied = hasBoundedMemory(context)
                             ? forEachOffset(context, op, shares->layout, emit)
                             : forEachAddress(context, op, shares->layout, atom, emit);
  std::swap(context.threadCoordinates, context.role->shareCoordinates);
  context.warp = copyWarp;
  return copied;
}

void kiln::populateOwnRingPatterns(ThreadPatterns &patterns) {
  patterns.addScheduled<WaitPutsOp>(lowerWaitPuts, Takes::Nothing);
  patterns.addEnd(setOtherScopes);
}
