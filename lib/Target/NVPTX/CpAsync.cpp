// cp.async, and what warps need to run rings of it: groups to wait for, and a barrier.
//
// A group is what a thread has started since it ended the one before; groups end in their order. So
// a thread waits for its own copies, and a barrier tells the others. LLVM takes what ends and
// awaits groups for accesses to all memory, and so does the barrier: no read moves in front of
// either.
#include "kiln/Target/Common/AtomCosts.h"
#include "kiln/Target/NVPTX/NVPTX.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nvptx;
using tile::Completion;
using tile::Place;

//===- The copy -----------------------------------------------------------------------------===//

LogicalResult CpAsyncAttr::verify(function_ref<InFlightDiagnostic()> emitError, unsigned bytes) {
  if (bytes == 4 || bytes == 8 || bytes == 16)
    return success();
  return emitError() << "expected 4, 8 or 16 bytes a lane, got " << bytes;
}

bool CpAsyncAttr::canCopy(Place from, Place to) const {
  return from == Place::Global && to == Place::Shared;
}

Completion CpAsyncAttr::getCompletion() const { return Completion::Groups; }

/// 16 bytes may pass by the first cache; fewer cannot.
bool CpAsyncAttr::follows(std::optional<tile::Cache> cache,
                          std::optional<tile::Eviction> eviction) const {
  bool isCached = !cache || cache == tile::Cache::All;
  bool passesBy = cache == tile::Cache::Global && getBytes() == 16;
  return (isCached || passesBy) &&
         eviction.value_or(tile::Eviction::Normal) == tile::Eviction::Normal;
}

unsigned CpAsyncAttr::getGranularity() const { return getBytes(); }

bool CpAsyncAttr::admits(ArrayRef<int64_t>, Type element, const LinearLayout &layout) const {
  return areRowsOfPieces(getBytes(), element, layout);
}

int64_t CpAsyncAttr::getIssueCycles(const Chip &chip) const {
  return countWriteCycles(chip, getBytes());
}

std::optional<int64_t> CpAsyncAttr::getLatency(const Chip &chip) const {
  return getCopyLatency(chip, chip.figures.asyncLatency);
}

bool CpAsyncAttr::namesLanePlaces() const { return true; }

bool CpAsyncAttr::fillsInPart() const { return true; }

bool CpAsyncAttr::countsIn32Bits() const { return false; }

void CpAsyncAttr::copy(OpBuilder &builder, Location loc, const DirectCopy &copy) const {
  bool passesBy = getBytes() == 16 && !copy.isKeptNear;
  NVVM::CpAsyncOp::create(
      builder, loc, copy.shared, copy.pointer, getBytes(),
      passesBy ? NVVM::LoadCacheModifierKind::CG : NVVM::LoadCacheModifierKind::CA, copy.bytes);
}
