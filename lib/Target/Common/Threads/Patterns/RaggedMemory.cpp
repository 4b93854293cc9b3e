// Tiles of one row that begins and ends in the middle of vectors (`tile.ragged`).
//
// Vectors that are aligned and lie in the row are accessed as they are; what is left is accessed
// behind them, by the threads that hold it: elements at the row's ends one by one, vectors of rows
// that are not aligned by words. Loads of whole vectors never branch, as those of other tiles.
#include "../RegisterAccess.h"
#include "../ThreadPatterns.h"
#include "../TileAccess.h"
#include "../ViewAccess.h"
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// The dimension of a row, and the extent by which the tile is turned.
struct RaggedRow {
  unsigned dim;
  int64_t extent;
};
} // namespace

/// None if the tile is not ragged.
static std::optional<RaggedRow> findRaggedRow(Operation *op) {
  auto extent = op->getAttrOfType<IntegerAttr>(kRaggedAttrName);
  int dim = getAccessFacts(op).dim;
  return extent && dim >= 0 ? std::optional(RaggedRow{unsigned(dim), extent.getInt()})
                            : std::nullopt;
}

/// Of a word that one thread loads at least.
static constexpr int64_t kWordBytes = 4;

namespace {
/// A vector of a row that may begin and end in the middle of one.
struct RaggedVector {
  Value pointer, first; ///< of its first element, which may lie in front of the row
  Value whole, rest;    ///< whether it is accessed at once, and whether by elements
  Value inner;          ///< whether all words that it lies in are of the row
  Value others;         ///< whether the row lies in the view; null if it has no other dimension
};
} // namespace

/// Whether a tile of one row begins at a multiple of a vector's bytes, and so do all its vectors.
static Value startsAligned(ThreadContext &context, const RegisterAccess &access,
                           unsigned alignment) {
  Value sum = context.index(0);
  for (auto [offset, stride] : llvm::zip_equal(access.offsets, access.view.strides))
    sum = arith::AddIOp::create(context, sum, arith::MulIOp::create(context, offset, stride));
  sum = arith::IndexCastOp::create(context, context.getI64Type(), sum);
  Value begin = LLVM::GEPOp::create(context, access.view.pointer.getType(),
                                    getStorageType(access.elementType), access.view.pointer,
                                    ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(sum)});
  Value address = LLVM::PtrToIntOp::create(context, context.getI64Type(), begin);
  Value low = arith::AndIOp::create(context, address,
                                    arith::ConstantIntOp::create(context, alignment - 1, 64));
  return arith::CmpIOp::create(context, arith::CmpIPredicate::eq, low,
                               arith::ConstantIntOp::create(context, 0, 64));
}

static RaggedVector getRagged(ThreadContext &context, RegisterAccess &access, unsigned row,
                              int64_t reg, Value isAligned) {
  auto compare = [&](arith::CmpIPredicate predicate, Value left, Value right) -> Value {
    return arith::CmpIOp::create(context, predicate, left, right);
  };
  RaggedVector vector;
  Value extent = access.view.extents[row], &others = vector.others;
  vector.pointer = getRegisterPointer(context, access, reg);
  vector.first = context.getCoordinate(access.place, row, reg, access.offsets[row]);
  Value last = arith::AddIOp::create(context, vector.first, context.index(access.width - 1));
  for (auto [dim, other] : llvm::enumerate(access.view.extents))
    if (dim != row)
      others = context.both(
          others,
          compare(arith::CmpIPredicate::ult,
                  context.getCoordinate(access.place, dim, reg, access.offsets[dim]), other));
  auto isWithin = [&](int64_t margin) -> Value {
    Value begin = arith::SubIOp::create(context, vector.first, context.index(margin));
    Value end = arith::AddIOp::create(context, last, context.index(margin));
    return context.both(compare(arith::CmpIPredicate::ult, begin, extent),
                        compare(arith::CmpIPredicate::ult, end, extent));
  };
  int64_t bytes = getStorageType(access.elementType).getIntOrFloatBitWidth() / 8;
  vector.inner = isWithin(llvm::divideCeil(kWordBytes - 1, bytes));
  vector.whole = context.both(context.both(others, isWithin(0)), isAligned);
  Value touches = context.both(others, compare(arith::CmpIPredicate::slt, vector.first, extent));
  Value isNot =
      arith::XOrIOp::create(context, vector.whole, arith::ConstantIntOp::create(context, 1, 1));
  vector.rest = context.both(touches, isNot);
  return vector;
}

namespace {
/// One of a vector's elements, and whether it lies in the row.
struct RaggedElement {
  Value pointer, inRow;
};
} // namespace

/// Of a tile that is turned: in front of the row are the elements `extent` further on.
static RaggedElement getRaggedElement(ThreadContext &context, const RegisterAccess &access,
                                      RaggedRow row, const RaggedVector &vector, int64_t at) {
  Value place = arith::AddIOp::create(context, vector.first, context.index(at));
  Value isInFront =
      arith::CmpIOp::create(context, arith::CmpIPredicate::slt, place, context.index(0));
  Value turn =
      arith::SelectOp::create(context, isInFront, context.index(row.extent), context.index(0));
  place = arith::AddIOp::create(context, place, turn);
  Value inRow = arith::CmpIOp::create(context, arith::CmpIPredicate::ult, place,
                                      access.view.extents[row.dim]);
  Value offset = arith::AddIOp::create(context, turn, context.index(at));
  offset = arith::IndexCastOp::create(context, context.getI64Type(), offset);
  Value pointer =
      LLVM::GEPOp::create(context, vector.pointer.getType(), getStorageType(access.elementType),
                          vector.pointer, ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(offset)});
  return {pointer, inRow};
}

/// A vector that is not aligned, of the words of 32 bits that it lies in.
static Value loadWords(ThreadContext &context, Value pointer, VectorType type, CacheHints hints) {
  Type i32 = context.getI32Type(), i64 = context.getI64Type(), i8 = context.getI8Type();
  int64_t count = type.getNumElements() * type.getElementTypeBitWidth() / 32;
  Value address = LLVM::PtrToIntOp::create(context, i64, pointer);
  Value over = arith::AndIOp::create(context, address,
                                     arith::ConstantIntOp::create(context, kWordBytes - 1, 64));
  Value back = arith::SubIOp::create(context, arith::ConstantIntOp::create(context, 0, 64), over);
  auto at = [&](Value base, ArrayRef<LLVM::GEPArg> offset) -> Value {
    return LLVM::GEPOp::create(context, pointer.getType(), i8, base, offset);
  };
  Value begin = at(pointer, LLVM::GEPArg(back));
  // Nothing may lie behind the last word of one that is aligned to words.
  Value end =
      arith::SelectOp::create(context,
                              arith::CmpIOp::create(context, arith::CmpIPredicate::eq, over,
                                                    arith::ConstantIntOp::create(context, 0, 64)),
                              at(begin, LLVM::GEPArg(int32_t(kWordBytes * (count - 1)))),
                              at(begin, LLVM::GEPArg(int32_t(kWordBytes * count))));
  SmallVector<Value> words;
  for (int64_t i = 0; i <= count; ++i)
    words.push_back(loadGlobal(context, context.getLoc(), i32,
                               i < count ? at(begin, LLVM::GEPArg(int32_t(kWordBytes * i))) : end,
                               4, hints));
  Value bits =
      arith::ShLIOp::create(context, arith::TruncIOp::create(context, i32, over), context.i32(3));
  SmallVector<Value> shifted;
  for (int64_t i = 0; i < count; ++i)
    shifted.push_back(LLVM::FshrOp::create(context, i32, words[i + 1], words[i], bits));
  Value vector = vector::FromElementsOp::create(context, VectorType::get({count}, i32), shifted);
  return vector::BitCastOp::create(context, type, vector);
}

/// All vectors that are whole are loaded at once. A thread that holds an end of the row, or whose
/// vectors are not aligned, loads what is left behind that; no other one waits there for any.
bool kiln::lowerRaggedLoad(ThreadContext &context, LoadOp op) {
  LinearLayout layout = getLayout(op.getResult());
  std::optional<RaggedRow> found = findRaggedRow(op);
  if (!found)
    return false;
  RaggedRow row = *found;
  RegisterAccess access = getRegisterAccess(context, op.getView(), op.getOffsets(), std::nullopt,
                                            getAccessFacts(op), layout);
  Type storage = getStorageType(access.elementType);
  auto type = VectorType::get({access.width}, storage);
  unsigned bits = access.elementType.getIntOrFloatBitWidth(),
           bytes = storage.getIntOrFloatBitWidth() / 8;
  std::optional<APInt> known = getKnownPadding(op.getPadding(), bits);
  Value outside = getSixteenBytes(context, known.value_or(APInt::getZero(bits)));
  Value aligned = startsAligned(context, access, access.width * bytes);
  CacheHints hints = getHints(op);
  SmallVector<RaggedVector> vectors;
  SmallVector<Value> loaded;
  Value isLeft;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); reg += access.width) {
    RaggedVector vector = getRagged(context, access, row.dim, reg, aligned);
    Value pointer = arith::SelectOp::create(context, vector.whole, vector.pointer, outside);
    loaded.push_back(
        loadGlobal(context, context.getLoc(), type, pointer, access.width * bytes, hints));
    isLeft = isLeft ? arith::OrIOp::create(context, isLeft, vector.rest).getResult() : vector.rest;
    vectors.push_back(vector);
  }
  auto loadElements = [&](const RaggedVector &vector) -> Value {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < access.width; ++i) {
      RaggedElement element = getRaggedElement(context, access, row, vector, i);
      Value pointer = arith::SelectOp::create(context, element.inRow, element.pointer, outside);
      elements.push_back(loadGlobal(context, context.getLoc(), storage, pointer, bytes, hints));
    }
    return vector::FromElementsOp::create(context, type, elements);
  };
  auto chooseAll = [&](TypeRange types, Value condition, auto then, auto otherwise) {
    auto branch = scf::IfOp::create(context, types, condition, /*addThenBlock=*/true,
                                    /*addElseBlock=*/true);
    OpBuilder::InsertionGuard guard(context);
    context.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(context, then());
    context.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(context, otherwise());
    return branch.getResults();
  };
  auto choose = [&](Value condition, auto then, auto otherwise) -> Value {
    return chooseAll(TypeRange(type), condition, then, otherwise)[0];
  };
  bool hasWords = access.width * bytes % 4 == 0;
  auto complete = [&] {
    SmallVector<Value> all;
    for (auto [number, vector] : llvm::enumerate(vectors)) {
      auto byElements = [&, &vector = vector] { return loadElements(vector); };
      auto byWords = [&, &vector = vector] {
        return loadWords(context, vector.pointer, type, hints);
      };
      auto rest = [&, &vector = vector] {
        return hasWords ? choose(vector.inner, byWords, byElements) : byElements();
      };
      all.push_back(choose(vector.rest, rest, [&, number = number] { return loaded[number]; }));
    }
    return all;
  };
  SmallVector<Type> types(loaded.size(), type);
  SmallVector<Value> elements;
  auto all = chooseAll(types, isLeft, complete, [&] { return loaded; });
  for (const auto &[whole, vector] : llvm::zip_equal(all, vectors)) {
    Value value = castBits(context, whole, access.elementType);
    for (int64_t i = 0; i < access.width; ++i) {
      Value element = elementAt(context, context.getLoc(), value, i);
      if (!known) {
        Value isThere =
            context.both(vector.others, getRaggedElement(context, access, row, vector, i).inRow);
        element = arith::SelectOp::create(context, isThere, element, context.get(op.getPadding()));
      }
      elements.push_back(element);
    }
  }
  context.setElements(op.getResult(), elements);
  return true;
}

bool kiln::lowerRaggedStore(ThreadContext &context, StoreOp op) {
  LinearLayout layout = getLayout(op.getValue());
  std::optional<RaggedRow> found = findRaggedRow(op);
  if (!found)
    return false;
  RaggedRow row = *found;
  RegisterAccess access = getRegisterAccess(context, op.getView(), op.getOffsets(), std::nullopt,
                                            getAccessFacts(op), layout);
  Type storage = getStorageType(access.elementType);
  unsigned bytes = storage.getIntOrFloatBitWidth() / 8;
  Value aligned = startsAligned(context, access, access.width * bytes),
        owner = context.isOwner(layout);
  CacheHints hints = getHints(op);
  int64_t repeated = layout.freeVariables().front();
  SmallVector<Value> elements = context.getElements(op.getValue());
  SmallVector<std::pair<int64_t, RaggedVector>> vectors;
  Value isLeft;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); reg += access.width) {
    if (reg & repeated)
      continue;
    RaggedVector vector = getRagged(context, access, row.dim, reg, aligned);
    ArrayRef<Value> parts = ArrayRef<Value>(elements).slice(reg, access.width);
    Value value = castBits(context, makeVector(context, context.getLoc(), parts), storage);
    context.emitIf(context.both(vector.whole, owner), [&] {
      storeGlobal(context, context.getLoc(), value, vector.pointer, access.width * bytes, hints);
    });
    vector.rest = context.both(vector.rest, owner);
    isLeft = isLeft ? arith::OrIOp::create(context, isLeft, vector.rest).getResult() : vector.rest;
    vectors.push_back({reg, vector});
  }
  context.emitIf(isLeft, [&] {
    for (const auto &each : vectors)
      for (int64_t i = 0; i < access.width; ++i) {
        const RaggedVector &vector = each.second;
        RaggedElement element = getRaggedElement(context, access, row, vector, i);
        context.emitIf(context.both(vector.rest, element.inRow), [&] {
          Value value = castBits(context, elements[each.first + i], storage);
          storeGlobal(context, context.getLoc(), value, element.pointer, bytes, hints);
        });
      }
  });
  return true;
}
