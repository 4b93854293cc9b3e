// The program itself: which one it is, what is known of its values, and where it ends.
#include "../ThreadPatterns.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::tile;

void kiln::populateProgramPatterns(ThreadPatterns &patterns) {
  patterns.add<ProgramIdOp>([](ThreadContext &context, ProgramIdOp op) {
    context.set(op, gpu::BlockIdOp::create(context, gpu::Dimension(unsigned(op.getAxis()))));
  });
  patterns.add<NumProgramsOp>([](ThreadContext &context, NumProgramsOp op) {
    context.set(op, gpu::GridDimOp::create(context, gpu::Dimension(unsigned(op.getAxis()))));
  });
  patterns.add<MultipleOfOp>(
      [](ThreadContext &context, MultipleOfOp op) { context.set(op, context.get(op.getValue())); });
  patterns.add<AssumeOp>([](ThreadContext &context, AssumeOp op) {
    LLVM::AssumeOp::create(context, context.get(op.getCondition()));
  });
  patterns.add<tile::ReturnOp>(
      [](ThreadContext &context, tile::ReturnOp) { func::ReturnOp::create(context); });
  // Launches are asked for it.
  patterns.addWithoutLowering<GridOp>();
}
