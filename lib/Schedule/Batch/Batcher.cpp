// Batcher.h: op by op in the order of the program, old ops beside new ones until all are made.
#include "Batcher.h"
#include "../NarrowViews.h"
#include "kiln/Dialect/Tile/Transforms/Philox.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

Batcher::Batcher(KernelOp kernel, const Variation &variation, int64_t count, Value extent)
    : kernel(kernel), variation(variation), count(count), extent(extent), builder(kernel),
      loc(kernel.getLoc()) {}

void Batcher::run() {
  Block &body = kernel.getBody().front();
  SmallVector<Operation *> ids, numbers;
  body.walk([&](Operation *op) {
    if (auto id = dyn_cast<ProgramIdOp>(op); id && id.getAxis() == Axis::X)
      ids.push_back(op);
    else if (auto number = dyn_cast<NumProgramsOp>(op); number && number.getAxis() == Axis::X)
      numbers.push_back(op);
    else if (auto store = dyn_cast<StoreOp>(op))
      stored.insert(store.getView());
  });
  builder.setInsertionPointToStart(&body);
  Value batch = ProgramIdOp::create(builder, loc, builder.getIndexType(), Axis::X);
  first = arith::MulIOp::create(builder, loc, batch,
                                arith::ConstantIndexOp::create(builder, loc, count));
  visit(body);
  for (Operation *op : llvm::reverse(replaced))
    op->erase();
  for (auto [ops, value] : {std::pair(&ids, first), std::pair(&numbers, extent)})
    for (Operation *op : *ops) {
      op->getResult(0).replaceAllUsesWith(value);
      op->erase();
    }
}

//===- Values -------------------------------------------------------------------------------===//

RankedTensorType Batcher::widen(Type type) const {
  auto tensor = dyn_cast<RankedTensorType>(type);
  SmallVector<int64_t> shape = {count};
  if (tensor)
    llvm::append_range(shape, tensor.getShape());
  return RankedTensorType::get(shape, getElementTypeOrSelf(type));
}

Value Batcher::reshape(Value tensor, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return type.getShape() == shape
             ? tensor
             : ReshapeOp::create(builder, loc, type.clone(shape), tensor).getResult();
}

Value Batcher::makeIota(RankedTensorType type, int64_t dim) {
  return IotaOp::create(builder, loc, type, dim);
}

Value Batcher::makeConstant(RankedTensorType type, Attribute each) {
  return arith::ConstantOp::create(builder, loc,
                                   cast<TypedAttr>(Attribute(DenseElementsAttr::get(type, each))));
}

Value Batcher::spread(Value numbers, ArrayRef<int64_t> shape) {
  SmallVector<int64_t> units(shape.size() + 1, 1);
  units.front() = count;
  RankedTensorType type = widen(
      RankedTensorType::get(shape, cast<RankedTensorType>(numbers.getType()).getElementType()));
  Value column = reshape(numbers, units);
  return type == column.getType() ? column
                                  : BroadcastOp::create(builder, loc, type, column).getResult();
}

Value Batcher::repeat(Value value) {
  RankedTensorType type = widen(value.getType());
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant))) {
    auto elements = dyn_cast<DenseElementsAttr>(constant);
    if (!elements || elements.isSplat()) {
      return makeConstant(type, elements ? elements.getSplatValue<Attribute>() : constant);
    }
  }
  if (!isa<RankedTensorType>(value.getType()))
    return SplatOp::create(builder, loc, type, value);
  if (auto splat = value.getDefiningOp<SplatOp>())
    return SplatOp::create(builder, loc, type, splat.getValue());
  if (auto iota = value.getDefiningOp<IotaOp>())
    return makeIota(type, iota.getDim() + 1);
  SmallVector<int64_t> one(type.getShape());
  one.front() = 1;
  return BroadcastOp::create(builder, loc, type, reshape(value, one));
}

Value Batcher::lift(Value value) {
  if (!variation.varies(value))
    return repeat(value);
  if (auto found = lifted.find(value); found != lifted.end())
    return found->second;
  // It has a step, and is the first program's.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  RankedTensorType type = widen(value.getType());
  Value steps = makeIota(type, 0);
  if (int64_t step = *variation.getStep(value); step != 1)
    steps = arith::MulIOp::create(
        builder, loc, steps,
        makeConstant(type, builder.getIntegerAttr(type.getElementType(), step)));
  Value all = SplatOp::create(builder, loc, type, value);
  return lifted[value] = arith::AddIOp::create(builder, loc, all, steps);
}

void Batcher::finish(Operation *op, ValueRange results) {
  for (auto [old, made] : llvm::zip_equal(op->getResults(), results))
    lifted[old] = made;
  replaced.push_back(op);
}

//===- Control flow -------------------------------------------------------------------------===//

void Batcher::visit(Block &block) {
  SmallVector<Operation *> ops(llvm::make_pointer_range(block));
  for (Operation *op : ops)
    visit(op);
}

void Batcher::visit(Operation *op) {
  builder.setInsertionPoint(op);
  loc = op->getLoc();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitLoop(loop);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return visitBranch(branch);
  bool isTouched = variation.anyVaries(op->getOperands()) || variation.anyVaries(op->getResults());
  // What is handed on the loop or the condition around sees to.
  if (!isTouched || isa<scf::YieldOp>(op))
    return;
  if (op->getNumResults() == 1 && variation.getStep(op->getResult(0)))
    return;
  TypeSwitch<Operation *>(op)
      .Case<LoadOp>([&](LoadOp load) { visitLoad(load); })
      .Case<StoreOp>([&](StoreOp store) { visitStore(store); })
      .Case<GatherOp>([&](GatherOp gather) { visitGather(gather); })
      .Case<ScatterOp>([&](ScatterOp scatter) { visitScatter(scatter); })
      .Case<PhiloxOp>([&](PhiloxOp philox) { visitPhilox(philox); })
      // Nobody is told any more what holds of one program.
      .Case<AssumeOp>([&](AssumeOp) { finish(op, ValueRange()); })
      .Case<MultipleOfOp>([&](MultipleOfOp hint) { finish(op, lift(hint.getValue())); })
      .Case<SplatOp>([&](SplatOp splat) {
        finish(op, spread(lift(splat.getValue()), splat.getType().getShape()));
      })
      .Case<ToScalarOp>(
          [&](ToScalarOp scalar) { finish(op, reshape(lift(scalar.getInput()), {count})); })
      .Case<BroadcastOp, ReshapeOp, TransposeOp, SliceOp, ConcatOp, JoinOp, SplitOp, BitcastOp,
            ReduceOp, ScanOp, ArgReduceOp>([&](Operation *) { visitShape(op); })
      .Default([&](Operation *) { visitElementwise(op); });
}

void Batcher::visitLoop(scf::ForOp loop) {
  auto handOn = [&](scf::ForOp around) {
    auto yield = cast<scf::YieldOp>(around.getBody()->getTerminator());
    builder.setInsertionPoint(yield);
    for (auto [argument, operand] : llvm::zip(loop.getRegionIterArgs(), yield->getOpOperands()))
      if (variation.varies(argument))
        operand.set(lift(operand.get()));
  };
  if (!variation.anyVaries(loop.getRegionIterArgs()))
    return visit(*loop.getBody());
  SmallVector<Value> inits;
  for (auto [argument, init] : llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs()))
    inits.push_back(variation.varies(argument) ? lift(init) : init);
  auto made = scf::ForOp::create(builder, loc, loop.getLowerBound(), loop.getUpperBound(),
                                 loop.getStep(), inits);
  made->setAttrs(loop->getAttrs());
  loop.getInductionVar().replaceAllUsesWith(made.getInductionVar());
  for (auto [old, argument] : llvm::zip(loop.getRegionIterArgs(), made.getRegionIterArgs())) {
    if (variation.varies(old))
      lifted[old] = argument;
    else
      old.replaceAllUsesWith(argument);
  }
  for (auto [old, result] : llvm::zip(loop.getResults(), made.getResults())) {
    if (variation.varies(old))
      lifted[old] = result;
    else
      old.replaceAllUsesWith(result);
  }
  replaced.push_back(loop);
  made.getBody()->getOperations().splice(made.getBody()->end(), loop.getBody()->getOperations());
  visit(*made.getBody());
  handOn(made);
}

void Batcher::visitBranch(scf::IfOp branch) {
  scf::IfOp made = branch;
  if (variation.anyVaries(branch.getResults())) {
    SmallVector<Type> types;
    for (Value result : branch.getResults())
      types.push_back(variation.varies(result) ? widen(result.getType()) : result.getType());
    made = scf::IfOp::create(builder, loc, types, branch.getCondition(), /*withElseRegion=*/true);
    made.getThenRegion().takeBody(branch.getThenRegion());
    made.getElseRegion().takeBody(branch.getElseRegion());
    for (auto [old, result] : llvm::zip(branch.getResults(), made.getResults())) {
      if (variation.varies(old))
        lifted[old] = result;
      else
        old.replaceAllUsesWith(result);
    }
    replaced.push_back(branch);
  }
  for (Region *region : {&made.getThenRegion(), &made.getElseRegion()}) {
    if (region->empty())
      continue;
    visit(region->front());
    Operation *yield = region->front().getTerminator();
    builder.setInsertionPoint(yield);
    for (auto [result, operand] : llvm::zip(branch.getResults(), yield->getOpOperands()))
      if (variation.varies(result))
        operand.set(lift(operand.get()));
  }
}

//===- Arithmetic and shapes ----------------------------------------------------------------===//

void Batcher::visitElementwise(Operation *op) {
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (Type type : op->getResultTypes())
    types.push_back(widen(type));
  // One condition chooses between whole tiles.
  auto tile = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  for (Value operand : op->getOperands()) {
    bool isOfTile = tile && !isa<RankedTensorType>(operand.getType());
    if (!isOfTile)
      operands.push_back(lift(operand));
    else if (variation.varies(operand))
      operands.push_back(spread(lift(operand), tile.getShape()));
    else
      operands.push_back(operand);
  }
  OperationState state(loc, op->getName(), operands, types, op->getAttrs());
  finish(op, builder.create(state)->getResults());
}

/// Numbers of dimensions, one further each, behind what the first one has.
static SmallVector<int64_t> shiftDims(ArrayRef<int64_t> dims, int64_t front, int64_t by) {
  SmallVector<int64_t> all = {front};
  for (int64_t dim : dims)
    all.push_back(dim + by);
  return all;
}

void Batcher::visitShape(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    operands.push_back(lift(operand));
  Operation *made = builder.clone(*op);
  made->setOperands(operands);
  for (Value result : made->getResults())
    result.setType(widen(result.getType()));
  TypeSwitch<Operation *>(made)
      .Case<TransposeOp>([](TransposeOp transpose) {
        transpose.setPermutation(shiftDims(transpose.getPermutation(), 0, 1));
      })
      .Case<SliceOp>([](SliceOp slice) { slice.setOffsets(shiftDims(slice.getOffsets(), 0, 0)); })
      .Case<ReduceOp, ScanOp, ArgReduceOp, ConcatOp>(
          [](auto along) { along.setAxis(along.getAxis() + 1); })
      .Case<BitcastOp>([&](BitcastOp bitcast) {
        if (bitcast.getExtents())
          bitcast.setExtents(shiftDims(*bitcast.getExtents(), count, 0));
      });
  finish(op, made->getResults());
}

void Batcher::visitPhilox(PhiloxOp op) {
  Value counter = lift(op.getCounter());
  ArrayRef<int64_t> shape = op.getCounter().getType().getShape();
  auto each = [&](Value scalar) {
    return variation.varies(scalar) ? spread(lift(scalar), shape) : scalar;
  };
  finish(op, expandPhilox(builder, loc, each(op.getSeed()), each(op.getStream()), counter));
}

//===- Memory -------------------------------------------------------------------------------===//

static SmallVector<int64_t> batchShape(ArrayRef<int64_t> shape, unsigned dim, int64_t count) {
  SmallVector<int64_t> all(shape);
  all[dim] *= count;
  return all;
}

/// With the programs in front of the dimension along which they follow one another.
static SmallVector<int64_t> splitShape(ArrayRef<int64_t> shape, unsigned dim, int64_t count) {
  SmallVector<int64_t> all(shape);
  all.insert(all.begin() + dim, count);
  return all;
}

static bool isFirstOfMany(ArrayRef<int64_t> shape, unsigned dim) {
  return llvm::all_of(shape.take_front(dim), [](int64_t extent) { return extent == 1; });
}

void Batcher::visitLoad(LoadOp load) {
  RankedTensorType type = load.getType();
  ArrayRef<int64_t> shape = type.getShape();
  std::optional<unsigned> dim = findBatchedDim(variation, load.getOffsets(), shape);
  if (!dim) {
    SmallVector<Value> indices;
    for (auto [at, offset] : llvm::enumerate(load.getOffsets()))
      indices.push_back(makeIndices(offset, shape, at));
    finish(load, GatherOp::create(builder, loc, widen(type), load.getView(), indices, Value(),
                                  load.getPadding(), load.getCacheAttr(), load.getEvictionAttr())
                     .getResult());
    return;
  }
  auto made = cast<LoadOp>(builder.clone(*load));
  made.getResult().setType(type.clone(batchShape(shape, *dim, count)));
  if (stored.contains(load.getView())) {
    builder.setInsertionPoint(made);
    made.getViewMutable().assign(endView(load.getView(), load.getOffsets()[*dim], *dim));
    builder.setInsertionPoint(load);
  }
  Value tile = made.getResult();
  if (!isFirstOfMany(shape, *dim)) {
    tile = reshape(tile, splitShape(shape, *dim, count));
    SmallVector<int64_t> order = {int64_t(*dim)};
    for (int64_t at = 0; at <= type.getRank(); ++at)
      if (at != *dim)
        order.push_back(at);
    tile = TransposeOp::create(builder, loc, widen(type), tile, order);
  }
  finish(load, reshape(tile, widen(type).getShape()));
}

void Batcher::visitStore(StoreOp store) {
  RankedTensorType type = store.getValue().getType();
  ArrayRef<int64_t> shape = type.getShape();
  Value tile = lift(store.getValue());
  std::optional<unsigned> dim = findBatchedDim(variation, store.getOffsets(), shape);
  if (!dim) {
    SmallVector<Value> indices;
    for (auto [at, offset] : llvm::enumerate(store.getOffsets()))
      indices.push_back(makeIndices(offset, shape, at));
    ScatterOp::create(builder, loc, tile, store.getView(), indices, makeMask(shape),
                      store.getCacheAttr(), store.getEvictionAttr());
    return finish(store, ValueRange());
  }
  if (!isFirstOfMany(shape, *dim)) {
    SmallVector<int64_t> order;
    for (int64_t at = 1; at <= type.getRank(); ++at) {
      if (at == int64_t(*dim) + 1)
        order.push_back(0);
      order.push_back(at);
    }
    SmallVector<int64_t> split = splitShape(shape, *dim, count);
    tile = TransposeOp::create(builder, loc, type.clone(split), tile, order);
  }
  tile = reshape(tile, batchShape(shape, *dim, count));
  auto made = cast<StoreOp>(builder.clone(*store));
  made.getValueMutable().assign(tile);
  builder.setInsertionPoint(made);
  made.getViewMutable().assign(endView(store.getView(), store.getOffsets()[*dim], *dim));
  finish(store, ValueRange());
}

void Batcher::visitGather(GatherOp gather) {
  SmallVector<Value> indices;
  for (Value index : gather.getIndices())
    indices.push_back(lift(index));
  Value mask = gather.getMask() ? lift(gather.getMask()) : Value();
  finish(gather,
         GatherOp::create(builder, loc, widen(gather.getType()), gather.getView(), indices, mask,
                          gather.getPadding(), gather.getCacheAttr(), gather.getEvictionAttr())
             .getResult());
}

void Batcher::visitScatter(ScatterOp scatter) {
  SmallVector<Value> indices;
  for (Value index : scatter.getIndices())
    indices.push_back(lift(index));
  Value mask = makeMask(scatter.getValue().getType().getShape());
  if (scatter.getMask())
    mask = arith::AndIOp::create(builder, loc, mask, lift(scatter.getMask()));
  ScatterOp::create(builder, loc, lift(scatter.getValue()), scatter.getView(), indices, mask,
                    scatter.getCacheAttr(), scatter.getEvictionAttr());
  finish(scatter, ValueRange());
}

Value Batcher::makeIndices(Value offset, ArrayRef<int64_t> shape, int64_t dim) {
  RankedTensorType type = widen(RankedTensorType::get(shape, builder.getIndexType()));
  Value start = variation.varies(offset) ? spread(lift(offset), shape)
                                         : SplatOp::create(builder, loc, type, offset).getResult();
  if (shape[dim] == 1)
    return start;
  return arith::AddIOp::create(builder, loc, start, makeIota(type, dim + 1));
}

Value Batcher::makeMask(ArrayRef<int64_t> shape) {
  RankedTensorType type = widen(builder.getIndexType());
  Value left = arith::SubIOp::create(builder, loc, extent, first);
  Value isThere = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, makeIota(type, 0),
                                        SplatOp::create(builder, loc, type, left));
  return spread(isThere, shape);
}

Value Batcher::endView(Value view, Value offset, unsigned dim) {
  Value left = arith::SubIOp::create(builder, loc, extent, first);
  Value step = arith::ConstantIndexOp::create(builder, loc, *variation.getStep(offset));
  Value end =
      arith::AddIOp::create(builder, loc, offset, arith::MulIOp::create(builder, loc, left, step));
  // Of programs whose tiles lie in front of the view there is nothing.
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  end = arith::MaxSIOp::create(builder, loc, end, zero);
  return endViewAt(builder, loc, view, dim, end);
}
