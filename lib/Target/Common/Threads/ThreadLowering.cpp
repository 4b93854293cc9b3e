// The walk over a kernel, its parameters, control flow, and where a thread stands in a layout.
#include "ThreadLowering.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/Common/DefinedArithmetic.h"
#include "kiln/Target/Common/ForeignCalls.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

ThreadLowering::ThreadLowering(KernelOp kernel, TargetInterface target)
    : kernel(kernel), target(target), chip(target.getChipRecord()),
      warps(kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName).getInt()), builder(kernel),
      prologue(kernel), loc(kernel.getLoc()) {
  // Of a target that stands in front of another, instructions are the other's.
  waves = dyn_cast<WaveTargetInterface>(target.getReal());
  async = target.getReal().getDialect().getRegisteredInterface<AsyncTarget>();
  if (async && !async->supports(chip.name))
    async = nullptr;
}

LogicalResult ThreadLowering::run() {
  lowerParameters();
  if (failed(lowerLaunch()) || failed(lower(kernel.getBody().front())))
    return failure();
  setOtherScopes();
  if (!maps.empty()) {
    // Prefetch the tensor maps.
    builder.setInsertionPoint(prologue.getInsertionBlock(), prologue.getInsertionPoint());
    emitIf(isFirstThread(), [&] {
      for (auto [entry, map] : maps)
        async->prefetchMap(builder, loc, map);
    });
  }
  if (!hiddenParameters.empty())
    setMetadata(kernel, kHiddenParametersName, builder.getArrayAttr(hiddenParameters));
  if (!messages.empty())
    setMetadata(kernel, "messages", builder.getArrayAttr(messages));
  if (kernel->hasAttr(kVendorMathAttrName))
    function->setAttr(kVendorMathAttrName, builder.getUnitAttr());
  setMetadata(kernel, "warps", builder.getI64IntegerAttr(warps));
  setMetadata(kernel, "warp_size", builder.getI64IntegerAttr(chip.warpSize));
  setMetadata(kernel, "shared_bytes", function->getAttr(kSharedBytesAttrName));
  kernel.erase();
  return success();
}

//===- Launches -----------------------------------------------------------------------------===//

/// What was decided of launches goes to whoever makes them.
LogicalResult ThreadLowering::lowerLaunch() {
  Attribute cluster = kernel->getAttr(kClusterAttrName);
  Attribute overlap = kernel->getAttr(kOverlapAttrName);
  if ((cluster || overlap) && !async)
    return emitUnsupported(kernel, target,
                           cluster ? "expected a chip that has clusters"
                                   : "expected a chip whose kernels wait for those before them");
  if (cluster) {
    auto extents = dyn_cast<DenseI64ArrayAttr>(cluster);
    if (!extents || extents.size() != 3 ||
        llvm::any_of(extents.asArrayRef(), [](int64_t extent) { return extent < 1; }))
      return kernel.emitError() << "expected '" << kClusterAttrName
                                << "' to be an array of three i64 of at least 1, got " << cluster;
    setMetadata(kernel, "cluster", builder.getI64ArrayAttr(extents.asArrayRef()));
  }
  if (overlap) {
    if (!isa<UnitAttr>(overlap))
      return kernel.emitError() << "expected '" << kOverlapAttrName << "' to be unit, got "
                                << overlap;
    setMetadata(kernel, "overlap", builder.getBoolAttr(true));
    async->overlapLaunches(builder, loc);
  }
  return success();
}

//===- Parameters ---------------------------------------------------------------------------===//

/// Whether a scalar is handed over as the low bits of a byte: code generators know few such types.
static bool isByte(Type type) { return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 8; }

void ThreadLowering::lowerParameters() {
  SmallVector<Parameter> parameters = getParameters(kernel);
  SmallVector<Type> types;
  for (const Parameter &parameter : parameters) {
    if (parameter.kind == Parameter::Kind::Pointer)
      types.push_back(LLVM::LLVMPointerType::get(kernel.getContext(), kGlobalSpace));
    else if (parameter.type.isIndex())
      types.push_back(builder.getI64Type());
    else if (isByte(parameter.type))
      types.push_back(builder.getI8Type());
    else
      types.push_back(parameter.type);
  }
  function =
      func::FuncOp::create(builder, loc, kernel.getSymName(), builder.getFunctionType(types, {}));
  function->setAttr(kThreadsAttrName, builder.getI64IntegerAttr(warps * chip.warpSize));
  Attribute shared = kernel->getAttr(kSharedBytesAttrName);
  function->setAttr(kSharedBytesAttrName, shared ? shared : builder.getI64IntegerAttr(0));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToEnd(entry);

  Value thread = arith::IndexCastUIOp::create(
      builder, loc, builder.getI32Type(), gpu::ThreadIdOp::create(builder, loc, gpu::Dimension::x));
  Value size = i32(chip.warpSize);
  lane = arith::RemUIOp::create(builder, loc, thread, size);
  warp = arith::DivUIOp::create(builder, loc, thread, size);
  // What is added to the prologue later goes in front of this op, so behind the ones above.
  Value end = index(0);
  prologue.setInsertionPoint(end.getDefiningOp());

  for (auto [parameter, value] : llvm::zip(parameters, entry->getArguments())) {
    BlockArgument argument = kernel.getBody().getArgument(parameter.argument);
    auto asIndex = [&](Value integer) -> Value {
      return arith::IndexCastOp::create(builder, loc, builder.getIndexType(), integer);
    };
    switch (parameter.kind) {
    case Parameter::Kind::Pointer: {
      views[argument].pointer = value;
      views[argument].argument = parameter.argument;
      if (auto view = dyn_cast<ViewType>(argument.getType())) {
        auto constants = [&](ArrayRef<int64_t> extents) {
          SmallVector<Value> known;
          for (int64_t extent : extents)
            known.push_back(ShapedType::isDynamic(extent) ? Value() : index(extent));
          return known;
        };
        views[argument].dims = llvm::to_vector(llvm::seq<int64_t>(0, view.getRank()));
        views[argument].extents = constants(view.getShape());
        views[argument].strides = constants(view.getStrides());
      }
      break;
    }
    case Parameter::Kind::Extent:
      views[argument].extents[parameter.dim] = asIndex(value);
      break;
    case Parameter::Kind::Stride:
      views[argument].strides[parameter.dim] = asIndex(value);
      break;
    case Parameter::Kind::Scalar:
      if (parameter.type.isIndex())
        set(argument, asIndex(value));
      else if (isByte(parameter.type))
        set(argument, fromByte(value, parameter.type));
      else
        set(argument, value);
      break;
    }
  }
}

//===- Values -------------------------------------------------------------------------------===//

Value ThreadLowering::fromByte(Value byte, Type type) {
  Type raw = builder.getIntegerType(type.getIntOrFloatBitWidth());
  Value bits = byte.getType() == raw ? byte : arith::TruncIOp::create(builder, loc, raw, byte);
  return type == raw ? bits : Value(arith::BitcastOp::create(builder, loc, type, bits));
}

Value ThreadLowering::index(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}

Value ThreadLowering::i32(int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

Type ThreadLowering::convert(Type type) const {
  if (auto pending = dyn_cast<PendingType>(type)) {
    if (pending.getInTensorMemory()) // its address
      return IntegerType::get(type.getContext(), 32);
    type = pending.getTensor();
  }
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return type;
  auto layout = cast<LayoutAttr>(tensor.getEncoding()).toLinear(tensor.getShape());
  return VectorType::get({layout.getInSize(kRegister)}, tensor.getElementType());
}

SmallVector<Value> ThreadLowering::getElements(Value tensor) {
  Value vector = get(tensor);
  SmallVector<Value> elements;
  for (int64_t i = 0; i < cast<VectorType>(vector.getType()).getNumElements(); ++i)
    elements.push_back(elementAt(builder, loc, vector, i));
  return elements;
}

void ThreadLowering::setElements(Value tensor, ArrayRef<Value> elements) {
  set(tensor, makeVector(builder, loc, elements));
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

ThreadLowering::Place ThreadLowering::getPlace(const LinearLayout &layout) {
  Place place{layout, {}, {}};
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
    Value sum = combineBits(prologue, loc, lane, layout.getBases(kLane), dim, {});
    sum = combineBits(prologue, loc, warp, layout.getBases(kWarp), dim, sum);
    if (sum)
      cached.push_back(arith::IndexCastUIOp::create(prologue, loc, prologue.getIndexType(), sum));
    else
      cached.push_back(arith::ConstantIndexOp::create(prologue, loc, 0));
  }
  place.thread = cached;
  return place;
}

Value ThreadLowering::getCoordinate(const Place &place, unsigned dim, int64_t reg, Value offset) {
  int64_t constant = place.layout.applyTo(kRegister, reg)[dim];
  int64_t met = constant & place.threadBits[dim], apart = constant & ~met;
  Value value = place.thread[dim];
  if (met)
    value = arith::XOrIOp::create(builder, loc, value, index(met));
  if (offset)
    value = arith::AddIOp::create(builder, loc, offset, value);
  if (apart)
    value = arith::AddIOp::create(builder, loc, value, index(apart));
  return value;
}

Value ThreadLowering::isOwner(const LinearLayout &layout) {
  Value owner;
  for (auto [in, mask] : llvm::zip(layout.getIns(), layout.freeVariables())) {
    if (in.name == kRegister || !mask)
      continue;
    Value bits = arith::AndIOp::create(builder, loc, in.name == kLane ? lane : warp, i32(mask));
    Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, bits, i32(0));
    owner = owner ? Value(arith::AndIOp::create(builder, loc, owner, first)) : first;
  }
  return owner;
}

//===- Threads ------------------------------------------------------------------------------===//

bool ThreadLowering::isAllWarps() const {
  return role->attr.getTotalWarps() == warps && role->attr.getCopies() == 1;
}

void ThreadLowering::barrier() {
  if (role && !isAllWarps())
    return meetCopy();
  if (!role || !role->copiesDirectly)
    return meetAll();
  // A fence would wait for the copies that are under way.
  waves.waitForShared(builder, loc);
  waves.meet(builder, loc);
  sharedState = {};
}

void ThreadLowering::meetAll() {
  Block *block = builder.getInsertionBlock();
  if (block->empty() || !isa<gpu::BarrierOp>(block->back()))
    gpu::BarrierOp::create(builder, loc);
  sharedState = {};
}

void ThreadLowering::beforeAccess(SharedSpan span, bool isWrite) {
  auto overlaps = [&](const SharedSpan &other) {
    return other.first < span.end && span.first < other.end;
  };
  if (sharedState.anything || llvm::any_of(sharedState.writes, overlaps) ||
      (isWrite && llvm::any_of(sharedState.reads, overlaps))) {
    barrier();
    sharedState.anything = false;
  }
  (isWrite ? sharedState.writes : sharedState.reads).push_back(span);
}

Value ThreadLowering::shuffle(Value element, Value offset, bool isXor) {
  Type type = element.getType();
  if (type.isIndex()) {
    Value wide = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), element);
    return arith::IndexCastOp::create(builder, loc, type, shuffle(wide, offset, isXor));
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  Type integer = builder.getIntegerType(bits);
  if (!type.isInteger()) {
    Value raw = arith::BitcastOp::create(builder, loc, integer, element);
    return arith::BitcastOp::create(builder, loc, type, shuffle(raw, offset, isXor));
  }
  Type word = builder.getI32Type();
  if (bits < 32) {
    Value wide = arith::ExtUIOp::create(builder, loc, word, element);
    return arith::TruncIOp::create(builder, loc, integer, shuffle(wide, offset, isXor));
  }
  if (bits == 64) {
    Value shift = arith::ConstantIntOp::create(builder, loc, 32, 64);
    Value low = arith::TruncIOp::create(builder, loc, word, element);
    Value high = arith::TruncIOp::create(builder, loc, word,
                                         arith::ShRUIOp::create(builder, loc, element, shift));
    low = arith::ExtUIOp::create(builder, loc, integer, shuffle(low, offset, isXor));
    high = arith::ExtUIOp::create(builder, loc, integer, shuffle(high, offset, isXor));
    high = arith::ShLIOp::create(builder, loc, high, shift);
    return arith::OrIOp::create(builder, loc, low, high);
  }
  auto mode = isXor ? gpu::ShuffleMode::XOR : gpu::ShuffleMode::IDX;
  return gpu::ShuffleOp::create(builder, loc, element, offset, i32(chip.warpSize), mode)
      .getShuffleResult();
}

Value ThreadLowering::shuffleXor(Value element, int64_t mask) {
  return shuffle(element, i32(mask), /*isXor=*/true);
}

Value ThreadLowering::shuffleFrom(Value element, Value sourceLane) {
  return shuffle(element, sourceLane, /*isXor=*/false);
}

//===- The walk -----------------------------------------------------------------------------===//

LogicalResult ThreadLowering::lower(Block &block) {
  for (Operation &op : block)
    if (failed(lower(&op)))
      return failure();
  return success();
}

/// Whether a loop reads a buffer that is written before it.
static bool readsFromOutside(Operation *op) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  return loop && op->walk([&](ReadOp read) {
                     return loop.isDefinedOutsideOfLoop(read.getBuffer()) ? WalkResult::interrupt()
                                                                          : WalkResult::advance();
                   }).wasInterrupted();
}

LogicalResult ThreadLowering::lower(Operation *op) {
  loc = op->getLoc();
  // Scratch is filled by all threads of the program, or by those of a copy of a role.
  if (role && getScratchBytes(op) && (!isa<ReduceOp>(op) || !(async || isAllWarps())))
    return emitUnsupported(op, target, "expected an op that needs no shared memory in a role");
  // Whoever else reads a buffer finds it written.
  bool readsBuffer = llvm::any_of(op->getOperandTypes(), llvm::IsaPred<BufferType>);
  if (!role && readsBuffer && !isa<ReadOp, WriteOp>(op) && !sharedState.writes.empty())
    barrier();
  // What a loop reads of it is waited for once, not in each round.
  if (!role && !sharedState.writes.empty() && readsFromOutside(op))
    barrier();
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<scf::ForOp>([&](auto) { return lowerLoop(op); })
      .Case<scf::IfOp>([&](auto) { return lowerIf(op); })
      .Case<scf::WhileOp>([&](auto) { return lowerWhile(op); })
      .Case<LoadOp>([&](LoadOp load) {
        bool isPacked = sharesByte(load.getType().getElementType());
        return isPacked ? lowerPackedLoad(load) : lowerLoad(load);
      })
      .Case<StoreOp>([&](StoreOp store) {
        bool isPacked = sharesByte(store.getValue().getType().getElementType());
        return isPacked && !storesWholeBytes(store) ? lowerPackedStore(store) : lowerStore(store);
      })
      .Case<GatherOp>([&](GatherOp gather) { return lowerGather(gather); })
      .Case<ScatterOp>([&](ScatterOp scatter) { return lowerScatter(scatter); })
      .Case<AtomicRMWOp, AtomicCASOp>([&](auto) { return lowerAtomic(op); })
      .Case<SliceOp>([&](SliceOp slice) {
        return isOwnSlice(slice) ? lowerShape(op) : lowerRearrangement(op);
      })
      .Case<JoinOp, SplitOp>(
          [&](auto) { return isOwnPair(op) ? lowerPairs(op) : lowerRearrangement(op); })
      .Case<ConcatOp>([&](ConcatOp concat) {
        return isOwnConcat(concat) ? lowerShape(op) : lowerRearrangement(op);
      })
      .Case<ScanOp>([&](ScanOp scan) { return lowerScan(scan); })
      .Case<SortOp>([&](SortOp sort) {
        return lowerSort(op, sort.getAxis(), sort.getDescending(), sort.getUnsignedKeys());
      })
      .Case<TopKOp>([&](TopKOp topk) {
        return lowerSort(op, topk.getAxis(), !topk.getSmallest(), topk.getUnsignedKeys());
      })
      .Case<HistogramOp>([&](HistogramOp histogram) { return lowerHistogram(histogram); })
      .Case<TakeOp>([&](TakeOp take) { return lowerTake(take); })
      .Case<DimOp, StrideOp>([&](auto) { return lowerViewQuery(op); })
      .Case<ViewFromPointerOp, SubviewOp, AddressOp, PointerFromAddressOp>(
          [&](auto) { return lowerMadeView(op); })
      .Case<AllocOp, ReadOp, WriteOp>(
          [&](auto) { return role ? lowerRoleBuffer(op) : lowerBuffer(op); })
      .Case<WarpGroupsOp, CopyIdOp, BarrierOp, ChannelOp, PutOp, GetOp, ReleaseOp, AdvanceOp,
            CopyInOp, CopyOutOp, WaitStoresOp, WaitPutsOp, PartOp, PendOp, StartDotOp, WaitOp,
            AcquireOp, CommitOp, FillOp, FetchOp>([&](auto) { return lowerSchedule(op); })
      .Case<SplatOp, ToScalarOp, IotaOp, BroadcastOp, ReshapeOp, TransposeOp, BitcastOp>(
          [&](auto) { return lowerShape(op); })
      .Case<ConvertLayoutOp>([&](ConvertLayoutOp convert) { return lowerConversion(convert); })
      .Case<ReduceOp>([&](ReduceOp reduce) { return lowerReduce(reduce); })
      .Case<DotOp>([&](DotOp dot) {
        // Of groups that lag behind one another, the one that computes goes first.
        bool isFirst = waves && role && role->attr.getSkew();
        if (isFirst)
          waves.setPriority(builder, loc, /*raised=*/true);
        LogicalResult lowered = lowerDot(dot);
        if (isFirst)
          waves.setPriority(builder, loc, /*raised=*/false);
        return lowered;
      })
      .Case<DotScaledOp>([&](DotScaledOp dot) { return lowerScaledDot(dot); })
      .Case<ProgramIdOp>([&](ProgramIdOp id) {
        set(id, gpu::BlockIdOp::create(builder, loc, gpu::Dimension(unsigned(id.getAxis()))));
        return success();
      })
      .Case<NumProgramsOp>([&](NumProgramsOp programs) {
        set(programs,
            gpu::GridDimOp::create(builder, loc, gpu::Dimension(unsigned(programs.getAxis()))));
        return success();
      })
      .Case<MultipleOfOp>([&](MultipleOfOp hint) {
        set(hint, get(hint.getValue()));
        return success();
      })
      .Case<AssumeOp>([&](AssumeOp assume) {
        LLVM::AssumeOp::create(builder, loc, get(assume.getCondition()));
        return success();
      })
      .Case<tile::ReturnOp>([&](auto) {
        func::ReturnOp::create(builder, loc);
        return success();
      })
      .Case<AssertOp>([&](AssertOp assertion) { return lowerAssert(assertion); })
      .Case<PrintOp>([&](PrintOp print) { return lowerPrint(print); })
      .Case<InlineAsmOp>([&](InlineAsmOp text) { return lowerInlineAsm(text); })
      .Case<ExternCallOp>([&](ExternCallOp call) { return lowerExternCall(call); })
      .Case<scf::ConditionOp>([&](scf::ConditionOp condition) {
        SmallVector<Value> operands;
        for (Value operand : condition.getArgs())
          operands.push_back(get(operand));
        scf::ConditionOp::create(builder, loc, get(condition.getCondition()), operands);
        return success();
      })
      .Case<scf::YieldOp>([&](auto) {
        SmallVector<Value> operands;
        for (Value operand : op->getOperands())
          operands.push_back(get(operand));
        scf::YieldOp::create(builder, loc, operands);
        return success();
      })
      .Default([&](Operation *) {
        if (op->hasTrait<OpTrait::ConstantLike>())
          return lowerConstant(op);
        return lowerElementwise(op);
      });
}

/// What is the same in all turns of a loop is computed in each: a program's numbers are few
/// instructions, and registers or predicates that held them would be missed where it has its loops.
static void keepInside(scf::ForOp loop) {
  MLIRContext *context = loop.getContext();
  auto licm = LLVM::LoopLICMAttr::get(context, /*disable=*/BoolAttr::get(context, true),
                                      /*versioningDisable=*/{});
  loop->setAttr(LLVM::LoopAnnotationAttr::name,
                LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, {}, {}, licm, {}, {}, {}, {}, {},
                                              {}, {}, {}, {}));
}

LogicalResult ThreadLowering::lowerLoop(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(get(init));
  auto lowered = scf::ForOp::create(builder, loc, get(loop.getLowerBound()),
                                    get(loop.getUpperBound()), get(loop.getStep()), inits);
  if (loop->hasAttr(kProgramsAttrName))
    keepInside(lowered);
  // Without results the builder makes a terminator of its own.
  Block *body = lowered.getBody();
  if (!body->empty())
    body->back().erase();
  set(loop.getInductionVar(), lowered.getInductionVar());
  for (auto [from, to] : llvm::zip(loop.getRegionIterArgs(), lowered.getRegionIterArgs()))
    set(from, to);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(body);
  sharedState = {};
  if (failed(lower(*loop.getBody())))
    return failure();
  sharedState = {};
  for (auto [from, to] : llvm::zip(loop.getResults(), lowered.getResults()))
    set(from, to);
  return success();
}

LogicalResult ThreadLowering::lowerIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  SmallVector<Type> types;
  for (Type type : branch.getResultTypes())
    types.push_back(convert(type));
  auto lowered = scf::IfOp::create(builder, loc, types, get(branch.getCondition()),
                                   /*addThenBlock=*/true,
                                   /*addElseBlock=*/!branch.getElseRegion().empty());
  auto lowerRegion = [&](Region &from, Region &to) {
    if (from.empty())
      return success();
    OpBuilder::InsertionGuard guard(builder);
    to.front().clear();
    builder.setInsertionPointToEnd(&to.front());
    sharedState = {};
    LogicalResult lowered = lower(from.front());
    sharedState = {};
    return lowered;
  };
  if (failed(lowerRegion(branch.getThenRegion(), lowered.getThenRegion())) ||
      failed(lowerRegion(branch.getElseRegion(), lowered.getElseRegion())))
    return failure();
  for (auto [from, to] : llvm::zip(branch.getResults(), lowered.getResults()))
    set(from, to);
  return success();
}

LogicalResult ThreadLowering::lowerWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  SmallVector<Type> types;
  for (Type type : loop.getResultTypes())
    types.push_back(convert(type));
  SmallVector<Value> inits;
  for (Value init : loop.getInits())
    inits.push_back(get(init));
  auto lowered = scf::WhileOp::create(builder, loc, types, inits);
  auto lowerRegion = [&](Region &from, Region &to, TypeRange types) {
    OpBuilder::InsertionGuard guard(builder);
    Block *body =
        builder.createBlock(&to, to.end(), types, SmallVector<Location>(types.size(), loc));
    for (auto [before, after] : llvm::zip(from.getArguments(), body->getArguments()))
      set(before, after);
    sharedState = {};
    LogicalResult result = lower(from.front());
    sharedState = {};
    return result;
  };
  if (failed(lowerRegion(loop.getBefore(), lowered.getBefore(), ValueRange(inits).getTypes())) ||
      failed(lowerRegion(loop.getAfter(), lowered.getAfter(), types)))
    return failure();
  for (auto [from, to] : llvm::zip(loop.getResults(), lowered.getResults()))
    set(from, to);
  return success();
}

LogicalResult ThreadLowering::lowerConstant(Operation *op) {
  if (isa<ub::PoisonOp>(op)) {
    set(op->getResult(0), ub::PoisonOp::create(builder, loc, convert(op->getResult(0).getType())));
    return success();
  }
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!elements) {
    set(op->getResult(0), builder.clone(*op)->getResult(0));
    return success();
  }
  if (!elements.isSplat())
    return lowerTable(constant);
  auto type = cast<VectorType>(convert(constant.getType()));
  auto splat = DenseElementsAttr::get(type, elements.getSplatValue<Attribute>());
  set(constant, arith::ConstantOp::create(builder, loc, type, splat));
  return success();
}

/// A magnitude of 16 bits by its bits: they are two to a word, and other mathematics is widened.
static Value getPackedMagnitude(OpBuilder &builder, Location loc, Value value) {
  auto type = dyn_cast<VectorType>(value.getType());
  if (!type || type.getElementTypeBitWidth() != 16)
    return {};
  auto bits = cast<VectorType>(type.clone(builder.getI16Type()));
  Value mask = arith::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(bits, Attribute(builder.getI16IntegerAttr(0x7fff))));
  Value cast = arith::BitcastOp::create(builder, loc, bits, value);
  return arith::BitcastOp::create(builder, loc, type,
                                  arith::AndIOp::create(builder, loc, cast, mask));
}

LogicalResult ThreadLowering::lowerElementwise(Operation *op) {
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return emitUnsupported(op, target);
  if (isa<math::AbsFOp>(op))
    if (Value magnitude = getPackedMagnitude(builder, loc, get(op->getOperand(0)))) {
      set(op->getResult(0), magnitude);
      return success();
    }
  if (auto sum = dyn_cast<arith::AddIOp>(op); sum && role && !isAllWarps())
    for (bool isSwapped : {false, true}) {
      auto iota = sum->getOperand(isSwapped).getDefiningOp<IotaOp>();
      auto start = sum->getOperand(!isSwapped).getDefiningOp<SplatOp>();
      if (iota && start) {
        lowerIota(sum.getResult(), iota.getDim(), get(start.getValue()));
        return success();
      }
    }
  OperationState state(loc, op->getName());
  for (Value operand : op->getOperands())
    state.operands.push_back(get(operand));
  for (Type type : op->getResultTypes())
    state.types.push_back(convert(type));
  state.attributes = op->getAttrs();
  Operation *lowered = builder.create(state);
  if (Value defined = defineForAllInputs(lowered)) {
    set(op->getResult(0), defined);
    return success();
  }
  for (auto [from, to] : llvm::zip(op->getResults(), lowered->getResults()))
    set(from, to);
  return success();
}
