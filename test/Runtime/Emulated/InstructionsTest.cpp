// Instructions by name, on operands set by hand.
#include "Instructions.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/Support/Regex.h"
#include "gtest/gtest.h"
#include <set>
#include <string>
#include <vector>

using namespace kiln::emulated;

TEST(Instructions, NamesAreWhole) {
  ASSERT_TRUE(findInstruction("nvvm.shfl.sync.bfly.i32"));
  EXPECT_FALSE(findInstruction("nvvm.shfl.sync.bfly"));
  EXPECT_FALSE(findInstruction("nvvm.shfl.sync.bfly.i32x"));
  EXPECT_FALSE(findInstruction("nvvm.shfl.sync.bfly.i32.p3"));
  const Instruction *wide = findInstruction("amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16");
  const Instruction *narrow = findInstruction("amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16");
  ASSERT_TRUE(wide && narrow);
  EXPECT_NE(wide, narrow);
}

TEST(Instructions, WhatStandsBehindAKnownNameMakesAnotherInstruction) {
  for (const char *name :
       {"amdgcn.raw.ptr.buffer.load.async.lds", "amdgcn.raw.ptr.buffer.load.format.v4f32",
        "amdgcn.raw.ptr.buffer.store.format.v4f32", "amdgcn.raw.ptr.buffer.load",
        "amdgcn.raw.ptr.buffer.load.p3", "amdgcn.permlanex16.var", "amdgcn.s.sleep.var",
        "amdgcn.ds.bpermute.fi.b32", "amdgcn.update.dpp.i64",
        "nvvm.cp.async.bulk.tensor.g2s.tile.gather4.2d", "nvvm.cp.async.bulk.tensor.g2s.tile",
        "nvvm.cp.async.bulk.tensor.s2g.tile.scatter4.2d", "nvvm.cp.async.bulk.tensor.s2g.tile.6d",
        "nvvm.tcgen05.mma.shared.disable_output_lane.cg1", "nvvm.tcgen05.mma.tensor.ashift",
        "nvvm.tcgen05.mma.shared.scale_d", "nvvm.ff.to.e4m3x2.rn.relu",
        "nvvm.barrier.cluster.arrive.relaxed", "nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p0"})
    EXPECT_FALSE(findInstruction(name)) << name;
  for (const char *name :
       {"amdgcn.raw.ptr.buffer.load.v4i32", "amdgcn.raw.ptr.buffer.store.bf16",
        "amdgcn.permlanex16.i32", "nvvm.cp.async.bulk.tensor.g2s.tile.5d",
        "nvvm.ldmatrix.sync.aligned.m8n8.x4.b16.p3", "kiln.wgmma.m64n8k16.f32.bf16.bf16",
        "amdgcn.mfma.scale.f32.32x32x64.f8f6f4.v8i32.v6i32"})
    EXPECT_TRUE(findInstruction(name)) << name;
}

/// Whatever LLVM adds to the name of one of its intrinsics, an instruction is found by all of its
/// name, but for types, pointers to shared memory and ranks; and each that is known is one of
/// LLVM's.
TEST(Instructions, OnlyThoseThatAreListedAreFoundAmongAllOfLLVM) {
  using namespace llvm;
  Regex types("^(\\.(v[0-9]+)?(i|f|bf)[0-9]+|\\.p3)*$"), rank("^\\.[1-5]d$");
  std::set<const Instruction *> seen;
  unsigned asked = 0;
  for (unsigned id = 1; id < Intrinsic::num_intrinsics; ++id) {
    StringRef base = Intrinsic::getBaseName(Intrinsic::ID(id));
    base.consume_front("llvm.");
    if (!base.starts_with("nvvm.") && !base.starts_with("amdgcn."))
      continue;
    ++asked;
    for (StringRef suffix :
         {"", ".i16", ".i32", ".f32", ".f64", ".v2i32", ".v4i16", ".v4i32", ".p0", ".p3",
          ".v8i32.v8i32", ".v8f32.v2i32", ".v8i32.v4i32", ".v8i32.v2i32", ".v8f32.v16f16",
          ".v8f32.v16i16", ".v8f32.v8f16", ".v8f32.v8i16", ".p0.p3"}) {
      std::string name = base.str() + suffix.str();
      const Instruction *found = findInstruction(name.c_str());
      if (!found)
        continue;
      seen.insert(found);
      EXPECT_FALSE(suffix.empty() && Intrinsic::isOverloaded(Intrinsic::ID(id)))
          << name << " leaves a type open, of which it is found without one";
      StringRef known = found->name, rest = base;
      EXPECT_TRUE(known.consume_front(base)
                      ? types.match(known) && types.match(suffix)
                      : rest.consume_front(known) && rank.match(rest) && suffix.empty())
          << name << " is taken for " << found->name;
    }
  }
  EXPECT_GT(asked, 3000u);
  for (const Instruction *list : {kWarpInstructions, kEngineInstructions, kTensorInstructions,
                                  kScaledInstructions, kWaveInstructions, kProductInstructions})
    for (; list->name; ++list) {
      StringRef name = list->name;
      // The form without scales has a name of its own (LowerToHost.cpp).
      bool isMade = name.starts_with("kiln.") ||
                    (name.starts_with("amdgcn.mfma.f32.") && name.ends_with("f8f6f4"));
      EXPECT_TRUE(isMade || seen.count(list)) << list->name << " is no intrinsic of LLVM's";
    }
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
