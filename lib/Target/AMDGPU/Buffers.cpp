// Global memory through buffer descriptors, whose size the hardware holds accesses to.
#include "Chips.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::amdgcn;

/// The address space of descriptors.
static constexpr unsigned kBufferSpace = 8;

static Value constant(OpBuilder &builder, Location loc, Type type, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, type, builder.getIntegerAttr(type, value));
}

Value TargetAttr::makeBuffer(OpBuilder &builder, Location loc, Value pointer, Value bytes) const {
  int64_t flags = getRecord(getChip()).bufferFlags;
  auto type = LLVM::LLVMPointerType::get(builder.getContext(), kBufferSpace);
  return ROCDL::MakeBufferRsrcOp::create(builder, loc, type, pointer,
                                         constant(builder, loc, builder.getI16Type(), 0), bytes,
                                         constant(builder, loc, builder.getI32Type(), flags));
}

/// The bits that tell caches what to expect: that data is used once.
static Value getCacheBits(OpBuilder &builder, Location loc, StringRef chip, bool isStreaming) {
  int64_t bits = isStreaming ? getRecord(chip).usedOnce : 0;
  return constant(builder, loc, builder.getI32Type(), bits);
}

Value TargetAttr::loadFromBuffer(OpBuilder &builder, Location loc, Type type, Value buffer,
                                 Value offset, Value uniform, bool isStreaming) const {
  return ROCDL::RawPtrBufferLoadOp::create(builder, loc, type, buffer, offset, uniform,
                                           getCacheBits(builder, loc, getChip(), isStreaming),
                                           /*alias_scopes=*/ArrayAttr(),
                                           /*noalias_scopes=*/ArrayAttr(), /*tbaa=*/ArrayAttr());
}

void TargetAttr::storeToBuffer(OpBuilder &builder, Location loc, Value value, Value buffer,
                               Value offset, Value uniform, bool isStreaming) const {
  ROCDL::RawPtrBufferStoreOp::create(builder, loc, value, buffer, offset, uniform,
                                     getCacheBits(builder, loc, getChip(), isStreaming),
                                     /*alias_scopes=*/ArrayAttr(),
                                     /*noalias_scopes=*/ArrayAttr(), /*tbaa=*/ArrayAttr());
}
