// Goes through what all traces do, and tells clocks of it.
#include "Replay.h"
#include "kiln/Dialect/Tile/IR/ThreadDecisions.h"
#include <numeric>

using namespace mlir;
using namespace kiln;
using namespace kiln::protocol;
using namespace kiln::tile;
using analysis::Proxy;

/// Whether a trace starts dots into tensor memory, or tells by commits that some have ended.
static bool startsCommitted(const Trace &trace) {
  return llvm::any_of(trace.events, [](const Event &event) {
    auto dot = dyn_cast<StartDotOp>(event.op);
    auto release = dyn_cast<ReleaseOp>(event.op);
    return (dot && dot.getType().getInTensorMemory()) || (release && release.getCommit()) ||
           (event.kind == Event::Fill && !isa<PutOp>(event.op));
  });
}

Replay::Replay(const Decoded &decoded, ArrayRef<Trace> traces, const Instance &instance)
    : groups(decoded.groups), channels(decoded.channels), traces(traces),
      overlaps(decoded.overlaps), ownMemory(decoded.ownMemory), instance(instance),
      publishes(traces.size()),
      asksPhases(llvm::any_of(traces, [](const Trace &trace) { return trace.skips; })) {
  // Two lanes of a warp, one of another, and what makes dots into tensor memory.
  firstThread.push_back(0);
  for (const Trace &trace : traces) {
    hasWarps.push_back(groups.getRole(trace.role).getWarps() > 1);
    firstThread.push_back(firstThread.back() + 2 + hasWarps.back() + startsCommitted(trace));
    programs = std::max(programs, trace.program + 1);
  }
  addPieces();
  ghost = firstThread.back();
  stranger = ghost + 1;
  Agent threads = stranger + 1;
  order = std::make_unique<analysis::HappensBefore>(threads, /*lanes=*/1, /*keepsTensor=*/false);
  history.resize(cells);
  queues.resize(ghost);
  phases.resize(programs * channels.size() * 2);
  if (asksPhases)
    for (size_t i = 0; i < 2 * pieces.size(); ++i)
      barriers.push_back(order->addQueue());
  // All begin alike.
  for (analysis::ByteHistory &cell : history)
    cell.writes.push_back(order->now(0));
  order->fence(0);
  std::vector<Agent> all(threads);
  std::iota(all.begin(), all.end(), Agent(0));
  order->meet(all);
}

//===- Who, and what runs beside them -------------------------------------------------------===//

SmallVector<analysis::Agent, 3> Replay::getThreads(unsigned trace, Event::Who who) {
  Agent first = firstThread[trace];
  SmallVector<Agent, 3> threads = {first};
  if (who == Event::All)
    threads.push_back(first + 1);
  if (who != Event::First && hasWarps[trace])
    threads.push_back(first + 2);
  return threads;
}

Replay::Queue &Replay::getQueue(Agent agent, QueueKind kind) {
  Queue &queue = queues[agent][kind];
  if (!queue.agent)
    queue.agent = order->addQueue();
  return queue;
}

analysis::Event Replay::start(Agent agent, QueueKind kind, Proxy proxy) {
  Queue &queue = getQueue(agent, kind);
  queue.isOpen = true;
  return order->start(*queue.agent, agent, proxy);
}

/// Each waits for its own; the lanes of a warp for what one of them has started.
void Replay::waitFor(unsigned trace, const Event &event, QueueKind kind) {
  for (Agent agent : getThreads(trace, event.who == Event::First ? Event::First : Event::All)) {
    bool ofWarp = kind != OwnCopies && agent == firstThread[trace] + 1;
    Queue &queue = getQueue(ofWarp ? agent - 1 : agent, kind);
    size_t left = event.position;
    if (queue.closed.size() > left)
      order->end(*queue.agent, queue.closed[queue.closed.size() - 1 - left], agent);
  }
}

//===- Barriers -----------------------------------------------------------------------------===//

Replay::Phase &Replay::getPhase(unsigned program, Side side, unsigned channel, int64_t position) {
  size_t at = getCounting(program, channel) * channels.size() + channel;
  std::deque<Phase> &all = phases[2 * at + side];
  while (all.size() <= size_t(position))
    all.emplace_back();
  return all[position];
}

/// Some of the arrivals at one phase, which ends with the last of them.
void Replay::arrive(unsigned program, Side side, const Event &event, int64_t arrivals) {
  const ChannelFacts &channel = channels[event.channel];
  Phase &phase = getPhase(program, side, event.channel, event.position);
  phase.arrivals += arrivals;
  if (!asksPhases || phase.arrivals != (side == Full ? channel.full : channel.empty))
    return;
  size_t piece = &getSlot(program, event.channel, event.slot) - pieces.data();
  Agent barrier = barriers[2 * piece + side];
  order->end(barrier, order->close(barrier), phase.place);
}

LogicalResult Replay::wait(unsigned trace, const Event &event, Side side, int64_t position) {
  const ChannelFacts &channel = channels[event.channel];
  if (position < 0)
    return success();
  unsigned program = traces[trace].program;
  int64_t depth = channel.depth, ended = position / depth;
  SmallVector<Agent, 3> threads = getThreads(trace, event.who);
  if (asksPhases && ended > 0) {
    size_t piece = &getSlot(program, event.channel, event.slot) - pieces.data();
    analysis::Event before{barriers[2 * piece + side], analysis::Tick(ended), Proxy::Generic};
    if (!order->knows(threads.front(), before)) {
      RoleAttr role = groups.getRole(traces[trace].role);
      InFlightDiagnostic error = event.op->emitOpError("expected copy ")
                                 << traces[trace].copy << " of role \"" << role.getName()
                                 << "\" to know that use " << position - depth << " of the ring is "
                                 << (side == Full ? "full" : "released")
                                 << " when it waits for use " << position
                                 << " in the same slot, since a barrier's parity does not tell "
                                    "phases that are two apart, got nothing that orders them";
      noteRing(error, channel.op);
      describe(error, groups, instance);
      return failure();
    }
  }
  for (Agent thread : threads)
    order->acquire(thread, getPhase(program, side, event.channel, position).place);
  return success();
}

/// Of a slot: who waits for it to be empty or full. In its own ring a role waits for nobody.
LogicalResult Replay::get(unsigned trace, const Event &event) {
  Piece &piece = getSlot(traces[trace].program, event.channel, event.slot);
  bool own = isOwn(piece);
  if (event.kind != Event::Get) {
    piece.use = event.position;
    if (!own)
      return wait(trace, event, Empty, event.position - channels[event.channel].depth);
    piece.puts[traces[trace].copy] = event.position;
    ++piece.held;
    return success();
  }
  if (!own)
    return wait(trace, event, Full, event.position);
  for (auto [copy, put] : llvm::enumerate(piece.puts))
    if (put != event.position)
      return refuse(event.op,
                    "expected a tile.put of every copy into the slot, and a tile.barrier between "
                    "these and this, got none of copy " +
                        Twine(copy),
                    piece, {});
  return success();
}

/// Programs that a copy, or a release, reaches: the own one, unless it says others.
static SmallVector<unsigned, 8> getReached(const Trace &trace, const Event &event) {
  uint64_t reached = trace.getReaches(event).empty() ? uint64_t(1) << trace.program : 0;
  for (const Reach &reach : trace.getReaches(event))
    reached |= reach.programs;
  return getPrograms(reached);
}

/// A copy into a slot: by an engine, or by all lanes, each its part.
LogicalResult Replay::copy(unsigned trace, const Event &event) {
  Agent first = firstThread[trace];
  if (cast<PutOp>(event.op->getParentOp()).getBytes() > 0) {
    for (unsigned program : getReached(traces[trace], event)) {
      Piece &piece = getSlot(program, event.channel, event.slot);
      if (!piece.queue)
        piece.queue = order->addQueue();
      analysis::Event box = order->start(*piece.queue, first, Proxy::Async);
      if (failed(write(trace, first, box, piece, event, /*all=*/true)))
        return failure();
    }
    return success();
  }
  Piece &piece = getPiece(trace, event);
  for (Agent agent : getThreads(trace, Event::All)) {
    analysis::Event piecewise = start(agent, isOwn(piece) ? OwnCopies : Copies, Proxy::Generic);
    if (failed(write(trace, agent, piecewise, piece, event, /*all=*/false)))
      return failure();
  }
  return success();
}

void Replay::meetLanes(unsigned trace) {
  order->meet({firstThread[trace], firstThread[trace] + 1});
}

/// Tells that a slot is full, or will be once what is under way has come.
void Replay::fill(unsigned trace, const Event &event) {
  unsigned program = traces[trace].program;
  Piece &piece = getPiece(trace, event);
  auto put = dyn_cast<PutOp>(event.op);
  auto close = [&](Agent agent, QueueKind kind) {
    Queue &queue = getQueue(agent, kind);
    queue.isOpen = false;
    queue.closed.push_back(order->close(*queue.agent));
    return queue.closed.back();
  };
  if (isOwn(piece)) {
    for (Agent agent : getThreads(trace, Event::All))
      if (queues[agent][OwnCopies].isOpen)
        close(agent, OwnCopies);
    return;
  }
  Place &place = getPhase(program, Full, event.channel, event.position).place;
  if (!put)
    commit(trace, place);
  else if (put.getBytes() > 0)
    for (unsigned reached : getReached(traces[trace], event)) {
      Piece &there = getSlot(reached, event.channel, event.slot);
      if (there.queue)
        order->end(*there.queue, order->close(*there.queue),
                   getPhase(reached, Full, event.channel, event.position).place);
    }
  else
    for (Agent agent : getThreads(trace, Event::All))
      if (queues[agent][Copies].isOpen)
        order->end(*queues[agent][Copies].agent, close(agent, Copies), place);
  if (event.op->hasAttr(kLanesAttrName))
    meetLanes(trace);
  for (Agent agent : getThreads(trace, event.who))
    order->release(agent, place);
  arrive(program, Full, event, countArrivals(groups.getRole(traces[trace].role), event.op));
}

void Replay::release(unsigned trace, const Event &event) {
  Piece &piece = getPiece(trace, event);
  llvm::erase_if(piece.releases, [&](auto &it) { return it.first == trace; });
  piece.releases.push_back({trace, event.op});
  if (isOwn(piece)) {
    --piece.held;
    return;
  }
  auto op = cast<ReleaseOp>(event.op);
  if (op.getLanes())
    meetLanes(trace);
  for (unsigned program : getReached(traces[trace], event)) {
    Place &place = getPhase(program, Empty, event.channel, event.position).place;
    if (op.getCommit())
      commit(trace, place);
    else
      for (Agent agent : getThreads(trace, event.who))
        order->release(agent, place);
    arrive(program, Empty, event, countArrivals(groups.getRole(traces[trace].role), op));
  }
}

/// The first to go on finds all others at the meeting.
void Replay::meet(unsigned trace, const Event &event) {
  unsigned role = traces[trace].role, program = traces[trace].program;
  SmallVector<unsigned> coming = {trace};
  if (event.kind == Event::Meet) {
    if (!met.insert({program * unsigned(groups.getRoles().size()) + role, event.position}).second)
      return;
    coming.clear();
    for (unsigned i = 0; i < traces.size(); ++i)
      if (traces[i].role == role && traces[i].program == program)
        coming.push_back(i);
  }
  auto barrier = dyn_cast<BarrierOp>(event.op);
  std::vector<Agent> threads;
  for (unsigned other : coming) {
    llvm::append_range(threads, getThreads(other, Event::All));
    if (barrier && barrier.getPublish())
      publishes[other].push_back(event.op);
  }
  if (barrier && barrier.getPublish())
    for (Agent thread : threads)
      order->fence(thread);
  order->meet(threads);
}

/// What makes dots finds what the thread that starts them knows.
void Replay::tellDots(unsigned trace) {
  Place place;
  order->release(firstThread[trace], place);
  order->acquire(getDots(trace), place);
}

/// Tells once the dots have ended that were started so far, and no sooner than the thread asks.
void Replay::commit(unsigned trace, Place &place) {
  tellDots(trace);
  order->release(getDots(trace), place);
}

//===- Accesses -----------------------------------------------------------------------------===//

LogicalResult Replay::access(unsigned trace, const Event &event) {
  Piece &piece = getPiece(trace, event);
  auto dot = dyn_cast<StartDotOp>(event.op);
  bool isByCommit = dot && dot.getType().getInTensorMemory();
  Proxy proxy = dot && !piece.isTensorMemory &&
                        cast<MmaAtomInterface>(dot.getAtom()).getCompletion() != Completion::InOrder
                    ? Proxy::Async
                    : Proxy::Generic;
  if (isByCommit)
    tellDots(trace);
  // Where two programs multiply together, what each of them has.
  SmallVector<Piece *> all = {&piece};
  if (dot && piece.channel && channels[*piece.channel].isOfPair)
    all.push_back(&getSlot(piece.program ^ 1, event.channel, event.slot));
  Event::Who who = dot && event.who == Event::All ? Event::EachWarp : event.who;
  if (event.kind == Event::Store)
    who = Event::First;
  for (Agent agent : isByCommit ? SmallVector<Agent, 3>{getDots(trace)} : getThreads(trace, who))
    for (Piece *each : all) {
      analysis::Event by = event.kind == Event::Store ? start(agent, Stores, Proxy::Async)
                           : dot && !isByCommit       ? start(agent, Dots, proxy)
                                                      : order->now(agent);
      if (isByCommit)
        by.proxy = proxy;
      bool isWrite =
          event.kind == Event::Write || event.kind == Event::Use || event.kind == Event::DotWrite;
      if (failed(isWrite ? write(trace, agent, by, *each, event, who == Event::First)
                         : read(trace, agent, by, *each, event)))
        return failure();
    }
  return success();
}

LogicalResult Replay::take(unsigned trace, const Event &event) {
  auto close = [&](QueueKind kind, Event::Who who) {
    for (Agent agent : getThreads(trace, who)) {
      Queue &queue = getQueue(agent, kind);
      queue.closed.push_back(order->close(*queue.agent));
    }
    return success();
  };
  switch (event.kind) {
  case Event::Acquire:
  case Event::Put:
  case Event::Get:
    return get(trace, event);
  case Event::Fill:
    return fill(trace, event), success();
  case Event::Release:
    return release(trace, event), success();
  case Event::Meet:
  case Event::Barrier:
    return meet(trace, event), success();
  case Event::Fence:
    for (Agent agent : getThreads(trace, event.who))
      order->fence(agent);
    return success();
  case Event::Copy:
    return copy(trace, event);
  case Event::StartDot:
    if (cast<StartDotOp>(event.op).getType().getInTensorMemory())
      return success();
    return close(Dots, event.who == Event::All ? Event::EachWarp : event.who);
  case Event::WaitDots:
    return waitFor(trace, event, Dots), success();
  case Event::WaitPuts:
    return waitFor(trace, event, OwnCopies), success();
  case Event::WaitStores:
    return waitFor(trace, event, Stores), success();
  case Event::Store:
    if (failed(access(trace, event)))
      return failure();
    return close(Stores, Event::First);
  case Event::Read:
  case Event::Write:
  case Event::Use:
  case Event::DotRead:
  case Event::DotWrite:
    return access(trace, event);
  }
  return success();
}

LogicalResult Replay::run(const Order &events) {
  for (auto [trace, event] : events)
    if (failed(take(trace, *event)))
      return failure();
  return checkLast();
}
