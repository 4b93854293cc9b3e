// The lists behind registerAllDialects and registerAllPasses. What only one target needs is
// registered by that target.
#include "kiln/Pipeline/Registration.h"
#include "kiln/Dialect/Tile/IR/Tile.h"
#include "kiln/Dialect/Tile/Transforms/Passes.h"
#include "kiln/Dialect/Tile/Transforms/Undecided.h"
#include "kiln/Layout/Transforms/DistributionInterface.h"
#include "kiln/Pipeline/Pipeline.h"
#include "kiln/Schedule/Batch/Passes.h"
#include "kiln/Schedule/Passes.h"
#include "kiln/Target/AllTargets.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

void kiln::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<tile::TileDialect, mlir::affine::AffineDialect, mlir::arith::ArithDialect,
                  mlir::cf::ControlFlowDialect, mlir::func::FuncDialect, mlir::gpu::GPUDialect,
                  mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::tensor::TensorDialect, mlir::ub::UBDialect,
                  mlir::vector::VectorDialect>();
  mlir::registerBuiltinDialectTranslation(registry);
  mlir::registerLLVMDialectTranslation(registry);
  tile::keepSoundPatterns(registry);
  registerDistributionModels(registry);
  registerTargetDialects(registry);
}

void kiln::registerAllPasses() {
  mlir::registerCSEPass();
  mlir::registerLoopInvariantCodeMotionPass();
  tile::registerTilePasses();
  registerSchedulePasses();
  registerBatchPasses();
  registerTargetPasses();
  registerTilePipeline();
  registerReportSupport();
}
