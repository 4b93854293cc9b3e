// Protocol.h: from JSON.
#include "kiln/Support/Protocol.h"
#include "kiln/Support/ParseJSON.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using kiln::Protocol;

//===- Members ------------------------------------------------------------------------------===//

// LLVM's reader finds these by their argument.
namespace llvm::json {
static bool fromJSON(const Value &value, Protocol::Role &role, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("name", role.name) && map.map("first", role.first) &&
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
         map.map("buffers", ring.buffers);
}
static bool fromJSON(const Value &value, Protocol::Counter &counter, Path path) {
  ObjectMapper map(value, path);
  return map && map.map("at", counter.at) && map.map("slots", counter.slots) &&
         map.map("arrivals", counter.arrivals) && map.map("arrive", counter.arrive) &&
         map.map("wait", counter.wait);
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

/// What no kernel has.
static std::string findProblem(const Protocol &protocol) {
  int64_t warps = 0;
  for (const Protocol::Role &role : protocol.roles) {
    if (role.warps < 1 || role.copies < 1 || role.skew < 0 || role.registers < 0)
      return formatv("expected role '{0}' to have warps and copies, and no negative number",
                     role.name);
    if (role.first != warps)
      return formatv("expected role '{0}' to begin at warp {1}, got {2}", role.name, warps,
                     role.first);
    if (any_of(role.trips, [](int64_t trip) { return trip < 1; }))
      return formatv("expected trips of role '{0}' to have barriers", role.name);
    warps += role.warps * role.copies;
  }
  auto isRole = [&](const std::string &name) {
    return any_of(protocol.roles, [&](const Protocol::Role &role) { return role.name == name; });
  };
  for (const Protocol::Ring &ring : protocol.rings)
    if (ring.depth < 1 ||
        any_of(
            ring.buffers,
            [](const Protocol::Buffer &buffer) { return buffer.at < 0 || buffer.bytes < 1; }))
      return "expected a ring of slots, whose buffers have bytes";
  for (const Protocol::Counter &counter : protocol.counters) {
    if (counter.at < 0 || counter.slots < 1 || counter.arrivals < 1)
      return formatv("expected the counters at byte {0} to have slots and arrivals", counter.at);
    for (const auto *names : {&counter.arrive, &counter.wait})
      for (const std::string &name : *names)
        if (!isRole(name))
          return formatv("expected a role of the kernel at the counters at byte {0}, got '{1}'",
                         counter.at, name);
  }
  for (const Protocol::Barrier &barrier : protocol.barriers)
    if (barrier.number < 0 || barrier.count < 1 || barrier.warps < 1)
      return formatv("expected barrier {0} to have warps", barrier.number);
  return "";
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
