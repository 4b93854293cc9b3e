// Completes the roles of ops.
#include "kiln/Schedule/Problem/Solver.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace kiln::schedule;
using llvm::SmallVector;

namespace {
class RoleAssigner {
public:
  explicit RoleAssigner(const Problem &problem) : problem(problem), classes(problem.ops.size()) {}
  std::optional<Violation> run();
  SmallVector<unsigned> getRoles() const;
  std::optional<SmallVector<SmallVector<unsigned>>> listRoles(size_t most) const;

private:
  std::optional<Violation> takePins();
  bool canRun(unsigned role, unsigned number) const;
  std::optional<unsigned> findNeighbours(unsigned number, bool users) const;
  std::optional<unsigned> choose(unsigned number, bool isLast) const;

  const Problem &problem;
  /// Ops that cannot be parted, and the role of each class.
  llvm::IntEqClasses classes;
  SmallVector<std::optional<unsigned>> chosen;
};
} // namespace

std::optional<Violation> RoleAssigner::takePins() {
  SmallVector<unsigned> by(classes.getNumClasses());
  for (auto [op, its] : llvm::enumerate(problem.ops)) {
    if (!its.pins.role)
      continue;
    std::optional<unsigned> &role = chosen[classes[op]];
    if (role && *role != *its.pins.role)
      return problem.at(op, "role",
                        "expected '" + problem.roles[*role].name + "', as of '" +
                            problem.ops[by[classes[op]]].name +
                            "', since no ring can hand on what is between them, got '" +
                            problem.roles[*its.pins.role].name + "'");
    if (!role)
      by[classes[op]] = op;
    role = its.pins.role;
  }
  return std::nullopt;
}

bool RoleAssigner::canRun(unsigned role, unsigned number) const {
  return llvm::all_of(llvm::seq<unsigned>(0, problem.ops.size()), [&](unsigned op) {
    return classes[op] != number || problem.roles[role].warps % problem.ops[op].warpMultiple == 0;
  });
}

/// The role that all users, or all makers, of a class have, of those that have one.
std::optional<unsigned> RoleAssigner::findNeighbours(unsigned number, bool users) const {
  std::optional<unsigned> role;
  for (const Dependence &each : problem.dependences) {
    unsigned own = classes[users ? each.from : each.to];
    unsigned other = classes[users ? each.to : each.from];
    if (own != number || other == number || !chosen[other])
      continue;
    if (role && *role != *chosen[other])
      return std::nullopt;
    role = chosen[other];
  }
  return role;
}

/// Where nothing more follows from neighbours, the last choice is the first role that can.
std::optional<unsigned> RoleAssigner::choose(unsigned number, bool isLast) const {
  for (bool users : {true, false})
    if (std::optional<unsigned> role = findNeighbours(number, users); role && canRun(*role, number))
      return role;
  for (unsigned role = 0; isLast && role < problem.roles.size(); ++role)
    if (canRun(role, number))
      return role;
  return std::nullopt;
}

std::optional<Violation> RoleAssigner::run() {
  for (const Dependence &each : problem.dependences)
    if (each.kind != Dependence::Value || !problem.ops[each.from].canBeHandedOver())
      classes.join(each.from, each.to);
  classes.compress();
  chosen.resize(classes.getNumClasses());
  if (std::optional<Violation> violation = takePins())
    return violation;
  // Users stand behind their makers, so the last ops go first; then all that is left, one by one.
  for (bool isLast = false;;) {
    bool changed = false;
    for (unsigned op = problem.ops.size(); op-- > 0 && !(isLast && changed);) {
      std::optional<unsigned> &role = chosen[classes[op]];
      if (role)
        continue;
      role = choose(classes[op], isLast);
      changed |= role.has_value();
    }
    if (!changed && isLast)
      break;
    isLast = !changed;
  }
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    if (!chosen[classes[op]] || !canRun(*chosen[classes[op]], classes[op]))
      return problem.at(op, "role",
                        "expected one with a multiple of " +
                            std::to_string(problem.ops[op].warpMultiple) +
                            " warps for it and what it cannot be parted from, got none");
  return std::nullopt;
}

SmallVector<unsigned> RoleAssigner::getRoles() const {
  SmallVector<unsigned> roles;
  for (unsigned op = 0; op < problem.ops.size(); ++op)
    roles.push_back(*chosen[classes[op]]);
  return roles;
}

/// Each way to give classes without a pin one of the roles that can run them.
std::optional<SmallVector<SmallVector<unsigned>>> RoleAssigner::listRoles(size_t most) const {
  SmallVector<SmallVector<unsigned>> ways{getRoles()};
  for (unsigned number = 0; number < classes.getNumClasses(); ++number) {
    auto ops = llvm::seq<unsigned>(0, problem.ops.size());
    if (llvm::any_of(
            ops, [&](unsigned op) { return classes[op] == number && problem.ops[op].pins.role; }))
      continue;
    for (size_t way = 0, count = ways.size(); way < count; ++way)
      for (unsigned role = 0; role < problem.roles.size(); ++role) {
        if (role == *chosen[number] || !canRun(role, number))
          continue;
        if (ways.size() == most)
          return std::nullopt;
        SmallVector<unsigned> other = ways[way];
        for (unsigned op : ops)
          if (classes[op] == number)
            other[op] = role;
        ways.push_back(std::move(other));
      }
  }
  return ways;
}

std::optional<SmallVector<SmallVector<unsigned>>> kiln::schedule::listRoles(const Problem &problem,
                                                                            size_t most) {
  RoleAssigner assigner(problem);
  if (assigner.run())
    return std::nullopt;
  return assigner.listRoles(most);
}

std::optional<SmallVector<unsigned>> kiln::schedule::assignRoles(const Problem &problem,
                                                                 Violation *why) {
  RoleAssigner assigner(problem);
  if (std::optional<Violation> violation = assigner.run()) {
    if (why)
      *why = *violation;
    return std::nullopt;
  }
  return assigner.getRoles();
}
