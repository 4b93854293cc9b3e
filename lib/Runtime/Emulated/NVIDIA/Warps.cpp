// NVIDIA's warp instructions, by the PTX ISA (sections "mma fragments", "shfl.sync" and "cvt").
#include "../Block.h"
#include "Sums.h"
#include <cfenv>
#include <cmath>
#include <string>
#include <type_traits>

using namespace kiln::emulated;

namespace {

//===- Shuffles -----------------------------------------------------------------------------===//

enum class Shuffle { Up, Down, Butterfly, Index };

/// Operands: member mask, value, b, c; c holds the clamp and, from bit 8 on, the segments' mask.
template <Shuffle mode>
void shuffle(const Lanes &lanes) {
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    int b = lanes.read<int32_t>(lane, 8) & 31, c = lanes.read<int32_t>(lane, 12);
    int clamp = c & 31, segments = c >> 8 & 31;
    int most = (int(lane) & segments) | (clamp & ~segments), least = int(lane) & segments, from;
    bool valid;
    if (mode == Shuffle::Up) {
      from = int(lane) - b;
      valid = from >= most;
    } else if (mode == Shuffle::Down) {
      from = int(lane) + b;
      valid = from <= most;
    } else if (mode == Shuffle::Butterfly) {
      from = int(lane) ^ b;
      valid = from <= most;
    } else {
      from = least | (b & ~segments);
      valid = from <= most;
    }
    lanes.write(lane, 0, lanes.read<uint32_t>(valid ? from : lane, 4));
  }
}

//===- Matrices from shared memory ----------------------------------------------------------===//

/// Lanes 8 m to 8 m + 7 name the rows of matrix m, of eight 16-bit units. A lane gets two units of
/// each: of row lane / 4 those from 2 (lane mod 4) on; transposed, of those two rows unit lane / 4.
template <unsigned count, bool transposed>
void loadMatrices(const Lanes &lanes) {
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    for (unsigned matrix = 0; matrix < count; ++matrix)
      for (unsigned i = 0; i < 2; ++i) {
        unsigned pair = (lane & 3) * 2 + i, single = lane >> 2;
        unsigned row = transposed ? pair : single, unit = transposed ? single : pair;
        auto *address = lanes.read<const char *>(8 * matrix + row, 0);
        uint16_t value;
        std::memcpy(&value, address + 2 * unit, sizeof(value));
        lanes.write(lane, 2 * matrix + i, value);
      }
}

//===- Copies into shared memory ------------------------------------------------------------===//

/// The place, the source and, in one form, how many bytes from there on are read; the rest of the
/// `Bytes` are zero. They are under way until the thread has waited for the group that they are of.
template <unsigned Bytes, bool isPart>
void copyAsync(const Lanes &lanes) {
  Block &block = *Block::current();
  Block::Copy copy{lanes.first, lanes.read<uint64_t>(0, 0), Bytes, {}};
  uint64_t source = lanes.read<uint64_t>(0, 8);
  unsigned read = isPart ? lanes.read<uint32_t>(0, 16) : Bytes;
  if (read > Bytes)
    block.fail("a copy that reads more bytes than it writes");
  if (read && source % Bytes)
    block.fail("a misaligned copy of " + std::to_string(Bytes) + " bytes from global memory");
  constexpr int reading = 1;
  if (read)
    block.access(source, read, reading, nullptr);
  std::memcpy(copy.data, reinterpret_cast<const void *>(source), read);
  block.startCopy(copy);
}

void endGroup(const Lanes &lanes) { Block::current()->endGroup(lanes.first); }

void waitForGroups(const Lanes &lanes) {
  Block::current()->waitForCopies(lanes, lanes.read<uint32_t>(0, 0));
}

/// The barrier hears at once that the copies have come, and counts no arrival; the thread does not.
void awaitCopies(const Lanes &lanes) {
  Block::current()->tellOfCopies(lanes.first, lanes.read<uint64_t>(0, 0));
}

//===- Matrix products ----------------------------------------------------------------------===//

/// The group of four lanes that a lane is in, and its number there.
struct Quad {
  explicit Quad(unsigned lane) : group(lane >> 2), inGroup(lane & 3) {}
  unsigned group, inGroup;
};

/// An m16n8 accumulator: c0 and c1 in row `group`, c2 and c3 eight rows below.
struct Accumulator {
  static unsigned row(unsigned lane, unsigned i) { return Quad(lane).group + (i < 2 ? 0 : 8); }
  static unsigned column(unsigned lane, unsigned i) { return Quad(lane).inGroup * 2 + (i & 1); }
};

/// Multiplies what `a` and `b` hold, in a wide type, and adds it to the accumulators: of f64 one
/// after another, each rounded once.
template <unsigned M, unsigned N, unsigned K, unsigned Results, typename Wide, typename Place>
void accumulate(const Lanes &lanes, const Wide (&a)[M][K], const Wide (&b)[K][N],
                unsigned accumulatorOffset) {
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    for (unsigned i = 0; i < Results; ++i) {
      unsigned row = Place::row(lane, i), column = Place::column(lane, i);
      Wide sum = lanes.read<Wide>(lane, accumulatorOffset, i);
      for (unsigned k = 0; k < K; ++k)
        if constexpr (std::is_floating_point_v<Wide>)
          sum = std::fma(a[row][k], b[k][column], sum);
        else
          sum += a[row][k] * b[k][column];
      lanes.write(lane, i, sum);
    }
}

/// Floats that are added as the chip's matrix units do; b by columns.
template <unsigned K>
void accumulate(const Lanes &lanes, const Factor (&a)[16][K], const Factor (&b)[8][K],
                unsigned fraction, unsigned elementBytes) {
  constexpr unsigned accumulatorOffset = 24;
  SumLaw law = getWarpLaw(Block::current()->launch.chip, elementBytes, K);
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      lanes.write(lane, i,
                  addProducts(a[Accumulator::row(lane, i)], b[Accumulator::column(lane, i)], K,
                              fraction, lanes.read<float>(lane, accumulatorOffset, i), law));
}

/// m16n8k16 on 16-bit floats: a in four registers of two, b in two.
template <double (*widen)(uint16_t), const FloatForm &form>
void multiply16(const Lanes &lanes) {
  Factor a[16][16], b[8][16];
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    Quad quad(lane);
    for (unsigned i = 0; i < 8; ++i) {
      unsigned row = quad.group + ((i < 2 || (i >= 4 && i < 6)) ? 0 : 8);
      unsigned column = quad.inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      a[row][column] = Factor(widen(lanes.read<uint16_t>(lane, 0, i)), form);
    }
    for (unsigned i = 0; i < 4; ++i)
      b[quad.group][quad.inGroup * 2 + (i & 1) + (i >= 2 ? 8 : 0)] =
          Factor(widen(lanes.read<uint16_t>(lane, 16, i)), form);
  }
  accumulate(lanes, a, b, 2 * form.fraction, 2);
}

/// m16n8k8 on tf32.
void multiplyTF32(const Lanes &lanes) {
  Factor a[16][8], b[8][8];
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    Quad quad(lane);
    for (unsigned i = 0; i < 4; ++i)
      a[quad.group + (i & 1 ? 8 : 0)][quad.inGroup + (i >= 2 ? 4 : 0)] =
          Factor(widenTF32(lanes.read<uint32_t>(lane, 0, i)), kTF32);
    for (unsigned i = 0; i < 2; ++i)
      b[quad.group][quad.inGroup + 4 * i] =
          Factor(widenTF32(lanes.read<uint32_t>(lane, 16, i)), kTF32);
  }
  accumulate(lanes, a, b, 2 * kTF32.fraction, 4);
}

uint32_t signedByte(uint8_t bits) { return uint32_t(int8_t(bits)); }
uint32_t unsignedByte(uint8_t bits) { return bits; }

/// Where a byte of an m16n8k32 operand belongs: its row or column, and its place along k.
struct BytePlace {
  unsigned x, k;
};
BytePlace placeOfA(unsigned lane, unsigned i) {
  Quad quad(lane);
  return {quad.group + ((i & 4) ? 8 : 0), quad.inGroup * 4 + (i & 3) + (i >= 8 ? 16 : 0)};
}
BytePlace placeOfB(unsigned lane, unsigned i) {
  Quad quad(lane);
  return {quad.group, quad.inGroup * 4 + (i & 3) + (i >= 4 ? 16 : 0)};
}

/// m16n8k32 on integers of a byte; sums wrap.
template <auto widenA, auto widenB>
void multiplyBytes(const Lanes &lanes) {
  uint32_t a[16][32], b[32][8];
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    for (unsigned i = 0; i < 16; ++i) {
      BytePlace place = placeOfA(lane, i);
      a[place.x][place.k] = widenA(lanes.read<uint8_t>(lane, 0, i));
    }
    for (unsigned i = 0; i < 8; ++i) {
      BytePlace place = placeOfB(lane, i);
      b[place.k][place.x] = widenB(lanes.read<uint8_t>(lane, 16, i));
    }
  }
  accumulate<16, 8, 32, 4, uint32_t, Accumulator>(lanes, a, b, 24);
}

/// m16n8k32 on floats of a byte; of chips that widen them, as f16.
template <auto widenA, const FloatForm &formA, auto widenB, const FloatForm &formB>
void multiplyByteFloats(const Lanes &lanes) {
  bool areHalves = getWarpLaw(Block::current()->launch.chip, 1, 32).inWords;
  FloatForm ofA = areHalves ? kHalf : formA, ofB = areHalves ? kHalf : formB;
  Factor a[16][32], b[8][32];
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    for (unsigned i = 0; i < 16; ++i) {
      BytePlace place = placeOfA(lane, i);
      a[place.x][place.k] = Factor(widenA(lanes.read<uint8_t>(lane, 0, i)), ofA);
    }
    for (unsigned i = 0; i < 8; ++i) {
      BytePlace place = placeOfB(lane, i);
      b[place.x][place.k] = Factor(widenB(lanes.read<uint8_t>(lane, 16, i)), ofB);
    }
  }
  accumulate(lanes, a, b, ofA.fraction + ofB.fraction, 1);
}

/// m16n8k64 on integers of four bits, the lower half of a byte first.
template <bool signedA, bool signedB>
void multiplyNibbles(const Lanes &lanes) {
  auto read = [&](unsigned lane, unsigned offset, unsigned i, bool isSigned) -> uint32_t {
    unsigned bits = lanes.read<uint8_t>(lane, offset, i / 2) >> 4 * (i & 1) & 15;
    return isSigned && bits >= 8 ? bits - 16 : bits;
  };
  uint32_t a[16][64], b[64][8];
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    Quad quad(lane);
    for (unsigned i = 0; i < 32; ++i) {
      unsigned row = quad.group + ((i < 8 || (i >= 16 && i < 24)) ? 0 : 8);
      unsigned column = quad.inGroup * 8 + (i & 7) + (i >= 16 ? 32 : 0);
      a[row][column] = read(lane, 0, i, signedA);
    }
    for (unsigned i = 0; i < 16; ++i)
      b[quad.inGroup * 8 + (i & 7) + (i >= 8 ? 32 : 0)][quad.group] = read(lane, 16, i, signedB);
  }
  accumulate<16, 8, 64, 4, uint32_t, Accumulator>(lanes, a, b, 24);
}

struct NarrowAccumulator {
  static unsigned row(unsigned lane, unsigned) { return Quad(lane).group; }
  static unsigned column(unsigned lane, unsigned i) { return Quad(lane).inGroup * 2 + i; }
};

/// m8n8k4 on f64.
void multiplyF64(const Lanes &lanes) {
  double a[8][4], b[4][8];
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    Quad quad(lane);
    a[quad.group][quad.inGroup] = lanes.read<double>(lane, 0);
    b[quad.inGroup][quad.group] = lanes.read<double>(lane, 8);
  }
  accumulate<8, 8, 4, 2, double, NarrowAccumulator>(lanes, a, b, 16);
}

/// m16n8k4, k8 and k16 on f64.
template <unsigned K>
void multiplyTallF64(const Lanes &lanes) {
  double a[16][K], b[K][8];
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    Quad quad(lane);
    for (unsigned i = 0; i < K / 2; ++i)
      a[quad.group + (i & 1 ? 8 : 0)][quad.inGroup + i / 2 * 4] = lanes.read<double>(lane, i * 8);
    for (unsigned i = 0; i < K / 4; ++i)
      b[quad.inGroup + i * 4][quad.group] = lanes.read<double>(lane, K * 4 + i * 8);
  }
  accumulate<16, 8, K, 4, double, Accumulator>(lanes, a, b, K * 6);
}

//===- Conversions --------------------------------------------------------------------------===//

/// cvt.rn.satfinite of two f32 to floats of a byte: the first operand's goes to the upper one.
template <ByteFloat format>
void narrowPair(const Lanes &lanes) {
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    unsigned high = narrowSaturating(format, lanes.read<float>(lane, 0));
    unsigned low = narrowSaturating(format, lanes.read<float>(lane, 4));
    lanes.write(lane, 0, uint16_t(high << 8 | low));
  }
}

/// cvt.rn of two floats of a byte to f16.
template <ByteFloat format>
void widenPair(const Lanes &lanes) {
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    for (unsigned i = 0; i < 2; ++i)
      lanes.write(lane, i, widenToHalf(format, lanes.read<uint8_t>(lane, 0, i)));
}

void meet(const Lanes &lanes) { Block::current()->meetLanes(lanes); }

//===- Arithmetic that is not rounded to nearest --------------------------------------------===//

/// Operands and result are kept from a compiler that takes the rounding for granted.
template <int mode, unsigned count>
void roundTo(const Lanes &lanes) {
  int before = std::fegetround();
  std::fesetround(mode);
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    volatile float a = lanes.read<float>(lane, 0), b = lanes.read<float>(lane, 4), result;
    if constexpr (count == 3) {
      volatile float c = lanes.read<float>(lane, 8);
      result = std::fma(float(a), float(b), float(c));
    } else {
      result = a + b;
    }
    lanes.write(lane, 0, float(result));
  }
  std::fesetround(before);
}

} // namespace

const Instruction kiln::emulated::kWarpInstructions[] = {
    {"nvvm.bar.warp.sync", true, meet},
    {"nvvm.shfl.sync.up.i32", true, shuffle<Shuffle::Up>},
    {"nvvm.shfl.sync.down.i32", true, shuffle<Shuffle::Down>},
    {"nvvm.shfl.sync.bfly.i32", true, shuffle<Shuffle::Butterfly>},
    {"nvvm.shfl.sync.idx.i32", true, shuffle<Shuffle::Index>},
    {"nvvm.ldmatrix.sync.aligned.m8n8.x1.b16", true, loadMatrices<1, false>, Suffix::Shared},
    {"nvvm.ldmatrix.sync.aligned.m8n8.x2.b16", true, loadMatrices<2, false>, Suffix::Shared},
    {"nvvm.ldmatrix.sync.aligned.m8n8.x4.b16", true, loadMatrices<4, false>, Suffix::Shared},
    {"nvvm.ldmatrix.sync.aligned.m8n8.x1.trans.b16", true, loadMatrices<1, true>, Suffix::Shared},
    {"nvvm.ldmatrix.sync.aligned.m8n8.x2.trans.b16", true, loadMatrices<2, true>, Suffix::Shared},
    {"nvvm.ldmatrix.sync.aligned.m8n8.x4.trans.b16", true, loadMatrices<4, true>, Suffix::Shared},
    {"nvvm.cp.async.ca.shared.global.4", false, copyAsync<4, false>},
    {"nvvm.cp.async.ca.shared.global.8", false, copyAsync<8, false>},
    {"nvvm.cp.async.ca.shared.global.16", false, copyAsync<16, false>},
    {"nvvm.cp.async.cg.shared.global.16", false, copyAsync<16, false>},
    {"nvvm.cp.async.ca.shared.global.4.s", false, copyAsync<4, true>},
    {"nvvm.cp.async.ca.shared.global.8.s", false, copyAsync<8, true>},
    {"nvvm.cp.async.ca.shared.global.16.s", false, copyAsync<16, true>},
    {"nvvm.cp.async.cg.shared.global.16.s", false, copyAsync<16, true>},
    {"nvvm.cp.async.commit.group", false, endGroup},
    {"nvvm.cp.async.wait.group", false, waitForGroups},
    {"nvvm.cp.async.mbarrier.arrive.shared", false, awaitCopies},
    {"nvvm.mma.m16n8k16.row.col.f32.f32", true, multiply16<widenHalf, kHalf>},
    {"nvvm.mma.m16n8k16.row.col.bf16", true, multiply16<widenBFloat, kBFloat>},
    {"nvvm.mma.m16n8k8.row.col.tf32", true, multiplyTF32},
    {"nvvm.mma.m16n8k32.row.col.s8", true, multiplyBytes<signedByte, signedByte>},
    {"nvvm.mma.m16n8k32.row.col.s8.u8", true, multiplyBytes<signedByte, unsignedByte>},
    {"nvvm.mma.m16n8k32.row.col.u8.s8", true, multiplyBytes<unsignedByte, signedByte>},
    {"nvvm.mma.m16n8k32.row.col.u8", true, multiplyBytes<unsignedByte, unsignedByte>},
    {"nvvm.mma.m16n8k32.row.col.f32.e4m3.e4m3.f32", true,
     multiplyByteFloats<widenE4M3, kE4M3, widenE4M3, kE4M3>},
    {"nvvm.mma.m16n8k32.row.col.f32.e4m3.e5m2.f32", true,
     multiplyByteFloats<widenE4M3, kE4M3, widenE5M2, kE5M2>},
    {"nvvm.mma.m16n8k32.row.col.f32.e5m2.e4m3.f32", true,
     multiplyByteFloats<widenE5M2, kE5M2, widenE4M3, kE4M3>},
    {"nvvm.mma.m16n8k32.row.col.f32.e5m2.e5m2.f32", true,
     multiplyByteFloats<widenE5M2, kE5M2, widenE5M2, kE5M2>},
    {"nvvm.mma.m16n8k64.row.col.s4", true, multiplyNibbles<true, true>},
    {"nvvm.mma.m16n8k64.row.col.s4.u4", true, multiplyNibbles<true, false>},
    {"nvvm.mma.m16n8k64.row.col.u4.s4", true, multiplyNibbles<false, true>},
    {"nvvm.mma.m16n8k64.row.col.u4", true, multiplyNibbles<false, false>},
    {"nvvm.mma.m8n8k4.row.col.f64", true, multiplyF64},
    {"nvvm.mma.m16n8k4.row.col.f64", true, multiplyTallF64<4>},
    {"nvvm.mma.m16n8k8.row.col.f64", true, multiplyTallF64<8>},
    {"nvvm.mma.m16n8k16.row.col.f64", true, multiplyTallF64<16>},
    {"nvvm.ff.to.e4m3x2.rn", false, narrowPair<ByteFloat::E4M3FN>},
    {"nvvm.ff.to.e5m2x2.rn", false, narrowPair<ByteFloat::E5M2>},
    {"nvvm.e4m3x2.to.f16x2.rn", false, widenPair<ByteFloat::E4M3FN>},
    {"nvvm.e5m2x2.to.f16x2.rn", false, widenPair<ByteFloat::E5M2>},
    {"nvvm.add.rz.f", false, roundTo<FE_TOWARDZERO, 2>},
    {"nvvm.add.rz.ftz.f", false, roundTo<FE_TOWARDZERO, 2>},
    {"nvvm.fma.rm.f", false, roundTo<FE_DOWNWARD, 3>},
    {"nvvm.fma.rm.ftz.f", false, roundTo<FE_DOWNWARD, 3>},
    {nullptr, false, nullptr},
};
