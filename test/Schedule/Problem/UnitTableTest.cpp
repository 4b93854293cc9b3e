// The table of busy units against one that has a number for each cycle.
#include "../../../lib/Schedule/Problem/UnitTable.h"
#include "Build.h"
#include "Seed.h"

using namespace kiln::schedule;

namespace {
/// Use by cycle.
struct PlainUse {
  std::vector<int64_t> use;
  explicit PlainUse(int64_t interval) : use(interval, 0) {}
  void add(int64_t begin, int64_t cycles) {
    int64_t interval = use.size();
    for (int64_t cycle = 0; cycle < cycles; ++cycle)
      ++use[((begin + cycle) % interval + interval) % interval];
  }
  bool isFree(int64_t begin, int64_t cycles, int64_t count) const {
    PlainUse after = *this;
    after.add(begin, cycles);
    return *std::max_element(after.use.begin(), after.use.end()) <= count;
  }
};
} // namespace

TEST(UnitTable, FindsTheNearestFreeCycle) {
  Seed random;
  SCOPED_TRACE(random.describe());
  for (int round = 0; round < 400; ++round) {
    int64_t interval = random.from(1, 40), count = random.from(1, 3);
    Build p;
    p.addRole("all");
    unsigned unit = p.addUnit("unit", count);
    UnitTable table(p, interval);
    PlainUse plain(interval);
    for (int i = 0; i < 12; ++i) {
      int64_t cycles = random.from(1, interval + 3);
      unsigned op = p.addOp("op", 0, unit, cycles);
      bool isUpward = random.from(0, 1);
      int64_t start = random.from(-50, 50), steps = 0;
      std::optional<int64_t> expected;
      for (int64_t away = 0; away < interval && !expected; ++away)
        if (int64_t at = isUpward ? start + away : start - away; plain.isFree(at, cycles, count))
          expected = at;
      std::optional<int64_t> found = table.findFree(op, 0, start, std::nullopt, isUpward, steps);
      ASSERT_EQ(found, expected) << "interval " << interval << ", cycles " << cycles;
      if (!found)
        continue;
      table.place(op, 0, *found);
      plain.add(*found, cycles);
      ASSERT_FALSE(table.findOverfull(op, 0));
    }
  }
}
