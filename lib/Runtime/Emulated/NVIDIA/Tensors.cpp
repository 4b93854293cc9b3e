// NVIDIA's products into tensor memory, by the PTX ISA (sections named where they are followed).
#include "../Block.h"
#include "Matrix.h"

using namespace kiln;
using namespace kiln::emulated;

namespace {

TensorMemory &tensors() { return Block::current()->tensors; }

/// Stops the program if something is wrong.
void check(const std::string &wrong) {
  if (!wrong.empty())
    Block::current()->stop(wrong);
}

//===- Columns ------------------------------------------------------------------------------===//

/// Operands: where in shared memory the address goes, how many columns.
template <unsigned blocks>
void allocate(const Lanes &lanes) {
  check(tensors().useFor(blocks));
  auto to = lanes.read<uint64_t>(0, 0);
  uint32_t address = 0;
  check(tensors().allocate(lanes.first, lanes.read<uint32_t>(0, 8), address));
  check(Block::current()->writeShared(lanes.first, to, &address, sizeof(address)));
}

template <unsigned blocks>
void endAllocations(const Lanes &) {
  check(tensors().useFor(blocks));
  check(tensors().endAllocations());
}

template <unsigned blocks>
void release(const Lanes &lanes) {
  check(tensors().useFor(blocks));
  Block::current()->meetLanes(lanes);
  check(tensors().release(lanes.first, lanes.read<uint32_t>(0, 0), lanes.read<uint32_t>(0, 8)));
}

//===- Products -----------------------------------------------------------------------------===//

constexpr unsigned kIntegers = 3;

/// An element's value, by the kind of product and the number of its format.
double widen(unsigned kind, unsigned format, uint32_t bits) {
  if (kind == kIntegers)
    return format == 0 ? uint8_t(bits) : int8_t(bits);
  if (kind == 0)
    return format == 0 ? widenHalf(bits) : widenBFloat(bits);
  if (kind == 1)
    return widenTF32(bits);
  return format == 0 ? widenE4M3(bits) : widenE5M2(bits);
}

/// A sum is f32 or s32, of which doubles have all that so few products reach.
double widenSum(unsigned kind, uint32_t bits) {
  if (kind == kIntegers)
    return int32_t(bits);
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

/// Integers are not saturated.
uint32_t narrowSum(unsigned kind, double sum) {
  if (kind == kIntegers)
    return uint32_t(int64_t(sum));
  auto rounded = float(sum);
  uint32_t bits;
  std::memcpy(&bits, &rounded, sizeof(bits));
  return bits;
}

/// What an instruction descriptor says that is not of blocks with scales (PTX ISA, "Instruction
/// descriptor").
struct Instruction32 {
  explicit Instruction32(uint32_t bits)
      : sum(bits >> 4 & 3), a(bits >> 7 & 7), b(bits >> 10 & 7), isAlongM(bits >> 15 & 1),
        isAlongN(bits >> 16 & 1), n((bits >> 17 & 63) * 8), m((bits >> 24 & 31) * 16),
        others(bits & ~(3u << 4 | 7u << 7 | 7u << 10 | 3u << 15 | 63u << 17 | 31u << 24)) {}
  unsigned sum, a, b;
  bool isAlongM, isAlongN;
  unsigned n, m, others;
};

/// Whether there is such a product: types by the kind (PTX ISA, "Instruction descriptor"), rows and
/// columns by the kind and by how many blocks multiply ("Matrix shape").
bool isKnown(const Instruction32 &how, unsigned kind, unsigned blocks) {
  constexpr unsigned f32 = 1, s32 = 2;
  bool isIntegers = kind == kIntegers;
  if (kind > kIntegers || (blocks != 1 && blocks != 2) || how.others ||
      how.sum != (isIntegers ? s32 : f32))
    return false;
  unsigned least = kind == 1 ? 2 : 0, most = kind == 1 ? 2 : 1;
  bool areTypes = how.a >= least && how.a <= most && how.b >= least && how.b <= most;
  bool isRows = how.m == 128 * blocks || (how.m == 64 && blocks == 1);
  unsigned step = how.m == 64 ? 8 : 16;
  if (isIntegers)
    step = blocks == 2 ? 32 : how.n > 32 ? 16 : step;
  return areTypes && isRows && how.n >= step && how.n <= 256 && how.n % step == 0;
}

/// Where a block has a row of the sums, and of an operand a that is there (PTX ISA, "Data path
/// layout organization"). Of 128 rows, of one block's or of each of two, a lane has each (layouts D
/// and A). Of 64 rows, not of weights that stay, half of the lanes have them (layout F): of 32
/// lanes each the first 16, so rows 16 to 31 are in lanes 32 to 47.
unsigned laneOfRow(unsigned rows, unsigned row) {
  return rows == 64 ? (row & 48) << 1 | (row & 15) : row;
}

/// Operands: the sums, a, descriptors of b and of the instruction, whether the sums count; then the
/// kind and how many blocks multiply together. Of a it is a descriptor, or an address in tensor
/// memory.
template <bool isWritten>
void multiply(const Lanes &lanes) {
  auto address = lanes.read<uint32_t>(0, 0);
  auto a = lanes.read<uint64_t>(0, 8), b = lanes.read<uint64_t>(0, 16);
  Instruction32 how(lanes.read<uint32_t>(0, 24));
  bool accumulates = lanes.read<uint8_t>(0, 28) & 1;
  auto kind = lanes.read<uint32_t>(0, 29), blocks = lanes.read<uint32_t>(0, 33);
  Block *block = Block::current();
  if (!isKnown(how, kind, blocks) || (isWritten && how.isAlongM))
    block->fail("a product into tensor memory of a form that the emulator does not know");
  for (uint64_t descriptor : {isWritten ? b : a, b})
    checkTensorDescriptor(*block, descriptor);
  if (std::string wrong = tensors().useFor(blocks); !wrong.empty())
    block->fail(wrong);
  unsigned rows = how.m / blocks;
  // Elements of a in one column.
  unsigned bytes = kind == 0 ? 2 : kind == 1 ? 4 : 1, depth = 32 / bytes, together = 4 / bytes;
  auto run = [=]() -> std::string {
    // Of two blocks each has an equal part of b's rows of n, its own rows of a and those of the
    // sums.
    std::vector<Block *> all = {block};
    if (blocks == 2)
      all = {block->getOfPair(0), block->getOfPair(1)};
    std::vector<double> x(rows * depth), y(how.n * depth);
    unsigned columns = how.n / blocks;
    for (unsigned i = 0; i < blocks; ++i) {
      Matrix right(*all[i], *block, b, how.isAlongN, bytes);
      for (unsigned k = 0; k < depth; ++k)
        for (unsigned column = 0; column < columns; ++column)
          y[(i * columns + column) * depth + k] = widen(kind, how.b, right.at(column, k));
    }
    for (Block *each : all) {
      TensorMemory &memory = each->tensors;
      for (unsigned row = 0; isWritten && row < rows; ++row)
        for (unsigned k = 0; k < depth; ++k) {
          unsigned at = TensorMemory::columnOf(uint32_t(a)) + k / together;
          unsigned lane = laneOfRow(rows, row);
          if (!memory.isWritten(lane, at))
            return "a product of an operand in tensor memory which nothing has written";
          uint32_t bits = memory.get(lane, at) >> (k % together * 8 * bytes);
          x[row * depth + k] =
              widen(kind, how.a, bytes == 4 ? bits : bits & ((1u << 8 * bytes) - 1));
        }
      if constexpr (!isWritten) {
        Matrix left(*each, *block, a, how.isAlongM, bytes);
        for (unsigned k = 0; k < depth; ++k)
          for (unsigned row = 0; row < rows; ++row)
            x[row * depth + k] = widen(kind, how.a, left.at(row, k));
      }
      for (unsigned row = 0; row < rows; ++row)
        for (unsigned column = 0; column < how.n; ++column) {
          unsigned at = TensorMemory::columnOf(address) + column;
          unsigned lane = laneOfRow(rows, row);
          if (accumulates && !memory.isWritten(lane, at))
            return "a product that adds to a sum in tensor memory which nothing has written";
          double sum = accumulates ? widenSum(kind, memory.get(lane, at)) : 0.0;
          for (unsigned k = 0; k < depth; ++k)
            sum += x[row * depth + k] * y[column * depth + k];
          memory.set(lane, at, narrowSum(kind, sum));
        }
    }
    return "";
  };
  std::vector<TensorMemory::Columns> operands;
  if (isWritten)
    operands.push_back({uint32_t(a), depth / together});
  analysis::Event event = tensors().startReads(block->currentThread());
  analysis::Agent by = block->getShared().agentOf(block->currentThread());
  for (unsigned i = 0; i < blocks; ++i) {
    Block &each = blocks == 2 ? *block->getOfPair(i) : *block;
    std::string wrong = Matrix(each, *block, b, how.isAlongN, bytes)
                            .startReads(by, event, 0, how.n / blocks, depth);
    if (wrong.empty() && !isWritten)
      wrong = Matrix(each, *block, a, how.isAlongM, bytes).startReads(by, event, 0, rows, depth);
    if (!wrong.empty())
      block->fail(wrong);
  }
  std::string wrong =
      tensors().start(block->currentThread(), {address, how.n}, std::move(operands), run);
  if (!wrong.empty())
    block->fail(wrong);
}

template <unsigned blocks>
void commit(const Lanes &lanes) {
  if (std::string wrong = tensors().useFor(blocks); !wrong.empty())
    Block::current()->fail(wrong);
  tensors().commit(Block::current()->currentThread(), {lanes.read<uint64_t>(0, 0)});
}

/// To the barrier at the same place in each block of the cluster whose bit is set.
template <unsigned blocks>
void commitToMany(const Lanes &lanes) {
  if (std::string wrong = tensors().useFor(blocks); !wrong.empty())
    Block::current()->fail(wrong);
  auto mask = lanes.read<uint16_t>(0, 8);
  std::vector<uint64_t> barriers;
  for (unsigned block = 0; mask >> block; ++block) {
    if (!(mask >> block & 1))
      continue;
    barriers.push_back(lanes.read<uint64_t>(0, 0));
    if (std::string wrong = Block::current()->engines.mapTo(block, barriers.back()); !wrong.empty())
      Block::current()->fail(wrong);
  }
  tensors().commit(Block::current()->currentThread(), std::move(barriers));
}

//===- Sums to registers and back -----------------------------------------------------------===//

/// Each warp of four reaches 32 lanes of its own, or half of them at a time.
bool reaches(const Lanes &lanes, uint32_t address, unsigned count = 32) {
  unsigned first = TensorMemory::laneOf(address), reached = lanes.first / 32 % 4 * 32;
  if (first != reached && !(count == 16 && first == reached + 16))
    check("an access to tensor memory from lane " + std::to_string(first) +
          " on by a warp that reaches lanes from " + std::to_string(reached) + " on");
  return first == reached;
}

/// A thread's columns of one lane, which stand behind other operands.
template <unsigned count>
void storeRow(const Lanes &lanes, unsigned thread, unsigned lane, unsigned column,
              unsigned offset) {
  uint32_t bits[count];
  for (unsigned i = 0; i < count; ++i)
    bits[i] = lanes.read<uint32_t>(thread, offset, i);
  check(tensors().write(lanes.first + thread, lanes.first / 32, lane, column, count, bits));
}

/// Until its warp waits for that, the thread's registers do not hold what it reads.
template <unsigned count>
void loadRow(const Lanes &lanes, const analysis::Event &reads, unsigned thread, unsigned lane,
             unsigned column) {
  uint32_t bits[count] = {};
  check(tensors().read(lanes.first + thread, lane, column, count, bits));
  for (unsigned i = 0; i < count; ++i)
    lanes.write(thread, i, Block::current()->tagValue(lanes.first + thread, reads, bits[i]));
}

/// Operands: the address, then the columns.
template <unsigned count>
void store(const Lanes &lanes) {
  auto address = lanes.read<uint32_t>(0, 0);
  if (!reaches(lanes, address))
    return;
  for (unsigned thread = 0; thread < lanes.count; ++thread)
    storeRow<count>(lanes, thread, TensorMemory::laneOf(address) + thread,
                    TensorMemory::columnOf(address), 8);
}

/// Where a thread of a warp begins to access 16 lanes of so many columns twice, which lie apart by
/// a number of columns (PTX ISA, tcgen05.ld, `.16x32bx2`): the first 16 threads have the first.
std::pair<unsigned, unsigned> placeInHalf(uint32_t address, uint64_t apart, unsigned thread) {
  return {TensorMemory::laneOf(address) + thread % 16,
          TensorMemory::columnOf(address) + (thread >= 16 ? unsigned(apart) : 0)};
}

/// Operands: the address, how far apart the two accesses are, then the columns.
template <unsigned count>
void storeHalves(const Lanes &lanes) {
  auto address = lanes.read<uint32_t>(0, 0);
  if (!reaches(lanes, address, 16))
    return;
  for (unsigned thread = 0; thread < lanes.count; ++thread) {
    auto [lane, column] = placeInHalf(address, lanes.read<uint64_t>(thread, 8), thread);
    storeRow<count>(lanes, thread, lane, column, 16);
  }
}

void waitForStores(const Lanes &lanes) { tensors().waitForWrites(lanes.first / 32); }

/// A thread gets so many columns of one lane.
template <unsigned count>
void load(const Lanes &lanes) {
  auto address = lanes.read<uint32_t>(0, 0);
  if (!reaches(lanes, address))
    return;
  analysis::Event reads = Block::current()->startReads(lanes.first / 32);
  for (unsigned thread = 0; thread < lanes.count; ++thread)
    loadRow<count>(lanes, reads, thread, TensorMemory::laneOf(address) + thread,
                   TensorMemory::columnOf(address));
}

template <unsigned count>
void loadHalves(const Lanes &lanes) {
  auto address = lanes.read<uint32_t>(0, 0);
  if (!reaches(lanes, address, 16))
    return;
  analysis::Event reads = Block::current()->startReads(lanes.first / 32);
  for (unsigned thread = 0; thread < lanes.count; ++thread) {
    auto [lane, column] = placeInHalf(address, lanes.read<uint64_t>(thread, 8), thread);
    loadRow<count>(lanes, reads, thread, lane, column);
  }
}

/// Operands: how many registers, and these, which come back.
void waitForLoads(const Lanes &lanes) {
  Block &block = *Block::current();
  block.waitForReads(lanes);
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    for (unsigned i = 0, count = lanes.read<uint32_t>(0, 0); i < count; ++i)
      lanes.write(lane, i, block.fetchValue(lanes.first + lane, lanes.read<uint32_t>(lane, 4, i)));
}

void fenceBefore(const Lanes &) {
  SharedMemory &shared = Block::current()->getShared();
  shared.order().fenceBefore(shared.agentOf(Block::current()->currentThread()));
}

void fenceAfter(const Lanes &) {
  SharedMemory &shared = Block::current()->getShared();
  shared.order().fenceAfter(shared.agentOf(Block::current()->currentThread()));
}
} // namespace

const Instruction kiln::emulated::kTensorInstructions[] = {
    {"nvvm.tcgen05.alloc.shared.cg1", true, allocate<1>},
    {"nvvm.tcgen05.alloc.shared.cg2", true, allocate<2>},
    {"nvvm.tcgen05.relinq.alloc.permit.cg1", true, endAllocations<1>},
    {"nvvm.tcgen05.relinq.alloc.permit.cg2", true, endAllocations<2>},
    {"nvvm.tcgen05.dealloc.cg1", true, release<1>},
    {"nvvm.tcgen05.dealloc.cg2", true, release<2>},
    {"nvvm.tcgen05.mma.shared", false, multiply<false>},
    {"nvvm.tcgen05.mma.tensor", false, multiply<true>},
    {"nvvm.tcgen05.commit.shared.cg1", false, commit<1>},
    {"nvvm.tcgen05.commit.shared.cg2", false, commit<2>},
    {"nvvm.tcgen05.commit.mc.shared.cg1", false, commitToMany<1>},
    {"nvvm.tcgen05.commit.mc.shared.cg2", false, commitToMany<2>},
    {"nvvm.tcgen05.ld.32x32b.x16", true, load<16>},
    {"nvvm.tcgen05.ld.32x32b.x32", true, load<32>},
    {"nvvm.tcgen05.ld.32x32b.x64", true, load<64>},
    {"nvvm.tcgen05.ld.16x32bx2.x4", true, loadHalves<4>},
    {"nvvm.tcgen05.ld.16x32bx2.x8", true, loadHalves<8>},
    {"nvvm.tcgen05.ld.16x32bx2.x16", true, loadHalves<16>},
    {"nvvm.tcgen05.st.16x32bx2.x4", true, storeHalves<4>},
    {"nvvm.tcgen05.st.16x32bx2.x8", true, storeHalves<8>},
    {"nvvm.tcgen05.st.16x32bx2.x16", true, storeHalves<16>},
    {"nvvm.tcgen05.ld.32x32b.x8", true, load<8>},
    {"nvvm.tcgen05.st.32x32b.x1", true, store<1>},
    {"nvvm.tcgen05.st.32x32b.x2", true, store<2>},
    {"nvvm.tcgen05.st.32x32b.x4", true, store<4>},
    {"nvvm.tcgen05.st.32x32b.x8", true, store<8>},
    {"nvvm.tcgen05.st.32x32b.x16", true, store<16>},
    {"nvvm.tcgen05.st.32x32b.x32", true, store<32>},
    {"nvvm.tcgen05.st.32x32b.x64", true, store<64>},
    {"nvvm.tcgen05.wait.st", true, waitForStores},
    {"kiln.tcgen05.wait.ld", true, waitForLoads},
    {"nvvm.tcgen05.fence.before.thread.sync", false, fenceBefore},
    {"nvvm.tcgen05.fence.after.thread.sync", false, fenceAfter},
    {nullptr, false, nullptr},
};
