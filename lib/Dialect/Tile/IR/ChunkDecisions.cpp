// Validity of decisions about tiles that are computed piece by piece.
#include "kiln/Dialect/Tile/IR/ChunkDecisions.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln::tile;

std::optional<Chunks> kiln::tile::getChunks(KernelOp kernel) {
  auto numbers = kernel->getAttrOfType<DenseI64ArrayAttr>(kChunkAttrName);
  return numbers ? std::optional(Chunks{numbers[0], numbers[1]}) : std::nullopt;
}

void kiln::tile::setChunks(KernelOp kernel, Chunks chunks) {
  kernel->setAttr(kChunkAttrName,
                  DenseI64ArrayAttr::get(kernel.getContext(), {chunks.length, chunks.loads}));
}

LogicalResult kiln::tile::verifyChunkDecision(Operation *op, StringRef name, Attribute value) {
  if (name == kKeptAttrName) {
    auto place = dyn_cast<StringAttr>(value);
    if (isa<LoadOp>(op) && place && place == kKeptInShared)
      return success();
    return op->emitError() << "expected '" << name << "' on a load, as \"" << kKeptInShared
                           << "\", got " << value;
  }
  if (name == kRowStartsAttrName) {
    if (isa<KernelOp>(op) && isa<BoolAttr>(value))
      return success();
    return op->emitError() << "expected '" << name << "' on a kernel, as a boolean, got " << value;
  }
  if (isa<KernelOp>(op) && value == BoolAttr::get(op->getContext(), false))
    return success();
  auto numbers = dyn_cast<DenseI64ArrayAttr>(value);
  if (isa<KernelOp>(op) && numbers && numbers.size() == 2 &&
      llvm::all_of(numbers.asArrayRef(),
                   [](int64_t number) { return number >= 1 && llvm::isPowerOf2_64(number); }))
    return success();
  return op->emitError() << "expected '" << name
                         << "' on a kernel, as false or an array of two i64 that are powers of "
                            "two, got "
                         << value;
}
