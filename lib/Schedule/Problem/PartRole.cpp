// Cuts a role's ops, and what goes to and from them.
#include "kiln/Schedule/Problem/PartRole.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace kiln::schedule;

static int64_t share(int64_t whole, int64_t parts) { return llvm::divideCeil(whole, parts); }

static Op cutOp(Op op, int64_t parts) {
  int64_t saved = 0;
  for (Reservation &each : op.reservations) {
    int64_t cycles = share(each.cycles, parts);
    saved = std::max(saved, each.cycles - cycles);
    each.cycles = cycles;
  }
  op.latency = std::max<int64_t>(0, op.latency - saved);
  op.registerBytes = share(op.registerBytes, parts);
  op.bufferBytes = share(op.bufferBytes, parts);
  op.bufferColumns = share(op.bufferColumns, parts);
  return op;
}

Problem kiln::schedule::partRole(const Problem &problem, unsigned role, int64_t parts) {
  Problem parted = problem;
  std::string name = problem.roles[role].name;
  // The ops that each op is, one or one a part.
  llvm::SmallVector<llvm::SmallVector<unsigned>> numbers(problem.ops.size());
  for (int64_t part = 0; part < parts; ++part) {
    unsigned number = part ? parted.roles.size() : role;
    if (part)
      parted.roles.push_back(problem.roles[role]);
    Role &its = parted.roles[number];
    its.name = name + " " + std::to_string(part);
    if (its.registerBytes)
      its.registerBytes = *its.registerBytes / parts;
    for (auto [op, asked] : llvm::enumerate(problem.ops)) {
      bool isCut = asked.pins.role == role;
      if (part && !isCut)
        continue;
      numbers[op].push_back(part ? parted.ops.size() : op);
      if (part)
        parted.ops.push_back(asked);
      if (!isCut)
        continue;
      Op &cut = parted.ops[numbers[op].back()];
      cut = cutOp(asked, parts);
      cut.pins.role = number;
      cut.name = asked.name + " " + std::to_string(part);
    }
  }
  parted.dependences.clear();
  for (const Dependence &each : problem.dependences)
    for (auto [from, maker] : llvm::enumerate(numbers[each.from]))
      for (auto [to, user] : llvm::enumerate(numbers[each.to])) {
        bool isOfPart =
            numbers[each.from].size() == 1 || numbers[each.to].size() == 1 || from == to;
        if (!isOfPart)
          continue;
        Dependence need = each;
        need.from = maker;
        need.to = user;
        parted.dependences.push_back(need);
      }
  return parted;
}
