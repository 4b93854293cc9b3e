// From a kernel over views to the two functions that the host calls.
#include "Materialization.h"
#include "kiln/Target/CPU/Passes.h"
#include "kiln/Target/Common/ABI.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

namespace kiln::cpu {
#define GEN_PASS_DEF_LOWERKERNEL
#include "kiln/Target/CPU/Passes.h.inc"
} // namespace kiln::cpu

using namespace mlir;
using namespace kiln;
using namespace kiln::cpu;

namespace {

/// The parameters of one function, read from its slots.
struct Slots {
  OpBuilder &builder;
  tile::KernelOp kernel;
  Value slots;
  SmallVector<Parameter> parameters = getParameters(kernel);
  SmallVector<Value> values = {};

  void load() {
    Location loc = kernel.getLoc();
    Type pointer = LLVM::LLVMPointerType::get(builder.getContext());
    for (auto [index, parameter] : llvm::enumerate(parameters)) {
      Type type = parameter.kind == Parameter::Kind::Pointer ? pointer : parameter.type;
      if (isa<IndexType>(type))
        type = builder.getI64Type();
      bool scalar = parameter.kind == Parameter::Kind::Scalar;
      Type read = scalar ? storageType(parameter.type) : type;
      Value at = LLVM::GEPOp::create(builder, loc, pointer, builder.getI64Type(), slots,
                                     ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
      Value value = LLVM::LoadOp::create(builder, loc, read, at);
      if (parameter.kind == Parameter::Kind::Extent || parameter.kind == Parameter::Kind::Stride ||
          (scalar && isa<IndexType>(parameter.type))) {
        value = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), value);
      } else if (scalar && read != parameter.type) {
        unsigned bits = parameter.type.getIntOrFloatBitWidth();
        Type narrow = builder.getIntegerType(bits);
        if (read != narrow)
          value = arith::TruncIOp::create(builder, loc, narrow, value);
        if (isa<FloatType>(parameter.type))
          value = arith::BitcastOp::create(builder, loc, parameter.type, value);
      }
      values.push_back(value);
    }
  }

  Value find(Parameter::Kind kind, unsigned argument, unsigned dim = 0) {
    for (auto [parameter, value] : llvm::zip_equal(parameters, values))
      if (parameter.kind == kind && parameter.argument == argument &&
          (kind == Parameter::Kind::Pointer || kind == Parameter::Kind::Scalar ||
           parameter.dim == dim))
        return value;
    return {};
  }
};

/// Moves a region's only block to the builder's place, its arguments replaced by parameters.
/// Returns the terminator.
static Operation *inlineBlock(Region &region, Slots &slots, OpBuilder &builder) {
  Block &block = region.front();
  for (BlockArgument argument : block.getArguments())
    if (!isa<tile::ViewType, tile::PointerType>(argument.getType()))
      argument.replaceAllUsesWith(slots.find(Parameter::Kind::Scalar, argument.getArgNumber()));
  auto argumentOf = [](Value view) { return cast<BlockArgument>(view).getArgNumber(); };
  region.walk([&](Operation *op) {
    Value to;
    if (auto dim = dyn_cast<tile::DimOp>(op)) {
      auto type = cast<tile::ViewType>(dim.getView().getType());
      builder.setInsertionPoint(op);
      to = type.isDynamicDim(dim.getDim())
               ? slots.find(Parameter::Kind::Extent, argumentOf(dim.getView()), dim.getDim())
               : arith::ConstantIndexOp::create(builder, op->getLoc(),
                                                type.getShape()[dim.getDim()]);
    } else if (auto stride = dyn_cast<tile::StrideOp>(op)) {
      auto type = cast<tile::ViewType>(stride.getView().getType());
      builder.setInsertionPoint(op);
      to = type.isDynamicStride(stride.getDim())
               ? slots.find(Parameter::Kind::Stride, argumentOf(stride.getView()), stride.getDim())
               : arith::ConstantIndexOp::create(builder, op->getLoc(),
                                                type.getStrides()[stride.getDim()]);
    } else if (auto base = dyn_cast<BaseOp>(op)) {
      to = slots.find(Parameter::Kind::Pointer, argumentOf(base.getMemory()));
    } else if (auto multiple = dyn_cast<tile::MultipleOfOp>(op)) {
      to = multiple.getValue();
    } else if (isa<tile::AssumeOp>(op)) {
      op->erase();
    }
    if (to) {
      op->getResult(0).replaceAllUsesWith(to);
      op->erase();
    }
  });
  return block.getTerminator();
}

struct LowerKernelPass : kiln::cpu::impl::LowerKernelBase<LowerKernelPass> {
  using LowerKernelBase::LowerKernelBase;

  void makeEntry(tile::KernelOp kernel, OpBuilder &builder) {
    Location loc = kernel.getLoc();
    MLIRContext *context = builder.getContext();
    Type pointer = LLVM::LLVMPointerType::get(context), i64 = builder.getI64Type();
    Type index = builder.getIndexType(), i32 = builder.getI32Type();
    auto function = func::FuncOp::create(
        builder, loc, "kiln_entry",
        builder.getFunctionType({pointer, i64, i64, pointer, pointer, pointer}, {i32}));
    // Nothing else reaches a program's own scratch memory, its slots and the grid.
    for (unsigned argument : {0u, 3u, 4u})
      function.setArgAttr(argument, LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
    Block *entry = function.addEntryBlock();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    Slots slots{builder, kernel, entry->getArgument(0)};
    slots.load();
    Value scratch = entry->getArgument(4);
    Value count =
        LLVM::GEPOp::create(builder, loc, pointer, builder.getI8Type(), scratch,
                            ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(kAssertCountOffset)});
    Value none = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
    LLVM::StoreOp::create(builder, loc, none, count);
    SmallVector<Value> grid;
    for (int32_t axis = 0; axis < 3; ++axis) {
      Value at = LLVM::GEPOp::create(builder, loc, pointer, i64, entry->getArgument(3),
                                     ArrayRef<LLVM::GEPArg>{axis});
      Value extent = LLVM::LoadOp::create(builder, loc, i64, at);
      grid.push_back(arith::IndexCastOp::create(builder, loc, index, extent));
    }
    Value first = arith::IndexCastOp::create(builder, loc, index, entry->getArgument(1));
    Value last = arith::IndexCastOp::create(builder, loc, index, entry->getArgument(2));
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    auto loop = scf::ForOp::create(builder, loc, first, last, one);
    builder.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> ids;
    Value rest = loop.getInductionVar();
    for (int axis = 0; axis < 2; ++axis) {
      ids.push_back(arith::RemUIOp::create(builder, loc, rest, grid[axis]));
      rest = arith::DivUIOp::create(builder, loc, rest, grid[axis]);
    }
    ids.push_back(rest);

    Operation *terminator = inlineBlock(kernel.getBody(), slots, builder);
    kernel.getBody().walk([&](Operation *op) {
      Value to;
      if (auto id = dyn_cast<tile::ProgramIdOp>(op))
        to = ids[static_cast<int>(id.getAxis())];
      else if (auto number = dyn_cast<tile::NumProgramsOp>(op))
        to = grid[static_cast<int>(number.getAxis())];
      else if (isa<ScratchOp>(op))
        to = scratch;
      else if (isa<ServicesOp>(op))
        to = entry->getArgument(5);
      if (!to)
        return;
      op->getResult(0).replaceAllUsesWith(to);
      op->erase();
    });
    terminator->erase();
    loop.getBody()->getOperations().splice(loop.getBody()->getTerminator()->getIterator(),
                                           kernel.getBody().front().getOperations());
    builder.setInsertionPointAfter(loop);
    Value failures = LLVM::LoadOp::create(builder, loc, i32, count);
    func::ReturnOp::create(builder, loc, failures);
  }

  void makeGrid(tile::KernelOp kernel, OpBuilder &builder) {
    Location loc = kernel.getLoc();
    Type pointer = LLVM::LLVMPointerType::get(builder.getContext()), i64 = builder.getI64Type();
    auto function = func::FuncOp::create(builder, loc, "kiln_grid",
                                         builder.getFunctionType({pointer, pointer}, {}));
    Block *entry = function.addEntryBlock();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(entry);
    Slots slots{builder, kernel, entry->getArgument(0)};
    slots.load();
    Operation *terminator = inlineBlock(kernel.getGrid(), slots, builder);
    SmallVector<Value> extents(terminator->getOperands());
    terminator->erase();
    entry->getOperations().splice(entry->end(), kernel.getGrid().front().getOperations());
    builder.setInsertionPointToEnd(entry);
    Value one = arith::ConstantIndexOp::create(builder, loc, 1);
    for (int32_t axis = 0; axis < 3; ++axis) {
      Value extent = axis < static_cast<int32_t>(extents.size()) ? extents[axis] : one;
      Value value = arith::IndexCastOp::create(builder, loc, i64, extent);
      Value at = LLVM::GEPOp::create(builder, loc, pointer, i64, entry->getArgument(1),
                                     ArrayRef<LLVM::GEPArg>{axis});
      LLVM::StoreOp::create(builder, loc, value, at);
    }
    func::ReturnOp::create(builder, loc);
  }

  void runOnOperation() override {
    SmallVector<tile::KernelOp> kernels(getOperation().getOps<tile::KernelOp>());
    if (kernels.size() > 1) {
      kernels[1].emitOpError("expected one kernel in the module, got ") << kernels.size();
      return signalPassFailure();
    }
    for (tile::KernelOp kernel : kernels) {
      WalkResult foreign = kernel->walk([&](Operation *op) {
        for (Value operand : op->getOperands())
          if (isa<tile::ViewType, tile::PointerType>(operand.getType()) &&
              (!isa<BlockArgument>(operand) ||
               cast<BlockArgument>(operand).getOwner()->getParentOp() != kernel)) {
            op->emitOpError("expected a view or pointer that is an argument of the kernel");
            return WalkResult::interrupt();
          }
        return WalkResult::advance();
      });
      if (foreign.wasInterrupted())
        return signalPassFailure();
      OpBuilder builder(kernel);
      if (Attribute scratch = kernel->getAttr(kScratchBytesAttr))
        setMetadata(getOperation(), "scratch_bytes", scratch);
      if (SmallVector<Attribute> hidden = describeHidden(kernel); !hidden.empty())
        setMetadata(getOperation(), kHiddenParametersName, builder.getArrayAttr(hidden));
      if (kernel.hasGrid())
        makeGrid(kernel, builder);
      builder.setInsertionPoint(kernel);
      makeEntry(kernel, builder);
      kernel.erase();
    }
  }
};

} // namespace
