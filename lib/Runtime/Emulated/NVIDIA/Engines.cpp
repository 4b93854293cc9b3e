// NVIDIA's instructions of chips whose engines work beside their warps, by the PTX ISA (sections
// "mbarrier", "bar", "cp.async.bulk.tensor", "stmatrix" and "wgmma.mma_async").
#include "../Block.h"
#include "Matrix.h"
#include <vector>

using namespace kiln::emulated;

namespace {

//===- Barriers and boxes, each by one thread -----------------------------------------------===//

Engines &engines() { return Block::current()->engines; }
unsigned thread() { return Block::current()->currentThread(); }

/// Stops the thread if something is wrong.
void check(const std::string &wrong) {
  if (!wrong.empty())
    Block::current()->fail(wrong);
}

void initBarrier(const Lanes &lanes) {
  check(engines().initBarrier(lanes.read<uint64_t>(0, 0), lanes.read<uint32_t>(0, 8)));
}

void arrive(const Lanes &lanes) {
  check(engines().arrive(lanes.read<uint64_t>(0, 0), 0));
  lanes.write<uint64_t>(0, 0, 0);
}

void arriveExpecting(const Lanes &lanes) {
  check(engines().arrive(lanes.read<uint64_t>(0, 0), lanes.read<uint32_t>(0, 8)));
  lanes.write<uint64_t>(0, 0, 0);
}

/// Blocks until it succeeds.
void tryWait(const Lanes &lanes) {
  auto address = lanes.read<uint64_t>(0, 0);
  auto parity = lanes.read<uint32_t>(0, 8);
  Block *block = Block::current();
  std::string what = "a phase of the barrier at offset " +
                     std::to_string(address - uint64_t(block->getShared().data())) +
                     " of shared memory";
  block->waitUntil(
      [=] {
        bool hasEnded = false;
        std::string wrong = block->engines.poll(address, parity, hasEnded);
        if (wrong.empty() && !hasEnded)
          wrong = block->tensors.land(address);
        if (wrong.empty())
          wrong = block->engines.poll(address, parity, hasEnded);
        if (!wrong.empty())
          block->stop(wrong);
        return hasEnded;
      },
      what);
  lanes.write<uint8_t>(0, 0, 1);
}

void groupBarrier(const Lanes &lanes) {
  auto barrier = lanes.read<int32_t>(0, 0);
  Block *block = Block::current();
  uint64_t round = block->engines.come(barrier, lanes.read<uint32_t>(0, 4));
  block->waitUntil([=] { return block->engines.hasEnded(barrier, round); },
                   "barrier " + std::to_string(barrier));
}

/// Coordinates stand behind the other operands, as many as the map has dimensions.
struct Place {
  Place(const Lanes &lanes, unsigned offset, unsigned rank) {
    for (unsigned dim = 0; dim < rank; ++dim)
      at[dim] = lanes.read<int32_t>(0, offset, dim);
  }
  int32_t at[5] = {};
};

void loadBox(const Lanes &lanes) {
  const auto &map = *lanes.read<const TensorMap *>(0, 16);
  check(engines().startLoad(thread(), lanes.read<uint64_t>(0, 0), lanes.read<uint64_t>(0, 8), map,
                            Place(lanes, 24, map.rank).at));
}

void storeBox(const Lanes &lanes) {
  const auto &map = *lanes.read<const TensorMap *>(0, 8);
  check(engines().startStore(thread(), lanes.read<uint64_t>(0, 0), map,
                             Place(lanes, 16, map.rank).at));
}

void commitStores(const Lanes &) { engines().commitStores(thread()); }

void waitStores(const Lanes &lanes) {
  check(engines().waitStores(thread(), lanes.read<uint32_t>(0, 0)));
}

//===- Matrices to shared memory ------------------------------------------------------------===//

/// Lanes 8 m to 8 m + 7 name the rows of matrix m; a lane holds of row lane / 4 of each the two
/// units from 2 (lane mod 4) on.
template <unsigned count>
void storeMatrices(const Lanes &lanes) {
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    for (unsigned matrix = 0; matrix < count; ++matrix) {
      auto *row = lanes.read<char *>(8 * matrix + lane / 4, 0);
      auto pair = lanes.read<uint32_t>(lane, 8, matrix);
      std::memcpy(row + 4 * (lane & 3), &pair, sizeof(pair));
    }
}

//===- Products of warp groups --------------------------------------------------------------===//

constexpr unsigned kElementBytes = 2, kDepth = 16; // along k

float widen(uint16_t bits, bool isBFloat) {
  if (!isBFloat)
    return float(widenHalf(bits));
  uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

/// One warp's 16 rows of m64nNk16. Operands: n, whether a is in registers, whether it and b are
/// transposed, whether elements are bf16; then those of the statement: a, b, whether the
/// accumulators count, the accumulators.
void multiplyGroup(const Lanes &lanes) {
  auto columns = lanes.read<uint32_t>(0, 0), inRegisters = lanes.read<uint32_t>(0, 4);
  bool transposedA = lanes.read<uint32_t>(0, 8), transposedB = lanes.read<uint32_t>(0, 12);
  bool isBFloat = lanes.read<uint32_t>(0, 16);
  unsigned offsetB = 20 + (inRegisters ? 16 : 8), accumulators = offsetB + 12;
  unsigned firstRow = lanes.first / 32 % 4 * 16;
  float a[16][kDepth];
  if (inRegisters) {
    for (unsigned lane = 0; lane < lanes.count; ++lane)
      for (unsigned i = 0; i < 8; ++i) {
        auto bits = lanes.read<uint16_t>(lane, 20, i);
        a[lane / 4 + (i & 2 ? 8 : 0)][lane % 4 * 2 + (i & 1) + (i & 4 ? 8 : 0)] =
            widen(bits, isBFloat);
      }
  } else {
    Matrix matrix(lanes.read<uint64_t>(0, 20), transposedA, kElementBytes);
    for (unsigned row = 0; row < 16; ++row)
      for (unsigned k = 0; k < kDepth; ++k)
        a[row][k] = widen(matrix.at(firstRow + row, k), isBFloat);
  }
  Matrix matrix(lanes.read<uint64_t>(0, offsetB), transposedB, kElementBytes);
  std::vector<float> b(columns * kDepth);
  for (unsigned column = 0; column < columns; ++column)
    for (unsigned k = 0; k < kDepth; ++k)
      b[column * kDepth + k] = widen(matrix.at(column, k), isBFloat);
  bool accumulates = lanes.read<uint32_t>(0, offsetB + 8);
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    for (unsigned i = 0; i < columns / 2; ++i) {
      unsigned row = lane / 4 + (i & 2 ? 8 : 0);
      unsigned column = i / 4 * 8 + lane % 4 * 2 + (i & 1);
      double sum = accumulates ? lanes.read<float>(lane, accumulators, i) : 0.0f;
      for (unsigned k = 0; k < kDepth; ++k)
        sum += a[row][k] * b[column * kDepth + k];
      lanes.write<float>(lane, i, float(sum));
    }
}
} // namespace

const Instruction kiln::emulated::kEngineInstructions[] = {
    {"nvvm.mbarrier.init.shared", false, initBarrier},
    {"nvvm.mbarrier.arrive.shared", false, arrive},
    {"nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta", false, arriveExpecting},
    {"nvvm.mbarrier.try.wait.parity.scope.cta.space.cta", false, tryWait},
    {"nvvm.barrier.cta.sync.aligned.count", false, groupBarrier},
    {"nvvm.cp.async.bulk.tensor.g2s.cta.tile", false, loadBox},
    {"nvvm.cp.async.bulk.tensor.s2g.tile", false, storeBox},
    {"nvvm.cp.async.bulk.commit.group", false, commitStores},
    {"nvvm.cp.async.bulk.wait.group", false, waitStores},
    {"nvvm.stmatrix.sync.aligned.m8n8.x1.b16", true, storeMatrices<1>},
    {"nvvm.stmatrix.sync.aligned.m8n8.x2.b16", true, storeMatrices<2>},
    {"nvvm.stmatrix.sync.aligned.m8n8.x4.b16", true, storeMatrices<4>},
    {"kiln.wgmma", true, multiplyGroup},
    {nullptr, false, nullptr},
};
