// Rewrites dots that the chip has no instruction for as dots that it has one for, or that its
// threads can make by multiply-adds. What is asked of the target is which atoms it has. Operands
// that an instruction reads from shared memory, and only the other way round, are transposed by
// warps.
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/TakeDecisions.h"
#include "kiln/Layout/Transforms/AsyncAtomInterfaces.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace kiln {
#define GEN_PASS_DEF_LEGALISEDOTS
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
class Legaliser {
public:
  Legaliser(TargetInterface target, MLIRContext *context) : target(target), builder(context) {}

  LogicalResult legalise(DotOp op) {
    builder.setInsertionPoint(op);
    for (OpOperand *operand : {&op.getAMutable(), &op.getBMutable()})
      readBuffer(*operand);
    if (!getMmaAtoms(op, target).empty())
      return success();
    Type a = getElementTypeOrSelf(op.getA()), b = getElementTypeOrSelf(op.getB());
    if (isa<Float8E4M3FNType, Float8E5M2Type>(a))
      widenF8(op, a, b);
    else if (a.isInteger(4))
      widenI4(op);
    if (op.getUnsignedA() || op.getUnsignedB())
      return makeSigned(op);
    return success();
  }

  /// Where an instruction takes an operand from shared memory only if it lies the other way round,
  /// warps turn it on its way there.
  void turn(DotOp op) {
    auto atom = dyn_cast<AsyncMmaAtomInterface>(op.getAtomAttr());
    for (OpOperand *operand : {&op.getAMutable(), &op.getBMutable()}) {
      unsigned number = operand->getOperandNumber();
      bool isTransposed = number ? op.getTransposeB() : op.getTransposeA();
      auto takes = [&](ArrayRef<int64_t> shape, bool transposed) {
        return !atom.getSharedLayouts(number, shape, transposed).empty();
      };
      bool isWritten = isWrittenForDot(*operand);
      auto load = operand->get().getDefiningOp<LoadOp>();
      bool isDecided =
          !isWritten && load && (load.getBuffer() || load->hasAttr(kResidencyAttrName));
      if ((!isWritten && !isReadFromBuffer(*operand)) || isDecided || atom.getPrograms() > 1)
        continue;
      ArrayRef<int64_t> shape = cast<RankedTensorType>(operand->get().getType()).getShape();
      if (takes(shape, isTransposed) || !takes({shape[1], shape[0]}, !isTransposed))
        continue;
      builder.setInsertionPoint(op);
      Value turned = transpose(operand->get());
      // What is in flight reads no registers that the next trip writes.
      if (isWritten || op.getInFlight().value_or(0) > 0)
        turned.getDefiningOp()->setAttr(kResidencyAttrName, builder.getStringAttr("shared"));
      operand->set(turned);
      number ? op.setTransposeB(!isTransposed) : op.setTransposeA(!isTransposed);
    }
  }

  void expand(DotScaledOp op) { replace(op, op.getScaleA(), op.getScaleB(), /*transposeA=*/false); }
  void expand(DotOp op) {
    for (OpOperand *operand : {&op.getAMutable(), &op.getBMutable()}) {
      builder.setInsertionPoint(op);
      readBuffer(*operand);
    }
    replace(op, op.getScales()[0], op.getScales()[1], op.getTransposeA());
  }

private:
  /// a and b as bf16, which holds every product of an element and its scale to its last bit, down
  /// to the least normal number.
  template <typename Op>
  void replace(Op op, Value scalesA, Value scalesB, bool transposeA) {
    builder.setInsertionPoint(op);
    if (transposeA)
      scalesA = transpose(scalesA);
    Value a = applyScales(unpack(op.getA()), scalesA, /*lastIsK=*/!transposeA);
    if (!op.getTransposeB())
      scalesB = transpose(scalesB);
    Value b = applyScales(unpack(op.getB()), scalesB, op.getTransposeB());
    auto dot = createDot(op.getLoc(), a, b, op.getAccumulator(), transposeA, op.getTransposeB());
    takeDecisions(dot, op);
    op.replaceAllUsesWith(dot.getResult());
    op.erase();
  }

  /// Of bytes the two elements that each has.
  Value unpack(Value elements) {
    auto type = cast<RankedTensorType>(elements.getType());
    if (!type.getElementType().isInteger(8))
      return elements;
    auto unpacked = RankedTensorType::get({type.getDimSize(0), 2 * type.getDimSize(1)},
                                          Float4E2M1FNType::get(type.getContext()));
    return BitcastOp::create(builder, elements.getLoc(), unpacked, elements, DenseI64ArrayAttr());
  }

  DotOp createDot(Location loc, Value a, Value b, Value accumulator, bool transposeA,
                  bool transposeB) {
    return DotOp::create(builder, loc, accumulator.getType(), a, b, accumulator, /*scales=*/{},
                         transposeA, transposeB, /*unsigned_a=*/false, /*unsigned_b=*/false,
                         DotPrecision::IEEE, Attribute(), IntegerAttr(), IntegerAttr(),
                         StringAttr(), IntegerAttr(), DenseI64ArrayAttr(), IntegerAttr(),
                         DenseI64ArrayAttr(), DenseI64ArrayAttr(), /*promote=*/BoolAttr(),
                         /*swap=*/BoolAttr(), InterleaveAttr());
  }

  void readBuffer(OpOperand &operand) {
    auto type = dyn_cast<BufferType>(operand.get().getType());
    if (type)
      operand.set(ReadOp::create(builder, operand.getOwner()->getLoc(),
                                 RankedTensorType::get(type.getShape(), type.getElementType()),
                                 operand.get()));
  }

  Value constant(Value like, int64_t value) {
    auto type = cast<RankedTensorType>(like.getType());
    return arith::ConstantOp::create(
        builder, like.getLoc(),
        DenseElementsAttr::get(type, builder.getIntegerAttr(type.getElementType(), value)));
  }

  template <typename Op>
  Value convert(Value value, Type element) {
    auto type = cast<RankedTensorType>(value.getType());
    return type.getElementType() == element
               ? value
               : Value(Op::create(builder, value.getLoc(), type.clone(element), value));
  }

  /// Both f16 and bf16 hold every value of both types; bf16 as a normal number, which matters where
  /// f16's others count as zero.
  void widenF8(DotOp op, Type a, Type b) {
    bool isSmall = isa<Float8E5M2Type>(a) || isa<Float8E5M2Type>(b);
    Type wide = builder.getF16Type();
    if (isSmall && target.getChipRecord().flushesHalves)
      wide = builder.getBF16Type();
    for (OpOperand *operand : {&op.getAMutable(), &op.getBMutable()})
      operand->set(convert<arith::ExtFOp>(operand->get(), wide));
  }

  /// i8 holds both signed and unsigned ones.
  void widenI4(DotOp op) {
    auto widen = [&](Value value, bool isUnsigned) {
      return isUnsigned ? convert<arith::ExtUIOp>(value, builder.getI8Type())
                        : convert<arith::ExtSIOp>(value, builder.getI8Type());
    };
    op.getAMutable().assign(widen(op.getA(), op.getUnsignedA()));
    op.getBMutable().assign(widen(op.getB(), op.getUnsignedB()));
    op.setUnsignedA(false);
    op.setUnsignedB(false);
  }

  /// An unsigned byte is 128 more than the signed one whose first bit is the other:
  /// (a + 128) b = a b - (-128) b, and so for b, to the last bit since sums wrap.
  LogicalResult makeSigned(DotOp op) {
    Type i8 = builder.getI8Type();
    if (llvm::none_of(target.getMmaAtoms(i8, i8, builder.getI32Type()),
                      [&](Attribute atom) { return fits(cast<WarpMmaAtomInterface>(atom), op); }))
      return success();
    if (op.getOrder())
      return op.emitOpError("expected no 'order', since several products of signed bytes stand for "
                            "it on ")
             << target.getSpelling();
    Value a = op.getA(), b = op.getB(), sum = op.getAccumulator();
    Location loc = op.getLoc();
    bool unsignedA = op.getUnsignedA(), unsignedB = op.getUnsignedB();
    auto flip = [&](Value value) -> Value {
      return arith::XOrIOp::create(builder, loc, value, constant(value, -128));
    };
    if (unsignedA)
      a = flip(a);
    if (unsignedB)
      b = flip(b);
    auto multiply = [&](Value left, Value right, Value start) {
      auto dot = createDot(loc, left, right, start, op.getTransposeA(), op.getTransposeB());
      dot.setStageAttr(op.getStageAttr());
      dot.setRoleAttr(op.getRoleAttr());
      dot.setPartsAttr(op.getPartsAttr());
      dot.setReadsAheadAttr(op.getReadsAheadAttr());
      dot.setPartStagesAttr(op.getPartStagesAttr());
      return dot;
    };
    Value minus;
    if (unsignedA)
      minus = multiply(constant(a, -128), b, constant(sum, 0));
    if (unsignedB)
      minus = multiply(a, constant(b, -128), minus ? minus : constant(sum, 0));
    sum = arith::SubIOp::create(builder, loc, sum, minus);
    if (unsignedA && unsignedB)
      sum = arith::AddIOp::create(builder, loc, sum, constant(sum, 128 * 128 * op.getK()));
    DotOp last = multiply(a, b, sum);
    takeDecisions(last, op);
    op.replaceAllUsesWith(last.getResult());
    op.erase();
    return success();
  }

  Value transpose(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    return TransposeOp::create(builder, value.getLoc(),
                               type.clone({type.getDimSize(1), type.getDimSize(0)}), value,
                               ArrayRef<int64_t>{1, 0});
  }

  /// Each element times the scale of its block along k, which is the last dimension or the first.
  Value applyScales(Value elements, Value scales, bool lastIsK) {
    Location loc = elements.getLoc();
    auto type = cast<RankedTensorType>(elements.getType());
    unsigned dim = lastIsK ? 1 : 0;
    Type f32 = builder.getF32Type(), i32 = builder.getI32Type();
    scales = convert<arith::ExtFOp>(scales, f32);
    auto few = cast<RankedTensorType>(scales.getType());
    int64_t block = type.getDimSize(dim) / few.getDimSize(dim);
    SmallVector<int64_t> one(few.getShape());
    one.insert(one.begin() + dim + 1, 1);
    SmallVector<int64_t> all = one;
    all[dim + 1] = block;
    scales = ReshapeOp::create(builder, loc, few.clone(one), scales);
    scales = BroadcastOp::create(builder, loc, few.clone(all), scales);
    scales = ReshapeOp::create(builder, loc, type.clone(f32), scales);
    Value scaled =
        arith::MulFOp::create(builder, loc, convert<arith::ExtFOp>(elements, f32), scales);
    // Nothing is lost with the lower half, so it need not be rounded.
    Value bits = convert<arith::BitcastOp>(scaled, i32);
    bits = arith::ShRUIOp::create(builder, loc, bits, constant(bits, 16));
    bits = convert<arith::TruncIOp>(bits, builder.getI16Type());
    return convert<arith::BitcastOp>(bits, builder.getBF16Type());
  }

  TargetInterface target;
  OpBuilder builder;
};

struct LegaliseDots : kiln::impl::LegaliseDotsBase<LegaliseDots> {
  void runOnOperation() override {
    FailureOr<TargetInterface> target = requireTarget(getOperation());
    if (failed(target))
      return signalPassFailure();
    Legaliser legaliser(*target, &getContext());
    for (KernelOp kernel : getOperation().getOps<KernelOp>()) {
      SmallVector<DotScaledOp> scaled;
      kernel.walk([&](DotScaledOp dot) {
        if (!dot.getAtomAttr() && getMmaAtoms(dot, *target).empty())
          scaled.push_back(dot);
      });
      for (DotScaledOp dot : scaled)
        legaliser.expand(dot);
      SmallVector<DotOp> dots, joined;
      kernel.walk([&](DotOp dot) {
        if (!dot.getAtomAttr() && !dot.getScales().empty())
          joined.push_back(dot);
      });
      for (DotOp dot : joined)
        legaliser.expand(dot);
      kernel.walk([&](DotOp dot) {
        if (!dot.getAtomAttr())
          dots.push_back(dot);
      });
      for (DotOp dot : dots)
        if (failed(legaliser.legalise(dot)))
          return signalPassFailure();
      kernel.walk([&](DotOp dot) {
        if (isa_and_nonnull<AsyncMmaAtomInterface>(dot.getAtomAttr()))
          legaliser.turn(dot);
      });
    }
  }
};
} // namespace
