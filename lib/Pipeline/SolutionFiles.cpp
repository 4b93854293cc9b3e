// Schedules are entries of the cache like compiled kernels: an artifact of one section. What the
// cache finds corrupt it drops, and the solver holds the rest against the problem.
#include "SolutionFiles.h"
#include "kiln/Runtime/Cache/Cache.h"
#include "kiln/Schedule/Problem/ExactSolver.h"

using namespace kiln;

static constexpr char kSection[] = "schedule";

namespace {
class SolutionFiles : public schedule::SolutionCache {
public:
  explicit SolutionFiles(std::unique_ptr<Cache> cache) : cache(std::move(cache)) {}
  std::optional<std::string> get(llvm::StringRef question) override {
    std::optional<Artifact> artifact = cache->get(Key::of(question));
    if (!artifact || artifact->numSections() != 1 || artifact->sectionName(0) != kSection)
      return std::nullopt;
    return artifact->sectionBytes(0).str();
  }
  void put(llvm::StringRef question, llvm::StringRef answer) override {
    llvm::json::Object metadata{{"kernel", kSection}, {"target", ""}};
    cache->put(Key::of(question),
               Artifact::create(std::move(metadata), {{kSection, answer.str()}}));
  }

private:
  std::unique_ptr<Cache> cache;
};

/// A solver and the cache that it asks.
class CachedSolver : public schedule::Solver {
public:
  explicit CachedSolver(std::unique_ptr<Cache> cache)
      : files(std::move(cache)), solver(getOptions()) {}
  std::optional<schedule::Solution> solve(const schedule::Problem &problem,
                                          schedule::Violation *why) const override {
    return solver.solve(problem, why);
  }

private:
  schedule::ExactSolver::Options getOptions() {
    schedule::ExactSolver::Options options;
    options.cache = &files;
    return options;
  }

  SolutionFiles files;
  schedule::ExactSolver solver;
};
} // namespace

SharedSolver kiln::createExactSolver() {
  llvm::Expected<std::unique_ptr<Cache>> cache = Cache::open(std::nullopt, /*maxBytes=*/0);
  if (cache)
    return std::make_shared<CachedSolver>(std::move(*cache));
  llvm::consumeError(cache.takeError());
  return std::make_shared<schedule::ExactSolver>();
}
