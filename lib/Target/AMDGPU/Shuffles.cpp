// gpu.shuffle on AMD: by DPP, which permutes within rows of sixteen lanes on the way into an
// instruction; by permlane, which exchanges rows or halves; by ds_bpermute, which goes through the
// crossbar of the LDS and reaches any lane, but waits for it.
//
// A mask is taken apart, since exchanging by a xor b is exchanging by a and then by b. What a DPP
// can do differs: the chips of waves of 32 exchange by any mask below 16 at once; before them the
// low two bits are a permutation of quads, 7 is the mirror of half a row, 8 a rotation by half a
// row and 15 the mirror of a row.
#include "Shuffles.h"
#include "Chips.h"
#include "kiln/Target/Registry.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace kiln;

namespace {
/// The numbers of DPP's patterns, by the ISA manuals.
enum DppControl {
  kRowRotateRight = 0x120,
  kRowMirror = 0x140,
  kHalfRowMirror = 0x141,
  kRowXorMask = 0x160
};

/// The permutation of four lanes that exchanges by a mask below 4.
constexpr uint32_t getQuadPermutation(uint32_t mask) {
  uint32_t control = 0;
  for (uint32_t lane = 0; lane < 4; ++lane)
    control |= (lane ^ mask) << (2 * lane);
  return control;
}

struct ConvertShuffle : ConvertOpToLLVMPattern<gpu::ShuffleOp> {
  ConvertShuffle(const LLVMTypeConverter &converter, StringRef chip)
      : ConvertOpToLLVMPattern(converter), warpSize(amdgcn::getRecord(chip).warpSize),
        hasPermlaneSwap(amdgcn::getRecord(chip).swapsLanes) {}

  LogicalResult matchAndRewrite(gpu::ShuffleOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value result;
    APInt mask;
    if (op.getMode() == gpu::ShuffleMode::IDX)
      result = permute(rewriter, loc, adaptor.getValue(), adaptor.getOffset());
    else if (op.getMode() != gpu::ShuffleMode::XOR)
      return rewriter.notifyMatchFailure(op, "expected a shuffle by mask or by lane");
    else if (matchPattern(op.getOffset(), m_ConstantInt(&mask)))
      result = exchange(rewriter, loc, adaptor.getValue(), mask.getZExtValue() & (warpSize - 1));
    else
      result =
          permute(rewriter, loc, adaptor.getValue(),
                  LLVM::XOrOp::create(rewriter, loc, getLane(rewriter, loc), adaptor.getOffset()));
    Value valid = LLVM::ConstantOp::create(rewriter, loc, rewriter.getI1Type(), true);
    rewriter.replaceOp(op, {result, valid});
    return success();
  }

private:
  static Value constant(OpBuilder &builder, Location loc, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI32Type(), value);
  }

  Value getLane(OpBuilder &builder, Location loc) const {
    auto count = [&](StringRef name, Value before) {
      return LLVM::CallIntrinsicOp::create(builder, loc, builder.getI32Type(),
                                           builder.getStringAttr(name),
                                           ValueRange{constant(builder, loc, -1), before})
          .getResult(0);
    };
    Value lane = count("llvm.amdgcn.mbcnt.lo", constant(builder, loc, 0));
    return warpSize == 64 ? count("llvm.amdgcn.mbcnt.hi", lane) : lane;
  }

  Value permute(OpBuilder &builder, Location loc, Value value, Value source) const {
    // The permute addresses lanes by bytes.
    Value address = LLVM::ShlOp::create(builder, loc, source, constant(builder, loc, 2));
    return ROCDL::DsBpermuteOp::create(builder, loc, builder.getI32Type(), address, value);
  }

  static Value permuteRow(OpBuilder &builder, Location loc, Value value, uint32_t control) {
    // Every lane has a source within its row, so that what was there before shows nowhere.
    Value before = LLVM::PoisonOp::create(builder, loc, value.getType());
    return ROCDL::DPPUpdateOp::create(builder, loc, value.getType(), before, value, control,
                                      /*rowMask=*/0xf, /*bankMask=*/0xf, /*boundCtrl=*/true);
  }

  Value exchangeInRow(OpBuilder &builder, Location loc, Value value, uint32_t mask) const {
    if (warpSize == 32)
      return mask ? permuteRow(builder, loc, value, kRowXorMask + mask) : value;
    if (mask == 15)
      return permuteRow(builder, loc, value, kRowMirror);
    if (mask & 8)
      value = permuteRow(builder, loc, value, kRowRotateRight + 8);
    if (mask & 4) {
      value = permuteRow(builder, loc, value, kHalfRowMirror);
      mask ^= 7;
    }
    if (mask & 3)
      value = permuteRow(builder, loc, value, getQuadPermutation(mask & 3));
    return value;
  }

  /// Exchanges rows (16) or halves (32): the instruction leaves in one register what the lanes
  /// with that bit had not, in the other what the lanes without it had not.
  template <typename Swap>
  Value swap(OpBuilder &builder, Location loc, Value value, int64_t bit) const {
    Type i32 = builder.getI32Type();
    auto pair = LLVM::LLVMStructType::getLiteral(builder.getContext(), {i32, i32});
    Value both = Swap::create(builder, loc, pair, value, value, /*fi=*/false,
                              /*boundControl=*/false);
    Value lower = LLVM::ExtractValueOp::create(builder, loc, both, 0);
    Value upper = LLVM::ExtractValueOp::create(builder, loc, both, 1);
    Value isUpper = LLVM::ICmpOp::create(
        builder, loc, LLVM::ICmpPredicate::ne,
        LLVM::AndOp::create(builder, loc, getLane(builder, loc), constant(builder, loc, bit)),
        constant(builder, loc, 0));
    return LLVM::SelectOp::create(builder, loc, isUpper, lower, upper);
  }

  Value exchange(OpBuilder &builder, Location loc, Value value, uint32_t mask) const {
    bool beyondRow = mask & ~15u;
    if (beyondRow && warpSize == 64 && !hasPermlaneSwap)
      return permute(
          builder, loc, value,
          LLVM::XOrOp::create(builder, loc, getLane(builder, loc), constant(builder, loc, mask)));
    value = exchangeInRow(builder, loc, value, mask & 15);
    if (warpSize == 32 && (mask & 16))
      return ROCDL::PermlaneX16Op::create(builder, loc, value.getType(), value, value,
                                          constant(builder, loc, 0x76543210),
                                          constant(builder, loc, int32_t(0xfedcba98)),
                                          /*fi=*/true, /*boundControl=*/false);
    if (mask & 16)
      value = swap<ROCDL::Permlane16SwapOp>(builder, loc, value, 16);
    if (mask & 32)
      value = swap<ROCDL::Permlane32SwapOp>(builder, loc, value, 32);
    return value;
  }

  const unsigned warpSize;
  const bool hasPermlaneSwap;
};
} // namespace

void amdgcn::populateShufflePatterns(const LLVMTypeConverter &converter,
                                     RewritePatternSet &patterns, StringRef chip) {
  patterns.add<ConvertShuffle>(converter, chip);
}
