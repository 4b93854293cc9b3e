// NVIDIA's instructions of chips whose engines work beside their warps, by the PTX ISA (sections
// "mbarrier", "bar", "cp.async.bulk.tensor", "stmatrix" and "wgmma.mma_async").
#include "../Block.h"
#include "Matrix.h"
#include "Sums.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <limits>
#include <vector>

using namespace llvm;
using namespace kiln;
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
  check(engines().initBarrier(thread(), lanes.read<uint64_t>(0, 0), lanes.read<uint32_t>(0, 8)));
}

void arrive(const Lanes &lanes) {
  check(engines().arrive(thread(), lanes.read<uint64_t>(0, 0), 0));
  lanes.write<uint64_t>(0, 0, 0);
}

void arriveExpecting(const Lanes &lanes) {
  check(engines().arrive(thread(), lanes.read<uint64_t>(0, 0), lanes.read<uint32_t>(0, 8)));
  lanes.write<uint64_t>(0, 0, 0);
}

void mapToBlock(const Lanes &lanes) {
  auto address = lanes.read<uint64_t>(0, 0);
  check(engines().mapTo(lanes.read<uint32_t>(0, 8), address));
  lanes.write<uint64_t>(0, 0, address);
}

template <Reach reach>
void arriveOutside(const Lanes &lanes) {
  if (lanes.read<uint32_t>(0, 8) != 1)
    check("an arrival in a cluster that counts more than once, which the emulator does not know");
  check(engines().arrive(thread(), lanes.read<uint64_t>(0, 0), 0, reach));
}

void fenceBarriers(const Lanes &) { engines().fenceBarriers(thread()); }
void waitForLaunch(const Lanes &) { Block::current()->waitForLaunch(); }

void arriveAtCluster(const Lanes &) { Block::current()->arriveAtCluster(); }
void waitForCluster(const Lanes &) { Block::current()->waitForCluster(); }

/// Blocks until it succeeds.
template <Reach reach>
void tryWait(const Lanes &lanes) {
  auto address = lanes.read<uint64_t>(0, 0);
  auto parity = lanes.read<uint32_t>(0, 8);
  Block *block = Block::current();
  unsigned thread = block->currentThread();
  check(engines().use(thread, address));
  block->waitUntil(
      [=] {
        bool hasEnded = block->engines.poll(address, parity);
        if (hasEnded)
          return true;
        if (std::string wrong = block->landCommits(address); !wrong.empty())
          block->stop(wrong);
        return block->engines.poll(address, parity);
      },
      [=] { return block->engines.describe(address); });
  block->engines.hear(thread, address, reach);
  lanes.write<uint8_t>(0, 0, 1);
}

void groupBarrier(const Lanes &lanes) {
  auto barrier = lanes.read<int32_t>(0, 0);
  Block *block = Block::current();
  auto threads = lanes.read<uint32_t>(0, 4);
  check(block->engines.checkComing(thread(), barrier, threads));
  auto round = block->engines.come(thread(), barrier, threads);
  block->waitUntil([=] { return round->hasEnded; },
                   [=] {
                     return "barrier " + std::to_string(barrier) + ", to which " +
                            std::to_string(round->waiting) + " of " + std::to_string(threads) +
                            " threads have come";
                   });
  block->engines.leave(thread(), *round);
}

/// What the thread knows to be written, an engine that it starts or tells finds.
void fenceProxy(const Lanes &) {
  SharedMemory &shared = Block::current()->getShared();
  shared.order().fence(shared.agentOf(thread()));
}

void fenceProxyOfGlobal(const Lanes &) { Block::current()->fenceProxy(); }

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

/// A mask of 16 bits stands behind the coordinates, then a policy, whether there are both, and of
/// how many blocks that multiply together it is.
void loadBoxes(const Lanes &lanes) {
  const auto &map = *lanes.read<const TensorMap *>(0, 16);
  unsigned behind = 24 + 4 * map.rank;
  bool hasMask = lanes.read<uint8_t>(0, behind + 10);
  auto to = lanes.read<uint64_t>(0, 0), barrier = lanes.read<uint64_t>(0, 8);
  Place place(lanes, 24, map.rank);
  uint32_t mask = hasMask ? lanes.read<uint16_t>(0, behind) : 1u << engines().getNumber();
  if (lanes.read<uint32_t>(0, behind + 12) == 2)
    return check(engines().startLoadsOfPairs(thread(), to, barrier, map, place.at, mask));
  if (!hasMask)
    check("a copy to other blocks without a mask, which the emulator does not know");
  check(engines().startLoads(thread(), to, barrier, map, place.at, mask));
}

void storeBox(const Lanes &lanes) {
  const auto &map = *lanes.read<const TensorMap *>(0, 8);
  check(engines().startStore(thread(), lanes.read<uint64_t>(0, 0), map,
                             Place(lanes, 16, map.rank).at));
}

void commitStores(const Lanes &) { engines().commitStores(thread()); }

template <bool areReadAlone>
void waitStores(const Lanes &lanes) {
  engines().waitStores(thread(), lanes.read<uint32_t>(0, 0), areReadAlone);
}

//===- Matrices to shared memory ------------------------------------------------------------===//

/// Lanes 8 m to 8 m + 7 name the rows of matrix m; a lane holds of row lane / 4 of each the two
/// units from 2 (lane mod 4) on; transposed, of what is a column in memory.
template <unsigned count, bool transposed>
void storeMatrices(const Lanes &lanes) {
  for (unsigned matrix = 0; matrix < count; ++matrix) {
    uint16_t rows[8][8];
    for (unsigned lane = 0; lane < lanes.count; ++lane)
      for (unsigned unit = 0; unit < 2; ++unit) {
        unsigned row = lane / 4, column = 2 * (lane & 3) + unit;
        if (transposed)
          std::swap(row, column);
        rows[row][column] = uint16_t(lanes.read<uint32_t>(lane, 8, matrix) >> 16 * unit);
      }
    for (unsigned row = 0; row < 8; ++row) {
      unsigned lane = 8 * matrix + row;
      std::string wrong = Block::current()->writeShared(
          lanes.first + lane, lanes.read<uint64_t>(lane, 0), rows[row], sizeof(rows[row]));
      if (!wrong.empty())
        return Block::current()->stop(wrong);
    }
  }
}

//===- Products of warp groups --------------------------------------------------------------===//

constexpr unsigned kRowBytes = 32; // of each operand along k

/// A type of operands or sums, as the instruction spells it.
struct Element {
  StringLiteral name;
  unsigned bytes;
  double (*widen)(uint32_t bits);
  FloatForm form;
};
constexpr Element kElements[] = {
    {"f16", 2, [](uint32_t bits) { return widenHalf(uint16_t(bits)); }, kHalf},
    {"bf16", 2, [](uint32_t bits) { return widenBFloat(uint16_t(bits)); }, kBFloat},
    {"tf32", 4, [](uint32_t bits) { return widenTF32(bits); }, kTF32},
    {"e4m3", 1, [](uint32_t bits) { return widenE4M3(uint8_t(bits)); }, kE4M3},
    {"e5m2", 1, [](uint32_t bits) { return widenE5M2(uint8_t(bits)); }, kE5M2},
    {"s8", 1, [](uint32_t bits) { return double(int8_t(bits)); }, {0, 7}},
    {"u8", 1, [](uint32_t bits) { return double(uint8_t(bits)); }, {0, 8}},
};

const Element *findElement(StringRef name) {
  for (const Element &element : kElements)
    if (element.name == name)
      return &element;
  return nullptr;
}

/// "m64n128k16.f32.bf16.bf16": n, whether sums are integers, and the types of a and b.
struct GroupForm {
  explicit GroupForm(StringRef text) {
    auto [shape, types] = text.split('.');
    auto [sums, factors] = types.split('.');
    auto [first, second] = factors.split('.');
    unsigned depth;
    if (!shape.consume_front("m64n") || shape.consumeInteger(10, columns) ||
        !shape.consume_front("k") || shape.getAsInteger(10, depth) ||
        (sums != "f32" && sums != "s32"))
      return;
    isInteger = sums == "s32";
    const Element *x = findElement(first), *y = findElement(second);
    if (x && y && x->bytes == y->bytes && depth * x->bytes == kRowBytes)
      a = x, b = y;
  }
  unsigned columns = 0;
  bool isInteger = false;
  const Element *a = nullptr, *b = nullptr; ///< null if the form is none of the instruction's
};

/// One warp's 16 rows of a product. Operands: whether a is in registers, whether it and b are
/// transposed; then those of the statement: a, b, whether the accumulators count, the accumulators.
void multiplyGroup(const Lanes &lanes) {
  StringRef name = lanes.name;
  name.consume_front("kiln.wgmma.");
  GroupForm form(name);
  if (!form.a)
    return Block::current()->stop(std::string("the emulator does not know the instruction '") +
                                  lanes.name + "'");
  if (!Block::current()->hasFencedRegisters(lanes.first / 32))
    return Block::current()->stop(
        "expected a 'wgmma.fence' between the last wait and this product: "
        "its registers may still be in use");
  auto inRegisters = lanes.read<uint32_t>(0, 0);
  bool transposedA = lanes.read<uint32_t>(0, 4), transposedB = lanes.read<uint32_t>(0, 8);
  unsigned offsetA = 12, offsetB = offsetA + (inRegisters ? 16 : 8), accumulators = offsetB + 12;
  unsigned firstRow = lanes.first / 32 % 4 * 16, depth = kRowBytes / form.a->bytes;
  std::vector<Factor> a(16 * depth), b(form.columns * depth);
  Block &block = *Block::current();
  analysis::Event event = block.startProduct(lanes.first / 32);
  analysis::Agent by = block.getShared().agentOf(lanes.first);
  if (inRegisters) {
    // Words of a row go round four lanes, twice; of each word first row and row + 8.
    unsigned perWord = 4 / form.a->bytes;
    llvm::hash_code read = 0;
    for (unsigned lane = 0; lane < lanes.count; ++lane)
      for (unsigned i = 0; i < 4 * perWord; ++i) {
        unsigned word = i / perWord, row = lane / 4 + (word & 1 ? 8 : 0);
        unsigned k = (lane % 4 + (word & 2 ? 4 : 0)) * perWord + i % perWord;
        uint32_t whole = lanes.read<uint32_t>(lane, offsetA, word);
        read = llvm::hash_combine(read, whole);
        uint32_t bits = whole >> (8 * form.a->bytes * (i % perWord));
        a[row * depth + k] = Factor(form.a->widen(bits), form.a->form);
      }
    if (block.useRegisters(lanes.first / 32, event, read))
      return block.stop(
          "expected a wait for the earlier product of this instruction, which still reads the "
          "registers that have been written since");
  } else {
    Matrix matrix(block, lanes.read<uint64_t>(0, offsetA), transposedA, form.a->bytes);
    if (auto wrong = matrix.startReads(by, event, firstRow, 16, depth); !wrong.empty())
      return block.stop(wrong);
    for (unsigned row = 0; row < 16; ++row)
      for (unsigned k = 0; k < depth; ++k)
        a[row * depth + k] = Factor(form.a->widen(matrix.at(firstRow + row, k)), form.a->form);
  }
  Matrix matrix(block, lanes.read<uint64_t>(0, offsetB), transposedB, form.b->bytes);
  if (auto wrong = matrix.startReads(by, event, 0, form.columns, depth); !wrong.empty())
    return block.stop(wrong);
  for (unsigned column = 0; column < form.columns; ++column)
    for (unsigned k = 0; k < depth; ++k)
      b[column * depth + k] = Factor(form.b->widen(matrix.at(column, k)), form.b->form);
  bool accumulates = lanes.read<uint32_t>(0, offsetB + 8);
  auto readSum = [&](unsigned lane, unsigned i) {
    return block.takeValue(lanes.first + lane, lanes.read<uint32_t>(lane, accumulators, i));
  };
  auto write = [&](unsigned lane, unsigned i, uint32_t bits) {
    lanes.write(lane, i, block.tagValue(lanes.first + lane, event, bits));
  };
  SumLaw law = getGroupLaw(form.a->bytes);
  unsigned fraction = form.a->form.fraction + form.b->form.fraction;
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    for (unsigned i = 0; i < form.columns / 2; ++i) {
      unsigned row = lane / 4 + (i & 2 ? 8 : 0);
      unsigned column = i / 4 * 8 + lane % 4 * 2 + (i & 1);
      const Factor *x = &a[row * depth], *y = &b[column * depth];
      if (form.isInteger) {
        // Whole numbers wrap round.
        double sum = 0;
        for (unsigned k = 0; k < depth; ++k)
          sum += x[k].value * y[k].value;
        write(lane, i, (accumulates ? readSum(lane, i) : 0) + uint32_t(int32_t(sum)));
      } else {
        float before = accumulates ? llvm::bit_cast<float>(readSum(lane, i)) : 0.0f;
        float sum = addProducts(x, y, depth, fraction, before, law);
        write(lane, i, llvm::bit_cast<uint32_t>(sum));
      }
    }
}

void fenceRegisters(const Lanes &lanes) { Block::current()->fenceRegisters(lanes.first / 32); }

void endProducts(const Lanes &lanes) { Block::current()->endProducts(lanes.first / 32); }

void waitForProducts(const Lanes &lanes) {
  Block::current()->waitForProducts(lanes, unsigned(lanes.read<uint64_t>(0, 0)));
}

/// Operands: how many groups stay in flight, how many registers, and these, which come back.
void fetchSums(const Lanes &lanes) {
  waitForProducts(lanes);
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    for (unsigned i = 0, count = lanes.read<uint32_t>(0, 8); i < count; ++i)
      lanes.write(
          lane, i,
          Block::current()->fetchValue(lanes.first + lane, lanes.read<uint32_t>(lane, 12, i)));
}
} // namespace

const Instruction kiln::emulated::kEngineInstructions[] = {
    {"nvvm.mbarrier.init.shared", false, initBarrier},
    {"nvvm.fence.mbarrier_init.release.cluster", false, fenceBarriers},
    {"nvvm.griddepcontrol.wait", false, waitForLaunch},
    {"nvvm.mbarrier.arrive.shared", false, arrive},
    {"nvvm.mbarrier.arrive.expect.tx.scope.cta.space.cta", false, arriveExpecting},
    {"nvvm.mbarrier.test.wait.parity.scope.cta.space.cta", false, tryWait<Reach::Block>},
    {"nvvm.mbarrier.try.wait.parity.scope.cta.space.cta", false, tryWait<Reach::Block>},
    {"nvvm.mbarrier.try.wait.parity.scope.cluster.space.cta", false, tryWait<Reach::Cluster>},
    {"nvvm.mbarrier.arrive.scope.cta.space.cluster", false, arriveOutside<Reach::Block>},
    {"nvvm.mbarrier.arrive.scope.cluster.space.cluster", false, arriveOutside<Reach::Cluster>},
    {"nvvm.mapa.shared.cluster", false, mapToBlock},
    {"nvvm.barrier.cluster.arrive", false, arriveAtCluster},
    {"nvvm.barrier.cluster.wait", false, waitForCluster},
    {"nvvm.barrier.cta.sync.aligned.count", false, groupBarrier},
    {"nvvm.cp.async.bulk.tensor.g2s.cta.tile", false, loadBox, Suffix::Rank},
    {"nvvm.cp.async.bulk.tensor.g2s.tile", false, loadBoxes, Suffix::Rank},
    {"nvvm.cp.async.bulk.tensor.s2g.tile", false, storeBox, Suffix::Rank},
    {"nvvm.cp.async.bulk.commit.group", false, commitStores},
    {"nvvm.cp.async.bulk.wait.group", false, waitStores<false>},
    {"nvvm.cp.async.bulk.wait.group.read", false, waitStores<true>},
    {"nvvm.stmatrix.sync.aligned.m8n8.x1.b16", true, storeMatrices<1, false>, Suffix::Shared},
    {"nvvm.stmatrix.sync.aligned.m8n8.x1.trans.b16", true, storeMatrices<1, true>, Suffix::Shared},
    {"nvvm.stmatrix.sync.aligned.m8n8.x2.b16", true, storeMatrices<2, false>, Suffix::Shared},
    {"nvvm.stmatrix.sync.aligned.m8n8.x2.trans.b16", true, storeMatrices<2, true>, Suffix::Shared},
    {"nvvm.stmatrix.sync.aligned.m8n8.x4.b16", true, storeMatrices<4, false>, Suffix::Shared},
    {"nvvm.stmatrix.sync.aligned.m8n8.x4.trans.b16", true, storeMatrices<4, true>, Suffix::Shared},
    {"nvvm.fence.proxy.async.shared_cta", false, fenceProxy},
    {"nvvm.fence.proxy.async.global", false, fenceProxyOfGlobal},
    {"nvvm.wgmma.fence.sync.aligned", true, fenceRegisters},
    {"kiln.wgmma", true, multiplyGroup, Suffix::Shape},
    {"nvvm.wgmma.commit_group.sync.aligned", true, endProducts},
    {"nvvm.wgmma.wait_group.sync.aligned", true, waitForProducts},
    {"kiln.wgmma.wait", true, fetchSums},
    {nullptr, false, nullptr},
};
