// The proof of Waits.h: ages of outstanding accesses, to a fixed point over the kernel's blocks.
#include "WaitCheck.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <deque>

using namespace llvm;
using namespace kiln::amdgcn;

/// Counters hold no more than this; what is older is as good as done by any wait there is.
static constexpr unsigned kOldest = 255;

void WaitCheck::meet(WaitState &state, bool ifTold) const {
  for (auto it = state.lds.begin(); it != state.lds.end();) {
    bool passes = it->second.done && (it->second.told || !ifTold);
    if (passes) {
      --it->second.barriers;
      it->second.barriersOfGroup = 0;
    }
    it = passes && it->second.barriers == 0 ? state.lds.erase(it) : std::next(it);
  }
}

void WaitCheck::complete(WaitState &state, unsigned at, Counter counter, unsigned upTo) const {
  auto &ages = state.ages[unsigned(counter)];
  for (auto it = ages.begin(); it != ages.end();) {
    // Scalar loads are done in any order, so only all of them are.
    bool done = counter == Counter::Scalar ? upTo == 0 : it->second >= upTo;
    if (!done) {
      ++it;
      continue;
    }
    auto access = state.lds.find(it->first);
    if (access != state.lds.end() && !access->second.done) {
      access->second.done = true;
      access->second.barriers = 1 + lags.most[at];
      access->second.barriersOfGroup = 1;
    }
    it = ages.erase(it);
  }
}

std::optional<LDSAccess> WaitCheck::getLDSAccess(const Instruction &instruction,
                                                 const WaitState &state) const {
  bool reads = instruction.kind == Kind::ReadLDS || instruction.kind == Kind::AtomicLDS;
  bool writes = instruction.kind == Kind::WriteLDS || instruction.kind == Kind::AtomicLDS ||
                instruction.kind == Kind::LoadToLDS;
  // Words that count arrivals hold nothing else, and are there to be accessed by all at any time.
  if ((!reads && !writes) || instruction.isArrival || instruction.isLook)
    return std::nullopt;
  return LDSAccess{reads, writes, instruction.kind == Kind::AtomicLDS,
                   getPlace(instruction, state.ranges, waveSize), false};
}

void WaitCheck::issue(WaitState &state, unsigned at) const {
  const Instruction &instruction = kernel.code[at];
  if (instruction.kind == Kind::Wait) {
    for (unsigned counter = 0; counter < kNumCounters; ++counter)
      if (instruction.waits[counter])
        complete(state, at, Counter(counter), *instruction.waits[counter]);
  } else if (instruction.kind == Kind::Call) {
    // What is called waits for all before anything else.
    for (Counter counter : {Counter::Load, Counter::LDS, Counter::Scalar})
      complete(state, at, counter, 0);
    state.ranges = {};
  } else if (instruction.kind == Kind::Barrier || instruction.kind == Kind::BarrierSignal) {
    state.signalled = state.surelySignalled = instruction.kind == Kind::BarrierSignal;
    if (!lags.alone.count(at))
      meet(state);
  } else if (instruction.kind == Kind::BarrierWait) {
    state.signalled = state.surelySignalled = false;
  } else if (auto parting = lags.rounds.find(at); parting != lags.rounds.end()) {
    for (unsigned round = 0; round < parting->second; ++round)
      meet(state);
  } else if (std::optional<Counter> counter = kernel.getCounter(instruction)) {
    if (instruction.isArrival)
      for (auto &[other, access] : state.lds)
        access.told |= access.done;
    if (instruction.isLook)
      meet(state, /*ifTold=*/true);
    auto &ages = state.ages[unsigned(*counter)];
    for (auto &[other, age] : ages)
      age = std::min(age + 1, kOldest);
    // No counter counts further: the access was issued when there was room for one more. LLVM goes
    // by it as well.
    complete(state, at, *counter, kernel.getCounterLimit(*counter));
    ages[at] = 0;
    if (auto access = getLDSAccess(instruction, state)) {
      // Of two rounds through a loop, the places of both count.
      auto [it, isNew] = state.lds.try_emplace(at, *access);
      if (!isNew) {
        it->second.place.low = std::min(it->second.place.low, access->place.low);
        it->second.place.high = std::max(it->second.place.high, access->place.high);
        it->second.done = it->second.told = false;
        it->second.barriers = it->second.barriersOfGroup = 0;
      }
    }
  }
  state.ranges.apply(instruction);
}

/// A function waits for all that its caller left, reaches no LDS, and leaves nothing itself.
std::string WaitCheck::findProblemOfFunction(const WaitState &state, unsigned at) const {
  const Instruction &instruction = kernel.code[at];
  if (at == 0) {
    std::set<Counter> waited;
    for (const Instruction &first : kernel.code) {
      if (first.kind != Kind::Wait)
        break;
      for (Counter counter : {Counter::Load, Counter::LDS, Counter::Scalar})
        if (first.waits[unsigned(counter)] == 0u)
          waited.insert(counter);
    }
    if (waited.size() != 3)
      return "expected a function to wait for all that its caller left";
  }
  switch (instruction.kind) {
  case Kind::LoadToLDS:
  case Kind::ReadLDS:
  case Kind::WriteLDS:
  case Kind::AtomicLDS:
  case Kind::Barrier:
  case Kind::BarrierSignal:
  case Kind::BarrierWait:
    return "expected no access to LDS and no barrier in a function";
  case Kind::Return:
    for (const auto &ages : state.ages)
      for (auto [load, age] : ages)
        if (kernel.code[load].result)
          return formatv("expected a wait for '{0}' of line {1} before the return",
                         kernel.code[load].mnemonic, kernel.code[load].line);
    return "";
  default:
    return "";
  }
}

std::string WaitCheck::findProblem(const WaitState &state, unsigned at) const {
  const Instruction &instruction = kernel.code[at];
  if (kernel.isFunction)
    if (std::string problem = findProblemOfFunction(state, at); !problem.empty())
      return problem;
  auto line = [&](unsigned other) { return kernel.code[other].line; };
  if (instruction.kind == Kind::Flat)
    return "expected no flat accesses, which are done in any order";
  std::optional<Counter> own = kernel.getCounter(instruction);
  for (unsigned counter = 0; counter < kNumCounters; ++counter)
    for (auto [load, age] : state.ages[counter]) {
      const std::optional<Registers> &result = kernel.code[load].result;
      if (!result)
        continue;
      auto isTouched = [&](const Registers &registers) { return registers.overlaps(*result); };
      // A later load may overwrite an earlier one where results come in order; one that fills
      // half a register writes that half when it comes, and does not read the other.
      bool inOrder = own == Counter::LDS ? instruction.keepsHalf
                                         : own == Counter::Load && kernel.fillsInOrder();
      bool overwrites = inOrder && unsigned(*own) == counter && instruction.result;
      if (any_of(instruction.reads, isTouched) ||
          (!overwrites && any_of(instruction.writes, isTouched)))
        return formatv("expected a wait for '{0}' of line {1} before its register is used",
                       kernel.code[load].mnemonic, line(load));
    }
  if (instruction.isArrival)
    for (const auto &[other, access] : state.lds)
      if (!access.done)
        return formatv("expected a wait for '{0}' of line {1} before an arrival tells of it",
                       kernel.code[other].mnemonic, line(other));
  // Nobody's barrier ends without this wave.
  if (instruction.kind == Kind::BarrierWait && !state.surelySignalled)
    return "expected this wave to signal a barrier before it waits for it";
  bool isSignal = instruction.kind == Kind::BarrierSignal || instruction.kind == Kind::Barrier;
  if (isSignal && state.signalled)
    return "expected a wait for the barrier that is signalled already";
  if (state.signalled && !kernel.isOneWave() && getLDSAccess(instruction, state))
    return "expected no access to LDS between the halves of a barrier";
  return "";
}

static bool areApart(Range a, Range b) { return a.high < b.low || b.high < a.low; }

/// Whether waves of two groups, or two of one, may reach the same place, and nothing orders them.
bool WaitCheck::mayClash(unsigned other, const LDSAccess &earlier, unsigned at,
                         const LDSAccess &access) const {
  bool conflict = (access.reads && earlier.writes) || (access.writes && earlier.reads);
  // Atomic accesses may come in any order: that is what they are for.
  conflict &= !(access.isAtomic && earlier.isAtomic);
  if (!conflict || areApart(access.place, earlier.place))
    return false;
  // One wave's own accesses are done in order, and loads to LDS when they are waited for.
  bool isLoad =
      kernel.code[other].kind == Kind::LoadToLDS || kernel.code[at].kind == Kind::LoadToLDS;
  bool isOrderedInWave = !isLoad || earlier.done;
  if (kernel.isOneWave())
    return !isOrderedInWave;
  if (lags.groups.size() < 2)
    return true;
  for (const Lags::Group &first : lags.groups)
    for (const Lags::Group &second : lags.groups) {
      // Waves of a group pass the same barriers.
      bool isOne = first.waves.first == first.waves.last;
      if (&first == &second && (isOne ? isOrderedInWave : earlier.done && !earlier.barriersOfGroup))
        continue;
      auto from = first.paths.places.find(other), to = second.paths.places.find(at);
      if (from != first.paths.places.end() && to != second.paths.places.end() &&
          !areApart(from->second, to->second))
        return true;
    }
  return false;
}

/// What is said of the first of those that an access clashes with, which are all added.
std::string WaitCheck::findConflicts(const WaitState &state, unsigned at,
                                     std::map<unsigned, bool> &conflicting) const {
  const Instruction &instruction = kernel.code[at];
  std::optional<LDSAccess> access = getLDSAccess(instruction, state);
  std::string problem;
  if (!access)
    return problem;
  auto spell = [](Range place) {
    return place.isAll() ? std::string("any byte")
                         : formatv("bytes {0} to {1}", place.low, place.high).str();
  };
  for (const auto &[other, earlier] : state.lds) {
    if (!mayClash(other, earlier, at, *access))
      continue;
    const Instruction &first = kernel.code[other];
    conflicting[other] = earlier.done;
    if (!problem.empty())
      continue;
    if (kernel.isOneWave()) {
      problem = formatv("expected a wait for '{0}' of line {1} before its place in LDS is reached",
                        first.mnemonic, first.line);
      continue;
    }
    std::string places = formatv(": {0}, {1}", spell(earlier.place), spell(access->place));
    if (earlier.done)
      problem = formatv("expected a barrier between '{0}' of line {1} and what reaches its place "
                        "in LDS{2}",
                        first.mnemonic, first.line, places);
    else
      problem = formatv("expected a wait for '{0}' of line {1}, and a barrier, before its place in "
                        "LDS is reached{2}",
                        first.mnemonic, first.line, places);
  }
  return problem;
}

bool WaitCheck::join(WaitState &into, const WaitState &from, bool widen) const {
  if (!into.reached) {
    into = from;
    into.reached = true;
    return true;
  }
  bool changed = into.ranges.join(from.ranges, widen, bounds) || into.signalled < from.signalled ||
                 into.surelySignalled > from.surelySignalled;
  into.signalled |= from.signalled;
  into.surelySignalled &= from.surelySignalled;
  for (unsigned counter = 0; counter < kNumCounters; ++counter)
    for (auto [at, age] : from.ages[counter]) {
      auto [it, isNew] = into.ages[counter].try_emplace(at, age);
      if (!isNew && it->second <= age)
        continue;
      it->second = std::min(it->second, age);
      changed = true;
    }
  for (const auto &[at, access] : from.lds) {
    auto [it, isNew] = into.lds.try_emplace(at, access);
    LDSAccess both = it->second;
    both.done &= access.done;
    both.told &= access.told;
    both.barriers = both.done ? std::max(both.barriers, access.barriers) : 0;
    both.barriersOfGroup = both.done ? std::max(both.barriersOfGroup, access.barriersOfGroup) : 0;
    both.place = {std::min(both.place.low, access.place.low),
                  std::max(both.place.high, access.place.high)};
    changed |= isNew || !(both == it->second);
    it->second = both;
  }
  return changed;
}

void WaitCheck::find(const WaitState &state, unsigned at) {
  // What is known only weakens from visit to visit, so that a problem stays one.
  std::string problem = findProblem(state, at);
  if (!problem.empty()) {
    conflicts.erase(at);
    problems.insert_or_assign(at, std::move(problem));
  } else if (!problems.count(at) || conflicts.count(at)) {
    std::map<unsigned, bool> conflicting;
    problem = findConflicts(state, at, conflicting);
    if (problem.empty())
      return;
    problems.try_emplace(at, std::move(problem));
    for (auto [earlier, isDone] : conflicting) {
      auto [known, isNew] = conflicts[at].try_emplace(earlier, isDone);
      known->second &= isDone;
    }
  }
}

/// What a wait waits for.
void WaitCheck::noteWait(const WaitState &state, unsigned at) {
  for (unsigned counter = 0; counter < kNumCounters; ++counter)
    if (const std::optional<unsigned> &count = kernel.code[at].waits[counter]) {
      auto isStore = [&](auto &access) {
        Kind kind = kernel.code[access.first].kind;
        return (kind == Kind::StoreGlobal || kind == Kind::AtomicGlobal) && access.second <= *count;
      };
      if (!state.ages[counter].empty())
        waited.insert({at, counter});
      if (any_of(state.ages[counter], isStore))
        waitedStores.insert({at, counter});
    }
}

/// Through a block that does nothing but wait, compute and go where a constant of this path says:
/// other paths that meet there go elsewhere.
std::optional<unsigned> WaitCheck::follow(unsigned at, WaitState &state) {
  // On gfx12 a wait for the scalar unit stands in front of each branch by its masks.
  constexpr size_t kMostSteps = 64;
  WaitState there = state;
  for (size_t steps = 0; steps < kMostSteps && at < kernel.code.size(); ++steps) {
    const Instruction &passed = kernel.code[at];
    if (!is_contained({Kind::Other, Kind::Branch, Kind::Wait}, passed.kind) ||
        lags.rounds.count(at))
      return std::nullopt;
    find(there, at);
    if (passed.kind == Kind::Wait)
      noteWait(there, at);
    if (passed.kind == Kind::Branch && passed.fallsThrough) {
      std::optional<bool> isTaken = there.ranges.isTaken(passed);
      if (!isTaken)
        return std::nullopt;
      state = std::move(there);
      return *isTaken ? *passed.target : at + 1;
    }
    issue(there, at);
    at = passed.kind == Kind::Branch ? *passed.target : at + 1;
  }
  return std::nullopt;
}

std::vector<WaitProblem> WaitCheck::run(bool onlyFirst) {
  const std::vector<bool> begins = kernel.getBlockStarts();
  constexpr unsigned kPatience = 4;
  constexpr size_t kMostHops = 64;
  std::vector<unsigned> visits(kernel.code.size() + 1, 0);
  std::deque<unsigned> work{0};
  before[0].reached = true;
  if (!kernel.isFunction)
    before[0].ranges.setThreads(0, kernel.getThreads() - 1);
  auto arrive = [&](unsigned at, WaitState state) {
    for (size_t hops = 0; hops < kMostHops; ++hops) {
      std::optional<unsigned> next = follow(at, state);
      if (!next)
        break;
      at = *next;
    }
    if (at < kernel.code.size() && join(before[at], state, ++visits[at] > kPatience) &&
        !is_contained(work, at))
      work.push_back(at);
  };
  while (!work.empty() && !(onlyFirst && !problems.empty())) {
    unsigned at = work.front();
    work.pop_front();
    WaitState state = before[at];
    for (;; ++at) {
      if (at == kernel.code.size())
        break;
      find(state, at);
      const Instruction &instruction = kernel.code[at];
      if (instruction.kind == Kind::Wait)
        noteWait(state, at);
      issue(state, at);
      if (instruction.target) {
        std::optional<bool> isTaken = state.ranges.isTaken(instruction);
        WaitState there = state;
        there.ranges.refine(instruction, true);
        if (isTaken.value_or(true))
          arrive(*instruction.target, std::move(there));
        state.ranges.refine(instruction, false);
        if (isTaken.value_or(false))
          break;
      }
      if (!instruction.fallsThrough)
        break;
      if (begins[at + 1]) {
        arrive(at + 1, state);
        break;
      }
    }
  }
  std::vector<WaitProblem> list;
  list.reserve(problems.size());
  for (auto &[at, text] : problems) {
    list.push_back({at, text});
    // One wave's are told apart by its waits alone.
    if (auto found = conflicts.find(at); found != conflicts.end() && !kernel.isOneWave())
      for (auto [earlier, isDone] : found->second)
        list.back().earlier.push_back({earlier, isDone});
  }
  return list;
}

std::vector<WaitProblem> kiln::amdgcn::checkWaits(const KernelCode &kernel) {
  Lags lags = followLags(kernel);
  // Of waves that keep no step there is nothing to prove.
  return lags.problems.empty() ? WaitCheck(kernel, lags).run() : lags.problems;
}
