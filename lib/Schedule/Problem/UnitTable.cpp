// Reserves units modulo the interval.
#include "UnitTable.h"
#include "llvm/ADT/STLExtras.h"

using namespace kiln::schedule;

static int64_t modulo(int64_t cycle, int64_t interval) {
  return ((cycle % interval) + interval) % interval;
}

//===- One unit -----------------------------------------------------------------------------===//

void UnitUse::split(int64_t cycle) {
  auto *at = llvm::lower_bound(runs, cycle,
                               [](const Run &run, int64_t cycle) { return run.begin < cycle; });
  if (cycle < interval && (at == runs.end() || at->begin != cycle))
    runs.insert(at, {cycle, std::prev(at)->use});
}

void UnitUse::add(int64_t begin, int64_t cycles, int64_t by) {
  int64_t always = cycles / interval * by, rest = cycles % interval;
  begin = modulo(begin, interval);
  split(begin);
  split(modulo(begin + rest, interval));
  for (Run &run : runs)
    run.use += always + (modulo(run.begin - begin, interval) < rest ? by : 0);
}

int64_t UnitUse::getShift(int64_t begin, int64_t cycles, int64_t count, bool isUpward) const {
  int64_t always = cycles / interval, rest = cycles % interval, shift = 0;
  begin = modulo(begin, interval);
  for (auto [index, run] : llvm::enumerate(runs)) {
    if (run.use + always + (rest > 0) <= count)
      continue;
    // Cycles from this one's begin to the run's first that it would take, and to behind its last.
    int64_t first = modulo(run.begin - begin, interval), length = getEnd(index) - run.begin;
    bool isFull = run.use + always > count;
    if (isFull || first < rest || first + length > interval) {
      if (isFull)
        return interval; // wherever it begins
      // A run that began before wraps into its first cycles.
      int64_t wrapped = first + length - interval;
      if (isUpward)
        shift = std::max(shift, first < rest ? first + length : wrapped);
      else
        shift = std::max(shift, wrapped > 0 ? rest + interval - first : rest - first);
    }
  }
  return shift;
}

int64_t UnitUse::getMost() const {
  int64_t most = 0;
  for (const Run &run : runs)
    most = std::max(most, run.use);
  return most;
}

//===- All units ----------------------------------------------------------------------------===//

UnitTable::UnitTable(const Problem &problem, int64_t interval)
    : problem(problem), interval(interval),
      uses(problem.units.size() * (1 + problem.roles.size()), UnitUse(interval)) {}

void UnitTable::place(unsigned op, unsigned role, int64_t start) {
  for (const Reservation &each : problem.ops[op].reservations)
    uses[getIndex(each.unit, role)].add(start + each.offset, each.cycles, 1);
}

std::optional<int64_t> UnitTable::findFree(unsigned op, unsigned role, int64_t start,
                                           std::optional<int64_t> last, bool isUpward,
                                           int64_t &steps) const {
  for (int64_t at = start;;) {
    if (std::abs(at - start) >= interval || (last && (isUpward ? at > *last : at < *last)))
      return std::nullopt;
    int64_t shift = 0;
    for (const Reservation &each : problem.ops[op].reservations) {
      const UnitUse &use = uses[getIndex(each.unit, role)];
      int64_t count = problem.units[each.unit].count;
      shift = std::max(shift, use.getShift(at + each.offset, each.cycles, count, isUpward));
      ++steps;
    }
    if (shift == 0)
      return at;
    at += isUpward ? shift : -shift;
  }
}

const Unit *UnitTable::findOverfull(unsigned op, unsigned role) const {
  for (const Reservation &each : problem.ops[op].reservations)
    if (uses[getIndex(each.unit, role)].getMost() > problem.units[each.unit].count)
      return &problem.units[each.unit];
  return nullptr;
}
