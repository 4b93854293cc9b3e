// Products by their transposes: Dᵀ = Bᵀ Aᵀ + Cᵀ.
//
// An instruction has many rows and a choice of columns. A product of few rows fills it where these
// are its columns.
#include "kiln/Dialect/Tile/IR/AccessDecisions.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Swapped.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Layout/Transforms/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace kiln {
#define GEN_PASS_DEF_REALISESWAP
#include "kiln/Layout/Transforms/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

/// The last two dimensions exchanged.
template <typename T>
static SmallVector<T> exchange(ArrayRef<T> values) {
  SmallVector<T> exchanged(values);
  std::swap(exchanged.end()[-2], exchanged.end()[-1]);
  return exchanged;
}

static RankedTensorType getTurned(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.clone(exchange(type.getShape()));
}

/// What a value is the transpose of, if it is one that exchanges the last two dimensions.
static Value findTurned(Value value) {
  auto transpose = value.getDefiningOp<TransposeOp>();
  if (!transpose)
    return {};
  auto straight = llvm::to_vector(llvm::seq<int64_t>(0, transpose.getType().getRank()));
  bool isTurned = transpose.getPermutation() == ArrayRef(exchange(ArrayRef<int64_t>(straight)));
  return isTurned ? Value(transpose.getInput()) : Value();
}

static Value turn(OpBuilder &builder, Location loc, Value value) {
  if (Value turned = findTurned(value))
    return turned;
  SplatElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)))
    return arith::ConstantOp::create(builder, loc, splat.resizeSplat(getTurned(value)));
  auto straight =
      llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(value.getType()).getRank()));
  return TransposeOp::create(builder, loc, getTurned(value), value,
                             builder.getDenseI64ArrayAttr(exchange(ArrayRef<int64_t>(straight))));
}

void kiln::exchangeOperands(DotOp dot) {
  bool turnsA = dot.getTransposeA(), isUnsignedA = dot.getUnsignedA();
  Value a = dot.getA();
  dot.getAMutable().assign(dot.getB());
  dot.getBMutable().assign(a);
  dot.getResult().setType(getTurned(dot.getResult()));
  SmallVector<Value> scales(llvm::reverse(dot.getScales()));
  dot.getScalesMutable().assign(scales);
  dot.setTransposeA(!dot.getTransposeB());
  dot.setTransposeB(!turnsA);
  dot.setUnsignedA(dot.getUnsignedB());
  dot.setUnsignedB(isUnsignedA);
  if (auto decided = dot->getAttrOfType<DenseI64ArrayAttr>(kExtentsAttrName)) {
    SmallVector<int64_t> extents(decided.asArrayRef());
    std::swap(extents[0], extents[1]);
    dot->setAttr(kExtentsAttrName, DenseI64ArrayAttr::get(dot.getContext(), extents));
  }
}

/// The transpose of the product, whose operands change places. What is decided of it stays.
static DotOp swap(DotOp dot) {
  OpBuilder builder(dot);
  Location loc = dot.getLoc();
  Value sum = turn(builder, loc, dot.getAccumulator());
  auto made = cast<DotOp>(builder.clone(*dot));
  made.removeSwapAttr();
  markSwapped(made);
  exchangeOperands(made);
  made.getAccumulatorMutable().assign(sum);
  dot.replaceAllUsesWith(turn(builder, loc, made.getResult()));
  dot.erase();
  return made;
}

/// If a loop carries a sum for the product alone, it carries the transpose.
static void carryTurned(DotOp dot) {
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  auto transpose = dot.getAccumulator().getDefiningOp<TransposeOp>();
  auto sum = transpose ? dyn_cast<BlockArgument>(transpose.getInput()) : BlockArgument();
  if (!loop || !sum || sum.getOwner() != loop.getBody() || !sum.hasOneUse())
    return;
  OpOperand &yielded = loop.getBody()->getTerminator()->getOpOperand(sum.getArgNumber() - 1);
  if (findTurned(yielded.get()) != dot.getResult())
    return;
  OpBuilder builder(loop);
  OpOperand &init = *loop.getTiedLoopInit(sum);
  init.set(turn(builder, dot.getLoc(), init.get()));
  Operation *turnedBack = yielded.get().getDefiningOp();
  yielded.set(dot.getResult());
  if (turnedBack->use_empty())
    turnedBack->erase();
  sum.setType(getTurned(sum));
  transpose.replaceAllUsesWith(Value(sum));
  transpose.erase();
  Value result = loop.getTiedLoopResult(&init);
  result.setType(getTurned(result));
  builder.setInsertionPointAfter(loop);
  SmallVector<OpOperand *> uses =
      llvm::map_to_vector(result.getUses(), [](OpOperand &use) { return &use; });
  if (uses.empty())
    return;
  auto straight =
      llvm::to_vector(llvm::seq<int64_t>(0, cast<RankedTensorType>(result.getType()).getRank()));
  Value straightened =
      TransposeOp::create(builder, dot.getLoc(), getTurned(result), result,
                          builder.getDenseI64ArrayAttr(exchange(ArrayRef<int64_t>(straight))));
  for (OpOperand *use : uses)
    use->set(straightened);
}

namespace {
struct RealiseSwap : kiln::impl::RealiseSwapBase<RealiseSwap> {
  void runOnOperation() override {
    SmallVector<DotOp> dots;
    getOperation().walk([&](DotOp dot) {
      if (dot.isSwapped())
        dots.push_back(dot);
      else
        dot.removeSwapAttr();
    });
    for (DotOp dot : dots) {
      if (dot->hasAttr(kLayoutAttrName) || dot.getType().getEncoding()) {
        dot.emitOpError("expected no layout of a result of which the transpose is computed, since "
                        "'swap' is decided");
        return signalPassFailure();
      }
      carryTurned(swap(dot));
    }
  }
};
} // namespace
