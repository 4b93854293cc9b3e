// Sorts the dimensions of a kernel's tensors into classes.
#include "ExtentClasses.h"
#include "ProductCandidate.h"
#include "kiln/Dialect/Tile/IR/Decisions.h"
#include "kiln/Dialect/Tile/IR/Roles.h"
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

ExtentClasses::ExtentClasses(KernelOp kernel, TargetInterface target) : target(target) {
  auto number = [&](Value value) {
    for (auto [dim, extent] : llvm::enumerate(shapeOf(value)))
      if (extent != 1)
        numbers.insert({{value, unsigned(dim)}, unsigned(numbers.size())});
  };
  kernel.getBody().walk([&](Block *block) {
    llvm::for_each(block->getArguments(), number);
    for (Operation &op : *block)
      llvm::for_each(op.getResults(), number);
  });
  if (numbers.empty())
    return;
  classes.grow(numbers.size());
  kernel.getBody().walk([&](Operation *op) { connect(op); });
  classes.compress();
  refusing.assign(classes.getNumClasses(), nullptr);
  for (auto [number, op] : refused)
    if (Operation *&first = refusing[classes[number]]; !first)
      first = op;
}

ProductDims kiln::getProductDims(DotOp dot) {
  return {{{dot.getResult(), 0}, {dot.getResult(), 1}, {dot.getA(), dot.getTransposeA() ? 0 : 1}}};
}

std::optional<unsigned> ExtentClasses::findAny(ExtentDim dim) const {
  auto found = numbers.find(dim);
  if (found == numbers.end())
    return std::nullopt;
  return classes[found->second];
}

std::optional<unsigned> ExtentClasses::find(ExtentDim dim) const {
  auto [value, number] = dim;
  return llvm::isPowerOf2_64(shapeOf(value)[number]) ? std::nullopt : findAny(dim);
}

/// Whether copies that are a power of two write a tile to its buffer themselves, each a part of its
/// first dimension where those who read it do not share it out otherwise.
bool ExtentClasses::isWrittenInParts(LoadOp load) const {
  RoleAttr role = lookUpRole(load);
  auto atom = dyn_cast_or_null<CopyAtomInterface>(getDecidedAtom(load, target));
  return role && role.getCopies() > 1 && llvm::isPowerOf2_64(role.getCopies()) && atom &&
         atom.getCompletion() == Completion::InOrder;
}

bool ExtentClasses::isSharedOut(Value value, const llvm::SmallBitVector &ofCopies) const {
  return llvm::any_of(llvm::seq<unsigned>(0, shapeOf(value).size()), [&](unsigned dim) {
    std::optional<unsigned> of = findAny({value, dim});
    return of && ofCopies[*of];
  });
}

SmallVector<unsigned, 2> ExtentClasses::findCounted(Value value,
                                                    function_ref<bool(unsigned)> isExact,
                                                    const llvm::SmallBitVector &ofCopies) const {
  Operation *maker = value.getDefiningOp();
  bool isInBuffer = fillsBuffer(maker), inWindows = isInBuffer && isReadInWindows(value, target);
  // A role of one copy has all of what copies of another share out.
  RoleAttr role = maker ? lookUpRole(maker) : RoleAttr();
  bool isOfOne = role && role.getCopies() == 1;
  SmallVector<unsigned, 2> counted;
  if (isInBuffer && !isSharedOut(value, ofCopies) && isWrittenInParts(cast<LoadOp>(maker)))
    if (std::optional<unsigned> first = findAny({value, 0}))
      counted.push_back(*first);
  for (unsigned dim = 0; dim < shapeOf(value).size(); ++dim) {
    std::optional<unsigned> odd = find({value, dim}), of = findAny({value, dim});
    bool isOdd = odd && isExact(*odd);
    if (of &&
        (isInBuffer ? isOdd || (ofCopies[*of] && !inWindows)
                    : isOdd && (isOfOne || !ofCopies[*of])) &&
        !llvm::is_contained(counted, *of))
      counted.push_back(*of);
  }
  return counted;
}

void ExtentClasses::join(Value left, unsigned leftDim, Value right, unsigned rightDim) {
  auto one = numbers.find({left, leftDim}), other = numbers.find({right, rightDim});
  if (one != numbers.end() && other != numbers.end())
    classes.join(one->second, other->second);
}

void ExtentClasses::joinShapes(Value left, Value right) {
  for (unsigned dim = 0; dim < shapeOf(left).size(); ++dim)
    join(left, dim, right, dim);
}

void ExtentClasses::joinAll(ValueRange values) {
  Value first;
  for (Value value : values) {
    if (!isa<RankedTensorType>(value.getType()))
      continue;
    if (first)
      joinShapes(first, value);
    first = value;
  }
}

void ExtentClasses::refuse(Operation *op) {
  for (ValueRange values : {ValueRange(op->getOperands()), ValueRange(op->getResults())})
    for (Value value : values)
      for (unsigned dim = 0; dim < shapeOf(value).size(); ++dim)
        if (auto found = numbers.find({value, dim}); found != numbers.end())
          refused.push_back({found->second, op});
}

bool ExtentClasses::connectAccess(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return !load.getExtents();
  auto store = cast<StoreOp>(op);
  bool isCopied = store.getAtomAttr() || store->hasAttr(kAtomNameAttrName);
  return !store.getExtents() && (!isCopied || getDecidedEngine(store, target));
}

void ExtentClasses::connectDot(DotOp dot) {
  if (dot.getType().getRank() != 2 || dot.getParts() || !dot.getScales().empty() ||
      isa<BufferType>(dot.getA().getType()) || isa<BufferType>(dot.getB().getType()))
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

void ExtentClasses::connect(Operation *op) {
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
