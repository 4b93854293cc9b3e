// Check.h: what is at which bytes of shared memory, by whom. Of copies that an engine makes, and of
// matrices that it reads, the text says where they begin and not how long they are; so these are
// looked at by where they begin.
#include "Accesses.h"
#include "Check.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace kiln;
using namespace kiln::nvptx;

//===- Slots --------------------------------------------------------------------------------===//

namespace {
/// Of a number of accesses to a buffer: where they begin, and which bytes they touch.
struct Touched {
  std::set<int64_t> starts;
  std::map<int64_t, std::set<unsigned>> lines; ///< those that begin in a slot
  BitVector bytes;
  bool areCounted = false; ///< one of them is of several slots
  bool isAny() const { return !starts.empty() || bytes.any(); }
};
} // namespace

/// What accesses touch of a buffer, in bytes from its first one on.
static Touched collect(ArrayRef<const Access *> accesses, int64_t first, int64_t last,
                       int64_t slotBytes) {
  Touched touched;
  touched.bytes.resize(last - first + 1);
  for (const Access *access : accesses) {
    touched.areCounted |=
        (access->place->base - first) / slotBytes != (access->place->getLast() - first) / slotBytes;
    auto places = access->place->list(kMostPlaces);
    if (!places && access->bytes) {
      int64_t from = std::max(access->place->base, first);
      int64_t to = std::min(access->place->getLast() + access->bytes - 1, last);
      touched.bytes.set(from - first, to - first + 1);
    }
    for (int64_t place : places.value_or(SmallVector<int64_t, 0>())) {
      if (!access->bytes && place >= first && place <= last) {
        touched.starts.insert(place - first);
        touched.lines[(place - first) / slotBytes].insert(access->line);
      }
      int64_t from = std::max(place, first), to = std::min(place + access->bytes - 1, last);
      if (access->bytes && from <= to)
        touched.bytes.set(from - first, to - first + 1);
    }
  }
  return touched;
}

/// Whether each slot is touched from its first byte on, and as the first one is that the same lines
/// touch: tiles that engines read otherwise may take turns in a ring, or with such as warps read. A
/// loop of few trips may be written out and come to the first slots alone, each by accesses of its
/// own.
static bool goesRound(const Touched &touched, int64_t bytes, int64_t depth) {
  auto isTouched = [&](int64_t at) { return touched.bytes.test(at) || touched.starts.count(at); };
  auto findLines = [&](int64_t slot) {
    auto at = touched.lines.find(slot);
    return at == touched.lines.end() ? std::set<unsigned>() : at->second;
  };
  // What lies on a ring at other times is read there, too: of an engine's tiles starts alone tell.
  bool haveStarts = !touched.starts.empty();
  auto isAt = [&](int64_t at) { return haveStarts ? touched.starts.count(at) > 0 : isTouched(at); };
  while (depth > 1 && !touched.areCounted && !isTouched((depth - 1) * bytes))
    --depth;
  for (int64_t slot = 0; slot < depth; ++slot) {
    if (!isTouched(slot * bytes))
      return false;
    int64_t like = 0;
    while (findLines(like) != findLines(slot))
      ++like;
    for (int64_t byte = 0; byte < bytes; ++byte)
      if (isAt(like * bytes + byte) != isAt(slot * bytes + byte))
        return false;
  }
  // Slots are as long as what engines read is aligned to.
  return haveStarts || touched.bytes.find_last() - (depth - 1) * bytes > bytes - 1 - kRingAlignment;
}

//===- Rings --------------------------------------------------------------------------------===//

/// What a barrier is told to expect is as much as a slot holds of what copies that count there
/// bring, but for what slots are aligned to. Several who arrive may bring a part each; and one of a
/// pair of programs expects what both bring.
void Check::checkBytes(const Protocol::Ring &ring, const Known &barrier, size_t buffers,
                       int64_t bytes) {
  int64_t arrivals = 1;
  for (const Protocol::Counter &counter : protocol.counters)
    if (barrier->base == counter.at)
      arrivals = counter.arrivals;
  auto fits = [&](int64_t expected) {
    return expected <= bytes && expected > bytes - int64_t(buffers) * kRingAlignment;
  };
  for (const Warps &warps : roles)
    for (auto [at, line] : enumerate(kernel.code)) {
      if (!warps.paths.comesTo(at) || !line.is("mbarrier.arrive.expect_tx") ||
          warps.paths.getPlace(line) != barrier)
        continue;
      Known known = warps.paths.get(line.operands.back());
      if (!known || !known->isOne() || fits(known->base) || fits(known->base * arrivals) ||
          (known->base % 2 == 0 && fits(known->base / 2 * arrivals)))
        continue;
      fail(line.number,
           formatv("the metadata declares {0} bytes of a slot, of a ring at byte {1}, that copies "
                   "fill; the code expects {2}",
                   bytes, ring.buffers.front().at, known->base));
    }
}

/// Copies go to rings that are declared and nowhere else. Each slot is filled and read, and nobody
/// who uses a ring between roles reaches beyond it.
void Check::checkRings() {
  struct Place {
    const Protocol::Ring *ring;
    int64_t first, last, bytes;
  };
  std::vector<Place> places;
  for (const Protocol::Ring &ring : protocol.rings)
    for (const Protocol::Buffer &buffer : ring.buffers)
      places.push_back({&ring, buffer.at, buffer.at + ring.depth * buffer.bytes - 1, buffer.bytes});
  // What no counter tells of, no code tells from other tiles.
  auto isCounted = [&](const Protocol::Ring &ring) {
    return any_of(protocol.counters, [&](const Protocol::Counter &counter) {
      return counter.ring == &ring - protocol.rings.data();
    });
  };
  auto findOther = [&](const Access &access) {
    return find_if(places, [&](const Place &place) {
      return (!place.ring->own || isCounted(*place.ring)) &&
             access.touches(place.first, place.last);
    });
  };
  auto isHome = [&](const Access &access) {
    return !access.place || any_of(places, [&](const Place &place) {
      return access.isWithin(place.first, place.last);
    }) || (access.use != Use::Copy && findOther(access) == places.end());
  };
  Accesses accesses;
  for (const Warps &warps : roles)
    append_range(accesses, collectAccesses(kernel, warps, isHome));
  for (const Access &access : accesses) {
    if (isHome(access))
      continue;
    unsigned line = kernel.code[access.line].number;
    std::string where =
        formatv("bytes {0} to {1} of shared memory", access.place->base, access.getLast());
    if (access.use == Use::Copy)
      fail(line, formatv("a copy fills {0} here, where the metadata declares no ring", where));
    else
      fail(line, formatv("{0} are used here; the metadata declares a ring at bytes {1} to {2}",
                         where, findOther(access)->first, findOther(access)->last));
  }
  std::map<const Protocol::Ring *, std::map<int64_t, std::pair<Known, int64_t>>> counted;
  for (const Place &place : places) {
    std::string what = formatv("a ring of {0} slots at bytes {1} to {2} of shared memory",
                               place.ring->depth, place.first, place.last);
    auto list = [&](ArrayRef<Use> uses, bool &isOpen) {
      std::vector<const Access *> found;
      for (const Access &access : accesses) {
        if (!is_contained(uses, access.use))
          continue;
        isOpen |= !access.place;
        if (access.touches(place.first, place.last))
          found.push_back(&access);
      }
      return found;
    };
    bool isFillOpen = false, isReadOpen = false;
    auto fills = list(Use::Copy, isFillOpen), reads = list(Use::Read, isReadOpen);
    if (fills.empty())
      fills = list(Use::Write, isFillOpen);
    for (auto [found, isOpen, verb] :
         {std::tuple(&fills, isFillOpen, "fills"), {&reads, isReadOpen, "reads"}}) {
      if (isOpen)
        continue;
      Touched touched = collect(*found, place.first, place.last, place.bytes);
      if (!touched.isAny())
        fail(kernel.line,
             formatv("the metadata declares {0}; nothing in the code {1} it", what, verb));
      else if (!goesRound(touched, place.bytes, place.ring->depth))
        fail(kernel.line,
             formatv("the metadata declares {0}; the code {1} other slots", what, verb));
    }
    auto getRoles = [](ArrayRef<const Access *> found) {
      std::set<const Warps *> warps;
      for (const Access *access : found)
        warps.insert(access->warps);
      return warps;
    };
    for (const Access *access : fills)
      if (access->barrier)
        counted[place.ring][place.first] = {access->barrier, place.bytes};
    if (!isFillOpen && !isReadOpen && place.ring->own != (getRoles(fills) == getRoles(reads)))
      fail(kernel.line, formatv("the metadata declares {0} that {1}; the code does not have it so",
                                what, place.ring->own ? "who reads it fills" : "others fill"));
  }
  for (const auto &[ring, buffers] : counted) {
    int64_t bytes = 0;
    for (const auto &[first, each] : buffers)
      bytes += each.second;
    checkBytes(*ring, buffers.begin()->second.first, buffers.size(), bytes);
  }
}
