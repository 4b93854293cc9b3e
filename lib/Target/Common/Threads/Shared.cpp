// Shared memory: where it is, and how registers go to it and come back.
#include "ThreadLowering.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

unsigned kiln::getSharedElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  return std::max(1u, type.getIntOrFloatBitWidth() / 8);
}

Value ThreadLowering::getShared(Operation *op) {
  auto module = function->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(kSharedSymbol)) {
    // The program's shared memory is one array; how big it is, each target says.
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(builder, loc, LLVM::LLVMArrayType::get(builder.getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External, kSharedSymbol,
                           Attribute(), /*alignment=*/128, kSharedSpace);
  }
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), kSharedSpace);
  Value base = LLVM::AddressOfOp::create(builder, loc, type, kSharedSymbol);
  int32_t offset = op->getAttrOfType<IntegerAttr>(kSharedOffsetAttrName).getInt();
  return LLVM::GEPOp::create(builder, loc, type, builder.getI8Type(), base,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(offset)});
}

/// What shared memory holds for an element: a whole number of bytes.
static Type getSharedType(Type element) {
  if (element.isIndex())
    return IntegerType::get(element.getContext(), 64);
  return IntegerType::get(element.getContext(), 8 * getSharedElementBytes(element));
}

static Value toShared(OpBuilder &builder, Location loc, Value element) {
  Type type = element.getType(), shared = getSharedType(type);
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, shared, element);
  Type raw = builder.getIntegerType(type.getIntOrFloatBitWidth());
  if (type != raw)
    element = arith::BitcastOp::create(builder, loc, raw, element);
  return raw == shared ? element : Value(arith::ExtUIOp::create(builder, loc, shared, element));
}

static Value fromShared(OpBuilder &builder, Location loc, Value element, Type type) {
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, element);
  Type raw = builder.getIntegerType(type.getIntOrFloatBitWidth());
  if (element.getType() != raw)
    element = arith::TruncIOp::create(builder, loc, raw, element);
  return raw == type ? element : Value(arith::BitcastOp::create(builder, loc, type, element));
}

/// Elements that one access of at most 16 bytes can take.
static int64_t getSharedWidth(const LinearLayout &offsets, Type element) {
  return std::min<int64_t>(offsets.getContiguity(kRegister, getDimName(0)),
                           16 / getSharedElementBytes(element));
}

void ThreadLowering::writeShared(Value base, const LinearLayout &offsets,
                                 ArrayRef<Value> elements) {
  Type element = elements.front().getType(), shared = getSharedType(element);
  int64_t width = getSharedWidth(offsets, element);
  Place place = getPlace(offsets);
  for (int64_t reg = 0; reg < int64_t(elements.size()); reg += width) {
    Value at = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                          getCoordinate(place, 0, reg));
    Value pointer = LLVM::GEPOp::create(builder, loc, base.getType(), shared, base,
                                        ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(at)});
    SmallVector<Value> parts;
    for (Value part : elements.slice(reg, width))
      parts.push_back(toShared(builder, loc, part));
    Value value = parts.front();
    if (width > 1)
      value = vector::FromElementsOp::create(builder, loc, VectorType::get({width}, shared), parts);
    LLVM::StoreOp::create(builder, loc, value, pointer, width * getSharedElementBytes(element));
  }
}

SmallVector<Value> ThreadLowering::readShared(Value base, const LinearLayout &offsets,
                                              Type element) {
  Type shared = getSharedType(element);
  int64_t width = getSharedWidth(offsets, element);
  Place place = getPlace(offsets);
  Type type = shared;
  if (width > 1)
    type = VectorType::get({width}, shared);
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < offsets.getInSize(kRegister); reg += width) {
    Value at = arith::IndexCastOp::create(builder, loc, builder.getI32Type(),
                                          getCoordinate(place, 0, reg));
    Value pointer = LLVM::GEPOp::create(builder, loc, base.getType(), shared, base,
                                        ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(at)});
    Value value =
        LLVM::LoadOp::create(builder, loc, type, pointer, width * getSharedElementBytes(element));
    for (int64_t i = 0; i < width; ++i) {
      Value part = value;
      if (width > 1)
        part = vector::ExtractOp::create(builder, loc, value, i);
      elements.push_back(fromShared(builder, loc, part, element));
    }
  }
  return elements;
}

LinearLayout kiln::getBufferOffsets(const LinearLayout &tensor, BufferType buffer) {
  if (auto order = dyn_cast_or_null<LayoutAttr>(buffer.getLayout()))
    if (std::optional<LinearLayout> inverse = order.toLinear(buffer.getShape()).invert())
      return tensor.compose(*inverse).reshapeOuts({ShapedType::getNumElements(buffer.getShape())});
  return tensor.reshapeOuts({ShapedType::getNumElements(buffer.getShape())});
}

LogicalResult ThreadLowering::lowerBuffer(Operation *op) {
  if (auto alloc = dyn_cast<AllocOp>(op)) {
    set(alloc, getShared(op));
    return success();
  }
  if (auto write = dyn_cast<WriteOp>(op)) {
    // The first barrier waits for those who still read what was here before, in this buffer or
    // in another that shares its place.
    barrier();
    writeShared(get(write.getBuffer()),
                getBufferOffsets(getLayout(write.getValue()), write.getBuffer().getType()),
                getElements(write.getValue()));
    barrier();
    return success();
  }
  auto read = cast<ReadOp>(op);
  BufferType type = read.getBuffer().getType();
  setElements(read.getResult(),
              readShared(get(read.getBuffer()), getBufferOffsets(getLayout(read.getResult()), type),
                         type.getElementType()));
  return success();
}
