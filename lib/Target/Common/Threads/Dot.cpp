// Dots: fragments of registers through an atom, or multiply-adds.
#include "ThreadLowering.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// Finds the register that holds an element of an operand, with the thread's place left out.
class RegisterMap {
public:
  RegisterMap(Value tensor, bool transposed) : transposed(transposed) {
    LinearLayout layout = getLayout(tensor);
    for (int64_t reg = layout.getInSize(kRegister) - 1; reg >= 0; --reg) {
      auto element = layout.applyTo(kRegister, reg);
      registers[{element[0], element[1]}] = reg;
    }
  }
  int64_t at(int64_t row, int64_t column) const {
    return registers.lookup(transposed ? std::make_pair(column, row) : std::make_pair(row, column));
  }

private:
  bool transposed;
  llvm::DenseMap<std::pair<int64_t, int64_t>, int64_t> registers;
};
} // namespace

LogicalResult ThreadLowering::lowerDot(DotOp op) {
  Attribute atomAttr = op.getAtomAttr();
  if (auto atom = dyn_cast<MmaAtomInterface>(atomAttr))
    return lowerDotByAtom(op, atom);
  return lowerDotByFma(op);
}

/// f32 elements rounded to tf32, to nearest with ties away from zero; NaN stays NaN.
static Value roundToTF32(OpBuilder &builder, Location loc, Value element) {
  auto constant = [&](int64_t value) {
    return arith::ConstantIntOp::create(builder, loc, value, 32);
  };
  Value bits = arith::BitcastOp::create(builder, loc, builder.getI32Type(), element);
  bits = arith::AddIOp::create(builder, loc, bits, constant(0x1000));
  bits = arith::AndIOp::create(builder, loc, bits, constant(int32_t(0xffffe000)));
  Value rounded = arith::BitcastOp::create(builder, loc, element.getType(), bits);
  Value isNaN = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, element, element);
  return arith::SelectOp::create(builder, loc, isNaN, element, rounded);
}

LogicalResult ThreadLowering::lowerDotByAtom(DotOp op, MmaAtomInterface atom) {
  if (isa<BufferType>(op.getA().getType()) || isa<BufferType>(op.getB().getType()))
    return emitUnsupported(op, target, "expected tensors as operands");
  SmallVector<Value> a = getElements(op.getA()), b = getElements(op.getB()),
                     sums = getElements(op.getAccumulator());
  if (op.getPrecision() == DotPrecision::TF32 && a.front().getType().isF32())
    for (SmallVector<Value> *elements : {&a, &b})
      for (Value &element : *elements)
        element = roundToTF32(builder, loc, element);
  RegisterMap mapA(op.getA(), op.getTransposeA()), mapB(op.getB(), op.getTransposeB());
  RegisterMap mapC(op.getAccumulator(), false);
  LinearLayout layoutC = getLayout(op.getAccumulator());
  std::array<int64_t, 3> extents = atom.getExtents();
  std::array<LinearLayout, 3> fragments = {atom.getFragment(0), atom.getFragment(1),
                                           atom.getFragment(2)};

  /// The registers of a fragment whose first element lies at (row, column).
  auto find = [&](unsigned operand, const RegisterMap &map, int64_t row, int64_t column) {
    SmallVector<int64_t> registers;
    const LinearLayout &fragment = fragments[operand];
    for (int64_t reg = 0; reg < fragment.getInSize(kRegister); ++reg) {
      auto element = fragment.applyTo(kRegister, reg);
      registers.push_back(map.at(row + element[0], column + element[1]));
    }
    return registers;
  };
  auto gather = [&](ArrayRef<Value> elements, ArrayRef<int64_t> registers) -> Value {
    SmallVector<Value> parts;
    for (int64_t reg : registers)
      parts.push_back(elements[reg]);
    auto type = VectorType::get({int64_t(parts.size())}, parts.front().getType());
    return vector::FromElementsOp::create(builder, loc, type, parts);
  };

  int64_t step = fragments[2].getInSize(kRegister);
  for (int64_t first = 0; first < layoutC.getInSize(kRegister); first += step) {
    auto origin = layoutC.applyTo(kRegister, first);
    SmallVector<int64_t> places = find(2, mapC, origin[0], origin[1]);
    Value sum = gather(sums, places);
    for (int64_t k = 0; k < op.getK(); k += extents[2])
      sum = atom.emit(builder, loc, gather(a, find(0, mapA, origin[0], k)),
                      gather(b, find(1, mapB, k, origin[1])), sum);
    for (auto [i, reg] : llvm::enumerate(places))
      sums[reg] = vector::ExtractOp::create(builder, loc, sum, i);
  }
  setElements(op.getResult(), sums);
  return success();
}

LogicalResult ThreadLowering::lowerDotByFma(DotOp op) {
  SmallVector<Value> a = getElements(op.getA()), b = getElements(op.getB()),
                     sums = getElements(op.getAccumulator());
  Type type = sums.front().getType();
  auto widen = [&](SmallVector<Value> &elements, bool isUnsigned) {
    for (Value &element : elements) {
      if (op.getPrecision() == DotPrecision::TF32 && element.getType().isF32())
        element = roundToTF32(builder, loc, element);
      if (element.getType() == type)
        continue;
      if (isa<FloatType>(type))
        element = arith::ExtFOp::create(builder, loc, type, element);
      else if (isUnsigned)
        element = arith::ExtUIOp::create(builder, loc, type, element);
      else
        element = arith::ExtSIOp::create(builder, loc, type, element);
    }
  };
  widen(a, op.getUnsignedA());
  widen(b, op.getUnsignedB());
  RegisterMap mapA(op.getA(), op.getTransposeA()), mapB(op.getB(), op.getTransposeB());
  LinearLayout layoutC = getLayout(op.getAccumulator());
  for (int64_t reg = 0; reg < layoutC.getInSize(kRegister); ++reg) {
    auto at = layoutC.applyTo(kRegister, reg);
    Value sum = sums[reg];
    for (int64_t k = 0; k < op.getK(); ++k) {
      Value left = a[mapA.at(at[0], k)], right = b[mapB.at(k, at[1])];
      if (isa<FloatType>(type))
        sum = math::FmaOp::create(builder, loc, left, right, sum);
      else
        sum = arith::AddIOp::create(builder, loc, sum,
                                    arith::MulIOp::create(builder, loc, left, right));
    }
    sums[reg] = sum;
  }
  setElements(op.getResult(), sums);
  return success();
}
