// Groups of waves, each on its ways through the kernel, side by side.
//
// A barrier lets waves go on that have come to as many barriers before, wherever they stand. All
// groups begin together. Up to a branch at which their numbers part them each group passes the same
// barriers; from there on each has its own ways to where all meet again, and passes so many
// barriers on them, or the proof fails. Who has passed more than others is behind them by the
// difference: what it does between two barriers, the others have done between two that came before.
// Branches that go by no number of a wave are taken by all alike.
#include "Lags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <deque>

using namespace llvm;
using namespace kiln::amdgcn;
using kiln::Protocol;

std::vector<WaveGroup> kiln::amdgcn::getGroups(const KernelCode &kernel) {
  std::vector<WaveGroup> groups;
  unsigned waves = divideCeil(kernel.getThreads(), kernel.getWaveSize());
  if (kernel.protocol)
    for (const Protocol::Role &role : kernel.protocol->roles)
      for (int64_t copy = 0; copy < role.copies; ++copy) {
        bool isAll = role.warps * role.copies == waves;
        unsigned first = role.first + copy * role.warps;
        groups.push_back(
            {first, unsigned(first + role.warps - 1), unsigned(isAll ? copy * role.skew : 0)});
      }
  if (groups.empty())
    groups.push_back({0, waves - 1, 0});
  return groups;
}

static std::string spell(const WaveGroup &group) {
  return kiln::spellRange("wave", group.first, group.last);
}
static std::string spellBarriers(unsigned count) {
  return formatv("{0} barrier{1}", count, count == 1 ? "" : "s");
}

static bool isBarrier(const Instruction &instruction) {
  return instruction.kind == Kind::Barrier || instruction.kind == Kind::BarrierSignal;
}

namespace {
/// By group, how many barriers more than those that passed the fewest.
using Behind = SmallVector<unsigned, 4>;

class LagCheck {
public:
  explicit LagCheck(const KernelCode &kernel)
      : kernel(kernel), blocks(kernel), groups(getGroups(kernel)) {
    lags.most.assign(kernel.code.size() + 1, 0);
    for (const WaveGroup &group : groups)
      declared.push_back(group.lag);
  }
  Lags run();

private:
  void fail(unsigned at, const Twine &text) { lags.problems.push_back({at, text.str()}); }
  bool hasBarrier(unsigned block) const;
  void setMost(unsigned block, const Behind &behind);
  bool check(unsigned block, const Behind &behind);
  void arrive(unsigned block, Behind behind);
  void leave(unsigned block, const Behind &behind);
  void part(unsigned block, const Behind &behind, const BitVector &between);
  std::optional<unsigned> count(const Paths &paths, unsigned from, unsigned to) const;
  void checkTrips();

  const KernelCode &kernel;
  const Blocks blocks;
  const std::vector<WaveGroup> groups;
  Behind declared;
  std::vector<Paths> paths;
  Edges edges; ///< of all groups together
  std::vector<unsigned> meetings;
  BitVector byThread;
  std::map<unsigned, Behind> known; ///< where blocks begin that all come to
  std::deque<unsigned> work;
  Lags lags;
};
} // namespace

bool LagCheck::hasBarrier(unsigned block) const {
  if (block == blocks.getEnd())
    return false;
  for (unsigned at = blocks.getFirst(block); at <= blocks.getLast(block); ++at)
    if (isBarrier(kernel.code[at]))
      return true;
  return false;
}

void LagCheck::setMost(unsigned block, const Behind &behind) {
  if (block == blocks.getEnd())
    return;
  unsigned most = *llvm::max_element(behind);
  for (unsigned at = blocks.getFirst(block); at <= blocks.getLast(block); ++at)
    lags.most[at] = std::max(lags.most[at], most);
}

/// Where all come by, groups lag as they are declared to, or not at all.
bool LagCheck::check(unsigned block, const Behind &behind) {
  bool isLevel = all_of(behind, [](unsigned count) { return count == 0; });
  unsigned at = block == blocks.getEnd() ? kernel.code.size() - 1 : blocks.getFirst(block);
  for (auto [group, count, said] : zip(groups, behind, declared)) {
    if (isLevel || count == (block == blocks.getEnd() ? 0 : said))
      continue;
    if (block == blocks.getEnd())
      fail(at, formatv("{0} have come to {1} more than others by the end, which wait there for "
                       "nobody",
                       spell(group), spellBarriers(count)));
    else if (said)
      fail(at, formatv("the metadata declares that {0} lag by {1}; here they lag by {2}",
                       spell(group), spellBarriers(said), count));
    else
      fail(at, formatv("{0} lag by {1} here, which the metadata does not declare", spell(group),
                       spellBarriers(count)));
    return false;
  }
  return true;
}

void LagCheck::arrive(unsigned block, Behind behind) {
  auto [it, isNew] = known.try_emplace(block, behind);
  if (!isNew && it->second != behind) {
    unsigned at = block == blocks.getEnd() ? kernel.code.size() - 1 : blocks.getFirst(block);
    fail(at, "waves come here by ways on which some lag by other numbers of barriers");
  }
  if (isNew && check(block, behind) && block != blocks.getEnd())
    work.push_back(block);
}

/// How many barriers a group passes on each of its ways; none if these differ.
std::optional<unsigned> LagCheck::count(const Paths &own, unsigned from, unsigned to) const {
  std::map<unsigned, unsigned> passed{{from, 0}};
  SmallVector<unsigned> open{from};
  while (!open.empty()) {
    unsigned block = open.pop_back_val();
    unsigned barriers = passed[block];
    if (block != from)
      for (unsigned at = blocks.getFirst(block); at <= blocks.getLast(block); ++at)
        barriers += isBarrier(kernel.code[at]);
    for (unsigned next : own.edges[block]) {
      auto [it, isNew] = passed.try_emplace(next, barriers);
      if (!isNew && it->second != barriers)
        return std::nullopt;
      if (isNew && next != to && next != blocks.getEnd())
        open.push_back(next);
    }
  }
  auto found = passed.find(to);
  return found == passed.end() ? std::nullopt : std::optional(found->second);
}

/// Groups go ways of their own, on which they do nothing but meet.
void LagCheck::part(unsigned block, const Behind &behind, const BitVector &between) {
  unsigned branch = blocks.getLast(block), to = meetings[block];
  Behind after = behind;
  for (auto [number, own] : enumerate(paths)) {
    std::optional<unsigned> barriers = count(own, block, to);
    if (!barriers)
      return fail(branch, formatv("expected {0} to pass as many barriers whichever way they go "
                                  "where waves part",
                                  spell(groups[number])));
    after[number] += *barriers;
  }
  for (unsigned other : between.set_bits())
    for (unsigned at = blocks.getFirst(other); at <= blocks.getLast(other); ++at) {
      const Instruction &passed = kernel.code[at];
      if (isBarrier(passed))
        lags.alone.insert(at);
      else if (!is_contained(
                   {Kind::Wait, Kind::Other, Kind::Branch, Kind::BarrierWait, Kind::LoadScalar},
                   passed.kind))
        return fail(at, "expected no access to memory where waves that part pass a barrier");
    }
  unsigned rounds = *llvm::min_element(after);
  for (unsigned &count : after)
    count -= rounds;
  lags.rounds[branch] = rounds;
  for (unsigned other : between.set_bits()) {
    setMost(other, behind);
    setMost(other, after);
  }
  arrive(to, after);
}

void LagCheck::leave(unsigned block, const Behind &behind) {
  setMost(block, behind);
  if (edges[block].size() == 1)
    return arrive(edges[block].front(), behind);
  BitVector between = findBetween(edges, block, meetings[block]);
  if (none_of(between.set_bits(), [&](unsigned other) { return hasBarrier(other); })) {
    for (unsigned other : between.set_bits())
      setMost(other, behind);
    return arrive(meetings[block], behind);
  }
  auto isDecided = [&](const Paths &own) { return own.edges[block].size() == 1; };
  if (all_of(paths, isDecided))
    return part(block, behind, between);
  unsigned branch = blocks.getLast(block);
  if (byThread.test(branch) || any_of(paths, isDecided)) {
    fail(branch, kernel.protocol
                     ? "expected all waves of a group that the metadata declares to go one way in "
                       "front of barriers"
                     : "waves part here by their numbers in front of barriers, which no metadata "
                       "declares");
    // They may all go one way by a number that is not followed.
    lags.problems.back().isOpen = kernel.protocol && none_of(paths, isDecided);
    return;
  }
  for (unsigned next : edges[block])
    arrive(next, behind);
}

/// Of groups that lag, the innermost loops in which they do have as many barriers as is declared,
/// or so many times over if several trips were made one.
void LagCheck::checkTrips() {
  if (!kernel.protocol)
    return;
  for (const Protocol::Role &role : kernel.protocol->roles) {
    if (!role.skew || is_contained(role.trips, 0) || !lags.problems.empty())
      continue;
    bool isFound = false;
    for (const std::vector<unsigned> &loop : kernel.getInnerLoops()) {
      unsigned barriers = count_if(loop, [&](unsigned at) { return isBarrier(kernel.code[at]); });
      if (!barriers || !lags.most[loop.front()])
        continue;
      isFound = true;
      if (none_of(role.trips, [&](int64_t trip) { return barriers % trip == 0; }))
        fail(loop.front(),
             formatv("the metadata declares {0} a trip of {1}; this loop has {2}",
                     role.trips.empty() ? "nothing of" : spellBarriers(role.trips.front()),
                     role.spell(), barriers));
    }
    // Of few trips each may be written out.
    unsigned straight = 0;
    for (auto [at, instruction] : enumerate(kernel.code))
      straight += isBarrier(instruction) && lags.most[at];
    if (!isFound && !role.trips.empty() && straight < *llvm::min_element(role.trips))
      fail(0, formatv("the metadata declares {0} a trip of {1}; the code has no such loop",
                      spellBarriers(role.trips.front()), role.spell()));
  }
}

Lags LagCheck::run() {
  for (const WaveGroup &group : groups)
    paths.push_back(followPaths(kernel, blocks, group.first, group.last));
  edges.resize(blocks.size());
  for (const Paths &own : paths)
    for (unsigned block = 0; block < blocks.size(); ++block)
      for (unsigned next : own.edges[block])
        if (!is_contained(edges[block], next))
          edges[block].push_back(next);
  meetings = findMeetings(edges);
  byThread = findBranchesByThread(kernel, blocks);
  arrive(0, Behind(groups.size(), 0));
  while (!work.empty()) {
    unsigned block = work.front();
    work.pop_front();
    leave(block, Behind(known[block]));
  }
  bool isLevel = all_of(declared, [](unsigned count) { return count == 0; });
  if (lags.problems.empty() && !isLevel &&
      none_of(known, [&](const auto &each) { return each.second == declared; })) {
    auto lagging = find_if(groups, [](const WaveGroup &group) { return group.lag > 0; });
    fail(0, formatv("the metadata declares that {0} lag by {1}; the code has no barrier that only "
                    "they pass",
                    spell(*lagging), spellBarriers(lagging->lag)));
  }
  checkTrips();
  for (auto [waves, own] : zip(groups, paths))
    lags.groups.push_back({waves, std::move(own)});
  return std::move(lags);
}

Lags kiln::amdgcn::followLags(const KernelCode &kernel) {
  if (kernel.isFunction || kernel.isOneWave() || kernel.code.empty()) {
    Lags none;
    none.most.assign(kernel.code.size() + 1, 0);
    return none;
  }
  return LagCheck(kernel).run();
}
