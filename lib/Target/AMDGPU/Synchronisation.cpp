// What waves need to run rings of loads to LDS: counts to wait for, a barrier, priorities.
//
// LLVM's own waits do for what it can follow. It cannot follow which slot of a ring a load fills
// across a loop's back edge, so these are emitted here; slots are told apart for it by alias
// scopes, or it would wait for all loads in front of each read of LDS (SIInsertWaitcnts, "LDS
// DMA").
#include "Chips.h"
#include "Counters.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

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

void TargetAttr::setPriority(OpBuilder &builder, Location loc, int64_t level) const {
  ROCDL::SetPrioOp::create(builder, loc, level);
}

void TargetAttr::orderSchedule(OpBuilder &builder, Location loc) const { separate(builder, loc); }

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
