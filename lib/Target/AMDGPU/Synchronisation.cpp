// What waves need to run rings of loads to LDS: counts to wait for, a barrier, priorities.
//
// LLVM's own waits do for what it can follow. It cannot follow which slot of a ring a load fills
// across a loop's back edge, so these are emitted here; slots are told apart for it by alias
// scopes, or it would wait for all loads in front of each read of LDS (SIInsertWaitcnts, "LDS
// DMA").
#include "Chips.h"
#include "Counters.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::amdgcn;

/// No instruction: compilers move no access to memory across it, in either direction.
static void keepInPlace(OpBuilder &builder, Location loc) {
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acq_rel, "singlethread");
}

/// Nothing at all is scheduled across it.
static void separate(OpBuilder &builder, Location loc) {
  ROCDL::SchedBarrier::create(builder, loc, 0);
}

/// No instruction either. LLVM (22) sinks a read of LDS into the one branch that uses it, across
/// barriers and fences in front of that branch, which count as no store there. Assembly that may
/// store anything does; no op says so.
void kiln::amdgcn::keepReads(OpBuilder &builder, Location loc) {
  LLVM::InlineAsmOp::create(builder, loc, TypeRange(), ValueRange(), /*asm_string=*/"",
                            /*constraints=*/"~{memory}", /*has_side_effects=*/true,
                            /*is_align_stack=*/false, LLVM::TailCallKind::None,
                            /*asm_dialect=*/LLVM::AsmDialectAttr(), /*operand_attrs=*/ArrayAttr());
}

//===- Waits --------------------------------------------------------------------------------===//

// The fields of s_waitcnt, by the ISA manuals. CDNA has six bits for vector memory, in two parts,
// three for exports, four for LDS and scalar memory; RDNA3 three for exports, six for LDS and
// scalar memory, six for vector memory. All ones wait for nothing.
static constexpr int64_t kMostVector = 63, kMostExport = 7, kMostLDS = 15;

void kiln::amdgcn::waitForVector(OpBuilder &builder, Location loc, int64_t vector) {
  int64_t field = (vector & 15) | kMostExport << 4 | kMostLDS << 8 | (vector >> 4) << 14;
  keepInPlace(builder, loc);
  ROCDL::SWaitcntOp::create(builder, loc, field);
  keepInPlace(builder, loc);
}

/// Until no access to LDS is.
static void waitForLDS(OpBuilder &builder, Location loc, WaitForm form) {
  keepInPlace(builder, loc);
  switch (form) {
  case WaitForm::GFX9:
    ROCDL::SWaitcntOp::create(builder, loc, 15 | kMostExport << 4 | (kMostVector >> 4) << 14);
    break;
  case WaitForm::GFX11:
    ROCDL::SWaitcntOp::create(builder, loc, kMostExport | kMostVector << 10);
    break;
  case WaitForm::Apart:
    ROCDL::WaitDscntOp::create(builder, loc, 0);
    break;
  }
  keepInPlace(builder, loc);
}

Value TargetAttr::makeUniform(OpBuilder &builder, Location loc, Value value) const {
  return ROCDL::ReadfirstlaneOp::create(builder, loc, value.getType(), value);
}

/// The counter is of loads: groups are so many of them.
void TargetAttr::endCopies(OpBuilder &, Location) const {}

void TargetAttr::waitForCopies(OpBuilder &builder, Location loc, int64_t groups,
                               int64_t copies) const {
  waitForVector(builder, loc, std::min(groups * copies, kMostVector));
}

void TargetAttr::waitForShared(OpBuilder &builder, Location loc) const {
  waitForLDS(builder, loc, getRecord(getChip()).waits);
}

void TargetAttr::meet(OpBuilder &builder, Location loc) const {
  separate(builder, loc);
  keepInPlace(builder, loc);
  ROCDL::SBarrierOp::create(builder, loc);
  keepReads(builder, loc);
  keepInPlace(builder, loc);
  separate(builder, loc);
}

/// LLVM (22) leaves what waves of one workgroup write under way across a fence of it, where they
/// see it in the cache that they share: one wave alone may be told of it, and tell others.
void TargetAttr::fenceGlobal(OpBuilder &builder, Location loc) const {
  if (getRecord(getChip()).waits == WaitForm::GFX9)
    waitForVector(builder, loc, 0);
  LLVM::FenceOp::create(builder, loc, LLVM::AtomicOrdering::acq_rel, "workgroup");
}

void TargetAttr::setPriority(OpBuilder &builder, Location loc, int64_t level) const {
  ROCDL::SetPrioOp::create(builder, loc, level);
}

void TargetAttr::orderSchedule(OpBuilder &builder, Location loc) const { separate(builder, loc); }

//===- Barriers in LDS ----------------------------------------------------------------------===//
//
// A barrier is a word that counts arrivals round, from 0 to twice as many as a phase awaits: in its
// lower half it is in a phase of parity 0, in its upper half in one of parity 1. One instruction
// counts and wraps, so no arrival is lost and nobody resets anything; and since those who wait are
// at most a phase behind, no count is taken for one of a round before.
//
// LDS serves a wave's accesses in order. A wave waits for its own all the same in front of an
// arrival, where its lanes meet, as LLVM would for a release: the proof of the final code asks for
// it. What a load brings to LDS comes another way: the wave waits for that by its count.

/// The scope of those who meet at one: no wait for caches belongs to an access of LDS.
static constexpr StringLiteral kWorkgroup = "workgroup-one-as";

static Value i32(OpBuilder &builder, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(builder, loc, value, 32);
}

void TargetAttr::initBarrier(OpBuilder &builder, Location loc, Value barrier, int64_t) const {
  LLVM::StoreOp::create(builder, loc, i32(builder, loc, 0), barrier, /*alignment=*/4);
}

/// The waves meet before any of them uses one.
void TargetAttr::publishBarriers(OpBuilder &, Location) const {}

/// The parity of the phase that a word says it is in.
static Value getPhase(OpBuilder &builder, Location loc, Value count, int64_t arrivals) {
  Value isUpper = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::uge, count,
                                        i32(builder, loc, arrivals));
  return arith::ExtUIOp::create(builder, loc, builder.getI32Type(), isUpper);
}

/// Gives what the word was.
static Value count(OpBuilder &builder, Location loc, Value barrier, int64_t arrivals) {
  keepReads(builder, loc);
  Value before = LLVM::AtomicRMWOp::create(
      builder, loc, LLVM::AtomicBinOp::uinc_wrap, barrier, i32(builder, loc, 2 * arrivals - 1),
      LLVM::AtomicOrdering::monotonic, kWorkgroup, /*alignment=*/4);
  keepInPlace(builder, loc);
  return before;
}

void TargetAttr::arrive(OpBuilder &builder, Location loc, Value barrier, int64_t arrivals) const {
  count(builder, loc, barrier, arrivals);
}

Value TargetAttr::arriveInPhase(OpBuilder &builder, Location loc, Value barrier,
                                int64_t arrivals) const {
  return getPhase(builder, loc, count(builder, loc, barrier, arrivals), arrivals);
}

/// No copy tells of its end: the wave waits until none is under way.
void TargetAttr::awaitCopies(OpBuilder &builder, Location loc, Value) const {
  waitForVector(builder, loc, 0);
}

/// A wave that waits sleeps for 64 cycles or so between two looks, and leaves LDS to the others.
void TargetAttr::waitBarrier(OpBuilder &builder, Location loc, Value barrier, Value parity,
                             int64_t arrivals, bool) const {
  keepInPlace(builder, loc);
  auto loop = scf::WhileOp::create(builder, loc, TypeRange(), ValueRange());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.createBlock(&loop.getBefore());
    Value count = LLVM::LoadOp::create(
        builder, loc, builder.getI32Type(), barrier, /*alignment=*/4, /*isVolatile=*/false,
        /*isNonTemporal=*/false, /*isInvariant=*/false, /*isInvariantGroup=*/false,
        LLVM::AtomicOrdering::monotonic, kWorkgroup);
    // One word for all lanes: the wave branches once.
    count = makeUniform(builder, loc, count);
    Value again = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        getPhase(builder, loc, count, arrivals), parity);
    scf::ConditionOp::create(builder, loc, again, ValueRange());
    builder.createBlock(&loop.getAfter());
    ROCDL::SSleepOp::create(builder, loc, 1);
    scf::YieldOp::create(builder, loc);
  }
  keepReads(builder, loc);
  keepInPlace(builder, loc);
  separate(builder, loc);
}

/// They go in step. What they have under way in LDS the wave waits for, since one of them may tell
/// other waves of it next.
void TargetAttr::meetLanes(OpBuilder &builder, Location loc) const {
  keepReads(builder, loc);
  waitForShared(builder, loc);
  LLVM::CallIntrinsicOp::create(builder, loc, builder.getStringAttr("llvm.amdgcn.wave.barrier"),
                                ValueRange());
  keepInPlace(builder, loc);
}

//===- The order of instructions ------------------------------------------------------------===//

bool TargetAttr::ordersInstructions() const { return true; }

/// The kinds as the intrinsic counts them; loads that go to LDS directly are accesses to global
/// memory, which read it.
static int32_t getMask(tile::InstructionKind kind) {
  switch (kind) {
  case tile::InstructionKind::Vector:
    return 1 << 1;
  case tile::InstructionKind::Scalar:
    return 1 << 2;
  case tile::InstructionKind::Matrix:
    return 1 << 3;
  case tile::InstructionKind::Load:
    return 1 << 5;
  case tile::InstructionKind::Store:
    return 1 << 6;
  case tile::InstructionKind::Read:
    return 1 << 8;
  case tile::InstructionKind::Write:
    return 1 << 9;
  case tile::InstructionKind::Transcendental:
    return 1 << 10;
  }
  return 0;
}

void TargetAttr::orderInstructions(OpBuilder &builder, Location loc, tile::InstructionKind kind,
                                   int64_t count, int64_t pipeline) const {
  ROCDL::SchedGroupBarrier::create(builder, loc, getMask(kind), count, pipeline);
}
