// Views as arrays: of arguments, of pointers and of other views.
#include "Program.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

Value Program::pointerOf(Value memory) {
  if (Value made = pointers.lookup(memory))
    return made;
  return BaseOp::create(builder, memory.getLoc(), scalar(memory));
}

/// The operands stand for what the type leaves open; an argument is asked.
void Program::defineView(Value old) {
  auto type = cast<tile::ViewType>(old.getType());
  Location loc = old.getLoc();
  Operation *maker = old.getDefiningOp();
  auto from = dyn_cast_or_null<tile::ViewFromPointerOp>(maker);
  auto part = dyn_cast_or_null<tile::SubviewOp>(maker);
  Array array;
  array.element = type.getElementType();
  array.packed = viewBits(type.getElementType()) < 8;
  ValueRange extents, strides;
  if (from) {
    array.base = pointerOf(from.getPointer());
    extents = from.getExtents(), strides = from.getStrides();
  } else if (part) {
    int64_t bits = viewBits(type.getElementType());
    Value at = arith::MulIOp::create(builder, loc, scalar(part.getOffset()),
                                     indexConstant(loc, bits < 8 ? bits : bits / 8));
    if (bits < 8) // which begins on a byte
      at = arith::ShRSIOp::create(builder, loc, at, indexConstant(loc, 3));
    at = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), at);
    Value base = view(part.getView()).base;
    array.base = LLVM::GEPOp::create(builder, loc, base.getType(), builder.getI8Type(), base,
                                     ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(at)});
    extents = part.getExtents(), strides = part.getStrides();
  } else {
    array.base = pointerOf(old);
  }
  auto take = [&](ValueRange &given) {
    Value next = scalar(given.front());
    given = given.drop_front();
    return next;
  };
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      array.extents.push_back(indexConstant(loc, type.getShape()[dim]));
    else if (maker)
      array.extents.push_back(take(extents));
    else
      array.extents.push_back(tile::DimOp::create(builder, loc, scalar(old), dim));
    if (!type.isDynamicStride(dim))
      array.strides.push_back(indexConstant(loc, type.getStrides()[dim]));
    else if (maker)
      array.strides.push_back(take(strides));
    else
      array.strides.push_back(tile::StrideOp::create(builder, loc, scalar(old), dim));
  }
  views[old] = array;
}

/// What makes memory or asks about it.
void Program::lowerMemory(Operation *op) {
  Location loc = op->getLoc();
  Type i64 = builder.getI64Type();
  if (isa<tile::ViewFromPointerOp, tile::SubviewOp>(op)) {
    defineView(op->getResult(0));
  } else if (auto address = dyn_cast<tile::AddressOp>(op)) {
    Value memory = address.getMemory();
    Value base = isa<tile::ViewType>(memory.getType()) ? view(memory).base : pointerOf(memory);
    Value number = LLVM::PtrToIntOp::create(builder, loc, i64, base);
    scalars.map(address.getResult(),
                arith::IndexCastOp::create(builder, loc, builder.getIndexType(), number));
  } else if (auto pointer = dyn_cast<tile::PointerFromAddressOp>(op)) {
    Value number = arith::IndexCastOp::create(builder, loc, i64, scalar(pointer.getAddress()));
    pointers[pointer.getResult()] = LLVM::IntToPtrOp::create(
        builder, loc, LLVM::LLVMPointerType::get(builder.getContext()), number);
  } else if (auto dim = dyn_cast<tile::DimOp>(op)) {
    scalars.map(dim.getResult(), view(dim.getView()).extents[dim.getDim()]);
  } else {
    auto stride = cast<tile::StrideOp>(op);
    scalars.map(stride.getResult(), view(stride.getView()).strides[stride.getDim()]);
  }
}
