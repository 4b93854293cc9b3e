// Channels as slots in shared memory with two barriers each, and the copies that fill them.
//
// A slot's `full` barrier ends a phase when the slot was filled, its `empty` barrier when all have
// released it. Who gets waits for the phase that its own count names; who puts waits for the one
// before, which of a fresh barrier has ended, so that nobody need fill the ring with releases.
#include "ThreadLowering.h"
#include "kiln/Dialect/Tile/IR/ArgumentViews.h"
#include "kiln/Target/Common/ABI.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Of tensor memory.
static constexpr int64_t kAddressBytes = 4;

static int64_t getBytes(PendingType type) {
  return type.getTensor().getNumElements() * type.getTensor().getElementTypeBitWidth() / 8;
}

ChannelPlan kiln::planChannel(ChannelType type) {
  ChannelPlan plan;
  int64_t at = 0;
  unsigned buffers = type.getAccumulator() ? 0 : type.getBuffers().size();
  for (unsigned i = 0; i < buffers; ++i) {
    plan.offsets.push_back(at);
    plan.bytes.push_back(llvm::alignTo(getSharedBytes(type.getBuffer(i)), kEngineAlignment));
    at += plan.bytes.back() * type.getDepth();
  }
  plan.full = at;
  plan.empty = plan.full + type.getDepth() * AsyncTarget::barrierBytes;
  plan.address = plan.empty + type.getDepth() * AsyncTarget::barrierBytes;
  // Nobody waits at a slot that its own role fills.
  plan.total = type.getOwn() ? at : plan.address + (type.getAccumulator() ? kAddressBytes : 0);
  return plan;
}

//===- Slots and barriers -------------------------------------------------------------------===//

Value ThreadLowering::getSharedAt(Value base, Value bytes) {
  return LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(bytes)});
}

SmallVector<Value> ThreadLowering::getSlot(Value channel, Value slot) {
  auto type = cast<ChannelType>(channel.getType());
  ChannelPlan plan = planChannel(type);
  SmallVector<Value> buffers;
  if (PendingType accumulator = type.getAccumulator()) {
    Value base = LLVM::LoadOp::create(builder, loc, builder.getI32Type(),
                                      getSharedAt(get(channel), i32(plan.address)));
    return {async->getTensorSlot(builder, loc, base, get(slot), getBytes(accumulator))};
  }
  for (auto [offset, bytes] : llvm::zip(plan.offsets, plan.bytes)) {
    Value at = arith::MulIOp::create(builder, loc, get(slot), i32(bytes));
    buffers.push_back(
        getSharedAt(get(channel), arith::AddIOp::create(builder, loc, at, i32(offset))));
  }
  return buffers;
}

Value ThreadLowering::getBarrier(Value channel, Value slot, bool full) {
  ChannelPlan plan = planChannel(cast<ChannelType>(channel.getType()));
  Value at = arith::MulIOp::create(builder, loc, get(slot), i32(AsyncTarget::barrierBytes));
  return getSharedAt(get(channel),
                     arith::AddIOp::create(builder, loc, at, i32(full ? plan.full : plan.empty)));
}

LogicalResult ThreadLowering::lowerTensorMemory(WarpGroupsOp op,
                                                llvm::function_ref<LogicalResult()> lowerRoles) {
  SmallVector<std::pair<Value, int64_t>> places;
  for (Value capture : op.getCaptures()) {
    auto channel = capture.getDefiningOp<ChannelOp>();
    PendingType accumulator = channel ? channel.getType().getAccumulator() : PendingType();
    if (!accumulator)
      continue;
    int64_t bytes = getBytes(accumulator) * channel.getType().getDepth();
    places.push_back(
        {getSharedAt(get(capture), i32(planChannel(channel.getType()).address)), bytes});
  }
  if (places.empty())
    return lowerRoles();
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, warp, i32(0));
  emitIf(isFirst, [&] {
    for (auto [place, bytes] : places)
      async->allocTensor(builder, loc, place, bytes);
    async->endTensorAllocs(builder, loc);
    async->publishTensor(builder, loc);
  });
  barrier();
  async->observeTensor(builder, loc);
  if (failed(lowerRoles()))
    return failure();
  async->publishTensor(builder, loc);
  barrier();
  async->observeTensor(builder, loc);
  emitIf(isFirst, [&] {
    for (auto [place, bytes] : places) {
      Value address = LLVM::LoadOp::create(builder, loc, builder.getI32Type(), place);
      async->freeTensor(builder, loc, address, bytes);
    }
  });
  return success();
}

void ThreadLowering::lowerChannel(ChannelOp op) {
  Value base = getShared(op);
  set(op, base);
  function->getParentOfType<ModuleOp>()
      .lookupSymbol<LLVM::GlobalOp>(kSharedSymbol)
      .setAlignment(kEngineAlignment);
  ChannelType type = op.getResult().getType();
  ChannelPlan plan = planChannel(type);
  emitIf(isFirstThread(), [&] {
    for (int64_t slot = 0; slot < type.getDepth(); ++slot)
      for (auto [first, arrivals] :
           {std::pair(plan.full, op.getFull()), std::pair(plan.empty, op.getEmpty())})
        async->initBarrier(builder, loc,
                           getSharedAt(base, i32(first + slot * AsyncTarget::barrierBytes)),
                           arrivals);
    async->publishBarriers(builder, loc);
  });
  barrier();
}

LogicalResult ThreadLowering::lowerAdvance(AdvanceOp op) {
  Value depth = i32(cast<ChannelType>(op.getChannel().getType()).getDepth());
  Value slot = get(op.getSlot()), phase = get(op.getPhase());
  if (op.getBy()) {
    Value by = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), get(op.getBy()));
    slot = arith::AddIOp::create(builder, loc, slot, by);
    Value rounds = arith::DivUIOp::create(builder, loc, slot, depth);
    rounds = arith::AndIOp::create(builder, loc, rounds, i32(1));
    set(op.getNextSlot(), arith::RemUIOp::create(builder, loc, slot, depth));
    set(op.getNextPhase(), arith::XOrIOp::create(builder, loc, phase, rounds));
    return success();
  }
  slot = arith::AddIOp::create(builder, loc, slot, i32(1));
  Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, slot, depth);
  Value turned = arith::XOrIOp::create(builder, loc, phase, i32(1));
  set(op.getNextSlot(), arith::SelectOp::create(builder, loc, wraps, i32(0), slot));
  set(op.getNextPhase(), arith::SelectOp::create(builder, loc, wraps, turned, phase));
  return success();
}

LogicalResult ThreadLowering::lowerPut(PutOp op) {
  if (op.getBytes() == 0)
    return lowerWrittenPut(op);
  if (role->attr.getCopies() != 1)
    return op.emitOpError("expected a role of one copy to fill the slot by copies that count "
                          "bytes, got ")
           << role->attr.getCopies();
  auto emitPut = [&] {
    Value other = arith::XOrIOp::create(builder, loc, get(op.getPhase()), i32(1));
    async->waitBarrier(builder, loc, getBarrier(op.getChannel(), op.getSlot(), /*full=*/false),
                       other);
    putBarrier = getBarrier(op.getChannel(), op.getSlot(), /*full=*/true);
    async->arriveExpecting(builder, loc, putBarrier, op.getBytes());
    for (auto [argument, buffer] :
         llvm::zip(op.getBody().getArguments(), getSlot(op.getChannel(), op.getSlot())))
      set(argument, buffer);
    return lower(op.getBody().front());
  };
  if (role->oneThread)
    return emitPut();
  LogicalResult result = success();
  emitIf(isFirstThread(), [&] { result = emitPut(); });
  return result;
}

/// What warps write: engines and other roles see it once every thread of the copy has, and then a
/// lane of each warp says so.
LogicalResult ThreadLowering::lowerWrittenPut(PutOp op) {
  Value other = arith::XOrIOp::create(builder, loc, get(op.getPhase()), i32(1));
  async->waitBarrier(builder, loc, getBarrier(op.getChannel(), op.getSlot(), /*full=*/false),
                     other);
  for (auto [argument, buffer] :
       llvm::zip(op.getBody().getArguments(), getSlot(op.getChannel(), op.getSlot())))
    set(argument, buffer);
  if (failed(lower(op.getBody().front())))
    return failure();
  async->publishShared(builder, loc);
  meetCopy();
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, i32(0));
  emitIf(first, [&] {
    async->arrive(builder, loc, getBarrier(op.getChannel(), op.getSlot(), /*full=*/true));
  });
  return success();
}

LogicalResult ThreadLowering::lowerGet(GetOp op) {
  Value full = getBarrier(op.getChannel(), op.getSlot(), /*full=*/true);
  auto wait = [&] { async->waitBarrier(builder, loc, full, get(op.getPhase())); };
  if (op.getToStart())
    emitIf(isFirstThread(), wait);
  else
    wait();
  if (op.getToStart() || op.getChannel().getType().getAccumulator())
    async->observeTensor(builder, loc);
  for (auto [result, buffer] : llvm::zip(op.getBuffers(), getSlot(op.getChannel(), op.getSlot())))
    set(result, buffer);
  return success();
}

void ThreadLowering::lowerRelease(ReleaseOp op) {
  Value empty = getBarrier(op.getChannel(), op.getSlot(), /*full=*/false);
  if (op.getCommit()) {
    emitIf(isFirstThread(), [&] { async->commitDots(builder, loc, empty); });
    return;
  }
  if (op.getChannel().getType().getAccumulator())
    async->publishTensor(builder, loc);
  if (op.getLanes())
    async->meetLanes(builder, loc);
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, lane, i32(0));
  emitIf(first, [&] { async->arrive(builder, loc, empty); });
}

void ThreadLowering::lowerAcquire(AcquireOp op) {
  Value empty = getBarrier(op.getChannel(), op.getSlot(), /*full=*/false);
  Value other = arith::XOrIOp::create(builder, loc, get(op.getPhase()), i32(1));
  emitIf(isFirstThread(), [&] { async->waitBarrier(builder, loc, empty, other); });
  async->observeTensor(builder, loc);
  set(op, getSlot(op.getChannel(), op.getSlot()).front());
}

void ThreadLowering::lowerCommit(CommitOp op) {
  Value full = getBarrier(op.getChannel(), op.getSlot(), /*full=*/true);
  emitIf(isFirstThread(), [&] { async->commitDots(builder, loc, full); });
}

LogicalResult ThreadLowering::lowerPart(PartOp op) {
  BufferType whole = op.getBuffer().getType(), part = op.getType();
  LinearLayout layout;
  if (auto given = dyn_cast_or_null<LayoutAttr>(whole.getLayout()))
    layout = given.toLinear(whole.getShape());
  else
    layout =
        LinearLayout::identity(ShapedType::getNumElements(whole.getShape()), kOffset, getDimName(0))
            .reshapeOuts(whole.getShape());
  LinearLayout inverse = *layout.invert();
  Value sum;
  for (auto [dim, offset] : llvm::enumerate(op.getOffsets())) {
    // The offset is a multiple of the part's extent, so the bits below have no say.
    SmallVector<LinearLayout::Basis> bases(inverse.getBases(getDimName(dim)));
    for (unsigned bit = 0; bit < llvm::Log2_64(part.getShape()[dim]); ++bit)
      bases[bit].assign(1, 0);
    Value number = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), get(offset));
    sum = combineBits(builder, loc, number, bases, 0, sum);
  }
  Value base = get(op.getBuffer());
  if (sum)
    base = getSharedAt(base,
                       arith::MulIOp::create(builder, loc, sum,
                                             i32(getSharedElementBytes(whole.getElementType()))));
  set(op, base);
  scopes[op] = scopes.lookup(op.getBuffer());
  return success();
}

//===- Copies by boxes ----------------------------------------------------------------------===//

FailureOr<Value> ThreadLowering::getMap(Operation *op, Attribute atom, Value view,
                                        const CopyBoxes &boxes, bool isWritten) {
  const View &known = views.find(view)->second;
  std::optional<unsigned> argument = known.argument;
  if (!argument)
    return op->emitOpError("expected a view that is an argument of the kernel for ") << atom;
  if (std::optional<std::string> why = cast<EngineAtomInterface>(atom).whyUnfit(
          cast<ViewType>(view.getType()), turnFacts(kernel.getFacts(*argument), known.dims),
          isWritten))
    return op->emitOpError(*why) << " for " << atom;
  std::string type = spellType(cast<ViewType>(view.getType()).getElementType());
  SmallVector<NamedAttribute> fields = {
      builder.getNamedAttr("kind", builder.getStringAttr("tensor_map")),
      builder.getNamedAttr("arg", builder.getI64IntegerAttr(*argument)),
      builder.getNamedAttr("type", builder.getStringAttr(type)),
      builder.getNamedAttr("box", builder.getDenseI64ArrayAttr(boxes.box)),
      builder.getNamedAttr("swizzle", builder.getI64IntegerAttr(boxes.swizzle))};
  if (!llvm::is_sorted(known.dims))
    fields.push_back(builder.getNamedAttr("dims", builder.getDenseI64ArrayAttr(known.dims)));
  Attribute entry = builder.getDictionaryAttr(fields);
  for (auto [made, value] : maps)
    if (made == entry)
      return value;
  unsigned number = function.getNumArguments();
  (void)function.insertArgument(
      number, async->getMapType(builder.getContext()),
      builder.getDictionaryAttr(builder.getNamedAttr(kTensorMapAttrName, builder.getUnitAttr())),
      loc);
  Value map = function.getArgument(number);
  maps.push_back({entry, map});
  hiddenParameters.push_back(entry);
  return map;
}

std::optional<CopyBoxes> ThreadLowering::getBoxes(Attribute atom, BufferType buffer) {
  auto engine = dyn_cast<EngineAtomInterface>(atom);
  if (!engine)
    return std::nullopt;
  auto given = dyn_cast_or_null<LayoutAttr>(buffer.getLayout());
  if (!given)
    return engine.getBoxes(buffer.getShape(), buffer.getElementType(), nullptr);
  LinearLayout layout = given.toLinear(buffer.getShape());
  return engine.getBoxes(buffer.getShape(), buffer.getElementType(), &layout);
}

void ThreadLowering::forEachBox(const CopyBoxes &boxes, BufferType type, Value buffer,
                                ValueRange offsets,
                                llvm::function_ref<void(Value, ValueRange)> emit) {
  SmallVector<Value> coordinates;
  for (Value offset : offsets)
    coordinates.push_back(
        arith::IndexCastOp::create(builder, loc, builder.getI32Type(), get(offset)));
  int64_t bytes = getSharedBytes(type) / boxes.places.size();
  for (auto [box, place] : llvm::enumerate(boxes.places)) {
    Value at = box ? getSharedAt(buffer, i32(box * bytes)) : buffer;
    SmallVector<Value> here = coordinates;
    for (auto [coordinate, by] : llvm::zip_equal(here, place))
      if (by)
        coordinate = arith::AddIOp::create(builder, loc, coordinate, i32(by));
    emit(at, here);
  }
}

/// The boxes in the view, of which the buffer may have dropped dimensions.
static void insertDropped(CopyBoxes &boxes, std::optional<ArrayRef<int64_t>> dropped) {
  boxes.box = getWholeShape(boxes.box, dropped);
  for (SmallVector<int64_t> &place : boxes.places)
    for (int64_t dim : dropped.value_or(ArrayRef<int64_t>()))
      place.insert(place.begin() + dim, 0);
}

static InFlightDiagnostic emitMisfit(Operation *op, Attribute atom, BufferType buffer) {
  return op->emitOpError("expected a buffer that ") << atom << " can copy, got " << buffer;
}

LogicalResult ThreadLowering::lowerCopyIn(CopyInOp op) {
  BufferType type = op.getBuffer().getType();
  std::optional<CopyBoxes> boxes = getBoxes(op.getAtom(), type);
  if (!boxes)
    return emitMisfit(op, op.getAtom(), type);
  insertDropped(*boxes, op.getDropped());
  FailureOr<Value> map = getMap(op, op.getAtom(), op.getView(), *boxes, /*isWritten=*/false);
  if (failed(map))
    return failure();
  auto engine = cast<EngineAtomInterface>(op.getAtom());
  Eviction eviction = getEviction(op.getCache(), op.getEviction());
  forEachBox(*boxes, type, get(op.getBuffer()), op.getOffsets(), [&](Value at, ValueRange place) {
    engine.copyIn(builder, loc, *map, place, at, putBarrier, eviction);
  });
  return success();
}

LogicalResult ThreadLowering::lowerCopyOut(CopyOutOp op) {
  BufferType type = op.getBuffer().getType();
  std::optional<CopyBoxes> boxes = getBoxes(op.getAtom(), type);
  if (!boxes)
    return emitMisfit(op, op.getAtom(), type);
  insertDropped(*boxes, op.getDropped());
  FailureOr<Value> map = getMap(op, op.getAtom(), op.getView(), *boxes, /*isWritten=*/true);
  if (failed(map))
    return failure();
  auto engine = cast<EngineAtomInterface>(op.getAtom());
  Eviction eviction = getEviction(op.getCache(), op.getEviction());
  emitIf(isFirstThread(), [&] {
    forEachBox(*boxes, type, get(op.getBuffer()), op.getOffsets(), [&](Value at, ValueRange place) {
      engine.copyOut(builder, loc, at, *map, place, eviction);
    });
    async->commitStores(builder, loc);
  });
  return success();
}
