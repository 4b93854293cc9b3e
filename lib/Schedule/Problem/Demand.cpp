// What a solution takes of registers, shared memory, tensor memory and barriers.
#include "Steady.h"
#include "llvm/ADT/STLExtras.h"

using namespace kiln::schedule;
using llvm::SmallVector;

SmallVector<DoneEvent> kiln::schedule::getLastUses(const Problem &problem, const Solution &solution,
                                                   const Steady &steady, unsigned op) {
  SmallVector<DoneEvent> uses;
  auto addUse = [&](unsigned user, int64_t distance, int64_t latency) {
    int64_t cycle = solution.ops[user].start + distance * solution.interval + latency;
    uses.push_back({{user, distance, cycle}, DoneEvent::Used, user, user});
  };
  auto addDone = [&](unsigned done, int64_t distance) {
    for (DoneEvent event : steady.getDoneEvents(done)) {
      event.distance += distance;
      event.cycle += distance * solution.interval;
      uses.push_back(event);
    }
  };
  for (const Dependence &each : problem.dependences) {
    if (each.from != op || each.kind == Dependence::Order)
      continue;
    // What goes through a ring is written there once it is made. Work in flight reads its operands
    // until it is done; what a direct op reads may be where its result will be.
    if (steady.isReadFromRing(each))
      addDone(op, 0);
    else if (each.kind == Dependence::Chain || each.isInPlace ||
             problem.ops[each.to].completion == Completion::Direct)
      addUse(each.to, each.distance, 0);
    else
      addDone(each.to, each.distance);
  }
  if (uses.empty())
    addUse(op, 0, problem.ops[op].latency);
  return uses;
}

/// The cycle by which a result is no longer in registers, in its maker's iteration.
static int64_t getEnd(const Problem &problem, const Solution &solution, const Steady &steady,
                      unsigned op) {
  SmallVector<DoneEvent> uses = getLastUses(problem, solution, steady, op);
  int64_t end = uses.front().cycle;
  for (const DoneEvent &use : uses)
    end = std::max(end, use.cycle);
  return end;
}

/// The most bytes that are live at once, of results that are live from a cycle to another in every
/// iteration.
namespace {
struct Life {
  int64_t begin, end, bytes;
};
} // namespace

static int64_t getMostLive(llvm::ArrayRef<Life> lives, int64_t interval) {
  int64_t always = 0;
  SmallVector<std::pair<int64_t, int64_t>> changes; // at a cycle of the interval, by so much
  for (const Life &life : lives) {
    int64_t length = std::max<int64_t>(life.end - life.begin, 0), rest = length % interval;
    always += length / interval * life.bytes;
    if (rest == 0)
      continue;
    int64_t begin = ((life.begin % interval) + interval) % interval;
    changes.push_back({begin, life.bytes});
    changes.push_back({(begin + rest) % interval, -life.bytes});
    if (begin + rest > interval) // of the iteration before
      always += life.bytes;
    else if (begin + rest == interval)
      changes.back().first = interval;
  }
  llvm::sort(changes); // what ends goes before what begins
  int64_t live = always, most = always;
  for (auto [cycle, change] : changes)
    most = std::max(most, live += change);
  return most;
}

Demand kiln::schedule::getDemand(const Problem &problem, const Solution &solution) {
  Steady steady(problem, solution);
  Demand demand;
  SmallVector<SharedPiece> pieces = problem.otherPieces;
  SmallVector<SmallVector<Life>> lives(problem.roles.size());
  for (auto [index, op] : llvm::enumerate(problem.ops)) {
    const Placement &placement = solution.ops[index];
    if (op.registerBytes)
      lives[placement.role].push_back(
          {placement.start, getEnd(problem, solution, steady, index), op.registerBytes});
    if (placement.depth && op.bufferBytes)
      pieces.push_back({op.name, placement.depth * op.bufferBytes, /*first=*/0,
                        /*last=*/std::numeric_limits<int64_t>::max()});
    demand.tensorColumns += placement.depth * op.bufferColumns;
    demand.namedBarriers += placement.depth * op.slotBarriers;
  }
  demand.sharedBytes = placePieces(pieces);
  for (llvm::ArrayRef<Life> each : lives)
    demand.registerBytes.push_back(getMostLive(each, solution.interval));
  return demand;
}
