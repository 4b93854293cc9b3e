// How the tests write problems.
#ifndef KILN_TEST_SCHEDULE_PROBLEM_BUILD_H
#define KILN_TEST_SCHEDULE_PROBLEM_BUILD_H

#include "kiln/Schedule/Problem/Solution.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kiln::schedule {

struct Build : Problem {
  unsigned addRole(const char *name, int64_t warps = 4) {
    roles.push_back({name, warps});
    return roles.size() - 1;
  }
  unsigned addUnit(const char *name, int64_t count = 1, bool isPerRole = false) {
    units.push_back({name, count, isPerRole});
    return units.size() - 1;
  }
  unsigned addCounter(const char *name) {
    counters.push_back({name});
    return counters.size() - 1;
  }
  unsigned addOp(const char *name, int64_t latency) {
    Op &op = ops.emplace_back();
    op.name = name;
    op.latency = latency;
    return ops.size() - 1;
  }
  unsigned addOp(const char *name, int64_t latency, unsigned unit, int64_t cycles) {
    unsigned op = addOp(name, latency);
    ops[op].reservations.push_back({unit, cycles});
    return op;
  }
  void need(unsigned from, unsigned to, int64_t distance = 0) {
    dependences.push_back({from, to, distance});
  }
  void chain(unsigned from, unsigned to, int64_t distance, int64_t latency) {
    dependences.push_back({from, to, distance, Dependence::Chain, latency});
  }
};

/// The product loop: a role that loads, and one whose dots add to one accumulator.
struct Product : Build {
  unsigned loads = addRole("load", 1), mma = addRole("mma");
  unsigned engine = addUnit("engine"), tensor = addUnit("tensor");
  unsigned group = addCounter("group");
  unsigned load = addOp("load", 600, engine, 100), dot = addOp("dot", 300, tensor, 256);
  Product() {
    ops[load].completion = Completion::Signalled;
    ops[load].bufferBytes = 32768;
    ops[load].pins.role = loads;
    ops[dot].completion = Completion::Counted;
    ops[dot].pins.role = mma;
    need(load, dot);
    chain(dot, dot, 1, 256);
  }
};

/// Attention's loop: two dots with a softmax between them.
struct Attention : Build {
  unsigned loads = addRole("load", 1), mma = addRole("mma");
  unsigned engine = addUnit("engine"), tensor = addUnit("tensor"), lanes = addUnit("lanes");
  unsigned group = addCounter("group");
  unsigned keys = addOp("keys", 600, engine, 64), scores = addOp("scores", 280, tensor, 256),
           softmax = addOp("softmax", 420, lanes, 400), values = addOp("values", 600, engine, 64),
           sum = addOp("sum", 280, tensor, 256);
  Attention() {
    for (unsigned op : {keys, values}) {
      ops[op].completion = Completion::Signalled;
      ops[op].bufferBytes = 32768;
      ops[op].pins.role = loads;
    }
    for (unsigned op : {scores, sum}) {
      ops[op].completion = Completion::Counted;
      ops[op].pins.role = mma;
    }
    need(keys, scores);
    need(scores, softmax);
    need(softmax, sum);
    need(values, sum);
    chain(sum, sum, 1, 256);
  }
};

inline std::string getViolation(std::optional<Violation> violation) {
  return violation ? violation->str() : "none";
}

} // namespace kiln::schedule

#endif // KILN_TEST_SCHEDULE_PROBLEM_BUILD_H
