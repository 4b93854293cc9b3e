// What patterns have in common: values, places, barriers, shuffles, and the walk over ops.
#include "ThreadContext.h"
#include "SharedAccess.h"
#include "ThreadPatterns.h"
#include "ThreadPlans.h"
#include "kiln/Target/Common/Meetings.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

ThreadContext::ThreadContext(KernelOp kernel, TargetInterface target,
                             const ThreadPatterns &patterns)
    : ImplicitLocOpBuilder(kernel.getLoc(), kernel), kernel(kernel), target(target),
      chip(target.getChipRecord()),
      warps(kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName).getInt()),
      sync(cast<SynchronisationInterface>(target.getReal())), prologue(kernel), patterns(patterns) {
}

//===- The walk -----------------------------------------------------------------------------===//

LogicalResult ThreadContext::lower(Block &block) {
  for (Operation &op : block)
    if (failed(lower(&op)))
      return failure();
  return success();
}

LogicalResult ThreadContext::lower(Operation *op) {
  setLoc(op->getLoc());
  const ThreadPattern *pattern = patterns.find(op);
  if (!pattern || !pattern->lower)
    return emitUnsupported(op, target);
  meeting = Meeting::All;
  meetsBare = op->hasAttr(kMeetsBareAttrName);
  if (role && pattern->getScratchBytes && pattern->getScratchBytes(op)) {
    FailureOr<Meeting> decided = requireMeeting(op);
    if (failed(decided))
      return failure();
    meeting = *decided;
  }
  return pattern->lower(*this, op);
}

//===- Values -------------------------------------------------------------------------------===//

Value ThreadContext::index(int64_t value) { return arith::ConstantIndexOp::create(*this, value); }

Value ThreadContext::i32(int64_t value) { return arith::ConstantIntOp::create(*this, value, 32); }

Type ThreadContext::convert(Type type) const {
  if (auto pending = dyn_cast<PendingType>(type)) {
    if (pending.getInTensorMemory()) // its address
      return IntegerType::get(type.getContext(), 32);
    type = pending.getTensor();
  }
  if (isa<BufferType>(type))
    return LLVM::LLVMPointerType::get(type.getContext(), kSharedSpace);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  auto layout = cast<LayoutAttr>(tensor.getEncoding()).toLinear(tensor.getShape());
  return VectorType::get({layout.getInSize(kRegister)}, tensor.getElementType());
}

SmallVector<Value> ThreadContext::getElements(Value tensor) {
  Value vector = get(tensor);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < cast<VectorType>(vector.getType()).getNumElements(); ++i)
    elements.push_back(elementAt(*this, getLoc(), vector, i));
  return elements;
}

void ThreadContext::setElements(Value tensor, ArrayRef<Value> elements) {
  set(tensor, makeVector(*this, getLoc(), elements));
}

/// Lets an op be merged with no other one.
static void keepApart(Operation *op) {
  auto math = dyn_cast<arith::ArithFastMathInterface>(op);
  arith::FastMathFlagsAttr flags = math ? math.getFastMathFlagsAttr() : nullptr;
  if (!flags)
    return;
  auto merging = arith::FastMathFlags::reassoc | arith::FastMathFlags::contract;
  op->setAttr(math.getFastMathAttrName(),
              arith::FastMathFlagsAttr::get(op->getContext(), flags.getValue() & ~merging));
}

SmallVector<Value> ThreadContext::combine(Region &combiner, ArrayRef<Value> left,
                                          ArrayRef<Value> right, bool acrossLanes) {
  Block &block = combiner.front();
  IRMapping mapping;
  for (auto [i, argument] : llvm::enumerate(block.getArguments()))
    mapping.map(argument, i < left.size() ? left[i] : right[i - left.size()]);
  // Values from outside are scalars of the kernel, already lowered.
  block.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (!mapping.contains(operand) && values.contains(operand))
        mapping.map(operand, get(operand));
  });
  for (Operation &inner : block.without_terminator()) {
    Operation *cloned = clone(inner, mapping);
    if (acrossLanes)
      cloned->walk(keepApart);
  }
  SmallVector<Value> results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(mapping.lookupOrDefault(value));
  return results;
}

Value ThreadContext::addParameter(Type type, DictionaryAttr attrs, Attribute entry) {
  unsigned number = function.getNumArguments();
  (void)function.insertArgument(number, type, attrs, getLoc());
  hiddenParameters.push_back(entry);
  return function.getArgument(number);
}

//===- Places -------------------------------------------------------------------------------===//

Value kiln::combineBits(OpBuilder &builder, Location loc, Value number,
                        ArrayRef<LinearLayout::Basis> bases, unsigned dim, Value sum) {
  auto constant = [&](int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  };
  for (unsigned bit = 0; bit < bases.size();) {
    int64_t basis = bases[bit][dim];
    if (basis == 0) {
      ++bit;
      continue;
    }
    // A run of bits whose bases double is one shift of the number, masked.
    unsigned run = 1;
    while (llvm::isPowerOf2_64(basis) && bit + run < bases.size() &&
           bases[bit + run][dim] == basis << run)
      ++run;
    Value part = bit == 0 ? number : arith::ShRUIOp::create(builder, loc, number, constant(bit));
    part = arith::AndIOp::create(builder, loc, part, constant((int64_t(1) << run) - 1));
    if (basis != 1)
      part = arith::MulIOp::create(builder, loc, part, constant(basis));
    sum = sum ? Value(arith::XOrIOp::create(builder, loc, sum, part)) : part;
    bit += run;
  }
  return sum;
}

ThreadPlace ThreadContext::getPlace(const LinearLayout &layout) {
  ThreadPlace place{layout, {}, {}};
  Attribute key = LayoutAttr::get(kernel.getContext(), layout);
  SmallVector<Value> &cached = threadCoordinates[key];
  bool compute = cached.empty();
  for (auto [dim, out] : llvm::enumerate(layout.getOuts())) {
    int64_t threadBits = 0;
    for (const LinearLayout::InDim &in : layout.getIns())
      if (in.name != kRegister)
        for (const LinearLayout::Basis &basis : in.bases)
          threadBits |= basis[dim];
    place.threadBits.push_back(threadBits);
    if (!compute)
      continue;
    Value sum = combineBits(prologue, getLoc(), lane, layout.getBases(kLane), dim, {});
    sum = combineBits(prologue, getLoc(), warp, layout.getBases(kWarp), dim, sum);
    if (sum)
      cached.push_back(
          arith::IndexCastUIOp::create(prologue, getLoc(), prologue.getIndexType(), sum));
    else
      cached.push_back(arith::ConstantIndexOp::create(prologue, getLoc(), 0));
  }
  place.thread = cached;
  return place;
}

Value ThreadContext::getCoordinate(const ThreadPlace &place, unsigned dim, int64_t reg,
                                   Value offset) {
  int64_t constant = place.layout.applyTo(kRegister, reg)[dim];
  int64_t met = constant & place.threadBits[dim], apart = constant & ~met;
  Value value = place.thread[dim];
  if (met)
    value = arith::XOrIOp::create(*this, value, index(met));
  if (offset)
    value = arith::AddIOp::create(*this, offset, value);
  if (apart)
    value = arith::AddIOp::create(*this, value, index(apart));
  return value;
}

void ThreadContext::setCoordinates(Value result, unsigned dim, Value start) {
  LinearLayout layout = getLayout(result);
  ThreadPlace place = getPlace(layout);
  Type type = getElementTypeOrSelf(result.getType());
  auto cast = [&](Value value) {
    return type.isIndex() ? value : arith::IndexCastOp::create(*this, type, value);
  };
  DenseMap<int64_t, Value> firsts;
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); ++reg) {
    if (!start) {
      elements.push_back(cast(getCoordinate(place, dim, reg)));
      continue;
    }
    int64_t constant = place.layout.applyTo(kRegister, reg)[dim];
    int64_t met = constant & place.threadBits[dim], apart = constant & ~met;
    Value &first = firsts[met];
    if (!first) {
      Value at = place.thread[dim];
      at = met ? arith::XOrIOp::create(*this, at, index(met)) : at;
      first = arith::AddIOp::create(*this, start, cast(at));
    }
    Value more = arith::ConstantOp::create(*this, getIntegerAttr(type, apart));
    elements.push_back(apart ? arith::AddIOp::create(*this, first, more) : first);
  }
  setElements(result, elements);
}

Within kiln::isWithin(const ThreadPlace &place, unsigned dim, int64_t reg, int64_t extent) {
  int64_t constant = place.layout.applyTo(kRegister, reg)[dim], threads = 0;
  for (StringRef part : {kLane, kWarp})
    for (const LinearLayout::Basis &basis : place.layout.getBases(part))
      threads |= basis[dim];
  if ((constant | threads) < extent)
    return Within::Always;
  return (constant & ~threads) >= extent ? Within::Never : Within::Sometimes;
}

Value ThreadContext::isOwner(const LinearLayout &layout) {
  Value owner;
  for (auto [in, mask] : llvm::zip(layout.getIns(), layout.freeVariables())) {
    if (in.name == kRegister || !mask)
      continue;
    Value bits = arith::AndIOp::create(*this, in.name == kLane ? lane : warp, i32(mask));
    Value first = arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, bits, i32(0));
    owner = owner ? Value(arith::AndIOp::create(*this, owner, first)) : first;
  }
  return owner;
}

//===- Threads ------------------------------------------------------------------------------===//

bool ThreadContext::isAllWarps() const {
  return role->attr.getTotalWarps() == warps && role->attr.getCopies() == 1;
}

void ThreadContext::barrier() {
  if (meetsBare)
    sync.waitForShared(*this, getLoc());
  meet(meeting, meetsBare);
}

void ThreadContext::meetInShared(Meeting meeting) {
  ChannelOp channel = findMeetingPlace(kernel, role->attr);
  ChannelPlan plan = planChannel(channel.getType());
  bool isCopy = meeting == Meeting::Copy;
  int64_t arrivals = isCopy ? channel.getFull() : channel.getEmpty();
  Value at = i32(isCopy ? plan.full : plan.empty);
  if (isCopy)
    at = arith::AddIOp::create(*this, at,
                               arith::MulIOp::create(*this, role->copy, i32(kByteBarrierBytes)));
  Value barrier = getSharedAt(*this, get(channel), at);
  sync.meetLanes(*this, getLoc());
  Value isFirst = arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, lane, i32(0));
  auto arrival = scf::IfOp::create(*this, getI32Type(), isFirst, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToStart(arrival.thenBlock());
    scf::YieldOp::create(*this, sync.arriveInPhase(*this, getLoc(), barrier, arrivals));
    setInsertionPointToStart(arrival.elseBlock());
    scf::YieldOp::create(*this, i32(0));
  }
  Value phase = sync.makeUniform(*this, getLoc(), arrival.getResult(0));
  sync.waitBarrier(*this, getLoc(), barrier, phase, arrivals, /*ofCluster=*/false);
}

void ThreadContext::meet(Meeting meeting, bool isBare) {
  bool isGroup = meeting == Meeting::Copy || meeting == Meeting::Role;
  if (isGroup && !sync.getGroupBarriers())
    return meetInShared(meeting);
  switch (meeting) {
  case Meeting::Lanes:
    return sync.meetLanes(*this, getLoc());
  case Meeting::Copy:
    return sync.groupBarrier(*this, getLoc(),
                             arith::AddIOp::create(*this, role->copy, i32(role->firstBarrier)),
                             role->attr.getWarps() * chip.warpSize);
  case Meeting::Role:
    return sync.groupBarrier(*this, getLoc(), i32(role->sharedBarrier),
                             role->attr.getTotalWarps() * chip.warpSize);
  case Meeting::All:
    return isBare ? sync.meet(*this, getLoc()) : meetAll();
  }
}

/// Of two meetings with nothing between them MLIR folds the first away: what that orders, the
/// second orders too.
void ThreadContext::meetAll() {
  auto barrier = gpu::BarrierOp::create(*this);
  Operation *before = barrier->getPrevNode();
  while (before && isPure(before))
    before = before->getPrevNode();
  if (isa_and_nonnull<gpu::BarrierOp>(before) && before->hasAttr(kOrdersGlobalAttrName))
    barrier->setAttr(kOrdersGlobalAttrName, getUnitAttr());
}

Value ThreadContext::shuffle(Value element, Value offset, bool isXor) {
  Type type = element.getType();
  if (type.isIndex()) {
    Value wide = arith::IndexCastOp::create(*this, getI64Type(), element);
    return arith::IndexCastOp::create(*this, type, shuffle(wide, offset, isXor));
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = getIntegerType(bits);
  if (!type.isInteger()) {
    Value raw = arith::BitcastOp::create(*this, integer, element);
    return arith::BitcastOp::create(*this, type, shuffle(raw, offset, isXor));
  }
  Type word = getI32Type();
  if (bits < 32) {
    Value wide = arith::ExtUIOp::create(*this, word, element);
    return arith::TruncIOp::create(*this, integer, shuffle(wide, offset, isXor));
  }
  if (bits == 64) {
    Value shift = arith::ConstantIntOp::create(*this, 32, 64);
    Value low = arith::TruncIOp::create(*this, word, element);
    Value high =
        arith::TruncIOp::create(*this, word, arith::ShRUIOp::create(*this, element, shift));
    low = arith::ExtUIOp::create(*this, integer, shuffle(low, offset, isXor));
    high = arith::ExtUIOp::create(*this, integer, shuffle(high, offset, isXor));
    high = arith::ShLIOp::create(*this, high, shift);
    return arith::OrIOp::create(*this, low, high);
  }
  auto mode = isXor ? gpu::ShuffleMode::XOR : gpu::ShuffleMode::IDX;
  return gpu::ShuffleOp::create(*this, element, offset, i32(chip.warpSize), mode)
      .getShuffleResult();
}

Value ThreadContext::shuffleXor(Value element, int64_t mask) {
  return shuffle(element, i32(mask), /*isXor=*/true);
}

Value ThreadContext::shuffleFrom(Value element, Value sourceLane) {
  return shuffle(element, sourceLane, /*isXor=*/false);
}

Value ThreadContext::getThread() {
  Value first = arith::MulIOp::create(*this, warp, i32(chip.warpSize));
  return arith::AddIOp::create(*this, first, lane);
}

Value ThreadContext::isFirstThread() {
  Value thread = arith::OrIOp::create(*this, lane, warp);
  return arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, thread, i32(0));
}

//===- Conditions ---------------------------------------------------------------------------===//

void ThreadContext::emitIf(Value condition, llvm::function_ref<void()> emit) {
  auto branch = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(&branch.getThenRegion().front());
  emit();
}

void ThreadContext::when(Value guard, llvm::function_ref<void()> body) {
  if (guard)
    emitIf(guard, body);
  else
    body();
}

Value ThreadContext::both(Value left, Value right) {
  if (!left || !right)
    return left ? left : right;
  return arith::AndIOp::create(*this, left, right);
}
