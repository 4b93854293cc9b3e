// What a cubin says of its kernel, and how much of a multiprocessor that takes.
//
// The figures stand in sections named .nv.info: entries of a format byte, an attribute byte and two
// bytes that are a value or the size of what follows, a symbol and its value for those read here
// (the layout is that which cuobjdump -elf prints).
#include "Assembler.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace kiln;

namespace {
constexpr uint8_t kSized = 4, kFrameSize = 0x11, kRegisters = 0x2f;

struct Found {
  int64_t registers = 0, frameBytes = 0;
};
} // namespace

static void readInfo(ArrayRef<uint8_t> bytes, Found &found) {
  while (bytes.size() >= 4) {
    uint8_t format = bytes[0], attribute = bytes[1];
    size_t size = format == kSized ? support::endian::read16le(&bytes[2]) : 0;
    bytes = bytes.drop_front(4);
    if (size > bytes.size())
      return;
    if (size >= 8) {
      int64_t value = support::endian::read32le(&bytes[4]);
      if (attribute == kRegisters)
        found.registers = std::max(found.registers, value);
      else if (attribute == kFrameSize)
        found.frameBytes = std::max(found.frameBytes, value);
    }
    bytes = bytes.drop_front(size);
  }
}

/// Registers go to a warp in pieces of 256, warps to four schedulers, shared memory in pieces of
/// 128 bytes with 1 KiB of the system's for each block (CUDA's programming guide, "Compute
/// Capabilities").
static int64_t countPrograms(const Chip &chip, int64_t registers, const nvptx::LaunchSize &block) {
  int64_t warps = std::max<int64_t>(1, divideCeil(block.threads, chip.warpSize));
  int64_t programs =
      std::min(chip.figures.blocksPerCore->value, chip.figures.warpsPerCore->value / warps);
  if (registers) {
    int64_t perWarp = alignTo(registers * chip.warpSize, 256);
    programs = std::min(programs, chip.registersPerCore / 4 / perWarp * 4 / warps);
  }
  int64_t shared = alignTo(block.sharedBytes + 1024, 128);
  return std::min<int64_t>(programs, (chip.sharedBytes + 1024) / shared);
}

/// The sum over the functions of an account of lines such as
///     8184 bytes stack frame, 9000 bytes spill stores, 9400 bytes spill loads
static std::optional<int64_t> sumBytes(StringRef account, StringRef what) {
  std::optional<int64_t> sum;
  for (size_t at = account.find(what); at != StringRef::npos; at = account.find(what, at + 1)) {
    int64_t bytes;
    if (!account.take_front(at).rtrim().rsplit(' ').second.getAsInteger(10, bytes))
      sum = sum.value_or(0) + bytes;
  }
  return sum;
}

Error nvptx::readCubinFigures(Assembled &assembled, const Chip &chip, const LaunchSize &block) {
  auto file = object::ELF64LEFile::create(assembled.cubin);
  if (!file)
    return file.takeError();
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  Found found;
  for (const auto &section : *sections) {
    Expected<StringRef> name = file->getSectionName(section);
    Expected<ArrayRef<uint8_t>> contents = file->getSectionContents(section);
    if (!name || !contents) {
      consumeError(name.takeError());
      consumeError(contents.takeError());
      continue;
    }
    if (name->starts_with(".nv.info"))
      readInfo(*contents, found);
  }
  if (!found.registers)
    return createStringError("expected a cubin that tells its kernel's registers, got none");
  assembled.registers = found.registers;
  assembled.localBytes = found.frameBytes;
  auto &figures = assembled.figures;
  figures = {{"registers", found.registers},
             {"local_bytes", found.frameBytes},
             {"programs_per_core", countPrograms(chip, found.registers, block)}};
  StringRef account = assembled.account;
  if (std::optional<int64_t> stored = sumBytes(account, "bytes spill stores"))
    figures.emplace_back("spill_store_bytes", *stored);
  if (std::optional<int64_t> loaded = sumBytes(account, "bytes spill loads"))
    figures.emplace_back("spill_load_bytes", *loaded);
  return Error::success();
}
