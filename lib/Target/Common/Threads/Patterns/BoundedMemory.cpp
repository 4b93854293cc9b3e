// Tiles of views whose bounds the hardware checks, on targets with BoundedMemoryInterface.
//
// A tile's coordinate is a uniform part, where the tile begins, plus the thread's own. Along most
// dimensions of most tiles only one of the two varies:
//
//  - where the tile is one element thick, whether it is in bounds is a fact of the whole tile: if
//    it is not, the descriptor has no bytes;
//  - if one dimension is left, of stride 1, the descriptor begins where the tile does and ends
//    where the view or the tile does, so that the check of the hardware is all there is;
//  - otherwise an offset is compared with the bounds and, where outside, replaced by one that the
//    hardware refuses. Offsets have 32 bits: the view must promise that these are enough.
//
// A tile that may begin below zero along a dimension takes the last way, with a lower bound, too.
#include "kiln/Target/Common/BoundedMemory.h"
#include "../TileAccess.h"
#include "../ViewAccess.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "kiln/Target/Common/CacheHints.h"
#include "mlir/IR/Matchers.h"
#include <map>

#include "kiln/Target/Common/BoundedMemory.cpp.inc"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Beyond every buffer: what is at this offset is refused.
static constexpr int64_t kOutside = int64_t(1) << 31;

namespace {
struct BoundedAccess {
  BoundedMemoryInterface memory;
  Value buffer;
  /// What is added to each offset, unchecked; the same in all threads (i32).
  Value uniform;
  ThreadPlace place;
  Type elementType;
  /// Consecutive registers that one access takes.
  int64_t width;
  struct Dim {
    /// Bytes from one coordinate to the next (i32); null along dimensions that do not vary.
    Value stride;
    /// What is added to the thread's coordinate, if the tile's place is not in `uniform`.
    Value start;
    /// Of the thread's part of the coordinate: the first in bounds, null if that is 0, and how
    /// many are.
    Value first, count;
    bool isHardwares = false;
  };
  SmallVector<Dim> dims;
  /// Whether anything of the tile is in bounds (i1), where that is known of all of it at once.
  Value inside;
  /// By dimension and register coordinate, since many registers share these.
  std::map<std::pair<unsigned, int64_t>, Value> terms, bounds;
};
} // namespace

static std::optional<BoundedAccess> getBoundedAccess(ThreadContext &context, Value view,
                                                     ValueRange offsets, const AccessFacts &known,
                                                     const LinearLayout &layout) {
  auto memory = dyn_cast<BoundedMemoryInterface>(context.target.getReal());
  auto typed = cast<TypedValue<ViewType>>(view);
  ViewType type = typed.getType();
  Type storage = getStorageType(type.getElementType());
  if (!memory)
    return std::nullopt;
  int64_t bytes = storage.getIntOrFloatBitWidth() / 8;
  SmallVector<int64_t> shape = layout.getShape();
  SmallVector<unsigned> varying;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent > 1)
      varying.push_back(dim);
  bool startsInside =
      llvm::all_of(varying, [&](unsigned dim) { return isKnownNonNegative(offsets[dim]); });
  bool isHardwares = startsInside && varying.size() <= 1 &&
                     (varying.empty() || type.getStrides()[varying.front()] == 1) &&
                     ShapedType::getNumElements(shape) * bytes < kOutside;
  FactsAttr facts = getViewFacts(view);
  if (!isHardwares && !(facts && facts.getIndex32()))
    return std::nullopt;

  auto index64 = [&](Value value) -> Value {
    return arith::IndexCastOp::create(context, context.getI64Type(), value);
  };
  auto index32 = [&](Value value) -> Value {
    return arith::IndexCastOp::create(context, context.getI32Type(), value);
  };
  const ThreadView &lowered = context.views.find(view)->second;
  BoundedAccess access{memory, {}, {}, context.getPlace(layout), type.getElementType(), 1, {},
                       {},     {}, {}};
  if (known.dim >= 0)
    access.width = std::min(known.width, layout.getContiguity(kRegister, getDimName(known.dim)));
  access.dims.resize(shape.size());

  // Where the tile begins, and whether anything of it is in bounds.
  Value start, bytesInside, &inside = access.inside;
  auto require = [&](Value condition) {
    inside = inside ? Value(arith::AndIOp::create(context, inside, condition)) : condition;
  };
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    Value offset = context.get(offsets[dim]), bound = lowered.extents[dim];
    Value term = arith::MulIOp::create(context, offset, lowered.strides[dim]);
    start = start ? Value(arith::AddIOp::create(context, start, term)) : term;
    if (extent == 1) {
      require(arith::CmpIOp::create(context, arith::CmpIPredicate::ult, offset, bound));
      continue;
    }
    BoundedAccess::Dim &own = access.dims[dim];
    own.isHardwares = isHardwares;
    own.stride = index32(
        arith::MulIOp::create(context, lowered.strides[dim], context.index(bytes)).getResult());
    Value zero = context.index(0), whole = context.index(extent);
    Value last = arith::SubIOp::create(context, bound, offset);
    last = arith::MaxSIOp::create(context, arith::MinSIOp::create(context, last, whole), zero);
    if (!startsInside) {
      Value first = arith::SubIOp::create(context, zero, offset);
      first = arith::MaxSIOp::create(context, arith::MinSIOp::create(context, first, whole), zero);
      own.first = index32(first);
      last = arith::MaxSIOp::create(context, arith::SubIOp::create(context, last, first), zero);
    }
    own.count = index32(last);
    if (isHardwares)
      bytesInside = index64(arith::MulIOp::create(context, last, context.index(bytes)));
  }
  auto wide = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(context, value, 64);
  };
  // The descriptor begins where the view does, or, if nothing but the hardware is to check, where
  // the tile does. A tile that is outside altogether has none of its bytes. Of a tile of one
  // element the offset is zero: any size will do, but not "one byte or none", a truth value that
  // LLVM would keep in a vector register, and loop until all lanes agree on the descriptor.
  Value size = bytesInside ? bytesInside : wide(kOutside);
  if (inside)
    size = arith::SelectOp::create(context, inside, size, wide(0));
  Value pointer = lowered.pointer, zero = context.i32(0);
  access.uniform = zero;
  if (start && isHardwares) {
    pointer = LLVM::GEPOp::create(context, pointer.getType(), storage, pointer,
                                  ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(index64(start))});
  } else if (start) {
    access.uniform =
        index32(arith::MulIOp::create(context, start, context.index(bytes)).getResult());
    // Of a tile that begins outside nothing is reached, and nothing must be added.
    Value reached = inside;
    for (const BoundedAccess::Dim &dim : access.dims)
      if (dim.count && startsInside) {
        Value some = arith::CmpIOp::create(context, arith::CmpIPredicate::ne, dim.count, zero);
        reached = reached ? Value(arith::AndIOp::create(context, reached, some)) : some;
      }
    if (reached)
      access.uniform = arith::SelectOp::create(context, reached, access.uniform, zero);
  }
  access.buffer = memory.makeBuffer(context, context.getLoc(), pointer, size);
  // What may be negative must be added where the sum is what counts.
  if (!startsInside) {
    for (BoundedAccess::Dim &dim : access.dims)
      if (dim.stride) {
        access.terms[{~0u, 0}] = access.uniform;
        break;
      }
    if (!access.terms.empty())
      access.uniform = zero;
  }
  return access;
}

/// The thread's part of an offset, in bytes.
static Value getOffset(ThreadContext &context, BoundedAccess &access, int64_t reg) {
  auto coordinates = access.place.layout.applyTo(kRegister, reg);
  auto common = access.terms.find({~0u, 0});
  Value sum = common == access.terms.end() ? Value() : common->second;
  for (auto [dim, own] : llvm::enumerate(access.dims)) {
    if (!own.stride)
      continue;
    Value &term = access.terms[{unsigned(dim), coordinates[dim]}];
    if (!term) {
      Value at = arith::IndexCastOp::create(
          context, context.getI32Type(), context.getCoordinate(access.place, dim, reg, own.start));
      term = arith::MulIOp::create(context, at, own.stride);
    }
    sum = sum ? Value(arith::AddIOp::create(context, sum, term)) : term;
  }
  return sum ? sum : context.i32(0);
}

/// Along one dimension that varies.
static Value isWithinDim(ThreadContext &context, BoundedAccess &access, int64_t reg, unsigned dim) {
  const BoundedAccess::Dim &own = access.dims[dim];
  Value &bound = access.bounds[{dim, access.place.layout.applyTo(kRegister, reg)[dim]}];
  if (!bound) {
    Value at = arith::IndexCastOp::create(context, context.getI32Type(),
                                          context.getCoordinate(access.place, dim, reg));
    if (own.first)
      at = arith::SubIOp::create(context, at, own.first);
    bound = arith::CmpIOp::create(context, arith::CmpIPredicate::ult, at, own.count);
  }
  return bound;
}

/// Null if the register is in bounds, as far as the hardware does not check.
static Value getInBounds(ThreadContext &context, BoundedAccess &access, int64_t reg,
                         bool ofHardwareToo) {
  Value all = ofHardwareToo ? access.inside : Value();
  for (auto [dim, own] : llvm::enumerate(access.dims)) {
    if (!own.count || (own.isHardwares && !ofHardwareToo))
      continue;
    Value bound = isWithinDim(context, access, reg, dim);
    all = all ? Value(arith::AndIOp::create(context, all, bound)) : bound;
  }
  return all;
}

/// What the hardware moves so many bytes as.
static Type getRawType(MLIRContext *context, unsigned bytes) {
  Type word = IntegerType::get(context, 32);
  if (bytes > 4)
    return VectorType::get({int64_t(bytes / 4)}, word);
  return IntegerType::get(context, 8 * bytes);
}

bool kiln::lowerBoundedLoad(ThreadContext &context, LoadOp op) {
  LinearLayout layout = getLayout(op.getResult());
  std::optional<BoundedAccess> bounded =
      getBoundedAccess(context, op.getView(), op.getOffsets(), getAccessFacts(op), layout);
  if (!bounded)
    return false;
  BoundedAccess &access = *bounded;
  Type storage = getStorageType(access.elementType), type = storage;
  if (access.width > 1)
    type = VectorType::get({access.width}, storage);
  Type raw = getRawType(context.getContext(), access.width * storage.getIntOrFloatBitWidth() / 8);
  Value padding;
  if (op.getPadding() && !matchPattern(op.getPadding(), m_PosZeroFloat()) &&
      !matchPattern(op.getPadding(), m_Zero()))
    padding = context.get(op.getPadding());
  // All loads are under way before the first result is needed.
  SmallVector<Value> loads, elements;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); reg += access.width) {
    Value offset = getOffset(context, access, reg);
    if (Value inBounds = getInBounds(context, access, reg, /*ofHardwareToo=*/false))
      offset = arith::SelectOp::create(context, inBounds, offset, context.i32(kOutside));
    loads.push_back(access.memory.loadFromBuffer(context, context.getLoc(), raw, access.buffer,
                                                 offset, access.uniform, getHints(op)));
  }
  for (auto [i, loaded] : llvm::enumerate(loads)) {
    if (raw != type)
      loaded = LLVM::BitcastOp::create(context, type, loaded);
    loaded = castBits(context, loaded, access.elementType);
    Value isReal =
        padding ? getInBounds(context, access, i * access.width, /*ofHardwareToo=*/true) : Value();
    for (int64_t part = 0; part < access.width; ++part) {
      Value element = loaded;
      if (access.width > 1)
        element = elementAt(context, context.getLoc(), loaded, part);
      if (isReal)
        element = arith::SelectOp::create(context, isReal, element, padding);
      elements.push_back(element);
    }
  }
  context.setElements(op.getResult(), elements);
  return true;
}

bool kiln::lowerBoundedStore(ThreadContext &context, StoreOp op) {
  LinearLayout layout = getLayout(op.getValue());
  std::optional<BoundedAccess> bounded =
      getBoundedAccess(context, op.getView(), op.getOffsets(), getAccessFacts(op), layout);
  if (!bounded)
    return false;
  BoundedAccess &access = *bounded;
  // In a role the program's loop over tiles stands around: what of an offset is the same for all of
  // them would be kept in registers all along. So it is made of the tile's place.
  bool allVary = llvm::all_of(
      access.dims, [](const BoundedAccess::Dim &dim) { return dim.stride && !dim.isHardwares; });
  SmallVector<int64_t> order;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); reg += access.width)
    order.push_back(reg);
  if (context.role && allVary && access.terms.empty()) {
    // And row by row, for a row's bound is held only as long.
    llvm::sort(order, [&](int64_t left, int64_t right) {
      return layout.applyTo(kRegister, left) < layout.applyTo(kRegister, right);
    });
    access.uniform = context.i32(0);
    for (auto [dim, own] : llvm::enumerate(access.dims))
      own.start = context.get(op.getOffsets()[dim]);
  }
  Type storage = getStorageType(access.elementType);
  Type raw = getRawType(context.getContext(), access.width * storage.getIntOrFloatBitWidth() / 8);
  int64_t repeated = layout.freeVariables().front();
  Value owner = context.isOwner(layout);
  SmallVector<Value> elements = context.getElements(op.getValue());
  for (int64_t reg : order) {
    if (reg & repeated)
      continue;
    Value guard = getInBounds(context, access, reg, /*ofHardwareToo=*/false);
    if (owner)
      guard = guard ? Value(arith::AndIOp::create(context, owner, guard)) : owner;
    Value offset = getOffset(context, access, reg);
    if (guard)
      offset = arith::SelectOp::create(context, guard, offset, context.i32(kOutside));
    Value value = elements[reg];
    if (access.width > 1)
      value =
          makeVector(context, context.getLoc(), ArrayRef<Value>(elements).slice(reg, access.width));
    value = castBits(context, value, storage);
    if (value.getType() != raw)
      value = LLVM::BitcastOp::create(context, raw, value);
    access.memory.storeToBuffer(context, context.getLoc(), value, access.buffer, offset,
                                access.uniform, getHints(op));
  }
  return true;
}

bool kiln::hasBoundedMemory(ThreadContext &context) {
  return isa<BoundedMemoryInterface>(context.target.getReal());
}

LogicalResult kiln::forEachOffset(ThreadContext &context, CopyInOp op, const LinearLayout &shares,
                                  EmitCopy emit) {
  std::optional<BoundedAccess> access =
      getBoundedAccess(context, op.getView(), op.getOffsets(),
                       getAccessFacts(op.getView(), op.getOffsets()), shares);
  if (!access)
    return op.emitOpError("expected a view that facts say is addressable in 32 bits, for ")
           << op.getAtom();
  ViewType type = cast<ViewType>(op.getView().getType());
  for (int64_t turn = 0; turn < shares.getInSize(kRegister); ++turn) {
    // Row by row what is out of bounds stays so for the length of a loop along the row: its offsets
    // are chosen first, and chosen so that the two choices are not made one.
    Value offset = getOffset(context, *access, turn);
    for (bool isRow : {true, false})
      for (auto [dim, own] : llvm::enumerate(access->dims))
        if (own.count && !own.isHardwares && isRow == (type.getStrides()[dim] != 1))
          offset = arith::SelectOp::create(context, isWithinDim(context, *access, turn, dim),
                                           offset, context.i32(isRow ? kOutside : kOutside + 16));
    DirectCopy copy;
    copy.buffer = access->buffer;
    copy.offset = offset;
    copy.uniform = access->uniform;
    emit(turn, copy);
  }
  return success();
}
