// The exact solver: what is cached, what is searched for, and which pin is to blame.
#include "kiln/Schedule/Problem/ExactSolver.h"
#include "Search.h"

using namespace kiln::schedule;

std::string ExactSolver::whyMissing() {
  std::string why;
  SmtLibrary::get(why);
  return why;
}

std::shared_ptr<const Solver> kiln::schedule::makeSolver(llvm::StringRef name, std::string &why) {
  if (name == "swing")
    return std::make_shared<SwingModuloScheduler>();
  why = name == "exact" ? ExactSolver::whyMissing()
                        : "expected solver to be swing or exact, got '" + name.str() + "'";
  return why.empty() ? std::make_shared<ExactSolver>() : nullptr;
}

//===- The cache ----------------------------------------------------------------------------===//

static std::string getQuestion(const Problem &problem, const SmtLibrary &library, int64_t steps) {
  return "schedule 1\nsolver " + std::string(library.get_full_version()) + "\nsteps " +
         std::to_string(steps) + "\n" + printProblem(problem);
}

static std::string printProven(const Proven &proven) {
  return "least " + std::to_string(proven.least) + "\nsteps " + std::to_string(proven.steps) +
         "\n" + printSolution(proven.solution);
}

/// Nothing if the text is not the answer to this problem.
static std::optional<Proven> parseProven(llvm::StringRef text, const Problem &problem) {
  Proven proven;
  proven.isCached = true;
  for (auto [name, number] : {std::pair("least ", &proven.least), {"steps ", &proven.steps}}) {
    llvm::StringRef line;
    std::tie(line, text) = text.split('\n');
    if (!line.consume_front(name) || line.getAsInteger(10, *number))
      return std::nullopt;
  }
  std::optional<Solution> solution = parseSolution(text);
  if (!solution || proven.least < 1 || proven.least > solution->interval ||
      verify(problem, *solution))
    return std::nullopt;
  proven.solution = std::move(*solution);
  return proven;
}

//===- Pins ---------------------------------------------------------------------------------===//

/// The pins of an op, each by its name.
template <typename Visit>
static bool visitPins(Pins &pins, Visit visit) {
  return visit("in_flight", pins.inFlight) || visit("depth", pins.depth) ||
         visit("order", pins.order) || visit("stage", pins.stage) || visit("role", pins.role);
}

/// The first pin without which there is a schedule, once those before it are taken back too.
static std::optional<Violation> findPin(const SmtLibrary &library, const Problem &problem,
                                        int64_t mostSteps) {
  Problem freer = problem;
  for (unsigned index = 0; index < problem.ops.size(); ++index) {
    std::optional<Violation> found;
    visitPins(freer.ops[index].pins, [&](const char *decision, auto &pin) {
      if (!pin)
        return false;
      int64_t was = int64_t(*pin);
      pin.reset();
      bool isFree = !check(freer) && (SwingModuloScheduler().solve(freer) ||
                                      ExactSearch(library, freer, mostSteps).run(std::nullopt));
      if (isFree)
        found =
            problem.at(index, decision,
                       "expected a pin with which there is a schedule, got " + std::to_string(was));
      return isFree;
    });
    if (found)
      return found;
  }
  return std::nullopt;
}

//===- The solver ---------------------------------------------------------------------------===//

std::optional<Proven> ExactSolver::prove(const Problem &problem, Violation *why) const {
  auto fail = [&](const Violation &found) {
    if (why)
      *why = found;
    return std::nullopt;
  };
  std::string missing;
  const SmtLibrary *library = SmtLibrary::get(missing);
  if (!library)
    return fail({std::nullopt, "", "solver", missing});
  if (std::optional<Violation> found = check(problem))
    return fail(*found);
  Violation violation;
  if (!assignRoles(problem, &violation))
    return fail(violation);

  std::string question = getQuestion(problem, *library, options.mostSteps);
  if (options.cache)
    if (std::optional<std::string> text = options.cache->get(question))
      if (std::optional<Proven> proven = parseProven(*text, problem))
        return proven;

  std::optional<Solution> known = SwingModuloScheduler().solve(problem, &violation);
  ExactSearch search(*library, problem, options.mostSteps);
  std::optional<Proven> proven = search.run(known);
  if (!proven) {
    if (!search.isImpossible())
      violation = {std::nullopt, "", "interval",
                   "expected a schedule within " + std::to_string(options.mostSteps) +
                       " steps, got none; without proof, " + violation.str()};
    else if (std::optional<Violation> pin = findPin(*library, problem, options.mostSteps))
      violation = *pin;
    return fail(violation);
  }
  if (options.cache)
    options.cache->put(question, printProven(*proven));
  return proven;
}

std::optional<Solution> ExactSolver::solve(const Problem &problem, Violation *why) const {
  std::optional<Proven> proven = prove(problem, why);
  return proven ? std::optional(std::move(proven->solution)) : std::nullopt;
}
