// Asks one interval after another, by halves.
#include "Search.h"
#include "Lessons.h"
#include "llvm/ADT/STLExtras.h"

using namespace kiln::schedule;
using llvm::SmallVector;

/// So many assignments of roles are tried.
static constexpr size_t kMostWays = 64;
/// Schedules of at most so many stages are looked for first, one stage more at a time.
static constexpr int64_t kFewStages = 4;
/// What one more answer of a model is worth in steps, so that all searches end.
static constexpr int64_t kRoundSteps = 1024;

bool ExactSearch::findWays() {
  auto all = listRoles(problem, kMostWays);
  hasAllWays = all.has_value();
  if (!all) {
    std::optional<SmallVector<unsigned>> roles = assignRoles(problem);
    if (!roles)
      return false;
    all.emplace().push_back(*roles);
  }
  for (SmallVector<unsigned> &roles : *all)
    if (std::optional<LeastInterval> least = getLeastInterval(problem, roles)) {
      int64_t longest = Graph(problem, roles).getLongInterval();
      ways.push_back({std::move(roles), least->get(), least->get() + longest});
    }
  return !ways.empty();
}

/// What the units that all roles share, and no circle, ask of an interval.
static int64_t getLeastOfAny(const Problem &problem) {
  Problem shared = problem;
  for (Op &op : shared.ops)
    llvm::erase_if(op.reservations,
                   [&](const Reservation &each) { return problem.units[each.unit].isPerRole; });
  shared.dependences.clear();
  for (Op &op : shared.ops)
    op.pins = {};
  SmallVector<unsigned> roles(problem.ops.size(), 0);
  std::optional<LeastInterval> least = getLeastInterval(shared, roles);
  return least ? least->byUnits : 1;
}

/// Answers until one is a schedule.
Smt::Answer ExactSearch::checkStages(IntervalModel &model, llvm::ArrayRef<Smt::Term> assumed,
                                     int64_t most, std::optional<Solution> &found,
                                     bool &isCertain) {
  for (int64_t end = steps + std::min(most, getLeft()); steps < end;) {
    Smt::Answer answer = model.getSmt().check(assumed, end - steps);
    steps += model.getSmt().getSteps() + kRoundSteps;
    if (answer != Smt::Yes)
      return answer;
    Solution solution = model.getSolution();
    completeCounts(problem, solution);
    if (!verify(problem, solution)) {
      found = std::move(solution);
      return Smt::Yes;
    }
    isCertain &= Lessons(model, problem, solution).learn();
  }
  return Smt::Unknown;
}

Smt::Answer ExactSearch::askWay(const Way &way, int64_t interval, int64_t most,
                                std::optional<Solution> &found) {
  if (interval < way.least)
    return Smt::No;
  IntervalModel model(library, problem, way.roles, interval);
  Smt &smt = model.getSmt();
  bool isCertain = true;
  int64_t end = steps + most;
  int64_t mostStages = problem.isLoop ? problem.mostStages.value_or(kMostTrips) : 1;
  for (int64_t stages = 1; stages <= kFewStages && stages < mostStages; ++stages) {
    Smt::Term isShort = smt.makeTruth();
    smt.require(smt.any({smt.negate(isShort), model.hasStages(stages)}));
    Smt::Answer answer = checkStages(model, isShort, end - steps, found, isCertain);
    if (answer == Smt::Yes)
      return Smt::Yes;
    if (answer == Smt::Unknown)
      break;
  }
  Smt::Answer answer = checkStages(model, {}, end - steps, found, isCertain);
  return answer == Smt::No && !isCertain ? Smt::Unknown : answer;
}

/// Whether some assignment of roles has a schedule of this interval.
Smt::Answer ExactSearch::ask(int64_t interval, int64_t most, std::optional<Solution> &found) {
  bool isKnown = true;
  for (const Way &way : ways) {
    Smt::Answer answer = askWay(way, interval, most / int64_t(ways.size()), found);
    if (answer == Smt::Yes)
      return answer;
    isKnown &= answer == Smt::No;
  }
  return isKnown ? Smt::No : Smt::Unknown;
}

std::optional<Proven> ExactSearch::run(const std::optional<Solution> &known) {
  if (!findWays()) {
    impossible = true;
    return std::nullopt;
  }
  int64_t least = ways.front().least, longest = 0;
  for (const Way &way : ways) {
    least = std::min(least, way.least);
    longest = std::max(longest, way.longest);
  }
  std::optional<Solution> best = known;
  if (!best) {
    Smt::Answer answer = ask(longest, getLeft() / 2, best);
    impossible = answer == Smt::No && hasAllWays;
    if (answer != Smt::Yes)
      return std::nullopt;
  }
  // Below `failed` nothing was found; below `least` there is nothing.
  int64_t failed = least;
  auto tryInterval = [&](int64_t interval) {
    std::optional<Solution> found;
    Smt::Answer answer = ask(interval, getLeft() / 2, found);
    if (answer == Smt::Yes)
      best = found;
    else
      failed = interval + 1;
    if (answer == Smt::No)
      least = std::max(least, interval + 1);
  };
  // The bounds can often be held.
  if (least < best->interval)
    tryInterval(least);
  while (failed < best->interval && getLeft() > 0)
    tryInterval(failed + (best->interval - 1 - failed) / 2);
  return Proven{std::move(*best), hasAllWays ? least : getLeastOfAny(problem), steps};
}
