// Columns of tensor memory, and products in flight.
#include "TensorMemory.h"
#include <algorithm>
#include <cstring>

using namespace kiln;
using namespace kiln::analysis;
using namespace kiln::emulated;

void TensorMemory::reset() {
  cells.clear();
  history = nullptr;
  log.clear();
  held.assign(columns, false);
  orders.clear();
  queues.clear();
  taken.clear();
  blocks = 0;
  mayAllocate = true;
}

/// Accesses of an agent that reports know of: a product is one of each lane.
static constexpr size_t keptOfAgent = 4096;

static std::string spell(unsigned first, unsigned count) {
  return std::to_string(count) + " columns of tensor memory from column " + std::to_string(first);
}

//===- Who holds what -----------------------------------------------------------------------===//

static bool isCount(unsigned count) {
  return count >= 32 && count <= TensorMemory::columns && (count & (count - 1)) == 0;
}

bool TensorMemory::isHeld(unsigned first, unsigned count) const {
  return first + count <= columns && std::all_of(held.begin() + first, held.begin() + first + count,
                                                 [](bool is) { return is; });
}

std::string TensorMemory::useFor(unsigned count) {
  if (count == 2 && !mate)
    return "a use of tensor memory by a pair of blocks, by a block that is of none";
  if (blocks && blocks != count)
    return "a use of tensor memory by one block and by a pair in one program";
  blocks = count;
  return "";
}

std::string TensorMemory::conclude(const std::optional<Clash> &clash, Agent by, const Event &event,
                                   size_t first, size_t count, const char *what, const char *noun) {
  const HappensBefore &order = engines.order();
  Access access{event, by, order.getSite()};
  bool isRead = std::strcmp(noun, "read") == 0;
  if (!clash) {
    log.note(access, !isRead, first, count, keptOfAgent);
    return "";
  }
  Access other = log.find(clash->other, !clash->isRead, clash->offset);
  std::string place = "lane " + std::to_string(clash->offset / columns) + ", column " +
                      std::to_string(clash->offset % columns) + " of tensor memory";
  Agent own = engines.agentOf(0);
  return describe(order, engines.getNames(), own, *clash, access, other, place, what, noun);
}

std::string TensorMemory::allocate(unsigned thread, unsigned count, uint32_t &address) {
  if (!isCount(count))
    return "an allocation of " + std::to_string(count) +
           " columns of tensor memory, which is no power of two from 32 to 512";
  if (!mayAllocate)
    return "an allocation of tensor memory by a block that has given up to allocate more";
  // Few programs use it.
  if (!history) {
    history = std::make_unique<AccessHistory>(engines.order(), size_t(lanes) * columns);
    cells.assign(lanes, std::vector<Cell>(columns));
  }
  for (unsigned first = 0; first + count <= columns; first += count)
    if (std::none_of(held.begin() + first, held.begin() + first + count,
                     [](bool is) { return is; })) {
      std::fill(held.begin() + first, held.begin() + first + count, true);
      for (auto &lane : cells)
        std::fill(lane.begin() + first, lane.begin() + first + count, Cell());
      address = first;
      taken.push_back(int(count));
      return takeAll(thread, "an allocation of", first, count);
    }
  return "an allocation of " + std::to_string(count) +
         " columns of tensor memory, which waits forever, since nobody gives so many back";
}

std::string TensorMemory::endAllocations() {
  mayAllocate = false;
  return "";
}

/// To set columns aside, or to give them back, counts as a write of all of them.
std::string TensorMemory::takeAll(unsigned thread, const char *what, unsigned first,
                                  unsigned count) {
  Agent by = engines.agentOf(thread);
  Event event = engines.order().now(by, Proxy::Tensor);
  for (unsigned lane = 0; lane < lanes; ++lane)
    if (std::string wrong = conclude(history->write(by, event, cellOf(lane, first), count), by,
                                     event, cellOf(lane, first), count, what, "use");
        !wrong.empty())
      return wrong;
  return "";
}

std::string TensorMemory::release(unsigned thread, uint32_t address, unsigned count) {
  unsigned first = columnOf(address);
  if (laneOf(address) || !isCount(count) || !isHeld(first, count))
    return "a release of " + spell(first, count) + ", which are not all held";
  if (std::string wrong = takeAll(thread, "a release of", first, count); !wrong.empty())
    return wrong;
  std::fill(held.begin() + first, held.begin() + first + count, false);
  taken.push_back(-int(count));
  return "";
}

//===- Products -----------------------------------------------------------------------------===//

void TensorMemory::noteUse(const Cell &cell) const {
  if (cell.isWatched)
    engines.order().noteUse();
}

/// Of what a product is about to read or to add to: whose it is, and whether it is there.
std::string TensorMemory::checkStart(Columns columns, const char *what) const {
  unsigned first = columnOf(columns.address);
  std::string text = what + spell(first, columns.count);
  if (laneOf(columns.address) || !isHeld(first, columns.count))
    return text + ", which are not all held";
  auto isUnderWay = [&](const Cell &cell) {
    noteUse(cell);
    return cell.writer != kNobody;
  };
  for (const std::vector<Cell> &lane : cells)
    if (std::any_of(lane.begin() + first, lane.begin() + first + columns.count, isUnderWay))
      return text + ", which a warp has not waited to have written";
  return "";
}

std::string TensorMemory::start(unsigned thread, Columns sums, std::vector<Columns> operands,
                                std::function<std::string()> multiply) {
  std::vector<TensorMemory *> all = {this};
  if (blocks == 2)
    all.push_back(mate);
  Agent by = engines.agentOf(thread);
  Event event = engines.order().start(queueOf(thread), by, Proxy::Tensor);
  for (TensorMemory *each : all) {
    std::string wrong = each->checkStart(sums, "a product into ");
    for (const Columns &operand : operands)
      if (wrong.empty())
        wrong = each->checkStart(operand, "a product of ");
    if (!wrong.empty())
      return wrong;
    for (unsigned lane = 0; lane < lanes && wrong.empty(); ++lane) {
      for (const Columns &operand : operands) {
        size_t cell = cellOf(lane, columnOf(operand.address));
        if (wrong.empty())
          wrong = each->conclude(each->history->read(by, event, cell, operand.count), by, event,
                                 cell, operand.count, "a product of", "read");
      }
      size_t cell = cellOf(lane, columnOf(sums.address));
      if (wrong.empty())
        wrong = each->conclude(each->history->write(by, event, cell, sums.count), by, event, cell,
                               sums.count, "a product into", "product");
    }
    if (!wrong.empty())
      return wrong;
  }
  orders.push_back({thread, sums, std::move(operands), std::move(multiply)});
  return "";
}

Agent TensorMemory::queueOf(unsigned thread) {
  auto [at, isNew] = queues.try_emplace(thread, 0);
  if (isNew)
    at->second = engines.order().addQueue("a product");
  return at->second;
}

Event TensorMemory::startReads(unsigned thread) {
  return engines.order().start(queueOf(thread), engines.agentOf(thread), Proxy::Tensor);
}

void TensorMemory::commit(unsigned thread, std::vector<uint64_t> barriers) {
  // Who hears of it hears what its thread knew, also if it has started nothing.
  startReads(thread);
  Tick tick = engines.order().commit(queueOf(thread));
  orders.push_back({thread, {}, {}, nullptr, std::move(barriers), tick});
}

/// A commit tells of what its own thread has started.
std::string TensorMemory::runUpTo(size_t last) {
  unsigned thread = orders[last].thread;
  std::vector<Order> mine, rest;
  for (size_t i = 0; i < orders.size(); ++i)
    (i <= last && orders[i].thread == thread ? mine : rest).push_back(std::move(orders[i]));
  orders = std::move(rest);
  for (const Order &order : mine) {
    std::string wrong = order.multiply ? order.multiply() : "";
    for (size_t i = 0; i < order.barriers.size() && wrong.empty(); ++i)
      wrong = engines.arriveAfter(thread, queueOf(thread), order.tick, order.barriers[i]);
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

std::string TensorMemory::land(uint64_t barrier) {
  auto tells = [&](const Order &order) {
    const auto &told = order.barriers;
    return std::find(told.begin(), told.end(), barrier) != told.end();
  };
  // Each copy of a role may have committed to it.
  for (auto at = std::find_if(orders.begin(), orders.end(), tells); at != orders.end();
       at = std::find_if(orders.begin(), orders.end(), tells))
    if (std::string wrong = runUpTo(at - orders.begin()); !wrong.empty())
      return wrong;
  return "";
}

std::string TensorMemory::finish() {
  if (std::any_of(held.begin(), held.end(), [](bool is) { return is; }))
    return "the program ends while it holds tensor memory";
  if (blocks == 2 && taken != mate->taken)
    return "the blocks of a pair set aside tensor memory that differs";
  while (!orders.empty())
    if (std::string wrong = runUpTo(orders.size() - 1); !wrong.empty())
      return wrong;
  return "";
}

std::string TensorMemory::use(unsigned thread, unsigned lane, unsigned column, unsigned count,
                              bool isWrite) {
  const char *what = isWrite ? "a write of" : "a read of";
  if (!isHeld(column, count))
    return std::string(what) + " " + spell(column, count) + ", which are not all held";
  Agent by = engines.agentOf(thread);
  Event event = engines.order().now(by, Proxy::Tensor);
  size_t cell = cellOf(lane, column);
  return conclude(isWrite ? history->write(by, event, cell, count)
                          : history->read(by, event, cell, count),
                  by, event, cell, count, what, isWrite ? "write" : "read");
}

std::string TensorMemory::read(unsigned thread, unsigned lane, unsigned column, unsigned count,
                               uint32_t *bits) {
  if (std::string wrong = use(thread, lane, column, count, /*isWrite=*/false); !wrong.empty())
    return wrong;
  for (unsigned i = 0; i < count; ++i) {
    const Cell &cell = cells[lane][column + i];
    noteUse(cell);
    if (!cell.isWritten || cell.writer != kNobody)
      return "a read of lane " + std::to_string(lane) + ", column " + std::to_string(column + i) +
             " of tensor memory, which " +
             (cell.isWritten ? "a warp has not waited to have written" : "nothing has written");
    bits[i] = cell.bits;
  }
  return "";
}

std::string TensorMemory::write(unsigned thread, unsigned warp, unsigned lane, unsigned column,
                                unsigned count, const uint32_t *bits) {
  if (std::string wrong = use(thread, lane, column, count, /*isWrite=*/true); !wrong.empty())
    return wrong;
  for (unsigned i = 0; i < count; ++i)
    cells[lane][column + i] = {bits[i], true, warp};
  return "";
}

/// A warp writes to lanes that others, four numbers on, write to, too.
void TensorMemory::waitForWrites(unsigned warp) {
  if (cells.empty())
    return;
  bool isWatched = engines.order().isWatched();
  for (unsigned lane = warp % 4 * 32; lane < warp % 4 * 32 + 32; ++lane)
    for (Cell &cell : cells[lane])
      if (cell.writer == warp) {
        cell.writer = kNobody;
        cell.isWatched = isWatched;
      }
}
