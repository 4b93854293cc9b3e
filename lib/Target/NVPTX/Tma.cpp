// The tensor copy engine: the boxes that it moves and how a copy is started.
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "kiln/Target/Common/AtomCosts.h"
#include "kiln/Target/NVPTX/NVPTX.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nvptx;
using tile::Cache;
using tile::Completion;
using tile::Eviction;
using tile::Place;
using tile::Unit;

static constexpr int64_t kMostExtent = 256, kMostRank = 5, kLeastBytes = 16;
/// Of a box in shared memory whose rows are not permuted, in bytes.
static constexpr int64_t kLeastAlignment = 128;

bool TmaAttr::canCopy(Place from, Place to) const {
  return (from == Place::Global && to == Place::Shared) ||
         (from == Place::Shared && to == Place::Global);
}

/// Of what it brings; what it takes away is waited for by groups.
Completion TmaAttr::getCompletion() const { return Completion::CountedBytes; }

unsigned TmaAttr::getGranularity() const { return kLeastBytes; }

bool TmaAttr::admits(ArrayRef<int64_t> shape, Type element, const LinearLayout &layout) const {
  return getBoxes(shape, element, &layout).has_value();
}

Unit TmaAttr::getUnit() const { return Unit::Engine; }

std::optional<int64_t> TmaAttr::getLatency(const Chip &chip) const {
  return getCopyLatency(chip, chip.figures.engineLatency);
}

/// It goes through the second cache alone.
bool TmaAttr::follows(std::optional<Cache> cache, std::optional<Eviction> eviction) const {
  if (cache == Cache::Streaming)
    return eviction.value_or(Eviction::First) == Eviction::First;
  return !cache || cache == Cache::Global;
}

/// The second cache's policy, as CUTLASS names them (`TMA::CacheHintSm90`); null for the usual one.
static Value getPolicy(OpBuilder &builder, Location loc, Eviction eviction) {
  if (eviction == Eviction::Normal)
    return {};
  int64_t policy = eviction == Eviction::First ? 0x12F0000000000000 : 0x14F0000000000000;
  return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), policy);
}

/// Rows of so many bytes are permuted; 0: rows are of any length, and none is.
static constexpr int64_t kSpans[] = {128, 64, 32, 0};

/// The tallest box of such rows that a layout is made of; the bits behind it, as far as they count,
/// say where each box is.
static bool findBox(ArrayRef<int64_t> shape, int64_t bits, int64_t span, const LinearLayout &layout,
                    CopyBoxes &boxes) {
  if (shape.size() != 2)
    return false;
  ArrayRef<LinearLayout::Basis> bases = layout.getBases(kOffset);
  int64_t columns = span ? span * 8 / bits : 1;
  for (const LinearLayout::Basis &basis : bases) {
    if (span || basis[0] || basis[1] != columns)
      break;
    columns *= 2;
  }
  // All rows, or as many as a power of two has of them.
  SmallVector<int64_t> heights = {shape[0]};
  for (int64_t rows = getPowerOf2Factor(shape[0]); rows >= 8; rows /= 2)
    heights.push_back(rows);
  for (int64_t rows : heights) {
    if (rows > kMostExtent || rows < 8)
      continue;
    std::optional<LinearLayout> box =
        span ? getSwizzledLayout({rows, columns}, bits, span) : getRowMajorLayout({rows, columns});
    size_t inBox = box ? box->getInBits(kOffset) : 0;
    if (!box || bases.size() < inBox || bases.take_front(inBox) != box->getBases(kOffset))
      continue;
    SmallVector<SmallVector<int64_t>> places = {{0, 0}};
    for (const LinearLayout::Basis &basis : bases.drop_front(inBox)) {
      if (basis[0] % rows || basis[1] % columns)
        return false;
      for (size_t i = 0, count = places.size(); i < count; ++i)
        places.push_back({places[i][0] + basis[0], places[i][1] + basis[1]});
    }
    places.resize(layout.getInSize(kOffset) / (rows * columns));
    boxes.box = {rows, columns};
    boxes.swizzle = span;
    boxes.alignment = std::max(8 * span, kLeastAlignment);
    boxes.places = std::move(places);
    return true;
  }
  return false;
}

std::optional<CopyBoxes> TmaAttr::getBoxes(ArrayRef<int64_t> shape, Type element,
                                           const LinearLayout *layout) const {
  if (shape.empty() || int64_t(shape.size()) > kMostRank || !element.isIntOrFloat() ||
      element.getIntOrFloatBitWidth() % 8)
    return std::nullopt;
  if (layout && !layout->isExact())
    return std::nullopt;
  int64_t bits = element.getIntOrFloatBitWidth();
  CopyBoxes boxes{
      SmallVector<int64_t>(shape), 0, kLeastAlignment, {SmallVector<int64_t>(shape.size(), 0)}};
  bool isRowMajor = !layout || *layout == getRowMajorLayout(shape);
  auto isMadeOf = [&](int64_t span) { return findBox(shape, bits, span, *layout, boxes); };
  if (!isRowMajor && llvm::none_of(kSpans, isMadeOf))
    return std::nullopt;
  for (int64_t extent : boxes.box)
    if (extent > kMostExtent)
      return std::nullopt;
  if (boxes.box.back() * bits / 8 % kLeastBytes)
    return std::nullopt;
  return boxes;
}

/// The engine drops what it reads or writes outside by the element along all dimensions but one:
/// along the last it writes whole pieces of 16 bytes.
std::optional<std::string> TmaAttr::whyUnfit(tile::ViewType view, tile::FactsAttr facts,
                                             bool isWritten) const {
  unsigned last = view.getRank() - 1;
  int64_t bytes = view.getElementType().getIntOrFloatBitWidth() / 8;
  if (view.getRank() > kMostRank)
    return "expected a view of at most five dimensions";
  if (view.getStrides()[last] != 1)
    return "expected a view whose last stride is 1";
  if (!facts || facts.getPointer() % kLeastBytes || facts.getPointer() == 0)
    return "expected an address that is known to be a multiple of 16 bytes";
  auto isMultiple = [&](int64_t value, ArrayRef<int64_t> known, unsigned dim, int64_t scale) {
    if (!ShapedType::isDynamic(value))
      return value * bytes % kLeastBytes == 0;
    return dim < known.size() && known[dim] > 0 && known[dim] * scale % kLeastBytes == 0;
  };
  for (unsigned dim = 0; dim < last; ++dim)
    if (!isMultiple(view.getStrides()[dim], facts.getStrides(), dim, 1))
      return "expected strides that are known to be multiples of 16 bytes";
  if (isWritten && !isMultiple(view.getShape()[last], facts.getExtents(), last, bytes))
    return "expected a last extent that is known to be a multiple of 16 bytes, which is what is "
           "written at once";
  return std::nullopt;
}

/// The engine names the last dimension first.
static SmallVector<Value> reversed(ValueRange coordinates) {
  return SmallVector<Value>(llvm::reverse(coordinates));
}

/// To several blocks it goes by an address of the cluster's shared memory, whose place in each of
/// them is the same; and so it does where another block's barrier counts it.
void TmaAttr::copyIn(OpBuilder &builder, Location loc, Value map, ValueRange coordinates,
                     Value shared, Value barrier, Value mask, bool ofPair,
                     Eviction eviction) const {
  bool isOfCluster = mask || ofPair;
  NVVM::CTAGroupKindAttr group;
  if (ofPair)
    group = NVVM::CTAGroupKindAttr::get(builder.getContext(), NVVM::CTAGroupKind::CTA_2);
  if (isOfCluster)
    shared = LLVM::AddrSpaceCastOp::create(
        builder, loc,
        LLVM::LLVMPointerType::get(builder.getContext(),
                                   unsigned(NVVM::NVVMMemorySpace::SharedCluster)),
        shared);
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      builder, loc, shared, map, reversed(coordinates), barrier, /*im2colOffsets=*/ValueRange(),
      mask, getPolicy(builder, loc, eviction), NVVM::TMALoadMode::TILE, /*isCTAOnly=*/!isOfCluster,
      group, /*predicate=*/Value());
}

void TmaAttr::copyOut(OpBuilder &builder, Location loc, Value shared, Value map,
                      ValueRange coordinates, Eviction eviction) const {
  NVVM::CpAsyncBulkTensorSharedCTAToGlobalOp::create(
      builder, loc, map, shared, reversed(coordinates), getPolicy(builder, loc, eviction),
      NVVM::TMAStoreMode::TILE, /*predicate=*/Value());
}
