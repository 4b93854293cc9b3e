// The proof of Waits.h: ages of outstanding accesses, to a fixed point over the kernel's blocks.
#include "kiln/Target/AMDGPU/Waits.h"
#include "Lags.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <deque>

using namespace llvm;
using namespace kiln::amdgcn;

namespace {
/// Counters hold no more than this; what is older is as good as done by any wait there is.
constexpr unsigned kOldest = 255;

/// An access to LDS that others may still have to know of.
struct LDSAccess {
  bool reads, writes, isAtomic;
  Range place;
  /// Its own wave knows that it is done; the others know after so many barriers.
  bool done;
  unsigned barriers = 0;
  /// By an arrival at a barrier in LDS, since it was done.
  bool told = false;
  bool operator==(const LDSAccess &other) const {
    return place == other.place && done == other.done && barriers == other.barriers &&
           told == other.told;
  }
};

/// What holds before an instruction, whichever way it was reached.
struct State {
  /// By counter and instruction: how many of the counter's kind were issued since, at the least.
  std::map<unsigned, unsigned> ages[kNumCounters];
  std::map<unsigned, LDSAccess> lds;
  Ranges ranges;
  /// Between the halves of a split barrier.
  bool signalled = false;
  bool reached = false;
};

class WaitCheck {
public:
  WaitCheck(const KernelCode &kernel, const Lags &lags)
      : kernel(kernel), lags(lags), waveSize(kernel.getWaveSize()) {
    before.resize(kernel.code.size() + 1);
  }

  std::vector<WaitProblem> run();
  /// Whether anything may be outstanding of what a wait counts.
  bool mayWait(unsigned at, unsigned counter) const { return waited.count({at, counter}); }
  /// Whether a store may be among what a weaker wait leaves outstanding.
  bool mayWaitForStore(unsigned at, unsigned counter) const {
    return waitedStores.count({at, counter});
  }

private:
  void meet(State &state, bool ifTold = false) const;
  void issue(State &state, unsigned at) const;
  void complete(State &state, unsigned at, Counter counter, unsigned upTo) const;
  std::optional<LDSAccess> getLDSAccess(const Instruction &instruction, const State &state) const;
  std::string findProblem(const State &state, unsigned at) const;
  std::string findProblemOfFunction(const State &state, unsigned at) const;
  bool join(State &into, const State &from, bool widen) const;

  const KernelCode &kernel;
  const Lags &lags;
  const unsigned waveSize;
  const std::vector<uint64_t> bounds = findBounds(kernel);
  std::vector<State> before;
  std::set<std::pair<unsigned, unsigned>> waited, waitedStores;
};
} // namespace

void WaitCheck::meet(State &state, bool ifTold) const {
  for (auto it = state.lds.begin(); it != state.lds.end();) {
    bool passes = it->second.done && (it->second.told || !ifTold);
    if (passes)
      --it->second.barriers;
    it = passes && it->second.barriers == 0 ? state.lds.erase(it) : std::next(it);
  }
}

void WaitCheck::complete(State &state, unsigned at, Counter counter, unsigned upTo) const {
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
    }
    it = ages.erase(it);
  }
}

std::optional<LDSAccess> WaitCheck::getLDSAccess(const Instruction &instruction,
                                                 const State &state) const {
  bool reads = instruction.kind == Kind::ReadLDS || instruction.kind == Kind::AtomicLDS;
  bool writes = instruction.kind == Kind::WriteLDS || instruction.kind == Kind::AtomicLDS ||
                instruction.kind == Kind::LoadToLDS;
  // Words that count arrivals hold nothing else, and are there to be accessed by all at any time.
  if ((!reads && !writes) || instruction.isArrival || instruction.isLook)
    return std::nullopt;
  return LDSAccess{reads, writes, instruction.kind == Kind::AtomicLDS,
                   getPlace(instruction, state.ranges, waveSize), false};
}

void WaitCheck::issue(State &state, unsigned at) const {
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
    state.signalled = instruction.kind == Kind::BarrierSignal;
    if (!lags.alone.count(at))
      meet(state);
  } else if (instruction.kind == Kind::BarrierWait) {
    state.signalled = false;
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
    for (auto &entry : ages)
      entry.second = std::min(entry.second + 1, kOldest);
    ages[at] = 0;
    if (auto access = getLDSAccess(instruction, state)) {
      // Of two rounds through a loop, the places of both count.
      auto [it, isNew] = state.lds.try_emplace(at, *access);
      if (!isNew) {
        it->second.place.low = std::min(it->second.place.low, access->place.low);
        it->second.place.high = std::max(it->second.place.high, access->place.high);
        it->second.done = it->second.told = false;
        it->second.barriers = 0;
      }
    }
  }
  state.ranges.apply(instruction);
}

/// A function waits for all that its caller left, reaches no LDS, and leaves nothing itself.
std::string WaitCheck::findProblemOfFunction(const State &state, unsigned at) const {
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

std::string WaitCheck::findProblem(const State &state, unsigned at) const {
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
  std::optional<LDSAccess> access = getLDSAccess(instruction, state);
  if (!access)
    return "";
  if (state.signalled && !kernel.isOneWave())
    return "expected no access to LDS between the halves of a barrier";
  for (const auto &[other, earlier] : state.lds) {
    bool conflict = (access->reads && earlier.writes) || (access->writes && earlier.reads);
    // Atomic accesses may come in any order: that is what they are for.
    conflict &= !(access->isAtomic && earlier.isAtomic);
    bool apart = access->place.high < earlier.place.low || earlier.place.high < access->place.low;
    if (!conflict || apart)
      continue;
    StringRef name = kernel.code[other].mnemonic;
    // One wave's own accesses to LDS are done in order, and loads to it when they are waited for.
    if (kernel.isOneWave()) {
      bool isLoad = kernel.code[other].kind == Kind::LoadToLDS;
      if ((isLoad || instruction.kind == Kind::LoadToLDS) && !earlier.done)
        return formatv("expected a wait for '{0}' of line {1} before its place in LDS is reached",
                       name, line(other));
      continue;
    }
    auto spell = [](Range place) {
      return place.isAll() ? std::string("any byte")
                           : formatv("bytes {0} to {1}", place.low, place.high).str();
    };
    std::string places = formatv(": {0}, {1}", spell(earlier.place), spell(access->place));
    if (!earlier.done)
      return formatv("expected a wait for '{0}' of line {1}, and a barrier, before its place in "
                     "LDS is reached{2}",
                     name, line(other), places);
    return formatv("expected a barrier between '{0}' of line {1} and what reaches its place in "
                   "LDS{2}",
                   name, line(other), places);
  }
  return "";
}

bool WaitCheck::join(State &into, const State &from, bool widen) const {
  if (!into.reached) {
    into = from;
    into.reached = true;
    return true;
  }
  bool changed = into.ranges.join(from.ranges, widen, bounds) || into.signalled < from.signalled;
  into.signalled |= from.signalled;
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
    both.place = {std::min(both.place.low, access.place.low),
                  std::max(both.place.high, access.place.high)};
    changed |= isNew || !(both == it->second);
    it->second = both;
  }
  return changed;
}

std::vector<WaitProblem> WaitCheck::run() {
  const std::vector<bool> begins = kernel.getBlockStarts();
  constexpr unsigned kPatience = 4;
  constexpr size_t kMostSteps = 64;
  std::vector<unsigned> visits(kernel.code.size() + 1, 0);
  std::deque<unsigned> work{0};
  before[0].reached = true;
  if (!kernel.isFunction)
    before[0].ranges.setThreads(0, kernel.getThreads() - 1);
  std::map<unsigned, std::string> problems;
  auto find = [&](const State &state, unsigned at) {
    std::string problem = findProblem(state, at);
    // What is known only weakens from visit to visit, so that a problem stays one.
    if (!problem.empty())
      problems.try_emplace(at, problem);
  };
  // Through a block that does nothing but go where a constant of this path says: other paths that
  // meet there go elsewhere.
  auto follow = [&](unsigned at, State &state) -> std::optional<unsigned> {
    State there = state;
    for (size_t steps = 0; steps < kMostSteps && at < kernel.code.size(); ++steps) {
      const Instruction &passed = kernel.code[at];
      // On gfx12 a wait for the scalar unit stands in front of each branch by its masks.
      bool waitsForNone = none_of(passed.waits, [](auto &count) { return count.has_value(); });
      bool isPassed = is_contained({Kind::Other, Kind::Branch}, passed.kind);
      if ((!isPassed && !(passed.kind == Kind::Wait && waitsForNone)) || lags.rounds.count(at))
        return std::nullopt;
      find(there, at);
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
  };
  auto arrive = [&](unsigned at, State state) {
    for (size_t hops = 0; hops < kMostSteps; ++hops) {
      std::optional<unsigned> next = follow(at, state);
      if (!next)
        break;
      at = *next;
    }
    if (at < kernel.code.size() && join(before[at], state, ++visits[at] > kPatience) &&
        !is_contained(work, at))
      work.push_back(at);
  };
  while (!work.empty()) {
    unsigned at = work.front();
    work.pop_front();
    State state = before[at];
    for (;; ++at) {
      if (at == kernel.code.size())
        break;
      find(state, at);
      const Instruction &instruction = kernel.code[at];
      if (instruction.kind == Kind::Wait)
        for (unsigned counter = 0; counter < kNumCounters; ++counter)
          if (const std::optional<unsigned> &count = instruction.waits[counter]) {
            auto isStore = [&](auto &access) {
              Kind kind = kernel.code[access.first].kind;
              return (kind == Kind::StoreGlobal || kind == Kind::AtomicGlobal) &&
                     access.second <= *count;
            };
            if (!state.ages[counter].empty())
              waited.insert({at, counter});
            if (any_of(state.ages[counter], isStore))
              waitedStores.insert({at, counter});
          }
      issue(state, at);
      if (instruction.target) {
        std::optional<bool> isTaken = state.ranges.isTaken(instruction);
        State there = state;
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
  for (auto &[at, text] : problems)
    list.push_back({at, text});
  return list;
}

std::vector<WaitProblem> kiln::amdgcn::checkWaits(const KernelCode &kernel) {
  Lags lags = followLags(kernel);
  // Of waves that keep no step there is nothing to prove.
  return lags.problems.empty() ? WaitCheck(kernel, lags).run() : lags.problems;
}

/// A fence in front of a barrier waits for all accesses to LDS: there is no weaker one. For stores
/// it waits since others read global memory behind the barrier, which is not proven here.
static bool isFence(const KernelCode &kernel, unsigned wait) {
  for (unsigned at = wait + 1; at < kernel.code.size(); ++at) {
    Kind kind = kernel.code[at].kind;
    if (kind == Kind::Barrier || kind == Kind::BarrierSignal)
      return true;
    if (kind != Kind::Other && kind != Kind::Matrix && kind != Kind::Wait)
      return false;
  }
  return false;
}

std::vector<WaitProblem> kiln::amdgcn::findStrongWaits(const KernelCode &kernel) {
  std::vector<WaitProblem> strong;
  KernelCode weaker = kernel;
  // Waits do not decide who lags.
  const Lags lags = followLags(kernel);
  WaitCheck check(kernel, lags);
  check.run();
  for (const std::vector<unsigned> &loop : kernel.getInnerLoops())
    for (unsigned at : loop) {
      if (kernel.code[at].kind != Kind::Wait)
        continue;
      // Counters that one number stands for are weakened together.
      static constexpr std::pair<unsigned, StringLiteral> names[] = {
          {1u << unsigned(Counter::Load), "loads"},
          {1u << unsigned(Counter::Store), "stores"},
          {1u << unsigned(Counter::LDS), "LDS accesses"},
          {1u << unsigned(Counter::Scalar), "scalar loads"},
          {1u << unsigned(Counter::LDS) | 1u << unsigned(Counter::Scalar), "LDS accesses"}};
      bool together = !kernel.countsScalarsApart();
      for (auto [mask, name] : names) {
        bool isPair = (mask & (mask - 1)) != 0;
        if ((mask >> unsigned(Counter::LDS) & 1) && isFence(kernel, at))
          continue;
        bool ofPair =
            mask == 1u << unsigned(Counter::LDS) || mask == 1u << unsigned(Counter::Scalar);
        if ((isPair && !together) || (ofPair && together))
          continue;
        Instruction &wait = weaker.code[at];
        bool has = false;
        for (unsigned counter = 0; counter < kNumCounters; ++counter)
          if ((mask >> counter & 1) && wait.waits[counter]) {
            // The next weaker one must be a wait at all.
            ++*wait.waits[counter];
            has |= *wait.waits[counter] < kernel.getCounterLimit(Counter(counter)) &&
                   check.mayWait(at, counter) &&
                   !(check.mayWaitForStore(at, counter) && isFence(kernel, at));
          }
        if (has && WaitCheck(weaker, lags).run().empty())
          strong.push_back(
              {at, formatv("expected a wait for fewer {0}: one more may be outstanding", name)});
        wait = kernel.code[at];
      }
    }
  return strong;
}
