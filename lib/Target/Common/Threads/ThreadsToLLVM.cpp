// Mathematics as arithmetic, loops as branches, then everything as LLVM's dialect.
#include "kiln/Target/Common/ThreadsToLLVM.h"
#include "kiln/Target/Common/DefinedArithmetic.h"
#include "kiln/Target/Common/FastMath.h"
#include "kiln/Target/Common/ForeignCalls.h"
#include "kiln/Target/Common/Passes.h"
#include "kiln/Target/Common/Threads.h"
#include "kiln/Target/Common/WidenPairs.h"
#include "kiln/Target/TargetInterface.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace kiln;

/// Floats of a byte and less exist in memory only; whatever converts them is done in integers.
static bool hasNarrowFloats(ModuleOp module) {
  WalkResult result = module.walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op))
      for (Type type : {op->getOperand(0).getType(), op->getResult(0).getType()})
        if (getElementTypeOrSelf(type).getIntOrFloatBitWidth() < 16)
          return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return result.wasInterrupted();
}

static bool isNarrow(Type type) {
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  return element && element.getWidth() < 16;
}

/// To floats narrower than f32. Left to the code generator, some chips round wide integers twice.
/// f32 holds all of 16 bits: f16 and bf16 of those are the chip's.
static void convertIntegersOnce(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (!isa<arith::SIToFPOp, arith::UIToFPOp>(op))
      return;
    unsigned from = getElementTypeOrSelf(op->getOperand(0)).getIntOrFloatBitWidth();
    unsigned to = getElementTypeOrSelf(op->getResult(0)).getIntOrFloatBitWidth();
    if (to < 16 || (to < 32 && from > 16))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    convertIntegerOnce(op);
}

/// Arithmetic on floats of a byte and less is done in f32, a sum of a product so that it is rounded
/// once.
static void widenNarrowArithmetic(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
        !isa<arith::ExtFOp, arith::TruncFOp, arith::SelectOp, arith::ConstantOp, arith::BitcastOp>(
            op) &&
        (llvm::any_of(op->getOperandTypes(), isNarrow) ||
         llvm::any_of(op->getResultTypes(), isNarrow)))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    OpBuilder builder(op);
    if (isa<math::FmaOp>(op)) {
      op->getResult(0).replaceAllUsesWith(fuseOnce(builder, op->getLoc(), op->getOperands()));
      op->erase();
      continue;
    }
    Type wide = builder.getF32Type();
    auto widen = [&](Type type) -> Type {
      auto shaped = dyn_cast<ShapedType>(type);
      return shaped ? Type(shaped.clone(wide)) : wide;
    };
    for (OpOperand &operand : op->getOpOperands())
      if (isNarrow(operand.get().getType()))
        operand.set(arith::ExtFOp::create(builder, op->getLoc(), widen(operand.get().getType()),
                                          operand.get()));
    builder.setInsertionPointAfter(op);
    for (Value result : op->getResults()) {
      Type type = result.getType();
      if (!isNarrow(type))
        continue;
      result.setType(widen(type));
      auto narrow = arith::TruncFOp::create(builder, op->getLoc(), type, result);
      result.replaceAllUsesExcept(narrow, narrow);
    }
  }
}

/// Where a kernel asks for the vendor's mathematics and it is found: the patterns that call it. A
/// place that the user named must have it.
static LogicalResult addVendorMath(ModuleOp module, RewritePatternSet &patterns) {
  auto functions = module.getOps<func::FuncOp>();
  auto asks = llvm::find_if(
      functions, [](func::FuncOp function) { return function->hasAttr(kVendorMathAttrName); });
  TargetInterface target = getTarget(module);
  if (asks == functions.end() || !target)
    return success();
  (*asks)->removeAttr(kVendorMathAttrName);
  auto foreign = dyn_cast<ForeignTargetInterface>(target.getReal());
  if (!foreign)
    return success();
  VendorLibrary library = foreign.findVendorLibrary();
  if (library.isChosen && library.files.empty())
    return (*asks)->emitError() << "expected the vendor's library " << library.looked
                                << ", got nothing there";
  if (!library.files.empty())
    populateCallVendorMathPatterns(patterns, foreign);
  return success();
}

/// Says who observes an atomic access as the target does.
static void renameScopes(ModuleOp module, const ThreadsToLLVM &target) {
  module.walk([&](Operation *op) {
    if (!isa<LLVM::AtomicRMWOp, LLVM::AtomicCmpXchgOp>(op))
      return;
    auto scope = op->getAttrOfType<StringAttr>("syncscope");
    for (auto [name, theirs] : llvm::zip(kScopeNames, target.scopes))
      if (scope && scope.getValue() == name)
        op->setAttr("syncscope", StringAttr::get(op->getContext(), theirs));
  });
}

static void markKernels(ModuleOp module, const ThreadsToLLVM &target) {
  int64_t sharedBytes = 0;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto threads = function->getAttrOfType<IntegerAttr>(kThreadsAttrName);
    if (!threads)
      continue;
    if (auto bytes = function->getAttrOfType<IntegerAttr>(kSharedBytesAttrName))
      sharedBytes = std::max(sharedBytes, bytes.getInt());
    target.markKernel(function, threads.getInt());
    // Subnormals cost the approximations of functions two instructions each way.
    if (module->hasAttr(kFlushAttrName))
      function.setDenormalFpMathF32("preserve-sign,preserve-sign");
    function->removeAttr(kThreadsAttrName);
    function->removeAttr(kSharedBytesAttrName);
  }
  auto shared = module.lookupSymbol<LLVM::GlobalOp>(kSharedSymbol);
  if (!shared || !target.sharedHasSize)
    return;
  Builder builder(module.getContext());
  shared.setGlobalType(LLVM::LLVMArrayType::get(builder.getI8Type(), sharedBytes));
  shared.setLinkage(LLVM::Linkage::Internal);
}

namespace {
/// What has failed was said before: here the thread returns, or ends the launch by force.
struct ConvertAssert : ConvertOpToLLVMPattern<cf::AssertOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult matchAndRewrite(cf::AssertOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Block *before = op->getBlock();
    Block *after = rewriter.splitBlock(before, op->getIterator());
    Block *failed = rewriter.createBlock(after);
    if (op->hasAttr(kTrapsAttrName))
      LLVM::CallIntrinsicOp::create(rewriter, loc, rewriter.getStringAttr("llvm.trap"),
                                    ValueRange());
    LLVM::ReturnOp::create(rewriter, loc, ValueRange());
    rewriter.setInsertionPointToEnd(before);
    LLVM::CondBrOp::create(rewriter, loc, adaptor.getArg(), after, failed);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

LogicalResult kiln::convertThreadsToLLVM(ModuleOp module, const ThreadsToLLVM &target) {
  MLIRContext *context = module.getContext();
  renameScopes(module, target);
  convertIntegersOnce(module);
  widenNarrowArithmetic(module);
  {
    RewritePatternSet patterns(context);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    target.addMathPatterns(patterns);
    populateExpandErfPatterns(patterns);
    populateRoundOncePatterns(patterns);
    if (failed(addVendorMath(module, patterns)))
      return failure();
    populateCallDeviceMathPatterns(patterns, target.isNativeMath);
    populateMathPolynomialApproximationPatterns(
        patterns, [&](StringRef name) { return !target.isNativeMath(name); });
    GreedyRewriteConfig config;
    if (hasNarrowFloats(module)) {
      populateExpandNarrowFloatsPatterns(patterns);
      if (!module->hasAttr(kFlushAttrName))
        populateWidenPairsPatterns(patterns);
      // Folding would turn the bits of a constant back into one of the narrow type.
      config.enableFolding(false).enableConstantCSE(false);
    }
    if (failed(applyPatternsGreedily(module, std::move(patterns), config)))
      return module.emitError("expected the math of the kernel to be expanded");
  }
  {
    RewritePatternSet patterns(context);
    populateSCFToControlFlowConversionPatterns(patterns);
    ConversionTarget legal(*context);
    legal.addIllegalDialect<scf::SCFDialect>();
    legal.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, legal, std::move(patterns))))
      return failure();
  }
  LowerToLLVMOptions options(context);
  LLVMTypeConverter converter(context, options);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  populateFuncToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);
  patterns.add<ConvertAssert>(converter, /*benefit=*/2);
  target.addPatterns(converter, patterns);
  LLVMConversionTarget legal(*context);
  legal.addLegalOp<ModuleOp>();
  legal.addLegalDialect(target.dialect);
  if (failed(applyPartialConversion(module, legal, std::move(patterns))))
    return failure();
  markKernels(module, target);
  return success();
}
