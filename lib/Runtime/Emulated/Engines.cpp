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
}

std::string Engines::arrive(uint64_t address, int64_t bytes) {
  Barrier *barrier;
  if (std::string wrong = find(address, barrier); !wrong.empty())
    return wrong;
  if (!barrier->pending)
    return "an arrival at a barrier that expects no more in this phase";
  barrier->bytes += bytes;
  --barrier->pending;
  end(*barrier);
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
  Barrier *barrier;
  if (std::string wrong = find(address, barrier); !wrong.empty())
    return wrong;
  if (to % (map.swizzle ? 8 * map.swizzle : 128))
    return "a box in shared memory that does not begin where its rows repeat";
  Box box{thread, to, map, {}};
  std::copy(place, place + map.rank, box.place);
  barrier->boxes.push_back(box);
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
  return shared.landCopy(box.thread, box.shared, bytes, data.data());
}

std::string Engines::startStore(unsigned thread, uint64_t from, const TensorMap &map,
                                const int32_t *place) {
  Box box{thread, from, map, {}};
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
