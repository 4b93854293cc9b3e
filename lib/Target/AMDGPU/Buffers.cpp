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

/// The bits that tell caches what to expect.
static Value getCacheBits(OpBuilder &builder, Location loc, StringRef chip, CacheHints hints,
                          bool isLoad) {
  const ChipRecord &record = getRecord(chip);
  int64_t bits = hints.isStreaming() ? record.usedOnce : 0;
  if (hints.cache == tile::Cache::Global)
    bits |= isLoad ? record.pastCore : record.writesPastCore;
  if (hints.cache == tile::Cache::Bypass)
    bits |= record.pastDevice;
  return constant(builder, loc, builder.getI32Type(), bits);
}

Value TargetAttr::loadFromBuffer(OpBuilder &builder, Location loc, Type type, Value buffer,
                                 Value offset, Value uniform, CacheHints hints) const {
  return ROCDL::RawPtrBufferLoadOp::create(
      builder, loc, type, buffer, offset, uniform,
      getCacheBits(builder, loc, getChip(), hints, /*isLoad=*/true),
      /*alias_scopes=*/ArrayAttr(),
      /*noalias_scopes=*/ArrayAttr(), /*tbaa=*/ArrayAttr());
}

void TargetAttr::storeToBuffer(OpBuilder &builder, Location loc, Value value, Value buffer,
                               Value offset, Value uniform, CacheHints hints) const {
  ROCDL::RawPtrBufferStoreOp::create(builder, loc, value, buffer, offset, uniform,
                                     getCacheBits(builder, loc, getChip(), hints, /*isLoad=*/false),
                                     /*alias_scopes=*/ArrayAttr(),
                                     /*noalias_scopes=*/ArrayAttr(), /*tbaa=*/ArrayAttr());
}
