// Shape ops that are kept in memory, and bit casts between widths.
#include "Program.h"
#include <numeric>

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

void Program::lowerConcat(tile::ConcatOp op) {
  Array to = storage(op.getResult());
  int64_t axis = op.getAxis(), at = 0;
  for (Value input : op.getInputs()) {
    auto type = cast<RankedTensorType>(input.getType());
    Array part = to;
    Value offset = arith::MulIOp::create(builder, op.getLoc(), to.strides[axis],
                                         indexConstant(op.getLoc(), at));
    Value bytes = arith::IndexCastOp::create(builder, op.getLoc(), builder.getI64Type(), offset);
    part.base = LLVM::GEPOp::create(builder, op.getLoc(), to.base.getType(),
                                    storageType(type.getElementType()), to.base,
                                    ArrayRef<LLVM::GEPArg>{bytes});
    materialize(op.getLoc(), input, part);
    at += type.getDimSize(axis);
  }
}

void Program::lowerJoin(tile::JoinOp op) {
  Location loc = op.getLoc();
  Array to = storage(op.getResult());
  auto type = cast<RankedTensorType>(op.getLeft().getType());
  ArrayRef<int64_t> shape = type.getShape();
  int last = static_cast<int>(shape.size()) - 1;
  int lane = lastWide(shape);
  bool adjacent = lane == last && lane >= 0; // both vectors become one of twice the length
  SmallVector<Value> conditions;
  insideConditions(op.getLeft(), conditions);
  insideConditions(op.getRight(), conditions);
  versions(loc, conditions, [&](bool inside) {
    Nest nest(*this, loc, inside);
    nest.forEach(shape, adjacent ? lane : -1, [&](Point point) {
      Value left = nest.vectorValue(op.getLeft(), point);
      Value right = nest.vectorValue(op.getRight(), point);
      Point out = point;
      if (point.width == 1) {
        out.at.push_back(nest.index(0));
        nest.store(left, to, out);
        out.at.back() = nest.index(1);
        nest.store(right, to, out);
        return;
      }
      left = nest.toStorage(left, type.getElementType());
      right = nest.toStorage(right, type.getElementType());
      Value both = nest.make<vector::InterleaveOp>(left, right);
      out.at.push_back(nest.index(0));
      Value where = nest.address(to.base, nest.linear(out.at, to.strides),
                                 storageType(type.getElementType()));
      nest.makeHere<LLVM::StoreOp>(both, where, storageBytes(type.getElementType()));
    });
  });
}

/// Within the least common multiple of both widths, each result element takes bits from source
/// elements at fixed places.
void Program::lowerBitcast(tile::BitcastOp op) {
  Location loc = op.getLoc();
  auto from = cast<RankedTensorType>(op.getInput().getType());
  auto to = cast<RankedTensorType>(op.getResult().getType());
  Array result = storage(op.getResult());
  Type target = to.getElementType(), i64 = builder.getI64Type();
  int64_t in = from.getElementType().getIntOrFloatBitWidth();
  int64_t out = target.getIntOrFloatBitWidth();
  int64_t period = std::lcm(in, out);
  int64_t perIn = period / in, perOut = period / out;
  SmallVector<Value> conditions;
  insideConditions(op.getInput(), conditions);
  versions(loc, conditions, [&](bool inside) {
    Nest nest(*this, loc, inside);
    SmallVector<int64_t> shape(from.getShape());
    shape.back() /= perIn;
    nest.forEach(shape, -1, [&](Point point) {
      Value group = point.at.back();
      SmallVector<Value> sources;
      for (int64_t i = 0; i < perIn; ++i) {
        Point source = point;
        source.at.back() = nest.add(nest.mul(group, nest.index(perIn)), nest.index(i));
        Value bits = nest.value(op.getInput(), source);
        if (isa<FloatType>(bits.getType()))
          bits = nest.make<arith::BitcastOp>(builder.getIntegerType(in), bits);
        sources.push_back(in == 64 ? bits : nest.make<arith::ExtUIOp>(i64, bits));
      }
      for (int64_t o = 0; o < perOut; ++o) {
        Value sum;
        for (int64_t i = 0; i < perIn; ++i) {
          int64_t shift = i * in - o * out; // where the source's bit 0 falls in the result
          if (shift >= out || shift + in <= 0)
            continue;
          Value moved = sources[i];
          if (shift > 0)
            moved = nest.make<arith::ShLIOp>(moved, nest.integer(i64, shift));
          else if (shift < 0)
            moved = nest.make<arith::ShRUIOp>(moved, nest.integer(i64, -shift));
          sum = sum ? nest.make<arith::OrIOp>(sum, moved) : moved;
        }
        Type narrow = builder.getIntegerType(out);
        Value bits = out == 64 ? sum : nest.make<arith::TruncIOp>(narrow, sum);
        if (isa<FloatType>(target))
          bits = nest.make<arith::BitcastOp>(target, bits);
        Point destination = point;
        destination.at.back() = nest.add(nest.mul(group, nest.index(perOut)), nest.index(o));
        nest.store(bits, result, destination);
      }
    });
  });
}
