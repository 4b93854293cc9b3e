// Layouts of extents that are no powers of two: what is there, and that the algebra holds for it.
#include "kiln/Layout/Algebra/LinearLayout.h"
#include <gtest/gtest.h>
#include <random>
#include <set>

using namespace kiln;
using Basis = LinearLayout::Basis;
using InDim = LinearLayout::InDim;

static LinearLayout parsed(llvm::StringRef text) {
  std::string error;
  std::optional<LinearLayout> layout = LinearLayout::parse(text, &error);
  EXPECT_TRUE(layout) << error;
  return layout.value_or(LinearLayout());
}

TEST(CutLayout, EndsWhereTheExtentDoes) {
  LinearLayout layout =
      parsed("register = [[0,1],[0,2],[0,4],[0,8]], lane = [[1,0],[2,0]] -> [4, 12]");
  EXPECT_EQ(layout.getInSize("register"), 12);
  EXPECT_EQ(layout.getInSize("lane"), 4);
  EXPECT_EQ(layout.applyTo("register", 11), (Basis{0, 11}));
  EXPECT_TRUE(layout.isThere({11, 3}));
  EXPECT_FALSE(layout.isThere({12, 0}));
  EXPECT_EQ(layout.dropCuts().str(), "register = [[0,1],[0,2]], lane = [[1,0],[2,0]] -> [4, 4]");
  EXPECT_EQ(parsed("warp = [[1],[2],[4]] -> [5]").getInSize("warp"), 5);
}

TEST(CutLayout, NeedsTheHighestBitsOfOnePart) {
  auto isRefused = [](llvm::StringRef text) { return !LinearLayout::parse(text); };
  EXPECT_TRUE(isRefused("register = [[1],[2],[0]] -> [3]"));       // not the highest
  EXPECT_TRUE(isRefused("register = [[2],[1]] -> [3]"));           // not in order
  EXPECT_TRUE(isRefused("register = [[1]], warp = [[2]] -> [3]")); // of two parts
  EXPECT_TRUE(isRefused("register = [[5],[2],[4]] -> [6]"));       // another basis has them
  EXPECT_TRUE(isRefused("register = [[0,1],[0,2],[1,0],[2,0]] -> [3, 3]")); // two of one part
  EXPECT_FALSE(isRefused("register = [[0,1],[0,2]], warp = [[1,0],[2,0]] -> [3, 3]"));
  EXPECT_FALSE(isRefused("register = [[1],[2],[4]] -> [6]"));
}

TEST(CutLayout, DrawsWhatIsThere) {
  EXPECT_EQ(parsed("register = [[0,1],[0,2]], lane = [[1,0]] -> [2, 3]").picture(),
            "l0:0 l0:1 l0:2\n"
            "l1:0 l1:1 l1:2\n");
}

TEST(CutLayout, IsAProductOfWhatIsRepeated) {
  LinearLayout fragment =
      parsed("register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]] -> [16, 8]");
  LinearLayout made = fragment * LinearLayout::identity(24, "register", "dim1");
  EXPECT_EQ(made.getShape(), (llvm::SmallVector<int64_t>{16, 192}));
  EXPECT_TRUE(made.isExact());
  EXPECT_EQ(made.getInSize("register"), 4 * 24);
  EXPECT_EQ(made.divideLeft(fragment),
            std::optional(LinearLayout::identity(24, "register", "dim1")
                              .sublayout({"register", "lane"}, {"dim0", "dim1"})));
}

namespace {
class CutLayoutProperty : public testing::TestWithParam<int> {
protected:
  std::mt19937_64 random{uint64_t(GetParam())};

  int64_t upTo(int64_t bound) { return random() % (bound + 1); }
  int64_t odd() { return 2 * upTo(4) + 1; }

  void append(InDim &part, llvm::ArrayRef<int64_t> shape, unsigned dim) {
    for (int64_t value = shape[dim] & -shape[dim]; value < shape[dim]; value *= 2) {
      part.bases.emplace_back(shape.size(), 0);
      part.bases.back()[dim] = value;
    }
  }

  /// Registers count the second extent's odd factor, warps the first one's.
  LinearLayout layout(llvm::ArrayRef<int64_t> shape) {
    int64_t units[] = {shape[0] & -shape[0], shape[1] & -shape[1]};
    unsigned bits = 0;
    for (int64_t unit : units)
      for (int64_t value = 1; value < unit; value *= 2)
        ++bits;
    for (;;) {
      InDim registers{"register", {}}, lanes{"lane", {}}, warps{"warp", {}};
      for (unsigned bit = 0; bit < bits; ++bit) {
        InDim *parts[] = {&registers, &lanes, &warps};
        parts[upTo(2)]->bases.push_back({upTo(units[0] - 1), upTo(units[1] - 1)});
      }
      append(registers, shape, 1);
      append(warps, shape, 0);
      std::optional<LinearLayout> made =
          LinearLayout::create({registers, lanes, warps}, getTensorOuts(shape));
      if (made->isInvertible())
        return *made;
    }
  }

  llvm::SmallVector<int64_t> shape() { return {odd() << upTo(3), odd() << upTo(3)}; }

  llvm::SmallVector<Basis> places(const LinearLayout &layout) {
    llvm::SmallVector<Basis> there;
    for (int64_t flat = 0; flat < int64_t(1) << layout.getTotalInBits(); ++flat)
      if (Basis place = layout.unflattenPlace(flat); layout.isThere(place))
        there.push_back(place);
    return there;
  }
};
} // namespace

TEST_P(CutLayoutProperty, HoldsEachElementOnceAndNoOther) {
  llvm::SmallVector<int64_t> extents = shape();
  LinearLayout l = layout(extents);
  EXPECT_TRUE(l.isExact());
  EXPECT_EQ(l.getInSize("register") * l.getInSize("lane") * l.getInSize("warp"),
            extents[0] * extents[1]);
  std::set<std::pair<int64_t, int64_t>> held;
  for (const Basis &place : places(l)) {
    Basis element = l.apply(place);
    EXPECT_LT(element[0], extents[0]);
    EXPECT_LT(element[1], extents[1]);
    EXPECT_TRUE(held.insert({element[0], element[1]}).second);
  }
  EXPECT_EQ(int64_t(held.size()), extents[0] * extents[1]);
}

TEST_P(CutLayoutProperty, InverseUndoes) {
  LinearLayout l = layout(shape());
  std::optional<LinearLayout> inverse = l.invert();
  ASSERT_TRUE(inverse);
  EXPECT_EQ(inverse->invert(), std::optional(l));
  for (const Basis &place : places(l))
    EXPECT_EQ(inverse->apply(l.apply(place)), place);
  EXPECT_EQ(inverse->getInSize("dim0"), l.getShape()[0]);
  EXPECT_EQ(inverse->getInSize("dim1"), l.getShape()[1]);
}

TEST_P(CutLayoutProperty, ConversionComesFromWhatIsThere) {
  llvm::SmallVector<int64_t> extents = shape();
  LinearLayout d = layout(extents), s = layout(extents);
  std::optional<LinearLayout> conversion = d.invertAndCompose(s);
  ASSERT_TRUE(conversion);
  EXPECT_EQ(conversion->getInSize("register"), d.getInSize("register"));
  for (const Basis &place : places(d)) {
    Basis from = conversion->apply(place);
    EXPECT_TRUE(s.isThere(from));
    EXPECT_EQ(s.apply(from), d.apply(place));
  }
}

TEST_P(CutLayoutProperty, TextAndShapeRoundTrip) {
  LinearLayout l = layout(shape());
  std::string error;
  EXPECT_EQ(LinearLayout::parse(l.str(), &error), std::optional(l)) << error;
  EXPECT_EQ(l.transposeOuts({1, 0}).transposeOuts({1, 0}), l);
  llvm::SmallVector<int64_t> extents = l.getShape();
  EXPECT_EQ(l.reshapeOuts({1, extents[0], 1, extents[1]}).reshapeOuts(extents), l);
}

INSTANTIATE_TEST_SUITE_P(Random, CutLayoutProperty, testing::Range(0, 60));
