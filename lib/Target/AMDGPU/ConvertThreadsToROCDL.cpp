// The gpu dialect as ROCDL's special registers and barriers, and the kernel's frame.
#include "Chips.h"
#include "Counters.h"
#include "Shuffles.h"
#include "kiln/Target/AMDGPU/Passes.h"
#include "kiln/Target/Common/DefinedArithmetic.h"
#include "kiln/Target/Common/Threads.h"
#include "kiln/Target/Common/ThreadsToLLVM.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace kiln {
#define GEN_PASS_DEF_CONVERTTHREADSTOROCDL
#include "kiln/Target/AMDGPU/Passes.h.inc"
} // namespace kiln

using namespace mlir;
using namespace kiln;

namespace {
/// The number of blocks is the first of the hidden arguments (code object version 5). Upstream's
/// way is a call into the device library, which need not be at hand.
struct ConvertGridDim : ConvertOpToLLVMPattern<gpu::GridDimOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(gpu::GridDimOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    constexpr unsigned kConstantSpace = 4;
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    auto pointer = LLVM::LLVMPointerType::get(rewriter.getContext(), kConstantSpace);
    Value hidden = LLVM::CallIntrinsicOp::create(
                       rewriter, loc, pointer,
                       rewriter.getStringAttr("llvm.amdgcn.implicitarg.ptr"), ValueRange())
                       .getResult(0);
    int32_t at = static_cast<int32_t>(op.getDimension());
    hidden = LLVM::GEPOp::create(rewriter, loc, pointer, i32, hidden,
                                 ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(at)});
    Value count = LLVM::LoadOp::create(rewriter, loc, i32, hidden, /*alignment=*/4);
    rewriter.replaceOpWithNewOp<LLVM::ZExtOp>(op, rewriter.getI64Type(), count);
    return success();
  }
};

/// Barriers of a program of tiles order what its threads do in shared memory, so that loads from
/// global memory run on across them, unless they are marked to order these as well. What one wave
/// does in shared memory is done in order, so that threads that are one wave wait for nothing.
struct ConvertBarrier : ConvertOpToLLVMPattern<gpu::BarrierOp> {
  ConvertBarrier(const LLVMTypeConverter &converter, int64_t waveSize, bool countsStores)
      : ConvertOpToLLVMPattern(converter), waveSize(waveSize), countsStores(countsStores) {}
  LogicalResult matchAndRewrite(gpu::BarrierOp op, OpAdaptor,
                                ConversionPatternRewriter &rewriter) const override {
    bool ordersGlobal = op->hasAttr(kOrdersGlobalAttrName);
    auto threads =
        op->getParentOfType<FunctionOpInterface>()->getAttrOfType<IntegerAttr>(kThreadsAttrName);
    bool isOneWave = threads && threads.getInt() <= waveSize;
    auto release = LLVM::FenceOp::create(rewriter, op.getLoc(), LLVM::AtomicOrdering::release,
                                         isOneWave && !ordersGlobal ? "wavefront" : "workgroup");
    if (!ordersGlobal)
      release->setAttr(
          LLVM::LLVMDialect::getMmraAttrName(),
          LLVM::MMRATagAttr::get(rewriter.getContext(), "amdgpu-synchronize-as", "local"));
    // LLVM (22) leaves what waves of one workgroup write under way across such a fence: they see it
    // in the cache that they share. But one of them may then tell another core of it; a wave that
    // does waits for its own.
    if (ordersGlobal && countsStores && !isOneWave)
      amdgcn::waitForVector(rewriter, op.getLoc(), 0);
    ROCDL::SBarrierOp::create(rewriter, op.getLoc());
    if (!isOneWave)
      amdgcn::keepReads(rewriter, op.getLoc());
    // Before, a thread waits until what it wrote is there for all. After, the barrier itself has
    // waited for shared memory: only the compiler must not move reads to its other side. What is
    // in a cache of global memory may be stale.
    LLVM::FenceOp::create(rewriter, op.getLoc(), LLVM::AtomicOrdering::acquire,
                          ordersGlobal ? "workgroup" : "singlethread");
    rewriter.eraseOp(op);
    return success();
  }

private:
  int64_t waveSize;
  bool countsStores; ///< among loads
};

/// The chips fuse no bf16, and LLVM's way by f32 rounds twice.
struct FuseBFloat : OpRewritePattern<math::FmaOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FmaOp op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isBF16())
      return rewriter.notifyMatchFailure(op, "expected bf16");
    rewriter.replaceOp(op, fuseOnce(rewriter, op.getLoc(), op->getOperands()));
    return success();
  }
};

/// LLVM's code generator (22) has no instruction for the greater of two bf16, "of which neither is
/// NaN", but for the same as maxnum. That does not say which of two zeros is greater: where it
/// matters, numbers may be NaN again.
template <typename Op, typename Number>
struct ReplaceMaximum : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    arith::FastMathFlags flags = op.getFastmath();
    if (!getElementTypeOrSelf(op.getType()).isBF16() ||
        !bitEnumContainsAll(flags, arith::FastMathFlags::nnan))
      return rewriter.notifyMatchFailure(op, "expected bf16 without NaN");
    if (bitEnumContainsAll(flags, arith::FastMathFlags::nsz))
      rewriter.replaceOpWithNewOp<Number>(op, op.getLhs(), op.getRhs(), flags);
    else
      rewriter.modifyOpInPlace(
          op, [&] { op.setFastmath(bitEnumClear(flags, arith::FastMathFlags::nnan)); });
    return success();
  }
};

struct ConvertThreadsToROCDL : kiln::impl::ConvertThreadsToROCDLBase<ConvertThreadsToROCDL> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<TargetInterface> chip = requireTarget(module);
    if (failed(chip))
      return signalPassFailure();
    StringRef chipName = (*chip).getChipRecord().name;
    int64_t waveSize = (*chip).getChipRecord().warpSize;
    ThreadsToLLVM target{
        ROCDL::ROCDLDialect::getDialectNamespace(),
        [](StringRef name) {
          return name == math::ExpOp::getOperationName() ||
                 name == math::Exp2Op::getOperationName() ||
                 name == math::LogOp::getOperationName() ||
                 name == math::Log2Op::getOperationName() ||
                 name == math::RsqrtOp::getOperationName() ||
                 name == math::CeilOp::getOperationName();
        },
        [](RewritePatternSet &patterns) {
          patterns.add<FuseBFloat, ReplaceMaximum<arith::MaximumFOp, arith::MaxNumFOp>,
                       ReplaceMaximum<arith::MinimumFOp, arith::MinNumFOp>>(patterns.getContext());
        },
        [=](const LLVMTypeConverter &converter, RewritePatternSet &patterns) {
          patterns.add<
              ConvertIndex<gpu::ThreadIdOp, ROCDL::ThreadIdXOp, ROCDL::ThreadIdYOp,
                           ROCDL::ThreadIdZOp>,
              ConvertIndex<gpu::BlockIdOp, ROCDL::BlockIdXOp, ROCDL::BlockIdYOp, ROCDL::BlockIdZOp>,
              ConvertGridDim>(converter);
          patterns.add<ConvertBarrier>(converter, waveSize,
                                       amdgcn::getRecord(chipName).waits == amdgcn::WaitForm::GFX9);
          amdgcn::populateShufflePatterns(converter, patterns, chipName);
        },
        [](LLVM::LLVMFuncOp function, int32_t threads) {
          Builder builder(function.getContext());
          std::string range = std::to_string(threads) + "," + std::to_string(threads);
          function->setAttr(ROCDL::ROCDLDialect::getKernelFuncAttrName(), builder.getUnitAttr());
          function->setAttr("rocdl.flat_work_group_size", builder.getStringAttr(range));
          function->setAttr("rocdl.reqd_work_group_size",
                            builder.getDenseI32ArrayAttr({threads, 1, 1}));
        },
        /*sharedHasSize=*/true,
        {"workgroup", "agent", "agent", ""}};
    if (failed(convertThreadsToLLVM(module, target)))
      signalPassFailure();
  }
};
} // namespace
