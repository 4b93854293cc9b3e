// What warps and engines of these chips wait on: barriers in shared memory, named barriers, groups
// of copies, of bulk copies and of wgmma.
#include "Chips.h"
#include "kiln/Target/NVPTX/NVPTX.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nvptx;

/// Tensor memory: 128 lanes of 32 bits in each column; and the address space of pointers there.
static constexpr int64_t kColumnBytes = 512;
static constexpr unsigned kTensorSpace = 6;

static constexpr unsigned kLanes = 32;

static Value i32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

//===- What there is ------------------------------------------------------------------------===//

/// Barrier 0 is that of all warps.
int64_t TargetAttr::getGroupBarriers() const {
  return getChipRecord().figures.namedBarriers->value - 1;
}

bool TargetAttr::hasByteBarriers() const { return getRecord(getChip()).byteBarriers; }

bool TargetAttr::hasClusters() const { return hasByteBarriers(); }

bool TargetAttr::overlapsLaunches() const { return hasByteBarriers(); }

//===- Warps and their own copies -----------------------------------------------------------===//

Value TargetAttr::makeUniform(OpBuilder &builder, Location loc, Value value) const {
  auto constant = [&](int64_t number) -> Value {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), number);
  };
  return NVVM::ShflOp::create(builder, loc, value.getType(), constant(-1), value, constant(0),
                              constant(kLanes - 1), NVVM::ShflKind::idx, UnitAttr());
}

void TargetAttr::endCopies(OpBuilder &builder, Location loc) const {
  NVVM::CpAsyncCommitGroupOp::create(builder, loc);
}

void TargetAttr::waitForCopies(OpBuilder &builder, Location loc, int64_t groups, int64_t) const {
  NVVM::CpAsyncWaitGroupOp::create(builder, loc, groups);
}

/// The barrier waits for reads, too.
void TargetAttr::waitForShared(OpBuilder &, Location) const {}

void TargetAttr::meet(OpBuilder &builder, Location loc) const {
  NVVM::Barrier0Op::create(builder, loc);
}

//===- Groups, barriers in shared memory, engines -------------------------------------------===//

void TargetAttr::launchDependents(OpBuilder &builder, Location loc) const {
  NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::launch_dependents);
}

void TargetAttr::waitDependencies(OpBuilder &builder, Location loc) const {
  NVVM::GriddepcontrolOp::create(builder, loc, NVVM::GridDepActionKind::wait);
}

void TargetAttr::initBarrier(OpBuilder &builder, Location loc, Value barrier,
                             int64_t arrivals) const {
  NVVM::MBarrierInitOp::create(builder, loc, barrier, i32(builder, loc, arrivals), Value());
}

void TargetAttr::publishBarriers(OpBuilder &builder, Location loc) const {
  if (!hasByteBarriers())
    return;
  NVVM::FenceMbarrierInitOp::create(builder, loc);
  publishShared(builder, loc);
}

// The forms with default semantics: release and acquire among the block's threads.
void TargetAttr::arrive(OpBuilder &builder, Location loc, Value barrier, int64_t) const {
  NVVM::MBarrierArriveOp::create(builder, loc, builder.getI64Type(), barrier, Value());
}

void TargetAttr::arriveExpecting(OpBuilder &builder, Location loc, Value barrier,
                                 int64_t bytes) const {
  NVVM::MBarrierArriveExpectTxOp::create(builder, loc, Type(), barrier, i32(builder, loc, bytes),
                                         NVVM::MemScopeKind::CTA, false, Value());
}

void TargetAttr::awaitCopies(OpBuilder &builder, Location loc, Value barrier) const {
  NVVM::CpAsyncMBarrierArriveOp::create(builder, loc, barrier, /*noinc=*/false);
}

/// A try blocks for a while and may then fail, so it is tried again. Barriers that count no bytes
/// are of chips without it: there a test, which does not block, is made until it holds.
void TargetAttr::waitBarrier(OpBuilder &builder, Location loc, Value barrier, Value parity, int64_t,
                             bool ofCluster) const {
  auto scope = ofCluster ? NVVM::MemScopeKind::CLUSTER : NVVM::MemScopeKind::CTA;
  auto loop = scf::WhileOp::create(builder, loc, TypeRange(), ValueRange());
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&loop.getBefore());
  Type flag = builder.getI1Type();
  Value done;
  if (getChipRecord().figures.barrierBytes)
    done = NVVM::MBarrierTryWaitOp::create(builder, loc, flag, barrier, parity, /*ticks=*/Value(),
                                           scope, /*relaxed=*/false);
  else
    done = NVVM::MBarrierTestWaitOp::create(builder, loc, flag, barrier, parity, scope,
                                            /*relaxed=*/false);
  Value yes = arith::ConstantIntOp::create(builder, loc, 1, 1);
  Value again = arith::XOrIOp::create(builder, loc, done, yes);
  scf::ConditionOp::create(builder, loc, again, ValueRange());
  builder.createBlock(&loop.getAfter());
  scf::YieldOp::create(builder, loc);
}

void TargetAttr::meetLanes(OpBuilder &builder, Location loc) const {
  NVVM::SyncWarpOp::create(builder, loc, i32(builder, loc, -1));
}

void TargetAttr::groupBarrier(OpBuilder &builder, Location loc, Value number,
                              int64_t threads) const {
  NVVM::BarrierOp::create(builder, loc, TypeRange(), number, i32(builder, loc, threads),
                          NVVM::BarrierReductionAttr(), Value());
}

void TargetAttr::publishShared(OpBuilder &builder, Location loc) const {
  NVVM::FenceProxyOp::create(
      builder, loc, NVVM::ProxyKindAttr::get(builder.getContext(), NVVM::ProxyKind::async_shared),
      NVVM::SharedSpaceAttr::get(builder.getContext(), NVVM::SharedSpace::shared_cta));
}

void TargetAttr::publishGlobal(OpBuilder &builder, Location loc) const {
  NVVM::FenceProxyOp::create(
      builder, loc, NVVM::ProxyKindAttr::get(builder.getContext(), NVVM::ProxyKind::async_global),
      NVVM::SharedSpaceAttr());
}

void TargetAttr::setRegisters(OpBuilder &builder, Location loc, int64_t before,
                              int64_t after) const {
  auto action =
      after > before ? NVVM::SetMaxRegisterAction::increase : NVVM::SetMaxRegisterAction::decrease;
  NVVM::SetMaxRegisterOp::create(builder, loc, after, action);
}

Type TargetAttr::getMapType(MLIRContext *context) const {
  return LLVM::LLVMPointerType::get(context);
}

/// By a generic address, of which LLVM emits the prefetch of a parameter, too. With that one alone
/// attention of 16384 keys took 3 to 4 % longer on an H200 (November 2026); why is not known.
void TargetAttr::prefetchMap(OpBuilder &builder, Location loc, Value map) const {
  NVVM::PrefetchOp::create(builder, loc, NVVM::PrefetchCacheLevelAttr(),
                           NVVM::CacheEvictionPriorityAttr(), map, /*predicate=*/Value(),
                           /*tensormap=*/builder.getUnitAttr(), /*uniform=*/UnitAttr(),
                           /*in_param_space=*/UnitAttr());
}

void TargetAttr::commitStores(OpBuilder &builder, Location loc) const {
  NVVM::CpAsyncBulkCommitGroupOp::create(builder, loc);
}

void TargetAttr::waitStores(OpBuilder &builder, Location loc, int64_t inFlight, bool done) const {
  NVVM::CpAsyncBulkWaitGroupOp::create(builder, loc, builder.getI32IntegerAttr(inFlight),
                                       done ? UnitAttr() : builder.getUnitAttr());
}

/// With registers the wait is inline assembly that they pass through: NVVM's op does not hold
/// them, and LLVM would move arithmetic on them in front of it.
SmallVector<Value> TargetAttr::waitDots(OpBuilder &builder, Location loc, int64_t inFlight,
                                        ValueRange registers) const {
  if (registers.empty()) {
    NVVM::WgmmaWaitGroupSyncOp::create(builder, loc, inFlight);
    return {};
  }
  std::string constraints;
  for (Value value : registers)
    constraints += isa<FloatType>(value.getType()) ? "=f," : "=r,";
  for (size_t i = 0; i < registers.size(); ++i)
    constraints += std::to_string(i) + ",";
  constraints += "~{memory}";
  auto type = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                               SmallVector<Type>(registers.getTypes()));
  auto wait = LLVM::InlineAsmOp::create(
      builder, loc, type, registers,
      "wgmma.wait_group.sync.aligned " + std::to_string(inFlight) + ";", constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  SmallVector<Value> held;
  for (size_t i = 0; i < registers.size(); ++i)
    held.push_back(LLVM::ExtractValueOp::create(builder, loc, wait.getResult(0), i));
  return held;
}

/// ptxas moves a wait for products in front of arithmetic that does not need them, but not across
/// a fence.
void TargetAttr::orderSchedule(OpBuilder &builder, Location loc) const {
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acq_rel, "block");
}

int64_t TargetAttr::getTensorBytes(int64_t bytes) const {
  return kColumnBytes *
         std::max<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(bytes, kColumnBytes)), 32);
}

int64_t TargetAttr::getTensorColumnBytes() const { return kColumnBytes; }

/// All that a program does with tensor memory is by one of the two.
static NVVM::CTAGroupKind getGroup(bool ofPair) {
  return ofPair ? NVVM::CTAGroupKind::CTA_2 : NVVM::CTAGroupKind::CTA_1;
}

void TargetAttr::allocTensor(OpBuilder &builder, Location loc, Value shared, int64_t bytes,
                             bool ofPair) const {
  NVVM::Tcgen05AllocOp::create(builder, loc, shared,
                               i32(builder, loc, getTensorBytes(bytes) / kColumnBytes),
                               getGroup(ofPair));
}

void TargetAttr::endTensorAllocs(OpBuilder &builder, Location loc, bool ofPair) const {
  NVVM::Tcgen05RelinquishAllocPermitOp::create(builder, loc, getGroup(ofPair));
}

void TargetAttr::freeTensor(OpBuilder &builder, Location loc, Value address, int64_t bytes,
                            bool ofPair) const {
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), kTensorSpace);
  NVVM::Tcgen05DeallocOp::create(
      builder, loc, LLVM::IntToPtrOp::create(builder, loc, type, address),
      i32(builder, loc, getTensorBytes(bytes) / kColumnBytes), getGroup(ofPair));
}

Value TargetAttr::getTensorSlot(OpBuilder &builder, Location loc, Value address, Value slot,
                                int64_t bytes) const {
  Value columns = i32(builder, loc, bytes / kColumnBytes);
  return arith::AddIOp::create(builder, loc, address,
                               arith::MulIOp::create(builder, loc, slot, columns));
}

void TargetAttr::publishTensor(OpBuilder &builder, Location loc) const {
  NVVM::Tcgen05FenceOp::create(builder, loc, NVVM::Tcgen05FenceKind::BEFORE_THREAD_SYNC);
}

void TargetAttr::observeTensor(OpBuilder &builder, Location loc) const {
  NVVM::Tcgen05FenceOp::create(builder, loc, NVVM::Tcgen05FenceKind::AFTER_THREAD_SYNC);
}

void TargetAttr::commitDots(OpBuilder &builder, Location loc, Value barrier, Value mask,
                            bool ofPair) const {
  NVVM::Tcgen05CommitOp::create(builder, loc, barrier, mask, getGroup(ofPair));
}

//===- Clusters -----------------------------------------------------------------------------===//

/// It releases and acquires. Warps come to it from roles, so their lanes need not be together.
void TargetAttr::meetCluster(OpBuilder &builder, Location loc) const {
  NVVM::ClusterArriveOp::create(builder, loc, UnitAttr());
  NVVM::ClusterWaitOp::create(builder, loc, UnitAttr());
}

Value TargetAttr::getNumberInCluster(OpBuilder &builder, Location loc) const {
  return NVVM::ClusterId::create(builder, loc, builder.getI32Type());
}

static Value mapTo(OpBuilder &builder, Location loc, Value barrier, Value program) {
  auto type = LLVM::LLVMPointerType::get(builder.getContext(),
                                         unsigned(NVVM::NVVMMemorySpace::SharedCluster));
  return NVVM::MapaOp::create(builder, loc, type, barrier, program);
}

/// An address of the cluster's shared memory, which the instruction takes for its barrier; LLVM's
/// intrinsic has a pointer of the block's there.
Value TargetAttr::getBarrierOf(OpBuilder &builder, Location loc, Value barrier,
                               Value program) const {
  Value there = LLVM::PtrToIntOp::create(builder, loc, builder.getI64Type(),
                                         mapTo(builder, loc, barrier, program));
  return LLVM::IntToPtrOp::create(builder, loc, barrier.getType(), there);
}

/// Releases among the block's threads alone, as CUTLASS does it (`ClusterBarrier::arrive`): what is
/// told of are reads, which are done by now, and nothing that the other block would have to see. A
/// release for the cluster is a fence for all of the GPU's memory in front of each arrival, which
/// cost a product a third of its rate.
void TargetAttr::arriveAt(OpBuilder &builder, Location loc, Value barrier, Value program,
                          bool publishes) const {
  Value there = mapTo(builder, loc, barrier, program);
  auto scope = publishes ? NVVM::MemScopeKind::CLUSTER : NVVM::MemScopeKind::CTA;
  NVVM::MBarrierArriveOp::create(builder, loc, /*res=*/Type(), there, /*count=*/Value(), scope,
                                 /*relaxed=*/false);
}
