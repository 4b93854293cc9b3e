// A kernel as a function: its parameters, its launches, and the walk over its ops.
#include "ThreadPatterns.h"
#include "ThreadPlans.h"
#include "kiln/Target/Common/ABI.h"
#include "kiln/Target/Common/ForeignCalls.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

//===- Launches -----------------------------------------------------------------------------===//

/// What was decided of launches goes to whoever makes them.
static LogicalResult lowerLaunch(ThreadContext &context) {
  Attribute cluster = context.kernel->getAttr(kClusterAttrName);
  if (cluster && !context.sync.hasClusters())
    return emitUnsupported(context.kernel, context.target, "expected a chip that has clusters");
  if (cluster) {
    ArrayRef<int64_t> extents = cast<DenseI64ArrayAttr>(cluster).asArrayRef();
    setMetadata(context.kernel, "cluster", context.getI64ArrayAttr(extents));
  }
  return success();
}

//===- Parameters ---------------------------------------------------------------------------===//

/// Whether a scalar is handed over as the low bits of a byte: code generators know few such types.
static bool isByte(Type type) { return type.isIntOrFloat() && type.getIntOrFloatBitWidth() <= 8; }

/// A scalar from the byte that it was handed over as.
static Value fromByte(ThreadContext &context, Value byte, Type type) {
  Type raw = context.getIntegerType(type.getIntOrFloatBitWidth());
  Value bits = byte.getType() == raw ? byte : arith::TruncIOp::create(context, raw, byte);
  return type == raw ? bits : Value(arith::BitcastOp::create(context, type, bits));
}

static void lowerParameters(ThreadContext &context) {
  SmallVector<Parameter> parameters = getParameters(context.kernel);
  SmallVector<Type> types;
  for (const Parameter &parameter : parameters) {
    if (parameter.kind == Parameter::Kind::Pointer)
      types.push_back(LLVM::LLVMPointerType::get(context.kernel.getContext(), kGlobalSpace));
    else if (parameter.type.isIndex())
      types.push_back(context.getI64Type());
    else if (isByte(parameter.type))
      types.push_back(context.getI8Type());
    else
      types.push_back(parameter.type);
  }
  context.function = func::FuncOp::create(context, context.kernel.getSymName(),
                                          context.getFunctionType(types, {}));
  context.function->setAttr(kThreadsAttrName,
                            context.getI64IntegerAttr(context.warps * context.chip.warpSize));
  Attribute shared = context.kernel->getAttr(kSharedBytesAttrName);
  context.function->setAttr(kSharedBytesAttrName, shared ? shared : context.getI64IntegerAttr(0));
  Block *entry = context.function.addEntryBlock();
  context.setInsertionPointToEnd(entry);

  Value thread = arith::IndexCastUIOp::create(context, context.getI32Type(),
                                              gpu::ThreadIdOp::create(context, gpu::Dimension::x));
  Value size = context.i32(context.chip.warpSize);
  context.lane = arith::RemUIOp::create(context, thread, size);
  context.warp = arith::DivUIOp::create(context, thread, size);
  // What is added to the prologue later goes in front of this op, so behind the ones above.
  Value end = context.index(0);
  context.prologue.setInsertionPoint(end.getDefiningOp());

  for (auto [parameter, value] : llvm::zip(parameters, entry->getArguments())) {
    BlockArgument argument = context.kernel.getBody().getArgument(parameter.argument);
    auto asIndex = [&](Value integer) -> Value {
      return arith::IndexCastOp::create(context, context.getIndexType(), integer);
    };
    switch (parameter.kind) {
    case Parameter::Kind::Pointer: {
      context.views[argument].pointer = value;
      context.views[argument].argument = parameter.argument;
      if (auto view = dyn_cast<ViewType>(argument.getType())) {
        auto constants = [&](ArrayRef<int64_t> extents) {
          SmallVector<Value> known;
          for (int64_t extent : extents)
            known.push_back(ShapedType::isDynamic(extent) ? Value() : context.index(extent));
          return known;
        };
        context.views[argument].dims = llvm::to_vector(llvm::seq<int64_t>(0, view.getRank()));
        context.views[argument].extents = constants(view.getShape());
        context.views[argument].strides = constants(view.getStrides());
      }
      break;
    }
    case Parameter::Kind::Extent:
      context.views[argument].extents[parameter.dim] = asIndex(value);
      break;
    case Parameter::Kind::Stride:
      context.views[argument].strides[parameter.dim] = asIndex(value);
      break;
    case Parameter::Kind::Scalar:
      if (parameter.type.isIndex())
        context.set(argument, asIndex(value));
      else if (isByte(parameter.type))
        context.set(argument, fromByte(context, value, parameter.type));
      else
        context.set(argument, value);
      break;
    }
  }
}

//===- The kernel ---------------------------------------------------------------------------===//

LogicalResult kiln::lowerKernelToThreads(KernelOp kernel, TargetInterface target) {
  const ThreadPatterns &patterns = ThreadPatterns::get();
  ThreadContext context(kernel, target, patterns);
  context.hiddenParameters = describeHidden(kernel);
  lowerParameters(context);
  if (failed(lowerLaunch(context)) || failed(context.lower(kernel.getBody().front())))
    return failure();
  patterns.end(context);
  if (!context.hiddenParameters.empty())
    setMetadata(kernel, kHiddenParametersName, context.getArrayAttr(context.hiddenParameters));
  if (kernel->hasAttr(kVendorMathAttrName))
    context.function->setAttr(kVendorMathAttrName, context.getUnitAttr());
  setMetadata(kernel, "warps", context.getI64IntegerAttr(context.warps));
  setMetadata(kernel, "warp_size", context.getI64IntegerAttr(context.chip.warpSize));
  setMetadata(kernel, "shared_bytes", context.function->getAttr(kSharedBytesAttrName));
  kernel.erase();
  return success();
}
