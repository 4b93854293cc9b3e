// How scales lie in tensor memory, and how warps write them there.
#include "Tcgen05Scales.h"
#include "Tcgen05.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Target/Common/Threads.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nvptx;

static constexpr int64_t kBytesOfColumn = kColumnBits / 8;

ScalePlace kiln::nvptx::findScale(ArrayRef<int64_t> shape, int64_t row, int64_t block) {
  int64_t columns = llvm::divideCeil(shape[0], kLanesOfWarp);
  return {block / kBytesOfColumn * columns + row / kLanesOfWarp, block % kBytesOfColumn};
}

std::optional<LinearLayout> kiln::nvptx::getTensorScaleLayout(ArrayRef<int64_t> shape,
                                                              unsigned warps) {
  int64_t rows = shape[0], blocks = shape[1];
  if (blocks > 2 && blocks % kBytesOfColumn)
    return std::nullopt;
  LinearLayout::InDim registers{kRegister.str(), {}}, lanes{kLane.str(), {}},
      warpBits{kWarp.str(), {}};
  auto add = [&](int64_t from, int64_t to, unsigned dim) {
    for (int64_t value = from; value < to; value *= 2)
      registers.bases.push_back(dim == 0 ? LinearLayout::Basis{value, 0}
                                         : LinearLayout::Basis{0, value});
  };
  add(1, std::min(blocks, kBytesOfColumn), 1);
  add(kLanesOfWarp, rows, 0);
  add(kBytesOfColumn, blocks, 1);
  for (int64_t lane = 1; lane < kLanesOfWarp; lane *= 2)
    lanes.bases.push_back({lane < rows ? lane : 0, 0});
  warpBits.bases.assign(llvm::Log2_64(warps), LinearLayout::Basis{0, 0});
  std::optional<LinearLayout> layout =
      LinearLayout::create({registers, lanes, warpBits}, getTensorOuts(shape));
  if (!layout)
    return std::nullopt;
  LinearLayout canonical = canonicalise(*layout);
  return canonical.isExact() ? std::optional(canonical) : std::nullopt;
}

void kiln::nvptx::storeScales(OpBuilder &builder, Location loc, ArrayRef<Value> registers,
                              Value address, const LinearLayout &layout) {
  SmallVector<int64_t> shape = layout.getShape();
  int64_t together = std::min(shape[1], kBytesOfColumn);
  Value own = reachOwnLanes(builder, loc, address);
  // Each word with its column; columns of an odd factor come behind others.
  SmallVector<std::pair<int64_t, Value>> words;
  Type byte = builder.getI8Type();
  for (int64_t first = 0; first < int64_t(registers.size()); first += together) {
    LinearLayout::Basis element = layout.applyTo(kRegister, first);
    Value part = makeVector(builder, loc, registers.slice(first, together));
    if (together < kBytesOfColumn) {
      Value few = castVector(builder, loc, part, byte);
      Value zero = LLVM::ConstantOp::create(builder, loc, byte, 0);
      SmallVector<Value> bytes(kBytesOfColumn, zero);
      for (int64_t i = 0; i < together; ++i)
        bytes[i] = elementAt(builder, loc, few, i);
      part = makeVector(builder, loc, bytes);
    }
    Value word = castVector(builder, loc, part, builder.getI32Type());
    words.push_back(
        {findScale(shape, element[0], element[1]).column, elementAt(builder, loc, word, 0)});
  }
  llvm::sort(words, [](auto &one, auto &other) { return one.first < other.first; });
  for (size_t first = 0; first < words.size();) {
    size_t count = llvm::bit_floor(words.size() - first);
    SmallVector<Value> part;
    for (size_t i = first; i < first + count; ++i)
      part.push_back(words[i].second);
    Value value = count == 1 ? part.front() : makeVector(builder, loc, part);
    NVVM::Tcgen05StOp::create(builder, loc, /*unpack=*/false, NVVM::Tcgen05LdStShape::SHAPE_32X32B,
                              getTensorPointer(builder, loc, own, words[first].first), value,
                              /*offset=*/Value());
    first += count;
  }
}
