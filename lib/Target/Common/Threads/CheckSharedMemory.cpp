// Holds the places in shared memory that IR handed back says against one another and the chip.
#include "ThreadPlans.h"
#include "kiln/Target/Common/SharedPieces.h"

namespace kiln {
#define GEN_PASS_DEF_CHECKSHAREDMEMORY
#include "kiln/Target/Common/ThreadPasses.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Reads where a piece is said to be.
static LogicalResult readPlace(Operation *op, schedule::SharedPiece &piece, int64_t total) {
  auto place = op->getAttrOfType<IntegerAttr>(kSharedOffsetAttrName);
  if (!place)
    return op->emitOpError("expected '") << kSharedOffsetAttrName << "' for " << piece.name;
  if (place.getInt() < 0 || place.getInt() % piece.alignment)
    return op->emitOpError("expected '")
           << kSharedOffsetAttrName << "' to be a multiple of " << piece.alignment << " for "
           << piece.name << ", got " << place.getInt();
  piece.offset = place.getInt();
  if (piece.bytes <= total && piece.offset <= total - piece.bytes)
    return success();
  return op->emitOpError("expected ")
         << piece.name << ", of " << piece.bytes << " bytes, to end within '"
         << kSharedBytesAttrName << "', " << total << ", got a place at " << piece.offset;
}

static LogicalResult check(KernelOp kernel, TargetInterface target) {
  auto said = kernel->getAttrOfType<IntegerAttr>(kSharedBytesAttrName);
  int64_t total = said ? said.getInt() : 0, limit = target.getChipRecord().sharedBytes;
  if (total < 0 || total > limit)
    return kernel.emitOpError("expected '") << kSharedBytesAttrName << "' of 0 to " << limit
                                            << " on " << target.getSpelling() << ", got " << total;
  SharedPieces found = findSharedPieces(kernel);
  for (auto [index, piece] : llvm::enumerate(found.pieces)) {
    if (failed(readPlace(found.ops[index], piece, total)))
      return failure();
    for (unsigned before = 0; before < index; ++before) {
      const schedule::SharedPiece &other = found.pieces[before];
      bool isApart = piece.mayLieOn(other) || piece.offset >= other.offset + other.bytes ||
                     other.offset >= piece.offset + piece.bytes;
      if (isApart)
        continue;
      InFlightDiagnostic error = found.ops[index]->emitOpError("expected ")
                                 << piece.name << ", of " << piece.bytes << " bytes at "
                                 << piece.offset << ", apart from what is in use with it";
      error.attachNote(found.ops[before]->getLoc())
          << other.name << ", of " << other.bytes << " bytes at " << other.offset;
      return error;
    }
  }
  return success();
}

namespace {
struct CheckSharedMemory : kiln::impl::CheckSharedMemoryBase<CheckSharedMemory> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (failed(check(kernel, *target)))
        return signalPassFailure();
  }
};
} // namespace
