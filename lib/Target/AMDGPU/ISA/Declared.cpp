// Declared.h: what is declared, looked for in the code.
#include "kiln/Target/AMDGPU/Declared.h"
#include "Paths.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace kiln;
using namespace kiln::amdgcn;

namespace {
class DeclaredCheck {
public:
  DeclaredCheck(const KernelCode &kernel, const Protocol &protocol)
      : kernel(kernel), protocol(protocol) {}
  std::vector<WaitProblem> run();

private:
  void fail(unsigned at, const Twine &text) { problems.push_back({at, text.str()}); }
  void followRoles();
  void checkWaves();
  void checkArrivals();
  void checkCounter(const Protocol::Counter &counter);
  void checkSize(const Protocol::Ring &ring);
  void checkAbsent();
  bool counts(unsigned at, const Protocol::Counter &counter, const Paths &waves) const;
  /// Whether waves come to such an access somewhere in these bytes.
  bool finds(const Paths &waves, int64_t first, int64_t last,
             function_ref<bool(const Instruction &)> isSuch) const;

  const KernelCode &kernel;
  const Protocol &protocol;
  std::vector<Paths> roles; ///< of each role's waves
  Paths all;
  std::vector<WaitProblem> problems;
};
} // namespace

static int64_t getLast(const Protocol::Counter &counter) {
  return counter.at + (counter.slots - 1) * kCounterBytes + 3;
}
static bool overlaps(Range place, int64_t first, int64_t last) {
  return place.isAll() || (int64_t(place.low) <= last && first <= int64_t(place.high));
}
static std::string spell(const Protocol::Counter &counter) {
  return formatv("counters at byte {0}", counter.at);
}

void DeclaredCheck::followRoles() {
  Blocks blocks(kernel);
  unsigned waves = divideCeil(kernel.getThreads(), kernel.getWaveSize());
  all = followPaths(kernel, blocks, 0, waves - 1);
  for (const Protocol::Role &role : protocol.roles)
    roles.push_back(
        followPaths(kernel, blocks, role.first, role.first + role.warps * role.copies - 1));
}

void DeclaredCheck::checkWaves() {
  int64_t warps = 0, waves = divideCeil(kernel.getThreads(), kernel.getWaveSize());
  for (const Protocol::Role &role : protocol.roles)
    warps += role.warps * role.copies;
  if (warps != waves)
    fail(0, formatv("the metadata declares roles of {0} waves; the block has {1}", warps, waves));
  for (const Protocol::Role &role : protocol.roles)
    if (role.skew && role.warps * role.copies != waves) {
      fail(0, formatv("how copies of {0} lag, which meet without the other waves", role.spell()));
      problems.back().isOpen = true;
    }
}

bool DeclaredCheck::finds(const Paths &waves, int64_t first, int64_t last,
                          function_ref<bool(const Instruction &)> isSuch) const {
  return any_of(waves.places, [&](const auto &each) {
    return isSuch(kernel.code[each.first]) && overlaps(each.second, first, last);
  });
}

/// Whether an arrival may be at these words, and awaits as many as they do.
bool DeclaredCheck::counts(unsigned at, const Protocol::Counter &counter,
                           const Paths &waves) const {
  auto place = waves.places.find(at), bound = waves.bounds.find(at);
  if (place == waves.places.end() || !kernel.code[at].isArrival ||
      !overlaps(place->second, counter.at, getLast(counter)))
    return false;
  const Range &most = bound->second;
  return most.low != most.high || int64_t(most.low) == 2 * counter.arrivals - 1;
}

/// Each is at words that are declared.
void DeclaredCheck::checkArrivals() {
  for (const auto &[at, place] : all.places) {
    if (!kernel.code[at].isArrival || any_of(protocol.counters, [&, at = at](const auto &counter) {
          return counts(at, counter, all);
        }))
      continue;
    auto near = find_if(protocol.counters, [&, place = place](const Protocol::Counter &counter) {
      return overlaps(place, counter.at, getLast(counter));
    });
    if (near == protocol.counters.end())
      fail(at, formatv("bytes {0} to {1} of LDS count arrivals here, which the metadata does not "
                       "declare",
                       place.low, place.high));
    else
      fail(at, formatv("the metadata declares {0} arrivals at the {1}; this one counts to {2}",
                       near->arrivals, spell(*near), (all.bounds[at].low + 1) / 2));
  }
}

void DeclaredCheck::checkCounter(const Protocol::Counter &counter) {
  auto isWrite = [](const Instruction &access) { return access.kind == Kind::WriteLDS; };
  auto isLook = [](const Instruction &access) { return access.isLook; };
  for (int64_t slot = 0; slot < counter.slots; ++slot)
    if (int64_t first = counter.at + slot * kCounterBytes; !finds(all, first, first + 3, isWrite))
      return fail(0, formatv("the metadata declares {0}; the code makes none at byte {1}",
                             spell(counter), first));
  auto getWaves = [&](StringRef name) -> const Paths & {
    auto role = find_if(protocol.roles, [&](const auto &each) { return each.name == name; });
    return roles[role - protocol.roles.begin()];
  };
  for (const std::string &name : counter.arrive) {
    const Paths &waves = getWaves(name);
    if (none_of(waves.places, [&](const auto &each) { return counts(each.first, counter, waves); }))
      fail(0, formatv("the metadata declares that role '{0}' arrives at the {1}; the code has no "
                      "such arrival",
                      name, spell(counter)));
  }
  for (const std::string &name : counter.wait)
    if (!finds(getWaves(name), counter.at, getLast(counter), isLook))
      fail(0, formatv("the metadata declares that role '{0}' waits at the {1}; the code has no "
                      "such wait",
                      name, spell(counter)));
}

/// What these chips do not have, or not for a role.
void DeclaredCheck::checkAbsent() {
  for (const Protocol::Role &role : protocol.roles)
    if (role.registers)
      fail(0, formatv("the metadata declares {0} registers of {1}; waves of this chip set none",
                      role.registers, role.spell()));
  for (const Protocol::Barrier &barrier : protocol.barriers)
    fail(0, formatv("the metadata declares barrier {0}; barriers of this chip have no numbers",
                    barrier.number));
  for (const Protocol::Fence &fence : protocol.fences)
    fail(0, formatv("the metadata declares fences of the kind '{0}', which are no instructions of "
                    "this chip",
                    fence.kind));
}

void DeclaredCheck::checkSize(const Protocol::Ring &ring) {
  auto size = kernel.metadata.find("group_segment_fixed_size");
  for (const Protocol::Buffer &buffer : ring.buffers) {
    int64_t last = buffer.at + ring.depth * buffer.bytes - 1;
    if (size != kernel.metadata.end() && last >= size->second)
      fail(0, formatv("the metadata declares a ring at bytes {0} to {1} of LDS; the block has {2} "
                      "bytes",
                      buffer.at, last, size->second));
  }
}

std::vector<WaitProblem> DeclaredCheck::run() {
  checkWaves();
  auto isArrival = [](const Instruction &each) { return each.isArrival; };
  if (!protocol.counters.empty() || any_of(kernel.code, isArrival)) {
    followRoles();
    checkArrivals();
  }
  for (const Protocol::Counter &counter : protocol.counters)
    checkCounter(counter);
  for (const Protocol::Ring &ring : protocol.rings)
    checkSize(ring);
  checkAbsent();
  return std::move(problems);
}

std::vector<WaitProblem> kiln::amdgcn::checkDeclared(const KernelCode &kernel) {
  auto isArrival = [](const Instruction &each) { return each.isArrival; };
  if (kernel.isFunction || (!kernel.protocol && none_of(kernel.code, isArrival)))
    return {};
  return DeclaredCheck(kernel, kernel.protocol.value_or(Protocol())).run();
}
