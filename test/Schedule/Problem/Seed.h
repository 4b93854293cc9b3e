// Random numbers with a fresh seed each run, which KILN_SEED sets again.
#ifndef KILN_TEST_SCHEDULE_PROBLEM_SEED_H
#define KILN_TEST_SCHEDULE_PROBLEM_SEED_H

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace kiln::schedule {

class Seed {
public:
  explicit Seed(uint64_t more = 0) : seed(getBase() + more), random(seed) {}
  int64_t from(int64_t least, int64_t most) {
    return least + int64_t(random() % uint64_t(most - least + 1));
  }
  bool chance(int64_t percent) { return from(0, 99) < percent; }
  std::string describe() const { return "KILN_SEED=" + std::to_string(seed); }

private:
  static uint64_t getBase() {
    if (const char *text = std::getenv("KILN_SEED"))
      return std::strtoull(text, nullptr, 10);
    static const uint64_t fresh = std::random_device{}();
    return fresh;
  }

  uint64_t seed;
  std::mt19937_64 random;
};

} // namespace kiln::schedule

#endif // KILN_TEST_SCHEDULE_PROBLEM_SEED_H
