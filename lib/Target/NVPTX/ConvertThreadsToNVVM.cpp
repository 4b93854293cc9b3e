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

/// exp(x) = exp2(t + e), where t = x·log2(e) rounded and e is what rounding lost, found by a
/// fused multiply-add: exp2(t) is the chip's own, and exp2(e) is 1 + e·ln 2 to within f32. Where
/// the result is infinite, or x is, e is no number and has no say. Fast mathematics leaves e out.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return rewriter.notifyMatchFailure(op, "expected f32");
    Location loc = op.getLoc();
    auto constant = [&](double value) -> Value {
      return makeSplat(rewriter, loc, type, rewriter.getF32FloatAttr(value));
    };
    Value x = op.getOperand();
    // log2(e) and ln(2) to f32, and the first one's remainder.
    Value high = constant(1.44269502162933349609375), low = constant(1.92596299112661746887e-8);
    Value t = arith::MulFOp::create(rewriter, loc, x, high);
    if (isFast(op)) {
      rewriter.replaceOpWithNewOp<math::Exp2Op>(op, t, op.getFastmath());
      return success();
    }
    Value lost =
        math::FmaOp::create(rewriter, loc, x, high, arith::NegFOp::create(rewriter, loc, t));
    lost = math::FmaOp::create(rewriter, loc, x, low, lost);
    Value power = math::Exp2Op::create(rewriter, loc, t, op.getFastmath());
    Value factor = arith::MulFOp::create(rewriter, loc, power, constant(0.693147180559945));
    Value fixed = math::FmaOp::create(rewriter, loc, factor, lost, power);
    Value isNumber = arith::CmpFOp::create(rewriter, loc, arith::CmpFPredicate::ORD, fixed, fixed);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNumber, fixed, power);
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
    Location loc = op.getLoc();
    auto power = [&](Value x) -> Value {
      return LLVM::CallIntrinsicOp::create(rewriter, loc, rewriter.getF32Type(),
                                           rewriter.getStringAttr("llvm.nvvm.ex2.approx.ftz"),
                                           ValueRange{x})
          .getResult(0);
    };
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!vector) {
      rewriter.replaceOp(op, power(adaptor.getOperand()));
      return success();
    }
    Value result = LLVM::PoisonOp::create(rewriter, loc, adaptor.getOperand().getType());
    for (int64_t i = 0; i < vector.getNumElements(); ++i) {
      Value at = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI64Type(), i);
      Value x = LLVM::ExtractElementOp::create(rewriter, loc, adaptor.getOperand(), at);
      result = LLVM::InsertElementOp::create(rewriter, loc, result, power(x), at);
    }
    rewriter.replaceOp(op, result);
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
          patterns.add<ExpandExp>(patterns.getContext());
          if (flushes)
            nvptx::populateFlushedFloatPatterns(patterns);
          if (byteFloats)
            nvptx::populateNarrowFloatPatterns(patterns);
        },
        [](const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
          patterns.add<ConvertApproximateExp2>(converter, /*benefit=*/2);
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
