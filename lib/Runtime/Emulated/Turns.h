// Who goes on first where nothing orders threads or programs: in turn, or as a seed draws it. What
// an emulated chip finds must not hang on it.
#ifndef KILN_LIB_RUNTIME_EMULATED_TURNS_H
#define KILN_LIB_RUNTIME_EMULATED_TURNS_H

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

namespace kiln::emulated {

class Turns {
public:
  /// No seed, 0, is in turn.
  explicit Turns(uint64_t seed) : isDrawn(seed != 0), random(seed) {}

  /// The numbers below `count`, until it is asked again.
  const std::vector<uint32_t> &order(size_t count) {
    if (numbers.size() != count) {
      numbers.resize(count);
      std::iota(numbers.begin(), numbers.end(), 0);
    }
    if (isDrawn)
      std::shuffle(numbers.begin(), numbers.end(), random);
    return numbers;
  }
  /// Where to begin among so many that take turns.
  uint32_t begin(uint32_t count) { return isDrawn ? random() % count : 0; }
  /// How often one goes on before the others: as long as it can, or a few times.
  uint64_t most() { return isDrawn ? 1 + random() % 4 : ~uint64_t(0); }

private:
  bool isDrawn;
  std::mt19937_64 random;
  std::vector<uint32_t> numbers;
};

} // namespace kiln::emulated

#endif // KILN_LIB_RUNTIME_EMULATED_TURNS_H
