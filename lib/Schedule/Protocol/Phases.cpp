// Whether a barrier's parity tells each wait what it asks.
//
// On the chip a wait names a phase by its parity: it ends if the phase that the barrier is in has
// the other one. Of a wait for phase n that is right as long as the barrier is in n or in n + 1. A
// phase earlier it would end too soon, and a slot be read that is not full; a phase later it would
// not end.
//
// Earlier it cannot be if who waits knows that phase n - 1 has ended. Each copy knows of what it
// has waited for itself, so who takes all uses of its slots need not be asked. Of who steps over
// uses by others of a slot this follows what each copy knows by what it was told: an arrival tells
// the phase's waiters all that the copy knows, and copies that meet tell one another. Where
// programs of a cluster fill one another's slots, each has barriers of its own, and a release
// arrives at those of all programs that it reaches. Of bytes that others bring nobody learns what
// they knew.
//
// Later it cannot be: phase n + 1 ends only once a use was released that is got after this wait, by
// the same copy, or put after it.
#include "Protocol.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;

namespace {
/// How many phases are known to have ended, of each barrier.
class Knowledge {
public:
  explicit Knowledge(size_t barriers = 0) : ended(barriers) {}
  int64_t get(size_t barrier) const { return ended[barrier]; }
  void learn(size_t barrier, int64_t phases) { ended[barrier] = std::max(ended[barrier], phases); }
  void learn(const Knowledge &other) {
    ended.resize(std::max(ended.size(), other.ended.size()));
    for (auto [own, its] : llvm::zip(ended, other.ended))
      own = std::max(own, its);
  }

private:
  SmallVector<int64_t> ended;
};

class PhaseChecker {
public:
  PhaseChecker(WarpGroupsOp groups, ArrayRef<Trace> traces, const Instance &instance)
      : groups(groups), traces(traces), instance(instance) {
    size_t barriers = 0;
    for (unsigned i = 0; i < groups.getCaptures().size(); ++i) {
      first.push_back(barriers);
      if (ChannelOp channel = getChannel(groups, i))
        barriers += 2 * channel.getType().getDepth();
    }
    ofProgram = barriers;
    unsigned programs = 1;
    for (const Trace &trace : traces)
      programs = std::max(programs, trace.program + 1);
    known.assign(traces.size(), Knowledge(programs * barriers));
  }
  LogicalResult take(unsigned trace, const Event &event);

private:
  enum Side { Full, Empty };
  /// One phase of a slot's barrier: who has arrived, and what they knew.
  struct Phase {
    int64_t arrivals = 0;
    Knowledge known;
  };

  LogicalResult wait(unsigned trace, const Event &event, Side side, int64_t position);
  void arrive(unsigned trace, const Event &event, Side side, unsigned program);
  void release(unsigned trace, const Event &event);
  void meet(unsigned trace, const Event &event);
  int64_t getDepth(unsigned channel) { return getChannel(groups, channel).getType().getDepth(); }
  size_t getBarrier(unsigned program, unsigned channel, Side side, int64_t position) {
    return program * ofProgram + first[channel] + 2 * (position % getDepth(channel)) + side;
  }
  /// That of a program which a use of its channel ends.
  Phase &getPhase(unsigned program, Side side, unsigned channel, int64_t position) {
    return phases[side][{program * unsigned(first.size()) + channel, position}];
  }

  WarpGroupsOp groups;
  ArrayRef<Trace> traces;
  const Instance &instance;
  /// By channel, its first barrier; by trace, what its copy knows.
  SmallVector<size_t> first;
  size_t ofProgram = 0; ///< how many barriers each has
  SmallVector<Knowledge> known;
  /// By a program's channel and use.
  DenseMap<std::pair<unsigned, int64_t>, Phase> phases[2];
  /// By a program's role and meeting.
  DenseMap<std::pair<unsigned, int64_t>, Knowledge> meetings;
};
} // namespace

/// A wait for the phase that a use of the channel ends.
LogicalResult PhaseChecker::wait(unsigned trace, const Event &event, Side side, int64_t position) {
  if (position < 0)
    return success();
  int64_t depth = getDepth(event.channel);
  unsigned program = traces[trace].program;
  size_t barrier = getBarrier(program, event.channel, side, position);
  if (known[trace].get(barrier) < position / depth) {
    StringRef done = side == Full ? "full" : "released";
    RoleAttr role = groups.getRole(traces[trace].role);
    InFlightDiagnostic error = event.op->emitOpError("expected copy ")
                               << traces[trace].copy << " of role \"" << role.getName()
                               << "\" to know that use " << position - depth << " of the ring is "
                               << done << " when it waits for use " << position
                               << " in the same slot, since a barrier's parity does not tell "
                                  "phases that are two apart, got nothing that "
                                  "orders them";
    noteRing(error, getChannel(groups, event.channel));
    describe(error, groups, instance);
    return failure();
  }
  known[trace].learn(getPhase(program, side, event.channel, position).known);
  return success();
}

void PhaseChecker::arrive(unsigned trace, const Event &event, Side side, unsigned program) {
  ChannelOp channel = getChannel(groups, event.channel);
  Phase &phase = getPhase(program, side, event.channel, event.position);
  phase.known.learn(known[trace]);
  phase.arrivals += countArrivals(groups.getRole(traces[trace].role), event.op);
  if (phase.arrivals == int64_t(side == Full ? channel.getFull() : channel.getEmpty()))
    phase.known.learn(getBarrier(program, event.channel, side, event.position),
                      event.position / getDepth(event.channel) + 1);
}

void PhaseChecker::release(unsigned trace, const Event &event) {
  if (event.reaches.empty())
    arrive(trace, event, Empty, traces[trace].program);
  for (const Reach &reach : event.reaches)
    for (unsigned program = 0; reach.programs >> program; ++program)
      if (reach.programs >> program & 1)
        arrive(trace, event, Empty, program);
}

/// The first to go on finds all others at the meeting, so what they know now is told there.
void PhaseChecker::meet(unsigned trace, const Event &event) {
  unsigned role = traces[trace].role, program = traces[trace].program;
  unsigned roles = groups.getRoles().size();
  auto [meeting, isFirst] = meetings.try_emplace({program * roles + role, event.position});
  if (isFirst)
    for (auto [i, other] : llvm::enumerate(traces))
      if (other.role == role && other.program == program)
        meeting->second.learn(known[i]);
  known[trace].learn(meeting->second);
}

LogicalResult PhaseChecker::take(unsigned trace, const Event &event) {
  if (event.kind == Event::Meet) {
    meet(trace, event);
    return success();
  }
  if (getChannel(groups, event.channel).getType().getOwn())
    return success();
  bool fills = event.kind == Event::Acquire || event.kind == Event::Put;
  if (fills && failed(wait(trace, event, Empty, event.position - getDepth(event.channel))))
    return failure();
  if (event.kind == Event::Get && failed(wait(trace, event, Full, event.position)))
    return failure();
  if (event.kind == Event::Put)
    arrive(trace, event, Full, traces[trace].program);
  if (event.kind == Event::Release)
    release(trace, event);
  return success();
}

LogicalResult kiln::protocol::checkPhases(WarpGroupsOp groups, ArrayRef<Trace> traces,
                                          const Order &order, const Instance &instance) {
  if (llvm::none_of(traces, [](const Trace &trace) { return trace.skips; }))
    return success();
  PhaseChecker checker(groups, traces, instance);
  for (auto [trace, event] : order)
    if (failed(checker.take(trace, *event)))
      return failure();
  return success();
}

void kiln::protocol::noteRing(InFlightDiagnostic &error, ChannelOp channel) {
  ChannelType type = channel.getType();
  error.attachNote(channel.getLoc()) << "the ring, of " << type.getDepth() << " slots ('"
                                     << (type.getAccumulator() ? "in_flight" : "depth") << "')";
}
