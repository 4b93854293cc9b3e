// GlobalMemory.h: bounds, and what two programs or threads that clash are told.
#include "GlobalMemory.h"
#include <algorithm>
#include <utility>

using namespace kiln::analysis;
using namespace kiln::emulated;

GlobalMemory::GlobalMemory(const std::vector<Range> &all, bool isChecked, bool hasBareBarriers,
                           bool blockFencesWait, bool overlaps, const Names &names)
    : ranges(all), isChecked(isChecked), overlaps(overlaps), names(names),
      order(hasBareBarriers, blockFencesWait) {
  // Arguments may be of one array.
  for (Range &range : ranges)
    for (const Range &other : all)
      range.isWritten |= other.isWritten && range.first < other.last && other.first < range.last;
}

Run GlobalMemory::begin(std::shared_ptr<HappensBefore> threads, unsigned threadsOfBlock,
                        const uint32_t first[3], const int64_t extents[3]) {
  programs.push_back({{first[0], first[1], first[2]}, {extents[0], extents[1], extents[2]}});
  if (overlaps) {
    programs.back().before = threads->addQueue("the launch in front of this one");
    threads->close(programs.back().before);
  }
  return order.begin(std::move(threads), threadsOfBlock);
}

//===- Bounds -------------------------------------------------------------------------------===//

const Range *GlobalMemory::find(uint64_t address, int64_t bytes) const {
  for (const Range &range : ranges)
    if (address >= range.first && address + bytes <= range.last)
      return &range;
  return nullptr;
}

std::string GlobalMemory::checkBounds(uint64_t address, int64_t bytes, int kind) const {
  if (address % std::min<uint64_t>(bytes & -bytes, 16))
    return "a misaligned access of " + std::to_string(bytes) + " bytes of global memory";
  if (!isChecked || find(address, bytes))
    return "";
  return std::string("a ") + (kind & Writes ? "write" : "read") + " of " + std::to_string(bytes) +
         " bytes of global memory that no argument covers" + describeNearest(address, bytes);
}

std::string GlobalMemory::describeNearest(uint64_t address, int64_t bytes) const {
  uint64_t last = address + bytes, least = ~uint64_t(0);
  std::string nearest;
  for (const Range &range : ranges) {
    bool isBehind = address >= range.first;
    uint64_t apart = isBehind ? address - std::min(address, range.last)
                              : range.first - std::min(last, range.first);
    if (range.argument.empty() || apart >= least)
      continue;
    least = apart;
    nearest = (apart ? ", " + std::to_string(apart) + " bytes " : ", across ") +
              std::string(isBehind ? (apart ? "behind the end" : "the end")
                                   : (apart ? "in front" : "the beginning")) +
              " of argument '" + range.argument + "'";
  }
  return nearest;
}

std::string GlobalMemory::describe(uint64_t address, int64_t bytes) const {
  std::string count = std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  const Range *range = find(address, bytes);
  if (!range || range->argument.empty())
    return count + " of global memory";
  return count + " at byte " + std::to_string(address - range->first) + " of argument '" +
         range->argument + "'";
}

//===- Accesses -----------------------------------------------------------------------------===//

/// The launches in front of this one are a queue that has been given one thing.
static constexpr Tick kOnlyTick = 1;
static Event eventOfLaunch(Agent before) { return {before, kOnlyTick, Proxy::Generic}; }

/// LowerToHost.h numbers scopes from the widest on.
static Scope scopeOf(int kind) {
  return Scope(unsigned(Scope::Grid) - (unsigned(kind) >> GlobalMemory::ScopeShift & 3));
}

std::string GlobalMemory::access(Run run, Agent thread, const Event &event, uint64_t address,
                                 int64_t bytes, int kind, const void *value) {
  const Range *range = find(address, bytes);
  HappensBefore &threads = order.orderOf(run);
  bool isAtomic = kind & Atomic, reads = kind & Reads, writes = kind & Writes;
  GridEvent own{run, event, thread, threads.getSite(), isAtomic};
  if (overlaps && (!range || !range->argument.empty())) {
    if (!threads.knows(thread, eventOfLaunch(programs[run].before)))
      return describeLaunch(own, address, writes);
    if (threads.isWatching() && threads.knowsByWatched(thread).done.get(programs[run].before))
      threads.noteUse();
  }
  if (range && !range->isWritten)
    return "";
  if (isAtomic && reads)
    order.look(run, thread, address, kind & Acquires, scopeOf(kind));
  const void *present = reinterpret_cast<const void *>(address);
  bool isLate = threads.isQueue(event.agent) && writes;
  auto written = isLate ? underWay.find(address) : underWay.end();
  if (written != underWay.end() && written->second.size() == size_t(bytes))
    present = written->second.data();
  std::optional<GridClash> clash =
      history.access(thread, own, {address, size_t(bytes), reads, writes, value, present});
  if (clash)
    return describe(*clash, own, writes);
  if (isLate)
    underWay[address].assign(static_cast<const uint8_t *>(value),
                             static_cast<const uint8_t *>(value) + bytes);
  if (isAtomic && writes)
    order.tell(run, thread, address, !reads, kind & Releases, scopeOf(kind));
  return "";
}

void GlobalMemory::fence(Run run, Agent thread, int kind) {
  order.fence(run, thread, kind & Acquires, kind & Releases, scopeOf(kind));
}

void GlobalMemory::waitForLaunch(Run run, Agent thread) {
  if (overlaps)
    order.orderOf(run).end(programs[run].before, kOnlyTick, thread);
}

//===- What is wrong ------------------------------------------------------------------------===//

std::string GlobalMemory::describeLaunch(const GridEvent &own, uint64_t address,
                                         bool isWrite) const {
  const char *noun = isWrite ? "write" : "read";
  return std::string("a race: a ") + noun + " of " + placeOf(address) +
         ", which the launch in front of this one may still use\n  this " + noun + ": " + who(own) +
         "\n  missing: a wait for what runs in front of it ('griddepcontrol.wait'), by " +
         nameOf(own.run, own.by) + " or by who tells it";
}

std::string GlobalMemory::placeOf(uint64_t address) const {
  const Range *range = find(address, 1);
  return "byte " + std::to_string(address - (range ? range->first : 0)) +
         (range && !range->argument.empty() ? " of argument '" + range->argument + "'"
                                            : " of global memory");
}

std::string GlobalMemory::nameOf(Run run, Agent thread) const {
  const Programs &of = programs[run];
  uint64_t block = thread / names.threads;
  std::string name = names.thread(thread, thread) + " of program (";
  for (int i = 0; i < 3; ++i) {
    name += (i ? ", " : "") + std::to_string(of.first[i] + block % of.extents[i]);
    block /= of.extents[i];
  }
  return name + ")";
}

std::string GlobalMemory::who(const GridEvent &event) const {
  return nameOf(event.run, event.by) + names.at(event.site);
}

std::string GlobalMemory::describe(const GridClash &clash, const GridEvent &own,
                                   bool isWrite) const {
  const char *what = own.isAtomic ? "an atomic access to" : isWrite ? "a write of" : "a read of";
  const char *noun = own.isAtomic ? "access" : isWrite ? "write" : "read";
  std::string place = placeOf(clash.address);
  const GridEvent &other = clash.other;
  const char *others = clash.isRead ? "read" : other.isAtomic ? "access" : "write";
  std::string by = nameOf(other.run, other.by), missing;
  bool isKnown = order.knows(own.run, own.by, other, /*isRead=*/true);
  if (isKnown && own.event.proxy == Proxy::Async && !clash.isRead &&
      !order.finds(own.run, own.by, other)) {
    missing = "a fence of the proxy for global memory, by " + by + " behind its " + others +
              " or by " + nameOf(own.run, own.by) + " behind what told it of that";
  } else if (isKnown) {
    missing = "a fence, or a wait of " + by + " for its " + others +
              ", in front of what tells of it: that alone orders no accesses to global memory";
  } else if (other.run == own.run) {
    Clash alike{clash.isRead ? Clash::Kind::AfterRead : Clash::Kind::AfterWrite, 0, other.event,
                clash.isRead};
    Agent first = own.by / names.threads * names.threads;
    return emulated::describe(order.orderOf(own.run), names, first, alike,
                              {own.event, own.by, own.site}, {other.event, other.by, other.site},
                              place, what, noun);
  } else if (own.isAtomic != other.isAtomic && (own.isAtomic ? clash.isRead : !isWrite)) {
    missing = (own.isAtomic ? by : nameOf(own.run, own.by)) +
              " reads by no atomic access: who waits for what another program tells must read it "
              "by one that acquires";
  } else if (order.hasTold(other)) {
    missing = by + " has told of it since by an atomic access that releases, but " +
              nameOf(own.run, own.by) + " has acquired from none that knows of it";
  } else {
    missing = by + " has told no other program: behind its " + others +
              " an atomic access must release, at device scope, and another one acquire";
  }
  return std::string("a race: ") + what + " " + place + ", which " + by +
         (clash.isRead ? " reads" : " writes") + "; nothing orders the two\n  this " + noun + ": " +
         who(own) + "\n  that " + others + ": " + who(other) + "\n  missing: " + missing;
}
