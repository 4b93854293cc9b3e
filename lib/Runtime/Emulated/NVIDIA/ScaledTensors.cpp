// NVIDIA's products of blocks with scales into tensor memory, by the PTX ISA (tcgen05.mma, "Block
// scaling" and "Instruction descriptor").
#include "../Block.h"
#include "Matrix.h"
#include <cmath>
#include <limits>

using namespace kiln;
using namespace kiln::emulated;

namespace {

/// Those of `.kind::mxf8f6f4`, `.kind::mxf4` and `.kind::mxf4nvf4`.
enum class Kind { Bytes, Nibbles, NibblesByAny };

/// What the instruction descriptor says.
struct ScaledInstruction {
  explicit ScaledInstruction(uint32_t bits)
      : b(bits >> 4 & 3), formatA(bits >> 7 & 7), formatB(bits >> 10 & 7), isAlongM(bits >> 15 & 1),
        isAlongN(bits >> 16 & 1), n((bits >> 17 & 63) * 8), isPower(bits >> 23 & 1),
        m((bits >> 27 & 3) * 128), a(bits >> 29 & 3),
        others(bits & ~(3u << 4 | 7u << 7 | 7u << 10 | 3u << 15 | 63u << 17 | 1u << 23 | 3u << 27 |
                        3u << 29)) {}
  unsigned b, formatA, formatB;
  bool isAlongM, isAlongN;
  unsigned n;
  bool isPower;
  unsigned m, a, others;
};

/// How many scales of a row one instruction takes: one for each block along k.
unsigned countScales(Kind kind, unsigned block) { return kind == Kind::Bytes ? 1 : 64 / block; }

/// Elements of fewer bits than a byte lie among bytes in another way; of these there are none here.
bool isKnown(const ScaledInstruction &how, Kind kind, unsigned block, unsigned blocks) {
  bool isBytes = kind == Kind::Bytes;
  unsigned least = isBytes ? 0 : 1;
  bool areTypes =
      how.formatA >= least && how.formatA <= 1 && how.formatB >= least && how.formatB <= 1;
  bool areScales = how.isPower ? true : kind == Kind::NibblesByAny && block == 16;
  unsigned step = countScales(kind, block);
  bool arePlaces = how.a % step == 0 && how.b % step == 0;
  bool areRows = isBytes || (!how.isAlongM && !how.isAlongN);
  unsigned columns = blocks == 1 ? 8 : 16;
  return (blocks == 1 || blocks == 2) && !how.others && areTypes && areScales && arePlaces &&
         areRows && how.m == 128 * blocks && how.n % columns == 0 && how.n >= columns &&
         how.n <= 256;
}

double widenScale(bool isPower, uint8_t bits) {
  if (!isPower)
    return widenE4M3(bits);
  return bits == 0xff ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, int(bits) - 127);
}

/// Reads a scale of a row, which all four warps' lanes must hold.
std::string readScale(const TensorMemory &memory, uint32_t address, bool isPower, unsigned row,
                      unsigned byte, double &scale) {
  unsigned column = TensorMemory::columnOf(address) + row / 32, lane = row % 32;
  for (unsigned warp = 0; warp < 4; ++warp)
    if (!memory.isWritten(32 * warp + lane, column))
      return "a product by scales in tensor memory which nothing has written, in lane " +
             std::to_string(32 * warp + lane) + " of column " + std::to_string(column);
  auto bits = uint8_t(memory.get(lane, column) >> 8 * byte);
  for (unsigned warp = 1; warp < 4; ++warp)
    if (uint8_t(memory.get(32 * warp + lane, column) >> 8 * byte) != bits)
      return "a product by scales in tensor memory that are not the same in the lanes of all warps";
  if (!isPower && bits & 0x80)
    return "a product by a scale below zero, whose format has no sign";
  scale = widenScale(isPower, bits);
  return "";
}

/// Operands: the sums, descriptors of a, of b and of the instruction, whether the sums count, the
/// scales of a and of b; then how many blocks multiply together.
template <Kind kind, unsigned block>
void multiply(const Lanes &lanes) {
  auto address = lanes.read<uint32_t>(0, 0);
  auto a = lanes.read<uint64_t>(0, 8), b = lanes.read<uint64_t>(0, 16);
  ScaledInstruction how(lanes.read<uint32_t>(0, 24));
  bool accumulates = lanes.read<uint8_t>(0, 28) & 1;
  auto scalesA = lanes.read<uint32_t>(0, 29), scalesB = lanes.read<uint32_t>(0, 37);
  auto blocks = lanes.read<uint32_t>(0, 45);
  Block *own = Block::current();
  if (!isKnown(how, kind, block, blocks))
    own->fail("a product by scales of a form that the emulator does not know");
  for (uint64_t descriptor : {a, b})
    checkTensorDescriptor(*own, descriptor);
  if (std::string wrong = own->tensors.useFor(blocks); !wrong.empty())
    own->fail(wrong);
  constexpr bool isBytes = kind == Kind::Bytes;
  constexpr unsigned depth = isBytes ? 32 : 64;
  auto widen = [](unsigned format, uint32_t bits) {
    if constexpr (!isBytes)
      return widenE2M1(uint8_t(bits));
    return format == 0 ? widenE4M3(uint8_t(bits)) : widenE5M2(uint8_t(bits));
  };
  unsigned rowsOfBlock = how.m / blocks, columnsOfBlock = how.n / blocks;
  auto run = [=]() -> std::string {
    // Of two blocks each has its own rows of a and an equal part of b's rows of n. In tensor memory
    // it has the scales of its rows of a, and those of all of b's.
    std::vector<Block *> all = {own};
    if (blocks == 2)
      all = {own->getOfPair(0), own->getOfPair(1)};
    auto read = [&](double *elements, Block &from, unsigned rows, uint64_t descriptor,
                    bool isAcross, unsigned format) {
      Matrix matrix(from, *own, descriptor, isAcross, 1);
      for (unsigned row = 0; row < rows; ++row)
        for (unsigned k = 0; k < depth; ++k)
          elements[row * depth + k] =
              widen(format, isBytes ? matrix.at(row, k) : matrix.nibbleAt(row, k));
    };
    /// Multiplies each element by its scale.
    auto scale = [&](std::vector<double> &elements, const TensorMemory &memory, unsigned rows,
                     uint32_t scales, unsigned place) -> std::string {
      for (unsigned row = 0; row < rows; ++row)
        for (unsigned k = 0; k < depth; ++k) {
          double factor = 0;
          std::string wrong =
              readScale(memory, scales, how.isPower, row, place + k / block, factor);
          if (!wrong.empty())
            return wrong;
          elements[row * depth + k] *= factor;
        }
      return "";
    };
    std::vector<double> right(how.n * depth);
    for (unsigned i = 0; i < blocks; ++i)
      read(&right[i * columnsOfBlock * depth], *all[i], columnsOfBlock, b, how.isAlongN,
           how.formatB);
    for (Block *each : all) {
      TensorMemory &memory = each->tensors;
      std::vector<double> x(rowsOfBlock * depth), y = right;
      read(x.data(), *each, rowsOfBlock, a, how.isAlongM, how.formatA);
      std::string wrong = scale(x, memory, rowsOfBlock, scalesA, how.a);
      if (wrong.empty())
        wrong = scale(y, memory, how.n, scalesB, how.b);
      if (!wrong.empty())
        return wrong;
      for (unsigned row = 0; row < rowsOfBlock; ++row)
        for (unsigned column = 0; column < how.n; ++column) {
          unsigned at = TensorMemory::columnOf(address) + column;
          if (accumulates && !memory.isWritten(row, at))
            return "a product that adds to a sum in tensor memory which nothing has written";
          float before = 0;
          uint32_t bits = accumulates ? memory.get(row, at) : 0;
          std::memcpy(&before, &bits, sizeof(before));
          double sum = before;
          for (unsigned k = 0; k < depth; ++k)
            sum += x[row * depth + k] * y[column * depth + k];
          auto rounded = float(sum);
          std::memcpy(&bits, &rounded, sizeof(bits));
          memory.set(row, at, bits);
        }
    }
    return "";
  };
  analysis::Event event = own->tensors.startReads(own->currentThread());
  analysis::Agent by = own->getShared().agentOf(own->currentThread());
  for (unsigned i = 0; i < blocks; ++i) {
    Block &each = blocks == 2 ? *own->getOfPair(i) : *own;
    constexpr unsigned depthBytes = isBytes ? depth : depth / 2;
    std::string wrong =
        Matrix(each, *own, b, how.isAlongN, 1).startReads(by, event, 0, columnsOfBlock, depthBytes);
    if (wrong.empty())
      wrong =
          Matrix(each, *own, a, how.isAlongM, 1).startReads(by, event, 0, rowsOfBlock, depthBytes);
    if (!wrong.empty())
      own->fail(wrong);
  }
  auto getColumns = [](uint32_t scales, unsigned rows) {
    return TensorMemory::Columns{scales, (rows + 31) / 32};
  };
  std::string wrong =
      own->tensors.start(own->currentThread(), {address, how.n},
                         {getColumns(scalesA, rowsOfBlock), getColumns(scalesB, how.n)}, run);
  if (!wrong.empty())
    own->fail(wrong);
}
} // namespace

const Instruction kiln::emulated::kScaledInstructions[] = {
    {"nvvm.tcgen05.mma.shared.mxf8f6f4.block_scale", false, multiply<Kind::Bytes, 32>},
    {"nvvm.tcgen05.mma.shared.mxf4.block_scale", false, multiply<Kind::Nibbles, 32>},
    {"nvvm.tcgen05.mma.shared.mxf4nvf4.block_scale.block16", false,
     multiply<Kind::NibblesByAny, 16>},
    {nullptr, false, nullptr},
};
