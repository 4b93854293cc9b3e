// Finds who waits for whom: the ops of a trip one after another, users of what is made, and makers
// of what is used.
#include "Waits.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace kiln::schedule;
using llvm::ArrayRef;
using llvm::SmallVector;

namespace {
/// What a copy of a role does in each trip: an op of the iteration so many trips before, or a
/// meeting of the trip of the first copy so many before.
struct Step {
  unsigned waiter;
  int64_t stage;
};

/// The steps of a role's ops: each, and the one behind which what it starts may be waited for.
struct Copy {
  llvm::DenseMap<unsigned, Step> starts, ends;
};

class WaitFinder {
public:
  WaitFinder(const Problem &problem, const Solution &solution, const Steady &steady)
      : problem(problem), solution(solution), steady(steady) {}
  Waits run();

private:
  SmallVector<unsigned> findMeetings(unsigned role) const;
  void addCopy(unsigned role, ArrayRef<unsigned> meetings, unsigned first, int64_t lag);
  void add(const Step &from, const Step &to, int64_t trips);
  template <typename Add>
  void forCopies(unsigned from, unsigned to, Add add) const;

  const Problem &problem;
  const Solution &solution;
  const Steady &steady;
  Waits found;
  /// By role: one, or the first and the last.
  SmallVector<SmallVector<Copy>> copies;
};
} // namespace

/// The meetings of a trip, each behind how many of its ops. Those around work that is started in
/// turns are in front of the first of it and behind the last, as far as nothing parts them. What an
/// op needs is there before it waits for others to meet it.
SmallVector<unsigned> WaitFinder::findMeetings(unsigned role) const {
  ArrayRef<unsigned> sequence = steady.getSequence(role);
  SmallVector<unsigned> meetings;
  auto isWaitedFor = [&](unsigned place) {
    return llvm::any_of(sequence, [&](unsigned op) {
      return problem.ops[op].completion == Completion::Counted &&
             steady.getWait(op).place == int64_t(place);
    });
  };
  std::optional<unsigned> last;
  auto close = [&] {
    if (last)
      meetings.push_back(*last + 1);
    last.reset();
  };
  for (auto [place, number] : llvm::enumerate(sequence)) {
    const Op &op = problem.ops[number];
    if (op.partsTurns || isWaitedFor(place))
      close();
    if (op.isInTurns && !last)
      meetings.push_back(place + 1);
    if (op.isInTurns)
      last = place;
    meetings.append(2 * op.innerTurns, place + 1);
  }
  close();
  return meetings;
}

void WaitFinder::add(const Step &from, const Step &to, int64_t trips) {
  found.waits.push_back({from.waiter, to.waiter, from.stage + trips - to.stage, std::nullopt});
}

/// A copy that has so many meetings behind it when the first one meets, whose first meeting of a
/// trip is this waiter.
void WaitFinder::addCopy(unsigned role, ArrayRef<unsigned> meetings, unsigned first, int64_t lag) {
  ArrayRef<unsigned> sequence = steady.getSequence(role);
  int64_t count = meetings.size();
  Copy &copy = copies[role].emplace_back();
  SmallVector<Step> steps;
  // Around a loop a copy has met so often in the trips before, in front of a block at the block's
  // beginning.
  auto meet = [&](int64_t number) {
    if (problem.isLoop)
      steps.push_back({unsigned(first + number % count), -(number / count)});
    else if (number < count)
      steps.push_back({unsigned(first + number), 0});
  };
  for (int64_t number = 0; number < lag && !problem.isLoop; ++number)
    meet(number);
  int64_t met = 0;
  for (auto [place, op] : llvm::enumerate(sequence)) {
    Step step{op, solution.ops[op].stage};
    if (copies[role].size() > 1) {
      step.waiter = found.waiters.size();
      found.waiters.push_back({Waiter::Last, op});
    }
    copy.starts[op] = step;
    steps.push_back(step);
    for (; met < count && meetings[met] == place + 1; ++met)
      meet(met + lag);
    // Of a turn that is over the meeting behind it.
    bool isOver = met % 2 == 0 && (problem.ops[op].isInTurns || problem.ops[op].innerTurns);
    copy.ends[op] = isOver ? steps.back() : step;
  }
  for (auto [from, to] : llvm::zip(steps, llvm::drop_begin(steps)))
    add(from, to, 0);
  if (!steps.empty() && problem.isLoop)
    add(steps.back(), steps.front(), 1);
}

/// Each copy waits for each of another role, and in its own role for itself.
template <typename Add>
void WaitFinder::forCopies(unsigned from, unsigned to, Add add) const {
  unsigned maker = solution.ops[from].role, user = solution.ops[to].role;
  for (const Copy &one : copies[maker])
    for (const Copy &other : copies[user])
      if (maker != user || &one == &other)
        add(one, other);
}

Waits WaitFinder::run() {
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    found.waiters.push_back({Waiter::First, op});
  copies.resize(problem.roles.size());
  for (auto [number, role] : llvm::enumerate(problem.roles)) {
    SmallVector<unsigned> meetings;
    if (role.lag > 0)
      meetings = findMeetings(number);
    unsigned first = found.waiters.size();
    found.waiters.append(meetings.size(), {Waiter::Meeting, unsigned(number)});
    addCopy(number, meetings, first, 0);
    if (!meetings.empty())
      addCopy(number, meetings, first, role.lag);
  }
  for (const Dependence &each : problem.dependences) {
    if (!steady.isReadFromRing(each))
      continue;
    forCopies(each.from, each.to, [&](const Copy &maker, const Copy &user) {
      found.waits.push_back({maker.starts.find(each.from)->second.waiter,
                             user.starts.find(each.to)->second.waiter, each.distance,
                             std::nullopt});
    });
    if (!problem.isLoop)
      continue;
    Event free = steady.getDone(each.to);
    int64_t trips = solution.ops[each.from].depth - each.distance - free.distance;
    forCopies(free.op, each.from, [&](const Copy &user, const Copy &maker) {
      const Step &started = user.starts.find(free.op)->second;
      const Step &ended = user.ends.find(free.op)->second;
      found.waits.push_back({ended.waiter, maker.starts.find(each.from)->second.waiter,
                             trips - started.stage + ended.stage, each.from});
    });
  }
  return std::move(found);
}

Waits kiln::schedule::getWaits(const Problem &problem, const Solution &solution,
                               const Steady &steady) {
  return WaitFinder(problem, solution, steady).run();
}
