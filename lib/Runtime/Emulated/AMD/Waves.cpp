// AMD's wave instructions, by the ISA manuals of CDNA and RDNA: what moves between lanes and
// memory.
#include "../Block.h"
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <string>

using namespace kiln;
using namespace kiln::emulated;

namespace {

/// Which lane gives its value: the address is in bytes, four a lane, and wraps.
void permute(const Lanes &lanes) {
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    unsigned from = (lanes.read<uint32_t>(lane, 0) >> 2) % lanes.count;
    lanes.write(lane, 0, lanes.read<uint32_t>(from, 4));
  }
}

/// Data-parallel primitives: each lane names its source within its row of sixteen by a pattern.
/// Operands: what stays where there is no source, the value, the pattern, masks of rows and banks.
void permuteRows(const Lanes &lanes) {
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    uint32_t control = lanes.read<uint32_t>(lane, 8), by = control & 15;
    unsigned row = lane & ~15u, at = lane & 15, from = at;
    bool valid = true;
    if (control < 0x100) { // a permutation of quads
      from = (at & ~3u) | (control >> 2 * (at & 3) & 3);
    } else if (control >= 0x101 && control <= 0x10f) { // shifts
      from = at + by;
      valid = from < 16;
    } else if (control >= 0x111 && control <= 0x11f) {
      from = at - by;
      valid = at >= by;
    } else if (control >= 0x121 && control <= 0x12f) { // a rotation
      from = (at - by) & 15;
    } else if (control == 0x140) { // mirrors
      from = 15 - at;
    } else if (control == 0x141) {
      from = at ^ 7;
    } else if (control >= 0x150 && control <= 0x15f) { // one lane for all
      from = by;
    } else if (control >= 0x160 && control <= 0x16f) {
      from = at ^ by;
    } else {
      Block::current()->stop("the emulator does not know the DPP pattern " +
                             std::to_string(control));
      return;
    }
    bool isMasked = !(lanes.read<uint32_t>(lane, 12) >> (lane / 16 & 3) & 1) ||
                    !(lanes.read<uint32_t>(lane, 16) >> (at / 4) & 1);
    uint32_t otherwise = lanes.read<uint32_t>(lane, 0);
    if (!isMasked && !valid && lanes.read<uint8_t>(lane, 20))
      otherwise = 0;
    lanes.write(lane, 0, isMasked || !valid ? otherwise : lanes.read<uint32_t>(row + from, 4));
  }
}

/// Each lane names, in four bits, a lane of the other row of its pair.
void permuteAcrossRows(const Lanes &lanes) {
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    unsigned at = lane & 15;
    unsigned from = lanes.read<uint32_t>(lane, at < 8 ? 8 : 12) >> 4 * (at & 7) & 15;
    lanes.write(lane, 0, lanes.read<uint32_t>(((lane & ~15u) ^ 16) + from, 4));
  }
}

/// Exchanges the odd rows of `Size` lanes of the first operand with the even ones of the second.
template <unsigned Size>
void swapRows(const Lanes &lanes) {
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    bool isOdd = lane & Size;
    lanes.write(lane, 0,
                isOdd ? lanes.read<uint32_t>(lane - Size, 4) : lanes.read<uint32_t>(lane, 0));
    lanes.write(lane, 1,
                isOdd ? lanes.read<uint32_t>(lane, 4) : lanes.read<uint32_t>(lane + Size, 0));
  }
}

/// How many of the lanes below this one a mask has, of the lower or the upper 32, and an addend.
template <unsigned Base>
void countBelow(const Lanes &lanes) {
  Block &block = *Block::current();
  unsigned lane = block.currentThread() % block.launch.warpSize;
  unsigned below = lane <= Base ? 0 : lane - Base;
  uint32_t mask = below >= 32 ? ~0u : (1u << below) - 1;
  lanes.write<uint32_t>(
      0, 0, __builtin_popcount(lanes.read<uint32_t>(0, 0) & mask) + lanes.read<uint32_t>(0, 4));
}

/// 53 bits of 2/π, from where the segment and a large operand's exponent say, at their magnitude:
/// what `V_TRIG_PREOP_F64` looks up.
void takeTurns(const Lanes &lanes) {
  // 2/π, 64 bits a word, from its first bit behind the point on.
  static constexpr uint64_t kTurns[] = {
      0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
      0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
      0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
      0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
      0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab};
  constexpr int kSegment = 53, kLargest = 1077, kScaled = 1968;
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    int exponent = int(lanes.read<uint64_t>(lane, 0) >> 52 & 0x7ff);
    int shift = int(lanes.read<uint32_t>(lane, 8) & 31) * kSegment;
    if (exponent > kLargest)
      shift += exponent - kLargest;
    uint64_t bits = 0;
    for (int i = 0; i < kSegment; ++i) {
      unsigned at = unsigned(shift + i);
      uint64_t bit = at / 64 < std::size(kTurns) ? kTurns[at / 64] >> (63 - at % 64) & 1 : 0;
      bits = bits << 1 | bit;
    }
    int scale = -kSegment - shift + (exponent >= kScaled ? 128 : 0);
    lanes.write(lane, 0, std::ldexp(double(bits), scale));
  }
}

/// The hidden arguments start with the number of blocks.
void hiddenArguments(const Lanes &lanes) {
  lanes.write<const void *>(0, 0, Block::current()->hidden);
}

//===- Buffers ------------------------------------------------------------------------------===//

/// The bytes of a type as LLVM's names spell it: v4i32, i16, bf16.
unsigned bytesOf(const char *name) {
  const char *type = std::strrchr(name, '.') + 1;
  unsigned count = 1, bits = 0;
  if (*type == 'v')
    count = std::strtoul(type + 1, const_cast<char **>(&type), 10);
  while (*type && (*type < '0' || *type > '9'))
    ++type;
  bits = std::strtoul(type, nullptr, 10);
  return count * bits / 8;
}

/// The address, or null if the offset is not below the descriptor's size: a descriptor, what each
/// lane adds and what all add, from `offset` bytes into the operands on. Only the first is checked.
char *locate(const Lanes &lanes, unsigned offset, unsigned bytes, unsigned lane = 0,
             unsigned between = 0) {
  struct Descriptor {
    char *base;
    uint64_t size;
  };
  auto *buffer = lanes.read<const Descriptor *>(lane, offset);
  offset += sizeof(Descriptor *) + between;
  uint32_t own = lanes.read<uint32_t>(lane, offset), common = lanes.read<uint32_t>(lane, offset, 1);
  return uint64_t(own) + bytes <= buffer->size ? buffer->base + own + common : nullptr;
}

enum AccessKind { reading = 1, writing = 2 };

void loadFromBuffer(const Lanes &lanes) {
  unsigned bytes = bytesOf(lanes.name);
  const char *address = locate(lanes, 0, bytes);
  if (!address)
    return std::memset(lanes.results[0], 0, bytes), void();
  Block::current()->access(reinterpret_cast<uint64_t>(address), bytes, reading, nullptr);
  std::memcpy(lanes.results[0], address, bytes);
}

void storeToBuffer(const Lanes &lanes) {
  unsigned bytes = bytesOf(lanes.name);
  char *address = locate(lanes, bytes, bytes);
  if (!address)
    return;
  Block::current()->access(reinterpret_cast<uint64_t>(address), bytes, writing, lanes.operands[0]);
  std::memcpy(address, lanes.operands[0], bytes);
}

/// Lane by lane behind one another from the place on that all of them name (by M0). The operands:
/// a descriptor, the place, the bytes of a lane, and what else makes an address.
void loadToLDS(const Lanes &lanes) {
  constexpr unsigned behindDescriptor = 8, behindPlace = 16;
  Block &block = *Block::current();
  uint64_t place = lanes.read<uint64_t>(0, behindDescriptor);
  unsigned bytes = lanes.read<uint32_t>(0, behindPlace);
  std::vector<Block::Copy> copies;
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    if (lanes.read<uint64_t>(lane, behindDescriptor) != place)
      return block.stop("a load to LDS whose lanes name different places there");
    Block::Copy copy{lanes.first + lane, place + lane * bytes, bytes, {}};
    if (const char *address = locate(lanes, 0, bytes, lane, behindPlace + 4 - behindDescriptor)) {
      analysis::Event event = block.getShared().order().now(block.getShared().agentOf(copy.thread));
      std::string wrong = block.accessGlobal(
          copy.thread, event, reinterpret_cast<uint64_t>(address), bytes, reading, nullptr);
      if (!wrong.empty())
        return block.stop(wrong);
      std::memcpy(copy.data, address, bytes);
    }
    copies.push_back(copy);
  }
  block.startCopies(lanes, copies);
}

/// s_waitcnt: six bits, in two parts, say how many accesses to global memory may be under way. Of
/// these copies to LDS are counted here, so a wait ends no more of them than on the chip; others
/// have ended once none may be.
void waitForCounts(const Lanes &lanes) {
  uint32_t field = lanes.read<uint32_t>(0, 0), inFlight = (field & 15) | (field >> 14 & 3) << 4;
  Block::current()->waitForCopies(lanes, inFlight);
  if (!inFlight)
    Block::current()->publish(lanes);
}

/// Who sleeps looks again at the word it waits for: here, once a phase of some has ended.
void sleep(const Lanes &) {
  Block *block = Block::current();
  Block::Look look = block->getLastLook();
  block->waitUntil([=] { return block->engines.countEndedWords() != look.ended; },
                   [=] { return block->engines.describe(look.address); });
}

void meetLanes(const Lanes &lanes) { Block::current()->meetLanes(lanes); }

/// A wave goes on by what its first lane has seen, so all of its lanes know what that one knows.
void readFirstLane(const Lanes &lanes) {
  Block &block = *Block::current();
  kiln::analysis::HappensBefore &order = block.getShared().order();
  kiln::analysis::HappensBefore::Place seen;
  order.release(block.getShared().agentOf(lanes.first), seen);
  for (unsigned lane = 1; lane < lanes.count; ++lane)
    order.acquire(block.getShared().agentOf(lanes.first + lane), seen);
  for (unsigned lane = 0; lane < lanes.count; ++lane)
    lanes.write(lane, 0, lanes.read<uint32_t>(0, 0));
}

/// The columns of a matrix whose rows, of eight bytes, sixteen lanes name one after the other.
template <typename Element>
void readTransposed(const Lanes &lanes) {
  constexpr unsigned width = 8 / sizeof(Element), columns = 16;
  for (unsigned lane = 0; lane < lanes.count; ++lane) {
    unsigned column = lane % columns;
    for (unsigned row = 0; row < width; ++row) {
      unsigned from = lane - column + (row * columns + column) / width;
      auto *named = lanes.read<const Element *>(from, 0);
      lanes.write(lane, row, named[column % width]);
    }
  }
}

} // namespace

const Instruction kiln::emulated::kWaveInstructions[] = {
    {"amdgcn.ds.bpermute", true, permute},
    {"amdgcn.raw.ptr.buffer.load", false, loadFromBuffer, Suffix::Type},
    {"amdgcn.raw.ptr.buffer.load.lds", true, loadToLDS},
    {"amdgcn.raw.ptr.buffer.store", false, storeToBuffer, Suffix::Type},
    {"amdgcn.readfirstlane.i32", true, readFirstLane},
    {"amdgcn.s.sleep", false, sleep},
    {"amdgcn.s.waitcnt", true, waitForCounts},
    {"amdgcn.wave.barrier", true, meetLanes},
    {"amdgcn.update.dpp.i32", true, permuteRows},
    {"amdgcn.permlanex16.i32", true, permuteAcrossRows},
    {"amdgcn.permlane16.swap", true, swapRows<16>},
    {"amdgcn.permlane32.swap", true, swapRows<32>},
    {"amdgcn.mbcnt.lo", false, countBelow<0>},
    {"amdgcn.mbcnt.hi", false, countBelow<32>},
    {"amdgcn.implicitarg.ptr", false, hiddenArguments},
    {"amdgcn.trig.preop.f64", false, takeTurns},
    {"amdgcn.ds.read.tr16.b64", true, readTransposed<uint16_t>, Suffix::Type},
    {"amdgcn.ds.read.tr8.b64", true, readTransposed<uint8_t>, Suffix::Type},
    {nullptr, false, nullptr},
};
