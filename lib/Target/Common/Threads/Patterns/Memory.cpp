// Tiles of views: addresses, bounds and vectors of registers.
//
// A load never branches. A register that lies outside the view reads sixteen bytes of padding that
// the module holds instead, so all of a tile's loads can be in flight at once, and nobody waits for
// one to choose between it and the padding. Only a padding that is not known when compiling is
// chosen afterwards, and the load reads zeros. Stores are guarded one access at a time. Targets
// whose hardware checks bounds go another way where they can: BoundedMemory.cpp. Rows that begin
// and end in the middle of vectors: RaggedMemory.cpp.
#include "../RegisterAccess.h"
#include "../ThreadPatterns.h"
#include "../TileAccess.h"
#include "../ViewAccess.h"
#include "kiln/Layout/Transforms/AccessFacts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include <map>

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// Whether each thread's part of a tile of elements that share bytes is whole bytes.
static bool storesWholeBytes(StoreOp op) {
  unsigned bits = op.getValue().getType().getElementTypeBitWidth();
  int64_t width = getAccessWidth(getAccessFacts(op), op.getExtents(), getLayout(op.getValue()));
  return 8 % bits == 0 && width * bits >= 8;
}

/// Elements that share bytes, low bits first, as words of at most 32 bits.
static Value packElements(ThreadContext &context, ArrayRef<Value> elements) {
  int64_t bits = elements.front().getType().getIntOrFloatBitWidth();
  int64_t wordBits = std::min<int64_t>(32, elements.size() * bits);
  Type raw = context.getIntegerType(bits), word = context.getIntegerType(wordBits);
  SmallVector<Value> words;
  for (auto [i, element] : llvm::enumerate(elements)) {
    int64_t place = i * bits % wordBits;
    Value part = arith::ExtUIOp::create(context, word, castBits(context, element, raw));
    if (place == 0) {
      words.push_back(part);
      continue;
    }
    Value shift = arith::ConstantIntOp::create(context, place, wordBits);
    part = arith::ShLIOp::create(context, part, shift);
    words.back() = arith::OrIOp::create(context, words.back(), part);
  }
  if (words.size() == 1)
    return words.front();
  return vector::FromElementsOp::create(context, VectorType::get({int64_t(words.size())}, word),
                                        words);
}

/// Null if the register is in bounds whatever the extents are.
static Value getInBounds(ThreadContext &context, RegisterAccess &access, int64_t reg) {
  Value all;
  auto coordinates = access.place.layout.applyTo(kRegister, reg);
  for (auto [dim, extent] : llvm::enumerate(access.view.extents)) {
    Value &bound = access.bounds[{unsigned(dim), coordinates[dim]}];
    if (!bound) {
      // Unsigned, so that what lies below zero is outside as well.
      Value at = context.getCoordinate(access.place, dim, reg, access.offsets[dim]);
      bound = arith::CmpIOp::create(context, arith::CmpIPredicate::ult, at, extent);
      int64_t within =
          access.extents ? (*access.extents)[dim] : access.place.layout.getShape()[dim];
      if (isWithin(access.place, dim, reg, within) != Within::Always)
        bound = arith::AndIOp::create(
            context, bound,
            arith::CmpIOp::create(context, arith::CmpIPredicate::ult,
                                  context.getCoordinate(access.place, dim, reg),
                                  context.index(within)));
    }
    all = all ? Value(arith::AndIOp::create(context, all, bound)) : bound;
  }
  return all;
}

/// Whether no thread's element of the register is in the tile.
static bool isOutside(const RegisterAccess &access, int64_t reg) {
  for (unsigned dim = 0; access.extents && dim < access.extents->size(); ++dim)
    if (isWithin(access.place, dim, reg, (*access.extents)[dim]) == Within::Never)
      return true;
  return false;
}

static void lowerLoad(ThreadContext &context, LoadOp op) {
  if (lowerRaggedLoad(context, op))
    return;
  if (!op.getExtents() && lowerBoundedLoad(context, op))
    return;
  LinearLayout layout = getLayout(op.getResult());
  RegisterAccess access = getRegisterAccess(context, op.getView(), op.getOffsets(), op.getExtents(),
                                            getAccessFacts(op), layout);
  Type storage = getStorageType(access.elementType);
  unsigned alignment = access.width * storage.getIntOrFloatBitWidth() / 8;
  Type type = storage;
  if (access.width > 1)
    type = VectorType::get({access.width}, storage);
  unsigned bits = access.elementType.getIntOrFloatBitWidth();
  std::optional<APInt> known = getKnownPadding(op.getPadding(), bits);
  Value padding = known ? Value() : context.get(op.getPadding());
  Value outside = getSixteenBytes(context, known.value_or(APInt::getZero(bits)));

  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); reg += access.width) {
    if (isOutside(access, reg)) {
      Value nothing =
          op.getPadding()
              ? context.get(op.getPadding())
              : Value(arith::ConstantOp::create(context, context.getZeroAttr(access.elementType)));
      elements.append(access.width, nothing);
      continue;
    }
    Value inBounds = getInBounds(context, access, reg);
    Value pointer = getRegisterPointer(context, access, reg);
    if (inBounds)
      pointer = arith::SelectOp::create(context, inBounds, pointer, outside);
    Value loaded = loadGlobal(context, context.getLoc(), type, pointer, alignment, getHints(op));
    loaded = castBits(context, loaded, access.elementType);
    for (int64_t i = 0; i < access.width; ++i) {
      Value element = loaded;
      if (access.width > 1)
        element = elementAt(context, context.getLoc(), loaded, i);
      if (padding && inBounds)
        element = arith::SelectOp::create(context, inBounds, element, padding);
      elements.push_back(element);
    }
  }
  context.setElements(op.getResult(), elements);
}

static void lowerStore(ThreadContext &context, StoreOp op) {
  if (lowerRaggedStore(context, op))
    return;
  bool isPacked = sharesByte(op.getView().getType().getElementType());
  if (!op.getExtents() && !isPacked && lowerBoundedStore(context, op))
    return;
  LinearLayout layout = getLayout(op.getValue());
  RegisterAccess access = getRegisterAccess(context, op.getView(), op.getOffsets(), op.getExtents(),
                                            getAccessFacts(op), layout);
  unsigned alignment = access.width * access.elementType.getIntOrFloatBitWidth() / 8;
  int64_t repeated = layout.freeVariables().front();
  Value owner = context.isOwner(layout);
  SmallVector<Value> elements = context.getElements(op.getValue());

  for (int64_t reg = 0; reg < layout.getInSize(kRegister); reg += access.width) {
    if ((reg & repeated) || isOutside(access, reg))
      continue;
    Value guard = getInBounds(context, access, reg);
    if (owner)
      guard = guard ? Value(arith::AndIOp::create(context, owner, guard)) : owner;
    Value pointer = getRegisterPointer(context, access, reg);
    ArrayRef<Value> parts = ArrayRef<Value>(elements).slice(reg, access.width);
    Value value = isPacked ? packElements(context, parts) : parts.front();
    if (access.width > 1 && !isPacked)
      value = makeVector(context, context.getLoc(), parts);
    if (!isPacked)
      value = castBits(context, value, getStorageType(access.elementType));
    OpBuilder::InsertionGuard insertion(context);
    if (guard) {
      auto branch = scf::IfOp::create(context, guard, /*withElseRegion=*/false);
      context.setInsertionPointToStart(&branch.getThenRegion().front());
    }
    storeGlobal(context, context.getLoc(), value, pointer, alignment, getHints(op));
  }
}

LogicalResult kiln::forEachAddress(ThreadContext &context, CopyInOp op, const LinearLayout &shares,
                                   DirectAtomInterface atom, EmitCopy emit) {
  AccessFacts facts = getAccessFacts(cast<TypedValue<ViewType>>(op.getView()), op.getOffsets());
  RegisterAccess access =
      getRegisterAccess(context, op.getView(), op.getOffsets(), std::nullopt, facts, shares);
  int64_t elementBytes = getSharedElementBytes(access.elementType);
  int64_t each = atom.getGranularity() / elementBytes;
  bool isWhole = facts.width >= each;
  // Where no stride is known to be 1, single elements are rows of their own, along any dimension.
  unsigned row = std::max(facts.dim, 0);
  // By coordinate, how many bytes are in bounds along the row. A piece begins at a multiple of its
  // own extent: one that begins below zero is outside as a whole.
  std::map<int64_t, Value> inRow;
  for (int64_t turn = 0; turn < shares.getInSize(kRegister); ++turn) {
    auto coordinates = shares.applyTo(kRegister, turn);
    Value &known = inRow[coordinates[row]];
    if (!known) {
      Value at = context.getCoordinate(access.place, row, turn, access.offsets[row]);
      Value extent = access.view.extents[row], inside = context.i32(atom.getGranularity());
      if (!isWhole) {
        Value rest = arith::SubIOp::create(context, extent, at);
        rest = arith::MinUIOp::create(context, rest, context.index(each));
        inside = arith::IndexCastOp::create(context, context.getI32Type(), rest);
        inside = arith::MulIOp::create(context, inside, context.i32(elementBytes));
      }
      Value below = arith::CmpIOp::create(context, arith::CmpIPredicate::ult, at, extent);
      known = arith::SelectOp::create(context, below, inside, context.i32(0));
    }
    DirectCopy copy;
    copy.bytes = known;
    for (auto [dim, extent] : llvm::enumerate(access.view.extents)) {
      if (dim == row)
        continue;
      Value &bound = access.bounds[{unsigned(dim), coordinates[dim]}];
      if (!bound)
        bound = arith::CmpIOp::create(
            context, arith::CmpIPredicate::ult,
            context.getCoordinate(access.place, dim, turn, access.offsets[dim]), extent);
      copy.bytes = arith::SelectOp::create(context, bound, copy.bytes, context.i32(0));
    }
    copy.pointer = getRegisterPointer(context, access, turn);
    emit(turn, copy);
  }
  return success();
}

void kiln::populateMemoryPatterns(ThreadPatterns &patterns) {
  patterns
      .add<LoadOp>([](ThreadContext &context, LoadOp op) {
        bool isPacked = sharesByte(op.getType().getElementType());
        isPacked ? lowerPackedLoad(context, op) : lowerLoad(context, op);
      })
      .emulatedIf(hasPackedElements);
  auto isMixed = [](StoreOp op) {
    return sharesByte(op.getValue().getType().getElementType()) && !storesWholeBytes(op);
  };
  patterns
      .add<StoreOp>([isMixed](ThreadContext &context, StoreOp op) {
        isMixed(op) ? lowerPackedStore(context, op) : lowerStore(context, op);
      })
      .needsScratch(
          [isMixed](StoreOp op) { return isMixed(op) ? getTensorBytes(op.getValue()) : 0; })
      .emulatedIf(hasPackedElements);
}
