// Protocol.h: from JSON.
#include "kiln/Support/Protocol.h"
#include "kiln/Support/ParseJSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace llvm;
using namespace kiln;

//===- Members ------------------------------------------------------------------------------===//

// LLVM's reader finds these by their argument.
namespace llvm::json {
static bool fromJSON(const Value &value, Protocol::Role &role, Path path) {
  ObjectMapper map(value, path);
  return map && map.mapOptional("name", role.name) && map.map("first", role.first) &&
         map.map("warps", role.warps) && map.map("copies", role.copies) &&
         map.map("skew", role.skew) && map.map("registers", role.registers) &&
         map.map("trips", role.trips);
}
static bool fromJSON(const Value &value, Protocol::Buffer &buffer, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("at", buffer.at) && map.map("bytes", buffer.bytes);
}
static bool fromJSON(const Value &value, Protocol::Ring &ring, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("depth", ring.depth) && map.map("own", ring.own) &&
         map.map("buffers", ring.buffers) && map.mapOptional("over", ring.over);
}
static bool fromJSON(const Value &value, Protocol::Counter &counter, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("at", counter.at) && map.map("slots", counter.slots) &&
         map.map("arrivals", counter.arrivals) && map.map("ring", counter.ring) &&
         map.map("arrive", counter.arrive) && map.map("wait", counter.wait);
}
static bool fromJSON(const Value &value, Protocol::Barrier &barrier, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("number", barrier.number) && map.map("count", barrier.count) &&
         map.map("warps", barrier.warps);
}
static bool fromJSON(const Value &value, Protocol::Fence &fence, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("kind", fence.kind) && map.map("count", fence.count);
}
static bool fromJSON(const Value &value, Protocol &protocol, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("kernel", protocol.kernel) && map.map("roles", protocol.roles) &&
         map.map("rings", protocol.rings) && map.map("counters", protocol.counters) &&
         map.map("barriers", protocol.barriers) && map.map("fences", protocol.fences);
}
} // namespace llvm::json

//===- The whole ----------------------------------------------------------------------------===//

static std::string findProblemOfRoles(const Protocol &protocol) {
  int64_t warps = 0;
  std::set<StringRef> names, used;
  for (const Protocol::Counter &counter : protocol.counters)
    for (const auto *each : {&counter.arrive, &counter.wait})
      used.insert(each->begin(), each->end());
  for (const Protocol::Role &role : protocol.roles) {
    if (role.warps < 1 || role.copies < 1 || role.skew < 0 || role.registers < 0 ||
        (role.skew && role.copies == 1))
      return formatv("expected {0} to have warps and copies, several if they lag, and no negative "
                     "number",
                     role.spell());
    if (role.first != warps)
      return formatv("expected {0} to begin at warp {1}, got {2}", role.spell(), warps, role.first);
    if (any_of(role.trips, [](int64_t trip) { return trip < 0; }))
      return formatv("expected trips of {0} to have barriers", role.spell());
    if (!role.name.empty() && (!names.insert(role.name).second || !used.count(role.name)))
      return formatv("expected {0} to have a name of its own, and counters that name it",
                     role.spell());
    warps += role.warps * role.copies;
  }
  for (const Protocol::Counter &counter : protocol.counters)
    for (const auto *each : {&counter.arrive, &counter.wait})
      for (const std::string &name : *each)
        if (!names.count(name))
          return formatv("expected a role of the kernel at the counters at byte {0}, got '{1}'",
                         counter.at, name);
  return "";
}

namespace {
/// Bytes of shared memory, from the first to the last.
struct Span {
  int64_t first, last;
  bool overlaps(const Span &other) const { return first <= other.last && other.first <= last; }
};
} // namespace

static std::string findProblemOfMemory(const Protocol &protocol) {
  std::vector<SmallVector<Span, 2>> rings;
  std::vector<Span> counters;
  auto lieOn = [](ArrayRef<Span> a, ArrayRef<Span> b) {
    return any_of(a, [&](const Span &one) {
      return any_of(b, [&](const Span &other) { return one.overlaps(other); });
    });
  };
  for (const Protocol::Counter &counter : protocol.counters) {
    if (counter.at < 0 || counter.slots < 1 || counter.arrivals < 1 ||
        counter.at % kCounterBytes != 0)
      return formatv("expected the counters at byte {0} to have slots and arrivals", counter.at);
    Span span{counter.at, counter.at + counter.slots * kCounterBytes - 1};
    if (lieOn(span, counters))
      return formatv("expected counters at byte {0} to lie on no others", counter.at);
    counters.push_back(span);
  }
  for (auto [number, ring] : enumerate(protocol.rings)) {
    SmallVector<Span, 2> spans;
    if (ring.depth < 1 || ring.buffers.empty())
      return "expected a ring of slots, whose buffers have bytes";
    for (const Protocol::Buffer &buffer : ring.buffers) {
      if (buffer.at < 0 || buffer.bytes < 1 || buffer.at % kRingAlignment ||
          buffer.bytes % kRingAlignment)
        return formatv("expected slots of a ring, at byte {0}, that are aligned to {1} bytes",
                       buffer.at, kRingAlignment);
      Span span{buffer.at, buffer.at + ring.depth * buffer.bytes - 1};
      if (lieOn(span, spans) || lieOn(span, counters))
        return formatv("expected a buffer of a ring, at byte {0}, to lie on nothing else",
                       buffer.at);
      spans.push_back(span);
    }
    std::vector<int64_t> over;
    for (auto [other, theirs] : enumerate(rings))
      if (lieOn(spans, theirs))
        over.push_back(other);
    if (over != ring.over)
      return formatv("expected the ring at byte {0} to lie on just those that it is said to",
                     ring.buffers.front().at);
    rings.push_back(std::move(spans));
  }
  return "";
}

/// Where counters of a ring lie, they are of it, one for each slot. A ring of a role's own may have
/// none, and what lies behind it is others'.
static std::string findProblemOfCounters(const Protocol &protocol) {
  auto isCounted = [&](const Protocol::Ring &ring, size_t number) {
    return !ring.own || any_of(protocol.counters, [&](const Protocol::Counter &counter) {
      return counter.ring == int64_t(number);
    });
  };
  for (const Protocol::Counter &counter : protocol.counters) {
    std::optional<int64_t> behind;
    for (auto [number, ring] : enumerate(protocol.rings)) {
      const Protocol::Buffer &last = ring.buffers.back();
      int64_t end = last.at + ring.depth * last.bytes;
      if (isCounted(ring, number) &&
          (counter.at == end || counter.at == end + ring.depth * kCounterBytes) &&
          counter.slots == ring.depth)
        behind = number;
    }
    if (counter.ring != behind)
      return formatv("expected the counters at byte {0} to be those of the slots of the ring in "
                     "front of them",
                     counter.at);
  }
  for (auto [number, ring] : enumerate(protocol.rings))
    if (!ring.own && none_of(protocol.counters, [number = number](const auto &counter) {
          return counter.ring == int64_t(number);
        }))
      return formatv("expected counters of the ring at byte {0}, which others fill",
                     ring.buffers.front().at);
  return "";
}

/// What no kernel has.
static std::string findProblem(const Protocol &protocol) {
  for (auto *find : {findProblemOfRoles, findProblemOfMemory, findProblemOfCounters})
    if (std::string problem = find(protocol); !problem.empty())
      return problem;
  std::set<int64_t> numbers;
  for (const Protocol::Barrier &barrier : protocol.barriers) {
    if (barrier.number < 1 || barrier.count < 1 || barrier.warps < 1)
      return formatv("expected barrier {0} to have warps", barrier.number);
    for (int64_t number = 0; number < barrier.count; ++number)
      if (!numbers.insert(barrier.number + number).second)
        return formatv("expected one barrier {0}", barrier.number + number);
  }
  std::set<StringRef> kinds;
  for (const Protocol::Fence &fence : protocol.fences)
    if (fence.count < 1 || !kinds.insert(fence.kind).second)
      return formatv("expected fences of the kind '{0}', and one number of them", fence.kind);
  return "";
}

std::string Protocol::Role::spell() const {
  return name.empty() ? spellRange("warp", first, first + warps * copies - 1)
                      : formatv("role '{0}'", name).str();
}

Expected<Protocol> kiln::parseProtocol(StringRef text) {
  auto fail = [](const Twine &what) {
    return createStringError("the protocol that the metadata declares cannot be read: " + what);
  };
  Expected<json::Value> value = parseJSON(text);
  if (!value)
    return fail(toString(value.takeError()));
  Protocol protocol;
  json::Path::Root root("protocol");
  if (!fromJSON(*value, protocol, root))
    return fail(toString(root.getError()));
  if (std::string problem = findProblem(protocol); !problem.empty())
    return fail(problem);
  return protocol;
}

std::string kiln::spellRange(StringRef what, int64_t first, int64_t last) {
  return first == last ? formatv("{0} {1}", what, first).str()
                       : formatv("{0}s {1} to {2}", what, first, last).str();
}
