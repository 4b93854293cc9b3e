// Loads that go to LDS directly. What waves need to run rings of them is in Synchronisation.cpp.
#include "Chips.h"
#include "kiln/Target/Common/AtomCosts.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::amdgcn;
using tile::Completion;
using tile::Place;

LogicalResult LoadToLDSAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef chip,
                                    unsigned bytes) {
  unsigned most = getRecord(chip).bytesToLDS;
  if ((bytes == 4 || bytes == 16) && bytes <= most)
    return success();
  auto diagnostic = emitError() << "expected a load to LDS of 4 bytes a lane (or 16 on ";
  auto wide = llvm::make_filter_range(
      getChips(), [](const Chip *known) { return getRecord(known->name).bytesToLDS == 16; });
  llvm::interleaveComma(wide, diagnostic, [&](const Chip *known) { diagnostic << known->name; });
  return diagnostic << ") on a chip of CDNA, got " << bytes << " on " << chip;
}

bool LoadToLDSAttr::canCopy(Place from, Place to) const {
  return from == Place::Global && to == Place::Shared;
}

Completion LoadToLDSAttr::getCompletion() const { return Completion::Instructions; }

/// Lines that are used once can be marked, and no others.
bool LoadToLDSAttr::follows(std::optional<tile::Cache> cache,
                            std::optional<tile::Eviction> eviction) const {
  if (cache == tile::Cache::Streaming)
    return eviction.value_or(tile::Eviction::First) == tile::Eviction::First;
  return cache.value_or(tile::Cache::All) == tile::Cache::All && eviction != tile::Eviction::Last;
}

unsigned LoadToLDSAttr::getGranularity() const { return getBytes(); }

bool LoadToLDSAttr::admits(ArrayRef<int64_t>, Type element, const LinearLayout &layout) const {
  return areRowsOfPieces(getBytes(), element, layout);
}

int64_t LoadToLDSAttr::getIssueCycles(const Chip &chip) const {
  return countWriteCycles(chip, getBytes());
}

std::optional<int64_t> LoadToLDSAttr::getLatency(const Chip &chip) const {
  return getCopyLatency(chip, chip.figures.asyncLatency);
}

bool LoadToLDSAttr::namesLanePlaces() const { return false; }

bool LoadToLDSAttr::fillsInPart() const { return false; }

bool LoadToLDSAttr::countsIn32Bits() const { return true; }

void LoadToLDSAttr::copy(OpBuilder &builder, Location loc, const DirectCopy &copy) const {
  auto constant = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value);
  };
  constexpr int64_t kOnce = 2;
  ROCDL::RawPtrBufferLoadLdsOp::create(
      builder, loc, copy.buffer, copy.shared, constant(getBytes()), copy.offset, copy.uniform,
      constant(0), constant(copy.isStreaming ? kOnce : 0), copy.scopes, copy.others,
      /*tbaa=*/ArrayAttr());
}
