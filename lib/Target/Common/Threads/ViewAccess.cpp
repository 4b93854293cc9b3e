// ViewAccess.h: addresses, bounds and what is read outside of them.
#include "ViewAccess.h"
#include "kiln/Layout/Transforms/AccessFacts.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

Type kiln::getStorageType(Type element) {
  if (element.getIntOrFloatBitWidth() < 8 ||
      (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8))
    return IntegerType::get(element.getContext(), 8);
  return element;
}

Value kiln::castBits(ThreadContext &context, Value value, Type element) {
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(element);
  if (type == value.getType())
    return value;
  return arith::BitcastOp::create(context, type, value);
}

Value kiln::getSixteenBytes(ThreadContext &context, const APInt &element) {
  auto module = context.function->getParentOfType<ModuleOp>();
  unsigned bytes = std::max(1u, element.getBitWidth() / 8);
  SmallVector<uint8_t> pattern;
  for (unsigned i = 0; i < 16; ++i)
    pattern.push_back(
        element.extractBitsAsZExtValue(std::min(8u, element.getBitWidth()), i % bytes * 8));
  std::string name = "kiln_zeros";
  if (!element.isZero())
    name = "kiln_padding_" + llvm::toHex(ArrayRef(pattern).take_front(bytes), /*LowerCase=*/true);
  auto type = LLVM::LLVMArrayType::get(context.getI8Type(), 16);
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(context);
    context.setInsertionPointToStart(module.getBody());
    auto tensor = RankedTensorType::get({16}, context.getI8Type());
    LLVM::GlobalOp::create(
        context, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
        DenseElementsAttr::getFromRawBuffer(
            tensor, ArrayRef(reinterpret_cast<const char *>(pattern.data()), pattern.size())),
        /*alignment=*/16, kGlobalSpace);
  }
  return LLVM::AddressOfOp::create(
      context, LLVM::LLVMPointerType::get(context.getContext(), kGlobalSpace), name);
}

/// In bounds no sum leaves 32 bits, and what is out of bounds is not looked at.
static ViewElement getNearElement(ThreadContext &context, Value view, ArrayRef<Value> indices) {
  const ThreadView &parts = context.views.find(view)->second;
  Type narrow = context.getI32Type();
  auto castTo = [&](Type type, Value value) -> Value {
    if (value.getType() == type)
      return value;
    if (value.getType().isIndex() || type.isIndex())
      return arith::IndexCastOp::create(context, type, value);
    if (value.getType().getIntOrFloatBitWidth() > type.getIntOrFloatBitWidth())
      return arith::TruncIOp::create(context, type, value);
    return arith::ExtSIOp::create(context, type, value);
  };
  ViewElement element{context.i32(0), {}};
  for (auto [dim, given] : llvm::enumerate(indices)) {
    // An index of more bits is compared with all of them.
    bool isNarrow = given.getType().isInteger() && given.getType().getIntOrFloatBitWidth() <= 32;
    Type whole = isNarrow ? narrow : Type(context.getIndexType());
    Value inBounds = arith::CmpIOp::create(context, arith::CmpIPredicate::ult, castTo(whole, given),
                                           castTo(whole, parts.extents[dim]));
    element.inBounds = context.both(element.inBounds, inBounds);
    Value term =
        arith::MulIOp::create(context, castTo(narrow, given), castTo(narrow, parts.strides[dim]));
    element.at = arith::AddIOp::create(context, element.at, term);
  }
  element.at = castTo(context.getIndexType(), element.at);
  return element;
}

ViewElement kiln::getElement(ThreadContext &context, Value view, ArrayRef<Value> indices) {
  FactsAttr facts = getViewFacts(view);
  if (facts && facts.getIndex32() && !sharesByte(cast<ViewType>(view.getType()).getElementType()))
    return getNearElement(context, view, indices);
  const ThreadView &parts = context.views.find(view)->second;
  ViewElement element{context.index(0), {}};
  for (auto [dim, given] : llvm::enumerate(indices)) {
    Value at = given;
    if (!at.getType().isIndex())
      at = arith::IndexCastOp::create(context, context.getIndexType(), at);
    element.at = arith::AddIOp::create(context, element.at,
                                       arith::MulIOp::create(context, at, parts.strides[dim]));
    // Unsigned, so that what lies below zero is outside as well.
    element.inBounds =
        context.both(element.inBounds, arith::CmpIOp::create(context, arith::CmpIPredicate::ult, at,
                                                             parts.extents[dim]));
  }
  return element;
}

Value kiln::getElementAddress(ThreadContext &context, Value view, Value at) {
  Value pointer = context.views.find(view)->second.pointer;
  Type element = cast<ViewType>(view.getType()).getElementType();
  at = arith::IndexCastOp::create(context, context.getI64Type(), at);
  return LLVM::GEPOp::create(context, pointer.getType(),
                             context.getIntegerType(element.getIntOrFloatBitWidth()), pointer,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(at)});
}

Value kiln::loadElement(ThreadContext &context, Value view, ViewElement element, Value padding,
                        CacheHints hints) {
  Type type = cast<ViewType>(view.getType()).getElementType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type raw = context.getIntegerType(bits);
  Value zeros = element.inBounds ? getSixteenBytes(context, APInt::getZero(8)) : Value();
  auto load = [&](Value pointer, Type stored) -> Value {
    if (zeros)
      pointer = arith::SelectOp::create(context, element.inBounds, pointer, zeros);
    return loadGlobal(context, context.getLoc(), stored, pointer,
                      stored.getIntOrFloatBitWidth() / 8, hints);
  };
  Value value;
  if (!sharesByte(type)) {
    value = load(getElementAddress(context, view, element.at), raw);
  } else {
    // Low bits first; elements of six bits may begin in one byte and end in the next.
    Value pointer = context.views.find(view)->second.pointer;
    Type i8 = context.getI8Type(), i32Type = context.getI32Type();
    auto byteAt = [&](Value bit) -> Value {
      Value byte = arith::ShRUIOp::create(context, bit, context.index(3));
      byte = arith::IndexCastOp::create(context, context.getI64Type(), byte);
      Value at = LLVM::GEPOp::create(context, pointer.getType(), i8, pointer,
                                     ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(byte)});
      return arith::ExtUIOp::create(context, i32Type, load(at, i8));
    };
    Value first = arith::MulIOp::create(context, element.at, context.index(bits));
    Value word = byteAt(first);
    if (8 % bits) {
      Value next = byteAt(arith::AddIOp::create(context, first, context.index(bits - 1)));
      word =
          arith::OrIOp::create(context, word, arith::ShLIOp::create(context, next, context.i32(8)));
    }
    Value shift = arith::IndexCastOp::create(
        context, i32Type, arith::AndIOp::create(context, first, context.index(7)));
    word = arith::ShRUIOp::create(context, word, shift);
    value = arith::TruncIOp::create(context, raw, word);
  }
  if (type != raw)
    value = arith::BitcastOp::create(context, type, value);
  if (padding && element.inBounds)
    value = arith::SelectOp::create(context, element.inBounds, value, padding);
  return value;
}
