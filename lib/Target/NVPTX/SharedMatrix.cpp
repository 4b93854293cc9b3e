// Descriptors of matrices in shared memory, by the PTX ISA's figures.
#include "SharedMatrix.h"
#include "kiln/Layout/Transforms/SharedLayout.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nvptx;

static constexpr int64_t kSpans[] = {128, 64, 32};

std::vector<LinearLayout> kiln::nvptx::getMatrixLayouts(ArrayRef<int64_t> shape, int64_t bits,
                                                        bool alongK, int64_t extent) {
  std::vector<LinearLayout> layouts;
  if (!alongK && bits != 16)
    return layouts;
  auto begins = [&](int64_t span) {
    return alongK || shape.back() <= extent || extent % (span * 8 / bits) == 0;
  };
  for (int64_t span : kSpans)
    if (std::optional<LinearLayout> layout = getSwizzledLayout(shape, bits, span);
        layout && begins(span))
      layouts.push_back(*layout);
  return layouts;
}

/// The bytes of a row if the buffer lies so; 0 if not.
static int64_t getSpan(const LinearLayout &layout, int64_t bits, bool alongK, int64_t extent) {
  SmallVector<int64_t> shape = layout.getShape();
  if (!llvm::is_contained(getMatrixLayouts(shape, bits, alongK, extent), layout))
    return 0;
  for (int64_t span : kSpans)
    if (getSwizzledLayout(shape, bits, span) == layout)
      return span;
  return 0;
}

std::optional<SharedMatrix> SharedMatrix::describe(OpBuilder &builder, Location loc,
                                                   const AsyncDot::Operand &operand, int64_t bits,
                                                   bool alongK, int64_t extent, uint64_t constant) {
  SharedMatrix matrix(builder, loc);
  matrix.span = getSpan(operand.layout, bits, alongK, extent);
  if (!matrix.span)
    return std::nullopt;
  matrix.rows = operand.layout.getShape()[0];
  matrix.bytes = bits / 8;
  matrix.alongK = alongK;
  auto number = [&](Type type, int64_t value) -> Value {
    return LLVM::ConstantOp::create(builder, loc, type, value);
  };
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  Value address = LLVM::PtrToIntOp::create(builder, loc, i32, operand.base);
  address = LLVM::LShrOp::create(builder, loc, address, number(i32, 4));
  address = LLVM::AndOp::create(builder, loc, address, number(i32, 0x3fff));
  uint64_t kind = matrix.span == 128 ? 1 : matrix.span == 64 ? 2 : 3;
  uint64_t leading = alongK ? 1 : matrix.rows * matrix.span / 16, stride = 8 * matrix.span / 16;
  Value wide = LLVM::ZExtOp::create(builder, loc, i64, address);
  matrix.first = LLVM::OrOp::create(
      builder, loc, wide,
      number(i64, int64_t(kind << 62 | constant | stride << 32 | leading << 16)));
  return matrix;
}

Value SharedMatrix::at(int64_t x, int64_t k) {
  int64_t perRow = span / bytes;
  // K-major rows are m or n; MN-major rows are k.
  int64_t row = alongK ? x : k, column = alongK ? k : x;
  int64_t offset = column / perRow * rows * span + row * span + column % perRow * bytes;
  if (offset == 0)
    return first;
  Value step = LLVM::ConstantOp::create(*builder, loc, builder->getI64Type(), offset / 16);
  return LLVM::AddOp::create(*builder, loc, first, step);
}
