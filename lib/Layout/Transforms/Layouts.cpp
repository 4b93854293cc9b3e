// The layouts that decisions are made of.
#include "kiln/Layout/Transforms/Layouts.h"
#include "LayoutBases.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace mlir;
using namespace kiln;

#include "kiln/Layout/Transforms/WarpCopyAtomInterface.cpp.inc"
#include "kiln/Layout/Transforms/WarpMmaAtomInterface.cpp.inc"

using Basis = LinearLayout::Basis;
using InDim = LinearLayout::InDim;

bool kiln::isZero(const Basis &basis) {
  return llvm::all_of(basis, [](int64_t value) { return value == 0; });
}

LinearLayout kiln::makeLayout(ArrayRef<InDim> ins, ArrayRef<int64_t> shape) {
  return LinearLayout::create(ins, getTensorOuts(shape)).value_or(LinearLayout());
}

int64_t kiln::getPowerOf2Factor(int64_t extent) { return extent & -extent; }

/// The bits that count what an extent has of its factor that is a power of two, of registers, are
/// their highest ones.
static void moveCutsUp(InDim &registers, ArrayRef<int64_t> shape) {
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    if (llvm::isPowerOf2_64(extent))
      continue;
    SmallVector<Basis> below, cuts;
    for (const Basis &basis : registers.bases)
      (basis[dim] < getPowerOf2Factor(extent) ? below : cuts).push_back(basis);
    llvm::sort(cuts);
    registers.bases = std::move(below);
    llvm::append_range(registers.bases, cuts);
  }
}

LinearLayout kiln::canonicalise(const LinearLayout &layout) {
  SmallVector<std::string> names = layout.getOutNames();
  SmallVector<StringRef> outs(names.begin(), names.end());
  LinearLayout result =
      layout.sublayout({kRegister, kLane, kWarp}, outs).removeZeroBases(kRegister);
  SmallVector<int64_t> shape = result.getShape();
  if (llvm::all_of(shape, [](int64_t extent) { return llvm::isPowerOf2_64(extent); }))
    return result;
  SmallVector<InDim> ins(result.getIns());
  moveCutsUp(ins.front(), shape);
  return *LinearLayout::create(ins, result.getOuts());
}

LinearLayout kiln::shareOut(const LinearLayout &own, int dim, unsigned copies) {
  SmallVector<int64_t> shape = own.getShape();
  SmallVector<InDim> ins(own.getIns());
  auto *warps = llvm::find_if(ins, [](const InDim &in) { return in.name == kWarp; });
  for (unsigned copy = 1; copy < copies; copy *= 2) {
    Basis basis(shape.size(), 0);
    if (dim >= 0)
      basis[dim] = shape[dim] * copy;
    warps->bases.push_back(basis);
  }
  if (dim >= 0)
    shape[dim] *= copies;
  return makeLayout(ins, shape);
}

LinearLayout kiln::getSharedOutLayout(ArrayRef<int64_t> shape, int64_t width, ThreadShape threads,
                                      int dim, int fastest) {
  SmallVector<int64_t> own(shape);
  if (dim >= 0)
    own[dim] /= threads.copies;
  ThreadShape one = {threads.lanes, threads.warps / threads.copies};
  return shareOut(getBlockedLayout(own, width, one, fastest), dim, threads.copies);
}

LinearLayout kiln::getBlockedLayout(ArrayRef<int64_t> shape, int64_t width, ThreadShape threads,
                                    int fastest, std::optional<ArrayRef<int64_t>> extents) {
  if (threads.copies > 1) {
    auto hasGrown = [&](size_t dim) { return extents && (*extents)[dim] != shape[dim]; };
    // Copies that are no power of two may count the odd factor of any dimension.
    bool hasFirst = llvm::isPowerOf2_64(threads.copies) && !shape.empty() && !hasGrown(0);
    int dim = -1, last = hasFirst ? 1 : shape.size();
    for (int each = last; each-- > 0;)
      if (tile::sharesEvenly(shape[each], 1, threads.copies) && !hasGrown(each))
        dim = each;
    return getSharedOutLayout(shape, width, threads, dim, fastest);
  }
  int64_t rank = shape.size();
  SmallVector<int64_t> taken(rank, 1);
  InDim registers{kRegister.str(), {}}, lanes{kLane.str(), {}}, warps{kWarp.str(), {}};
  // Takes the next bit of a dimension for a part; false if the dimension has no more. What counts
  // an extent's odd factor is left to registers, at the end.
  auto take = [&](InDim &part, int64_t dim) {
    if (taken[dim] >= getPowerOf2Factor(shape[dim]))
      return false;
    Basis basis(rank, 0);
    basis[dim] = taken[dim];
    part.bases.push_back(basis);
    taken[dim] *= 2;
    return true;
  };
  auto fill = [&](InDim &part, unsigned bits, ArrayRef<int64_t> dims) {
    for (int64_t dim : dims)
      while (part.bases.size() < bits && take(part, dim)) {
      }
    while (part.bases.size() < bits)
      part.bases.push_back(Basis(rank, 0));
  };
  SmallVector<int64_t> walk;
  if (fastest >= 0)
    walk.push_back(fastest);
  for (int64_t dim = rank; dim-- > 0;)
    if (dim != fastest)
      walk.push_back(dim);
  SmallVector<int64_t> backwards(llvm::reverse(walk));
  // Every thread should have its own elements before one has several.
  int64_t elements = ShapedType::getNumElements(shape);
  width = std::min(width, std::max<int64_t>(1, elements / (threads.lanes * threads.warps)));
  for (int64_t have = 1; rank > 0 && have < width && take(registers, walk.front()); have *= 2) {
  }
  fill(lanes, llvm::Log2_32(threads.lanes), walk);
  fill(warps, llvm::Log2_32(threads.warps), backwards);
  for (int64_t dim : walk)
    while (take(registers, dim)) {
    }
  for (int64_t dim = 0; dim < rank; ++dim)
    for (int64_t value = getPowerOf2Factor(shape[dim]); value < shape[dim]; value *= 2) {
      Basis basis(rank, 0);
      basis[dim] = value;
      registers.bases.push_back(basis);
    }
  return makeLayout({registers, lanes, warps}, shape);
}

int64_t kiln::countSectors(const LinearLayout &layout, unsigned dim, int64_t width,
                           int64_t elementBytes) {
  constexpr int64_t kSectorBytes = 32;
  std::set<std::pair<int64_t, int64_t>> sectors;
  for (int64_t lane = 0; lane < layout.getInSize(kLane); ++lane) {
    Basis element = layout.applyTo(kLane, lane);
    int64_t first = element[dim] * elementBytes, last = first + width * elementBytes - 1;
    element[dim] = 0;
    for (int64_t at = first / kSectorBytes; at <= last / kSectorBytes; ++at)
      sectors.insert({layout.flatten(element), at});
  }
  return int64_t(sectors.size()) * std::max<int64_t>(1, layout.getInSize(kRegister) / width);
}

bool kiln::isSeparable(const LinearLayout &layout, unsigned axis) {
  for (const InDim &in : layout.getIns())
    for (const Basis &basis : in.bases) {
      Basis across = basis;
      across[axis] = 0;
      if (basis[axis] && (!isZero(across) || !llvm::isPowerOf2_64(basis[axis])))
        return false;
    }
  return true;
}

LinearLayout kiln::dropDim(const LinearLayout &layout, unsigned axis) {
  SmallVector<int64_t> shape = layout.getShape();
  shape.erase(shape.begin() + axis);
  SmallVector<InDim> ins(layout.getIns());
  for (InDim &in : ins)
    for (Basis &basis : in.bases)
      basis.erase(basis.begin() + axis);
  return canonicalise(makeLayout(ins, shape));
}

LinearLayout kiln::joinPairs(const LinearLayout &layout) {
  SmallVector<int64_t> shape = layout.getShape();
  SmallVector<InDim> ins(canonicalise(layout).getIns());
  for (InDim &in : ins)
    for (Basis &basis : in.bases)
      basis.push_back(0);
  Basis pair(shape.size() + 1, 0);
  pair.back() = 1;
  ins.front().bases.insert(ins.front().bases.begin(), pair);
  shape.push_back(2);
  return makeLayout(ins, shape);
}

std::optional<LinearLayout> kiln::splitPairs(const LinearLayout &layout) {
  SmallVector<int64_t> shape = layout.getShape();
  if (shape.empty() || shape.back() != 2)
    return std::nullopt;
  SmallVector<InDim> ins(canonicalise(layout).getIns());
  unsigned pairs = 0;
  for (auto [part, in] : llvm::enumerate(ins))
    for (Basis &basis : in.bases) {
      bool inPair = basis.back() != 0;
      basis.pop_back();
      if (inPair && (part != 0 || !isZero(basis) || ++pairs > 1))
        return std::nullopt;
    }
  if (!pairs)
    return std::nullopt;
  shape.pop_back();
  // What told the two apart is a register's zero basis now.
  return canonicalise(makeLayout(ins, shape));
}

LinearLayout kiln::projectTo(const LinearLayout &layout, ArrayRef<int64_t> inputShape) {
  SmallVector<InDim> ins(layout.getIns());
  for (InDim &in : ins)
    for (Basis &basis : in.bases)
      for (auto [value, extent] : llvm::zip(basis, inputShape))
        if (extent == 1)
          value = 0;
  return canonicalise(makeLayout(ins, inputShape));
}

std::optional<LinearLayout> kiln::getBoxLayout(const LinearLayout &whole, ArrayRef<int64_t> box) {
  SmallVector<InDim> ins;
  for (const InDim &in : whole.getIns()) {
    ins.push_back({in.name, {}});
    for (const Basis &basis : in.bases) {
      bool isInside = llvm::all_of(llvm::zip_equal(basis, box),
                                   [](auto pair) { return std::get<0>(pair) < std::get<1>(pair); });
      bool chooses = llvm::all_of(llvm::zip_equal(basis, box), [](auto pair) {
        return std::get<0>(pair) % std::get<1>(pair) == 0;
      });
      if (isInside)
        ins.back().bases.push_back(basis);
      else if (!chooses || in.name != kRegister)
        return std::nullopt;
    }
  }
  return LinearLayout::create(ins, getTensorOuts(box));
}

//===- Accesses -----------------------------------------------------------------------------===//

bool kiln::isInBuffer(Value value) {
  auto load = value.getDefiningOp<tile::LoadOp>();
  return load && load.getAtomAttr();
}

bool kiln::isThroughRegisters(Value value) {
  auto load = value.getDefiningOp<tile::LoadOp>();
  auto atom = load ? dyn_cast_or_null<tile::CopyAtomInterface>(load.getAtomAttr())
                   : tile::CopyAtomInterface();
  return atom && atom.getCompletion() == tile::Completion::InOrder;
}

std::optional<int64_t> kiln::countCopyingWarps(int64_t pieces, int64_t warps,
                                               DirectAtomInterface atom) {
  // Pieces and warps of one odd factor are as linear as those of none.
  if (pieces % warps == 0 && llvm::isPowerOf2_64(pieces / warps))
    return warps;
  bool isCounted = atom.getCompletion() == tile::Completion::Instructions;
  int64_t most = llvm::bit_floor(uint64_t(warps));
  if (pieces < most || (isCounted && (most != warps || pieces % most)))
    return std::nullopt;
  return most;
}

bool kiln::isAligned(tile::LoadOp load, DirectAtomInterface atom) {
  if (load->hasAttr(tile::kRaggedAttrName))
    return false;
  AccessFacts facts = getAccessFacts(load);
  int64_t known = atom.fillsInPart() ? facts.aligned : facts.width;
  return int64_t(atom.getGranularity()) * 8 <= known * load.getType().getElementTypeBitWidth();
}

bool kiln::canShareOut(tile::LoadOp load, DirectAtomInterface atom, int64_t warps,
                       const Chip &chip) {
  int64_t piece = int64_t(atom.getGranularity()) * 8 * chip.warpSize;
  int64_t all = load.getType().getNumElements() * load.getType().getElementTypeBitWidth();
  return isAligned(load, atom) && all % piece == 0 && countCopyingWarps(all / piece, warps, atom);
}

bool kiln::isWrittenOut(Block &trip, const Chip &chip) {
  return chip.knownSlots && llvm::range_size(trip.getOps<tile::DotOp>()) > 1;
}

void kiln::followUser(tile::ConvertLayoutOp conversion, Operation *user) {
  for (StringRef name : {"role", "stage"})
    if (Attribute decision = tile::getDecision(user, name))
      conversion->setAttr(tile::spellDecision(conversion, name), decision);
}

/// However it was converted since.
static bool isPinnedTo(StringRef place, Value value) {
  Operation *op = value.getDefiningOp();
  while (op && isa<tile::ConvertLayoutOp>(op) && !op->hasAttr(tile::kResidencyAttrName))
    op = op->getOperand(0).getDefiningOp();
  auto pinned = op ? op->getAttrOfType<StringAttr>(tile::kResidencyAttrName) : StringAttr();
  return pinned && pinned == place;
}

bool kiln::isPinnedToRegisters(Operation *op) { return isPinnedTo("registers", op->getResult(0)); }

bool kiln::isReadFromBuffer(OpOperand &operand) {
  auto dot = dyn_cast<tile::DotOp>(operand.getOwner());
  return dot && isInBuffer(operand.get()) && operand.getOperandNumber() < 2 &&
         !isPinnedToRegisters(operand.get().getDefiningOp()) &&
         isa_and_nonnull<AsyncMmaAtomInterface>(dot.getAtomAttr());
}

bool kiln::isWrittenForDot(OpOperand &operand) {
  auto dot = dyn_cast<tile::DotOp>(operand.getOwner());
  unsigned number = operand.getOperandNumber();
  auto atom =
      dot ? dyn_cast_or_null<AsyncMmaAtomInterface>(dot.getAtomAttr()) : AsyncMmaAtomInterface();
  Value value = operand.get();
  return atom && number < 2 && isa<RankedTensorType>(value.getType()) && !isInBuffer(value) &&
         atom.readsFrom(number, tile::Place::Shared) &&
         (!tile::takesComputed(atom, number) || isPinnedTo("shared", value));
}

//===- Types --------------------------------------------------------------------------------===//

LinearLayout kiln::getLayout(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return cast<tile::LayoutAttr>(type.getEncoding()).toLinear(type.getShape());
}

RankedTensorType kiln::withLayout(RankedTensorType type, const LinearLayout &layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               tile::LayoutAttr::get(type.getContext(), layout));
}

void kiln::setLayout(Value tensor, const LinearLayout &layout) {
  auto type = withLayout(cast<RankedTensorType>(tensor.getType()), layout);
  tensor.setType(type);
  if (auto constant = tensor.getDefiningOp<arith::ConstantOp>()) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    constant.setValueAttr(cast<TypedAttr>(
        cast<Attribute>(DenseElementsAttr::getFromRawBuffer(type, elements.getRawData()))));
  }
}

//===- Conversions --------------------------------------------------------------------------===//

/// The bits that change places, if each bit of a place is one bit of the other side's, and a lane's
/// is its own or a register's.
static SmallVector<LaneSwap> findSwaps(const LinearLayout &places, const LinearLayout &from) {
  if (places.getInBits(kRegister) != from.getInBits(kRegister))
    return {};
  SmallVector<LaneSwap> swaps;
  std::set<Basis> seen;
  for (auto [part, in] : llvm::enumerate(places.getIns()))
    for (auto [bit, basis] : llvm::enumerate(in.bases)) {
      auto isOther = [](int64_t value) { return value != 0; };
      bool isBit = llvm::count_if(basis, isOther) == 1 &&
                   llvm::all_of(basis, [](int64_t value) { return !(value & (value - 1)); });
      bool isOwn = basis[part] == int64_t(1) << bit;
      bool isWhole = basis[0] < getPowerOf2Factor(from.getInSize(kRegister));
      bool isAllowed = part == 0 ? basis[2] == 0 : isOwn || (part == 1 && basis[0] && isWhole);
      if (!isBit || !isAllowed || !seen.insert(basis).second)
        return {};
      if (part == 1 && !isOwn)
        swaps.push_back({unsigned(llvm::Log2_64(basis[0])), unsigned(bit)});
    }
  return swaps;
}

SmallVector<unsigned> kiln::getPackedBits(const Conversion &conversion, unsigned elementBits) {
  SmallVector<unsigned> packed;
  if (elementBits < 8)
    return packed;
  // What counts an extent's odd factor has no full set of elements above it.
  unsigned bits = llvm::countr_zero(uint64_t(conversion.places.getOuts()[0].size));
  for (unsigned bit = 0; bit < bits && elementBits << (packed.size() + 1) <= 32; ++bit)
    if (llvm::none_of(conversion.swaps, [&](LaneSwap swap) { return swap.registerBit == bit; }))
      packed.push_back(bit);
  return packed;
}

Conversion kiln::classifyConversion(const LinearLayout &from, const LinearLayout &to) {
  std::optional<LinearLayout> places = to.invertAndCompose(from);
  if (!places)
    return {tile::ConversionKind::Memory, LinearLayout(), {}};
  // The coordinates of `places` are register, lane and warp, as are its parts.
  bool lanesMove = false, warpsMove = false;
  int64_t registersByLane = 0;
  for (auto [part, in] : llvm::enumerate(places->getIns()))
    for (auto [bit, basis] : llvm::enumerate(in.bases)) {
      int64_t lane = part == 1 ? int64_t(1) << bit : 0, warp = part == 2 ? int64_t(1) << bit : 0;
      warpsMove |= basis[2] != warp;
      lanesMove |= basis[1] != lane || (part != 0 && basis[0] != 0);
      if (part == 1)
        registersByLane |= basis[0];
      if (part == 2)
        warpsMove |= basis[0] != 0;
    }
  SmallVector<LaneSwap> swaps = findSwaps(*places, from);
  if (warpsMove || (swaps.empty() && llvm::popcount(uint64_t(registersByLane)) > 1))
    return {tile::ConversionKind::Memory, *places, {}};
  return {lanesMove ? tile::ConversionKind::Lanes : tile::ConversionKind::Registers, *places,
          swaps};
}
