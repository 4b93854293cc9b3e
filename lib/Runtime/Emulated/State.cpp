// What a block tells of itself when it cannot go on: where its warps are, and what they wait for.
#include "Thread.h"
#include <algorithm>
#include <set>

using namespace kiln::emulated;

void Block::blame(const std::string &who, int site, const std::string &what) {
  error = who + " of " + describeProgram() + launch.names.at(site) + ": " + what;
}

std::string Block::describeProgram() const {
  return "program (" + std::to_string(program[0]) + ", " + std::to_string(program[1]) + ", " +
         std::to_string(program[2]) + ")";
}

void Block::countStep() {
  if (launch.profile)
    launch.profile->step(shared.agentOf(running->number), running->site);
  if (steps <= launch.mostSteps)
    return;
  fail("the program does not end: it was stopped after " + std::to_string(launch.mostSteps) +
       " steps (KILN_EMULATED_STEPS sets how many it may take)" + describeState());
}

bool Block::isBlocked() const {
  return std::any_of(threads.begin(), threads.end(),
                     [](const auto &thread) { return thread->state == State::Blocked; });
}

std::string Block::describeBlocked() const {
  std::string found;
  std::set<std::string> named;
  for (const auto &thread : threads) {
    std::string what = thread->state == State::Blocked ? thread->waitsFor() : "";
    if (!what.empty() && named.insert(what).second)
      found += (found.empty() ? "thread " : "; so does thread ") + std::to_string(thread->number) +
               (found.empty() ? " waits forever for " : " for ") + what;
  }
  return found.empty() ? found : found + describeState();
}

//===- Threads that look at global memory ---------------------------------------------------===//

bool Block::looks(bool atomically) const {
  return std::any_of(threads.begin(), threads.end(), [&](const auto &thread) {
    return atomically ? thread->words[true].isWaitedFor : thread->getAwaited() != nullptr;
  });
}

bool Block::hasNews() const {
  return std::any_of(threads.begin(), threads.end(), [](const auto &thread) {
    const Thread::Word *word = thread->getAwaited();
    return word && word->hasChanged();
  });
}

std::string Block::describeLook() const {
  for (const auto &thread : threads)
    if (thread->words[true].isWaitedFor)
      return "thread " + std::to_string(thread->number) + " of " + describeProgram() +
             " waits for " + thread->waitsFor() + launch.names.at(thread->site);
  return "";
}

//===- What threads do ----------------------------------------------------------------------===//

std::string Block::describe(const Thread &thread) const {
  std::string at = launch.names.at(thread.site);
  switch (thread.state) {
  case State::Done:
    return "ended";
  case State::Ready:
    return &thread == running ? "runs" + at : thread.begun ? "may go on" + at : "has not begun";
  case State::AtBarrier:
    return "waits for all of the block" + at;
  case State::AtInstruction:
    return "waits for the other lanes" + at;
  case State::Blocked:
    return "waits for " + thread.waitsFor() + at;
  }
  return "";
}

std::string Block::describeState(const std::string &prefix) const {
  std::string all;
  for (const Block *block : cluster) {
    std::string before;
    unsigned first = 0, count = (threads.size() + launch.warpSize - 1) / launch.warpSize;
    auto tell = [&](unsigned end) {
      if (end == first)
        return;
      all += "\n  " + prefix;
      if (cluster.size() > 1)
        all += "block " + std::to_string(block->engines.getNumber()) + ", ";
      all += end - first > 1 ? "warps " + std::to_string(first) + " to " + std::to_string(end - 1)
                             : "warp " + std::to_string(first);
      all += launch.names.role(first) + ": " + before;
    };
    for (unsigned warp = 0; warp < count; ++warp) {
      // Lanes that do the same are told of once.
      std::string own;
      std::set<std::string> told;
      unsigned last = std::min<size_t>((warp + 1) * launch.warpSize, threads.size());
      for (unsigned i = warp * launch.warpSize; i < last; ++i)
        if (std::string what = block->describe(*block->threads[i]); told.insert(what).second)
          own += own.empty() ? what : "; thread " + std::to_string(i) + " " + what;
      bool isOther = own != before || launch.names.role(warp) != launch.names.role(first);
      if (warp > 0 && isOther) {
        tell(warp);
        first = warp;
      }
      before = own;
    }
    tell(count);
  }
  return all;
}
