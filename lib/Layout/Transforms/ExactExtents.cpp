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

Attribute kiln::getDecidedAtom(Operation *op, TargetInterface target) {
  if (Attribute atom = op->getAttr("atom"))
    return atom;
  auto name = op->getAttrOfType<StringAttr>(kAtomNameAttrName);
  return name && target ? findAtom(op, name.getValue(), target) : Attribute();
}

static EngineAtomInterface getEngine(Operation *access, TargetInterface target) {
  return dyn_cast_or_null<EngineAtomInterface>(getDecidedAtom(access, target));
}

ExactExtents::ExactExtents(KernelOp kernel, TargetInterface target) : target(target) {
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
  classes.grow(numbers.size());
  SmallVector<DotOp> dots;
  kernel.getBody().walk([&](Operation *op) {
    connect(op);
    if (auto dot = dyn_cast<DotOp>(op))
      dots.push_back(dot);
  });
  classes.compress();
  may.assign(classes.getNumClasses(), true);
  multiplied.assign(classes.getNumClasses(), false);
  shared.assign(classes.getNumClasses(), false);
  for (Dim dim : refused)
    may[classes[numbers.lookup(dim)]] = false;
  for (bool changed = true; changed;) {
    changed = false;
    for (DotOp dot : dots)
      changed |= decide(dot);
    for (auto &[dim, number] : numbers)
      changed |= decideRegisters(dim.first);
  }
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

/// What an engine brings is read by products alone.
bool ExactExtents::connectAccess(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op)) {
    auto isProduct = [](OpOperand &use) {
      return isa<DotOp>(use.getOwner()) && use.getOperandNumber() < 2;
    };
    return !load.getExtents() && (!fillsBuffer(load) || (getEngine(load, target) &&
                                                         llvm::all_of(load->getUses(), isProduct)));
  }
  auto store = cast<StoreOp>(op);
  bool isCopied = store.getAtomAttr() || store->hasAttr(kAtomNameAttrName);
  return !store.getExtents() && (!isCopied || getEngine(store, target));
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

namespace {
/// A product with some of its extents grown.
struct Candidate {
  DotOp dot;
  AsyncMmaAtomInterface atom;
  TargetInterface target;
  int64_t m, n, k;
  int64_t copies = 1;
  /// Which dimension copies share out, -1: none.
  int dim = -1;

  bool isMade();

private:
  int64_t getOwn(int of, int64_t extent) const { return dim == of ? extent / copies : extent; }
  bool isRead(unsigned operand);
};
} // namespace

static bool isExactly(const LinearLayout &layout) { return canonicalise(layout).isExact(); }

/// Whether an operand can be brought, and read, as it is.
bool Candidate::isRead(unsigned operand) {
  Value value = dot->getOperand(operand);
  bool isTransposed = operand == 0 ? dot.getTransposeA() : dot.getTransposeB();
  SmallVector<int64_t> shape =
      operand == 0 ? SmallVector<int64_t>{m, k} : SmallVector<int64_t>{k, n};
  SmallVector<int64_t> share = shape;
  share[operand] = getOwn(operand, share[operand]);
  if (llvm::all_of(shape, [](int64_t extent) { return llvm::isPowerOf2_64(extent); }))
    return true;
  auto load = value.getDefiningOp<LoadOp>();
  if (!load || !fillsBuffer(load)) {
    std::optional<LinearLayout> layout;
    if (operand == 0)
      layout = atom.getRegisterLayout(share, atom.getWarps());
    return layout && isExactly(*layout);
  }
  if (isTransposed) {
    std::swap(shape[0], shape[1]);
    std::swap(share[0], share[1]);
  }
  EngineAtomInterface engine = getEngine(load, target);
  return llvm::any_of(repeatOrders(atom.getSharedLayouts(operand, share, isTransposed), shape),
                      [&](const LinearLayout &order) {
                        return engine &&
                               engine.getBoxes(shape, load.getType().getElementType(), &order);
                      });
}

bool Candidate::isMade() {
  auto [atomM, atomN, atomK] = atom.getExtents();
  int64_t ownM = getOwn(0, m), ownN = getOwn(1, n);
  if ((copies > 1 && dim < 0) || ownM % atomM || ownN % atomN || k % atomK)
    return false;
  return isExactly(atom.getAccumulatorLayout({ownM, ownN}, atom.getWarps())) && isRead(0) &&
         isRead(1);
}

AsyncMmaAtomInterface ExactExtents::getAtom(DotOp dot) const {
  auto atom = dyn_cast_or_null<AsyncMmaAtomInterface>(getDecidedAtom(dot, target));
  return atom && atom.getAccumulatorPlace() == Place::Registers ? atom : AsyncMmaAtomInterface();
}

/// Keeps as many of a product's extents as can be; whether it has refused one.
bool ExactExtents::decide(DotOp dot) {
  std::array<std::pair<Value, unsigned>, 3> dims = {
      {{dot.getResult(), 0}, {dot.getResult(), 1}, {dot.getA(), dot.getTransposeA() ? 0 : 1}}};
  unsigned candidates = 0;
  for (auto [i, dim] : llvm::enumerate(dims))
    if (auto found = numbers.find(dim); found != numbers.end() && may[classes[found->second]])
      candidates |= 1 << i;
  if (!candidates)
    return false;
  RoleAttr role = lookUpRole(dot);
  Candidate candidate{dot, getAtom(dot), target, 0, 0, 0, role ? role.getCopies() : 1};
  auto grow = [](int64_t extent, bool keeps) {
    return keeps ? extent : int64_t(llvm::PowerOf2Ceil(extent));
  };
  // Rows, columns and the inner extent, by bits. The inner one comes first, as none reads more of
  // it from memory than was there; then columns, which one instruction makes.
  unsigned kept = 0;
  for (unsigned each : {7, 6, 5, 4, 3, 2, 1}) {
    if (!candidate.atom || (each & ~candidates))
      continue;
    candidate.m = grow(dot.getM(), each & 1);
    candidate.n = grow(dot.getN(), each & 2);
    candidate.k = grow(dot.getK(), each & 4);
    auto [atomM, atomN, atomK] = candidate.atom.getExtents();
    candidate.dim = getSharedDim(candidate.m, candidate.n, atomM, atomN, candidate.copies);
    if (!candidate.isMade())
      continue;
    kept = each;
    break;
  }
  bool isOdd = !llvm::isPowerOf2_64(candidate.copies);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (!(candidates >> i & 1))
      continue;
    unsigned of = classes[numbers.lookup(dim)];
    may[of] = kept >> i & 1;
    multiplied[of] = true;
    shared[of] = isOdd && int(i) == candidate.dim;
  }
  return kept != candidates;
}

/// One extent at most has its odd factor counted by a thread's registers; whether one was refused.
bool ExactExtents::decideRegisters(Value value) {
  if (fillsBuffer(value.getDefiningOp()))
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
