// Elements of views at computed indices, and atomics on them. Gather.cpp has the rest.
#include "ThreadLowering.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// In bounds no sum leaves 32 bits, and what is out of bounds is not looked at.
ThreadLowering::Element ThreadLowering::getNearElement(Value view, ArrayRef<Value> indices) {
  const View &parts = views.find(view)->second;
  Type narrow = builder.getI32Type();
  auto castTo = [&](Type type, Value value) -> Value {
    if (value.getType() == type)
      return value;
    if (value.getType().isIndex() || type.isIndex())
      return arith::IndexCastOp::create(builder, loc, type, value);
    if (value.getType().getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
      return arith::TruncIOp::create(builder, loc, type, value);
    return arith::ExtSIOp::create(builder, loc, type, value);
  };
  Element element{i32(0), {}};
  for (auto [dim, given] : llvm::enumerate(indices)) {
    // An index of more bits is compared with all of them.
    bool isNarrow = given.getType().isInteger() && given.getType().getIntOrFloatBitWidth() <= 32;
    Type whole = isNarrow ? narrow : Type(builder.getIndexType());
    Value inBounds = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                           castTo(whole, given), castTo(whole, parts.extents[dim]));
    element.inBounds = both(element.inBounds, inBounds);
    Value term = arith::MulIOp::create(builder, loc, castTo(narrow, given),
                                       castTo(narrow, parts.strides[dim]));
    element.at = arith::AddIOp::create(builder, loc, element.at, term);
  }
  element.at = castTo(builder.getIndexType(), element.at);
  return element;
}

ThreadLowering::Element ThreadLowering::getElement(Value view, ArrayRef<Value> indices) {
  FactsAttr facts = getViewFacts(view);
  if (facts && facts.getIndex32() && !sharesByte(cast<ViewType>(view.getType()).getElementType()))
    return getNearElement(view, indices);
  const View &parts = views.find(view)->second;
  Element element{index(0), {}};
  for (auto [dim, given] : llvm::enumerate(indices)) {
    Value at = given;
    if (!at.getType().isIndex())
      at = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), at);
    element.at = arith::AddIOp::create(builder, loc, element.at,
                                       arith::MulIOp::create(builder, loc, at, parts.strides[dim]));
    // Unsigned, so that what lies below zero is outside as well.
    element.inBounds =
        both(element.inBounds, arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at,
                                                     parts.extents[dim]));
  }
  return element;
}

/// Where an element of whole bytes is.
Value ThreadLowering::getElementAddress(Value view, Value at) {
  Value pointer = views.find(view)->second.pointer;
  Type element = cast<ViewType>(view.getType()).getElementType();
  at = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), at);
  return LLVM::GEPOp::create(builder, loc, pointer.getType(),
                             builder.getIntegerType(element.getIntOrFloatBitWidth()), pointer,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(at)});
}

/// Outside of the view sixteen zero bytes are read instead; a null padding is zero.
Value ThreadLowering::loadElement(Value view, Element element, Value padding, bool streaming) {
  Type type = cast<ViewType>(view.getType()).getElementType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type raw = builder.getIntegerType(bits);
  Value zeros = element.inBounds ? getSixteenBytes(APInt::getZero(8)) : Value();
  auto load = [&](Value pointer, Type stored) -> Value {
    if (zeros)
      pointer = arith::SelectOp::create(builder, loc, element.inBounds, pointer, zeros);
    return LLVM::LoadOp::create(builder, loc, stored, pointer, stored.getIntOrFloatBitWidth() / 8,
                                /*isVolatile=*/false, streaming);
  };
  Value value;
  if (!sharesByte(type)) {
    value = load(getElementAddress(view, element.at), raw);
  } else {
    // Low bits first; elements of six bits may begin in one byte and end in the next.
    Value pointer = views.find(view)->second.pointer;
    Type i8 = builder.getI8Type(), i32Type = builder.getI32Type();
    auto byteAt = [&](Value bit) -> Value {
      Value byte = arith::ShRUIOp::create(builder, loc, bit, index(3));
      byte = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), byte);
      Value at = LLVM::GEPOp::create(builder, loc, pointer.getType(), i8, pointer,
                                     ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(byte)});
      return arith::ExtUIOp::create(builder, loc, i32Type, load(at, i8));
    };
    Value first = arith::MulIOp::create(builder, loc, element.at, index(bits));
    Value word = byteAt(first);
    if (8 % bits) {
      Value next = byteAt(arith::AddIOp::create(builder, loc, first, index(bits - 1)));
      word = arith::OrIOp::create(builder, loc, word,
                                  arith::ShLIOp::create(builder, loc, next, i32(8)));
    }
    Value shift = arith::IndexCastOp::create(builder, loc, i32Type,
                                             arith::AndIOp::create(builder, loc, first, index(7)));
    word = arith::ShRUIOp::create(builder, loc, word, shift);
    value = arith::TruncIOp::create(builder, loc, raw, word);
  }
  if (type != raw)
    value = arith::BitcastOp::create(builder, loc, type, value);
  if (padding && element.inBounds)
    value = arith::SelectOp::create(builder, loc, element.inBounds, value, padding);
  return value;
}

//===- Atomics ------------------------------------------------------------------------------===//

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
Value ThreadLowering::emitAtomic(Operation *op, Value pointer, Value compare, Value value) {
  Type type = value.getType(), raw = builder.getIntegerType(type.getIntOrFloatBitWidth());
  unsigned bytes = type.getIntOrFloatBitWidth() / 8;
  auto castTo = [&](Value bits, Type to) -> Value {
    return bits.getType() == to ? bits : Value(arith::BitcastOp::create(builder, loc, to, bits));
  };
  if (auto update = dyn_cast<AtomicRMWOp>(op)) {
    bool swaps = update.getKind() == AtomicKind::Exch;
    if (swaps)
      value = castTo(value, raw);
    Value old = LLVM::AtomicRMWOp::create(
        builder, loc, getBinOp(update.getKind(), isa<FloatType>(type)), pointer, value,
        getOrdering(update.getOrder()), kScopeNames[unsigned(update.getScope())], bytes);
    return castTo(old, type);
  }
  auto exchange = cast<AtomicCASOp>(op);
  LLVM::AtomicOrdering order = getOrdering(exchange.getOrder());
  bool acquires = order == LLVM::AtomicOrdering::acquire || order == LLVM::AtomicOrdering::acq_rel;
  Value both = LLVM::AtomicCmpXchgOp::create(
      builder, loc, pointer, castTo(compare, raw), castTo(value, raw), order,
      acquires ? LLVM::AtomicOrdering::acquire : LLVM::AtomicOrdering::monotonic,
      kScopeNames[unsigned(exchange.getScope())], bytes);
  return castTo(LLVM::ExtractValueOp::create(builder, loc, both, 0), type);
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

int64_t kiln::getAtomicBytes(Operation *op) {
  if (!isShared(op))
    return 0;
  Type type = op->getResult(0).getType();
  auto tensor = dyn_cast<RankedTensorType>(type);
  return (tensor ? tensor.getNumElements() : 1) *
         int64_t(getSharedElementBytes(getElementTypeOrSelf(type)));
}

LogicalResult ThreadLowering::lowerAtomic(Operation *op) {
  AtomicParts parts(op);
  bool isTensor = isa<RankedTensorType>(parts.value.getType());
  Type type = getElementTypeOrSelf(parts.value.getType());
  auto elementsOf = [&](Value value) {
    if (!value)
      return SmallVector<Value>();
    return isTensor ? getElements(value) : SmallVector<Value>{get(value)};
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
    owner = isOwner(layout);
  else
    owner = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, getThread(), i32(0));
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));

  for (int64_t reg = 0; reg < int64_t(values.size()); ++reg) {
    Value value = values[reg];
    if (reg & repeated) {
      results.push_back(zero);
      continue;
    }
    SmallVector<Value> at;
    for (const SmallVector<Value> &column : indices)
      at.push_back(column[reg]);
    Element element = getElement(parts.view, at);
    Value guard = both(element.inBounds, owner);
    if (parts.mask)
      guard = both(guard, masks[reg]);
    Value compare = parts.compare ? compares[reg] : Value();
    auto emit = [&] {
      return emitAtomic(op, getElementAddress(parts.view, element.at), compare, value);
    };
    if (!guard) {
      results.push_back(emit());
      continue;
    }
    auto branch = scf::IfOp::create(builder, loc, TypeRange{type}, guard, /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(&branch.getThenRegion().front());
    scf::YieldOp::create(builder, loc, emit());
    builder.setInsertionPointToStart(&branch.getElseRegion().front());
    scf::YieldOp::create(builder, loc, zero);
    results.push_back(branch.getResult(0));
  }

  if (isShared(op)) {
    Value base = getShared(op);
    barrier();
    SmallVector<int64_t> strides;
    if (isTensor)
      strides = getStrides(layout.getShape());
    Place place = getPlace(layout);
    when(owner, [&] {
      for (auto [reg, result] : llvm::enumerate(results))
        if (!(int64_t(reg) & repeated))
          storeScratch(base, getFlatIndex(place, reg, strides), result);
    });
    barrier();
    if (isTensor)
      results = gatherScratch(base, layout, strides, 0, type);
    else
      results = {loadScratch(base, i32(0), type)};
  }
  if (isTensor)
    setElements(op->getResult(0), results);
  else
    set(op->getResult(0), results.front());
  return success();
}
