// Barriers that count arrivals and bytes, barriers of some of the threads, and copies of boxes.
#include "Engines.h"
#include <algorithm>
#include <cstring>
#include <utility>

using namespace kiln::emulated;

void Engines::reset() {
  barriers.clear();
  groups.clear();
  stores.clear();
  isClosed = false;
  endedWords = 0;
  known.assign(cluster.size(), 0);
}

void Engines::join(std::vector<Engines *> all, unsigned own) {
  cluster = std::move(all);
  number = own;
  known.assign(cluster.size(), 0);
}

void Engines::meetCluster() {
  for (Engines *block : cluster)
    for (size_t other = 0; other < cluster.size(); ++other)
      block->known[other] = cluster[other]->shared.getEpoch();
  for (Engines *block : cluster)
    block->shared.advance();
}

std::string Engines::mapTo(unsigned block, uint64_t &address) const {
  if (block >= cluster.size())
    return "an address in block " + std::to_string(block) + " of a cluster of " +
           std::to_string(cluster.size());
  if (!shared.holds(address))
    return "an address in a cluster's block of what is no shared memory";
  address += reinterpret_cast<uint64_t>(cluster[block]->shared.data()) -
             reinterpret_cast<uint64_t>(shared.data());
  return "";
}

static int64_t countBytes(const TensorMap &map) {
  int64_t bytes = map.elementBytes;
  for (unsigned dim = 0; dim < map.rank; ++dim)
    bytes *= map.box[dim];
  return bytes;
}

//===- Barriers -----------------------------------------------------------------------------===//

std::string Engines::initBarrier(uint64_t address, uint32_t arrivals) {
  if (address % 8)
    return "a barrier in shared memory at an address that is no multiple of 8";
  Barrier barrier;
  barrier.arrivals = barrier.pending = arrivals;
  barriers[address] = barrier;
  return "";
}

std::string Engines::find(uint64_t address, Barrier *&barrier) {
  auto at = barriers.find(address);
  if (at == barriers.end())
    return "a barrier in shared memory that nobody has initialised";
  barrier = &at->second;
  return "";
}

void Engines::end(Barrier &barrier) {
  if (barrier.pending || barrier.bytes)
    return;
  barrier.pending = barrier.arrivals;
  ++barrier.phase;
  shared.advance();
  for (auto [block, epoch] : std::exchange(barrier.told, {})) {
    known[block] = std::max(known[block], epoch);
    cluster[block]->shared.advance();
  }
}

std::string Engines::arrive(uint64_t address, int64_t bytes, const Engines *mate) {
  auto isThere = [&](const Engines *block) { return block->shared.holds(address); };
  auto owner = std::find_if(cluster.begin(), cluster.end(), isThere);
  if (owner == cluster.end())
    return "an arrival at what is no barrier in shared memory";
  if ((*owner)->isClosed)
    return "an arrival at a barrier of a block of the cluster that has ended";
  Barrier *barrier;
  if (std::string wrong = (*owner)->find(address, barrier); !wrong.empty())
    return wrong;
  if (!barrier->pending)
    return "an arrival at a barrier that expects no more in this phase";
  barrier->bytes += bytes;
  --barrier->pending;
  for (const Engines *teller : {static_cast<const Engines *>(this), mate})
    if (teller && *owner != teller)
      barrier->told[teller->number] = teller->shared.getEpoch();
  (*owner)->end(*barrier);
  return "";
}

std::string Engines::poll(uint64_t address, uint32_t parity, bool &hasEnded) {
  Barrier *barrier;
  if (std::string wrong = find(address, barrier); !wrong.empty())
    return wrong;
  for (const Box &box : std::exchange(barrier->boxes, {})) {
    if (std::string wrong = land(box); !wrong.empty())
      return wrong;
    barrier->bytes -= countBytes(box.map);
  }
  end(*barrier);
  hasEnded = (barrier->phase & 1) != parity;
  return "";
}

void Engines::arriveAtWord(uint64_t address, uint32_t last) {
  uint32_t count;
  std::memcpy(&count, reinterpret_cast<const void *>(address), sizeof(count));
  // A phase ends where the count comes to its half, and where it begins again.
  if (count < last && count + 1 != (last + 1) / 2)
    return;
  ++endedWords;
  shared.advance();
}

uint64_t Engines::come(int barrier, unsigned threads) {
  Group &group = groups[barrier];
  uint64_t round = group.round;
  if (++group.waiting == threads) {
    group.waiting = 0;
    ++group.round;
    shared.advance();
  }
  return round;
}

//===- Boxes --------------------------------------------------------------------------------===//

/// For each element of a box: its number, and where it is in global memory; null outside.
template <typename Visit>
static void forEachElement(const TensorMap &map, const int32_t *place, Visit visit) {
  int64_t count = countBytes(map) / map.elementBytes;
  for (int64_t number = 0; number < count; ++number) {
    uint64_t address = map.address;
    bool isInside = true;
    int64_t rest = number;
    for (unsigned dim = 0; dim < map.rank; ++dim) {
      int64_t at = place[dim] + rest % map.box[dim];
      rest /= map.box[dim];
      isInside &= at >= 0 && at < map.extents[dim];
      address += at * map.strides[dim];
    }
    visit(number, isInside ? reinterpret_cast<uint8_t *>(address) : nullptr);
  }
}

std::string Engines::startLoad(unsigned thread, uint64_t to, uint64_t address, const TensorMap &map,
                               const int32_t *place) {
  return accept(thread, to, *this, address, map, place, *this);
}

std::string Engines::startLoads(unsigned thread, uint64_t to, uint64_t address,
                                const TensorMap &map, const int32_t *place, uint32_t mask) {
  for (unsigned block = 0; mask >> block; ++block) {
    if (!(mask >> block & 1))
      continue;
    uint64_t there = to, barrier = address;
    std::string wrong = mapTo(block, there);
    if (wrong.empty())
      wrong = mapTo(block, barrier);
    if (wrong.empty())
      wrong = cluster[block]->accept(thread, there, *cluster[block], barrier, map, place, *this);
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

std::string Engines::startLoadsOfPairs(unsigned thread, uint64_t to, uint64_t address,
                                       const TensorMap &map, const int32_t *place, uint32_t mask) {
  auto isThere = [&](const Engines *block) { return block->shared.holds(address); };
  auto owner = std::find_if(cluster.begin(), cluster.end(), isThere);
  if (owner == cluster.end() || (number ^ (*owner)->number) > 1)
    return "a copy that counts at a barrier of no block of the pair";
  for (unsigned block = 0; mask >> block; ++block) {
    if (!(mask >> block & 1))
      continue;
    unsigned counts = (block & ~1u) | ((*owner)->number & 1);
    uint64_t there = to, barrier = address;
    std::string wrong = mapTo(block, there);
    if (wrong.empty())
      wrong = (*owner)->mapTo(counts, barrier);
    if (wrong.empty())
      wrong = cluster[block]->accept(thread, there, *cluster[counts], barrier, map, place, *this);
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

/// Where a box may begin in shared memory.
static std::string checkPlace(uint64_t address, const TensorMap &map) {
  bool fits = address % (map.swizzle ? 8 * map.swizzle : 128) == 0;
  return fits ? "" : "a box in shared memory that does not begin where its rows repeat";
}

/// A box that a block of the cluster has asked for comes to this one, and counts at a barrier of
/// its own or of another.
std::string Engines::accept(unsigned thread, uint64_t to, Engines &counting, uint64_t address,
                            const TensorMap &map, const int32_t *place, const Engines &from) {
  if (isClosed || counting.isClosed)
    return "a copy to a block of the cluster that has ended";
  Barrier *barrier;
  if (std::string wrong = counting.find(address, barrier); !wrong.empty())
    return wrong;
  if (std::string wrong = checkPlace(to, map); !wrong.empty())
    return wrong;
  Box box{thread, this, to, map, {}};
  std::copy(place, place + map.rank, box.place);
  barrier->boxes.push_back(box);
  if (&from != this)
    return shared.beginCopyFromOutside(to, countBytes(map), from.known[number]);
  return shared.beginCopy(thread, to, countBytes(map));
}

std::string Engines::land(const Box &box) {
  int64_t bytes = countBytes(box.map), element = box.map.elementBytes;
  std::vector<uint8_t> data(bytes);
  forEachElement(box.map, box.place, [&](int64_t number, const uint8_t *from) {
    uint64_t to = placeOf(box.shared + number * element, box.map.swizzle) - box.shared;
    if (from)
      std::memcpy(&data[to], from, element);
  });
  return box.owner->shared.landCopy(box.thread, box.shared, bytes, data.data());
}

std::string Engines::startStore(unsigned thread, uint64_t from, const TensorMap &map,
                                const int32_t *place) {
  if (std::string wrong = checkPlace(from, map); !wrong.empty())
    return wrong;
  Box box{thread, this, from, map, {}};
  std::copy(place, place + map.rank, box.place);
  stores[thread].open.push_back(box);
  return shared.inspect(from, countBytes(map));
}

std::string Engines::store(const Box &box) {
  int64_t element = box.map.elementBytes;
  forEachElement(box.map, box.place, [&](int64_t number, uint8_t *to) {
    uint64_t from = placeOf(box.shared + number * element, box.map.swizzle);
    if (to)
      std::memcpy(to, reinterpret_cast<const uint8_t *>(from), element);
  });
  return shared.inspect(box.shared, countBytes(box.map));
}

void Engines::commitStores(unsigned thread) {
  Stores &own = stores[thread];
  own.committed.push_back(std::exchange(own.open, {}));
}

std::string Engines::waitStores(unsigned thread, unsigned inFlight) {
  Stores &own = stores[thread];
  for (; own.committed.size() > inFlight; own.committed.pop_front())
    for (const Box &box : own.committed.front())
      if (std::string wrong = store(box); !wrong.empty())
        return wrong;
  return "";
}

std::string Engines::finish() {
  for (auto &[thread, own] : stores) {
    commitStores(thread);
    if (std::string wrong = waitStores(thread, 0); !wrong.empty())
      return wrong;
  }
  return "";
}
