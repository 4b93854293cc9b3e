// Makes the conditions of a problem, and says whether an interval can hold them.
#include "Graph.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace kiln::schedule;
using llvm::ArrayRef;
using llvm::SmallVector;

Graph::Graph(const Problem &problem, ArrayRef<unsigned> roles)
    : problem(problem), roles(roles), roleCount(problem.roles.size()) {
  framed.assign(roleCount, problem.mostStages || !problem.isLoop);
  stages.resize(problem.ops.size());
  for (auto [op, role] : llvm::zip(problem.ops, roles))
    framed[role] = framed[role] || op.pins.stage || op.pins.order;
  addDependences();
  addPins();
}

void Graph::addDependences() {
  for (const Dependence &each : problem.dependences) {
    bool crosses = roles[each.from] != roles[each.to];
    add({{each.from, each.to, problem.getLatency(each, crosses), each.distance}, "", 0});
    const Op &maker = problem.ops[each.from];
    bool isRead = each.kind == Dependence::Value && (crosses || maker.isBuffered);
    std::optional<int64_t> depth = maker.pins.depth;
    if (problem.isContinued(each.from))
      depth = 1;
    if (isRead && depth && problem.isLoop) // a slot is filled behind its last read
      add({{each.to, each.from, problem.ops[each.to].latency + 1, *depth - each.distance},
           "depth",
           each.from});
  }
}

void Graph::addPins() {
  std::optional<int64_t> most = problem.isLoop ? problem.mostStages : 1;
  for (unsigned op = 0; op < problem.ops.size(); ++op) {
    if (!hasBegin(roles[op]))
      continue;
    unsigned begin = getBegin(roles[op]);
    add({{begin, op, 0, 0}, "", 0});
    if (most)
      add({{op, begin, 1, *most}, "", 0});
  }
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    if (problem.ops[op].pins.stage)
      addStage(op, *problem.ops[op].pins.stage);
}

/// The ops of a role whose orders are pinned, by these.
SmallVector<unsigned> Graph::getOrdered(unsigned role) const {
  SmallVector<unsigned> ordered;
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    if (roles[op] == role && problem.ops[op].pins.order)
      ordered.push_back(op);
  auto getOrder = [&](unsigned op) { return std::pair(*problem.ops[op].pins.order, op); };
  llvm::sort(ordered, [&](unsigned x, unsigned y) { return getOrder(x) < getOrder(y); });
  return ordered;
}

void Graph::addStage(unsigned op, int64_t stage) {
  unsigned begin = getBegin(roles[op]);
  stages[op] = stage;
  add({{begin, op, 0, -stage}, "stage", op});
  add({{op, begin, 1, stage + 1}, "stage", op});
  if (!problem.ops[op].pins.order)
    return;
  // Of those whose stage is known, only the next on either side matters.
  SmallVector<unsigned> known = getOrdered(roles[op]);
  llvm::erase_if(known, [&](unsigned other) { return !stages[other]; });
  auto *at = llvm::find(known, op);
  auto addOrder = [&](unsigned first, unsigned second) {
    add({{first, second, 1, *stages[first] - *stages[second]}, "order", op});
  };
  if (at != known.begin())
    addOrder(*std::prev(at), op);
  if (std::next(at) != known.end())
    addOrder(op, *std::next(at));
}

std::optional<unsigned> Graph::decideStages(int64_t interval, int64_t &steps) {
  SmallVector<unsigned> open;
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    if (problem.ops[op].pins.order && !stages[op])
      open.push_back(op);
  while (!open.empty()) {
    std::optional<SmallVector<int64_t>> earliest = findEarliest(interval, steps);
    if (!earliest)
      return open.front();
    auto isEarlier = [&](unsigned x, unsigned y) { return (*earliest)[x] < (*earliest)[y]; };
    auto *first = std::min_element(open.begin(), open.end(), isEarlier);
    if (!decideStage(*first, interval, steps))
      return *first;
    open.erase(first);
  }
  return std::nullopt;
}

bool Graph::decideStage(unsigned op, int64_t interval, int64_t &steps) {
  // Behind a need of a later order it is one stage later, so this many are enough.
  int64_t most = getLongInterval() / interval + int64_t(problem.ops.size());
  size_t count = edges.size();
  for (int64_t stage = 0; stage <= most; ++stage) {
    addStage(op, stage);
    if (isFeasible(interval, steps))
      return true;
    edges.truncate(count);
  }
  stages[op] = std::nullopt;
  return false;
}

std::optional<SmallVector<int64_t>> Graph::findEarliest(int64_t interval, int64_t &steps,
                                                        SmallVector<Edge> *circle) const {
  SmallVector<int64_t> starts(size(), 0);
  SmallVector<const Edge *> last(size(), nullptr);
  std::optional<unsigned> changed;
  for (size_t round = 0; round <= size(); ++round) {
    changed = std::nullopt;
    steps += edges.size();
    for (const Edge &edge : edges) {
      int64_t start = starts[edge.from] + edge.latency - edge.distance * interval;
      if (start <= starts[edge.to])
        continue;
      starts[edge.to] = start;
      last[edge.to] = &edge;
      changed = edge.to;
    }
    if (!changed)
      return starts;
  }
  if (!circle)
    return std::nullopt;
  unsigned on = *changed;
  for (size_t step = 0; step < size(); ++step)
    on = last[on]->from;
  for (unsigned at = on; circle->empty() || at != on; at = last[at]->from)
    circle->push_back(*last[at]);
  std::reverse(circle->begin(), circle->end());
  return std::nullopt;
}

int64_t Graph::getLongInterval() const {
  int64_t cycles = 1;
  for (const Edge &edge : edges)
    cycles += edge.latency;
  for (const Op &op : problem.ops) {
    cycles += op.latency + 1;
    for (const Reservation &each : op.reservations)
      cycles += each.offset + each.cycles;
  }
  return cycles;
}

Violation Graph::describe(ArrayRef<Edge> circle) const {
  auto getName = [&](unsigned node) {
    return isOp(node) ? "'" + problem.ops[node].name + "'"
                      : "the trip of '" + problem.roles[node - problem.ops.size()].name + "'";
  };
  std::string names;
  llvm::SmallSetVector<unsigned, 8> ops;
  for (const Edge &edge : circle) {
    names += getName(edge.from) + " -> ";
    if (isOp(edge.from))
      ops.insert(edge.from);
  }
  names += getName(circle.back().to);
  // An order is named before the stages that it was held against, a depth before both.
  const Edge *pin = nullptr;
  for (llvm::StringRef name : {"stage", "order", "depth"})
    for (const Edge &edge : circle)
      if (edge.pin == name)
        pin = &edge;
  if (!pin)
    return {std::nullopt, "", "interval", "expected needs that an interval can hold: " + names,
            ops.takeVector()};
  const Pins &pins = problem.ops[pin->op].pins;
  std::optional<int64_t> value = pin->pin == "stage"   ? pins.stage
                                 : pin->pin == "order" ? pins.order
                                                       : pins.depth;
  Violation violation =
      problem.at(pin->op, pin->pin,
                 "expected a pin by which none waits for itself at any interval, as in " + names +
                     ", got " + std::to_string(value.value_or(1)));
  violation.others = ops.takeVector();
  return violation;
}
