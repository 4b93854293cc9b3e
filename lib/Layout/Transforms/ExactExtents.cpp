// Sorts the dimensions of a kernel's tensors into classes and asks its products.
#include "ExactExtents.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

static ArrayRef<int64_t> shapeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type ? type.getShape() : ArrayRef<int64_t>();
}

ExactExtents::ExactExtents(KernelOp kernel, TargetInterface target, Open open)
    : target(target), open(open) {
  if (!target || target.runsOnHost())
    return;
  auto number = [&](Value value) {
    for (auto [dim, extent] : llvm::enumerate(shapeOf(value)))
      if (!llvm::isPowerOf2_64(extent))
        numbers.try_emplace({value, unsigned(dim)}, numbers.size());
  };
  kernel.getBody().walk([&](Block *block) {
    llvm::for_each(block->getArguments(), number);
    for (Operation &op : *block)
      llvm::for_each(op.getResults(), number);
  });
  if (numbers.empty())
    return;
  // Where warps are decided, products are those of single ones, or decided too.
  if (open == Open::Beside && (kernel->hasAttr(kRolesAttrName) || kernel->hasAttr(kWarpsAttrName)))
    this->open = Open::Grown;
  classes.grow(numbers.size());
  SmallVector<DotOp> dots;
  kernel.getBody().walk([&](Operation *op) {
    connect(op);
    if (auto dot = dyn_cast<DotOp>(op))
      dots.push_back(dot);
  });
  auto decided = kernel->getAttrOfType<IntegerAttr>(kWarpsAttrName);
  warps = decided ? decided.getInt() : countWarps(kernel, target.getChipRecord());
  classes.compress();
  may.assign(classes.getNumClasses(), true);
  multiplied.assign(classes.getNumClasses(), false);
  shared.assign(classes.getNumClasses(), false);
  for (Dim dim : refused)
    may[classes[numbers.lookup(dim)]] = false;
  for (bool changed = true; changed;) {
    changed = false;
    cut.clear();
    for (DotOp dot : dots)
      changed |= decide(dot);
    for (auto &[dim, number] : numbers)
      changed |= decideRegisters(dim.first);
  }
}

ArrayRef<int64_t> ExactExtents::getPieces(DotOp dot) const {
  auto found = pieces.find(dot);
  return found == pieces.end() ? ArrayRef<int64_t>() : ArrayRef<int64_t>(found->second);
}

size_t ExactExtents::countExact() const {
  return llvm::count_if(
      numbers, [&](auto &entry) { return isExact(entry.first.first, entry.first.second); });
}

bool ExactExtents::isExact(Value value, unsigned dim) const {
  auto found = numbers.find({value, dim});
  if (found == numbers.end())
    return false;
  unsigned of = classes[found->second];
  return may[of] && multiplied[of];
}

//===- Classes ------------------------------------------------------------------------------===//

void ExactExtents::join(Value left, unsigned leftDim, Value right, unsigned rightDim) {
  auto one = numbers.find({left, leftDim}), other = numbers.find({right, rightDim});
  if (one != numbers.end() && other != numbers.end())
    classes.join(one->second, other->second);
}

void ExactExtents::joinShapes(Value left, Value right) {
  for (unsigned dim = 0; dim < shapeOf(left).size(); ++dim)
    join(left, dim, right, dim);
}

void ExactExtents::joinAll(ValueRange values) {
  Value first;
  for (Value value : values) {
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    if (first)
      joinShapes(first, value);
    first = value;
  }
}

void ExactExtents::refuse(Value value, unsigned dim) {
  if (numbers.contains({value, dim}))
    refused.push_back({value, dim});
}

void ExactExtents::refuse(Value value) {
  for (unsigned dim = 0; dim < shapeOf(value).size(); ++dim)
    refuse(value, dim);
}

void ExactExtents::refuse(Operation *op) {
  for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
    for (Value value : values)
      refuse(value);
}

/// What an instruction brings is read by products alone.
bool ExactExtents::connectAccess(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op)) {
    auto isProduct = [](OpOperand &use) {
      return isa<DotOp>(use.getOwner()) && use.getOperandNumber() < 2;
    };
    return !load.getExtents() && (!fillsBuffer(load) || llvm::all_of(load->getUses(), isProduct));
  }
  auto store = cast<StoreOp>(op);
  bool isCopied = store.getAtomAttr() || store->hasAttr(kAtomNameAttrName);
  return !store.getExtents() && (!isCopied || getDecidedEngine(store, target));
}

void ExactExtents::connectDot(DotOp dot) {
  if (dot.getType().getRank() != 2 || dot.getParts() || isa<BufferType>(dot.getA().getType()) ||
      isa<BufferType>(dot.getB().getType()))
    return refuse(dot.getOperation());
  joinAll({dot.getAccumulator(), dot.getResult()});
  unsigned kOfA = dot.getTransposeA() ? 0 : 1, kOfB = dot.getTransposeB() ? 1 : 0;
  join(dot.getA(), 1 - kOfA, dot.getResult(), 0);
  join(dot.getB(), 1 - kOfB, dot.getResult(), 1);
  join(dot.getA(), kOfA, dot.getB(), kOfB);
}

/// Dimensions of more than one element, in order.
static SmallVector<unsigned> getLongDims(Value value) {
  SmallVector<unsigned> dims;
  for (auto [dim, extent] : llvm::enumerate(shapeOf(value)))
    if (extent != 1)
      dims.push_back(dim);
  return dims;
}

void ExactExtents::connect(Operation *op) {
  // What stands in a combiner works on scalars; a layout that an author pins is one of a tensor
  // that has grown.
  if (op->hasAttr(kLayoutAttrName))
    return refuse(op);
  TypeSwitch<Operation *>(op)
      .Case<scf::ForOp>([&](scf::ForOp loop) {
        for (auto [number, result] : llvm::enumerate(loop.getResults()))
          joinAll({loop.getInitArgs()[number], loop.getRegionIterArg(number), result,
                   loop.getYieldedValues()[number]});
      })
      .Case<scf::WhileOp>([&](scf::WhileOp loop) {
        for (auto [number, argument] : llvm::enumerate(loop.getBeforeArguments()))
          joinAll({loop.getInits()[number], argument, loop.getYieldOp().getOperand(number)});
        for (auto [number, argument] : llvm::enumerate(loop.getAfterArguments()))
          joinAll({loop.getConditionOp().getArgs()[number], argument, loop.getResult(number)});
      })
      .Case<scf::IfOp>([&](scf::IfOp branch) {
        for (auto [number, result] : llvm::enumerate(branch.getResults()))
          joinAll({branch.thenYield().getOperand(number), branch.elseYield().getOperand(number),
                   result});
      })
      .Case<scf::YieldOp, scf::ConditionOp, SplatOp, IotaOp>([](auto) {})
      .Case<arith::ConstantOp>([&](arith::ConstantOp constant) {
        if (!isa<SplatElementsAttr>(constant.getValue()))
          refuse(op);
      })
      .Case<LoadOp, StoreOp>([&](auto) {
        if (!connectAccess(op))
          refuse(op);
      })
      .Case<DotOp>([&](DotOp dot) { connectDot(dot); })
      .Case<TransposeOp>([&](TransposeOp transpose) {
        for (auto [dim, from] : llvm::enumerate(transpose.getPermutation()))
          join(transpose.getResult(), dim, transpose.getInput(), from);
      })
      .Case<ReduceOp>([&](ReduceOp reduce) {
        joinAll(reduce.getInputs());
        joinAll(reduce.getResults());
        Value input = reduce.getInputs().front(), result = reduce.getResults().front();
        for (unsigned dim = 0; dim < shapeOf(result).size(); ++dim)
          join(input, dim + (dim >= reduce.getAxis()), result, dim);
      })
      .Case<BroadcastOp>([&](BroadcastOp broadcast) {
        for (auto [dim, extent] : llvm::enumerate(shapeOf(broadcast.getInput())))
          if (extent != 1)
            join(broadcast.getInput(), dim, broadcast.getResult(), dim);
      })
      .Case<ReshapeOp>([&](ReshapeOp reshape) {
        SmallVector<unsigned> from = getLongDims(reshape.getInput()),
                              to = getLongDims(reshape.getResult());
        auto extents = [](Value value, ArrayRef<unsigned> dims) {
          return llvm::map_to_vector(dims, [&](unsigned dim) { return shapeOf(value)[dim]; });
        };
        if (extents(reshape.getInput(), from) != extents(reshape.getResult(), to))
          return refuse(op);
        for (auto [one, other] : llvm::zip_equal(from, to))
          join(reshape.getInput(), one, reshape.getResult(), other);
      })
      .Default([&](Operation *) {
        if (isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect())) {
          SmallVector<Value> values(op->getOperands());
          llvm::append_range(values, op->getResults());
          joinAll(values);
        } else {
          refuse(op);
        }
      });
}

//===- Products -----------------------------------------------------------------------------===//

/// Keeps as many of a product's extents as can be; whether it has refused one.
bool ExactExtents::decide(DotOp dot) {
  std::array<std::pair<Value, unsigned>, 3> dims = {
      {{dot.getResult(), 0}, {dot.getResult(), 1}, {dot.getA(), dot.getTransposeA() ? 0 : 1}}};
  unsigned candidates = 0;
  for (auto [i, dim] : llvm::enumerate(dims))
    if (auto found = numbers.find(dim); found != numbers.end() && may[classes[found->second]])
      candidates |= 1 << i;
  pieces.erase(dot);
  if (!candidates)
    return false;
  bool isDecided = dot.getAtomAttr() || dot->hasAttr(kAtomNameAttrName);
  RoleAttr role = lookUpRole(dot);
  auto grow = [](int64_t extent, bool keeps) {
    return keeps ? extent : int64_t(llvm::PowerOf2Ceil(extent));
  };
  // Rows, columns and the inner extent, by bits: those by which the least is multiplied. Of equals,
  // the inner one comes first, as none reads more of it from memory than was there; then columns,
  // which one instruction makes.
  std::optional<ProductCandidate> best;
  unsigned kept = 0;
  for (unsigned each : {7, 6, 5, 4, 3, 2, 1, 0}) {
    if ((each & ~candidates) || (!isDecided && open == Open::Grown))
      continue;
    ProductCandidate candidate{dot, target, open, isDecided};
    candidate.warps = role ? role.getTotalWarps() : warps;
    candidate.copies = role ? role.getCopies() : 1;
    candidate.m = grow(dot.getM(), each & 1);
    candidate.n = grow(dot.getN(), each & 2);
    candidate.k = grow(dot.getK(), each & 4);
    if (!candidate.isMade() || (best && best->getWork() <= candidate.getWork()))
      continue;
    best = candidate;
    kept = each;
  }
  if (kept && !best->pieces.empty()) {
    pieces[dot] = best->pieces;
    for (unsigned operand : {0, 1}) {
      OperandTile tile(dot, operand);
      cut.insert(tile.load.getResult());
      for (auto [view, dimK] : tile.views)
        cut.insert(view->getResult(0));
    }
  }
  hasBeside |= best && !isDecided && open == Open::Beside;
  bool isOdd = best && !llvm::isPowerOf2_64(best->copies);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (!(candidates >> i & 1))
      continue;
    unsigned of = classes[numbers.lookup(dim)];
    // Two extents may be of one class, as those of a matrix times itself.
    may[of] = may[of] && (kept >> i & 1);
    multiplied[of] = true;
    shared[of] = isOdd && int(i) == best->dim;
  }
  return kept != candidates;
}

/// One extent at most has its odd factor counted by a thread's registers; whether one was refused.
bool ExactExtents::decideRegisters(Value value) {
  if (fillsBuffer(value.getDefiningOp()) || cut.contains(value))
    return false;
  int counted = -1;
  for (unsigned dim = 0; dim < shapeOf(value).size(); ++dim) {
    if (!isExact(value, dim))
      continue;
    unsigned of = classes[numbers.lookup({value, dim})];
    if (shared[of] || counted == int(of))
      continue;
    if (counted >= 0) {
      may[of] = false;
      return true;
    }
    counted = of;
  }
  return false;
}
