// Everything that is left becomes the LLVM dialect.
#include "ExpandMath.h"
#include "kiln/Target/CPU/Passes.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace kiln::cpu {
#define GEN_PASS_DEF_CONVERTTOLLVM
#include "kiln/Target/CPU/Passes.h.inc"
} // namespace kiln::cpu

using namespace mlir;

namespace {

struct ConvertPass : kiln::cpu::impl::ConvertToLLVMBase<ConvertPass> {
  using ConvertToLLVMBase::ConvertToLLVMBase;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    ModuleOp module = getOperation();
    { // functions of math: arithmetic on vectors, the C library lane by lane for f64
      RewritePatternSet patterns(context);
      auto target = dyn_cast_or_null<kiln::cpu::TargetAttr>(
          Attribute(kiln::getTarget(module.getOperation())));
      kiln::cpu::populateExpandMathPatterns(patterns, target && target.getVectorBits() == 512);
      // Of MLIR's own polynomials those that are accurate to a few ulp.
      populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
        return llvm::is_contained(
            {"math.tanh", "math.erf", "math.expm1", "math.log1p", "math.asin", "math.acos"}, name);
      });
      arith::populateCeilFloorDivExpandOpsPatterns(patterns);
      // Folding would turn the bits of a narrow float back into a constant of its type.
      GreedyRewriteConfig config;
      config.enableFolding(false).enableConstantCSE(false);
      if (failed(applyPatternsGreedily(module, std::move(patterns), config)))
        return signalPassFailure();
    }
    { // loops become branches first: what is below them is then flat
      RewritePatternSet patterns(context);
      populateSCFToControlFlowConversionPatterns(patterns);
      populateMathToLibmConversionPatterns(patterns);
      ConversionTarget target(*context);
      target.addIllegalOp<scf::ForOp, scf::IfOp, scf::WhileOp, scf::IndexSwitchOp>();
      target.addIllegalOp<math::TanOp, math::TanhOp, math::ErfOp, math::ErfcOp, math::Log1pOp,
                          math::ExpM1Op, math::AsinOp, math::AcosOp, math::AtanOp, math::Atan2Op,
                          math::SinhOp, math::CoshOp, math::AsinhOp, math::AcoshOp, math::AtanhOp,
                          math::CbrtOp, math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op,
                          math::Log10Op, math::SinOp, math::CosOp, math::PowFOp>();
      target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
      if (failed(applyPartialConversion(module, target, std::move(patterns))))
        return signalPassFailure();
    }
    // bf16 and tf32 are only moved by now: as integers, for processors (and an LLVM) that have no
    // such type.
    LLVMTypeConverter converter(context);
    auto integerFor = [](Type type) -> std::optional<Type> {
      if (!isa<BFloat16Type, FloatTF32Type>(type))
        return std::nullopt;
      return IntegerType::get(type.getContext(), type.getIntOrFloatBitWidth());
    };
    converter.addConversion([=](FloatType type) { return integerFor(type); });
    converter.addConversion([=](VectorType type) -> std::optional<Type> {
      std::optional<Type> element = integerFor(type.getElementType());
      return element ? std::optional<Type>(VectorType::get(type.getShape(), *element))
                     : std::nullopt;
    });
    RewritePatternSet patterns(context);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    vector::populateVectorBroadcastLoweringPatterns(patterns);
    vector::populateVectorInterleaveLoweringPatterns(patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    ConversionTarget target(*context);
    target.addLegalDialect<LLVM::LLVMDialect>();
    target.addLegalOp<ModuleOp>();
    if (failed(applyFullConversion(module, target, std::move(patterns))))
      return signalPassFailure();
  }
};

} // namespace
