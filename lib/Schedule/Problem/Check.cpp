// Whether a problem is one: what its parts name exists, its numbers are in range, and no op needs
// its own result in the same iteration.
#include "kiln/Schedule/Problem/Problem.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln::schedule;
using llvm::SmallVector;
using llvm::StringRef;

std::string Violation::str() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (op)
    out << "op " << *op << " '" << name << "': ";
  else if (!name.empty())
    out << "'" << name << "': ";
  out << decision << ": " << limit;
  return text;
}

int64_t Problem::getLatency(const Dependence &dependence, bool crossesRoles) const {
  int64_t latency = dependence.latency.value_or(ops[dependence.from].latency);
  return std::max<int64_t>(latency, crossesRoles);
}

bool Problem::isContinued(unsigned op) const {
  return llvm::any_of(dependences, [&](const Dependence &each) {
    return each.from == op && each.kind == Dependence::Chain && each.distance > 0;
  });
}

Violation Problem::at(unsigned op, StringRef decision, std::string limit) const {
  return {op, ops[op].name, decision.str(), std::move(limit), {}};
}

namespace {
class Checker {
public:
  explicit Checker(const Problem &problem) : problem(problem) {}
  std::optional<Violation> run();

private:
  /// These remember the first thing that is wrong, and say whether there was nothing.
  bool fail(Violation violation);
  bool checkRange(StringRef name, StringRef what, int64_t value, int64_t least = 0);
  bool checkRange(unsigned op, StringRef what, int64_t value, int64_t most, int64_t least = 0);
  bool checkIndex(unsigned op, StringRef what, size_t index, size_t count);
  bool checkResources();
  bool checkOp(unsigned op);
  bool checkPins(unsigned op);
  bool checkRolePins();
  bool checkDependence(const Dependence &dependence);
  bool checkChains();
  bool checkCircles();
  bool visit(unsigned op);

  /// The role that an op surely has.
  std::optional<unsigned> getRole(unsigned op) const {
    return problem.roles.size() == 1 ? 0 : problem.ops[op].pins.role;
  }

  const Problem &problem;
  std::optional<Violation> violation;
  SmallVector<unsigned> path;
  SmallVector<char> visited;
};
} // namespace

bool Checker::fail(Violation found) {
  violation = std::move(found);
  return false;
}

static std::string expectRange(int64_t least, int64_t most, int64_t value) {
  return "expected " + std::to_string(least) + " to " + std::to_string(most) + ", got " +
         std::to_string(value);
}

bool Checker::checkRange(StringRef name, StringRef what, int64_t value, int64_t least) {
  return (value >= least && value <= kMostNumber) ||
         fail({std::nullopt, name.str(), what.str(), expectRange(least, kMostNumber, value)});
}

bool Checker::checkRange(unsigned op, StringRef what, int64_t value, int64_t most, int64_t least) {
  return (value >= least && value <= most) ||
         fail(problem.at(op, what, expectRange(least, most, value)));
}

bool Checker::checkIndex(unsigned op, StringRef what, size_t index, size_t count) {
  return index < count || fail(problem.at(op, what,
                                          "expected one of the " + std::to_string(count) +
                                              " that there are, got " + std::to_string(index)));
}

bool Checker::checkResources() {
  if (problem.roles.empty())
    return fail({std::nullopt, "", "roles", "expected at least one, got none"});
  if (int64_t count = problem.ops.size(); count > kMostOps)
    return fail({std::nullopt, "", "ops", expectRange(0, kMostOps, count)});
  if (int64_t count = problem.dependences.size(); count > kMostDependences)
    return fail({std::nullopt, "", "dependences", expectRange(0, kMostDependences, count)});
  for (const Role &role : problem.roles)
    if (!checkRange(role.name, "warps", role.warps, 1) ||
        !checkRange(role.name, "registers", role.registerBytes.value_or(0)))
      return false;
  for (const Unit &unit : problem.units)
    if (!checkRange(unit.name, "count", unit.count, 1))
      return false;
  for (const Counter &counter : problem.counters)
    if (!checkRange(counter.name, "limit", counter.limit.value_or(0)))
      return false;
  for (const SharedPiece &piece : problem.otherPieces)
    if (!checkRange(piece.name, "bytes", piece.bytes) ||
        !checkRange(piece.name, "alignment", piece.alignment, 1))
      return false;
  const Budget &budget = problem.budget;
  return checkRange("", "shared memory", budget.sharedBytes.value_or(0)) &&
         checkRange("", "tensor memory", budget.tensorColumns.value_or(0)) &&
         checkRange("", "named barriers", budget.namedBarriers.value_or(0)) &&
         checkRange("", "most stages", problem.mostStages.value_or(1), 1);
}

bool Checker::checkOp(unsigned index) {
  const Op &op = problem.ops[index];
  for (const Reservation &each : op.reservations) {
    if (!checkIndex(index, "unit", each.unit, problem.units.size()) ||
        !checkRange(index, "occupancy", each.cycles, kMostCycles, 1) ||
        !checkRange(index, "occupancy's offset", each.offset, kMostCycles))
      return false;
    const auto *same = llvm::find_if(op.reservations, [unit = each.unit](const Reservation &other) {
      return other.unit == unit;
    });
    if (same != &each)
      return fail(problem.at(index, "unit",
                             "expected one reservation of '" + problem.units[each.unit].name +
                                 "', got two"));
  }
  if (op.completion == Completion::Counted &&
      !checkIndex(index, "counter", op.counter, problem.counters.size()))
    return false;
  return checkRange(index, "latency", op.latency, kMostCycles) &&
         checkRange(index, "starts", op.starts, kMostTrips, 1) &&
         checkRange(index, "warp multiple", op.warpMultiple, kMostNumber, 1) &&
         checkRange(index, "register bytes", op.registerBytes, kMostNumber) &&
         checkRange(index, "buffer bytes", op.bufferBytes, kMostNumber) &&
         checkRange(index, "buffer columns", op.bufferColumns, kMostNumber) &&
         checkRange(index, "slot barriers", op.slotBarriers, kMostNumber) && checkPins(index);
}

bool Checker::checkPins(unsigned index) {
  const Op &op = problem.ops[index];
  const Pins &pins = op.pins;
  if (pins.role && !checkIndex(index, "role", *pins.role, problem.roles.size()))
    return false;
  if (std::optional<unsigned> role = getRole(index))
    if (int64_t warps = problem.roles[*role].warps; warps % op.warpMultiple)
      return fail(problem.at(index, "role",
                             "expected one with a multiple of " + std::to_string(op.warpMultiple) +
                                 " warps, got '" + problem.roles[*role].name + "' with " +
                                 std::to_string(warps)));
  if (!checkRange(index, "stage", pins.stage.value_or(0), kMostTrips - 1) ||
      !checkRange(index, "depth", pins.depth.value_or(1), kMostTrips, 1) ||
      !checkRange(index, "in_flight", pins.inFlight.value_or(0), kMostTrips))
    return false;
  int64_t most = problem.isLoop ? problem.mostStages.value_or(kMostTrips) : 1;
  if (pins.stage.value_or(0) >= most)
    return fail(problem.at(index, "stage",
                           "expected less than the " + std::to_string(most) +
                               " that a role may have, got " + std::to_string(*pins.stage)));
  if (pins.order && !checkIndex(index, "order", *pins.order, problem.ops.size()))
    return false;
  if (pins.depth && !op.canLieInRing())
    return fail(problem.at(index, "depth", "expected none, since no ring can hold the result"));
  if (pins.depth.value_or(1) > 1 && problem.isContinued(index))
    return fail(problem.at(index, "depth",
                           "expected 1, since the next iteration continues the result in its "
                           "place, got " +
                               std::to_string(*pins.depth)));
  if (!pins.inFlight)
    return true;
  if (op.completion != Completion::Counted)
    return fail(problem.at(index, "in_flight", "expected none, since the op is not counted"));
  const Counter &counter = problem.counters[op.counter];
  return *pins.inFlight <= counter.limit.value_or(kMostNumber) ||
         fail(problem.at(index, "in_flight",
                         "expected at most " + std::to_string(*counter.limit) +
                             ", the most that a wait for '" + counter.name + "' can name, got " +
                             std::to_string(*pins.inFlight)));
}

/// Pins that concern one another within a role. A stage pinned to an op of no certain role may be
/// the least of any, and so may that of an op which nobody pins and which does not only wait.
bool Checker::checkRolePins() {
  llvm::DenseMap<std::pair<unsigned, int64_t>, unsigned> orders;
  llvm::SmallDenseMap<unsigned, unsigned> least;
  llvm::SmallDenseSet<unsigned> open;
  for (unsigned op = 0; op < problem.ops.size(); ++op) {
    std::optional<unsigned> role = getRole(op);
    const Pins &pins = problem.ops[op].pins;
    if (!role)
      continue;
    if (pins.order) {
      auto [at, isNew] = orders.try_emplace({*role, *pins.order}, op);
      if (!isNew)
        return fail(problem.at(op, "order",
                               "expected one that no other op of its role has, got " +
                                   std::to_string(*pins.order) + " as of '" +
                                   problem.ops[at->second].name + "'"));
    }
    if (!pins.stage && !problem.ops[op].isLate)
      open.insert(*role);
    if (pins.stage) {
      unsigned &first = least.try_emplace(*role, op).first->second;
      if (*pins.stage < *problem.ops[first].pins.stage)
        first = op;
    }
  }
  auto isUncertain = [&](unsigned op) { return problem.ops[op].pins.stage && !getRole(op); };
  auto ops = llvm::seq<unsigned>(0, problem.ops.size());
  if (llvm::any_of(ops, isUncertain))
    return true;
  for (unsigned op : ops)
    for (auto [role, first] : least)
      if (first == op && !open.contains(role) && *problem.ops[op].pins.stage > 0)
        return fail(problem.at(op, "stage",
                               "expected stages that begin with 0 in its role, got " +
                                   std::to_string(*problem.ops[op].pins.stage) + " as the least"));
  return true;
}

bool Checker::checkDependence(const Dependence &dependence) {
  size_t count = problem.ops.size();
  if (dependence.from >= count || dependence.to >= count)
    return fail({std::nullopt, "", "dependence",
                 "expected ends among the " + std::to_string(count) + " ops, got " +
                     std::to_string(dependence.from) + " and " + std::to_string(dependence.to)});
  if (!checkRange(dependence.to, "distance", dependence.distance, kMostTrips) ||
      !checkRange(dependence.to, "dependence's latency", dependence.latency.value_or(0),
                  kMostCycles))
    return false;
  const Op &from = problem.ops[dependence.from], &to = problem.ops[dependence.to];
  if (!problem.isLoop && dependence.distance > 0)
    return fail(problem.at(dependence.to, "distance",
                           "expected 0 in a block, got " + std::to_string(dependence.distance)));
  bool isSameWork = from.completion == to.completion &&
                    (from.completion != Completion::Counted || from.counter == to.counter);
  if (dependence.kind == Dependence::Chain && !isSameWork)
    return fail(problem.at(dependence.to, "chain",
                           "expected completion as of '" + from.name + "', which it continues"));
  std::optional<unsigned> maker = getRole(dependence.from), user = getRole(dependence.to);
  if (!maker || !user || *maker == *user)
    return true;
  if (dependence.kind == Dependence::Value && from.canBeHandedOver())
    return true;
  return fail(problem.at(dependence.to, "role",
                         "expected '" + problem.roles[*maker].name + "', as of '" + from.name +
                             "', since no ring can hand on what is between them, got '" +
                             problem.roles[*user].name + "'"));
}

/// A chain is a line.
bool Checker::checkChains() {
  llvm::SmallDenseMap<unsigned, unsigned> next;
  for (const Dependence &each : problem.dependences)
    if (each.kind == Dependence::Chain && each.distance == 0 &&
        !next.try_emplace(each.from, each.to).second)
      return fail(problem.at(each.to, "chain",
                             "expected to be the only op that continues '" +
                                 problem.ops[each.from].name + "' in its iteration"));
  return true;
}

/// Follows the needs of one iteration, depth first.
bool Checker::visit(unsigned op) {
  enum : char { New, Open, Done };
  if (visited[op] == Done)
    return true;
  path.push_back(op);
  if (visited[op] == Open) {
    std::string names;
    for (unsigned each : llvm::make_range(llvm::find(path, op), path.end()))
      names += (names.empty() ? "'" : " -> '") + problem.ops[each].name + "'";
    return fail(problem.at(op, "dependence",
                           "expected no need of its own result in one iteration, got " + names));
  }
  visited[op] = Open;
  for (const Dependence &each : problem.dependences)
    if (each.from == op && each.distance == 0 && !visit(each.to))
      return false;
  visited[op] = Done;
  path.pop_back();
  return true;
}

bool Checker::checkCircles() {
  visited.assign(problem.ops.size(), 0);
  return llvm::all_of(llvm::seq<unsigned>(0, problem.ops.size()),
                      [&](unsigned op) { return visit(op); });
}

std::optional<Violation> Checker::run() {
  auto checkOps = [&] {
    return llvm::all_of(llvm::seq<unsigned>(0, problem.ops.size()),
                        [&](unsigned op) { return checkOp(op); });
  };
  auto checkDependences = [&] {
    return llvm::all_of(problem.dependences,
                        [&](const Dependence &each) { return checkDependence(each); });
  };
  if (checkResources() && checkOps() && checkRolePins() && checkDependences() && checkChains())
    checkCircles();
  return violation;
}

std::optional<Violation> kiln::schedule::check(const Problem &problem) {
  return Checker(problem).run();
}
