// The walk over a kernel's ops, and what they share: views, buffers, versions of a nest.
#include "Program.h"
#include "Lowerings.h"
#include "kiln/Target/CPU/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace kiln::cpu {
#define GEN_PASS_DEF_LOWERTILES
#include "kiln/Target/CPU/Passes.h.inc"
} // namespace kiln::cpu

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

Program::Program(tile::KernelOp kernel, TargetAttr target)
    : builder(kernel.getContext()), kernel(kernel), target(target),
      offsets(kernel->getAttrOfType<DenseI64ArrayAttr>(kBufferOffsetsAttr).asArrayRef()) {}

LogicalResult Program::lower() {
  // The old body stays where it is until the end: decisions are read off it.
  Region &old = kernel.getBody();
  Region made;
  entry = &made.emplaceBlock();
  builder.setInsertionPointToStart(entry);
  scratchBase = ScratchOp::create(builder, kernel.getLoc());
  for (BlockArgument argument : old.getArguments()) {
    scalars.map(argument, entry->addArgument(argument.getType(), argument.getLoc()));
    if (isa<tile::ViewType>(argument.getType()))
      defineView(argument);
  }
  LogicalResult result = lowerBlock(old.front());
  if (failed(result)) {
    made.dropAllReferences();
    return failure();
  }
  tile::ReturnOp::create(builder, kernel.getLoc());
  kernel.getBody().takeBody(made);
  return success();
}

LogicalResult Program::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(lowerOp(&op)))
      return failure();
  return success();
}

/// The first element, in a register.
void Program::lowerToScalar(tile::ToScalarOp op) {
  Nest nest(*this, op.getLoc());
  auto type = cast<RankedTensorType>(op.getInput().getType());
  Point point;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    point.at.push_back(nest.index(0));
  scalars.map(op.getResult(), nest.value(op.getInput(), point));
}

void Program::lowerWrite(tile::WriteOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  Array to =
      buffer(temp(op.getBuffer().getDefiningOp(), 0), type.getShape(), type.getElementType());
  materialize(op.getLoc(), op.getValue(), to);
}

LogicalResult Program::lowerOp(Operation *op) {
  if (const Lowering *known = Lowerings::get().find(op); known && known->lower)
    return known->lower(*this, op);
  return lowerElements(op);
}

/// What is computed for each element from those at its place, or is no tensor.
LogicalResult Program::lowerElements(Operation *op) {
  Location loc = op->getLoc();
  bool tensors = false;
  for (Type type : op->getResultTypes())
    tensors |= isa<RankedTensorType>(type);
  if (!tensors) {
    auto isScalar = [](Type type) { return !isa<RankedTensorType, tile::BufferType>(type); };
    if (op->getNumRegions() || !llvm::all_of(op->getOperandTypes(), isScalar))
      return op->emitOpError("cannot be compiled for the host");
    Operation *copy = builder.clone(*op, scalars);
    for (auto [from, to] : llvm::zip_equal(op->getResults(), copy->getResults()))
      scalars.map(from, to);
    return success();
  }
  if (!isInlineable(op))
    return op->emitOpError("cannot be compiled for the host");
  if (op->hasAttr(kFusedAttr)) // the reduction that reads it does it
    return success();
  for (Value result : op->getResults())
    if (bufferOf(result) >= 0) {
      Array to = storage(result);
      Attribute kept = op->removeAttr(kBuffersAttr); // computed for once, not read
      materialize(loc, result, to);
      op->setAttr(kBuffersAttr, kept);
    }
  return success();
}

//===- Views and buffers --------------------------------------------------------------------===//

/// The start of the program: what is made there can be used everywhere.
OpBuilder Program::atEntry() {
  OpBuilder start(builder.getContext());
  start.setInsertionPointAfter(scratchBase.getDefiningOp());
  return start;
}

Value Program::indexConstant(Location, int64_t value) {
  Value &known = indices[value];
  if (!known) {
    OpBuilder start = atEntry();
    known = arith::ConstantIndexOp::create(start, kernel.getLoc(), value);
  }
  return known;
}

SmallVector<Value> Program::scalarRange(ValueRange old) {
  return llvm::map_to_vector(old, [&](Value value) { return scalar(value); });
}

const Array &Program::view(Value old) { return views.find(old)->second; }

Value Program::services() {
  if (!servicesBase) {
    OpBuilder start = atEntry();
    servicesBase = ServicesOp::create(start, kernel.getLoc());
  }
  return servicesBase;
}

int64_t Program::temp(Operation *op, unsigned index) {
  return op->getAttrOfType<DenseI64ArrayAttr>(kTempsAttr)[index];
}

static SmallVector<int64_t> rowMajor(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int dim = static_cast<int>(shape.size()) - 2; dim >= 0; --dim)
    strides[dim] = strides[dim + 1] * shape[dim + 1];
  return strides;
}

Array Program::buffer(int64_t number, ArrayRef<int64_t> shape, Type element) {
  Location loc = kernel.getLoc();
  Array array;
  array.element = element;
  Value &base = bufferBases[offsets[number]];
  if (!base) {
    OpBuilder start = atEntry();
    base = LLVM::GEPOp::create(start, loc, LLVM::LLVMPointerType::get(builder.getContext()),
                               builder.getI8Type(), scratchBase,
                               ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(offsets[number])});
  }
  array.base = base;
  for (auto [extent, stride] : llvm::zip_equal(shape, rowMajor(shape))) {
    array.extents.push_back(indexConstant(loc, extent));
    array.strides.push_back(indexConstant(loc, stride));
  }
  return array;
}

Array Program::storage(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  return buffer(bufferOf(tensor), type.getShape(), type.getElementType());
}

Array Program::constant(arith::ConstantOp op) {
  auto data = cast<DenseElementsAttr>(op.getValue());
  auto type = cast<RankedTensorType>(data.getType());
  Type element = type.getElementType(), storage = storageType(element);
  SmallVector<Attribute> values;
  for (Attribute value : data.getValues<Attribute>()) {
    if (auto real = dyn_cast<FloatAttr>(value)) {
      APFloat number = real.getValue();
      APInt bits = number.bitcastToAPInt();
      bool exact;
      if (auto kept = dyn_cast<FloatType>(storage))
        number.convert(kept.getFloatSemantics(), APFloat::rmNearestTiesToEven, &exact);
      values.push_back(isa<FloatType>(storage)
                           ? Attribute(FloatAttr::get(storage, number))
                           : IntegerAttr::get(storage, bits.zext(storage.getIntOrFloatBitWidth())));
    } else {
      APInt bits = cast<IntegerAttr>(value).getValue();
      values.push_back(
          IntegerAttr::get(storage, bits.zextOrTrunc(storage.getIntOrFloatBitWidth())));
    }
  }
  auto flat = RankedTensorType::get({type.getNumElements()}, storage);
  auto module = kernel->getParentOfType<ModuleOp>();
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  auto global = LLVM::GlobalOp::create(
      top, op.getLoc(), LLVM::LLVMArrayType::get(storage, type.getNumElements()),
      /*isConstant=*/true, LLVM::Linkage::Internal,
      (kernel.getSymName() + "_constant_" + Twine(globals++)).str(),
      DenseElementsAttr::get(flat, values));
  Array array;
  array.element = element;
  OpBuilder start = atEntry();
  array.base = LLVM::AddressOfOp::create(start, op.getLoc(), global);
  for (auto [extent, stride] : llvm::zip_equal(type.getShape(), rowMajor(type.getShape()))) {
    array.extents.push_back(indexConstant(op.getLoc(), extent));
    array.strides.push_back(indexConstant(op.getLoc(), stride));
  }
  return array;
}

//===- Versions of a nest -------------------------------------------------------------------===//

Value Program::tileInside(Location loc, const Array &array, ValueRange offsets,
                          ArrayRef<int64_t> shape) {
  Value all;
  for (auto [dim, offset] : llvm::enumerate(offsets)) {
    Value last =
        arith::SubIOp::create(builder, loc, array.extents[dim], indexConstant(loc, shape[dim]));
    Value above = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, offset,
                                        indexConstant(loc, 0));
    Value below = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle, offset, last);
    Value both = arith::AndIOp::create(builder, loc, above, below);
    all = all ? arith::AndIOp::create(builder, loc, all, both) : both;
  }
  return all;
}

void Program::insideConditions(Value tensor, SmallVectorImpl<Value> &conditions) {
  walkTree(tensor, [&](Value value) {
    auto load = value.getDefiningOp<tile::LoadOp>();
    if (!load || !isInline(value))
      return;
    if (Value ok = tileInside(load.getLoc(), view(load.getView()), scalarRange(load.getOffsets()),
                              load.getResult().getType().getShape()))
      conditions.push_back(ok);
  });
}

void Program::versions(Location loc, ArrayRef<Value> conditions, function_ref<void(bool)> body) {
  if (conditions.empty())
    return body(true);
  Value all = conditions.front();
  for (Value condition : conditions.drop_front())
    all = arith::AndIOp::create(builder, loc, all, condition);
  auto branch = scf::IfOp::create(builder, loc, all, /*withElse=*/true);
  builder.setInsertionPointToStart(branch.thenBlock());
  body(true);
  builder.setInsertionPointToStart(branch.elseBlock());
  body(false);
  builder.setInsertionPointAfter(branch);
}

void Program::materialize(Location loc, Value tensor, const Array &to,
                          function_ref<Value(Nest &, Value)> convert) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  int lane = -1;
  for (auto [dim, extent] : llvm::enumerate(shape))
    if (extent > 1)
      lane = dim;
  SmallVector<Value> conditions;
  insideConditions(tensor, conditions);
  versions(loc, conditions, [&](bool inside) {
    Nest nest(*this, loc, inside);
    forVectors(nest, tensor, lane, [&](const Point &point, Value value) {
      nest.store(convert ? convert(nest, value) : value, to, point);
    });
  });
}

namespace {

/// Views come from the kernel's arguments or from pointers, buffers from tile.alloc: which memory
/// an op reaches is then known.
LogicalResult verifyMemory(tile::KernelOp kernel) {
  WalkResult result = kernel.getBody().walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand);
      bool own = argument && argument.getOwner()->getParentOp() == kernel;
      if (isa<tile::ViewType, tile::PointerType>(operand.getType()) && !own &&
          !isa_and_nonnull<tile::ViewFromPointerOp, tile::SubviewOp, tile::PointerFromAddressOp>(
              operand.getDefiningOp())) {
        op->emitOpError("expected a view or pointer that is an argument of the kernel, or one that "
                        "the kernel makes");
        return WalkResult::interrupt();
      }
      if (isa<tile::BufferType>(operand.getType()) && !operand.getDefiningOp<tile::AllocOp>()) {
        op->emitOpError("expected a buffer made by tile.alloc");
        return WalkResult::interrupt();
      }
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

struct LowerTilesPass : kiln::cpu::impl::LowerTilesBase<LowerTilesPass> {
  using LowerTilesBase::LowerTilesBase;
  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels;
    getOperation()->walk([&](tile::KernelOp kernel) { kernels.push_back(kernel); });
    for (tile::KernelOp kernel : kernels) {
      auto target = dyn_cast_or_null<TargetAttr>(Attribute(getTarget(kernel)));
      if (!target) {
        kernel.emitOpError("expected a module with a cpu target as tile.target");
        return signalPassFailure();
      }
      if (failed(checkPlaces(kernel)) || failed(verifyMemory(kernel)) ||
          failed(Program(kernel, target).lower()))
        return signalPassFailure();
      kernel->removeAttr(kBufferBytesAttr);
      kernel->removeAttr(kBufferOffsetsAttr);
    }
  }
};

} // namespace
