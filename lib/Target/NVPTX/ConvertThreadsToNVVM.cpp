// The gpu dialect as NVVM's special registers, barriers and shuffles; exp by the chip's exp2.
#include "Chips.h"
#include "NarrowFloats.h"
#include "kiln/Target/Common/Constants.h"
#include "kiln/Target/Common/FastMath.h"
#include "kiln/Target/Common/Threads.h"
#include "kiln/Target/Common/ThreadsToLLVM.h"
#include "kiln/Target/NVPTX/Passes.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace kiln {
#define GEN_PASS_DEF_CONVERTTHREADSTONVVM
#include "kiln/Target/NVPTX/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;

/// log2(e) in f32, and what it lacks.
static constexpr double kLog2E = 1.44269502162933349609375, kLog2ERest = 1.92596299112661746887e-8;

namespace {
struct ConvertBarrier : ConvertOpToLLVMPattern<gpu::BarrierOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(gpu::BarrierOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    NVVM::Barrier0Op::create(rewriter, op.getLoc());
    rewriter.eraseOp(op);
    return success();
  }
};

struct ConvertShuffle : ConvertOpToLLVMPattern<gpu::ShuffleOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(gpu::ShuffleOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    if (op.getMode() != gpu::ShuffleMode::XOR && op.getMode() != gpu::ShuffleMode::IDX)
      return rewriter.notifyMatchFailure(op, "expected a shuffle by mask or by lane");
    Value all = LLVM::ConstantOp::create(rewriter, loc, i32, -1);
    Value clamp = LLVM::ConstantOp::create(rewriter, loc, i32, 31);
    auto kind = op.getMode() == gpu::ShuffleMode::XOR ? NVVM::ShflKind::bfly : NVVM::ShflKind::idx;
    Value result = NVVM::ShflOp::create(rewriter, loc, i32, all, adaptor.getValue(),
                                        adaptor.getOffset(), clamp, kind, UnitAttr());
    Value valid = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI1Type(), true);
    rewriter.replaceOp(op, {result, valid});
    return success();
  }
};

/// Fast mathematics multiplies by log2(e), whose rounding error grows with x, and takes exp2.
struct ExpandFastExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32() || !isFast(op))
      return rewriter.notifyMatchFailure(op, "expected f32 under fast mathematics");
    Value factor = makeSplat(rewriter, op.getLoc(), type, rewriter.getF32FloatAttr(kLog2E));
    Value t = arith::MulFOp::create(rewriter, op.getLoc(), op.getOperand(), factor);
    rewriter.replaceOpWithNewOp<math::Exp2Op>(op, t, op.getFastmath());
    return success();
  }
};

/// Calls an intrinsic on f32 for each element of the first operand; the others are numbers.
Value callEach(OpBuilder &builder, Location loc, StringRef intrinsic, Value x,
               ArrayRef<double> numbers = {}) {
  Type f32 = builder.getF32Type();
  SmallVector<Value> operands{Value()};
  for (double each : numbers)
    operands.push_back(LLVM::ConstantOp::create(builder, loc, builder.getF32FloatAttr(each)));
  auto call = [&](Value element) -> Value {
    operands.front() = element;
    return LLVM::CallIntrinsicOp::create(builder, loc, f32, builder.getStringAttr(intrinsic),
                                         operands)
        .getResult(0);
  };
  auto vector = dyn_cast<VectorType>(x.getType());
  if (!vector)
    return call(x);
  Value result = LLVM::PoisonOp::create(builder, loc, vector);
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    Value at = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), i);
    Value element = LLVM::ExtractElementOp::create(builder, loc, x, at);
    result = LLVM::InsertElementOp::create(builder, loc, result, call(element), at);
  }
  return result;
}

/// exp(x) = 2^a · exp2(x·log2(e) - a), where a is the nearest integer from -126 to 126:
///   part  = x·log2(e)/252 + 1/2, from 0 to 1 by saturation (0 of what is no number)
///   whole = 1.5·2^23 + 1 + 252·part, whose lowest bits are a + 127: shifted, the bits of 2^a
///   rest  = x·log2(e) - a, infinite or no number where x is, and exact but for log2(e)'s remainder
struct ConvertExp : ConvertOpToLLVMPattern<math::ExpOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(math::ExpOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32())
      return rewriter.notifyMatchFailure(op, "expected f32");
    Location loc = op.getLoc();
    Value x = adaptor.getOperand();
    Type floats = x.getType(), words = rewriter.getI32Type();
    auto vector = dyn_cast<VectorType>(floats);
    if (vector)
      words = vector.clone(words);
    auto constant = [&](Type type, Attribute value) -> Value {
      if (vector)
        value = DenseElementsAttr::get(cast<ShapedType>(type), value);
      return LLVM::ConstantOp::create(rewriter, loc, type, cast<TypedAttr>(value));
    };
    auto number = [&](double value) { return constant(floats, rewriter.getF32FloatAttr(value)); };
    auto fma = [&](Value x, Value y, Value z) -> Value {
      return LLVM::FMAOp::create(rewriter, loc, x, y, z);
    };
    constexpr double range = 252, ulpIsOne = 3 << 22, bias = 127;
    Value part = callEach(rewriter, loc, "llvm.nvvm.fma.rn.sat.f", x, {kLog2E / range, 0.5});
    Value whole = fma(part, number(range), number(ulpIsOne + bias - range / 2));
    Value minusA = LLVM::FSubOp::create(rewriter, loc, number(ulpIsOne + bias), whole);
    Value rest = fma(x, number(kLog2ERest), fma(x, number(kLog2E), minusA));
    Value power = callEach(rewriter, loc, "llvm.nvvm.ex2.approx.ftz", rest);
    Value bits = LLVM::BitcastOp::create(rewriter, loc, words, whole);
    Value exponent =
        LLVM::ShlOp::create(rewriter, loc, bits, constant(words, rewriter.getI32IntegerAttr(23)));
    Value scale = LLVM::BitcastOp::create(rewriter, loc, floats, exponent);
    rewriter.replaceOpWithNewOp<LLVM::FMulOp>(op, power, scale);
    return success();
  }
};

/// An exponential that may be approximated takes results below 2^-126 for zeros, as the chip's own
/// instruction does: that they are kept takes three more instructions and a predicate.
struct ConvertApproximateExp2 : ConvertOpToLLVMPattern<math::Exp2Op> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(math::Exp2Op op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isF32() ||
        !arith::bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return rewriter.notifyMatchFailure(op, "expected f32 that may be approximated");
    rewriter.replaceOp(
        op, callEach(rewriter, op.getLoc(), "llvm.nvvm.ex2.approx.ftz", adaptor.getOperand()));
    return success();
  }
};

/// What the assembler is told of a kernel and its parameters.
void finishKernel(LLVM::LLVMFuncOp function, int32_t threads) {
  Builder builder(function.getContext());
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    builder.getDenseI32ArrayAttr({threads}));
  // Registers are handed over only where a bound says how many there are to begin with.
  bool handsOver = function.walk([](NVVM::SetMaxRegisterOp) { return WalkResult::interrupt(); })
                       .wasInterrupted();
  if (handsOver)
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), builder.getI32IntegerAttr(1));
  // A map is 128 bytes in the parameters themselves, where the engine reads them.
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), 128);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    if (!function.getArgAttr(i, kTensorMapAttrName))
      continue;
    function.removeArgAttr(i, builder.getStringAttr(kTensorMapAttrName));
    function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(64));
    function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
  }
}

static const nvptx::ChipRecord &getRecordOf(ModuleOp module) {
  TargetInterface target = getTarget(module);
  return nvptx::getRecord(target ? target.getChipRecord().name : "");
}

struct ConvertThreadsToNVVM : kiln::impl::ConvertThreadsToNVVMBase<ConvertThreadsToNVVM> {
  void runOnOperation() override {
    ThreadsToLLVM target{
        NVVM::NVVMDialect::getDialectNamespace(),
        [](StringRef name) {
          return name == math::ExpOp::getOperationName() ||
                 name == math::Exp2Op::getOperationName() ||
                 name == math::RsqrtOp::getOperationName() ||
                 name == math::CeilOp::getOperationName();
        },
        [byteFloats = getRecordOf(getOperation()).byteFloats,
         flushes = getOperation()->hasAttr(kFlushAttrName)](RewritePatternSet &patterns) {
          patterns.add<ExpandFastExp>(patterns.getContext());
          if (flushes)
            nvptx::populateFlushedFloatPatterns(patterns);
          else
            nvptx::populatePairPatterns(patterns);
          if (byteFloats)
            nvptx::populateNarrowFloatPatterns(patterns);
        },
        [](const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
          patterns.add<ConvertApproximateExp2, ConvertExp>(converter, /*benefit=*/2);
          patterns.add<
              ConvertIndex<gpu::ThreadIdOp, NVVM::ThreadIdXOp, NVVM::ThreadIdYOp,
                           NVVM::ThreadIdZOp>,
              ConvertIndex<gpu::BlockIdOp, NVVM::BlockIdXOp, NVVM::BlockIdYOp, NVVM::BlockIdZOp>,
              ConvertIndex<gpu::GridDimOp, NVVM::GridDimXOp, NVVM::GridDimYOp, NVVM::GridDimZOp>,
              ConvertBarrier, ConvertShuffle>(converter);
        },
        finishKernel,
        /*sharedHasSize=*/false,
        {"block", "cluster", "device", ""}};
    if (failed(convertThreadsToLLVM(getOperation(), target)))
      signalPassFailure();
  }
};
} // namespace
