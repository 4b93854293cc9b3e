// Check.h: at which barriers in shared memory warps arrive, and at which they wait.
#include "Accesses.h"
#include "Check.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace kiln;
using namespace kiln::nvptx;

static bool isArrival(const Line &line) {
  return line.is("mbarrier.arrive") || line.is("cp.async.mbarrier.arrive") ||
         line.is("tcgen05.commit");
}
static bool isWait(const Line &line) {
  return line.is("mbarrier.try_wait") || line.is("mbarrier.test_wait");
}

namespace {
/// At which slots of a counter the warps of a role are found.
struct Found {
  std::map<const Protocol::Role *, std::set<int64_t>> arrive, wait;
};

/// How far anybody comes in the slots of a ring. Trips that are written out may come to the first
/// ones alone.
struct Reached {
  int64_t slots = 0;
  bool areCounted = false; ///< one line comes to several
  int64_t of(int64_t declared) const { return areCounted || !slots ? declared : slots; }
};
} // namespace

static std::string spell(const Protocol::Counter &counter) {
  return formatv("counters at byte {0}", counter.at);
}

/// Each arrival and each wait is at a barrier that is declared, by a role that is said to; and each
/// of these is found at each slot.
void Check::checkCounters() {
  std::map<const Protocol::Counter *, Found> found;
  std::map<std::optional<int64_t>, Reached> reached; ///< by rings
  bool isArrivalOpen = false, isWaitOpen = false;
  auto note = [&](const Line &line, const Warps &warps, int64_t place, bool isOne) {
    for (const Protocol::Counter &counter : protocol.counters) {
      int64_t slot = (place - counter.at) / kCounterBytes;
      if (place < counter.at || (place - counter.at) % kCounterBytes || slot >= counter.slots)
        continue;
      Found &of = found[&counter];
      (isWait(line) ? of.wait : of.arrive)[warps.role].insert(slot);
      Reached &ring = reached[counter.ring];
      ring.slots = std::max(ring.slots, slot + 1);
      ring.areCounted |= !isOne || !counter.ring;
      return true;
    }
    return false;
  };
  for (const Warps &warps : roles)
    for (auto [at, line] : enumerate(kernel.code)) {
      if (!warps.paths.comesTo(at) || (!isArrival(line) && !isWait(line)))
        continue;
      Known place = warps.paths.getPlace(line);
      auto places = place ? place->list(kMostPlaces) : std::nullopt;
      if (!places)
        (isWait(line) ? isWaitOpen : isArrivalOpen) = true;
      for (int64_t each : places.value_or(SmallVector<int64_t, 0>()))
        if (!note(line, warps, each, places->size() == 1)) {
          fail(line.number, formatv("warps {0} at byte {1} of shared memory here, where the "
                                    "metadata declares no barrier",
                                    isWait(line) ? "wait" : "arrive", each));
          break;
        }
    }
  for (const Protocol::Counter &counter : protocol.counters)
    for (bool waits : {false, true}) {
      const auto &own = waits ? found[&counter].wait : found[&counter].arrive;
      const std::vector<std::string> &said = waits ? counter.wait : counter.arrive;
      StringRef what = waits ? "wait" : "arrive";
      for (const Warps &warps : roles) {
        bool isSaid = is_contained(said, warps.role->name);
        auto at = own.find(warps.role);
        int64_t slots = at == own.end() ? 0 : at->second.size();
        if (slots && !isSaid)
          fail(kernel.line, formatv("{0}: some {1} at the {2}, which the metadata does not declare",
                                    warps.role->spell(), what, spell(counter)));
        if (isSaid && slots < reached[counter.ring].of(counter.slots) &&
            !(waits ? isWaitOpen : isArrivalOpen))
          fail(kernel.line,
               formatv("the metadata declares that {0} {1}s at {2} {3}; the code has it do so at "
                       "{4}",
                       warps.role->spell(), what, counter.slots, spell(counter), slots));
      }
    }
}
