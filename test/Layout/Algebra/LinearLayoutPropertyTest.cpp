// Laws that hold of all layouts, on random ones. The seed is printed when a law fails.
#include "kiln/Layout/Algebra/LinearLayout.h"
#include <gtest/gtest.h>
#include <random>

using namespace kiln;
using Basis = LinearLayout::Basis;

namespace {
class LinearLayoutProperty : public testing::TestWithParam<int> {
protected:
  std::mt19937_64 random{uint64_t(GetParam())};

  unsigned upTo(unsigned bound) { return random() % (bound + 1); }

  LinearLayout::Basis element(llvm::ArrayRef<LinearLayout::OutDim> outs) {
    Basis basis;
    for (const auto &out : outs)
      basis.push_back(random() % out.size);
    return basis;
  }

  /// Parts named by `ins` with the given bits, onto coordinates `out`0, `out`1.
  LinearLayout layout(llvm::ArrayRef<LinearLayout::InDim> names,
                      llvm::ArrayRef<LinearLayout::OutDim> outs) {
    llvm::SmallVector<LinearLayout::InDim> ins(names.begin(), names.end());
    for (auto &in : ins)
      for (Basis &basis : in.bases)
        basis = element(outs);
    std::string error;
    auto made = LinearLayout::create(ins, outs, &error);
    EXPECT_TRUE(made) << error;
    return *made;
  }

  LinearLayout::InDim part(const char *name, unsigned bits) {
    return {name, llvm::SmallVector<Basis>(bits)};
  }

  LinearLayout anyLayout() {
    return layout({part("register", upTo(5)), part("lane", upTo(5)), part("warp", upTo(3))},
                  getTensorOuts({int64_t(1) << upTo(6), int64_t(1) << upTo(6)}));
  }

  LinearLayout invertible(unsigned bits) {
    for (;;) {
      unsigned first = upTo(bits);
      LinearLayout made =
          layout({part("register", first), part("lane", bits - first)},
                 getTensorOuts({int64_t(1) << bits / 2, int64_t(1) << (bits - bits / 2)}));
      if (made.isInvertible())
        return made;
    }
  }

  int64_t places(const LinearLayout &layout) { return int64_t(1) << layout.getTotalInBits(); }
};
} // namespace

TEST_P(LinearLayoutProperty, IsLinear) {
  LinearLayout l = anyLayout();
  for (int i = 0; i < 50; ++i) {
    int64_t p = random() % places(l), q = random() % places(l);
    EXPECT_EQ(l.flatten(l.apply(l.unflattenPlace(p ^ q))),
              l.flatten(l.apply(l.unflattenPlace(p))) ^ l.flatten(l.apply(l.unflattenPlace(q))));
    EXPECT_EQ(l.flattenPlace(l.unflattenPlace(p)), p);
    EXPECT_EQ(int64_t(l.getMatrix().apply(p)), l.flatten(l.apply(l.unflattenPlace(p))));
  }
}

TEST_P(LinearLayoutProperty, ComposesAssociatively) {
  LinearLayout f = layout({part("register", 3), part("lane", 4)}, {{"x", 8}, {"y", 16}});
  LinearLayout g = layout({part("x", 3), part("y", 4)}, {{"u", 32}, {"v", 4}});
  LinearLayout h = layout({part("u", 5), part("v", 2)}, getTensorOuts({64, 2}));
  EXPECT_EQ(f.compose(g).compose(h), f.compose(g.compose(h)));
  for (int64_t p = 0; p < places(f); ++p)
    EXPECT_EQ(f.compose(g).apply(f.unflattenPlace(p)), g.apply(f.apply(f.unflattenPlace(p))));
}

TEST_P(LinearLayoutProperty, MultipliesAssociativelyAndDivides) {
  auto small = [&] {
    return layout({part("register", upTo(2)), part("lane", upTo(2))},
                  getTensorOuts({int64_t(1) << upTo(2), int64_t(1) << upTo(2)}));
  };
  LinearLayout a = small(), b = small(), c = small();
  EXPECT_EQ((a * b) * c, a * (b * c));
  EXPECT_EQ((a * b).divideLeft(a), std::optional(b));
  EXPECT_EQ((a * b).divideRight(b), std::optional(a));
}

TEST_P(LinearLayoutProperty, InverseUndoes) {
  LinearLayout l = invertible(2 + upTo(10));
  std::optional<LinearLayout> inverse = l.invert();
  ASSERT_TRUE(inverse);
  for (int i = 0; i < 50; ++i) {
    Basis place = l.unflattenPlace(random() % places(l));
    EXPECT_EQ(inverse->apply(l.apply(place)), place);
  }
  EXPECT_EQ(inverse->invert(), std::optional(l));
}

TEST_P(LinearLayoutProperty, PseudoInverseFindsAPlaceForEachElement) {
  LinearLayout l = anyLayout();
  std::optional<LinearLayout> pseudo = l.pseudoInvert();
  EXPECT_EQ(bool(pseudo), l.isSurjective());
  for (int i = 0; pseudo && i < 50; ++i) {
    Basis e = element(l.getOuts());
    EXPECT_EQ(l.apply(pseudo->apply(e)), e);
  }
}

TEST_P(LinearLayoutProperty, ConversionKeepsElements) {
  LinearLayout d = anyLayout(), s = anyLayout();
  if (d.getShape() != s.getShape())
    s = layout({part("register", 7), part("lane", 7)}, d.getOuts());
  std::optional<LinearLayout> conversion = d.invertAndCompose(s);
  if (s.isSurjective()) {
    ASSERT_TRUE(conversion);
  }
  for (int i = 0; conversion && i < 50; ++i) {
    Basis place = d.unflattenPlace(random() % places(d));
    EXPECT_EQ(s.apply(conversion->apply(place)), d.apply(place));
  }
}

TEST_P(LinearLayoutProperty, KernelAndImageMakeUpTheWhole) {
  LinearLayout l = anyLayout();
  EXPECT_EQ(l.kernel().size() + l.image().size(), l.getTotalInBits());
  for (const Basis &place : l.kernel())
    EXPECT_EQ(l.flatten(l.apply(place)), 0);
  unsigned freeBits = 0;
  for (int64_t mask : l.freeVariables())
    freeBits += __builtin_popcountll(mask);
  EXPECT_EQ(freeBits, l.kernel().size());
}

TEST_P(LinearLayoutProperty, ContiguityIsWhatItSays) {
  LinearLayout l = LinearLayout::identity(int64_t(1) << upTo(3), "register", "dim0") * anyLayout();
  int64_t run = l.getContiguity("register", "dim0");
  for (int i = 0; i < 50; ++i) {
    Basis place = l.unflattenPlace(random() % places(l));
    place[0] &= ~(run - 1);
    Basis first = l.apply(place);
    EXPECT_EQ(first[0] % run, 0);
    for (int64_t r = 0; r < run; ++r) {
      place[0] = (place[0] & ~(run - 1)) | r;
      Basis expected = first;
      expected[0] += r;
      EXPECT_EQ(l.apply(place), expected);
    }
  }
}

TEST_P(LinearLayoutProperty, TextAndShapeRoundTrip) {
  LinearLayout l = anyLayout();
  std::string error;
  EXPECT_EQ(LinearLayout::parse(l.str(), &error), std::optional(l)) << error;
  EXPECT_EQ(l.transposeOuts({1, 0}).transposeOuts({1, 0}), l);
  llvm::SmallVector<int64_t> shape = l.getShape();
  EXPECT_EQ(l.reshapeOuts({shape[0] * shape[1]}).reshapeOuts(shape), l);
}

TEST(LinearLayoutSize, ReachesTwentyBits) {
  LinearLayout l = LinearLayout::identity(1 << 9, "register", "dim0") *
                   LinearLayout::identity(1 << 5, "lane", "dim0") *
                   LinearLayout::identity(1 << 6, "warp", "dim0");
  EXPECT_TRUE(l.isInvertible());
  EXPECT_EQ(l.apply({511, 31, 63}), (Basis{(1 << 20) - 1}));
}

INSTANTIATE_TEST_SUITE_P(Random, LinearLayoutProperty, testing::Range(0, 60));
