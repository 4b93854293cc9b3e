// Tiles of elements that share bytes. A load takes its elements' bytes as they are; for a store the
// tile lies in shared memory, an element a byte, and each thread puts whole bytes together. A byte
// that the tile covers in part, or that a row begins or ends in, is changed by atomic accesses,
// since its other elements are those of another thread, or of another program.
#include "../Scratch.h"
#include "../SharedAccess.h"
#include "../TileAccess.h"
#include "../ViewAccess.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

void kiln::lowerPackedLoad(ThreadContext &context, LoadOp op) {
  LinearLayout layout = getLayout(op.getResult());
  ThreadPlace place = context.getPlace(layout);
  Value padding;
  if (op.getPadding() && !matchPattern(op.getPadding(), m_PosZeroFloat()) &&
      !matchPattern(op.getPadding(), m_Zero()))
    padding = context.get(op.getPadding());
  SmallVector<Value> elements;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); ++reg) {
    SmallVector<Value> at;
    for (auto [dim, offset] : llvm::enumerate(op.getOffsets()))
      at.push_back(context.getCoordinate(place, dim, reg, context.get(offset)));
    ViewElement element = getElement(context, op.getView(), at);
    if (op.getExtents())
      element.inBounds =
          context.both(element.inBounds, isWithinTile(context, place, reg, *op.getExtents()));
    elements.push_back(loadElement(context, op.getView(), element, padding, getHints(op)));
  }
  context.setElements(op.getResult(), elements);
}

/// Writes the bits of a byte that `mask` holds.
static void storeBits(ThreadContext &context, Value pointer, Value mask, Value byte,
                      CacheHints hints) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(context, value, 8);
  };
  auto equals = [&](arith::CmpIPredicate how, int64_t value) -> Value {
    return arith::CmpIOp::create(context, how, mask, constant(value));
  };
  context.when(equals(arith::CmpIPredicate::eq, 0xff),
               [&] { storeGlobal(context, context.getLoc(), byte, pointer, 1, hints); });
  Value part =
      context.both(equals(arith::CmpIPredicate::ne, 0), equals(arith::CmpIPredicate::ne, 0xff));
  context.when(part, [&] {
    // None of these bits is anyone else's, so that nobody sees them between the two.
    auto combine = [&](LLVM::AtomicBinOp how, Value value) {
      LLVM::AtomicRMWOp::create(context, how, pointer, value, LLVM::AtomicOrdering::monotonic,
                                kScopeNames[unsigned(MemoryScope::Device)], /*alignment=*/1);
    };
    combine(LLVM::AtomicBinOp::_and, arith::XOrIOp::create(context, mask, constant(0xff)));
    combine(LLVM::AtomicBinOp::_or, arith::AndIOp::create(context, mask, byte));
  });
}

void kiln::lowerPackedStore(ThreadContext &context, StoreOp op) {
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

  Value base = getShared(context, op);
  scatterScratch(context, base, op.getValue(), strides);
  context.barrier();
  Type i32Type = context.getI32Type(), raw = context.getIntegerType(bits);
  Type i8 = context.getI8Type();
  forShare(context, rows * groups, [&](Value number) {
    auto toIndex = [&](Value value) -> Value {
      return arith::IndexCastUIOp::create(context, context.getIndexType(), value);
    };
    Value row = arith::DivUIOp::create(context, number, context.i32(groups));
    Value first = arith::MulIOp::create(
        context, arith::RemUIOp::create(context, number, context.i32(groups)), context.i32(group));
    // Rows are counted as they lie in memory, the last dimension first.
    SmallVector<Value> at(shape.size());
    Value rest = row, within;
    auto isBelow = [&](Value coordinate, int64_t dim) {
      if (!op.getExtents() || (*op.getExtents())[dim] == shape[dim])
        return Value();
      return Value(arith::CmpIOp::create(context, arith::CmpIPredicate::ult, coordinate,
                                         context.i32((*op.getExtents())[dim])));
    };
    for (int64_t dim = shape.size() - 1; dim >= 0; --dim) {
      Value coordinate = first;
      if (dim != unit) {
        coordinate = arith::RemUIOp::create(context, rest, context.i32(shape[dim]));
        rest = arith::DivUIOp::create(context, rest, context.i32(shape[dim]));
        within = context.both(within, isBelow(coordinate, dim));
      }
      at[dim] =
          arith::AddIOp::create(context, context.get(op.getOffsets()[dim]), toIndex(coordinate));
    }
    Value word = context.i32(0), mask = context.i32(0), start;
    for (int64_t i = 0; i < std::min(group, extent); ++i) {
      SmallVector<Value> there(at);
      if (unit >= 0)
        there[unit] = arith::AddIOp::create(context, at[unit], context.index(i));
      ViewElement element = getElement(context, op.getView(), there);
      element.inBounds = context.both(element.inBounds, within);
      if (unit >= 0)
        element.inBounds = context.both(
            element.inBounds, isBelow(arith::AddIOp::create(context, first, context.i32(i)), unit));
      start = start ? start : element.at;
      Value place =
          arith::AddIOp::create(context, arith::MulIOp::create(context, row, context.i32(extent)),
                                arith::AddIOp::create(context, first, context.i32(i)));
      Value value =
          arith::ExtUIOp::create(context, i32Type, loadScratch(context, base, place, raw));
      word = arith::OrIOp::create(context, word,
                                  arith::ShLIOp::create(context, value, context.i32(i * bits)));
      Value all = context.i32(((int64_t(1) << bits) - 1) << (i * bits));
      if (element.inBounds)
        all = arith::SelectOp::create(context, element.inBounds, all, context.i32(0));
      mask = arith::OrIOp::create(context, mask, all);
    }
    // What lies in one group begins anywhere in its first byte.
    Value bit = arith::MulIOp::create(context, start, context.index(bits));
    Value byte = arith::IndexCastOp::create(context, context.getI64Type(),
                                            arith::ShRSIOp::create(context, bit, context.index(3)));
    Value shift = arith::IndexCastOp::create(context, i32Type,
                                             arith::AndIOp::create(context, bit, context.index(7)));
    word = arith::ShLIOp::create(context, word, shift);
    mask = arith::ShLIOp::create(context, mask, shift);
    Value pointer = context.views.find(op.getView())->second.pointer;
    pointer = LLVM::GEPOp::create(context, pointer.getType(), i8, pointer,
                                  ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(byte)});
    for (int64_t i = 0; i <= bytes; ++i) {
      auto part = [&](Value value) -> Value {
        return arith::TruncIOp::create(context, i8,
                                       arith::ShRUIOp::create(context, value, context.i32(8 * i)));
      };
      Value target = LLVM::GEPOp::create(context, pointer.getType(), i8, pointer,
                                         ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(i))});
      storeBits(context, target, part(mask), part(word), getHints(op));
    }
  });
}
