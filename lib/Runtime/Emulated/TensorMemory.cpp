// Columns of tensor memory, and products in flight.
#include "TensorMemory.h"
#include <algorithm>

using namespace kiln;
using namespace kiln::emulated;

void TensorMemory::reset() {
  cells.assign(lanes, std::vector<Cell>(columns));
  held.assign(columns, false);
  orders.clear();
  queues.clear();
  taken.clear();
  blocks = 0;
  mayAllocate = true;
}

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

bool TensorMemory::isInFlight(Role role, unsigned first, unsigned count) const {
  auto overlaps = [&](Columns columns) {
    unsigned own = columnOf(columns.address);
    return own < first + count && first < own + columns.count;
  };
  auto has = [&](const Order &order) {
    if (role == Role::Sum)
      return order.multiply && overlaps(order.sums);
    return std::any_of(order.operands.begin(), order.operands.end(), overlaps);
  };
  bool isTheirs = blocks == 2 && std::any_of(mate->orders.begin(), mate->orders.end(), has);
  return isTheirs || std::any_of(orders.begin(), orders.end(), has);
}

std::string TensorMemory::allocate(unsigned count, uint32_t &address) {
  if (!isCount(count))
    return "an allocation of " + std::to_string(count) +
           " columns of tensor memory, which is no power of two from 32 to 512";
  if (!mayAllocate)
    return "an allocation of tensor memory by a block that has given up to allocate more";
  for (unsigned first = 0; first + count <= columns; first += count)
    if (std::none_of(held.begin() + first, held.begin() + first + count,
                     [](bool is) { return is; })) {
      std::fill(held.begin() + first, held.begin() + first + count, true);
      for (auto &lane : cells)
        std::fill(lane.begin() + first, lane.begin() + first + count, Cell());
      address = first;
      taken.push_back(int(count));
      return "";
    }
  return "an allocation of " + std::to_string(count) +
         " columns of tensor memory, which waits forever, since nobody gives so many back";
}

std::string TensorMemory::endAllocations() {
  mayAllocate = false;
  return "";
}

std::string TensorMemory::release(uint32_t address, unsigned count) {
  unsigned first = columnOf(address);
  if (laneOf(address) || !isCount(count) || !isHeld(first, count))
    return "a release of " + spell(first, count) + ", which are not all held";
  if (isInFlight(Role::Sum, first, count) || isInFlight(Role::Operand, first, count))
    return "a release of " + spell(first, count) + " while a product of them is in flight";
  std::fill(held.begin() + first, held.begin() + first + count, false);
  taken.push_back(-int(count));
  return "";
}

//===- Products -----------------------------------------------------------------------------===//

/// Of what a product is about to read or to add to: whose it is, and whether it is there.
std::string TensorMemory::checkStart(Columns columns, const char *what) const {
  unsigned first = columnOf(columns.address);
  std::string text = what + spell(first, columns.count);
  if (laneOf(columns.address) || !isHeld(first, columns.count))
    return text + ", which are not all held";
  for (const std::vector<Cell> &lane : cells)
    if (std::any_of(lane.begin() + first, lane.begin() + first + columns.count,
                    [](const Cell &cell) { return cell.writer != kNobody; }))
      return text + ", which a warp has not waited to have written";
  return "";
}

std::string TensorMemory::start(unsigned thread, Columns sums, std::vector<Columns> operands,
                                std::function<std::string()> multiply) {
  std::vector<const TensorMemory *> all = {this};
  if (blocks == 2)
    all.push_back(mate);
  for (const TensorMemory *each : all) {
    std::string wrong = each->checkStart(sums, "a product into ");
    for (const Columns &operand : operands)
      if (wrong.empty())
        wrong = each->checkStart(operand, "a product of ");
    if (!wrong.empty())
      return wrong;
  }
  orders.push_back({thread, sums, std::move(operands), std::move(multiply)});
  return "";
}

analysis::Agent TensorMemory::queueOf(unsigned thread) {
  auto [at, isNew] = queues.try_emplace(thread, 0);
  if (isNew)
    at->second = engines.order().addQueue("a product");
  return at->second;
}

analysis::Event TensorMemory::startReads(unsigned thread) {
  return engines.order().start(queueOf(thread), engines.agentOf(thread), analysis::Proxy::Async);
}

void TensorMemory::commit(unsigned thread, std::vector<uint64_t> barriers) {
  analysis::Tick tick = engines.order().close(queueOf(thread));
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

std::string TensorMemory::inspect(const char *access, unsigned column) const {
  std::string what = access + (" column " + std::to_string(column)) + " of tensor memory, ";
  if (!isHeld(column, 1))
    return what + "which nobody holds";
  return isInFlight(Role::Sum, column, 1) ? what + "into which a product is in flight" : "";
}

std::string TensorMemory::read(unsigned lane, unsigned column, uint32_t &bits) const {
  if (std::string wrong = inspect("a read of", column); !wrong.empty())
    return wrong;
  if (!cells[lane][column].isWritten)
    return "a read of lane " + std::to_string(lane) + ", column " + std::to_string(column) +
           " of tensor memory, which nothing has written";
  if (cells[lane][column].writer != kNobody)
    return "a read of lane " + std::to_string(lane) + ", column " + std::to_string(column) +
           " of tensor memory, which a warp has not waited to have written";
  bits = cells[lane][column].bits;
  return "";
}

std::string TensorMemory::write(unsigned warp, unsigned lane, unsigned column, uint32_t bits) {
  if (std::string wrong = inspect("a write of", column); !wrong.empty())
    return wrong;
  if (isInFlight(Role::Operand, column, 1))
    return "a write of column " + std::to_string(column) +
           " of tensor memory, which a product in flight reads";
  cells[lane][column] = {bits, true, warp};
  return "";
}

/// A warp writes to lanes that others, four numbers on, write to, too.
void TensorMemory::waitForWrites(unsigned warp) {
  for (unsigned lane = warp % 4 * 32; lane < warp % 4 * 32 + 32; ++lane)
    for (Cell &cell : cells[lane])
      if (cell.writer == warp)
        cell.writer = kNobody;
}
