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
  lastRounds.clear();
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
  Agent by = shared.agentOf(thread);
  barrier.initialised = {shared.order().now(by), by, shared.order().getSite()};
  barriers[address] = std::move(barrier);
  return "";
}

void Engines::fenceBarriers(unsigned thread) {
  Agent by = shared.agentOf(thread);
  bool isWatched = shared.order().isWatched();
  for (auto &[address, barrier] : barriers)
    if (barrier.initialised.by == by && !barrier.published) {
      barrier.published = shared.order().now(by);
      barrier.isPublishedByWatched = isWatched;
    }
}

std::string Engines::checkPublished(Agent by, const Event &event, uint64_t address,
                                    const Barrier &barrier) const {
  bool isEngine = event.proxy == Proxy::Async;
  bool isOwn = by / shared.getNames().threads == shared.agentOf(0) / shared.getNames().threads;
  if (!isEngine && isOwn)
    return "";
  const HappensBefore &order = shared.order();
  if (barrier.published && order.knows(by, *barrier.published)) {
    if (barrier.isPublishedByWatched)
      shared.order().noteUse();
    return "";
  }
  return describeUnpublished(order, shared.getNames(), shared.agentOf(0),
                             {event, by, order.getSite()}, barrier.initialised,
                             address - reinterpret_cast<uint64_t>(shared.data()));
}

std::string Engines::use(Agent by, const Event &event, uint64_t address, Barrier *&barrier) {
  auto at = barriers.find(address);
  if (at == barriers.end())
    return "a barrier in shared memory that nobody has initialised";
  if (!shared.holdsBarrier(address))
    return "a use of a barrier in shared memory that was written over since it was initialised";
  barrier = &at->second;
  std::string wrong = shared.useBarrier(by, event, address);
  return wrong.empty() ? checkPublished(by, event, address, *barrier) : wrong;
}

std::string Engines::use(unsigned thread, uint64_t address) {
  Barrier *barrier;
  Agent by = shared.agentOf(thread);
  return use(by, shared.order().now(by), address, barrier);
}

void Engines::end(Barrier &barrier, Agent queue, Tick tick) const {
  shared.order().end(queue, tick, barrier.open);
  if (cluster.size() > 1)
    shared.order().end(queue, tick, barrier.openOwn);
}

void Engines::end(Barrier &barrier) {
  if (barrier.pending || barrier.bytes)
    return;
  barrier.pending = barrier.arrivals;
  ++barrier.phase;
  end(barrier, barrier.queue, shared.order().close(barrier.queue));
  barrier.ended = barrier.open;
  barrier.endedOwn = barrier.openOwn;
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

std::string Engines::arrive(unsigned thread, uint64_t address, int64_t bytes, Reach reach) {
  Barrier *barrier;
  Engines *owner;
  Agent by = shared.agentOf(thread);
  if (std::string wrong = useOpen(by, shared.order().now(by), address, barrier, owner);
      !wrong.empty())
    return wrong;
  HappensBefore &order = shared.order();
  if (owner == this || reach == Reach::Cluster)
    order.release(by, barrier->open);
  else
    order.releaseReads(by, barrier->open);
  if (owner != this)
    order.releaseReads(by, barrier->openOwn);
  else if (cluster.size() > 1)
    order.release(by, barrier->openOwn);
  return owner->count(*barrier, bytes);
}

std::string Engines::arriveAfter(unsigned thread, Agent queue, Tick tick, uint64_t address) {
  Barrier *barrier;
  Engines *owner;
  Event event{queue, tick, Proxy::Async};
  if (std::string wrong = useOpen(shared.agentOf(thread), event, address, barrier, owner);
      !wrong.empty())
    return wrong;
  end(*barrier, queue, tick);
  return owner->count(*barrier, 0);
}

std::string Engines::tell(unsigned thread, Agent queue, Tick tick, uint64_t address) {
  Barrier *barrier;
  Agent by = shared.agentOf(thread);
  std::string wrong = use(by, shared.order().now(by), address, barrier);
  if (wrong.empty())
    end(*barrier, queue, tick);
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

void Engines::hear(unsigned thread, uint64_t address, Reach reach) {
  Barrier &barrier = barriers.at(address);
  if (barrier.isWatched && barrier.phase)
    shared.order().noteUse();
  bool isOwn = reach == Reach::Block && cluster.size() > 1;
  shared.order().acquire(shared.agentOf(thread), isOwn ? barrier.endedOwn : barrier.ended);
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
  if (!open) {
    open = std::make_shared<Round>();
    open->expected = threads;
  }
  open->comers.push_back(shared.order().now(shared.agentOf(thread)));
  shared.order().release(shared.agentOf(thread), open->place);
  open->hasEnded = ++open->waiting == threads;
  return open->hasEnded ? lastRounds[barrier] = std::exchange(open, nullptr) : open;
}

/// Who was at its last round has left that, and knows of the others there; who was not must know
/// that it has ended, or it may be taken for one of them.
std::string Engines::checkComing(unsigned thread, int barrier, unsigned threads) const {
  auto describe = [&](const std::string &what) {
    return "a use of barrier " + std::to_string(barrier) + " " + what;
  };
  auto open = rounds.find(barrier);
  if (open != rounds.end() && open->second && open->second->expected != threads)
    return describe("as one of " + std::to_string(threads) + " threads, to which others come as " +
                    "one of " + std::to_string(open->second->expected));
  auto last = lastRounds.find(barrier);
  if (last == lastRounds.end())
    return "";
  Agent agent = shared.agentOf(thread);
  for (const Event &comer : last->second->comers)
    if (!shared.order().knows(agent, comer))
      return describe("which other threads use, and nothing orders the two\n  that use: " +
                      shared.getNames().thread(comer.agent, shared.agentOf(0)) +
                      "\n  missing: a barrier of its own, or one that both come to between");
  return "";
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
  if (isNew) {
    at->second.queue = shared.order().addQueue("a store of a box");
    at->second.writes = shared.order().addQueue("a store of a box");
  }
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
    wrong = reach(by, shared.order().start(own.writes, by, Proxy::Async), box, /*isStore=*/true);
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
  // Both have the same ticks.
  shared.order().commit(own.writes);
  own.committed.emplace_back(shared.order().commit(own.queue), std::exchange(own.open, {}));
}

void Engines::waitStores(unsigned thread, unsigned inFlight, bool areReadAlone) {
  Stores &own = storesOf(thread);
  Agent by = shared.agentOf(thread);
  while (own.committed.size() > inFlight) {
    auto &[tick, boxes] = own.committed.front();
    for (const Box &box : boxes)
      store(box);
    shared.order().end(own.queue, tick, by);
    own.read.push_back(std::move(own.committed.front()));
    own.committed.pop_front();
  }
  if (areReadAlone)
    return;
  while (!own.read.empty() && own.read.size() + own.committed.size() > inFlight) {
    const auto &[tick, boxes] = own.read.front();
    for (const Box &box : boxes)
      if (global)
        forEachRow(box.map, box.place,
                   [&](uint64_t address, int64_t, int64_t) { global->land(address); });
    shared.order().end(own.writes, tick, by);
    own.read.pop_front();
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
