// Placement of ops at one interval.
#include "Placer.h"
#include "llvm/ADT/STLExtras.h"

using namespace kiln::schedule;
using llvm::ArrayRef;
using llvm::SmallVector;

Placer::Placer(const Problem &problem, ArrayRef<unsigned> roles, const Graph &graph,
               const Mobility &mobility, int64_t interval, int64_t &steps)
    : problem(problem), roles(roles), graph(graph), mobility(mobility), interval(interval),
      steps(steps), table(problem, interval), windows(graph.size()), placed(graph.size(), false),
      out(graph.size()), in(graph.size()) {
  for (const Edge &edge : graph.getEdges()) {
    out[edge.from].push_back(&edge);
    in[edge.to].push_back(&edge);
  }
}

/// Hands on what a node's first (or last) cycle says of others.
void Placer::narrow(unsigned from, bool isDown) {
  SmallVector<unsigned> open{from};
  while (!open.empty()) {
    unsigned node = open.pop_back_val();
    for (const Edge *edge : (isDown ? out : in)[node]) {
      ++steps;
      int64_t way = edge->latency - edge->distance * interval;
      unsigned next = isDown ? edge->to : edge->from;
      std::optional<int64_t> &bound = isDown ? windows[next].first : windows[next].last;
      int64_t cycle = isDown ? *windows[node].first + way : *windows[node].last - way;
      if (bound && (isDown ? cycle <= *bound : cycle >= *bound))
        continue;
      bound = cycle;
      open.push_back(next);
    }
  }
}

void Placer::place(unsigned node, int64_t start) {
  windows[node] = {start, start};
  placed[node] = true;
  narrow(node, true);
  narrow(node, false);
}

/// The free cycle nearest to what is placed: to its users if it stands in front of these alone.
std::optional<int64_t> Placer::findStart(unsigned op, bool isEarly) const {
  auto isPlaced = [&](const Edge *edge) {
    return edge->from != edge->to && placed[edge->from == op ? edge->to : edge->from];
  };
  const Window &window = windows[op];
  bool isAlone = !window.first && !window.last;
  bool isUpward =
      isEarly || isAlone || !window.last ||
      (window.first && (llvm::any_of(in[op], isPlaced) || llvm::none_of(out[op], isPlaced)));
  std::optional<int64_t> start = isUpward ? window.first : window.last;
  return table.findFree(op, roles[op], start.value_or(mobility.earliest[op]),
                        isUpward ? window.last : window.first, isUpward, steps);
}

std::optional<unsigned> Placer::placeAll(ArrayRef<unsigned> order, bool isEarly) {
  // The earliest starts hold all conditions, so none asks for a cycle in front of an op's own.
  for (unsigned op = 0; isEarly && op < problem.ops.size(); ++op)
    windows[op].first = mobility.earliest[op];
  for (unsigned op : order) {
    std::optional<int64_t> start = findStart(op, isEarly);
    if (!start)
      return op;
    table.place(op, roles[op], *start);
    place(op, *start);
  }
  // A role begins as late as its ops let it, so that it has the fewest stages.
  for (unsigned role = 0; role < problem.roles.size(); ++role)
    if (unsigned begin = graph.getBegin(role); graph.hasBegin(role))
      place(begin, windows[begin].last.value_or(0));
  return std::nullopt;
}

Solution Placer::getSolution() const {
  Solution solution;
  solution.interval = interval;
  int64_t first = 0;
  for (auto [op, role] : llvm::enumerate(roles))
    first = op == 0 ? *windows[op].first : std::min(first, *windows[op].first);
  for (auto [op, role] : llvm::enumerate(roles)) {
    Placement &placement = solution.ops.emplace_back();
    placement.role = role;
    placement.start = *windows[op].first - first;
  }
  for (unsigned role = 0; role < problem.roles.size(); ++role) {
    std::optional<int64_t> origin;
    if (graph.hasBegin(role))
      origin = *windows[graph.getBegin(role)].first - first;
    else
      for (const Placement &placement : solution.ops)
        if (placement.role == role)
          origin = std::min(origin.value_or(placement.start), placement.start);
    solution.origins.push_back(origin.value_or(0));
    for (Placement &placement : solution.ops)
      if (placement.role == role)
        placement.stage = (placement.start - solution.origins[role]) / interval;
    setOrders(problem, solution, role);
  }
  return solution;
}
