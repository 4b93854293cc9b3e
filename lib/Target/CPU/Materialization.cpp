// The facts about ops and element types behind decisions on scratch memory.
#include "Materialization.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

Type kiln::cpu::storageType(Type element) {
  MLIRContext *context = element.getContext();
  if (isa<IndexType>(element))
    return IntegerType::get(context, 64);
  if (isa<FloatTF32Type>(element))
    return Float32Type::get(context);
  unsigned bits = element.getIntOrFloatBitWidth();
  if (isa<FloatType>(element) && !isa<Float16Type>(element) && bits <= 16)
    return IntegerType::get(context, bits <= 8 ? 8 : 16);
  if (isa<FloatType>(element))
    return element;
  return IntegerType::get(context, std::max<uint64_t>(8, llvm::PowerOf2Ceil(bits)));
}

int64_t kiln::cpu::storageBytes(Type element) {
  return storageType(element).getIntOrFloatBitWidth() / 8;
}

int64_t kiln::cpu::viewBits(Type element) {
  if (element.isInteger(1))
    return 8;
  if (isa<IndexType>(element))
    return 64;
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits < 8 ? bits : storageBytes(element) * 8;
}

bool kiln::cpu::isElementwise(Operation *op) { return OpTrait::hasElementwiseMappableTraits(op); }

bool kiln::cpu::isInlineable(Operation *op) {
  if (isElementwise(op))
    return true;
  if (auto bitcast = dyn_cast<tile::BitcastOp>(op))
    return bitcast.getInput().getType().getElementType().getIntOrFloatBitWidth() ==
           bitcast.getResult().getType().getElementType().getIntOrFloatBitWidth();
  return isa<arith::ConstantOp, tile::SplatOp, tile::IotaOp, tile::BroadcastOp, tile::ReshapeOp,
             tile::TransposeOp, tile::SliceOp, tile::SplitOp, tile::LoadOp, tile::GatherOp,
             tile::ReadOp>(op);
}

bool kiln::cpu::mergesDimensions(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  auto strip = [](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> kept;
    llvm::copy_if(shape, std::back_inserter(kept), [](int64_t extent) { return extent != 1; });
    return kept;
  };
  SmallVector<int64_t> in = strip(from), out = strip(to);
  size_t j = 0;
  for (int64_t extent : in) {
    int64_t product = 1;
    while (product < extent && j < out.size())
      product *= out[j++];
    if (product != extent)
      return true;
  }
  return false;
}

int64_t kiln::cpu::bufferOf(Value tensor) {
  auto read = [](Operation *op, StringRef name, unsigned index) -> int64_t {
    auto buffers = op->getAttrOfType<DenseI64ArrayAttr>(name);
    return buffers && index < static_cast<unsigned>(buffers.size()) ? buffers[index] : -1;
  };
  if (auto result = dyn_cast<OpResult>(tensor))
    return read(result.getOwner(), kBuffersAttr, result.getResultNumber());
  auto argument = cast<BlockArgument>(tensor);
  Operation *parent = argument.getOwner()->getParentOp();
  StringRef name = parent->getName().getStringRef();
  if (name == "scf.for")
    return read(parent, kBuffersAttr, argument.getArgNumber() - 1);
  bool before = argument.getOwner()->getParent()->getRegionNumber() == 0;
  return read(parent, before ? kBeforeBuffersAttr : kBuffersAttr, argument.getArgNumber());
}

void kiln::cpu::walkTree(Value tensor, function_ref<void(Value)> visit) {
  llvm::SetVector<Value> seen;
  seen.insert(tensor);
  for (size_t i = 0; i < seen.size(); ++i) {
    Value value = seen[i];
    visit(value);
    if (!isInline(value))
      continue;
    for (Value operand : value.getDefiningOp()->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        seen.insert(operand);
  }
}

bool kiln::cpu::readsSameElement(Value tensor, Value leaf) {
  SmallVector<std::pair<Value, bool>> todo{{tensor, true}};
  llvm::DenseSet<std::pair<Value, unsigned>> seen;
  while (!todo.empty()) {
    auto [value, same] = todo.pop_back_val();
    if (!seen.insert({value, same}).second)
      continue;
    if (value == leaf && !same)
      return false;
    if (!isInline(value))
      continue;
    Operation *op = value.getDefiningOp();
    for (Value operand : op->getOperands())
      if (isa<RankedTensorType>(operand.getType()))
        todo.push_back({operand, same && isElementwise(op)});
  }
  return true;
}

YieldPlan kiln::cpu::planYields(scf::ForOp loop, ArrayRef<int64_t> given) {
  YieldPlan plan;
  SmallVector<unsigned> left;
  DenseMap<unsigned, llvm::SmallDenseSet<unsigned>> reads; // numbers of carried tensors
  for (unsigned k = 0; k < loop.getNumRegionIterArgs(); ++k) {
    Value value = loop.getYieldedValues()[k];
    BlockArgument carried = loop.getRegionIterArg(k);
    if (!isa<RankedTensorType>(value.getType()) || value == carried ||
        (!isInline(value) && bufferOf(value) == bufferOf(carried)))
      continue;
    if (k < given.size() && given[k] >= 0) {
      plan.temps.push_back(k);
      continue;
    }
    left.push_back(k);
    walkTree(value, [&](Value leaf) {
      auto argument = dyn_cast<BlockArgument>(leaf);
      if (argument && argument.getOwner() == loop.getBody())
        reads[k].insert(argument.getArgNumber() - 1);
    });
  }
  auto overwritesItself = [&](unsigned k) {
    return !readsSameElement(loop.getYieldedValues()[k], loop.getRegionIterArg(k));
  };
  auto isFree = [&](unsigned k) {
    return !overwritesItself(k) && llvm::none_of(left, [&](unsigned other) {
      return other != k && reads[other].contains(k);
    });
  };
  while (!left.empty()) {
    auto *next = llvm::find_if(left, isFree);
    if (next != left.end()) {
      plan.direct.push_back(*next);
    } else {
      next = llvm::find_if(left, overwritesItself);
      if (next == left.end())
        next = left.begin();
      plan.temps.push_back(*next);
    }
    left.erase(next);
  }
  return plan;
}

static tile::FactsAttr factsOf(Value view) {
  auto argument = dyn_cast<BlockArgument>(view);
  auto kernel = argument ? dyn_cast<tile::KernelOp>(argument.getOwner()->getParentOp()) : nullptr;
  return kernel ? kernel.getFacts(argument.getArgNumber()) : tile::FactsAttr();
}

/// Two views that no element belongs to both of.
static bool areDisjoint(Value a, Value b) {
  a = tile::getWholeView(a), b = tile::getWholeView(b);
  if (a == b || !isa<BlockArgument>(a) || !isa<BlockArgument>(b))
    return false;
  tile::FactsAttr first = factsOf(a), second = factsOf(b);
  return (first && first.getNoalias()) || (second && second.getNoalias());
}

SmallVector<tile::LoadOp> kiln::cpu::loadsToGuard(tile::StoreOp store) {
  SmallVector<tile::LoadOp> loads;
  walkTree(store.getValue(), [&](Value value) {
    auto load = value.getDefiningOp<tile::LoadOp>();
    if (!load || !isInline(value) || areDisjoint(load.getView(), store.getView()))
      return;
    bool sameTile = load.getView() == store.getView() &&
                    llvm::equal(load.getOffsets(), store.getOffsets()) &&
                    load.getResult().getType().getShape() == store.getValue().getType().getShape();
    if (sameTile && readsSameElement(store.getValue(), value))
      return;
    loads.push_back(load);
  });
  return loads;
}

static bool anyInside(Operation *op, function_ref<bool(Operation *)> writes) {
  return op
      ->walk([&](Operation *inner) {
        return writes(inner) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool kiln::cpu::writesGlobal(Operation *op) {
  return anyInside(op, [](Operation *inner) {
    if (auto text = dyn_cast<tile::InlineAsmOp>(inner))
      return !text.getPure();
    if (auto call = dyn_cast<tile::ExternCallOp>(inner))
      return !call.getPure();
    return isa<tile::StoreOp, tile::ScatterOp, tile::AtomicRMWOp, tile::AtomicCASOp>(inner);
  });
}

bool kiln::cpu::writesShared(Operation *op) {
  return anyInside(op, [](Operation *inner) { return isa<tile::WriteOp>(inner); });
}
