// Declared.h: where in LDS the waves of each role were found by the runs of the block.
#include "Paths.h"
#include "kiln/Target/AMDGPU/Declared.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace llvm;
using namespace kiln;
using namespace kiln::amdgcn;

namespace {
/// Bytes of LDS that a buffer of a ring has, from the first to the last.
struct Place {
  const Protocol::Ring *ring;
  int64_t first, last;
  int64_t getSlotBytes() const { return (last - first + 1) / ring->depth; }
  bool touches(int64_t from, int64_t to) const { return first <= to && from <= last; }
  bool contains(int64_t from, int64_t to) const { return first <= from && to <= last; }
};

class PlacesCheck {
public:
  PlacesCheck(const KernelCode &kernel, const Touched &touched, bool isWhole)
      : kernel(kernel), protocol(*kernel.protocol), touched(touched), isWhole(isWhole) {
    for (const Protocol::Ring &ring : protocol.rings)
      for (const Protocol::Buffer &buffer : ring.buffers)
        places.push_back({&ring, buffer.at, buffer.at + ring.depth * buffer.bytes - 1});
  }
  std::vector<WaitProblem> run();

private:
  void fail(unsigned at, const Twine &text) { problems.push_back({at, text.str()}); }
  const Protocol::Counter *findCounter(int64_t word) const;
  void checkWords(const std::map<unsigned, BitVector> &words, bool areLooks);
  void checkUsers(const Protocol::Counter &counter, bool areLooks);
  void checkAccess(unsigned at, const Touched::Access &access);
  void checkPlace(const Place &place);
  void checkSlots(const Place &place, Touched::Use use, StringRef verb);
  bool mayReach(const Place &place, Touched::Use use, int64_t slot);

  const KernelCode &kernel;
  const Protocol &protocol;
  const Touched &touched;
  const bool isWhole;
  std::optional<Paths> paths; ///< of all waves, once they are asked for
  std::vector<Place> places;
  std::vector<WaitProblem> problems;
};
} // namespace

static bool hasAny(const BitVector &waves, const Protocol::Role &role) {
  for (int64_t wave = role.first; wave < role.first + role.warps * role.copies; ++wave)
    if (wave < int64_t(waves.size()) && waves.test(wave))
      return true;
  return false;
}

//===- Counters -----------------------------------------------------------------------------===//

const Protocol::Counter *PlacesCheck::findCounter(int64_t word) const {
  auto found = find_if(protocol.counters, [&](const Protocol::Counter &counter) {
    return word >= counter.at && (word - counter.at) % kCounterBytes == 0 &&
           (word - counter.at) / kCounterBytes < counter.slots;
  });
  return found == protocol.counters.end() ? nullptr : &*found;
}

/// Each word at which waves arrive, or look, is one that is declared.
void PlacesCheck::checkWords(const std::map<unsigned, BitVector> &words, bool areLooks) {
  for (const auto &[word, waves] : words) {
    const Protocol::Counter *counter = findCounter(word);
    if (!counter) {
      fail(0, formatv("waves {0} at byte {1} of LDS, which the metadata does not declare",
                      areLooks ? "look" : "arrive", word));
      continue;
    }
    if (areLooks)
      continue;
    uint32_t bound = touched.bounds.at(word);
    if (bound != 2 * counter->arrivals - 1)
      fail(0, formatv("the metadata declares {0} arrivals at byte {1} of LDS; the code counts to "
                      "{2}",
                      counter->arrivals, word, (bound + 1) / 2));
  }
}

/// Who is said to arrive, or to wait, does, and nobody else. Of words that are no ring's each is
/// come to.
void PlacesCheck::checkUsers(const Protocol::Counter &counter, bool areLooks) {
  for (int64_t slot = 0; slot < counter.slots && isWhole && !counter.ring; ++slot)
    if (int64_t word = counter.at + slot * kCounterBytes; !touched.arrivals.count(word))
      return fail(0, formatv("the metadata declares counters at byte {0}; in no run of the code "
                             "anybody arrives there",
                             word));
  const std::vector<std::string> &said = areLooks ? counter.wait : counter.arrive;
  for (const Protocol::Role &role : protocol.roles) {
    bool isSaid = is_contained(said, role.name);
    bool isFound = any_of(areLooks ? touched.looks : touched.arrivals, [&](const auto &each) {
      return findCounter(each.first) == &counter && hasAny(each.second, role);
    });
    StringRef what = areLooks ? "waits" : "arrives";
    if (isFound && !isSaid)
      fail(0, formatv("{0} {1} at the counters at byte {2}, which the metadata does not declare",
                      role.spell(), what, counter.at));
    if (isSaid && !isFound && isWhole)
      fail(0, formatv("the metadata declares that {0} {1} at the counters at byte {2}; in no run "
                      "of the code it does",
                      role.spell(), what, counter.at));
  }
}

//===- Rings --------------------------------------------------------------------------------===//

static std::string spell(const Place &place) {
  return formatv("a ring of {0} slots at bytes {1} to {2} of LDS", place.ring->depth, place.first,
                 place.last);
}

/// Copies go to rings, and who uses a ring between roles stays within it.
void PlacesCheck::checkAccess(unsigned at, const Touched::Access &access) {
  bool isCopy = access.use == Touched::Use::Copy;
  if (any_of(places, [&](const Place &each) { return each.contains(access.first, access.last); }))
    return;
  auto other = find_if(places, [&](const Place &each) {
    return !each.ring->own && each.touches(access.first, access.last);
  });
  if (isCopy)
    fail(at, formatv("a copy fills bytes {0} to {1} of LDS here, where the metadata declares no "
                     "ring",
                     access.first, access.last));
  else if (other != places.end())
    fail(at, formatv("bytes {0} to {1} of LDS are used here; the metadata declares {2}",
                     access.first, access.last, spell(*other)));
}

/// Whether an access that was found at several slots may reach this one, which no run came to.
bool PlacesCheck::mayReach(const Place &place, Touched::Use use, int64_t slot) {
  int64_t size = place.getSlotBytes(), first = place.first + slot * size;
  bool isCounted = false;
  for (const auto &[at, access] : touched.accesses) {
    if (access.use != use || !place.contains(access.first, access.last) ||
        (access.first - place.first) / size == (access.last - place.first) / size)
      continue;
    isCounted = true;
    if (!paths)
      paths =
          followPaths(kernel, Blocks(kernel), 0, kernel.getThreads() / kernel.getWaveSize() - 1);
    const Range &range = paths->places[at];
    if (range.isAll() || int64_t(range.high) >= first)
      return true;
  }
  return !isCounted;
}

/// Each slot is touched as far as the first one is, up to what slots are aligned to. Runs of few
/// trips come to the first slots alone, and so does a loop of few trips that is written out.
void PlacesCheck::checkSlots(const Place &place, Touched::Use use, StringRef verb) {
  const BitVector &bytes = touched.bytes[unsigned(use)];
  auto isTouched = [&](int64_t byte) { return byte < int64_t(bytes.size()) && bytes.test(byte); };
  int64_t size = place.getSlotBytes(), used = size, depth = place.ring->depth;
  while (used > 0 && !isTouched(place.first + used - 1))
    --used;
  if (used <= size - kRingAlignment)
    return fail(0, formatv("the metadata declares {0}; no run of the code {1} a slot of it",
                           spell(place), verb));
  while (depth > 1 && !isTouched(place.first + (depth - 1) * size) &&
         mayReach(place, use, depth - 1))
    --depth;
  for (int64_t slot = 0; slot < depth; ++slot)
    for (int64_t byte = 0; byte < size; ++byte)
      if (isTouched(place.first + slot * size + byte) != (byte < used))
        return fail(0, formatv("the metadata declares {0}; in no run the code {1} just byte {2} of "
                               "slot {3}",
                               spell(place), verb, byte, slot));
}

void PlacesCheck::checkPlace(const Place &place) {
  BitVector fills, reads;
  bool isCopied = false;
  for (const auto &[at, access] : touched.accesses)
    isCopied |= access.use == Touched::Use::Copy && place.touches(access.first, access.last);
  Touched::Use fill = isCopied ? Touched::Use::Copy : Touched::Use::Write;
  for (const auto &[at, access] : touched.accesses)
    if (place.touches(access.first, access.last)) {
      BitVector &waves = access.use == Touched::Use::Read ? reads : fills;
      if (access.use == fill || access.use == Touched::Use::Read)
        waves |= access.waves;
    }
  if (isWhole) {
    checkSlots(place, fill, "fills");
    checkSlots(place, Touched::Use::Read, "reads");
  }
  auto isSame = [&](const Protocol::Role &role) {
    return hasAny(fills, role) == hasAny(reads, role);
  };
  if (isWhole && place.ring->own != all_of(protocol.roles, isSame))
    fail(0, formatv("the metadata declares {0} that {1}; the code does not have it so",
                    spell(place), place.ring->own ? "who reads it fills" : "others fill"));
}

std::vector<WaitProblem> PlacesCheck::run() {
  checkWords(touched.arrivals, false);
  checkWords(touched.looks, true);
  for (const Protocol::Counter &counter : protocol.counters)
    for (bool areLooks : {false, true})
      checkUsers(counter, areLooks);
  for (const auto &[at, access] : touched.accesses)
    checkAccess(at, access);
  for (const Place &place : places)
    checkPlace(place);
  return std::move(problems);
}

std::vector<WaitProblem> kiln::amdgcn::checkDeclaredPlaces(const KernelCode &kernel,
                                                           const ReplayResult &replayed) {
  if (kernel.isFunction || !kernel.protocol || !replayed.touched.isAny())
    return {};
  bool isWhole = !replayed.missed && replayed.runs > replayed.cutShort;
  return PlacesCheck(kernel, replayed.touched, isWhole).run();
}
