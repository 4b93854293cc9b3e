// RegisterAccess.h: how many registers, and where.
#include "RegisterAccess.h"
#include "ViewAccess.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

int64_t kiln::getAccessWidth(const AccessFacts &facts, std::optional<ArrayRef<int64_t>> extents,
                             const LinearLayout &layout) {
  if (facts.dim < 0)
    return 1;
  int64_t width = std::min(facts.width, layout.getContiguity(kRegister, getDimName(facts.dim)));
  // All of one access lies in the tile, or none.
  while (extents && (*extents)[facts.dim] % width)
    width /= 2;
  return width;
}

RegisterAccess kiln::getRegisterAccess(ThreadContext &context, Value view, ValueRange offsets,
                                       std::optional<ArrayRef<int64_t>> extents,
                                       const AccessFacts &facts, const LinearLayout &layout) {
  auto typed = cast<TypedValue<ViewType>>(view);
  RegisterAccess access{context.views.find(view)->second,
                        context.getPlace(layout),
                        {},
                        typed.getType().getElementType(),
                        getAccessWidth(facts, extents, layout),
                        extents,
                        {},
                        {}};
  for (Value offset : offsets)
    access.offsets.push_back(context.get(offset));
  return access;
}

Value kiln::getRegisterPointer(ThreadContext &context, RegisterAccess &access, int64_t reg) {
  Value sum;
  auto coordinates = access.place.layout.applyTo(kRegister, reg);
  for (auto [dim, stride] : llvm::enumerate(access.view.strides)) {
    Value &term = access.terms[{unsigned(dim), coordinates[dim]}];
    if (!term) {
      Value at = context.getCoordinate(access.place, dim, reg, access.offsets[dim]);
      term = arith::MulIOp::create(context, at, stride);
    }
    sum = sum ? Value(arith::AddIOp::create(context, sum, term)) : term;
  }
  if (!sum)
    return access.view.pointer;
  // The elements of one access fill whole bytes, so the first one begins on one.
  if (unsigned bits = access.elementType.getIntOrFloatBitWidth(); bits < 8)
    sum = arith::ShRSIOp::create(context, arith::MulIOp::create(context, sum, context.index(bits)),
                                 context.index(3));
  sum = arith::IndexCastOp::create(context, context.getI64Type(), sum);
  return LLVM::GEPOp::create(context, access.view.pointer.getType(),
                             getStorageType(access.elementType), access.view.pointer,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(sum)});
}

std::optional<APInt> kiln::getKnownPadding(Value padding, unsigned bits) {
  if (!padding)
    return APInt::getZero(bits);
  APFloat real(0.0f);
  if (matchPattern(padding, m_ConstantFloat(&real)))
    return real.bitcastToAPInt();
  APInt integer;
  if (matchPattern(padding, m_ConstantInt(&integer)))
    return integer;
  return std::nullopt;
}
