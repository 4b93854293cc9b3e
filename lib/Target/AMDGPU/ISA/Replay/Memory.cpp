// Memory.h: arguments, the packet of a launch, and words by their address.
#include "Memory.h"
#include "../DescribeInstruction.h"
#include "llvm/Support/Endian.h"

using namespace llvm;
using namespace kiln::amdgcn;

/// Where what a launch gives lies; other pointers lie so far from one another.
static constexpr uint64_t kArguments = UINT64_C(0x20000000000), kPacket = UINT64_C(0x21000000000),
                          kPointers = UINT64_C(0x100000000000), kApart = UINT64_C(0x1000000000);

static void put(std::vector<uint8_t> &bytes, size_t at, uint64_t number, size_t size) {
  for (size_t byte = 0; byte < size && at + byte < bytes.size(); ++byte)
    bytes[at + byte] = byte < 8 ? number >> (8 * byte) : 0;
}

uint64_t Memory::getArgument(size_t number) const {
  const Argument &argument = kernel.arguments[number];
  if (argument.kind == "global_buffer")
    return kPointers + number * kApart;
  if (argument.kind == "by_value")
    return instance.numbers.empty() ? 0 : instance.numbers[number % instance.numbers.size()];
  StringRef kind = argument.kind;
  if (kind == "hidden_block_count_x")
    return instance.blocks;
  if (kind == "hidden_block_count_y" || kind == "hidden_block_count_z")
    return 1;
  if (kind == "hidden_group_size_x")
    return kernel.getThreads();
  if (kind == "hidden_group_size_y" || kind == "hidden_group_size_z" || kind == "hidden_grid_dims")
    return 1;
  return 0;
}

Memory::Memory(const KernelCode &kernel, const Instance &instance)
    : kernel(kernel), instance(instance), arguments(4096), packet(64) {
  for (size_t number = 0; number < kernel.arguments.size(); ++number)
    put(arguments, kernel.arguments[number].offset, getArgument(number),
        kernel.arguments[number].size);
  put(packet, 4, kernel.getThreads(), 2);
  put(packet, 6, 1, 2);
  put(packet, 8, 1, 2);
  put(packet, 12, uint64_t(kernel.getThreads()) * instance.blocks, 4);
  put(packet, 16, 1, 4);
  put(packet, 20, 1, 4);
}

void Memory::start(Wave &wave) const {
  auto has = [&](StringRef name) -> unsigned {
    auto found = kernel.descriptor.find(name);
    return found == kernel.descriptor.end() ? 0 : found->second;
  };
  // In the order in which the chip fills them.
  unsigned next = 0;
  auto setPair = [&](uint64_t number) {
    wave.setScalar(next++, uint32_t(number), 0);
    wave.setScalar(next++, uint32_t(number >> 32), 0);
  };
  if (has("user_sgpr_private_segment_buffer"))
    next += 4;
  if (has("user_sgpr_dispatch_ptr"))
    setPair(kPacket);
  if (has("user_sgpr_queue_ptr"))
    next += 2;
  if (has("user_sgpr_kernarg_segment_ptr"))
    setPair(kArguments);
  if (has("user_sgpr_dispatch_id"))
    next += 2;
  if (has("user_sgpr_flat_scratch_init"))
    next += 2;
  if (has("user_sgpr_private_segment_size"))
    ++next;
  unsigned preloaded = has("user_sgpr_kernarg_preload_length");
  unsigned from = has("user_sgpr_kernarg_preload_offset");
  for (unsigned word = 0; word < preloaded; ++word)
    wave.setScalar(next + word, support::endian::read32le(&arguments[4 * (from + word)]), 0);
  next = std::max(next + preloaded, has("user_sgpr_count"));
  if (getGeneration(kernel.chip) >= 12) {
    // In registers of the trap handler.
    constexpr unsigned kBlockX = 108 + 9, kBlockYZ = 108 + 7;
    wave.setScalar(kBlockX, instance.block, 0);
    wave.setScalar(kBlockYZ, 0, 0);
  } else if (has("system_sgpr_workgroup_id_x")) {
    wave.setScalar(next, instance.block, 0);
  }
  Words threads;
  threads.isUniform = false;
  for (unsigned lane = 0; lane < wave.getLanes(); ++lane)
    threads.lanes[lane] = wave.number * wave.getLanes() + lane;
  wave.setVector({'v', 0, 0}, 0, threads, /*inAll=*/true);
}

bool Memory::isGiven(uint64_t address) const {
  return (address >= kArguments && address < kArguments + arguments.size()) ||
         (address >= kPacket && address < kPacket + packet.size());
}

uint32_t Memory::read(uint64_t address, uint64_t attempt) const {
  for (auto [base, bytes] : {std::pair(kArguments, &arguments), {kPacket, &packet}})
    if (address >= base && address + 4 <= base + bytes->size())
      return support::endian::read32le(&(*bytes)[address - base]);
  address &= ~uint64_t(3);
  auto found = changed.find(address);
  if (found != changed.end() && !attempt)
    return found->second;
  // Numbers are small more often than not, and the upper halves of wide ones zero.
  uint64_t name = mix(mix(instance.seed, address), attempt);
  uint32_t word = draw(name);
  switch (name >> 60 & 3) {
  case 0:
    return address & 4 ? 0 : word % 8;
  case 1:
    return address & 4 ? 0 : word % 256;
  default:
    return word;
  }
}

uint32_t kiln::amdgcn::combine(const Instruction &atomic, uint32_t before, uint32_t number,
                               uint32_t expected) {
  switch (atomic.operation) {
  case Operation::CountRound:
    return before >= number ? 0 : before + 1;
  case Operation::Exchange:
    return number;
  case Operation::CompareExchange:
    return before == expected ? number : before;
  default:
    break;
  }
  Function function = getArithmetic(atomic.operation, atomic.type).compute;
  const uint64_t in[4] = {before, number, 0, 0};
  return function ? uint32_t(function(in)) : draw(mix(before, number));
}

/// Counters start with zero, and locks open.
uint32_t Memory::update(uint64_t address, const Instruction &atomic, uint32_t number,
                        uint32_t expected) {
  address &= ~uint64_t(3);
  auto [found, isNew] = changed.try_emplace(address, 0);
  if (isNew && atomic.operation == Operation::CompareExchange)
    found->second = expected;
  uint32_t before = found->second;
  found->second = combine(atomic, before, number, expected);
  return before;
}
