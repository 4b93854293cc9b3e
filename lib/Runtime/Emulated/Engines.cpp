// Barriers that count arrivals and bytes, barriers of some of the threads, and copies of boxes.
#include "Engines.h"
#include <algorithm>
#include <cstring>
#include <utility>

using namespace kiln::analysis;
using namespace kiln::emulated;

void Engines::reset(GlobalMemory &memory, Run of) {
  global = &memory;
  run = of;
  barriers.clear();
  rounds.clear();
  stores.clear();
  isClosed = false;
  endedWords = 0;
  words.clear();
}

void Engines::join(std::vector<Engines *> all, unsigned own) {
  cluster = std::move(all);
  number = own;
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

std::string Engines::initBarrier(unsigned thread, uint64_t address, uint32_t arrivals) {
  if (address % 8)
    return "a barrier in shared memory at an address that is no multiple of 8";
  if (std::string wrong = shared.initBarrier(thread, address); !wrong.empty())
    return wrong;
  Barrier barrier;
  barrier.arrivals = barrier.pending = arrivals;
  barrier.queue = shared.order().addQueue("a copy of a box");
  barrier.isWatched = shared.order().isWatched();
  barriers[address] = std::move(barrier);
  return "";
}

std::string Engines::use(Agent by, const Event &event, uint64_t address, Barrier *&barrier) {
  auto at = barriers.find(address);
  if (at == barriers.end())
    return "a barrier in shared memory that nobody has initialised";
  if (!shared.holdsBarrier(address))
    return "a use of a barrier in shared memory that was written over since it was initialised";
  barrier = &at->second;
  return shared.useBarrier(by, event, address);
}

std::string Engines::use(unsigned thread, uint64_t address) {
  Barrier *barrier;
  Agent by = shared.agentOf(thread);
  return use(by, shared.order().now(by), address, barrier);
}

void Engines::end(Barrier &barrier) {
  if (barrier.pending || barrier.bytes)
    return;
  barrier.pending = barrier.arrivals;
  ++barrier.phase;
  HappensBefore &order = shared.order();
  order.end(barrier.queue, order.close(barrier.queue), barrier.open);
  barrier.ended = barrier.open;
}

std::string Engines::useOpen(Agent by, const Event &event, uint64_t address, Barrier *&barrier,
                             Engines *&owner) {
  auto isThere = [&](const Engines *block) { return block->shared.holds(address); };
  auto found = std::find_if(cluster.begin(), cluster.end(), isThere);
  if (found == cluster.end())
    return "an arrival at what is no barrier in shared memory";
  owner = *found;
  if (owner->isClosed)
    return "an arrival at a barrier of a block of the cluster that has ended";
  return owner->use(by, event, address, barrier);
}

std::string Engines::count(Barrier &barrier, int64_t bytes) {
  if (!barrier.pending)
    return "an arrival at a barrier that expects no more in this phase";
  barrier.bytes += bytes;
  --barrier.pending;
  end(barrier);
  return "";
}

std::string Engines::arrive(unsigned thread, uint64_t address, int64_t bytes) {
  Barrier *barrier;
  Engines *owner;
  Agent by = shared.agentOf(thread);
  if (std::string wrong = useOpen(by, shared.order().now(by), address, barrier, owner);
      !wrong.empty())
    return wrong;
  shared.order().release(by, barrier->open);
  return owner->count(*barrier, bytes);
}

std::string Engines::arriveAfter(unsigned thread, Agent queue, Tick tick, uint64_t address) {
  Barrier *barrier;
  Engines *owner;
  Event event{queue, tick, Proxy::Async};
  if (std::string wrong = useOpen(shared.agentOf(thread), event, address, barrier, owner);
      !wrong.empty())
    return wrong;
  shared.order().end(queue, tick, barrier->open);
  return owner->count(*barrier, 0);
}

std::string Engines::tell(unsigned thread, Agent queue, Tick tick, uint64_t address) {
  Barrier *barrier;
  Agent by = shared.agentOf(thread);
  std::string wrong = use(by, shared.order().now(by), address, barrier);
  if (wrong.empty())
    shared.order().end(queue, tick, barrier->open);
  return wrong;
}

bool Engines::poll(uint64_t address, uint32_t parity) {
  Barrier &barrier = barriers.at(address);
  for (const Box &box : std::exchange(barrier.boxes, {})) {
    land(box);
    barrier.bytes -= countBytes(box.map);
  }
  end(barrier);
  return (barrier.phase & 1) != parity;
}

void Engines::hear(unsigned thread, uint64_t address) {
  const Barrier &barrier = barriers.at(address);
  if (barrier.isWatched && barrier.phase)
    shared.order().noteUse();
  shared.order().acquire(shared.agentOf(thread), barriers.at(address).ended);
}

std::string Engines::describe(uint64_t address) const {
  std::string text = "a phase of the barrier at offset " +
                     std::to_string(address - reinterpret_cast<uint64_t>(shared.data())) +
                     " of shared memory";
  auto at = barriers.find(address);
  if (at == barriers.end())
    return text;
  const Barrier &barrier = at->second;
  return text + ", for whose end " + std::to_string(barrier.pending) + " of " +
         std::to_string(barrier.arrivals) + " arrivals and " + std::to_string(barrier.bytes) +
         " bytes are missing";
}

void Engines::arriveAtWord(unsigned thread, uint64_t address, uint32_t last) {
  shared.order().release(shared.agentOf(thread), words[address]);
  uint32_t count;
  std::memcpy(&count, reinterpret_cast<const void *>(address), sizeof(count));
  // A phase ends where the count comes to its half, and where it begins again.
  if (count >= last || count + 1 == (last + 1) / 2)
    ++endedWords;
}

void Engines::lookAtWord(unsigned thread, uint64_t address) {
  if (auto word = words.find(address); word != words.end())
    shared.order().acquire(shared.agentOf(thread), word->second);
}

std::shared_ptr<Engines::Round> Engines::come(unsigned thread, int barrier, unsigned threads) {
  std::shared_ptr<Round> &open = rounds[barrier];
  if (!open)
    open = std::make_shared<Round>();
  shared.order().release(shared.agentOf(thread), open->place);
  open->hasEnded = ++open->waiting == threads;
  return open->hasEnded ? std::exchange(open, nullptr) : open;
}

void Engines::leave(unsigned thread, Round &round) {
  shared.order().acquire(shared.agentOf(thread), round.place);
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

/// For each row of a box, as far as it is inside: where it is in global memory, its first element's
/// number, and its bytes.
template <typename Visit>
static void forEachRow(const TensorMap &map, const int32_t *place, Visit visit) {
  int64_t first = std::clamp<int64_t>(-int64_t(place[0]), 0, map.box[0]);
  int64_t last = std::clamp<int64_t>(map.extents[0] - place[0], first, map.box[0]);
  if (first < last)
    forEachElement(map, place, [&](int64_t number, uint8_t *at) {
      if (at && number % map.box[0] == first)
        visit(reinterpret_cast<uint64_t>(at), number, (last - first) * map.elementBytes);
    });
}

std::string Engines::reach(Agent by, const Event &event, const Box &box, bool isStore) {
  std::string wrong;
  if (!global)
    return wrong;
  std::vector<uint8_t> data;
  int64_t element = box.map.elementBytes;
  forEachRow(box.map, box.place, [&](uint64_t address, int64_t number, int64_t bytes) {
    data.resize(isStore ? bytes : 0);
    for (int64_t i = 0; i < int64_t(data.size()); i += element) {
      uint64_t from = placeOf(box.shared + number * element + i, box.map.swizzle);
      std::memcpy(&data[i], reinterpret_cast<const uint8_t *>(from), element);
    }
    if (wrong.empty())
      wrong = global->access(run, by, event, address, bytes,
                             isStore ? GlobalMemory::Writes : GlobalMemory::Reads, data.data());
  });
  return wrong;
}

std::string Engines::startLoad(unsigned thread, uint64_t to, uint64_t address, const TensorMap &map,
                               const int32_t *place) {
  return accept(shared.agentOf(thread), to, *this, address, map, place);
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
      wrong = cluster[block]->accept(shared.agentOf(thread), there, *cluster[block], barrier, map,
                                     place);
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
      wrong = cluster[block]->accept(shared.agentOf(thread), there, *cluster[counts], barrier, map,
                                     place);
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

/// Where a box may begin in shared memory, and along the innermost dimension: chips call one that
/// begins within a piece of 16 bytes an illegal instruction.
static std::string checkPlace(uint64_t address, const TensorMap &map, const int32_t *place) {
  constexpr int64_t pieceBytes = 16;
  if (address % (map.swizzle ? 8 * map.swizzle : 128) != 0)
    return "a box in shared memory that does not begin where its rows repeat";
  if (place[0] * int64_t(map.elementBytes) % pieceBytes != 0)
    return "a box of a tensor that begins at element " + std::to_string(place[0]) +
           " of its rows, no multiple of 16 bytes";
  return "";
}

/// A box that a block of the cluster has asked for comes to this one, and counts at a barrier of
/// its own or of another.
std::string Engines::accept(Agent by, uint64_t to, Engines &counting, uint64_t address,
                            const TensorMap &map, const int32_t *place) {
  if (isClosed || counting.isClosed)
    return "a copy to a block of the cluster that has ended";
  auto counts = counting.barriers.find(address);
  if (counts == counting.barriers.end())
    return "a copy that counts at a barrier in shared memory that nobody has initialised";
  Barrier *barrier;
  Event event = shared.order().start(counts->second.queue, by, Proxy::Async);
  if (std::string wrong = counting.use(by, event, address, barrier); !wrong.empty())
    return wrong;
  if (std::string wrong = checkPlace(to, map, place); !wrong.empty())
    return wrong;
  Box box{this, to, map, {}};
  std::copy(place, place + map.rank, box.place);
  if (std::string wrong = reach(by, event, box, /*isStore=*/false); !wrong.empty())
    return wrong;
  barrier->boxes.push_back(box);
  return shared.startWrite(by, event, to, countBytes(map));
}

void Engines::land(const Box &box) {
  int64_t bytes = countBytes(box.map), element = box.map.elementBytes;
  std::vector<uint8_t> data(bytes);
  forEachElement(box.map, box.place, [&](int64_t number, const uint8_t *from) {
    uint64_t to = placeOf(box.shared + number * element, box.map.swizzle) - box.shared;
    if (from)
      std::memcpy(&data[to], from, element);
  });
  box.owner->shared.land(box.shared, bytes, data.data());
}

Engines::Stores &Engines::storesOf(unsigned thread) {
  auto [at, isNew] = stores.try_emplace(thread);
  if (isNew)
    at->second.queue = shared.order().addQueue("a store of a box");
  return at->second;
}

std::string Engines::startStore(unsigned thread, uint64_t from, const TensorMap &map,
                                const int32_t *place) {
  if (std::string wrong = checkPlace(from, map, place); !wrong.empty())
    return wrong;
  Box box{this, from, map, {}};
  std::copy(place, place + map.rank, box.place);
  Stores &own = storesOf(thread);
  Agent by = shared.agentOf(thread);
  Event event = shared.order().start(own.queue, by, Proxy::Async);
  std::string wrong = shared.startRead(by, event, from, countBytes(map));
  if (wrong.empty())
    wrong = reach(by, event, box, /*isStore=*/true);
  if (wrong.empty())
    own.open.push_back(box);
  return wrong;
}

void Engines::store(const Box &box) {
  int64_t element = box.map.elementBytes;
  forEachElement(box.map, box.place, [&](int64_t number, uint8_t *to) {
    uint64_t from = placeOf(box.shared + number * element, box.map.swizzle);
    if (to)
      std::memcpy(to, reinterpret_cast<const uint8_t *>(from), element);
  });
}

void Engines::commitStores(unsigned thread) {
  Stores &own = storesOf(thread);
  own.committed.emplace_back(shared.order().commit(own.queue), std::exchange(own.open, {}));
}

void Engines::waitStores(unsigned thread, unsigned inFlight) {
  Stores &own = storesOf(thread);
  for (; own.committed.size() > inFlight; own.committed.pop_front()) {
    const auto &[tick, boxes] = own.committed.front();
    for (const Box &box : boxes) {
      store(box);
      if (global)
        forEachRow(box.map, box.place,
                   [&](uint64_t address, int64_t, int64_t) { global->land(address); });
    }
    shared.order().end(own.queue, tick, shared.agentOf(thread));
  }
}

std::string Engines::finish() {
  for (auto &[thread, own] : stores)
    if (!own.open.empty() || !own.committed.empty())
      return "thread " + std::to_string(thread) +
             " ends while the engine may still read from shared memory what it was told to store" +
             shared.describeLast(own.queue);
  return "";
}
