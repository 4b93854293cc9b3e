// Check.h: what is at which bytes of shared memory, by whom. Of copies that an engine makes, and of
// matrices that it reads, the text says where they begin and not how long they are; so these are
// looked at by where they begin.
#include "Check.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace kiln;
using namespace kiln::nvptx;

/// More places of one instruction are taken for all from its first to its last.
static constexpr size_t kMostPlaces = 1 << 16;
/// What a lane says of a row of a matrix.
static constexpr int64_t kRowBytes = 16;

//===- Counters -----------------------------------------------------------------------------===//

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
} // namespace

static std::string spell(const Protocol::Counter &counter) {
  return formatv("counters at byte {0}", counter.at);
}

/// Each arrival and each wait is at a barrier that is declared, by a role that is said to; and each
/// of these is found at each slot.
void Check::checkCounters() {
  std::map<const Protocol::Counter *, Found> found;
  bool isArrivalOpen = false, isWaitOpen = false;
  auto note = [&](const Line &line, const Warps &warps, int64_t place) {
    for (const Protocol::Counter &counter : protocol.counters) {
      int64_t slot = (place - counter.at) / kCounterBytes;
      if (place < counter.at || (place - counter.at) % kCounterBytes || slot >= counter.slots)
        continue;
      Found &of = found[&counter];
      (isWait(line) ? of.wait : of.arrive)[warps.role].insert(slot);
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
        if (!note(line, warps, each)) {
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
        if (isSaid && slots < counter.slots && !(waits ? isWaitOpen : isArrivalOpen))
          fail(kernel.line,
               formatv("the metadata declares that {0} {1}s at {2} {3}; the code has it do so at "
                       "{4}",
                       warps.role->spell(), what, counter.slots, spell(counter), slots));
      }
    }
}

//===- Accesses -----------------------------------------------------------------------------===//

namespace {
enum class Use { Read, Write, Copy };

struct Access {
  unsigned line;
  const Warps *warps;
  Use use;
  int64_t bytes; ///< zero if only where it begins is known
  Known place;
  Known barrier = std::nullopt; ///< of an engine's copy: which counts its bytes
};

/// Of a number of accesses to a buffer: where they begin, and which bytes they touch.
struct Touched {
  std::set<int64_t> starts;
  BitVector bytes;
  bool areCounted = false; ///< one of them is of several slots
  bool isAny() const { return !starts.empty() || bytes.any(); }
};
} // namespace

/// Of "st.shared.v4.b32".
static int64_t getBytes(StringRef mnemonic) {
  int64_t count = 1, bits = 0;
  SmallVector<StringRef, 6> parts;
  mnemonic.split(parts, '.');
  for (StringRef part : parts) {
    int64_t number = 0;
    if (part.consume_front("v") && !part.getAsInteger(10, number))
      count = number;
    else if (!part.empty() && StringRef("bfsu").contains(part.front()) &&
             !part.drop_front().getAsInteger(10, number))
      bits = number;
  }
  return count * bits / 8;
}

/// The place in shared memory that an engine's copy reads or writes.
static void addCopy(const Line &line, const Warps &warps, unsigned at,
                    std::vector<Access> &accesses) {
  size_t shared = line.mnemonic.find(".shared"), global = line.mnemonic.find(".global");
  bool isFill = shared < global;
  for (const Operand &operand : line.operands) {
    Known place = operand.isPlace ? warps.paths.get(operand) : std::nullopt;
    bool isShared = place && place->of == Numbers::Of::Shared;
    if (!isFill && !isShared)
      continue;
    accesses.push_back(
        {at, &warps, isFill ? Use::Copy : Use::Read, 0, isShared ? place : std::nullopt});
    for (const Operand &other : line.operands)
      if (Known behind = other.isPlace ? warps.paths.get(other) : std::nullopt;
          isFill && behind && behind->of == Numbers::Of::Shared)
        accesses.back().barrier = behind;
    return;
  }
}

static void addAccesses(const Line &line, const Warps &warps, unsigned at,
                        std::vector<Access> &accesses) {
  auto add = [&](Use use, int64_t bytes) {
    accesses.push_back({at, &warps, use, bytes, warps.paths.getPlace(line)});
  };
  if (line.is("cp.async.bulk.") && line.mnemonic.contains(".shared") &&
      line.mnemonic.contains(".global"))
    return addCopy(line, warps, at, accesses);
  if (line.is("cp.reduce.async.bulk."))
    return addCopy(line, warps, at, accesses);
  if (line.is("cp.async.c") && line.operands.size() > 2)
    return add(Use::Copy, line.operands[2].number.value_or(0));
  if (line.is("st.shared") || line.is("st.volatile.shared"))
    return add(Use::Write, getBytes(line.mnemonic));
  if (line.is("stmatrix."))
    return add(Use::Write, kRowBytes);
  if (line.is("ld.shared") || line.is("ld.volatile.shared"))
    return add(Use::Read, getBytes(line.mnemonic));
  if (line.is("ldmatrix."))
    return add(Use::Read, kRowBytes);
  if (!line.is("wgmma.mma_async") && !line.is("tcgen05.mma") && !line.is("tcgen05.cp"))
    return;
  // An operand that is in registers, or in tensor memory, is no descriptor. Which of them are
  // descriptors the number of registers says, where what is in one is not known.
  for (const Operand &operand : line.operands) {
    Known place = warps.paths.get(operand);
    if (place && place->of == Numbers::Of::Descriptor)
      accesses.push_back({at, &warps, Use::Read, 0, place});
    else if (operand.text.starts_with("%rd") && !place)
      accesses.push_back({at, &warps, Use::Read, 0, std::nullopt});
  }
}

static bool touches(const Access &access, int64_t first, int64_t last) {
  return access.place && access.place->base <= last &&
         first <= access.place->getLast() + std::max<int64_t>(access.bytes, 1) - 1;
}
static bool isWithin(const Access &access, int64_t first, int64_t last) {
  return first <= access.place->base &&
         access.place->getLast() + std::max<int64_t>(access.bytes, 1) - 1 <= last;
}

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
      if (!access->bytes && place >= first && place <= last)
        touched.starts.insert(place - first);
      int64_t from = std::max(place, first), to = std::min(place + access->bytes - 1, last);
      if (access->bytes && from <= to)
        touched.bytes.set(from - first, to - first + 1);
    }
  }
  return touched;
}

/// Whether each slot is touched as the first one is, from its first byte on. A loop of few trips
/// may be written out and come to the first slots alone, each by accesses of its own.
static bool goesRound(const Touched &touched, int64_t bytes, int64_t depth) {
  auto isTouched = [&](int64_t at) {
    return touched.bytes.any() ? touched.bytes.test(at) : touched.starts.count(at) > 0;
  };
  if (!isTouched(0))
    return false;
  while (depth > 1 && !touched.areCounted && !isTouched((depth - 1) * bytes))
    --depth;
  for (int64_t slot = 1; slot < depth; ++slot)
    for (int64_t byte = 0; byte < bytes; ++byte)
      if (isTouched(byte) != isTouched(slot * bytes + byte))
        return false;
  // Slots are as long as what engines read is aligned to.
  int64_t last = touched.bytes.any() ? touched.bytes.find_last() - (depth - 1) * bytes : bytes;
  return last > bytes - 1 - kRingAlignment;
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
  std::vector<Access> accesses;
  for (const Warps &warps : roles)
    for (auto [at, line] : enumerate(kernel.code))
      if (warps.paths.comesTo(at))
        addAccesses(line, warps, at, accesses);
  struct Place {
    const Protocol::Ring *ring;
    int64_t first, last, bytes;
  };
  std::vector<Place> places;
  for (const Protocol::Ring &ring : protocol.rings)
    for (const Protocol::Buffer &buffer : ring.buffers)
      places.push_back({&ring, buffer.at, buffer.at + ring.depth * buffer.bytes - 1, buffer.bytes});
  for (const Access &access : accesses) {
    bool isHome = any_of(places, [&](const Place &place) {
      return access.place && isWithin(access, place.first, place.last);
    });
    auto other = find_if(places, [&](const Place &place) {
      return !place.ring->own && touches(access, place.first, place.last);
    });
    if (!access.place || isHome || (access.use != Use::Copy && other == places.end()))
      continue;
    std::string where = formatv("bytes {0} to {1} of shared memory", access.place->base,
                                access.place->getLast() + std::max<int64_t>(access.bytes, 1) - 1);
    if (access.use == Use::Copy)
      fail(kernel.code[access.line].number,
           formatv("a copy fills {0} here, where the metadata declares no ring", where));
    else
      fail(kernel.code[access.line].number,
           formatv("{0} are used here; the metadata declares a ring at bytes {1} to {2}", where,
                   other->first, other->last));
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
        if (touches(access, place.first, place.last))
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
