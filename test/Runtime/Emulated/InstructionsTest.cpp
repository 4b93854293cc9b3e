// Instructions by name, on operands set by hand.
#include "Instructions.h"
#include "llvm/ADT/APFloat.h"
#include "gtest/gtest.h"
#include <vector>

using namespace kiln::emulated;

TEST(Instructions, TheLongestNameThatFitsIsFound) {
  ASSERT_TRUE(findInstruction("nvvm.shfl.sync.bfly.i32"));
  EXPECT_FALSE(findInstruction("nvvm.shfl.sync.bfly"));
  EXPECT_FALSE(findInstruction("nvvm.shfl.sync.bfly.i32x"));
  const Instruction *wide = findInstruction("amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16");
  const Instruction *narrow = findInstruction("amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16");
  ASSERT_TRUE(wide && narrow);
  EXPECT_NE(wide, narrow);
}

TEST(Instructions, HalvesAreRead) {
  EXPECT_EQ(widenHalf(0x3c00), 1.0);
  EXPECT_EQ(widenHalf(0x0001), 0x1p-24);
  EXPECT_EQ(widenBFloat(0xc040), -3.0);
  EXPECT_EQ(widenTF32(0x3f801fff), 1.0); // the low bits do not count
}

/// Lane l of m8n8k4 holds a(l / 4, l mod 4), b(l mod 4, l / 4) and c(l / 4, 2·(l mod 4) + i).
TEST(Instructions, DoublesAreMultiplied) {
  std::vector<double> operands(32 * 4), results(32 * 2);
  const void *inputs[32];
  void *outputs[32];
  for (int lane = 0; lane < 32; ++lane) {
    operands[lane * 4] = lane;                             // a(row, k) = 4 row + k
    operands[lane * 4 + 1] = lane % 4 == lane / 4 ? 1 : 0; // b is the identity's left half
    operands[lane * 4 + 2] = 100;
    operands[lane * 4 + 3] = 200;
    inputs[lane] = &operands[lane * 4];
    outputs[lane] = &results[lane * 2];
  }
  const Instruction *multiply = findInstruction("nvvm.mma.m8n8k4.row.col.f64");
  ASSERT_TRUE(multiply);
  multiply->execute({multiply->name, 0, 32, inputs, outputs});
  for (int row = 0; row < 8; ++row)
    for (int column = 0; column < 8; ++column) {
      double product = column < 4 ? 4 * row + column : 0;
      EXPECT_EQ(results[(row * 4 + column / 2) * 2 + column % 2],
                product + (column % 2 ? 200 : 100));
    }
}

/// Of sixteen rows, lane l holds a(l / 4 + 8 (i mod 2), l mod 4 + 4 (i / 2)), b(l mod 4 + 4 i, l /
/// 4) and c(l / 4 + 8 (i / 2), 2 (l mod 4) + i mod 2).
TEST(Instructions, DoublesOfSixteenRowsAreMultiplied) {
  auto a = [](int row, int k) { return 3.0 * row - 5 * k; };
  auto b = [](int k, int column) { return 7.0 * k + column * column; };
  for (int depth : {4, 8, 16}) {
    int ofA = depth / 2, ofB = depth / 4, all = ofA + ofB + 4;
    std::vector<double> operands(32 * all), results(32 * 4);
    const void *inputs[32];
    void *outputs[32];
    for (int lane = 0; lane < 32; ++lane) {
      double *own = &operands[lane * all];
      for (int i = 0; i < ofA; ++i)
        own[i] = a(lane / 4 + 8 * (i % 2), lane % 4 + 4 * (i / 2));
      for (int i = 0; i < ofB; ++i)
        own[ofA + i] = b(lane % 4 + 4 * i, lane / 4);
      for (int i = 0; i < 4; ++i)
        own[ofA + ofB + i] = lane * 4 + i;
      inputs[lane] = own;
      outputs[lane] = &results[lane * 4];
    }
    std::string name = "nvvm.mma.m16n8k" + std::to_string(depth) + ".row.col.f64";
    const Instruction *multiply = findInstruction(name.c_str());
    ASSERT_TRUE(multiply) << name;
    multiply->execute({multiply->name, 0, 32, inputs, outputs});
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        int row = lane / 4 + 8 * (i / 2), column = lane % 4 * 2 + i % 2;
        double sum = lane * 4 + i;
        for (int k = 0; k < depth; ++k)
          sum += a(row, k) * b(k, column);
        EXPECT_EQ(results[lane * 4 + i], sum) << name;
      }
  }
}

/// The numbers of a format are those that LLVM's software arithmetic has, bit by bit.
template <typename Bits>
static void expectAll(double (*widen)(Bits), const llvm::fltSemantics &format, unsigned width) {
  for (uint32_t bits = 0; bits < 1u << width; ++bits) {
    llvm::APFloat value(format, llvm::APInt(width, bits));
    bool inexact;
    value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    double got = widen(Bits(bits)), want = value.convertToDouble();
    EXPECT_TRUE(value.isNaN() ? got != got : llvm::APFloat(got).bitwiseIsEqual(value))
        << bits << ": expected " << want << ", got " << got;
  }
}

TEST(Instructions, EveryNumberOfEachFormat) {
  using llvm::APFloat;
  expectAll(widenHalf, APFloat::IEEEhalf(), 16);
  expectAll(widenBFloat, APFloat::BFloat(), 16);
  expectAll(widenE4M3, APFloat::Float8E4M3FN(), 8);
  expectAll(widenE5M2, APFloat::Float8E5M2(), 8);
  expectAll(widenE2M3, APFloat::Float6E2M3FN(), 6);
  expectAll(widenE3M2, APFloat::Float6E3M2FN(), 6);
  expectAll(widenE2M1, APFloat::Float4E2M1FN(), 4);
}
