// Tiles of views: addresses, bounds and vectors of registers.
//
// A load never branches. A register that lies outside the view reads sixteen bytes of padding that
// the module holds instead, so all of a tile's loads can be in flight at once, and nobody waits for
// one to choose between it and the padding. Only a padding that is not known when compiling is
// chosen afterwards, and the load reads zeros. Stores are guarded one access at a time. Targets
// whose hardware checks bounds go another way where they can: BoundedMemory.cpp.
#include "ThreadLowering.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <map>

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

struct ThreadLowering::Access {
  const View &view;
  Place place;
  SmallVector<Value> offsets;
  Type elementType;
  /// Consecutive registers that one access takes.
  int64_t width;
  /// Those of the tile, where it is smaller than the tensor.
  std::optional<ArrayRef<int64_t>> extents;
  /// By dimension and register coordinate, since many registers share these.
  std::map<std::pair<unsigned, int64_t>, Value> terms, bounds;
};

Type kiln::getStorageType(Type element) {
  if (element.getIntOrFloatBitWidth() < 8 ||
      (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8))
    return IntegerType::get(element.getContext(), 8);
  return element;
}

Value kiln::castBits(OpBuilder &builder, Location loc, Value value, Type element) {
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(element);
  if (type == value.getType())
    return value;
  return arith::BitcastOp::create(builder, loc, type, value);
}

/// The consecutive registers that one access takes.
static int64_t getWidth(const AccessFacts &facts, std::optional<ArrayRef<int64_t>> extents,
                        const LinearLayout &layout) {
  if (facts.dim < 0)
    return 1;
  int64_t width = std::min(facts.width, layout.getContiguity(kRegister, getDimName(facts.dim)));
  // All of one access lies in the tile, or none.
  while (extents && (*extents)[facts.dim] % width)
    width /= 2;
  return width;
}

bool kiln::storesWholeBytes(StoreOp op) {
  unsigned bits = op.getValue().getType().getElementTypeBitWidth();
  int64_t width = getWidth(getAccessFacts(op), op.getExtents(), getLayout(op.getValue()));
  return 8 % bits == 0 && width * bits >= 8;
}

/// Elements that share bytes, low bits first, as words of at most 32 bits.
Value ThreadLowering::packElements(ArrayRef<Value> elements) {
  int64_t bits = elements.front().getType().getIntOrFloatBitWidth();
  int64_t wordBits = std::min<int64_t>(32, elements.size() * bits);
  Type raw = builder.getIntegerType(bits), word = builder.getIntegerType(wordBits);
  SmallVector<Value> words;
  for (auto [i, element] : llvm::enumerate(elements)) {
    int64_t place = i * bits % wordBits;
    Value part = arith::ExtUIOp::create(builder, loc, word, castBits(builder, loc, element, raw));
    if (place == 0) {
      words.push_back(part);
      continue;
    }
    Value shift = arith::ConstantIntOp::create(builder, loc, place, wordBits);
    part = arith::ShLIOp::create(builder, loc, part, shift);
    words.back() = arith::OrIOp::create(builder, loc, words.back(), part);
  }
  if (words.size() == 1)
    return words.front();
  return vector::FromElementsOp::create(builder, loc,
                                        VectorType::get({int64_t(words.size())}, word), words);
}

ThreadLowering::Access ThreadLowering::getAccess(Value view, ValueRange offsets,
                                                 std::optional<ArrayRef<int64_t>> extents,
                                                 const AccessFacts &facts,
                                                 const LinearLayout &layout) {
  auto typed = cast<TypedValue<ViewType>>(view);
  Access access{
      views.find(view)->second,         getPlace(layout), {}, typed.getType().getElementType(),
      getWidth(facts, extents, layout), extents,          {}, {}};
  for (Value offset : offsets)
    access.offsets.push_back(get(offset));
  return access;
}

Value ThreadLowering::getPointer(Access &access, int64_t reg) {
  Value sum;
  auto coordinates = access.place.layout.applyTo(kRegister, reg);
  for (auto [dim, stride] : llvm::enumerate(access.view.strides)) {
    Value &term = access.terms[{unsigned(dim), coordinates[dim]}];
    if (!term) {
      Value at = getCoordinate(access.place, dim, reg, access.offsets[dim]);
      term = arith::MulIOp::create(builder, loc, at, stride);
    }
    sum = sum ? Value(arith::AddIOp::create(builder, loc, sum, term)) : term;
  }
  if (!sum)
    return access.view.pointer;
  // The elements of one access fill whole bytes, so the first one begins on one.
  if (unsigned bits = access.elementType.getIntOrFloatBitWidth(); bits < 8)
    sum = arith::ShRSIOp::create(builder, loc,
                                 arith::MulIOp::create(builder, loc, sum, index(bits)), index(3));
  sum = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), sum);
  return LLVM::GEPOp::create(builder, loc, access.view.pointer.getType(),
                             getStorageType(access.elementType), access.view.pointer,
                             ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(sum)});
}

ThreadLowering::Within ThreadLowering::isWithin(const Place &place, unsigned dim, int64_t reg,
                                                int64_t extent) {
  int64_t constant = place.layout.applyTo(kRegister, reg)[dim], threads = 0;
  for (StringRef part : {kLane, kWarp})
    for (const LinearLayout::Basis &basis : place.layout.getBases(part))
      threads |= basis[dim];
  if ((constant | threads) < extent)
    return Within::Always;
  return (constant & ~threads) >= extent ? Within::Never : Within::Sometimes;
}

/// Null if the register is in bounds whatever the extents are.
Value ThreadLowering::getInBounds(Access &access, int64_t reg) {
  Value all;
  auto coordinates = access.place.layout.applyTo(kRegister, reg);
  for (auto [dim, extent] : llvm::enumerate(access.view.extents)) {
    Value &bound = access.bounds[{unsigned(dim), coordinates[dim]}];
    if (!bound) {
      // Unsigned, so that what lies below zero is outside as well.
      Value at = getCoordinate(access.place, dim, reg, access.offsets[dim]);
      bound = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, extent);
      int64_t within =
          access.extents ? (*access.extents)[dim] : access.place.layout.getShape()[dim];
      if (isWithin(access.place, dim, reg, within) != Within::Always)
        bound = arith::AndIOp::create(builder, loc, bound,
                                      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                                            getCoordinate(access.place, dim, reg),
                                                            index(within)));
    }
    all = all ? Value(arith::AndIOp::create(builder, loc, all, bound)) : bound;
  }
  return all;
}

/// Whether no thread's element of the register is in the tile.
bool ThreadLowering::isOutside(const Access &access, int64_t reg) {
  for (unsigned dim = 0; access.extents && dim < access.extents->size(); ++dim)
    if (isWithin(access.place, dim, reg, (*access.extents)[dim]) == Within::Never)
      return true;
  return false;
}

Value ThreadLowering::getSixteenBytes(const APInt &element) {
  auto module = function->getParentOfType<ModuleOp>();
  unsigned bytes = std::max(1u, element.getBitWidth() / 8);
  SmallVector<uint8_t> pattern;
  for (unsigned i = 0; i < 16; ++i)
    pattern.push_back(
        element.extractBitsAsZExtValue(std::min(8u, element.getBitWidth()), i % bytes * 8));
  std::string name = "kiln_zeros";
  if (!element.isZero())
    name = "kiln_padding_" + llvm::toHex(ArrayRef(pattern).take_front(bytes), /*LowerCase=*/true);
  auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), 16);
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(module.getBody());
    auto tensor = RankedTensorType::get({16}, builder.getI8Type());
    LLVM::GlobalOp::create(
        builder, loc, type, /*isConstant=*/true, LLVM::Linkage::Internal, name,
        DenseElementsAttr::getFromRawBuffer(
            tensor, ArrayRef(reinterpret_cast<const char *>(pattern.data()), pattern.size())),
        /*alignment=*/16, kGlobalSpace);
  }
  return LLVM::AddressOfOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), kGlobalSpace), name);
}

/// The bits of a padding that is known when compiling.
static std::optional<APInt> getKnownPadding(Value padding, unsigned bits) {
  if (!padding)
    return APInt::getZero(bits);
  APFloat real(0.0f);
  if (matchPattern(padding, m_ConstantFloat(&real)))
    return real.bitcastToAPInt();
  APInt integer;
  if (matchPattern(padding, m_ConstantInt(&integer)))
    return integer;
  return std::nullopt;
}

Eviction kiln::getEviction(std::optional<Cache> cache, std::optional<Eviction> eviction) {
  return cache == Cache::Streaming ? Eviction::First : eviction.value_or(Eviction::Normal);
}

bool kiln::isStreaming(std::optional<Cache> cache, std::optional<Eviction> eviction) {
  return getEviction(cache, eviction) == Eviction::First;
}

LogicalResult ThreadLowering::lowerLoad(LoadOp op) {
  if (!op.getExtents() && lowerBoundedLoad(op))
    return success();
  LinearLayout layout = getLayout(op.getResult());
  Access access =
      getAccess(op.getView(), op.getOffsets(), op.getExtents(), getAccessFacts(op), layout);
  Type storage = getStorageType(access.elementType);
  unsigned alignment = access.width * storage.getIntOrFloatBitWidth() / 8;
  Type type = storage;
  if (access.width > 1)
    type = VectorType::get({access.width}, storage);
  unsigned bits = access.elementType.getIntOrFloatBitWidth();
  std::optional<APInt> known = getKnownPadding(op.getPadding(), bits);
  Value padding = known ? Value() : get(op.getPadding());
  Value outside = getSixteenBytes(known.value_or(APInt::getZero(bits)));

  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); reg += access.width) {
    if (isOutside(access, reg)) {
      Value nothing = op.getPadding() ? get(op.getPadding())
                                      : Value(arith::ConstantOp::create(
                                            builder, loc, builder.getZeroAttr(access.elementType)));
      elements.append(access.width, nothing);
      continue;
    }
    Value inBounds = getInBounds(access, reg);
    Value pointer = getPointer(access, reg);
    if (inBounds)
      pointer = arith::SelectOp::create(builder, loc, inBounds, pointer, outside);
    Value loaded =
        LLVM::LoadOp::create(builder, loc, type, pointer, alignment, /*isVolatile=*/false,
                             isStreaming(op.getCache(), op.getEviction()));
    loaded = castBits(builder, loc, loaded, access.elementType);
    for (int64_t i = 0; i < access.width; ++i) {
      Value element = loaded;
      if (access.width > 1)
        element = elementAt(builder, loc, loaded, i);
      if (padding && inBounds)
        element = arith::SelectOp::create(builder, loc, inBounds, element, padding);
      elements.push_back(element);
    }
  }
  setElements(op.getResult(), elements);
  return success();
}

LogicalResult ThreadLowering::lowerStore(StoreOp op) {
  bool isPacked = sharesByte(op.getView().getType().getElementType());
  if (!op.getExtents() && !isPacked && lowerBoundedStore(op))
    return success();
  LinearLayout layout = getLayout(op.getValue());
  Access access =
      getAccess(op.getView(), op.getOffsets(), op.getExtents(), getAccessFacts(op), layout);
  unsigned alignment = access.width * access.elementType.getIntOrFloatBitWidth() / 8;
  int64_t repeated = layout.freeVariables().front();
  Value owner = isOwner(layout);
  SmallVector<Value> elements = getElements(op.getValue());

  for (int64_t reg = 0; reg < layout.getInSize(kRegister); reg += access.width) {
    if ((reg & repeated) || isOutside(access, reg))
      continue;
    Value guard = getInBounds(access, reg);
    if (owner)
      guard = guard ? Value(arith::AndIOp::create(builder, loc, owner, guard)) : owner;
    Value pointer = getPointer(access, reg);
    ArrayRef<Value> parts = ArrayRef<Value>(elements).slice(reg, access.width);
    Value value = isPacked ? packElements(parts) : parts.front();
    if (access.width > 1 && !isPacked)
      value = makeVector(builder, loc, parts);
    if (!isPacked)
      value = castBits(builder, loc, value, getStorageType(access.elementType));
    OpBuilder::InsertionGuard insertion(builder);
    if (guard) {
      auto branch = scf::IfOp::create(builder, loc, guard, /*withElseRegion=*/false);
      builder.setInsertionPointToStart(&branch.getThenRegion().front());
    }
    LLVM::StoreOp::create(builder, loc, value, pointer, alignment, /*isVolatile=*/false,
                          isStreaming(op.getCache(), op.getEviction()));
  }
  return success();
}

LogicalResult ThreadLowering::forEachAddress(CopyInOp op, const LinearLayout &shares,
                                             DirectAtomInterface atom, EmitCopy emit) {
  AccessFacts facts = getAccessFacts(cast<TypedValue<ViewType>>(op.getView()), op.getOffsets());
  Access access = getAccess(op.getView(), op.getOffsets(), std::nullopt, facts, shares);
  int64_t elementBytes = getSharedElementBytes(access.elementType);
  int64_t each = atom.getLaneBytes() / elementBytes;
  bool isWhole = facts.width >= each;
  unsigned row = facts.dim;
  if (!isWhole && !isKnownNonNegative(op.getOffsets()[row]))
    return op.emitOpError("expected an offset along dimension ")
           << row << " that is known not to be negative, or extents and offsets known to be "
           << "multiples of " << each << ", for " << op.getAtom();
  // By coordinate, how many bytes are in bounds along the row.
  std::map<int64_t, Value> inRow;
  for (int64_t turn = 0; turn < shares.getInSize(kRegister); ++turn) {
    auto coordinates = shares.applyTo(kRegister, turn);
    Value &known = inRow[coordinates[row]];
    if (!known) {
      Value at = getCoordinate(access.place, row, turn, access.offsets[row]);
      Value extent = access.view.extents[row], inside = i32(atom.getLaneBytes());
      if (!isWhole) {
        Value rest = arith::SubIOp::create(builder, loc, extent, at);
        rest = arith::MinUIOp::create(builder, loc, rest, index(each));
        inside = arith::IndexCastOp::create(builder, loc, builder.getI32Type(), rest);
        inside = arith::MulIOp::create(builder, loc, inside, i32(elementBytes));
      }
      Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, extent);
      known = arith::SelectOp::create(builder, loc, below, inside, i32(0));
    }
    DirectCopy copy;
    copy.bytes = known;
    for (auto [dim, extent] : llvm::enumerate(access.view.extents)) {
      if (dim == row)
        continue;
      Value &bound = access.bounds[{unsigned(dim), coordinates[dim]}];
      if (!bound)
        bound = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                      getCoordinate(access.place, dim, turn, access.offsets[dim]),
                                      extent);
      copy.bytes = arith::SelectOp::create(builder, loc, bound, copy.bytes, i32(0));
    }
    copy.pointer = getPointer(access, turn);
    emit(turn, copy);
  }
  return success();
}
