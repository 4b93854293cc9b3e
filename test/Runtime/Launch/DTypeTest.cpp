// Scalars as bits of their type, and what a type cannot hold.
#include "kiln/Runtime/Launch/DType.h"
#include "llvm/ADT/bit.h"
#include "gtest/gtest.h"
#include <cmath>
#include <limits>

using namespace kiln;

static uint64_t bitsOf(double value, int32_t dtype, bool fits = true) {
  uint64_t bits = 0;
  EXPECT_EQ(encodeReal(value, dtype, bits), fits) << value << " as " << dtypeInfo(dtype).name;
  return bits;
}

TEST(DType, NamesAndWidths) {
  EXPECT_STREQ(dtypeInfo(KILN_F8E4M3FN).name, "f8e4m3fn");
  EXPECT_STREQ(dtypeInfo(KILN_F8E4M3FN).irName, "f8E4M3FN");
  EXPECT_STREQ(dtypeInfo(KILN_U8).irName, "i8");
  EXPECT_EQ(dtypeInfo(KILN_F6E2M3FN).bits, 6);
  EXPECT_EQ(dtypeInfo(KILN_I4).bits, 4);
  EXPECT_STREQ(dtypeInfo(KILN_BOOL).name, "bool");
  for (int32_t wrong : {-1, 0, 24, 1000})
    EXPECT_STREQ(dtypeInfo(wrong).name, "");
  for (int32_t i = KILN_F64; i <= KILN_I2; ++i)
    EXPECT_EQ(dtypeOfIR(dtypeInfo(i).irName), i);
}

TEST(DType, Floats) {
  EXPECT_EQ(bitsOf(1.0, KILN_F32), 0x3f800000u);
  EXPECT_EQ(bitsOf(-2.0, KILN_F64), 0xc000000000000000u);
  EXPECT_EQ(bitsOf(1.0, KILN_F16), 0x3c00u);
  EXPECT_EQ(bitsOf(1.0, KILN_BF16), 0x3f80u);
  EXPECT_EQ(bitsOf(448, KILN_F8E4M3FN), 0x7eu);
  EXPECT_EQ(bitsOf(6, KILN_F4E2M1FN), 0x7u);
  EXPECT_EQ(bitsOf(INFINITY, KILN_F32), 0x7f800000u);
  EXPECT_EQ(bitsOf(INFINITY, KILN_F16), 0x7c00u);
  EXPECT_TRUE(std::isnan(llvm::bit_cast<float>(uint32_t(bitsOf(NAN, KILN_F32)))));
  EXPECT_EQ(bitsOf(65519, KILN_F16), 0x7bffu);
  EXPECT_EQ(bitsOf(6.9, KILN_F4E2M1FN), 0x7u);
  EXPECT_EQ(bitsOf(-29.9, KILN_F6E3M2FN), 0x3fu);
  EXPECT_EQ(bitsOf(-0.0, KILN_F4E2M1FN), 0x8u);
  EXPECT_EQ(bitsOf(NAN, KILN_F8E8M0FNU), 0xffu);
  EXPECT_EQ(bitsOf(3, KILN_F8E8M0FNU), 0x81u) << "a tie, to the larger";
}

TEST(DType, WholeNumbersAreRoundedOnce) {
  uint64_t bits;
  // Just above a tie of f32 and of bf16: a double would hold the tie itself.
  int64_t above = (int64_t((1 << 24) + 1) << 38) + 1;
  ASSERT_TRUE(encodeInteger(above, KILN_F32, bits));
  EXPECT_EQ(llvm::bit_cast<float>(uint32_t(bits)), float(above));
  EXPECT_NE(float(above), float(double(above)));
  ASSERT_TRUE(encodeInteger(-above, KILN_F32, bits));
  EXPECT_EQ(llvm::bit_cast<float>(uint32_t(bits)), -float(above));
  ASSERT_TRUE(encodeInteger((int64_t(257) << 54) + 1, KILN_BF16, bits));
  EXPECT_EQ(llvm::bit_cast<float>(uint32_t(bits << 16)), std::ldexp(258.0f, 54));
  ASSERT_TRUE(encodeInteger(above, KILN_F64, bits));
  EXPECT_EQ(llvm::bit_cast<double>(bits), double(above));
}

TEST(DType, FloatsThatDoNotFit) {
  bitsOf(1e300, KILN_F32, false);
  bitsOf(65520, KILN_F16, false);
  bitsOf(1e39, KILN_BF16, false);
  for (double special : {HUGE_VAL, -HUGE_VAL, std::nan("")})
    for (int32_t dtype : {KILN_F4E2M1FN, KILN_F6E2M3FN, KILN_F6E3M2FN})
      bitsOf(special, dtype, false);
  bitsOf(7, KILN_F4E2M1FN, false);
  bitsOf(-1e300, KILN_F4E2M1FN, false);
  bitsOf(7.75, KILN_F6E2M3FN, false);
  bitsOf(30, KILN_F6E3M2FN, false);
  for (double none : {0.0, -1.0, -7.0, HUGE_VAL, 0x1.8p127})
    bitsOf(none, KILN_F8E8M0FNU, false);
  bitsOf(1.0, KILN_I32, false);
}

TEST(DType, Integers) {
  uint64_t bits;
  auto fits = [&](int64_t value, int32_t dtype) { return encodeInteger(value, dtype, bits); };
  EXPECT_TRUE(fits(-1, KILN_I64));
  EXPECT_EQ(bits, ~uint64_t(0));
  EXPECT_TRUE(fits(-1, KILN_I32));
  EXPECT_EQ(bits, 0xffffffffu) << "zero-extended in its slot";
  for (auto [dtype, low, high] : {std::tuple(KILN_I32, -2147483648ll, 2147483647ll),
                                  {KILN_I16, -32768, 32767},
                                  {KILN_I8, -128, 127},
                                  {KILN_I4, -8, 7},
                                  {KILN_I2, -2, 1},
                                  {KILN_U32, 0, 4294967295ll},
                                  {KILN_U8, 0, 255},
                                  {KILN_U2, 0, 3},
                                  {KILN_BOOL, 0, 1}}) {
    EXPECT_TRUE(fits(low, dtype) && fits(high, dtype)) << dtypeInfo(dtype).name;
    EXPECT_FALSE(fits(low - 1, dtype) || fits(high + 1, dtype)) << dtypeInfo(dtype).name;
  }
  EXPECT_TRUE(fits(3, KILN_F32));
  EXPECT_EQ(bits, 0x40400000u);
}
