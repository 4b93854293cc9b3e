// Random problems.
#ifndef KILN_TEST_SCHEDULE_PROBLEM_ANYPROBLEM_H
#define KILN_TEST_SCHEDULE_PROBLEM_ANYPROBLEM_H

#include "Build.h"
#include "Seed.h"
#include "llvm/ADT/STLExtras.h"

namespace kiln::schedule {

/// Needs go from earlier to later ops, or some iterations back. Any result can go through a ring.
inline Build anyProblem(Seed &random, int64_t mostOps = 14) {
  Build p;
  int64_t roles = random.from(1, 3), units = random.from(1, 3);
  for (int64_t role = 0; role < roles; ++role)
    p.addRole(("role" + std::to_string(role)).c_str());
  for (int64_t unit = 0; unit < units; ++unit)
    p.addUnit(("unit" + std::to_string(unit)).c_str(), random.from(1, 2), random.chance(30));
  p.addCounter("x");
  p.addCounter("y");
  int64_t count = random.from(1, mostOps);
  for (int64_t index = 0; index < count; ++index) {
    Op &op = p.ops[p.addOp(("op" + std::to_string(index)).c_str(), random.from(0, 40))];
    if (random.chance(80))
      op.reservations.push_back(
          {unsigned(random.from(0, units - 1)), random.from(1, 12), random.from(0, 3)});
    if (random.chance(40))
      op.completion = random.chance(70) ? Completion::Counted : Completion::Signalled;
    op.counter = random.from(0, 1);
    op.registerBytes = random.from(0, 64);
    op.bufferBytes = random.from(1, 64);
    op.slotBarriers = random.from(0, 2);
    op.isBuffered = random.chance(20);
    if (random.chance(60))
      op.pins.role = unsigned(random.from(0, roles - 1));
    for (int64_t needs = random.from(0, 2); index > 0 && needs > 0; --needs)
      p.need(random.from(0, index - 1), index, random.chance(15));
    if (random.chance(20)) {
      if (op.completion == Completion::Counted && random.chance(50))
        p.chain(index, index, 1, random.from(0, 20));
      else
        p.need(index, random.from(0, index), random.from(1, 3));
    } else if (index > 0 && op.completion == Completion::Counted && random.chance(40)) {
      // One more dot of the same accumulator.
      const Op &before = p.ops[index - 1];
      auto isChained = [&](const Dependence &each) {
        return each.from == index - 1 && each.kind == Dependence::Chain;
      };
      if (before.completion == Completion::Counted && llvm::none_of(p.dependences, isChained)) {
        op.counter = before.counter;
        op.pins.role = before.pins.role;
        p.chain(index - 1, index, 0, random.from(0, 20));
      }
    }
  }
  // What is continued in its place is gone in the next iteration.
  llvm::erase_if(p.dependences, [&](const Dependence &each) {
    return each.kind == Dependence::Value && each.distance > 0 && p.isContinued(each.from);
  });
  // Of counted work no other role knows. Ops that are both without a pin come into one role.
  for (const Dependence &each : p.dependences)
    if (p.ops[each.from].pins.role != p.ops[each.to].pins.role)
      p.ops[each.from].completion = Completion::Signalled;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Dependence &each : p.dependences)
      if (each.kind == Dependence::Chain &&
          p.ops[each.from].completion != p.ops[each.to].completion) {
        p.ops[each.from].completion = p.ops[each.to].completion = Completion::Signalled;
        changed = true;
      }
  }
  return p;
}

} // namespace kiln::schedule

#endif // KILN_TEST_SCHEDULE_PROBLEM_ANYPROBLEM_H
