// Parts of tensors put together and taken apart, bits read as other types, and tables of constants.
// Elements go through shared memory, in row-major order.
#include "ThreadLowering.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

LogicalResult ThreadLowering::lowerRearrangement(Operation *op) {
  Value base = getShared(op);
  barrier();
  if (auto slice = dyn_cast<SliceOp>(op)) {
    SmallVector<int64_t> strides = getStrides(slice.getInput().getType().getShape());
    int64_t start = 0;
    for (auto [offset, stride] : llvm::zip(slice.getOffsets(), strides))
      start += offset * stride;
    scatterScratch(base, slice.getInput(), strides);
    barrier();
    setElements(slice.getResult(), gatherScratch(base, getLayout(slice.getResult()), strides, start,
                                                 slice.getType().getElementType()));
    return success();
  }
  if (auto split = dyn_cast<SplitOp>(op)) {
    scatterScratch(base, split.getInput(), getStrides(split.getInput().getType().getShape()));
    barrier();
    for (auto [side, result] : llvm::enumerate(split.getResults())) {
      SmallVector<int64_t> strides = getStrides(typeOf(result).getShape());
      for (int64_t &stride : strides)
        stride *= 2;
      setElements(result, gatherScratch(base, getLayout(result), strides, side,
                                        typeOf(result).getElementType()));
    }
    return success();
  }
  Value result = op->getResult(0);
  SmallVector<int64_t> strides = getStrides(typeOf(result).getShape());
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    int64_t start = 0;
    for (Value input : concat.getInputs()) {
      scatterScratch(base, input, strides, start);
      start += typeOf(input).getDimSize(concat.getAxis()) * strides[concat.getAxis()];
    }
  } else {
    SmallVector<int64_t> apart(ArrayRef<int64_t>(strides).drop_back());
    for (auto [side, input] : llvm::enumerate(op->getOperands()))
      scatterScratch(base, input, apart, side);
  }
  barrier();
  setElements(result,
              gatherScratch(base, getLayout(result), strides, 0, typeOf(result).getElementType()));
  return success();
}

/// Each element is put together from those that its bits lie in, an element of the input each with
/// a whole number of bytes of its own in memory.
LogicalResult ThreadLowering::lowerBits(BitcastOp op) {
  RankedTensorType from = op.getInput().getType(), to = op.getType();
  int64_t fromBits = from.getElementTypeBitWidth(), toBits = to.getElementTypeBitWidth();
  Value base = getShared(op);
  barrier();
  scatterScratch(base, op.getInput(), getStrides(from.getShape()));
  barrier();
  Type i64 = builder.getI64Type(), raw = builder.getIntegerType(fromBits);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  };
  // Rows that were padded begin at elements of their own.
  bool rowsDiffer = from.getShape().back() * fromBits != to.getShape().back() * toBits;
  LinearLayout layout = getLayout(op.getResult());
  Place place = getPlace(layout);
  SmallVector<int64_t> strides = getStrides(to.getShape());
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); ++reg) {
    Value flat = getFlatIndex(place, reg, strides), row;
    if (rowsDiffer) {
      Value before = arith::DivUIOp::create(builder, loc, flat, constant(to.getShape().back()));
      row = arith::MulIOp::create(builder, loc, before, constant(from.getShape().back()));
      flat = arith::RemUIOp::create(builder, loc, flat, constant(to.getShape().back()));
    }
    Value bit = arith::MulIOp::create(builder, loc, flat, constant(toBits));
    Value first = arith::DivUIOp::create(builder, loc, bit, constant(fromBits));
    if (rowsDiffer)
      first = arith::AddIOp::create(builder, loc, first, row);
    // Where the element begins in the first one that it lies in.
    Value start = arith::RemUIOp::create(builder, loc, bit, constant(fromBits));
    Value bits = arith::ConstantIntOp::create(builder, loc, 0, 64);
    for (int64_t part = 0; part * fromBits < toBits + fromBits - 1; ++part) {
      Value at = arith::AddIOp::create(builder, loc, first, constant(part));
      at = arith::MinUIOp::create(builder, loc, at, constant(from.getNumElements() - 1));
      Value piece = loadScratch(base, at, raw);
      if (fromBits < 64)
        piece = arith::ExtUIOp::create(builder, loc, i64, piece);
      Value shift = arith::SubIOp::create(builder, loc, constant(part * fromBits), start);
      Value left = arith::ExtUIOp::create(builder, loc, i64,
                                          arith::MaxSIOp::create(builder, loc, shift, constant(0)));
      Value right = arith::ExtUIOp::create(
          builder, loc, i64,
          arith::MaxSIOp::create(
              builder, loc, arith::SubIOp::create(builder, loc, constant(0), shift), constant(0)));
      piece = arith::ShRUIOp::create(builder, loc, piece, right);
      piece = arith::ShLIOp::create(builder, loc, piece, left);
      Value within =
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, shift, constant(toBits));
      piece = arith::SelectOp::create(builder, loc, within, piece,
                                      arith::ConstantIntOp::create(builder, loc, 0, 64));
      bits = arith::OrIOp::create(builder, loc, bits, piece);
    }
    Type integer = builder.getIntegerType(toBits);
    if (toBits < 64)
      bits = arith::TruncIOp::create(builder, loc, integer, bits);
    if (to.getElementType() != integer)
      bits = arith::BitcastOp::create(builder, loc, to.getElementType(), bits);
    elements.push_back(bits);
  }
  setElements(op.getResult(), elements);
  return success();
}

/// A constant whose elements differ lies in global memory, in row-major order.
LogicalResult ThreadLowering::lowerTable(arith::ConstantOp op) {
  auto elements = cast<DenseElementsAttr>(op.getValue());
  RankedTensorType type = typeOf(op.getResult());
  Type stored = getSharedType(type.getElementType());
  SmallVector<APInt> bits;
  if (isa<FloatType>(type.getElementType())) {
    for (const APFloat &value : elements.getValues<APFloat>())
      bits.push_back(value.bitcastToAPInt().zext(stored.getIntOrFloatBitWidth()));
  } else {
    for (const APInt &value : elements.getValues<APInt>())
      bits.push_back(value.zext(stored.getIntOrFloatBitWidth()));
  }
  auto module = function->getParentOfType<ModuleOp>();
  std::string name;
  for (unsigned number = 0; name.empty() || module.lookupSymbol(name); ++number)
    name = (function.getName() + "_table" + Twine(number)).str();
  unsigned bytes = getSharedElementBytes(type.getElementType());
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(
        builder, loc, LLVM::LLVMArrayType::get(stored, bits.size()), /*isConstant=*/true,
        LLVM::Linkage::Internal, name,
        DenseElementsAttr::get(RankedTensorType::get({int64_t(bits.size())}, stored), bits),
        /*alignment=*/16, kGlobalSpace);
  }
  Value base = LLVM::AddressOfOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), kGlobalSpace), name);
  LinearLayout layout = getLayout(op.getResult());
  Place place = getPlace(layout);
  SmallVector<int64_t> strides = getStrides(type.getShape());
  SmallVector<Value> values;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); ++reg) {
    Value pointer = LLVM::GEPOp::create(
        builder, loc, base.getType(), stored, base,
        ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(getFlatIndex(place, reg, strides))});
    Value value = LLVM::LoadOp::create(builder, loc, stored, pointer, bytes);
    values.push_back(fromShared(builder, loc, value, type.getElementType()));
  }
  setElements(op.getResult(), values);
  return success();
}
