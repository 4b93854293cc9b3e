// Problems and solutions as lines of numbers.
#include "kiln/Schedule/Problem/ExactSolver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace kiln::schedule;
using llvm::SmallVector;
using llvm::StringRef;

namespace {
/// Numbers of a line, with `-` for none.
class Line {
public:
  Line(llvm::raw_ostream &out, StringRef head) : out(out) { out << head; }
  ~Line() { out << '\n'; }
  Line &operator<<(int64_t number) {
    out << ' ' << number;
    return *this;
  }
  template <typename T>
  Line &operator<<(const std::optional<T> &number) {
    if (number)
      return *this << int64_t(*number);
    out << " -";
    return *this;
  }

private:
  llvm::raw_ostream &out;
};
} // namespace

std::string kiln::schedule::printProblem(const Problem &problem) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const Role &role : problem.roles)
    Line(out, "role") << role.warps << role.registerBytes << role.lag;
  for (const Unit &unit : problem.units)
    Line(out, "unit") << unit.count << unit.isPerRole;
  for (const Counter &counter : problem.counters)
    Line(out, "counter") << counter.limit;
  for (const Op &op : problem.ops) {
    Line(out, "op") << op.latency << int64_t(op.completion) << op.counter << op.starts << op.isLate
                    << op.warpMultiple << op.registerBytes << op.bufferBytes << op.bufferColumns
                    << op.slotBarriers << op.isBuffered << op.isInTurns << op.partsTurns
                    << op.innerTurns;
    Line(out, " pins") << op.pins.role << op.pins.stage << op.pins.order << op.pins.depth
                       << op.pins.inFlight;
    for (const Reservation &each : op.reservations)
      Line(out, " reserves") << each.unit << each.cycles << each.offset;
  }
  for (const Dependence &each : problem.dependences)
    Line(out, "dependence") << each.from << each.to << each.distance << int64_t(each.kind)
                            << each.latency << each.isInPlace;
  Line(out, "budget") << problem.budget.sharedBytes << problem.budget.tensorColumns
                      << problem.budget.namedBarriers;
  for (const SharedPiece &piece : problem.otherPieces) {
    Line line(out, "piece");
    line << piece.bytes << piece.first << piece.last << piece.alignment << piece.part << piece.step;
    if (piece.around)
      line << piece.around->first << piece.around->second;
  }
  Line(out, "loop") << problem.isLoop << problem.mostStages;
  return text;
}

std::string kiln::schedule::printSolution(const Solution &solution) {
  std::string text;
  llvm::raw_string_ostream out(text);
  Line(out, "interval") << solution.interval;
  for (int64_t origin : solution.origins)
    Line(out, "origin") << origin;
  for (const Placement &each : solution.ops)
    Line(out, "op") << each.role << each.start << each.stage << each.order << each.depth
                    << each.inFlight;
  return text;
}

/// The numbers behind a line's head; nothing if one is none.
static std::optional<SmallVector<std::optional<int64_t>>> parseNumbers(StringRef line) {
  SmallVector<std::optional<int64_t>> numbers;
  for (StringRef word : llvm::split(line, ' ')) {
    int64_t number;
    if (word == "-")
      numbers.push_back(std::nullopt);
    else if (!word.getAsInteger(10, number))
      numbers.push_back(number);
    else
      return std::nullopt;
  }
  return numbers;
}

std::optional<Solution> kiln::schedule::parseSolution(StringRef text) {
  Solution solution;
  bool hasInterval = false;
  while (!text.empty()) {
    StringRef line;
    std::tie(line, text) = text.split('\n');
    auto [head, rest] = line.split(' ');
    auto numbers = parseNumbers(rest);
    size_t wanted = head == "op" ? 6 : 1;
    if (!numbers || numbers->size() != wanted)
      return std::nullopt;
    for (size_t place = 0; place < wanted; ++place)
      if (!(*numbers)[place] && place < 5)
        return std::nullopt;
    auto get = [&](size_t place) { return *(*numbers)[place]; };
    if (head == "interval" && !hasInterval) {
      solution.interval = get(0);
      hasInterval = true;
    } else if (head == "origin") {
      solution.origins.push_back(get(0));
    } else if (head == "op") {
      solution.ops.push_back({unsigned(get(0)), get(1), get(2), get(3), get(4), (*numbers)[5]});
    } else {
      return std::nullopt;
    }
  }
  return hasInterval ? std::optional(solution) : std::nullopt;
}
