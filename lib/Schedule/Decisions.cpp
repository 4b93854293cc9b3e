// What the realising passes ask of decisions.
#include "Decisions.h"
#include "kiln/Dialect/Tile/IR/GridDecisions.h"
#include "kiln/Dialect/Tile/IR/PinnedPlaces.h"
#include "kiln/Target/Common/Synchronisation.h"
#include "kiln/Target/TargetInterface.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

void kiln::setRoleName(Operation *op, StringRef role) {
  op->setAttr(spellDecision(op, "role"), StringAttr::get(op->getContext(), role));
}

void kiln::dropRole(Operation *op) { op->removeAttr(spellDecision(op, "role")); }

static constexpr StringLiteral kPlace[] = {"stage", "order"};

void kiln::dropPlace(Operation *op) {
  for (StringRef name : kPlace)
    op->removeAttr(spellDecision(op, name));
}

void kiln::copyPlace(Operation *from, Operation *to) {
  for (StringRef name : kPlace)
    if (Attribute decision = getDecision(from, name))
      to->setAttr(spellDecision(to, name), decision);
}

FailureOr<Attribute> kiln::requireDecision(Operation *op, StringRef name) {
  if (Attribute decision = getDecision(op, name))
    return decision;
  return op->emitOpError("expected '") << spellDecision(op, name) << "' to be decided";
}

FailureOr<int64_t> kiln::requireNumber(Operation *op, StringRef name) {
  FailureOr<Attribute> decision = requireDecision(op, name);
  if (failed(decision))
    return failure();
  return cast<IntegerAttr>(*decision).getInt();
}

bool kiln::isRotated(scf::WhileOp loop) {
  Block &before = *loop.getBeforeBody();
  scf::ConditionOp condition = loop.getConditionOp();
  return llvm::hasSingleElement(before) && before.getNumArguments() > 0 &&
         condition.getCondition() == before.getArgument(0) &&
         llvm::equal(condition.getArgs(), before.getArguments().drop_front());
}

Operation *kiln::getLoopOfTrips(Operation *op) {
  Operation *parent = op->getParentOp();
  if (auto loop = dyn_cast<scf::WhileOp>(parent))
    return isRotated(loop) && op->getBlock() == loop.getAfterBody() ? parent : nullptr;
  return isa<scf::ForOp>(parent) && !parent->hasAttr(kProgramsAttrName) ? parent : nullptr;
}

Value IndexMath::constant(int64_t value) {
  return arith::ConstantIndexOp::create(builder, loc, value);
}
Value IndexMath::add(Value x, Value y) { return arith::AddIOp::create(builder, loc, x, y); }
Value IndexMath::sub(Value x, Value y) { return arith::SubIOp::create(builder, loc, x, y); }
Value IndexMath::mul(Value x, Value y) { return arith::MulIOp::create(builder, loc, x, y); }
Value IndexMath::div(Value x, Value y) { return arith::DivUIOp::create(builder, loc, x, y); }
Value IndexMath::rem(Value x, Value y) { return arith::RemUIOp::create(builder, loc, x, y); }
Value IndexMath::min(Value x, Value y) { return arith::MinUIOp::create(builder, loc, x, y); }

Value IndexMath::max(Value x, Value y) { return arith::MaxUIOp::create(builder, loc, x, y); }
Value IndexMath::isLess(Value x, Value y) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, x, y);
}
Value IndexMath::select(Value holds, Value x, Value y) {
  return arith::SelectOp::create(builder, loc, holds, x, y);
}

SmallVector<Value> IndexMath::shiftBox(StoreOp store, ArrayRef<int64_t> by) {
  SmallVector<Value> offsets(store.getOffsets());
  for (auto [dim, value] : llvm::enumerate(by)) {
    Value &offset = offsets[getViewDim(dim, store.getDropped())];
    offset = shift(offset, value);
  }
  return offsets;
}

/// Each copy of a role has a barrier, and each role one for all of them. All threads of the program
/// have one more, which is the only one where no others have numbers.
static LogicalResult checkBarriers(Operation *op, ArrayAttr roles, TargetInterface target) {
  auto sync = dyn_cast<SynchronisationInterface>(target.getReal());
  int64_t named = sync ? sync.getGroupBarriers() : 0;
  if (named == 0)
    return success();
  int64_t needed = roles.size();
  // The lanes of one warp that is a program meet without a number.
  auto kernel = isa<KernelOp>(op) ? cast<KernelOp>(op) : op->getParentOfType<KernelOp>();
  bool areBlocks = countBlockPrograms(kernel) > 1;
  for (auto role : roles.getAsRange<RoleAttr>())
    needed += areBlocks && role.getWarps() == 1 ? 0 : role.getCopies();
  if (needed <= named)
    return success();
  InFlightDiagnostic error =
      emitPinError(op, kRolesAttrName, "expected roles and copies that take at most ")
      << named << " barriers on " << target.getSpelling() << ", one each, got " << needed << ": ";
  llvm::interleaveComma(roles.getAsRange<RoleAttr>(), error, [&](RoleAttr role) {
    error << "\"" << role.getName() << "\" takes " << role.getCopies() + 1;
  });
  return error;
}

LogicalResult kiln::checkRoleLimits(Operation *op, ArrayAttr roles) {
  TargetInterface target = getTarget(op);
  if (target && failed(checkBarriers(op, roles, target)))
    return failure();
  int64_t warps = 0;
  bool resizes = false;
  for (auto role : roles.getAsRange<RoleAttr>()) {
    warps += role.getTotalWarps();
    resizes |= role.getRegisters() > 0;
  }
  if (!target || !resizes)
    return success();
  const Chip &chip = target.getChipRecord();
  const RoleRegisters &rule = chip.roleRegisters;
  int64_t total = 0;
  for (auto role : roles.getAsRange<RoleAttr>()) {
    int64_t registers = role.getRegisters();
    total += role.getTotalWarps() * chip.warpSize *
             (registers ? registers : int64_t(chip.getRegistersAtEntry(warps)));
    if (!registers)
      continue;
    if (!rule.step)
      return emitPinError(op, kRolesAttrName, "expected no registers of role \"")
             << role.getName() << "\", since no role hands any to another on "
             << target.getSpelling() << ", got " << registers;
    if (registers < rule.least || registers > rule.most || registers % rule.step)
      return emitPinError(op, kRolesAttrName, "expected registers of role \"")
             << role.getName() << "\" to be a multiple of " << rule.step << " from " << rule.least
             << " to " << rule.most << " on " << target.getSpelling() << ", got " << registers;
    if (role.getWarps() % rule.warps)
      return emitPinError(op, kRolesAttrName, "expected a multiple of ")
             << rule.warps << " warps in role \"" << role.getName()
             << "\", which says its registers, got " << role.getWarps();
  }
  // What a warp waits for must be given away by others: no more than all begin with.
  int64_t atEntry = int64_t(chip.getRegistersAtEntry(warps)) * warps * chip.warpSize;
  if (total <= atEntry)
    return success();
  return emitPinError(op, kRolesAttrName, "expected roles, with all copies and turns, of at most ")
         << atEntry << " registers together, which " << warps << " warps begin with, got " << total;
}

RingSide kiln::getRingSide(NextOp next) { return {next.getChannel(), next.getFills()}; }

int64_t kiln::getBufferBytes(BufferType type) {
  int64_t bits = ShapedType::getNumElements(type.getShape()) *
                 int64_t(type.getElementType().getIntOrFloatBitWidth());
  return llvm::divideCeil(bits, 8);
}
