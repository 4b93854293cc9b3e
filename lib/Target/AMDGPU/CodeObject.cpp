// The metadata note of a code object, which is MessagePack.
#include "CodeObject.h"
#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELF.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace kiln;

static Expected<std::string> findMetadata(StringRef object) {
  Expected<object::ELF64LEFile> file = object::ELF64LEFile::create(object);
  if (!file)
    return file.takeError();
  auto sections = file->sections();
  if (!sections)
    return sections.takeError();
  for (const auto &section : *sections) {
    if (section.sh_type != ELF::SHT_NOTE)
      continue;
    Error error = Error::success();
    for (const auto &note : file->notes(section, error))
      if (note.getName() == "AMDGPU" && note.getType() == ELF::NT_AMDGPU_METADATA) {
        consumeError(std::move(error));
        return note.getDescAsStringRef(section.sh_addralign).str();
      }
    if (error)
      return std::move(error);
  }
  return createStringError("the code object has no metadata");
}

/// How many waves a SIMD has room for. On CDNA four SIMDs share a core's LDS; on RDNA two cores
/// of two do.
static int64_t countWaves(const Chip &chip, int64_t registers, int64_t threads, int64_t ldsBytes) {
  bool isCDNA = chip.warpSize == 64;
  int64_t most = isCDNA ? 8 : 16, file = isCDNA ? 512 : 1536, granule = isCDNA ? 8 : 24;
  int64_t waves = std::min(most, file / std::max<int64_t>(granule, alignTo(registers, granule)));
  int64_t wavesOfBlock = divideCeil(std::max<int64_t>(threads, 1), chip.warpSize);
  if (ldsBytes) {
    int64_t blocks = int64_t(chip.sharedBytes) * (isCDNA ? 1 : 2) / ldsBytes;
    waves = std::min(waves, std::max<int64_t>(1, blocks * wavesOfBlock / 4));
  }
  return waves;
}

Expected<std::vector<std::pair<std::string, int64_t>>> kiln::amdgcn::readFigures(StringRef object,
                                                                                 const Chip &chip) {
  Expected<std::string> note = findMetadata(object);
  if (!note)
    return note.takeError();
  msgpack::Document document;
  if (!document.readFromBlob(*note, /*Multi=*/false) || !document.getRoot().isMap())
    return createStringError("the code object's metadata cannot be read");
  msgpack::DocNode kernels = document.getRoot().getMap()["amdhsa.kernels"];
  if (!kernels.isArray() || kernels.getArray().empty())
    return createStringError("the code object's metadata names no kernel");
  msgpack::MapDocNode &kernel = kernels.getArray()[0].getMap();
  auto get = [&](StringRef key) -> std::optional<int64_t> {
    msgpack::DocNode value = kernel[key];
    return value.getKind() == msgpack::Type::UInt  ? std::optional(int64_t(value.getUInt()))
           : value.getKind() == msgpack::Type::Int ? std::optional(value.getInt())
                                                   : std::nullopt;
  };
  // What the metadata does not state is not known, which is not 0.
  std::vector<std::pair<std::string, int64_t>> figures;
  auto add = [&](StringRef name, std::optional<int64_t> value) {
    if (value)
      figures.emplace_back(name.str(), *value);
  };
  std::optional<int64_t> registers = get(".vgpr_count"), vectors = get(".vgpr_spill_count"),
                         scalars = get(".sgpr_spill_count");
  add("registers", registers);
  add("accumulator_registers", get(".agpr_count"));
  add("scalar_registers", get(".sgpr_count"));
  if (vectors && scalars)
    add("spilled_registers", *vectors + *scalars);
  add("local_bytes", get(".private_segment_fixed_size"));
  if (registers)
    add("waves_per_simd", countWaves(chip, *registers, get(".max_flat_workgroup_size").value_or(0),
                                     get(".group_segment_fixed_size").value_or(0)));
  return figures;
}
