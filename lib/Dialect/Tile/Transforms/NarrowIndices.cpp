// Index arithmetic in 32 bits.
//
// In three steps. What is the same for all elements is computed once, as a scalar. What ranges
// decide is folded: most guards of divisions. Then, in the order of the program, tiles of 64-bit
// integers are computed in 32 bits where ranges prove that nothing is lost. A sum of a scalar b
// that takes 64 bits and a tile t that does not is divided as b // s + (b % s + t) // s, with one
// 64-bit division for all elements, which stands where b and s are: in front of loops.
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/Transforms/IndexRanges.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Dialect/Tile/Transforms/Undecided.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace kiln::tile {
#define GEN_PASS_DEF_NARROWINDICES
#include "kiln/Dialect/Tile/Transforms/Passes.h.inc"

static constexpr int64_t kLeast32 = std::numeric_limits<int32_t>::min();
static constexpr int64_t kMost32 = std::numeric_limits<int32_t>::max();

static bool isWide(Value value) {
  Type element = getElementTypeOrSelf(value);
  return element.isIndex() || element.isInteger(64);
}

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

static bool isDivision(Operation *op) {
  return isa<arith::DivUIOp, arith::DivSIOp, arith::FloorDivSIOp>(op);
}

static bool isRemainder(Operation *op) { return isa<arith::RemUIOp, arith::RemSIOp>(op); }

static bool dividesScalars(Operation *op) {
  return isDivision(op) || isRemainder(op) || isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op);
}

/// What may be computed in fewer bits if operands and results fit these.
static bool isNarrowable(Operation *op) {
  APInt shift;
  if (isa<arith::ShLIOp, arith::ShRSIOp>(op))
    return matchPattern(op->getOperand(1), m_ConstantInt(&shift)) && shift.ult(32);
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::AndIOp, arith::OrIOp,
             arith::XOrIOp, arith::MinSIOp, arith::MaxSIOp, arith::SelectOp, arith::CmpIOp>(op) ||
         dividesScalars(op);
}

/// Whether there is anything to gain.
static bool hasIndexArithmetic(KernelOp kernel) {
  return kernel.getBody()
      .walk([](Operation *op) {
        bool divides = dividesScalars(op);
        bool isWideTile = op->getNumOperands() && isTile(op->getOperand(0)) &&
                          llvm::any_of(op->getOperands(), isWide) &&
                          isa<arith::ArithDialect>(op->getDialect());
        bool isIndexed = isa<GatherOp, ScatterOp, AtomicRMWOp, AtomicCASOp>(op) &&
                         llvm::any_of(op->getOperands(), isWide);
        return divides || isWideTile || isIndexed ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

//===- What all elements share ----------------------------------------------------------------===//

/// The scalar that a tile repeats; null if there is none.
static Value getRepeated(Value tile, OpBuilder *builder) {
  if (auto splat = tile.getDefiningOp<SplatOp>())
    return splat.getValue();
  DenseElementsAttr constant;
  if (!builder || !matchPattern(tile, m_Constant(&constant)) || !constant.isSplat())
    return {};
  return arith::ConstantOp::create(*builder, tile.getLoc(),
                                   cast<TypedAttr>(constant.getSplatValue<Attribute>()));
}

static bool isRepeated(Value tile) {
  DenseElementsAttr constant;
  return tile.getDefiningOp<SplatOp>() ||
         (matchPattern(tile, m_Constant(&constant)) && constant.isSplat());
}

namespace {
/// Integer arithmetic on tiles that repeat one element each.
struct ComputeOnce : RewritePattern {
  explicit ComputeOnce(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    bool fits = isa<arith::ArithDialect>(op->getDialect()) && op->getNumResults() == 1 &&
                op->getNumOperands() > 0 && op->hasTrait<OpTrait::Elementwise>() &&
                op->getDiscardableAttrs().empty() && isTile(op->getResult(0)) &&
                getElementTypeOrSelf(op->getResult(0)).isIntOrIndex() &&
                llvm::all_of(op->getOperands(),
                             [](Value operand) { return !isTile(operand) || isRepeated(operand); });
    if (!fits)
      return rewriter.notifyMatchFailure(op, "its elements differ");
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(isTile(operand) ? getRepeated(operand, &rewriter) : operand);
    Type type = op->getResult(0).getType();
    OperationState state(op->getLoc(), op->getName(), operands, {getElementTypeOrSelf(type)},
                         op->getAttrs());
    Operation *once = rewriter.create(state);
    rewriter.replaceOpWithNewOp<SplatOp>(op, type, once->getResult(0));
    return success();
  }
};

/// Keeps a solver from answering about an op that is gone for one that took its place.
struct ForgetErased : RewriterBase::Listener {
  explicit ForgetErased(DataFlowSolver &solver) : solver(solver) {}
  void notifyOperationErased(Operation *op) override {
    solver.eraseState(solver.getProgramPointAfter(op));
    for (Value result : op->getResults())
      solver.eraseState(result);
  }
  DataFlowSolver &solver;
};

//===- Fewer bits -----------------------------------------------------------------------------===//

/// One kernel's walk, after ranges were found for all of its values.
class Narrowing {
public:
  Narrowing(KernelOp kernel, const DataFlowSolver &solver)
      : kernel(kernel), solver(solver), builder(kernel) {}

  bool run() {
    SmallVector<Operation *> ops;
    kernel.getBody().walk([&](Operation *op) {
      if (op->getDiscardableAttrs().empty())
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (isDivision(op) && splitDividend(op))
        continue;
      if (isNarrowable(op) && narrowOp(op))
        continue;
      narrowUses(op);
    }
    return changed;
  }

private:
  std::optional<SignedRange> getRange(Value value) const {
    if (auto found = ranges.find(value); found != ranges.end())
      return found->second;
    return getSignedRange(solver, value);
  }
  bool isWithin(Value value, int64_t least, int64_t greatest) const {
    std::optional<SignedRange> range = getRange(value);
    return range && range->isWithin(least, greatest);
  }
  /// What is decided of an op is decided of what it gives, in its width.
  bool fits32(Value value) const {
    Operation *op = value.getDefiningOp();
    bool isDecided = op && !findDecision(op).empty();
    return !isWide(value) || (!isDecided && isWithin(value, kLeast32, kMost32));
  }

  Type getNarrow(Type type) {
    Type i32 = builder.getI32Type();
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor ? Type(tensor.clone(i32)) : i32;
  }

  Value castTo(Value value, Type type) {
    Type from = getElementTypeOrSelf(value), to = getElementTypeOrSelf(type);
    Location loc = value.getLoc();
    if (from == to)
      return value;
    if (from.isIndex() || to.isIndex())
      return arith::IndexCastOp::create(builder, loc, type, value);
    if (from.getIntOrFloatBitWidth() < to.getIntOrFloatBitWidth())
      return arith::ExtSIOp::create(builder, loc, type, value);
    return arith::TruncIOp::create(builder, loc, type, value);
  }

  /// The same number in 32 bits, which it is known to fit.
  Value narrow(Value value) {
    if (!isWide(value))
      return value;
    if (Value known = narrowed.lookup(value))
      return known;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(value);
    Type type = getNarrow(value.getType());
    Operation *op = value.getDefiningOp();
    Value result;
    DenseElementsAttr constant;
    if (isa_and_nonnull<arith::ExtSIOp, arith::IndexCastOp>(op)) {
      Value from = op->getOperand(0);
      result = isWide(from) ? narrow(from) : castTo(from, type);
    } else if (isa_and_nonnull<arith::ExtUIOp>(op) &&
               getElementTypeOrSelf(op->getOperand(0)).getIntOrFloatBitWidth() < 32) {
      result = arith::ExtUIOp::create(builder, op->getLoc(), type, op->getOperand(0));
    } else if (isa_and_nonnull<SplatOp, BroadcastOp, ReshapeOp, TransposeOp>(op) &&
               (fits32(op->getOperand(0)))) {
      OperationState state(op->getLoc(), op->getName(), {narrow(op->getOperand(0))}, {type},
                           op->getAttrs());
      result = builder.create(state)->getResult(0);
    } else if (auto iota = dyn_cast_or_null<IotaOp>(op)) {
      result = IotaOp::create(builder, op->getLoc(), type, iota.getDim());
    } else if (isTile(value) && matchPattern(value, m_Constant(&constant)) && constant.isSplat()) {
      auto number =
          IntegerAttr::get(builder.getI32Type(), constant.getSplatValue<APInt>().getSExtValue());
      result = arith::ConstantOp::create(
          builder, op->getLoc(),
          cast<TypedAttr>(DenseElementsAttr::get(cast<ShapedType>(type), Attribute(number))));
    } else {
      result = castTo(value, type);
    }
    remember(value, result);
    return result;
  }

  void remember(Value wide, Value narrow) {
    narrowed[wide] = narrow;
    if (std::optional<SignedRange> range = getRange(wide))
      ranges[narrow] = *range;
  }

  /// Scalars are left alone, but for divisions: they are few, and the same for all threads.
  bool narrowOp(Operation *op) {
    Value result = op->getResult(0);
    bool fits = (isTile(result) || dividesScalars(op)) && llvm::any_of(op->getOperands(), isWide) &&
                llvm::all_of(op->getOperands(), [&](Value v) { return fits32(v); }) &&
                fits32(result);
    bool isPositive =
        llvm::all_of(op->getOperands(), [&](Value v) { return isWithin(v, 0, kMost32); });
    // A negative number is another one to unsigned divisions of fewer bits.
    bool isUnsigned = isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
    if (!fits || (isUnsigned && !isPositive))
      return false;
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(narrow(operand));
    builder.setInsertionPoint(op);
    Type type = isWide(result) ? getNarrow(result.getType()) : result.getType();
    OperationName name = op->getName();
    if (isPositive && isDivision(op))
      name = OperationName(arith::DivUIOp::getOperationName(), op->getContext());
    else if (isPositive && isRemainder(op))
      name = OperationName(arith::RemUIOp::getOperationName(), op->getContext());
    OperationState state(op->getLoc(), name, operands, {type}, op->getAttrs());
    // Flags were promised of 64 bits.
    state.attributes.erase("overflowFlags");
    Operation *small = builder.create(state);
    Value replacement = castTo(small->getResult(0), result.getType());
    if (isWide(result)) {
      ranges[replacement] = *getRange(result);
      remember(result, small->getResult(0));
      narrowed[replacement] = small->getResult(0);
    }
    result.replaceAllUsesWith(replacement);
    changed = true;
    return true;
  }

  /// Of ops that take integers of any width.
  void narrowUses(Operation *op) {
    bool takesAny = isa<GatherOp, ScatterOp, AtomicRMWOp, AtomicCASOp>(op);
    bool converts = isa<arith::SIToFPOp>(op) && isTile(op->getResult(0));
    bool truncates = isa<arith::TruncIOp>(op) && isTile(op->getResult(0)) &&
                     getElementTypeOrSelf(op->getResult(0)).isInteger(32);
    if (!takesAny && !converts && !truncates)
      return;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (!isWide(value) || !isTile(value) || !fits32(value) || (takesAny && !isIndexOf(operand)))
        continue;
      changed = true;
      if (truncates)
        op->getResult(0).replaceAllUsesWith(narrow(value));
      else
        operand.set(narrow(value));
    }
  }

  static bool isIndexOf(OpOperand &operand) {
    auto isOneOf = [&](OperandRange indices) {
      unsigned first = indices.getBeginOperandIndex(), at = operand.getOperandNumber();
      return at >= first && at < first + indices.size();
    };
    Operation *op = operand.getOwner();
    if (auto gather = dyn_cast<GatherOp>(op))
      return isOneOf(gather.getIndices());
    if (auto scatter = dyn_cast<ScatterOp>(op))
      return isOneOf(scatter.getIndices());
    if (auto update = dyn_cast<AtomicRMWOp>(op))
      return isOneOf(update.getIndices());
    return isOneOf(cast<AtomicCASOp>(op).getIndices());
  }

  //===- Divisions ----------------------------------------------------------------------------===//

  /// (b + t) // s, for a scalar b that takes 64 bits, as b // s + (b % s + t) // s. Who multiplies
  /// the quotient by s again and subtracts it asks for (b % s + t) % s.
  bool splitDividend(Operation *op) {
    Value dividend = op->getOperand(0), result = op->getResult(0);
    auto sum = dividend.getDefiningOp<arith::AddIOp>();
    auto divisor = op->getOperand(1).getDefiningOp<SplatOp>();
    if (!isTile(result) || !isWide(result) || !sum || !divisor || fits32(dividend))
      return false;
    Value tile = sum.getRhs();
    auto base = sum.getLhs().getDefiningOp<SplatOp>();
    if (!base) {
      tile = sum.getLhs();
      base = sum.getRhs().getDefiningOp<SplatOp>();
    }
    if (!base)
      return false;
    Value start = base.getValue(), by = divisor.getValue();
    std::optional<SignedRange> starts = getRange(start), steps = getRange(tile),
                               divisors = getRange(by);
    constexpr int64_t far = int64_t(1) << 62;
    if (!starts || !steps || !divisors || !starts->isWithin(0, far) ||
        !steps->isWithin(0, kMost32) || !divisors->isWithin(1, kMost32) ||
        divisors->greatest - 1 + steps->greatest > kMost32)
      return false;

    Location loc = op->getLoc();
    builder.setInsertionPointAfterValue(start);
    if (by.getDefiningOp() && DominanceInfo(kernel).dominates(start, by.getDefiningOp()))
      builder.setInsertionPointAfterValue(by);
    Value whole = arith::DivUIOp::create(builder, loc, start, by);
    Value rest = arith::RemUIOp::create(builder, loc, start, by);
    ranges[rest] = {0, divisors->greatest - 1};
    builder.setInsertionPoint(op);
    Type narrowType = getNarrow(result.getType());
    auto splat = [&](Value scalar, Type type) -> Value {
      return SplatOp::create(builder, loc, type, scalar);
    };
    Value near = arith::AddIOp::create(builder, loc, splat(narrow(rest), narrowType), narrow(tile));
    builder.setInsertionPoint(op);
    // Copies: the table moves when it grows.
    SignedRange nears{steps->least, divisors->greatest - 1 + steps->greatest};
    SignedRange quotients{0, nears.greatest}, rests{0, divisors->greatest - 1};
    ranges[near] = nears;
    Value narrowBy = splat(narrow(by), narrowType);
    ranges[narrowBy] = *divisors;
    auto quotient = arith::DivUIOp::create(builder, loc, near, narrowBy);
    ranges[quotient] = quotients;
    // near - quotient * s, as 64 bits, for whoever computes x - (x // s) * s.
    Value remainder;
    for (Operation *product : llvm::to_vector(result.getUsers())) {
      bool isByDivisor = llvm::any_of(product->getOperands(), [&](Value operand) {
        auto splat = operand.getDefiningOp<SplatOp>();
        return splat && splat.getValue() == by;
      });
      if (!isa<arith::MulIOp>(product) || !isByDivisor)
        continue;
      for (Operation *difference : llvm::to_vector(product->getUsers())) {
        if (!isa<arith::SubIOp>(difference) || difference->getOperand(0) != dividend ||
            difference->getOperand(1) != product->getResult(0))
          continue;
        if (!remainder) {
          Value multiple = arith::MulIOp::create(builder, loc, quotient, narrowBy);
          Value small = arith::SubIOp::create(builder, loc, near, multiple);
          remainder = castTo(small, result.getType());
          ranges[small] = rests;
          ranges[remainder] = rests;
          narrowed[remainder] = small;
        }
        difference->getResult(0).replaceAllUsesWith(remainder);
      }
    }
    Value wide = castTo(quotient, result.getType());
    ranges[wide] = quotients;
    narrowed[wide] = quotient;
    Value total = arith::AddIOp::create(builder, loc, splat(whole, result.getType()), wide);
    if (std::optional<SignedRange> range = getRange(result))
      ranges[total] = *range;
    result.replaceAllUsesWith(total);
    changed = true;
    return true;
  }

  KernelOp kernel;
  const DataFlowSolver &solver;
  OpBuilder builder;
  bool changed = false;
  DenseMap<Value, Value> narrowed;
  DenseMap<Value, SignedRange> ranges;
};

struct NarrowIndices : public impl::NarrowIndicesBase<NarrowIndices> {
  void runOnOperation() override {
    for (KernelOp kernel : getOperation().getOps<KernelOp>())
      if (hasIndexArithmetic(kernel) && failed(narrow(kernel)))
        return signalPassFailure();
  }

  LogicalResult narrow(KernelOp kernel) {
    MLIRContext *context = &getContext();
    RewritePatternSet once(context);
    once.add<ComputeOnce>(context);
    rewriteUndecided(kernel, std::move(once));
    {
      DataFlowSolver solver;
      if (failed(findIndexRanges(solver, kernel)))
        return failure();
      RewritePatternSet patterns(context);
      arith::populateIntRangeOptimizationsPatterns(patterns, solver);
      ForgetErased listener(solver);
      rewriteUndecided(kernel, std::move(patterns), GreedyRewriteConfig().setListener(&listener));
    }
    mergeUndecided(kernel);
    DataFlowSolver solver;
    if (failed(findIndexRanges(solver, kernel)))
      return failure();
    if (!Narrowing(kernel, solver).run())
      return success();
    canonicaliseUndecided(kernel);
    mergeUndecided(kernel);
    return success();
  }
};
} // namespace
} // namespace kiln::tile
