// How threads fetch what lies in tensor memory, and write there.
#include "Tcgen05.h"
#include "Tcgen05Scales.h"
#include "kiln/Layout/Transforms/Layouts.h"
#include "kiln/Target/Common/Threads.h"
#include "kiln/Target/NVPTX/NVPTX.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::nvptx;

/// Of tensor memory, as a pointer has it.
static constexpr unsigned kTensorSpace = 6;

Value kiln::nvptx::number(OpBuilder &builder, Location loc, int64_t value) {
  return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value);
}

Value kiln::nvptx::getTensorPointer(OpBuilder &builder, Location loc, Value address,
                                    int64_t columns) {
  if (columns)
    address = LLVM::AddOp::create(builder, loc, address, number(builder, loc, columns));
  return LLVM::IntToPtrOp::create(
      builder, loc, LLVM::LLVMPointerType::get(builder.getContext(), kTensorSpace), address);
}

Value kiln::nvptx::reachOwnLanes(OpBuilder &builder, Location loc, Value address) {
  // 32 times the warp's number in its group, as a lane.
  Value lanes = NVVM::ThreadIdXOp::create(builder, loc, builder.getI32Type());
  lanes = LLVM::AndOp::create(builder, loc, lanes,
                              number(builder, loc, kLanesOfWarp * (kWarpsOfGroup - 1)));
  lanes = LLVM::ShlOp::create(builder, loc, lanes, number(builder, loc, 16));
  return LLVM::AddOp::create(builder, loc, address, lanes);
}

/// Of 64 rows: the columns that one half of a warp fetches before those of the other half. Boxes of
/// 32 columns or more are whole registers of every thread.
int64_t kiln::nvptx::getColumnsOfHalf(int64_t columns) {
  return std::min<int64_t>(getPowerOf2Factor(columns) / 2, 16);
}

/// The registers are tied through the wait: NVVM's op does not hold them, and LLVM might use them
/// in front of it.
static void waitForLoads(OpBuilder &builder, Location loc, SmallVectorImpl<Value> &registers) {
  std::string constraints;
  for (size_t i = 0; i < registers.size(); ++i)
    constraints += "=r,";
  for (size_t i = 0; i < registers.size(); ++i)
    constraints += std::to_string(i) + ",";
  constraints += "~{memory}";
  auto type = LLVM::LLVMStructType::getLiteral(
      builder.getContext(), SmallVector<Type>(registers.size(), builder.getI32Type()));
  auto wait = LLVM::InlineAsmOp::create(
      builder, loc, type, registers, "tcgen05.wait::ld.sync.aligned;", constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false, LLVM::TailCallKind::None,
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  for (auto [i, value] : llvm::enumerate(registers))
    value = LLVM::ExtractValueOp::create(builder, loc, wait.getResult(0), i);
}

namespace {
/// What one thread reaches of an accumulator, or of an operand: so many columns of its lane at a
/// time, of one element each, or of several.
struct Row {
  Row(OpBuilder &builder, Location loc, Value accumulator, const LinearLayout &layout,
      int64_t perColumn = 1)
      : layout(layout), perColumn(perColumn), columns(layout.getShape()[1] / perColumn),
        half(layout.getShape()[0] == kHalfRows ? getColumnsOfHalf(layout.getShape()[1]) / perColumn
                                               : 0),
        atOnce(half ? half : std::min(getPowerOf2Factor(columns), kMostAtOnce)) {
    address = reachOwnLanes(builder, loc, accumulator);
    if (half)
      behind = LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), half);
  }
  /// Of 32 bits.
  int64_t getRegisters() const { return layout.getInSize("register") / perColumn; }
  NVVM::Tcgen05LdStShape getShape() const {
    return half ? NVVM::Tcgen05LdStShape::SHAPE_16X32BX2 : NVVM::Tcgen05LdStShape::SHAPE_32X32B;
  }
  /// Where the columns of the registers from this one on lie: further rows are further columns, and
  /// what counts an odd factor of columns comes behind them in registers alone.
  Value at(OpBuilder &builder, Location loc, int64_t reg) const {
    LinearLayout::Basis element = layout.applyTo("register", reg * perColumn);
    return getTensorPointer(builder, loc, address,
                            element[0] / kRows * columns + element[1] / perColumn);
  }

  static constexpr int64_t kMostAtOnce = 64;
  const LinearLayout &layout;
  /// How far behind lies what the other half of the warp reaches; 0 if it reaches other lanes.
  int64_t perColumn, columns, half, atOnce;
  Value address, behind;
};
} // namespace

FailureOr<SmallVector<Value>> Tcgen05Attr::fetch(OpBuilder &builder, Location loc, Value address,
                                                 const LinearLayout &layout) const {
  SmallVector<int64_t> shape = layout.getShape();
  if (layout != getAccumulatorLayout(shape, kWarpsOfGroup))
    return failure();
  Row row(builder, loc, address, layout);
  SmallVector<Value> sums;
  int64_t all = row.getRegisters(), awaited = std::max(row.atOnce, Row::kMostAtOnce);
  for (int64_t from = 0; from < all; from += awaited) {
    SmallVector<Value> registers;
    for (int64_t first = from; first < std::min(all, from + awaited); first += row.atOnce) {
      Value loaded = NVVM::Tcgen05LdOp::create(
          builder, loc, VectorType::get({row.atOnce}, builder.getI32Type()),
          /*pack=*/false, row.getShape(), row.at(builder, loc, first), row.behind);
      for (int64_t i = 0; i < row.atOnce; ++i)
        registers.push_back(
            LLVM::ExtractElementOp::create(builder, loc, loaded, number(builder, loc, i)));
    }
    waitForLoads(builder, loc, registers);
    for (Value word : registers)
      sums.push_back(LLVM::BitcastOp::create(builder, loc, getAccumulator(), word));
  }
  return sums;
}

LogicalResult Tcgen05Attr::fill(OpBuilder &builder, Location loc, ArrayRef<Value> registers,
                                Value address, const LinearLayout &layout) const {
  SmallVector<int64_t> shape = layout.getShape();
  int64_t bits = registers.front().getType().getIntOrFloatBitWidth();
  bool isScales = getScale() && bits == 8;
  if (layout != (isScales ? getScaleLayout(/*operand=*/0, shape, kWarpsOfGroup)
                          : getAccumulatorLayout(shape, kWarpsOfGroup)))
    return failure();
  if (isScales) {
    storeScales(builder, loc, registers, address, layout);
    NVVM::Tcgen05WaitOp::create(builder, loc, NVVM::Tcgen05WaitKind::STORE);
    return success();
  }
  Row row(builder, loc, address, layout, kColumnBits / bits);
  for (int64_t first = 0; first < row.getRegisters(); first += row.atOnce) {
    Value part = makeVector(builder, loc,
                            registers.slice(first * row.perColumn, row.atOnce * row.perColumn));
    NVVM::Tcgen05StOp::create(builder, loc, /*unpack=*/false, row.getShape(),
                              row.at(builder, loc, first),
                              castVector(builder, loc, part, builder.getI32Type()), row.behind);
  }
  NVVM::Tcgen05WaitOp::create(builder, loc, NVVM::Tcgen05WaitKind::STORE);
  return success();
}
