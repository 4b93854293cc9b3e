// Atomic accesses to elements of views at computed indices.
#include "../Scratch.h"
#include "../SharedAccess.h"
#include "../ThreadPatterns.h"
#include "../ThreadPlans.h"
#include "../ViewAccess.h"
#include "kiln/Dialect/Tile/IR/Turns.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static LLVM::AtomicOrdering getOrdering(MemoryOrder order) {
  switch (order) {
  case MemoryOrder::Relaxed:
    return LLVM::AtomicOrdering::monotonic;
  case MemoryOrder::Acquire:
    return LLVM::AtomicOrdering::acquire;
  case MemoryOrder::Release:
    return LLVM::AtomicOrdering::release;
  case MemoryOrder::AcqRel:
    return LLVM::AtomicOrdering::acq_rel;
  }
  return LLVM::AtomicOrdering::acq_rel;
}

static LLVM::AtomicBinOp getBinOp(AtomicKind kind, bool isFloat) {
  switch (kind) {
  case AtomicKind::AddF:
    return LLVM::AtomicBinOp::fadd;
  case AtomicKind::AddI:
    return LLVM::AtomicBinOp::add;
  case AtomicKind::MinF:
    return LLVM::AtomicBinOp::fmin;
  case AtomicKind::MaxF:
    return LLVM::AtomicBinOp::fmax;
  case AtomicKind::MinS:
    return LLVM::AtomicBinOp::min;
  case AtomicKind::MaxS:
    return LLVM::AtomicBinOp::max;
  case AtomicKind::MinU:
    return LLVM::AtomicBinOp::umin;
  case AtomicKind::MaxU:
    return LLVM::AtomicBinOp::umax;
  case AtomicKind::And:
    return LLVM::AtomicBinOp::_and;
  case AtomicKind::Or:
    return LLVM::AtomicBinOp::_or;
  case AtomicKind::Xor:
    return LLVM::AtomicBinOp::_xor;
  case AtomicKind::Exch:
    return LLVM::AtomicBinOp::xchg;
  }
  return LLVM::AtomicBinOp::xchg;
}

/// The old value of one element. Where the chip has no such instruction, LLVM loops around one that
/// it has.
static Value emitAtomic(ThreadContext &context, Operation *op, Value pointer, Value compare,
                        Value value) {
  Type type = value.getType(), raw = context.getIntegerType(type.getIntOrFloatBitWidth());
  unsigned bytes = type.getIntOrFloatBitWidth() / 8;
  auto castTo = [&](Value bits, Type to) -> Value {
    return bits.getType() == to ? bits : Value(arith::BitcastOp::create(context, to, bits));
  };
  if (auto update = dyn_cast<AtomicRMWOp>(op)) {
    bool swaps = update.getKind() == AtomicKind::Exch;
    if (swaps)
      value = castTo(value, raw);
    Value old = LLVM::AtomicRMWOp::create(context, getBinOp(update.getKind(), isa<FloatType>(type)),
                                          pointer, value, getOrdering(update.getOrder()),
                                          kScopeNames[unsigned(update.getScope())], bytes);
    return castTo(old, type);
  }
  auto exchange = cast<AtomicCASOp>(op);
  LLVM::AtomicOrdering order = getOrdering(exchange.getOrder());
  bool acquires = order == LLVM::AtomicOrdering::acquire || order == LLVM::AtomicOrdering::acq_rel;
  Value both = LLVM::AtomicCmpXchgOp::create(
      context, pointer, castTo(compare, raw), castTo(value, raw), order,
      acquires ? LLVM::AtomicOrdering::acquire : LLVM::AtomicOrdering::monotonic,
      kScopeNames[unsigned(exchange.getScope())], bytes);
  return castTo(LLVM::ExtractValueOp::create(context, both, 0), type);
}

namespace {
/// The operands that both kinds of op have.
struct AtomicParts {
  explicit AtomicParts(Operation *op) {
    if (auto update = dyn_cast<AtomicRMWOp>(op)) {
      view = update.getView();
      value = update.getValue();
      indices = update.getIndices();
      mask = update.getMask();
    } else {
      auto exchange = cast<AtomicCASOp>(op);
      view = exchange.getView();
      compare = exchange.getCompare();
      value = exchange.getValue();
      indices = exchange.getIndices();
      mask = exchange.getMask();
    }
  }
  Value view, compare, value, mask;
  ValueRange indices;
};
} // namespace

/// Whether one thread's result must reach others that hold the same element.
static bool isShared(Operation *op) {
  if (op->use_empty())
    return false;
  Value result = op->getResult(0);
  if (!isa<RankedTensorType>(result.getType()))
    return true;
  return llvm::any_of(getLayout(result).freeVariables(), [](int64_t bits) { return bits != 0; });
}

static int64_t getAtomicBytes(Operation *op) {
  if (!isShared(op))
    return 0;
  Type type = op->getResult(0).getType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  return (tensor ? tensor.getNumElements() : 1) *
         int64_t(getSharedElementBytes(getElementTypeOrSelf(type)));
}

/// One number is changed once for all copies of a role, which all see what it was.
bool kiln::isOfAllCopies(Operation *op, RoleAttr role) {
  return isa<AtomicRMWOp, AtomicCASOp>(op) && role && role.getCopies() > 1 &&
         !isa<RankedTensorType>(op->getResult(0).getType()) &&
         !takesTurns(op->getParentOfType<KernelOp>(), role);
}

bool kiln::isOfAllCopies(Operation *op) { return isOfAllCopies(op, WarpGroupsOp::getRoleOf(op)); }

/// Scratch of the first copy of the role, which all of them use.
static Value getFirstShared(ThreadContext &context, Operation *op) {
  Value behind =
      arith::MulIOp::create(context, context.role->copy, context.i32(-getRoleScratchStep(op)));
  return getSharedAt(context, getShared(context, op), behind);
}

static void lowerAtomic(ThreadContext &context, Operation *op) {
  AtomicParts parts(op);
  bool isTensor = isa<RankedTensorType>(parts.value.getType());
  Type type = getElementTypeOrSelf(parts.value.getType());
  auto elementsOf = [&](Value value) {
    if (!value)
      return SmallVector<Value>();
    return isTensor ? context.getElements(value) : SmallVector<Value>{context.get(value)};
  };
  SmallVector<Value> values = elementsOf(parts.value), compares = elementsOf(parts.compare),
                     masks = elementsOf(parts.mask), results;
  SmallVector<SmallVector<Value>> indices;
  for (Value given : parts.indices)
    indices.push_back(elementsOf(given));
  LinearLayout layout = isTensor ? getLayout(parts.value) : LinearLayout();
  int64_t repeated = isTensor ? layout.freeVariables().front() : 0;
  Value owner;
  if (isTensor)
    owner = context.isOwner(layout);
  else
    owner = arith::CmpIOp::create(context, arith::CmpIPredicate::eq, context.getThread(),
                                  context.i32(0));
  bool isOfCopies = isOfAllCopies(op);
  if (isOfCopies)
    owner = context.both(owner, arith::CmpIOp::create(context, arith::CmpIPredicate::eq,
                                                      context.role->copy, context.i32(0)));
  Value zero = arith::ConstantOp::create(context, context.getZeroAttr(type));

  for (int64_t reg = 0; reg < int64_t(values.size()); ++reg) {
    Value value = values[reg];
    if (reg & repeated) {
      results.push_back(zero);
      continue;
    }
    SmallVector<Value> at;
    for (const SmallVector<Value> &column : indices)
      at.push_back(column[reg]);
    ViewElement element = getElement(context, parts.view, at);
    Value guard = context.both(element.inBounds, owner);
    if (parts.mask)
      guard = context.both(guard, masks[reg]);
    Value compare = parts.compare ? compares[reg] : Value();
    auto emit = [&] {
      return emitAtomic(context, op, getElementAddress(context, parts.view, element.at), compare,
                        value);
    };
    if (!guard) {
      results.push_back(emit());
      continue;
    }
    auto branch = scf::IfOp::create(context, TypeRange{type}, guard, /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    OpBuilder::InsertionGuard insertion(context);
    context.setInsertionPointToStart(&branch.getThenRegion().front());
    scf::YieldOp::create(context, emit());
    context.setInsertionPointToStart(&branch.getElseRegion().front());
    scf::YieldOp::create(context, zero);
    results.push_back(branch.getResult(0));
  }

  if (isShared(op)) {
    Value base = isOfCopies ? getFirstShared(context, op) : getShared(context, op);
    SmallVector<int64_t> strides;
    if (isTensor)
      strides = getStrides(layout.getShape());
    ThreadPlace place = context.getPlace(layout);
    context.when(owner, [&] {
      for (auto [reg, result] : llvm::enumerate(results))
        if (!(int64_t(reg) & repeated))
          storeScratch(context, base, getFlatIndex(context, place, reg, strides), result);
    });
    context.barrier();
    if (isTensor)
      results = gatherScratch(context, base, layout, strides, 0, type);
    else
      results = {loadScratch(context, base, context.i32(0), type)};
  }
  if (isTensor)
    context.setElements(op->getResult(0), results);
  else
    context.set(op->getResult(0), results.front());
}

void kiln::populateAtomicPatterns(ThreadPatterns &patterns) {
  // Those that no chip has are loops.
  patterns.add<AtomicRMWOp>(lowerAtomic)
      .needsScratch(getAtomicBytes)
      .emulatedIf([](AtomicRMWOp op, TargetInterface) {
        return op.getKind() == AtomicKind::MinF || op.getKind() == AtomicKind::MaxF;
      });
  patterns.add<AtomicCASOp>(lowerAtomic).needsScratch(getAtomicBytes);
}
