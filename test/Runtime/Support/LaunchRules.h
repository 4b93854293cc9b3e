// What a real driver refuses of a launch, for the libraries that stand in for one.
//
// The code that is loaded says what a launch must keep to: a code object in its metadata, PTX in
// its directives. Code of tests is no code; there "static 2000" states 2000 bytes of shared memory
// and "threads 64" the most threads of a block.
#ifndef KILN_TEST_RUNTIME_SUPPORT_LAUNCHRULES_H
#define KILN_TEST_RUNTIME_SUPPORT_LAUNCHRULES_H

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace kiln::testing {

/// A chip's, by its manual.
struct ChipLimits {
  uint64_t shared;         ///< static and dynamic together, of one block
  uint64_t dynamicUnasked; ///< dynamic bytes that need no attribute
  uint64_t sharedOfCore;   ///< of all blocks that run on a multiprocessor at once
  uint64_t threadsOfCore;
  uint64_t multiprocessors;
  uint64_t grid[3], threadsOfGrid; ///< blocks along each axis; threads along each
};

struct LoadedCode {
  uint64_t staticShared = 0, threads = 1024;
  std::vector<size_t> alignments; ///< of the parameters, as far as the code states them
  // Attributes that were set.
  uint64_t dynamicShared = 0;
  bool hasLargeClusters = false;
};

struct LaunchAsked {
  unsigned grid[3], block[3];
  uint64_t dynamicShared;
  void *const *parameters;
  bool isCooperative = false;
  unsigned cluster[3] = {1, 1, 1};
};

/// The number that follows a word, or `otherwise`.
inline uint64_t numberAfter(const std::string &text, const char *word, uint64_t otherwise) {
  size_t at = text.find(word);
  return at == std::string::npos
             ? otherwise
             : std::strtoull(text.c_str() + at + std::strlen(word), nullptr, 10);
}

/// The numbers that a code object's metadata, which is MessagePack, gives a name.
inline std::vector<uint64_t> metadataNumbers(const std::string &bytes, const std::string &name) {
  std::vector<uint64_t> found;
  for (size_t at = bytes.find(name); at != std::string::npos; at = bytes.find(name, at + 1)) {
    size_t from = at + name.size();
    // A name that is the end, or the beginning, of another one is not meant.
    if (uint8_t(bytes[at - 1]) != (0xa0 | name.size()) &&
        !(uint8_t(bytes[at - 2]) == 0xd9 && uint8_t(bytes[at - 1]) == name.size()))
      continue;
    uint8_t kind = bytes[from];
    int size = kind < 0x80 ? 0 : kind >= 0xcc && kind <= 0xcf ? 1 << (kind - 0xcc) : -1;
    if (size < 0)
      continue;
    uint64_t value = size == 0 ? kind : 0;
    for (int i = 1; i <= size; ++i)
      value = value << 8 | uint8_t(bytes[from + i]);
    found.push_back(value);
  }
  return found;
}

inline LoadedCode readCodeObject(const std::string &bytes) {
  LoadedCode code;
  for (uint64_t size : metadataNumbers(bytes, ".group_segment_fixed_size"))
    code.staticShared = size;
  for (uint64_t threads : metadataNumbers(bytes, ".max_flat_workgroup_size"))
    code.threads = threads;
  for (uint64_t size : metadataNumbers(bytes, ".size"))
    code.alignments.push_back(size <= 8 ? size : 8);
  // Hidden parameters come last, and are not the caller's.
  for (size_t at = bytes.find("hidden_"); at != std::string::npos && !code.alignments.empty();
       at = bytes.find("hidden_", at + 1))
    code.alignments.pop_back();
  return code;
}

/// `.shared .align 16 .b8 name[1000];` takes 1000 bytes unless it is external.
inline LoadedCode readPTX(const std::string &text) {
  LoadedCode code;
  for (size_t at = 0, end; at < text.size(); at = end + 1) {
    end = text.find('\n', at);
    if (end == std::string::npos)
      end = text.size();
    std::string line = text.substr(at, end - at);
    bool isParameter =
        line.find(".param .") != std::string::npos && line.find("ld.param") == std::string::npos;
    if (line.find(".shared .align") != std::string::npos &&
        line.find(".extern") == std::string::npos)
      code.staticShared += numberAfter(line, "[", 0);
    else if (line.find(".reqntid ") == 0 || line.find(".maxntid ") == 0)
      code.threads = numberAfter(line, "ntid ", 1024);
    else if (isParameter)
      code.alignments.push_back(
          line.find('[') != std::string::npos
              ? numberAfter(line, ".align ", 8)
              : numberAfter(line,
                            line.find(".param .b") != std::string::npos ? ".param .b" : ".param .u",
                            64) /
                    8);
  }
  return code;
}

inline LoadedCode readFakeCode(const std::string &text) {
  LoadedCode code;
  code.staticShared = numberAfter(text, "static ", 0);
  code.threads = numberAfter(text, "threads ", 1024);
  return code;
}

/// How many blocks of a launch run on one multiprocessor at once.
inline uint64_t residentBlocks(const ChipLimits &chip, const LoadedCode &code, uint64_t threads,
                               uint64_t dynamicShared) {
  uint64_t shared = code.staticShared + dynamicShared;
  uint64_t most = chip.threadsOfCore / (threads ? threads : 1);
  return shared && chip.sharedOfCore / shared < most ? chip.sharedOfCore / shared : most;
}

/// What is wrong with a launch, or "".
inline std::string whatIsRefused(const ChipLimits &chip, const LoadedCode &code,
                                 const LaunchAsked &asked) {
  auto say = [](const char *what, uint64_t most, uint64_t got) {
    return std::string("expected at most ") + std::to_string(most) + " " + what + ", got " +
           std::to_string(got);
  };
  static constexpr uint64_t extents[] = {1024, 1024, 64};
  uint64_t threads = 1, blocks = 1, cluster = 1;
  for (int i = 0; i < 3; ++i) {
    if (asked.grid[i] == 0 || asked.block[i] == 0)
      return "expected extents of at least 1";
    if (asked.grid[i] > chip.grid[i])
      return say("blocks along an axis", chip.grid[i], asked.grid[i]);
    if (asked.block[i] > extents[i])
      return say("threads along an axis of a block", extents[i], asked.block[i]);
    if (uint64_t(asked.grid[i]) * asked.block[i] > chip.threadsOfGrid)
      return say("threads along an axis", chip.threadsOfGrid,
                 uint64_t(asked.grid[i]) * asked.block[i]);
    if (asked.cluster[i] == 0 || asked.grid[i] % asked.cluster[i])
      return "expected a grid of whole clusters";
    threads *= asked.block[i], blocks *= asked.grid[i], cluster *= asked.cluster[i];
  }
  if (threads > 1024 || threads > code.threads)
    return say("threads of a block", code.threads, threads);
  if (cluster > (code.hasLargeClusters ? 16 : 8))
    return say("blocks of a cluster", code.hasLargeClusters ? 16 : 8, cluster);
  if (code.staticShared + asked.dynamicShared > chip.shared)
    return say("bytes of shared memory, static and dynamic", chip.shared,
               code.staticShared + asked.dynamicShared);
  if (asked.dynamicShared > chip.dynamicUnasked && asked.dynamicShared > code.dynamicShared)
    return say("bytes of dynamic shared memory by the function's attribute",
               code.dynamicShared > chip.dynamicUnasked ? code.dynamicShared : chip.dynamicUnasked,
               asked.dynamicShared);
  for (size_t i = 0; i < code.alignments.size(); ++i)
    if (!asked.parameters[i] ||
        reinterpret_cast<uintptr_t>(asked.parameters[i]) % code.alignments[i])
      return "expected parameter " + std::to_string(i) + " at a multiple of " +
             std::to_string(code.alignments[i]) + " bytes";
  return "";
}

/// Whether all blocks of a cooperative launch run at once.
inline bool fitsAtOnce(const ChipLimits &chip, const LoadedCode &code, const LaunchAsked &asked) {
  uint64_t threads = uint64_t(asked.block[0]) * asked.block[1] * asked.block[2];
  return uint64_t(asked.grid[0]) * asked.grid[1] * asked.grid[2] <=
         residentBlocks(chip, code, threads, asked.dynamicShared) * chip.multiprocessors;
}

} // namespace kiln::testing

#endif // KILN_TEST_RUNTIME_SUPPORT_LAUNCHRULES_H
