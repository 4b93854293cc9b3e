// Reports.h: names and places, and what stands between two accesses that nothing orders.
#include "Reports.h"
#include <algorithm>

using namespace kiln::analysis;
using namespace kiln::emulated;

std::string Names::at(uint32_t number) const {
  if (!sites || !sites[number].line)
    return "";
  auto spell = [&](const Site &site) {
    return std::string(text + site.file) + ":" + std::to_string(site.line) + ":" +
           std::to_string(site.column);
  };
  std::string place = ", at " + spell(sites[number]) + " (" + (text + sites[number].what) + ")";
  for (uint32_t call = sites[number].caller; call; call = sites[call].caller)
    place += ", called at " + spell(sites[call]);
  return place;
}

std::string Names::role(unsigned warp) const {
  for (const Role &role : roles)
    if (warp >= role.firstWarp && warp < role.firstWarp + role.warps)
      return ", role " + role.name;
  return "";
}

std::string Names::thread(Agent agent, Agent first) const {
  unsigned number = agent % threads, warp = number / warpSize;
  std::string name =
      "thread " + std::to_string(number) + " (warp " + std::to_string(warp) + role(warp) + ")";
  bool isOwn = agent / threads == first / threads;
  return isOwn ? name : name + " of block " + std::to_string(agent / threads) + " of the cluster";
}

//===- What was accessed --------------------------------------------------------------------===//

void AccessLog::clear() {
  for (Ring &ring : rings)
    ring.records.clear(), ring.next = 0;
}

void AccessLog::note(const Access &access, bool isWrite, size_t first, size_t count, size_t kept) {
  if (access.event.agent >= rings.size())
    rings.resize(access.event.agent + 1);
  Ring &ring = rings[access.event.agent];
  Record record{access.event.tick, access.by,       access.site,
                uint32_t(first),   uint32_t(count), isWrite};
  if (ring.records.size() < kept)
    return ring.records.push_back(record);
  ring.records[ring.next] = record;
  ring.next = (ring.next + 1) % kept;
}

std::optional<Access> AccessLog::findLast(Agent agent) const {
  if (agent >= rings.size() || rings[agent].records.empty())
    return std::nullopt;
  const Ring &ring = rings[agent];
  const Record &last = ring.records[(ring.next + ring.records.size() - 1) % ring.records.size()];
  return Access{{agent, last.tick, Proxy::Generic}, last.by, last.site};
}

Access AccessLog::find(const Event &event, bool isWrite, size_t offset) const {
  Access found{event, event.agent, 0};
  if (event.agent >= rings.size())
    return found;
  const Ring &ring = rings[event.agent];
  for (size_t i = 0; i < ring.records.size(); ++i) {
    // From the newest back.
    const Record &record =
        ring.records[(ring.next + 2 * ring.records.size() - 1 - i) % ring.records.size()];
    if (record.isWrite == isWrite && record.tick == event.tick &&
        offset - record.first < record.count)
      return {event, record.by, record.site};
  }
  return found;
}

//===- What is wrong ------------------------------------------------------------------------===//

namespace {
class Report {
public:
  Report(const HappensBefore &order, const Names &names, Agent first)
      : order(order), names(names), first(first) {}

  std::string describe(const Clash &clash, const Access &access, const Access &other,
                       const std::string &place, const char *what, const char *noun) const {
    std::string at = std::string(what) + " " + place + ", ";
    std::string own = std::string("\n  this ") + noun + ": " + who(access);
    if (clash.kind == Clash::Kind::Unwritten)
      return at + "which no thread has written" + own +
             "\n  missing: a write before, or a barrier in front of this read and behind the write";
    bool isRead = clash.isRead;
    std::string others =
        own + "\n  that " + (isRead ? "read" : "write") + ": " + who(other) + "\n  missing: ";
    bool isEngine = order.isQueue(clash.other.agent);
    std::string whose =
        isEngine ? "an engine" : "thread " + std::to_string(clash.other.agent % names.threads);
    if (clash.kind == Clash::Kind::BehindFence)
      return "a race: " + at + "which " + whose + (isRead ? " reads" : " writes") +
             "; no fence of the proxy stands between the " + (isRead ? "read" : "write") +
             " and the engine" + others + "a fence of the proxy, " +
             missingFence(other.by, access.by);
    if (!order.hasEnded(clash.other))
      return at + underWay(clash.other, isRead) + others + "a wait of " + name(access.by) +
             ", or of who tells it, for " + order.nameOf(clash.other.agent);
    if (clash.kind == Clash::Kind::TensorFence)
      return "a race: " + at + "which " + whose +
             " uses; no fence of tensor memory stands between the two" + others +
             "a fence of tensor memory behind the first, if a thread did it, in front of what it "
             "tells others, or one by " +
             name(access.by) + " behind what it heard, in front of the second";
    return "a race: " + at + "which " + whose + (isRead ? " reads" : " writes") +
           "; nothing orders the two" + others + missingEdge(clash.other, access.by);
  }

  std::string who(const Access &access) const {
    bool isEngine = order.isQueue(access.event.agent);
    std::string text =
        isEngine ? std::string(order.nameOf(access.event.agent)) + " started by " : "";
    // Of what was long ago only the agent is known.
    text += isEngine && !access.site && order.isQueue(access.by) ? "a thread" : name(access.by);
    if (access.event.proxy == Proxy::Async)
      text += ", by the asynchronous proxy";
    return text + names.at(access.site);
  }

private:
  static const char *underWay(const Event &event, bool isRead) {
    if (event.proxy == Proxy::Tensor)
      return isRead ? "which a product in flight reads" : "into which a product is in flight";
    return isRead ? "which an engine is still reading" : "into which a copy is still under way";
  }

  std::string name(Agent thread) const { return names.thread(thread, first); }

  std::string missingFence(Agent writer, Agent starter) const {
    if (writer == starter)
      return "by " + name(writer) + " between the two";
    return "by " + name(writer) + " behind its access or by " + name(starter) +
           " behind what tells it of that";
  }

  /// From what an agent did to a thread that knows nothing of it.
  std::string missingEdge(const Event &from, Agent to) const {
    if (order.isQueue(from.agent))
      return std::string(order.nameOf(from.agent)) + " has ended, but " + name(to) +
             " has neither waited for it nor heard of it from who has";
    if (order.knowsReads(to, from))
      return name(from.agent) +
             " has told of it, but to its own block alone: of another one's writes "
             "tell only an arrival and a wait whose scope is the cluster";
    if (order.hasTold(from))
      return name(from.agent) + " has since come to a barrier or told of its work otherwise, but " +
             name(to) + " has waited for none of that";
    return name(from.agent) + " has come to no barrier since, and has arrived at none";
  }

  const HappensBefore &order;
  const Names &names;
  const Agent first;
};
} // namespace

std::string kiln::emulated::describe(const HappensBefore &order, const Names &names, Agent first,
                                     const Clash &clash, const Access &access, const Access &other,
                                     const std::string &place, const char *what, const char *noun) {
  std::string told = Report(order, names, first).describe(clash, access, other, place, what, noun);
  if (!names.clashes)
    return told;
  return names.clashes->add({uint32_t(clash.kind), access.site, other.site},
                            told + names.at(access.site));
}

std::string kiln::emulated::describeUnpublished(const HappensBefore &order, const Names &names,
                                                Agent first, const Access &use,
                                                const Access &initialised, uint64_t offset) {
  constexpr uint32_t kind = 1 << 16; // of no clash
  Report report(order, names, first);
  bool isEngine = order.isQueue(use.event.agent);
  std::string told =
      std::string("a race: a use by ") +
      (isEngine ? "an engine" : "another program of the cluster") + " of the barrier at byte " +
      std::to_string(offset) + " of shared memory, which thread " +
      std::to_string(initialised.by % names.threads) +
      " initialises; no fence of initialised barriers stands between the two\n"
      "  this use: " +
      report.who(use) + "\n  that initialisation: " + report.who(initialised) +
      "\n  missing: a fence of initialised barriers ('fence.mbarrier_init'), by " +
      names.thread(initialised.by, first) + " behind it and in front of what tells others of it";
  return names.clashes ? names.clashes->add({kind, use.site, initialised.site}, told) : told;
}

std::string Clashes::add(const std::array<uint32_t, 3> &clash, const std::string &what) {
  if (!seen.insert(clash).second)
    return "";
  if (seen.size() >= most)
    return what;
  told += what + "\n";
  return "";
}

std::string kiln::emulated::describeAccess(const HappensBefore &order, const Names &names,
                                           Agent first, const Access &access) {
  return Report(order, names, first).who(access);
}
