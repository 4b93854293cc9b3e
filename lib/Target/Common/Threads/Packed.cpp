// Tiles of elements that share bytes. A load takes its elements' bytes as they are; for a store the
// tile lies in shared memory, an element a byte, and each thread puts whole bytes together. A byte
// that the tile covers in part, or that a row begins or ends in, is changed by atomic accesses,
// since its other elements are those of another thread, or of another program.
#include "ThreadLowering.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

LogicalResult ThreadLowering::lowerPackedLoad(LoadOp op) {
  LinearLayout layout = getLayout(op.getResult());
  Place place = getPlace(layout);
  Value padding;
  if (op.getPadding() && !matchPattern(op.getPadding(), m_PosZeroFloat()) &&
      !matchPattern(op.getPadding(), m_Zero()))
    padding = get(op.getPadding());
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); ++reg) {
    SmallVector<Value> at;
    for (auto [dim, offset] : llvm::enumerate(op.getOffsets()))
      at.push_back(getCoordinate(place, dim, reg, get(offset)));
    Element element = getElement(op.getView(), at);
    if (op.getExtents())
      element.inBounds = both(element.inBounds, isWithinTile(place, reg, *op.getExtents()));
    elements.push_back(
        loadElement(op.getView(), element, padding, op.getCache() == Cache::Streaming));
  }
  setElements(op.getResult(), elements);
  return success();
}

/// Writes the bits of a byte that `mask` holds.
void ThreadLowering::storeBits(Value pointer, Value mask, Value byte) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, value, 8);
  };
  auto equals = [&](arith::CmpIPredicate how, int64_t value) -> Value {
    return arith::CmpIOp::create(builder, loc, how, mask, constant(value));
  };
  when(equals(arith::CmpIPredicate::eq, 0xff),
       [&] { LLVM::StoreOp::create(builder, loc, byte, pointer, 1); });
  Value part = both(equals(arith::CmpIPredicate::ne, 0), equals(arith::CmpIPredicate::ne, 0xff));
  when(part, [&] {
    // None of these bits is anyone else's, so that nobody sees them between the two.
    auto combine = [&](LLVM::AtomicBinOp how, Value value) {
      LLVM::AtomicRMWOp::create(builder, loc, how, pointer, value, LLVM::AtomicOrdering::monotonic,
                                kScopeNames[unsigned(MemoryScope::Device)], /*alignment=*/1);
    };
    combine(LLVM::AtomicBinOp::_and, arith::XOrIOp::create(builder, loc, mask, constant(0xff)));
    combine(LLVM::AtomicBinOp::_or, arith::AndIOp::create(builder, loc, mask, byte));
  });
}

LogicalResult ThreadLowering::lowerPackedStore(StoreOp op) {
  RankedTensorType type = op.getValue().getType();
  ViewType viewType = op.getView().getType();
  int64_t bits = type.getElementTypeBitWidth();
  // The dimension whose neighbours share bytes: the one of stride 1, by default the last.
  int64_t unit = type.getRank() - 1;
  for (auto [dim, stride] : llvm::enumerate(viewType.getStrides()))
    if (stride == 1)
      unit = dim;
  SmallVector<int64_t> shape(type.getShape()), strides = getStrides(shape, unit);
  int64_t group = 8 % bits ? 4 : 8 / bits, bytes = group * bits / 8;
  int64_t extent = unit < 0 ? 1 : shape[unit], groups = llvm::divideCeil(extent, group);
  int64_t rows = type.getNumElements() / extent;

  Value base = getShared(op);
  barrier();
  scatterScratch(base, op.getValue(), strides);
  barrier();
  Type i32Type = builder.getI32Type(), raw = builder.getIntegerType(bits);
  Type i8 = builder.getI8Type();
  forShare(rows * groups, [&](Value number) {
    auto toIndex = [&](Value value) -> Value {
      return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(), value);
    };
    Value row = arith::DivUIOp::create(builder, loc, number, i32(groups));
    Value first = arith::MulIOp::create(
        builder, loc, arith::RemUIOp::create(builder, loc, number, i32(groups)), i32(group));
    // Rows are counted as they lie in memory, the last dimension first.
    SmallVector<Value> at(shape.size());
    Value rest = row, within;
    auto isBelow = [&](Value coordinate, int64_t dim) {
      if (!op.getExtents() || (*op.getExtents())[dim] == shape[dim])
        return Value();
      return Value(arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, coordinate,
                                         i32((*op.getExtents())[dim])));
    };
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      Value coordinate = first;
      if (dim != unit) {
        coordinate = arith::RemUIOp::create(builder, loc, rest, i32(shape[dim]));
        rest = arith::DivUIOp::create(builder, loc, rest, i32(shape[dim]));
        within = both(within, isBelow(coordinate, dim));
      }
      at[dim] = arith::AddIOp::create(builder, loc, get(op.getOffsets()[dim]), toIndex(coordinate));
    }
    Value word = i32(0), mask = i32(0), start;
    for (int64_t i = 0; i < std::min(group, extent); ++i) {
      SmallVector<Value> there(at);
      if (unit >= 0)
        there[unit] = arith::AddIOp::create(builder, loc, at[unit], index(i));
      Element element = getElement(op.getView(), there);
      element.inBounds = both(element.inBounds, within);
      if (unit >= 0)
        element.inBounds = both(element.inBounds,
                                isBelow(arith::AddIOp::create(builder, loc, first, i32(i)), unit));
      start = start ? start : element.at;
      Value place =
          arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, row, i32(extent)),
                                arith::AddIOp::create(builder, loc, first, i32(i)));
      Value value = arith::ExtUIOp::create(builder, loc, i32Type, loadScratch(base, place, raw));
      word = arith::OrIOp::create(builder, loc, word,
                                  arith::ShLIOp::create(builder, loc, value, i32(i * bits)));
      Value all = i32(((int64_t(1) << bits) - 1) << (i * bits));
      if (element.inBounds)
        all = arith::SelectOp::create(builder, loc, element.inBounds, all, i32(0));
      mask = arith::OrIOp::create(builder, loc, mask, all);
    }
    // What lies in one group begins anywhere in its first byte.
    Value bit = arith::MulIOp::create(builder, loc, start, index(bits));
    Value byte = arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                            arith::ShRSIOp::create(builder, loc, bit, index(3)));
    Value shift = arith::IndexCastOp::create(builder, loc, i32Type,
                                             arith::AndIOp::create(builder, loc, bit, index(7)));
    word = arith::ShLIOp::create(builder, loc, word, shift);
    mask = arith::ShLIOp::create(builder, loc, mask, shift);
    Value pointer = views.find(op.getView())->second.pointer;
    pointer = LLVM::GEPOp::create(builder, loc, pointer.getType(), i8, pointer,
                                  ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(byte)});
    for (int64_t i = 0; i <= bytes; ++i) {
      auto part = [&](Value value) -> Value {
        return arith::TruncIOp::create(builder, loc, i8,
                                       arith::ShRUIOp::create(builder, loc, value, i32(8 * i)));
      };
      Value target = LLVM::GEPOp::create(builder, loc, pointer.getType(), i8, pointer,
                                         ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(i))});
      storeBits(target, part(mask), part(word));
    }
  });
  return success();
}
