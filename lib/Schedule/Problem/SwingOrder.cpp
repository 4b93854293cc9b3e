// Swing ordering, after Llosa et al., sections 3.2 and 3.3.
#include "SwingOrder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace kiln::schedule;
using llvm::SmallBitVector;
using llvm::SmallVector;

std::optional<Mobility> kiln::schedule::findMobility(const Graph &graph, int64_t interval,
                                                     int64_t &steps) {
  std::optional<SmallVector<int64_t>> earliest = graph.findEarliest(interval, steps);
  if (!earliest)
    return std::nullopt;
  // Without circles that exclude the interval this comes to rest.
  SmallVector<int64_t> height(graph.size(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    steps += graph.getEdges().size();
    for (const Edge &edge : graph.getEdges()) {
      int64_t way = height[edge.to] + edge.latency - edge.distance * interval;
      changed |= way > height[edge.from];
      height[edge.from] = std::max(height[edge.from], way);
    }
  }
  return Mobility{std::move(*earliest), std::move(height)};
}

namespace {
class SwingOrder {
public:
  SwingOrder(const Problem &problem, const Graph &graph, const Mobility &mobility, int64_t &steps);
  SmallVector<unsigned> run();

private:
  struct Circle {
    SmallBitVector ops;
    int64_t interval;
  };
  SmallBitVector reach(SmallBitVector from, bool isDown) const;
  SmallVector<Circle> findCircles() const;
  int64_t getLeastInterval(const SmallBitVector &ops) const;
  void orderPart(SmallBitVector part);
  SmallBitVector getNeighbours(bool isDown) const;
  unsigned pick(const SmallBitVector &ready, bool isDown) const;

  size_t count;
  const Mobility &mobility;
  int64_t &steps;
  int64_t length = 0;
  /// Conditions between two ops.
  SmallVector<Condition> edges;
  SmallVector<SmallBitVector> users, makers;
  SmallVector<unsigned> order;
  SmallBitVector ordered;
};
} // namespace

SwingOrder::SwingOrder(const Problem &problem, const Graph &graph, const Mobility &mobility,
                       int64_t &steps)
    : count(problem.ops.size()), mobility(mobility), steps(steps),
      users(count, SmallBitVector(count)), makers(users), ordered(count) {
  for (const Edge &edge : graph.getEdges())
    if (graph.isOp(edge.from) && graph.isOp(edge.to)) {
      edges.push_back(edge);
      users[edge.from].set(edge.to);
      makers[edge.to].set(edge.from);
    }
  for (unsigned op = 0; op < count; ++op)
    length = std::max(length, mobility.earliest[op] + mobility.height[op]);
}

/// All ops on ways from some, along needs or against them, these included.
SmallBitVector SwingOrder::reach(SmallBitVector from, bool isDown) const {
  SmallVector<unsigned> open(from.set_bits());
  while (!open.empty())
    for (unsigned next : (isDown ? users : makers)[open.pop_back_val()].set_bits())
      if (!from.test(next)) {
        from.set(next);
        open.push_back(next);
      }
  return from;
}

/// The least interval that the circles among some ops allow.
int64_t SwingOrder::getLeastInterval(const SmallBitVector &ops) const {
  int64_t least = 1, most = 1;
  for (const Condition &edge : edges)
    most += edge.latency;
  auto isFeasible = [&](int64_t interval) {
    SmallVector<int64_t> starts(count, 0);
    for (size_t round = 0; round <= ops.count(); ++round) {
      bool changed = false;
      steps += edges.size();
      for (const Condition &edge : edges) {
        int64_t start = starts[edge.from] + edge.latency - edge.distance * interval;
        if (!ops.test(edge.from) || !ops.test(edge.to) || start <= starts[edge.to])
          continue;
        starts[edge.to] = start;
        changed = true;
      }
      if (!changed)
        return true;
    }
    return false;
  };
  while (least < most) {
    int64_t middle = (least + most) / 2;
    if (isFeasible(middle))
      most = middle;
    else
      least = middle + 1;
  }
  return least;
}

/// Ops that need one another, those that limit the interval most first.
SmallVector<SwingOrder::Circle> SwingOrder::findCircles() const {
  SmallVector<Circle> circles;
  SmallBitVector seen(count);
  for (unsigned op = 0; op < count; ++op) {
    if (seen.test(op))
      continue;
    SmallBitVector ops(count);
    ops.set(op);
    SmallBitVector above = reach(ops, false);
    ops = reach(ops, true);
    ops &= above;
    seen |= ops;
    if (ops.count() > 1 || users[op].test(op))
      circles.push_back({ops, getLeastInterval(ops)});
  }
  auto getRank = [](const Circle &it) { return std::pair(-it.interval, it.ops.find_first()); };
  llvm::sort(circles, [&](auto &x, auto &y) { return getRank(x) < getRank(y); });
  return circles;
}

/// The ops that are not ordered, and next to one that is: its users, or its makers.
SmallBitVector SwingOrder::getNeighbours(bool isDown) const {
  SmallBitVector neighbours(count);
  for (unsigned op : order)
    neighbours |= (isDown ? users : makers)[op];
  return neighbours.reset(ordered);
}

/// The op with the longest way ahead; of such, the one with the least slack.
unsigned SwingOrder::pick(const SmallBitVector &ready, bool isDown) const {
  auto getRank = [&](unsigned op) {
    return std::pair(isDown ? mobility.height[op] : mobility.earliest[op],
                     -mobility.getSlack(op, length));
  };
  unsigned best = ready.find_first();
  for (unsigned op : ready.set_bits())
    if (getRank(op) > getRank(best))
      best = op;
  return best;
}

void SwingOrder::orderPart(SmallBitVector part) {
  part.reset(ordered);
  bool isDown = false;
  auto getReady = [&](bool isDown) { return getNeighbours(isDown) &= part; };
  while (part.any()) {
    SmallBitVector ready = getReady(isDown);
    if (ready.none()) {
      isDown = !isDown;
      ready = getReady(isDown);
    }
    if (ready.none()) { // nothing touches it: the op that comes last, and up from there
      isDown = false;
      ready.set(pick(part, isDown));
    }
    while (ready.any()) {
      unsigned op = pick(ready, isDown);
      order.push_back(op);
      ordered.set(op);
      part.reset(op);
      ready |= (isDown ? users : makers)[op];
      ready &= part;
    }
    isDown = !isDown;
  }
}

SmallVector<unsigned> SwingOrder::run() {
  SmallBitVector before(count);
  for (const Circle &circle : findCircles()) {
    SmallBitVector part = circle.ops;
    if (before.any()) { // what lies between it and those before
      SmallBitVector down = reach(before, true), up = reach(circle.ops, false);
      SmallBitVector between = down &= up;
      down = reach(circle.ops, true);
      up = reach(before, false);
      part |= between;
      part |= down &= up;
    }
    before |= part;
    orderPart(part);
  }
  orderPart(SmallBitVector(count, true));
  return order;
}

SmallVector<unsigned> kiln::schedule::getSwingOrder(const Problem &problem, const Graph &graph,
                                                    const Mobility &mobility, int64_t &steps) {
  return SwingOrder(problem, graph, mobility, steps).run();
}

SmallVector<unsigned> kiln::schedule::getListOrder(const Problem &problem, const Graph &graph,
                                                   const Mobility &mobility, int64_t interval) {
  const SmallVector<int64_t> &earliest = mobility.earliest;
  auto isInFront = [&](const Edge &edge) {
    int64_t slack =
        earliest[edge.to] + edge.distance * interval - earliest[edge.from] - edge.latency;
    return graph.isOp(edge.from) && graph.isOp(edge.to) && edge.from != edge.to &&
           slack < interval / 2;
  };
  SmallVector<unsigned> makers(problem.ops.size(), 0);
  for (const Edge &edge : graph.getEdges())
    if (isInFront(edge))
      ++makers[edge.to];
  auto getRank = [&](unsigned op) {
    return std::tuple(earliest[op] % interval, -mobility.height[op], op);
  };
  auto left = llvm::to_vector(llvm::seq<unsigned>(0, problem.ops.size()));
  llvm::sort(left, [&](unsigned x, unsigned y) { return getRank(x) < getRank(y); });
  SmallVector<unsigned> order;
  while (!left.empty()) {
    auto *next = llvm::find_if(left, [&](unsigned op) { return makers[op] == 0; });
    if (next == left.end()) // in a short interval, a circle of them
      next = left.begin();
    order.push_back(*next);
    left.erase(next);
    for (const Edge &edge : graph.getEdges())
      if (isInFront(edge) && edge.from == order.back())
        --makers[edge.to];
  }
  return order;
}
