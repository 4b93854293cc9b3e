// Solutions played: each role runs its trips op by op, waits for what it needs, for slots and, by
// counting starts, for work in flight. What verify() says of the trips in which all stages run must
// come about: nothing starts later than the solution says.
#include "AnyProblem.h"
#include "Solve.h"
#include <map>

using namespace kiln::schedule;

namespace {
/// Iteration `iteration` of an op.
struct Instance {
  unsigned op;
  int64_t iteration;
  bool operator<(const Instance &other) const {
    return std::tie(op, iteration) < std::tie(other.op, other.iteration);
  }
};

class Player {
public:
  Player(const Problem &problem, const Solution &solution, int64_t iterations);
  /// Plays to the end; whether it is reached.
  bool run();
  /// The first op that starts later than the solution says.
  std::optional<Instance> findLate() const;

private:
  /// A step of a role: the start of an op, or the wait for an op's work.
  struct Step {
    Instance instance;
    bool isWait;
  };
  void write(unsigned role);
  bool waitsFor(const Dependence &each, unsigned op) const;
  unsigned getEnd(unsigned op) const;
  bool step(unsigned role);
  void wait(unsigned role, const Instance &instance);
  bool start(unsigned role, const Instance &instance);
  std::optional<int64_t> getFree(const Dependence &each, int64_t iteration) const;
  const Placement &at(unsigned op) const { return solution.ops[op]; }
  bool isCounted(unsigned op) const { return problem.ops[op].completion == Completion::Counted; }
  bool exists(int64_t iteration) const { return iteration >= 0 && iteration < iterations; }

  const Problem &problem;
  const Solution &solution;
  int64_t iterations;
  std::vector<std::vector<Step>> steps;
  std::vector<size_t> next;
  std::vector<int64_t> clocks;
  std::vector<std::vector<Instance>> started; // by role, counted work
  std::map<Instance, int64_t> starts, known;  // when work was seen to be done
};
} // namespace

Player::Player(const Problem &problem, const Solution &solution, int64_t iterations)
    : problem(problem), solution(solution), iterations(iterations), steps(problem.roles.size()),
      next(steps.size(), 0), clocks(steps.size(), INT64_MIN), started(steps.size()) {
  for (unsigned role = 0; role < steps.size(); ++role)
    write(role);
}

bool Player::waitsFor(const Dependence &each, unsigned op) const {
  return each.from == op && each.kind != Dependence::Chain && at(each.to).role == at(op).role;
}

/// The op whose wait is that of the whole chain.
unsigned Player::getEnd(unsigned op) const {
  for (const Dependence &each : problem.dependences)
    if (waitsFor(each, op))
      return op;
  for (const Dependence &each : problem.dependences)
    if (each.from == op && each.kind == Dependence::Chain && each.distance == 0)
      return getEnd(each.to);
  return op;
}

/// The role's program, written out.
void Player::write(unsigned role) {
  std::map<int64_t, unsigned> ops;
  int64_t stages = 0, distance = 0, inFlight = 0;
  for (const Dependence &each : problem.dependences)
    distance = std::max(distance, each.distance);
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    if (at(op).role == role) {
      ops[at(op).order] = op;
      stages = std::max(stages, at(op).stage + 1);
      inFlight = std::max(inFlight, at(op).inFlight.value_or(0));
    }
  int64_t last = iterations + stages + inFlight; // by then, all is waited for
  for (int64_t trip = -stages - distance; trip < last; ++trip) {
    // In front of each op stand waits for what it uses; a wait that is there already says nothing.
    for (auto [order, op] : ops) {
      for (const Dependence &each : problem.dependences) {
        int64_t iteration = trip - at(op).stage - each.distance;
        if (each.to == op && isCounted(each.from) && waitsFor(each, each.from))
          steps[role].push_back({{each.from, iteration}, true});
      }
      steps[role].push_back({{op, trip - at(op).stage}, false});
    }
    // At its end, those for what is only continued, or used by a later iteration.
    for (auto [order, op] : ops) {
      bool isHeld = true, isForLater = false;
      for (const Dependence &each : problem.dependences)
        if (waitsFor(each, op)) {
          isHeld = false;
          isForLater |= each.distance > 0;
        }
      if (isCounted(op) && getEnd(op) == op && (isHeld || isForLater))
        steps[role].push_back({{op, trip - at(op).stage}, true});
    }
  }
}

/// Leaves the last starts under way, as many as the count says. In front of the first iterations
/// and behind the last, where fewer start, those that do not exist count and are waited for as if
/// they did: the compiler takes smaller counts there.
void Player::wait(unsigned role, const Instance &instance) {
  bool isUsed = llvm::any_of(problem.dependences,
                             [&](const Dependence &each) { return waitsFor(each, instance.op); });
  if (isUsed && known.count(instance))
    return;
  std::vector<Instance> done; // of this counter
  for (const Instance &each : started[role])
    if (problem.ops[each.op].counter == problem.ops[instance.op].counter)
      done.push_back(each);
  done.resize(std::max<int64_t>(0, int64_t(done.size()) - *at(instance.op).inFlight));
  for (const Instance &each : done)
    if (exists(each.iteration))
      clocks[role] = std::max(clocks[role], starts[each] + problem.ops[each.op].latency);
  for (const Instance &each : done) // slots go back behind the wait for their own reader
    if (getEnd(each.op) == instance.op && (!isUsed || each.iteration == instance.iteration))
      known.try_emplace(each, clocks[role]);
}

/// When a reader of a slot has given it back; nothing if that has not happened.
std::optional<int64_t> Player::getFree(const Dependence &each, int64_t iteration) const {
  Instance reader{each.to, iteration + each.distance};
  if (!exists(reader.iteration))
    return INT64_MIN;
  if (isCounted(each.to)) {
    auto found = known.find(reader);
    return found == known.end() ? std::nullopt : std::optional(found->second);
  }
  auto found = starts.find(reader);
  return found == starts.end() ? std::nullopt
                               : std::optional(found->second + problem.ops[each.to].latency);
}

bool Player::start(unsigned role, const Instance &instance) {
  if (isCounted(instance.op) && !exists(instance.iteration))
    started[role].push_back(instance);
  if (!exists(instance.iteration))
    return true;
  int64_t time =
      std::max(clocks[role], at(instance.op).start + instance.iteration * solution.interval);
  for (const Dependence &each : problem.dependences) {
    bool crosses = at(each.from).role != at(each.to).role;
    if (int64_t iteration = instance.iteration - each.distance;
        each.to == instance.op && exists(iteration)) {
      auto maker = starts.find({each.from, iteration});
      if (maker == starts.end())
        return false;
      time = std::max(time, maker->second + problem.getLatency(each, crosses));
    }
    bool isRead = each.kind == Dependence::Value && (crosses || problem.ops[each.from].isBuffered);
    if (int64_t before = instance.iteration - at(instance.op).depth;
        each.from == instance.op && isRead && exists(before)) {
      std::optional<int64_t> free = getFree(each, before);
      if (!free)
        return false;
      time = std::max(time, *free == INT64_MIN ? time : *free + 1);
    }
  }
  starts[instance] = clocks[role] = time;
  if (isCounted(instance.op))
    started[role].push_back(instance);
  return true;
}

bool Player::step(unsigned role) {
  if (next[role] == steps[role].size())
    return false;
  const Step &step = steps[role][next[role]];
  if (step.isWait)
    wait(role, step.instance);
  else if (!start(role, step.instance))
    return false;
  ++next[role];
  return true;
}

bool Player::run() {
  for (bool moved = true; moved;) {
    moved = false;
    for (unsigned role = 0; role < steps.size(); ++role)
      while (step(role))
        moved = true;
  }
  for (unsigned role = 0; role < steps.size(); ++role)
    if (next[role] < steps[role].size())
      return false;
  return true;
}

std::optional<Instance> Player::findLate() const {
  for (auto [instance, time] : starts)
    if (time > at(instance.op).start + instance.iteration * solution.interval)
      return instance;
  return std::nullopt;
}

static int64_t getIterations(const Solution &solution) {
  int64_t iterations = 8;
  for (const Placement &placement : solution.ops)
    iterations = std::max(iterations, 4 * (placement.stage + placement.depth + 1));
  return iterations;
}

namespace {
class Play : public testing::TestWithParam<int> {
protected:
  Seed random{uint64_t(GetParam())};
  testing::ScopedTrace trace{__FILE__, __LINE__, random.describe()};
};
} // namespace

TEST_P(Play, NothingIsLate) {
  Build p = anyProblem(random);
  Solution s = solve(p);
  Player player(p, s, getIterations(s));
  EXPECT_TRUE(player.run());
  std::optional<Instance> late = player.findLate();
  EXPECT_FALSE(late) << p.ops[late->op].name << " of iteration " << late->iteration;
}

/// The other way round need not hold: a release may come a trip before verify() counts on it.
TEST_P(Play, StopsOnlyWhereADeadlockIsSeen) {
  Build p = anyProblem(random);
  Solution s = solve(p);
  for (unsigned op = 0; op < p.ops.size(); ++op)
    for (int64_t depth = 1; depth < s.ops[op].depth; ++depth) {
      Solution fewer = s;
      fewer.ops[op].depth = depth;
      std::string violation = getViolation(verify(p, fewer));
      ASSERT_NE(violation, "none");
      if (violation.find("wait for one another") == std::string::npos)
        EXPECT_TRUE(Player(p, fewer, getIterations(s)).run()) << violation;
    }
}

INSTANTIATE_TEST_SUITE_P(Random, Play, testing::Range(0, 60));
