// Profile.h: the lanes of a warp put together again, and what serving them takes.
#include "Profile.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <algorithm>
#include <set>

using namespace kiln::analysis;
using namespace kiln::emulated;
using namespace llvm;

namespace {
enum Kind { Read = 1, Write = 2, Atomic = 4, Shared = 8 };
/// Accesses of a warp that are put together at once, and spans of time that are kept at all.
constexpr size_t kMostAccesses = 1 << 20, kMostSpans = 1 << 22;
constexpr int64_t kMostBytes = 16; ///< of a lane, at once
constexpr uint64_t kSectorBytes = 32, kBankBytes = 4;
} // namespace

//===- What happens -------------------------------------------------------------------------===//

void Profile::begin(HappensBefore &of, unsigned count) {
  begun[&of] = {std::vector<Thread>(count), programs++ == 0};
  of.keepTimes();
  threadCount = count;
  enter(of);
}

void Profile::enter(HappensBefore &of) {
  endTurn();
  order = &of;
  running = &begun.at(&of);
}

void Profile::end(const HappensBefore &of) {
  auto at = begun.find(&of);
  if (at->second.isFirst)
    first = std::move(at->second.threads);
  begun.erase(at);
}

/// Spans that follow one another at a site are one.
void Profile::keep(Thread &thread, const Thread::Span &span) {
  if (!running->isFirst || kept > kMostSpans)
    return;
  if (!thread.spans.empty() && thread.spans.back().site == span.site &&
      thread.spans.back().waits == span.waits && thread.spans.back().last == span.first) {
    thread.spans.back().last = span.last;
    return;
  }
  thread.spans.push_back(span);
  ++kept;
}

void Profile::step(Agent number, uint32_t site) {
  Thread &thread = running->threads[number];
  uint64_t now = order->getTime(number);
  if (now > thread.last) {
    ++sites[thread.site].waits;
    sites[thread.site].waited += now - thread.last;
    keep(thread, {thread.last, now, thread.site, true});
  }
  order->step(number);
  keep(thread, {now, now + 1, site, false});
  thread.last = now + 1;
  thread.site = site;
  ++thread.steps;
  ++total;
  ++sites[site].lanes;
  uint32_t times = increase(lanes[number % warpSize][site]);
  if (times > most[site].number || most[site].turn != turn) {
    most[site] = {turn, times};
    ++sites[site].warps;
  }
}

uint32_t Profile::increase(Count &count) const {
  if (count.turn != turn)
    count = {turn, 0};
  return ++count.number;
}

void Profile::access(Agent thread, uint32_t site, uint64_t address, int64_t bytes, int kind) {
  sites[site].kind |= kind;
  sites[site].bytes += bytes;
  // What is wider takes several instructions.
  for (int64_t at = 0; at < bytes; at += kMostBytes)
    accesses.push_back({site, thread, 0, address + at, std::min(kMostBytes, bytes - at), kind});
  if (accesses.size() > kMostAccesses)
    putTogether();
}

//===- Warps --------------------------------------------------------------------------------===//

void Profile::endTurn() {
  putTogether();
  ++turn;
}

/// Of each site and each time that lanes accessed memory there: those who did.
void Profile::putTogether() {
  for (auto [number, access] : enumerate(accesses))
    access.number = number;
  llvm::sort(accesses, [](const Access &a, const Access &b) {
    return std::tie(a.site, a.lane, a.number) < std::tie(b.site, b.lane, b.number);
  });
  for (size_t i = 0; i < accesses.size(); ++i) {
    const Access *before = i > 0 ? &accesses[i - 1] : nullptr;
    bool isNext = before && accesses[i].site == before->site && accesses[i].lane == before->lane;
    accesses[i].number = isNext ? before->number + 1 : 0;
  }
  auto key = [](const Access &access) { return std::make_pair(access.site, access.number); };
  llvm::sort(accesses, [&](const Access &a, const Access &b) {
    return std::make_pair(key(a), a.lane) < std::make_pair(key(b), b.lane);
  });
  for (size_t begin = 0, end; begin < accesses.size(); begin = end) {
    for (end = begin; end < accesses.size() && key(accesses[end]) == key(accesses[begin]);)
      ++end;
    auto together = ArrayRef(accesses).slice(begin, end - begin);
    Site &site = sites[together.front().site];
    if (together.front().kind & Shared)
      countShared(site, together);
    else
      countSectors(site, together);
  }
  accesses.clear();
}

/// Cycles, by the most words that one bank of those that serve a group of lanes must give.
void Profile::countShared(Site &site, ArrayRef<Access> lanes) {
  const Access &one = lanes.front();
  unsigned size = one.bytes <= 4 ? 0 : one.bytes <= 8 ? 1 : 2;
  const Phase &phase = phases[bool(one.kind & Write)][size];
  // A group has one name: the least lane of those that combinations of the basis lead to.
  auto groupOf = [&](unsigned lane) {
    unsigned least = lane;
    for (unsigned combination = 0; combination < 1u << phase.lanes.size(); ++combination) {
      unsigned other = lane;
      for (auto [bit, mask] : enumerate(phase.lanes))
        other ^= combination >> bit & 1 ? mask : 0;
      least = std::min(least, other);
    }
    return least;
  };
  std::map<unsigned, std::set<uint64_t>> words;
  for (const Access &access : lanes) {
    std::set<uint64_t> &own = words[groupOf(access.lane % warpSize)];
    for (int64_t at = 0; at < access.bytes; at += kBankBytes)
      own.insert((access.address + at) / kBankBytes);
  }
  for (const auto &[group, asked] : words) {
    std::vector<unsigned> ofBank(phase.banks);
    for (uint64_t word : asked)
      ++ofBank[word % phase.banks];
    site.cycles += *llvm::max_element(ofBank);
    site.fewest += (asked.size() + phase.banks - 1) / phase.banks;
  }
}

void Profile::countSectors(Site &site, ArrayRef<Access> lanes) {
  SmallVector<uint64_t> sectors;
  for (const Access &access : lanes)
    for (uint64_t at = access.address / kSectorBytes;
         at <= (access.address + access.bytes - 1) / kSectorBytes; ++at)
      sectors.push_back(at);
  llvm::sort(sectors);
  site.sectors += std::unique(sectors.begin(), sectors.end()) - sectors.begin();
}

//===- What is told -------------------------------------------------------------------------===//

/// Of an instruction by its name, or of an access by its kind.
static StringRef classOf(StringRef name, int kind) {
#define KILN_CLASS(Class, Prefix)                                                                  \
  if (name.starts_with(Prefix))                                                                    \
    return Class;
#include "AMD/Classes.def"
#include "NVIDIA/Classes.def"
#undef KILN_CLASS
  if (!kind)
    return name == "loop" ? "loop" : "other";
  bool isShared = kind & Shared;
  if (kind & Atomic)
    return isShared ? "shared atomic" : "global atomic";
  if (kind & Write)
    return isShared ? "shared store" : "global store";
  return isShared ? "shared load" : "global load";
}

json::Object Profile::describe(const Names &names) const {
  json::Array all;
  for (auto [number, site] : enumerate(sites)) {
    if (!site.lanes && !site.bytes)
      continue;
    json::Object told{{"site", int64_t(number)}};
    StringRef what = "";
    if (names.sites) {
      const emulated::Site &place = names.sites[number];
      what = names.text + place.what;
      json::Array calls;
      for (uint32_t call = place.caller; call; call = names.sites[call].caller)
        calls.push_back(
            json::Array{names.text + names.sites[call].file, int64_t(names.sites[call].line)});
      told["file"] = names.text + place.file;
      told["line"] = int64_t(place.line);
      told["column"] = int64_t(place.column);
      told["calls"] = std::move(calls);
      told["scalars"] = int64_t(place.scalars * site.warps);
    }
    told["name"] = what;
    told["class"] = classOf(what, site.kind);
    for (auto [key, value] :
         std::initializer_list<std::pair<const char *, uint64_t>>{{"warps", site.warps},
                                                                  {"lanes", site.lanes},
                                                                  {"bytes", site.bytes},
                                                                  {"cycles", site.cycles},
                                                                  {"fewest_cycles", site.fewest},
                                                                  {"sectors", site.sectors},
                                                                  {"waits", site.waits},
                                                                  {"waited", site.waited}})
      if (value)
        told[key] = int64_t(value);
    all.push_back(std::move(told));
  }
  // Of each warp the thread that did most.
  json::Array timeline;
  const std::vector<Thread> *of = &first;
  for (const auto &[cluster, state] : begun)
    if (state.isFirst)
      of = &state.threads;
  const std::vector<Thread> &shown = *of;
  for (size_t begin = 0; begin < shown.size(); begin += warpSize) {
    auto warp = ArrayRef(shown).slice(begin, std::min<size_t>(warpSize, shown.size() - begin));
    const Thread *busiest =
        llvm::max_element(warp, [](const Thread &a, const Thread &b) { return a.steps < b.steps; });
    json::Array spans;
    for (const Thread::Span &span : busiest->spans)
      spans.push_back(
          json::Array{int64_t(span.first), int64_t(span.last), int64_t(span.site), span.waits});
    size_t number = begin % names.threads / warpSize;
    StringRef role;
    for (const Names::Role &each : names.roles)
      if (number >= each.firstWarp && number < each.firstWarp + each.warps)
        role = each.name;
    timeline.push_back(json::Object{{"block", int64_t(begin / names.threads)},
                                    {"warp", int64_t(number)},
                                    {"role", role},
                                    {"thread", int64_t((busiest - shown.data()) % names.threads)},
                                    {"spans", std::move(spans)}});
  }
  return json::Object{{"threads", int64_t(threadCount)}, {"clusters", int64_t(programs)},
                      {"steps", int64_t(total)},         {"cut", kept > kMostSpans},
                      {"sites", std::move(all)},         {"timeline", std::move(timeline)}};
}
