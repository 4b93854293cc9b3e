// Layouts worked out by hand.
#include "kiln/Layout/Algebra/LinearLayout.h"
#include <gtest/gtest.h>

using namespace kiln;
using Basis = LinearLayout::Basis;

static LinearLayout parsed(llvm::StringRef text) {
  std::string error;
  std::optional<LinearLayout> layout = LinearLayout::parse(text, &error);
  EXPECT_TRUE(layout) << error;
  return layout.value_or(LinearLayout());
}

// The example of the header: an 8x4 tensor on 4 lanes with 8 registers.
static const char kExample[] = "register = [[0,1],[0,2],[4,0]], lane = [[1,0],[2,0]] -> [8, 4]";
// A matrix instruction's 16x8 accumulator: two columns a lane, rows 8 apart in the registers.
static const char kFragment[] =
    "register = [[0,1],[8,0]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]] -> [16, 8]";

TEST(LinearLayout, AppliesByExclusiveOr) {
  LinearLayout layout = parsed(kExample);
  EXPECT_EQ(layout.apply({5, 3}), (Basis{7, 1}));
  EXPECT_EQ(layout.apply({0, 2}), (Basis{2, 0}));
  EXPECT_EQ(layout.applyTo("register", 4), (Basis{4, 0}));
  LinearLayout swizzle = parsed("offset = [[0,1],[0,2],[1,1],[2,2]] -> [4, 4]");
  EXPECT_EQ(swizzle.apply({4 + 1}), (Basis{1, 0}));
  EXPECT_EQ(swizzle.apply({8 + 3}), (Basis{2, 1}));
}

TEST(LinearLayout, TellsInvertibleFromBroadcast) {
  EXPECT_TRUE(parsed(kExample).isInvertible());
  LinearLayout broadcast = parsed("register = [[0,1]], lane = [[1,0],[0,0],[1,0]] -> [2, 2]");
  EXPECT_TRUE(broadcast.isSurjective());
  EXPECT_FALSE(broadcast.isInjective());
  EXPECT_EQ(broadcast.freeVariables(), (llvm::SmallVector<int64_t>{0, 0b110}));
  EXPECT_EQ(broadcast.kernel(), (llvm::SmallVector<Basis>{{0, 0b010}, {0, 0b101}}));
  LinearLayout part = parsed("register = [[0,1]] -> [2, 2]");
  EXPECT_TRUE(part.isInjective());
  EXPECT_FALSE(part.isSurjective());
  EXPECT_EQ(part.image(), (llvm::SmallVector<Basis>{{0, 1}}));
}

TEST(LinearLayout, InvertsWithSwizzle) {
  LinearLayout swizzle = parsed("offset = [[0,1],[0,2],[1,1],[2,2]] -> [4, 4]");
  std::optional<LinearLayout> inverse = swizzle.invert();
  ASSERT_TRUE(inverse);
  // Row 1 alone is offset 4 with column 1 undone: 4 xor 1.
  EXPECT_EQ(inverse->apply({1, 0}), (Basis{5}));
  EXPECT_EQ(inverse->apply({2, 3}), (Basis{8 + 1}));
}

TEST(LinearLayout, StacksBlocked) {
  // Four elements a lane, four lanes along a row, two lanes down; then two warps down.
  LinearLayout layout =
      LinearLayout::identity(4, "register", "dim1") * LinearLayout::identity(4, "lane", "dim1") *
      LinearLayout::identity(2, "lane", "dim0") * LinearLayout::identity(2, "warp", "dim0");
  EXPECT_EQ(layout.transposeOuts({1, 0}).str(),
            "register = [[0,1],[0,2]], lane = [[0,4],[0,8],[1,0]], warp = [[2,0]] -> [4, 16]");
  EXPECT_EQ(layout.getOrder("lane"), (llvm::SmallVector<unsigned>{0, 1}));
}

TEST(LinearLayout, Divides) {
  LinearLayout tile = parsed(kFragment);
  LinearLayout repeats = parsed("register = [[0,1],[1,0]], warp = [[2,0]] -> [4, 2]");
  LinearLayout whole = tile * repeats;
  EXPECT_EQ(whole.str(), "register = [[0,1],[8,0],[0,8],[16,0]], "
                         "lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[32,0]] -> [64, 16]");
  std::optional<LinearLayout> quotient = whole.divideLeft(tile);
  ASSERT_TRUE(quotient);
  EXPECT_EQ(quotient->getBases("warp"), repeats.getBases("warp"));
  EXPECT_EQ(quotient->getBases("register"), repeats.getBases("register"));
  EXPECT_FALSE(whole.divideLeft(LinearLayout::identity(4, "register", "dim1")));
  EXPECT_TRUE(whole.divideRight(parsed("warp = [[1,0]] -> [2, 1]")));
  EXPECT_FALSE(whole.divideRight(parsed("warp = [[0,1]] -> [1, 2]")));
}

TEST(LinearLayout, ConvertsBetweenPlaces) {
  // From a blocked layout to the fragment: lane 1 of the fragment holds column 2 of row 0, which
  // the blocked layout keeps in register 2 of lane 0.
  LinearLayout blocked =
      parsed("register = [[0,1],[0,2]], lane = [[0,4],[1,0],[2,0],[4,0],[8,0]] -> [16, 8]");
  std::optional<LinearLayout> conversion = parsed(kFragment).invertAndCompose(blocked);
  ASSERT_TRUE(conversion);
  EXPECT_EQ(conversion->apply({0, 1}), (Basis{2, 0}));
  EXPECT_EQ(conversion->apply({2, 0}), (Basis{0, 16}));
  // To itself it is the identity, broadcast bits included.
  LinearLayout broadcast = parsed("register = [[1]], lane = [[0],[1]] -> [2]");
  std::optional<LinearLayout> same = broadcast.invertAndCompose(broadcast);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->apply({1, 2}), (Basis{1, 2}));
  EXPECT_FALSE(broadcast.invertAndCompose(parsed("register = [] -> [2]")));
}

TEST(LinearLayout, MeasuresContiguity) {
  EXPECT_EQ(parsed(kExample).getContiguity("register", "dim1"), 4);
  EXPECT_EQ(parsed(kFragment).getContiguity("register", "dim1"), 2);
  EXPECT_EQ(parsed(kFragment).getContiguity("register", "dim0"), 1);
  // A later bit that shifts by one element breaks the run.
  EXPECT_EQ(parsed("register = [[1],[2]], lane = [[5]] -> [8]").getContiguity("register", "dim0"),
            1);
}

TEST(LinearLayout, OrdersCoordinatesAsTheyAreWalked) {
  using Order = llvm::SmallVector<unsigned>;
  EXPECT_EQ(parsed(kExample).getOrder("register"), (Order{1, 0}));
  EXPECT_EQ(parsed(kFragment).getOrder("lane"), (Order{1, 0}));
  // Rows before columns; a bit that moves along both counts for the first of them.
  EXPECT_EQ(parsed("lane = [[1,0],[0,1],[2,0]] -> [4, 2]").getOrder("lane"), (Order{0, 1}));
  EXPECT_EQ(parsed("lane = [[1,1],[2,0]] -> [4, 2]").getOrder("lane"), (Order{0, 1}));
  // Those that are not walked come last, the last of them first.
  EXPECT_EQ(parsed("lane = [[0,1,0]] -> [1, 2, 1]").getOrder("lane"), (Order{1, 2, 0}));
  EXPECT_EQ(parsed("lane = [[0,0]], warp = [[0,1]] -> [1, 2]").getOrder("lane"), (Order{1, 0}));
}

TEST(LinearLayout, ChangesShape) {
  LinearLayout layout = parsed(kExample);
  EXPECT_EQ(layout.reshapeOuts({32}).str(), "register = [[1],[2],[16]], lane = [[4],[8]] -> [32]");
  EXPECT_EQ(layout.reshapeOuts({32}).reshapeOuts({8, 4}), layout);
  EXPECT_EQ(layout.transposeOuts({1, 0}).apply({5, 3}), (Basis{1, 7}));
  LinearLayout slice = layout.sublayout({"register", "lane"}, {"dim0"});
  EXPECT_EQ(slice.removeZeroBases("register").str(), "register = [[4]], lane = [[1],[2]] -> [8]");
}

TEST(LinearLayout, RefusesWithReasons) {
  auto reason = [](llvm::StringRef text) {
    std::string error;
    EXPECT_FALSE(LinearLayout::parse(text, &error));
    return error;
  };
  EXPECT_EQ(reason("lane = [[1]] -> [3]"),
            "expected extents that are no powers of two to be counted by the highest bits of one "
            "part each, got lane = [[1]] -> [3]");
  EXPECT_EQ(reason("lane = [] -> [0]"), "expected an extent of at least 1 along dim0, got 0");
  EXPECT_EQ(reason("lane = [[2]] -> [2]"), "expected a basis of 'lane' within the extent 2, got 2");
  EXPECT_EQ(reason("lane = [[1,0]] -> [2]"),
            "expected 1 coordinates in each basis of 'lane', got 2");
  EXPECT_EQ(reason("lane = [[1]], lane = [[1]] -> [2]"),
            "expected one list of bases for 'lane', got two");
  EXPECT_EQ(reason("lane = [1] -> [2]"), "expected '[', got '1] -> [2]'");
  EXPECT_EQ(reason("lane = [[1]] -> [2] x"), "expected 'the end', got 'x'");
}

TEST(LinearLayout, DrawsWhoHoldsWhat) {
  EXPECT_EQ(parsed("register = [[0,1]], lane = [[0,2],[1,0]] -> [2, 4]").picture(),
            "l0:0 l0:1 l1:0 l1:1\n"
            "l2:0 l2:1 l3:0 l3:1\n");
  EXPECT_EQ(parsed("register = [], lane = [[1],[0]] -> [2]").picture(), "l0:0|l2:0 l1:0|l3:0\n");
}
