// Dots: fragments of registers through an atom, or multiply-adds.
#include "../ThreadPatterns.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

namespace {
/// Finds the register that holds an element of an operand, with the thread's place left out.
class RegisterMap {
public:
  RegisterMap(Value tensor, bool transposed) : layout(getLayout(tensor)), transposed(transposed) {
    for (int64_t reg = layout.getInSize(kRegister) - 1; reg >= 0; --reg)
      registers[layout.flatten(layout.applyTo(kRegister, reg))] = reg;
  }
  /// In the matrix of the batch that `origin` lies in.
  int64_t at(ArrayRef<int64_t> origin, int64_t row, int64_t column) const {
    LinearLayout::Basis element(origin);
    element.end()[-2] = transposed ? column : row;
    element.end()[-1] = transposed ? row : column;
    return registers.lookup(layout.flatten(element));
  }

private:
  LinearLayout layout;
  bool transposed;
  llvm::DenseMap<int64_t, int64_t> registers;
};
} // namespace

/// Some of a thread's registers as a vector.
static Value gather(ThreadContext &context, ArrayRef<Value> elements, ArrayRef<int64_t> registers) {
  SmallVector<Value> parts =
      llvm::map_to_vector(registers, [&](int64_t reg) { return elements[reg]; });
  return makeVector(context, context.getLoc(), parts);
}

/// An f32 rounded to tf32 as the host rounds it, to nearest with ties to even; NaN stays NaN.
static Value roundToTF32(ThreadContext &context, Value element) {
  auto constant = [&](int64_t value) { return arith::ConstantIntOp::create(context, value, 32); };
  Value bits = arith::BitcastOp::create(context, context.getI32Type(), element);
  Value last = arith::ShRUIOp::create(context, bits, constant(13));
  last = arith::AndIOp::create(context, last, constant(1));
  bits = arith::AddIOp::create(context, bits, constant(0xfff));
  bits = arith::AddIOp::create(context, bits, last);
  bits = arith::AndIOp::create(context, bits, constant(int32_t(0xffffe000)));
  Value rounded = arith::BitcastOp::create(context, element.getType(), bits);
  Value isNaN = arith::CmpFOp::create(context, arith::CmpFPredicate::UNO, element, element);
  return arith::SelectOp::create(context, isNaN, element, rounded);
}

namespace {
/// An operand of f32 as the products of precision tf32x3 take it: the sum of `high`, which is the
/// nearest tf32, and `low`. The part that is multiplied with the other operand's low one is
/// `finite`: infinity times zero must not spoil what `high` alone gives.
struct SplitOperand {
  SmallVector<Value> high, finite, low;
};
} // namespace

static SplitOperand splitToTF32(ThreadContext &context, ArrayRef<Value> elements) {
  SplitOperand split;
  for (Value element : elements) {
    Type f32 = element.getType();
    auto real = [&](float value) -> Value {
      return arith::ConstantOp::create(context, context.getF32FloatAttr(value));
    };
    auto bits = [&](Value value, int32_t mask) -> Value {
      value = arith::BitcastOp::create(context, context.getI32Type(), value);
      value =
          arith::AndIOp::create(context, value, arith::ConstantIntOp::create(context, mask, 32));
      return arith::BitcastOp::create(context, f32, value);
    };
    auto isFinite = [&](Value value) -> Value {
      return arith::CmpFOp::create(context, arith::CmpFPredicate::OLT,
                                   math::AbsFOp::create(context, value), real(INFINITY));
    };
    // The largest numbers would round to infinity: those lose their last bits instead.
    Value rounded = roundToTF32(context, element);
    Value cut = arith::SelectOp::create(context, isFinite(element),
                                        bits(element, int32_t(0xffffe000)), element);
    Value high = arith::SelectOp::create(context, isFinite(rounded), rounded, cut);
    Value isNumber = isFinite(high);
    Value low = arith::SubFOp::create(context, element, high);
    split.high.push_back(high);
    split.finite.push_back(arith::SelectOp::create(context, isNumber, high, real(0)));
    split.low.push_back(
        arith::SelectOp::create(context, isNumber, roundToTF32(context, low), real(0)));
  }
  return split;
}

/// The places along a dimension that a thread's registers hold, with its own left out, ascending.
static SmallVector<int64_t> getPlaces(const LinearLayout &layout, unsigned dim) {
  SmallVector<int64_t> places;
  for (int64_t reg = 0; reg < layout.getInSize(kRegister); ++reg)
    places.push_back(layout.applyTo(kRegister, reg)[dim]);
  llvm::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
  return places;
}

/// A sum over k may go in any order. If the registers of a and b hold the same places along k, but
/// others than those of the fragments, these places; and lanes must stand as the fragments' do, but
/// for their places along k, of which a and b need only have the same.
static SmallVector<int64_t> getOwnOrder(DotOp op, ArrayRef<LinearLayout> fragments, int64_t step) {
  LinearLayout a = getLayout(op.getA()), b = getLayout(op.getB());
  if (a.getOuts().size() != 2)
    return {};
  unsigned kOfA = op.getTransposeA() ? 0 : 1, kOfB = op.getTransposeB() ? 1 : 0;
  SmallVector<int64_t> places = getPlaces(a, kOfA), usual;
  for (int64_t k = 0; k < op.getK(); k += step)
    for (int64_t place : getPlaces(fragments[0], 1))
      usual.push_back(k + place);
  llvm::sort(usual);
  if (places == usual || places.size() != usual.size() || places != getPlaces(b, kOfB))
    return {};
  unsigned lanes = fragments[0].getInBits(kLane);
  if (a.getInBits(kLane) != lanes || b.getInBits(kLane) != lanes ||
      a.getInBits(kWarp) != b.getInBits(kWarp))
    return {};
  for (auto [left, right] : llvm::zip(a.getBases(kWarp), b.getBases(kWarp)))
    if (left[kOfA] != right[kOfB])
      return {};
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const auto &ofA = a.getBases(kLane)[lane], &ofB = b.getBases(kLane)[lane];
    const auto &wantA = fragments[0].getBases(kLane)[lane];
    const auto &wantB = fragments[1].getBases(kLane)[lane];
    if (ofA[kOfA] != ofB[kOfB] || (ofA[kOfA] != 0) != (wantA[1] != 0) ||
        ofA[1 - kOfA] != wantA[0] || ofB[1 - kOfB] != wantB[1])
      return {};
  }
  return places;
}

/// Whether lanes hold what the atom's fragments say, and the warps of an operand what those of the
/// accumulator are for: pinned layouts may not. Where a and b have an order of their own along k,
/// that dimension has been looked at.
static bool fitsFragments(DotOp op, ArrayRef<LinearLayout> fragments, bool hasOwnOrder) {
  LinearLayout layouts[] = {getLayout(op.getA()), getLayout(op.getB()),
                            getLayout(op.getAccumulator())};
  bool transposed[] = {op.getTransposeA(), op.getTransposeB(), false};
  // By operand: which of its dimensions, as the fragment has them, is k.
  constexpr unsigned dimK[] = {1, 0, 2};
  for (unsigned operand = 0; operand < 3; ++operand) {
    const LinearLayout &layout = layouts[operand], &fragment = fragments[operand];
    unsigned batches = layout.getOuts().size() - 2;
    auto part = [&](const LinearLayout::Basis &basis, unsigned dim) {
      return basis[batches + (transposed[operand] ? 1 - dim : dim)];
    };
    auto lanes = layout.getBases(kLane), wanted = fragment.getBases(kLane);
    if (lanes.size() != wanted.size() || layout.getInBits(kWarp) != layouts[2].getInBits(kWarp))
      return false;
    for (auto [have, want] : llvm::zip(lanes, wanted))
      for (unsigned dim = 0; dim < 2; ++dim)
        if (part(have, dim) != want[dim] && !(hasOwnOrder && dim == dimK[operand]))
          return false;
    for (auto [have, want] : llvm::zip(layout.getBases(kWarp), layouts[2].getBases(kWarp))) {
      for (unsigned dim = 0; dim < 2; ++dim)
        if (part(have, dim) != (dim == dimK[operand] ? 0 : want[batches + dim]) && !hasOwnOrder)
          return false;
      if (!std::equal(have.begin(), have.begin() + batches, want.begin()))
        return false;
    }
  }
  return true;
}

static LogicalResult lowerDotByAtom(ThreadContext &context, DotOp op, WarpMmaAtomInterface atom) {
  if (isa<BufferType>(op.getA().getType()) || isa<BufferType>(op.getB().getType()))
    return emitUnsupported(op, context.target, "expected tensors as operands");
  SmallVector<Value> a = context.getElements(op.getA()), b = context.getElements(op.getB()),
                     sums = context.getElements(op.getAccumulator());
  // What is multiplied, one product after the other: the least go first.
  SmallVector<std::pair<SmallVector<Value>, SmallVector<Value>>> products;
  if (op.getPrecision() == DotPrecision::TF32x3) {
    SplitOperand left = splitToTF32(context, a), right = splitToTF32(context, b);
    products = {{left.low, right.finite}, {left.finite, right.low}, {left.high, right.high}};
  } else {
    if (op.getPrecision() == DotPrecision::TF32)
      for (SmallVector<Value> *elements : {&a, &b})
        for (Value &element : *elements)
          element = roundToTF32(context, element);
    products = {{a, b}};
  }
  RegisterMap mapA(op.getA(), op.getTransposeA()), mapB(op.getB(), op.getTransposeB());
  RegisterMap mapC(op.getAccumulator(), false);
  LinearLayout layoutC = getLayout(op.getAccumulator());
  std::array<int64_t, 3> extents = atom.getExtents();
  std::array<LinearLayout, 3> fragments = {atom.getFragment(0), atom.getFragment(1),
                                           atom.getFragment(2)};

  SmallVector<int64_t> ofFragment = getPlaces(fragments[0], 1);
  SmallVector<int64_t> ownOrder = getOwnOrder(op, fragments, extents[2]);
  if (!fitsFragments(op, fragments, !ownOrder.empty()))
    return op.emitOpError("expected operands whose lanes hold what the fragments of ")
           << Attribute(atom) << " do, and whose warps those of the accumulator, got "
           << op.getA().getType() << ", " << op.getB().getType() << " and "
           << op.getAccumulator().getType();

  /// The registers of a fragment whose first element lies at (row, column) of the matrix that
  /// `origin` lies in. Dimension `dimK` is k's.
  auto find = [&](unsigned operand, const RegisterMap &map, ArrayRef<int64_t> origin, int64_t row,
                  int64_t column, int dimK = -1) {
    SmallVector<int64_t> registers;
    const LinearLayout &fragment = fragments[operand];
    for (int64_t reg = 0; reg < fragment.getInSize(kRegister); ++reg) {
      auto element = fragment.applyTo(kRegister, reg);
      int64_t at[2] = {row + element[0], column + element[1]};
      if (dimK >= 0 && !ownOrder.empty()) {
        auto number = llvm::lower_bound(ofFragment, element[dimK]) - ofFragment.begin();
        at[dimK] = ownOrder[at[dimK] / extents[2] * ofFragment.size() + number];
      }
      registers.push_back(map.at(origin, at[0], at[1]));
    }
    return registers;
  };

  int64_t step = fragments[2].getInSize(kRegister);
  for (int64_t first = 0; first < layoutC.getInSize(kRegister); first += step) {
    auto origin = layoutC.applyTo(kRegister, first);
    int64_t row = origin.end()[-2], column = origin.end()[-1];
    SmallVector<int64_t> places = find(2, mapC, origin, row, column);
    Value sum = gather(context, sums, places);
    for (auto &[left, right] : products)
      for (int64_t k = 0; k < op.getK(); k += extents[2])
        sum = atom.emit(context, context.getLoc(),
                        gather(context, left, find(0, mapA, origin, row, k, 1)),
                        gather(context, right, find(1, mapB, origin, k, column, 0)), sum);
    for (auto [i, reg] : llvm::enumerate(places))
      sums[reg] = elementAt(context, context.getLoc(), sum, i);
  }
  context.setElements(op.getResult(), sums);
  return success();
}

static void lowerDotByFma(ThreadContext &context, DotOp op) {
  SmallVector<Value> a = context.getElements(op.getA()), b = context.getElements(op.getB()),
                     sums = context.getElements(op.getAccumulator());
  Type type = sums.front().getType();
  auto widen = [&](SmallVector<Value> &elements, bool isUnsigned) {
    for (Value &element : elements) {
      if (op.getPrecision() == DotPrecision::TF32 && element.getType().isF32())
        element = roundToTF32(context, element);
      if (element.getType() == type)
        continue;
      if (isa<FloatType>(type))
        element = arith::ExtFOp::create(context, type, element);
      else if (isUnsigned)
        element = arith::ExtUIOp::create(context, type, element);
      else
        element = arith::ExtSIOp::create(context, type, element);
    }
  };
  widen(a, op.getUnsignedA());
  widen(b, op.getUnsignedB());
  RegisterMap mapA(op.getA(), op.getTransposeA()), mapB(op.getB(), op.getTransposeB());
  LinearLayout layoutC = getLayout(op.getAccumulator());
  SmallVector<LinearLayout::Basis> places;
  for (size_t reg = 0; reg < sums.size(); ++reg)
    places.push_back(layoutC.applyTo(kRegister, reg));
  for (int64_t k = 0; k < op.getK(); ++k)
    for (auto [at, sum] : llvm::zip_equal(places, sums)) {
      Value left = a[mapA.at(at, at.end()[-2], k)], right = b[mapB.at(at, k, at.end()[-1])];
      if (isa<FloatType>(type))
        sum = math::FmaOp::create(context, left, right, sum);
      else
        sum = arith::AddIOp::create(context, sum, arith::MulIOp::create(context, left, right));
    }
  context.setElements(op.getResult(), sums);
}

static LogicalResult lowerScaledDot(ThreadContext &context, DotScaledOp op) {
  auto atom = cast<ScaledMmaAtomInterface>(op.getAtomAttr());
  std::array<LinearLayout, 5> wanted =
      getDotLayouts(op, atom, {context.chip.warpSize, unsigned(context.getWarps())});
  for (auto [operand, layout] : llvm::zip(op.getOperands(), wanted))
    for (StringRef part : {kLane, kWarp})
      if (getLayout(operand).getBases(part) != layout.getBases(part))
        return op.emitOpError("expected operands whose lanes and warps hold what ")
               << Attribute(atom) << " needs, got " << operand.getType();
  SmallVector<Value> a = context.getElements(op.getA()), b = context.getElements(op.getB()),
                     sums = context.getElements(op.getAccumulator());
  auto getScales = [&](Value scales) {
    SmallVector<Value> elements = context.getElements(scales);
    return gather(context, elements, llvm::to_vector(llvm::seq<int64_t>(elements.size())));
  };
  Value scalesA = getScales(op.getScaleA()), scalesB = getScales(op.getScaleB());
  RegisterMap mapA(op.getA(), false), mapB(op.getB(), op.getTransposeB()),
      mapC(op.getAccumulator(), false), mapScaleA(op.getScaleA(), false),
      mapScaleB(op.getScaleB(), false);
  const int64_t origin[] = {0, 0};
  auto find = [&](unsigned operand, const RegisterMap &map, int64_t row, int64_t column) {
    LinearLayout fragment = atom.getFragment(operand);
    SmallVector<int64_t> registers;
    for (int64_t reg = 0; reg < fragment.getInSize(kRegister); ++reg) {
      auto element = fragment.applyTo(kRegister, reg);
      registers.push_back(map.at(origin, row + element[0], column + element[1]));
    }
    return registers;
  };
  LinearLayout layoutC = getLayout(op.getAccumulator());
  std::array<int64_t, 3> extents = atom.getExtents();
  int64_t step = atom.getFragment(2).getInSize(kRegister);
  for (int64_t first = 0; first < layoutC.getInSize(kRegister); first += step) {
    auto at = layoutC.applyTo(kRegister, first);
    SmallVector<int64_t> places = find(2, mapC, at[0], at[1]);
    Value sum = gather(context, sums, places);
    for (int64_t k = 0; k < op.getK(); k += extents[2]) {
      int64_t block = k / atom.getBlock();
      sum = atom.emitScaled(context, context.getLoc(), gather(context, a, find(0, mapA, at[0], k)),
                            scalesA, mapScaleA.at(origin, at[0], block),
                            gather(context, b, find(1, mapB, k, at[1])), scalesB,
                            mapScaleB.at(origin, at[1], block), sum);
    }
    for (auto [i, reg] : llvm::enumerate(places))
      sums[reg] = elementAt(context, context.getLoc(), sum, i);
  }
  context.setElements(op.getResult(), sums);
  return success();
}

//===- What can be lowered ------------------------------------------------------------------===//

/// Products are unrolled, as registers are.
static constexpr int64_t kMostProducts = 1 << 23;

static std::optional<std::string> whyDot(RankedTensorType result, int64_t k) {
  SmallVector<int64_t> extents(result.getShape());
  extents.push_back(k);
  int64_t products = getPaddedElements(extents);
  if (products > kMostProducts)
    return "expected at most " + std::to_string(kMostProducts) + " products, got " +
           std::to_string(products);
  return std::nullopt;
}

/// Operands for which the chip has an instruction if they are large enough, or that its threads
/// multiply as they are.
static bool isDotEmulated(DotOp dot, TargetInterface target) {
  auto [a, b] = getDotTypes(dot);
  if (dot.getPrecision() == DotPrecision::IEEE && a.getIntOrFloatBitWidth() >= 16)
    return false;
  if (dot.getPrecision() == DotPrecision::TF32)
    a = b = FloatTF32Type::get(dot.getContext());
  return target.getMmaAtoms(a, b, getElementTypeOrSelf(dot.getAccumulator())).empty();
}

/// Likewise, by an instruction of threads or by one that is started.
static bool isScaledDotEmulated(DotScaledOp op, TargetInterface target) {
  bool isOfThreads =
      !target
           .getScaledMmaAtoms(getElementTypeOrSelf(op.getA()), getElementTypeOrSelf(op.getScaleA()),
                              getElementTypeOrSelf(op.getB()), getElementTypeOrSelf(op.getScaleB()),
                              getElementTypeOrSelf(op.getAccumulator()))
           .empty();
  return !isOfThreads && target.getAtoms(op).empty();
}

static LogicalResult lowerDot(ThreadContext &context, DotOp op) {
  if (auto atom = dyn_cast<WarpMmaAtomInterface>(op.getAtomAttr()))
    return lowerDotByAtom(context, op, atom);
  lowerDotByFma(context, op);
  return success();
}

void kiln::populateDotPatterns(ThreadPatterns &patterns) {
  patterns.add<DotOp>(lowerDot)
      .unsupportedIf([](DotOp op) { return whyDot(op.getType(), op.getK()); })
      .emulatedIf(isDotEmulated);
  patterns.add<DotScaledOp>(lowerScaledDot)
      .unsupportedIf([](DotScaledOp op) { return whyDot(op.getType(), op.getK()); })
      .emulatedIf(isScaledDotEmulated);
}
