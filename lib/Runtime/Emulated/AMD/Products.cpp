// AMD's matrix instructions, by the ISA manuals of CDNA (MFMA: "Dense matrix operations") and of
// RDNA (WMMA). Of an MxM result, MFMA's lane l has row l mod M of a and column l mod M of b and of
// the result; the rest of its number says which part along k (of a and b) or which rows.
#include "../Block.h"
#include <cmath>
#include <cstdlib>
#include <memory>

using namespace kiln::emulated;

namespace {

double sameFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
double sameDouble(uint64_t bits) {
  double value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}
int64_t signedByte(uint8_t bits) { return int8_t(bits); }

using Rows = unsigned (*)(unsigned lane, unsigned i);

/// `Each` elements of a and b a lane, consecutive along k; `row` gives the row of register i.
template <unsigned M, unsigned K, unsigned Each, typename Bits, auto widenA, auto widenB,
          typename Result, Rows row, unsigned Results>
void multiply(const Lanes &lanes) {
  using Wide = decltype(widenA(Bits()));
  Wide a[M][K] = {}, b[K][M] = {};
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    for (unsigned i = 0; i < Each; ++i) {
      unsigned k = (lane / M) * Each + i;
      if (k >= K)
        continue; // the upper half holds the lower one's elements again
      a[lane % M][k] = widenA(lanes.read<Bits>(lane, 0, i));
      b[k][lane % M] = widenB(lanes.read<Bits>(lane, Each * sizeof(Bits), i));
    }
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    for (unsigned i = 0; i < Results; ++i) {
      Wide sum = lanes.read<Result>(lane, 2 * Each * sizeof(Bits), i);
      for (unsigned k = 0; k < K; ++k)
        sum += a[row(lane, i)][k] * b[k][lane % M];
      lanes.write(lane, i, Result(sum));
    }
}

/// Groups of four rows, one group a half (or quarter) of the wave; those of f64 in single file.
template <unsigned M>
unsigned rowsMfma(unsigned lane, unsigned i) {
  return i / 4 * (256 / M) + 4 * (lane / M) + i % 4;
}
unsigned rowsF64(unsigned lane, unsigned i) { return 4 * i + lane / 16; }
/// WMMA: even rows in the lower half of the wave, odd ones in the upper; later eight and eight.
unsigned rowsRDNA3(unsigned lane, unsigned i) { return 2 * i + lane / 16; }
unsigned rowsRDNA4(unsigned lane, unsigned i) { return 8 * (lane / 16) + i; }

template <unsigned M, unsigned K, typename Bits, auto widenA, auto widenB = widenA,
          typename Result = float, Rows row = rowsMfma<M>>
constexpr auto mfma = multiply<M, K, M * K / 64, Bits, widenA, widenB, Result, row, M * M / 64>;
template <unsigned M, unsigned K>
constexpr auto mfmaBytes = mfma<M, K, uint8_t, signedByte, signedByte, int32_t>;

/// The two generations of WMMA have the same name but for the types of their operands.
template <typename Bits, auto widen>
constexpr auto wmmaRDNA3 = multiply<16, 16, 16, Bits, widen, widen, float, rowsRDNA3, 8>;
template <typename Bits, auto widenA, auto widenB = widenA>
constexpr auto wmmaRDNA4 = multiply<16, 16, 8, Bits, widenA, widenB, float, rowsRDNA4, 8>;

//===- Narrow floats ------------------------------------------------------------------------===//

/// The formats of elements by their numbers.
struct Format {
  unsigned bits;
  double (*widen)(uint8_t);
};
constexpr Format kFormats[] = {
    {8, widenE4M3}, {8, widenE5M2}, {6, widenE2M3}, {6, widenE3M2}, {4, widenE2M1}};

/// A power of two by its exponent; the last one is no number.
double widenScale(uint8_t exponent) {
  return exponent == 0xff ? std::nan("") : std::ldexp(1.0, int(exponent) - 127);
}

/// 32 elements a lane, of formats that are named behind the accumulator. Those of a byte come from
/// either half of k, sixteen each; others are consecutive. The scale of a row's block of 32 lies in
/// the lane that is the row's and block's: a byte of a register, which is named behind its number.
template <unsigned M, bool Scaled>
void multiplyNarrow(const Lanes &lanes) {
  constexpr unsigned K = 2048 / M, block = 32, results = M * M / 64;
  // How many words a and b have: six take the room of eight.
  unsigned sizes[2], at = 0;
  const char *name = lanes.name;
  for (unsigned &size : sizes) {
    name = std::strstr(name, ".v") + 2;
    size = std::strtoul(name, nullptr, 10) == 4 ? 16 : 32;
  }
  const unsigned sums = sizes[0] + sizes[1], behind = sums + results * sizeof(float);
  auto elements = std::make_unique<double[][M][K]>(2);
  for (unsigned operand = 0; operand < 2; at += sizes[operand++]) {
    unsigned number = lanes.read<uint32_t>(0, behind, operand);
    if (number >= std::size(kFormats))
      return Block::current()->stop("a matrix product of a format that no chip has");
    const Format &format = kFormats[number];
    for (unsigned lane = 0; lane < lanes.count; ++lane)
      for (unsigned i = 0; i < block; ++i) {
        unsigned part = lane / M, bit = i * format.bits;
        unsigned k = format.bits == 8 ? i / 16 * (K / 2) + part * 16 + i % 16 : part * block + i;
        unsigned bits = lanes.read<uint8_t>(lane, at, bit / 8);
        if (bit % 8 + format.bits > 8)
          bits |= lanes.read<uint8_t>(lane, at, bit / 8 + 1) << 8;
        uint8_t own = bits >> bit % 8 & ((1u << format.bits) - 1);
        elements[operand][lane % M][k] = format.widen(own);
      }
    for (unsigned lane = 0; Scaled && lane < lanes.count; ++lane) {
      unsigned byte = lanes.read<uint32_t>(lane, behind, 2 + 2 * operand) & 3;
      double scale = widenScale(lanes.read<uint32_t>(lane, behind, 3 + 2 * operand) >> 8 * byte);
      for (unsigned i = 0; i < block; ++i)
        elements[operand][lane % M][lane / M * block + i] *= scale;
    }
  }
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    for (unsigned i = 0; i < results; ++i) {
      double sum = lanes.read<float>(lane, sums, i);
      for (unsigned k = 0; k < K; ++k)
        sum += elements[0][rowsMfma<M>(lane, i)][k] * elements[1][lane % M][k];
      lanes.write(lane, i, float(sum));
    }
}

//===- WMMA of integers ---------------------------------------------------------------------===//

/// Whether a is signed, `Each` elements of it, the lower bits of a byte first, and the same for b.
template <unsigned K, unsigned Each, unsigned Bits, Rows row>
void multiplyIntegers(const Lanes &lanes) {
  constexpr unsigned bytes = Each * Bits / 8, results = 8;
  auto read = [&](unsigned lane, unsigned offset, unsigned i) -> uint32_t {
    bool isSigned = lanes.read<uint8_t>(lane, offset) & 1;
    uint32_t byte = lanes.read<uint8_t>(lane, offset + 1, i * Bits / 8);
    uint32_t bits = byte >> i * Bits % 8 & ((1u << Bits) - 1);
    return isSigned && bits >> (Bits - 1) ? bits - (1u << Bits) : bits;
  };
  uint32_t a[16][K], b[K][16]; // sums wrap
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    for (unsigned i = 0; i < Each; ++i) {
      unsigned k = (lane / 16) * Each + i;
      if (k >= K)
        continue; // the upper half holds the lower one's elements again
      a[lane % 16][k] = read(lane, 0, i);
      b[k][lane % 16] = read(lane, 1 + bytes, i);
    }
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    for (unsigned i = 0; i < results; ++i) {
      uint32_t sum = lanes.read<uint32_t>(lane, 2 * (1 + bytes), i);
      for (unsigned k = 0; k < K; ++k)
        sum += a[row(lane, i)][k] * b[k][lane % 16];
      lanes.write(lane, i, sum);
    }
}

} // namespace

const Instruction kiln::emulated::kProductInstructions[] = {
    {"amdgcn.mfma.f32.32x32x8f16", true, mfma<32, 8, uint16_t, widenHalf>},
    {"amdgcn.mfma.f32.32x32x8bf16.1k", true, mfma<32, 8, uint16_t, widenBFloat>},
    {"amdgcn.mfma.f32.32x32x16.f16", true, mfma<32, 16, uint16_t, widenHalf>},
    {"amdgcn.mfma.f32.32x32x16.bf16", true, mfma<32, 16, uint16_t, widenBFloat>},
    {"amdgcn.mfma.f32.16x16x16f16", true, mfma<16, 16, uint16_t, widenHalf>},
    {"amdgcn.mfma.f32.16x16x16bf16.1k", true, mfma<16, 16, uint16_t, widenBFloat>},
    {"amdgcn.mfma.f32.16x16x32.f16", true, mfma<16, 32, uint16_t, widenHalf>},
    {"amdgcn.mfma.f32.16x16x32.bf16", true, mfma<16, 32, uint16_t, widenBFloat>},
    {"amdgcn.mfma.f32.16x16x4f32", true, mfma<16, 4, uint32_t, sameFloat>},
    {"amdgcn.mfma.f64.16x16x4f64", true,
     mfma<16, 4, uint64_t, sameDouble, sameDouble, double, rowsF64>},
    {"amdgcn.mfma.f32.32x32x4.xf32", true, mfma<32, 4, uint32_t, widenTF32>},
    {"amdgcn.mfma.f32.16x16x8.xf32", true, mfma<16, 8, uint32_t, widenTF32>},
    {"amdgcn.mfma.i32.32x32x8i8", true, mfmaBytes<32, 8>},
    {"amdgcn.mfma.i32.32x32x16.i8", true, mfmaBytes<32, 16>},
    {"amdgcn.mfma.i32.32x32x32.i8", true, mfmaBytes<32, 32>},
    {"amdgcn.mfma.i32.16x16x16i8", true, mfmaBytes<16, 16>},
    {"amdgcn.mfma.i32.16x16x32.i8", true, mfmaBytes<16, 32>},
    {"amdgcn.mfma.i32.16x16x64.i8", true, mfmaBytes<16, 64>},
    {"amdgcn.mfma.f32.32x32x16.fp8.fp8", true, mfma<32, 16, uint8_t, widenE4M3>},
    {"amdgcn.mfma.f32.32x32x16.fp8.bf8", true, mfma<32, 16, uint8_t, widenE4M3, widenE5M2>},
    {"amdgcn.mfma.f32.32x32x16.bf8.fp8", true, mfma<32, 16, uint8_t, widenE5M2, widenE4M3>},
    {"amdgcn.mfma.f32.32x32x16.bf8.bf8", true, mfma<32, 16, uint8_t, widenE5M2>},
    {"amdgcn.mfma.f32.16x16x32.fp8.fp8", true, mfma<16, 32, uint8_t, widenE4M3>},
    {"amdgcn.mfma.f32.16x16x32.fp8.bf8", true, mfma<16, 32, uint8_t, widenE4M3, widenE5M2>},
    {"amdgcn.mfma.f32.16x16x32.bf8.fp8", true, mfma<16, 32, uint8_t, widenE5M2, widenE4M3>},
    {"amdgcn.mfma.f32.16x16x32.bf8.bf8", true, mfma<16, 32, uint8_t, widenE5M2>},
    {"amdgcn.mfma.f32.32x32x64.f8f6f4", true, multiplyNarrow<32, false>, Suffix::Types},
    {"amdgcn.mfma.f32.16x16x128.f8f6f4", true, multiplyNarrow<16, false>, Suffix::Types},
    {"amdgcn.mfma.scale.f32.32x32x64.f8f6f4", true, multiplyNarrow<32, true>, Suffix::Types},
    {"amdgcn.mfma.scale.f32.16x16x128.f8f6f4", true, multiplyNarrow<16, true>, Suffix::Types},
    {"amdgcn.wmma.i32.16x16x16.iu8.v8i32.v4i32", true, multiplyIntegers<16, 16, 8, rowsRDNA3>},
    {"amdgcn.wmma.i32.16x16x16.iu8.v8i32.v2i32", true, multiplyIntegers<16, 8, 8, rowsRDNA4>},
    {"amdgcn.wmma.i32.16x16x16.iu4.v8i32.v2i32", true, multiplyIntegers<16, 16, 4, rowsRDNA3>},
    {"amdgcn.wmma.i32.16x16x32.iu4.v8i32.v2i32", true, multiplyIntegers<32, 16, 4, rowsRDNA4>},
    {"amdgcn.wmma.f32.16x16x16.fp8.fp8", true, wmmaRDNA4<uint8_t, widenE4M3>, Suffix::Types},
    {"amdgcn.wmma.f32.16x16x16.fp8.bf8", true, wmmaRDNA4<uint8_t, widenE4M3, widenE5M2>,
     Suffix::Types},
    {"amdgcn.wmma.f32.16x16x16.bf8.fp8", true, wmmaRDNA4<uint8_t, widenE5M2, widenE4M3>,
     Suffix::Types},
    {"amdgcn.wmma.f32.16x16x16.bf8.bf8", true, wmmaRDNA4<uint8_t, widenE5M2>, Suffix::Types},
    {"amdgcn.wmma.f32.16x16x16.f16.v8f32.v16f16", true, wmmaRDNA3<uint16_t, widenHalf>},
    {"amdgcn.wmma.f32.16x16x16.bf16.v8f32.v16i16", true, wmmaRDNA3<uint16_t, widenBFloat>},
    {"amdgcn.wmma.f32.16x16x16.f16.v8f32.v8f16", true, wmmaRDNA4<uint16_t, widenHalf>},
    {"amdgcn.wmma.f32.16x16x16.bf16.v8f32.v8i16", true, wmmaRDNA4<uint16_t, widenBFloat>},
    {nullptr, false, nullptr},
};
