// Each fact of an argument, as the key tells it to a front end.
#include "../Support/Kernels.h"
#include "kiln/Runtime/Launch/Function.h"
#include "gmock/gmock.h"
#include <random>

using namespace kiln;
using namespace kiln::testing;

namespace {
class FactsTest : public ::testing::Test {
protected:
  /// The description of the only argument.
  llvm::json::Object describe(KilnParameter parameter, KilnArg arg) {
    auto function = llvm::cantFail(Function::create("k", parameter));
    std::string key = llvm::cantFail(function->key(arg, nullptr));
    llvm::json::Value all =
        llvm::cantFail(llvm::json::parse(llvm::cantFail(describeKey(function->parameters(), key))));
    return *(*all.getAsObject()->getArray("arguments"))[0].getAsObject();
  }
  llvm::json::Object view(std::vector<int64_t> shape, std::vector<int64_t> strides = {},
                          KilnDType dtype = KILN_F32, uint64_t address = 4096,
                          uint32_t facts = KILN_FACTS_DEFAULT) {
    return describe({"a", KILN_ARG_TENSOR, KILN_NONE, -1, facts},
                    tensor(reinterpret_cast<void *>(address), dtype, shape.data(), shape.size(),
                           strides.empty() ? nullptr : strides.data()));
  }
  static std::string type(const llvm::json::Object &object) {
    return object.getString("type").value_or("").str();
  }
  static std::string attribute(const llvm::json::Object &object) {
    return object.getString("attribute").value_or("").str();
  }
};
} // namespace

TEST_F(FactsTest, ContiguousTensor) {
  llvm::json::Object got = view({100, 64});
  EXPECT_EQ(type(got), "!tile.view<?x?xf32, strides [?, 1]>");
  EXPECT_EQ(attribute(got),
            "#tile.facts<pointer = 16, strides = [16, 4], extents = [0, 16], index32, noalias>");
  EXPECT_EQ(got.getString("dtype"), llvm::StringRef("f32"));
  EXPECT_EQ(got.getInteger("rank"), 2);
  EXPECT_EQ(got.getObject("facts")->getInteger("pointer"), 16);
}

TEST_F(FactsTest, Pointer) {
  for (auto [address, align] : {std::pair(4096, 16), {4096 + 8, 8}, {4096 + 4, 4}, {4096 + 16, 16}})
    EXPECT_EQ(view({5}, {}, KILN_F32, address).getObject("facts")->getInteger("pointer"), align);
  EXPECT_EQ(view({5}, {}, KILN_I8, 4097).getObject("facts")->getInteger("pointer"), 1);
  EXPECT_EQ(attribute(view({5}, {}, KILN_I8, 4097)),
            "#tile.facts<strides = [1], index32, noalias>");
}

TEST_F(FactsTest, Strides) {
  auto stridesOf = [&](std::vector<int64_t> strides, KilnDType dtype) {
    std::vector<int64_t> shape(strides.size(), 3), result;
    llvm::json::Object got = view(shape, strides, dtype);
    for (const llvm::json::Value &value : *got.getObject("facts")->getArray("strides"))
      result.push_back(*value.getAsInteger());
    return result;
  };
  using Longs = std::vector<int64_t>;
  EXPECT_EQ(stridesOf({100, 1}, KILN_F32), (Longs{16, 4}));
  EXPECT_EQ(stridesOf({6, 2}, KILN_F32), (Longs{8, 8}));
  EXPECT_EQ(stridesOf({7, 1}, KILN_I8), (Longs{1, 1}));
  EXPECT_EQ(stridesOf({-16, 0}, KILN_F16), (Longs{16, 16}));
  EXPECT_EQ(stridesOf({32, 3}, KILN_I4), (Longs{16, 0})) << "half bytes are no fact";
}

TEST_F(FactsTest, UnitStridesAndExtentsAreStatic) {
  EXPECT_EQ(type(view({7, 1}, {1, 0})), "!tile.view<?x1xf32, strides [1, ?]>");
  EXPECT_EQ(type(view({1, 1})), "!tile.view<1x1xf32, strides [1, 1]>");
  EXPECT_EQ(type(view({})), "!tile.view<f32>");
  EXPECT_EQ(type(view({7}, {2}, KILN_U8)), "!tile.view<?xi8, strides [?]>");
  EXPECT_EQ(type(view({7}, {}, KILN_BOOL)), "!tile.view<?xi8, strides [1]>");
}

TEST_F(FactsTest, Extents) {
  llvm::json::Object got = view({16, 17, 0, 4096});
  std::string text;
  llvm::raw_string_ostream(text) << *got.getObject("facts")->get("extents");
  EXPECT_EQ(text, "[16,0,0,16]");
}

TEST_F(FactsTest, RaggedExtentsAlongRows) {
  auto extentsOf = [&](std::vector<int64_t> shape, std::vector<int64_t> strides = {}) {
    llvm::json::Object got = view(shape, strides);
    std::string text;
    llvm::raw_string_ostream(text) << *got.getObject("facts")->get("extents");
    return text;
  };
  EXPECT_EQ(extentsOf({7, 5000}), "[0,8]");
  EXPECT_EQ(extentsOf({5004}), "[4]");
  EXPECT_EQ(extentsOf({5002}), "[2]");
  EXPECT_EQ(extentsOf({5001}), "[0]");
  EXPECT_EQ(extentsOf({48, 5008}), "[16,16]");
  EXPECT_EQ(extentsOf({5000, 8}, {1, 5000}), "[8,0]") << "rows may be the first dimension";
  EXPECT_EQ(extentsOf({0}), "[0]") << "what is a multiple of anything is positive";
  EXPECT_EQ(extentsOf({5000}, {2}), "[0]") << "no row: only 16 is worth compiling for";
}

TEST_F(FactsTest, Index32) {
  auto index32 = [&](std::vector<int64_t> shape, std::vector<int64_t> strides = {},
                     uint64_t address = 4096) {
    return *view(shape, strides, KILN_F32, address).getObject("facts")->getBoolean("index32");
  };
  int64_t limit = int64_t(1) << 29; // floats in 2^31 bytes
  EXPECT_TRUE(index32({limit}));
  EXPECT_FALSE(index32({limit + 1}));
  EXPECT_FALSE(index32({2, 2}, {limit, 1}));
  EXPECT_TRUE(index32({2, 2}, {limit - 2, 1}));
  EXPECT_FALSE(index32({int64_t(1) << 40, 0})) << "an extent takes more than 32 bits";
  EXPECT_FALSE(index32({int64_t(1) << 40}, {0})) << "one element, many times";
  EXPECT_FALSE(index32({1, 1}, {int64_t(1) << 31, 1})) << "a stride takes more than 32 bits";
  EXPECT_TRUE(index32({1, 4}, {(int64_t(1) << 31) - 1, 1}));
  EXPECT_FALSE(index32({2}, {-1}, uint64_t(1) << 40)) << "an offset is never negative";
}

TEST_F(FactsTest, EachFactCanBeLeftOut) {
  EXPECT_EQ(attribute(view({16, 16}, {}, KILN_F32, 4096, 0)), "");
  EXPECT_EQ(type(view({16, 1}, {}, KILN_F32, 4096, 0)), "!tile.view<?x?xf32, strides [?, ?]>");
  auto with = [&](uint32_t facts) { return attribute(view({16, 16}, {}, KILN_F32, 4096, facts)); };
  EXPECT_EQ(with(KILN_FACT_POINTER), "#tile.facts<pointer = 16>");
  EXPECT_EQ(with(KILN_FACT_STRIDES), "#tile.facts<strides = [16, 4]>");
  EXPECT_EQ(with(KILN_FACT_EXTENTS), "#tile.facts<extents = [16, 16]>");
  EXPECT_EQ(with(KILN_FACT_INDEX32), "#tile.facts<index32>");
}

/// What is usual takes a shorter way, which memory of no stated device does not. Both say the same.
TEST_F(FactsTest, UsualTensorsHaveTheSameKey) {
  std::mt19937 random(11);
  auto upTo = [&](int64_t most) { return std::uniform_int_distribution<int64_t>(0, most)(random); };
  const KilnDType types[] = {KILN_F64, KILN_F32, KILN_BF16, KILN_I8, KILN_I4, KILN_F6E2M3FN};
  auto function = llvm::cantFail(Function::create(
      "k", KilnParameter{"a", KILN_ARG_TENSOR, KILN_NONE, -1, KILN_FACTS_DEFAULT}));
  for (int i = 0; i < 20000; ++i) {
    int64_t shape[KILN_MAX_RANK], strides[KILN_MAX_RANK];
    int rank = int(upTo(4));
    for (int d = 0; d < rank; ++d) {
      shape[d] = upTo(3) ? upTo(40) * (upTo(1) ? 16 : 1) : int64_t(1) << upTo(20);
      strides[d] = (upTo(2) ? upTo(40) : int64_t(1) << upTo(30)) * (upTo(9) ? 1 : -1);
    }
    KilnDType type = types[upTo(std::size(types) - 1)];
    KilnArg arg = tensor(reinterpret_cast<void *>((int64_t(1) << 60) + 8 * upTo(100)), type, shape,
                         rank, upTo(3) ? strides : nullptr);
    auto keyOn = [&](int32_t memory) -> std::string {
      arg.value.tensor.device_type = memory;
      auto key = function->key(arg, nullptr);
      return key ? *key : llvm::toString(key.takeError());
    };
    ASSERT_EQ(keyOn(1), keyOn(0));
  }
}

TEST_F(FactsTest, NoAliasOnlyWhereTrue) {
  KilnParameter parameters[] = {
      {"a", KILN_ARG_TENSOR, KILN_NONE, -1, KILN_FACTS_DEFAULT},
      {"b", KILN_ARG_TENSOR, KILN_NONE, -1, KILN_FACTS_DEFAULT & ~KILN_FACT_NOALIAS}};
  auto function = llvm::cantFail(Function::create("k", parameters));
  std::vector<float> memory(200);
  int64_t shape[] = {50};
  auto noalias = [&](size_t offset, const int64_t *strides) {
    KilnArg args[] = {tensor(&memory[100], KILN_F32, shape, 1),
                      tensor(&memory[offset], KILN_F32, shape, 1, strides)};
    std::string key = llvm::cantFail(function->key(args, nullptr));
    std::string text = llvm::cantFail(describeKey(function->parameters(), key));
    return text.find("\"noalias\":true") != std::string::npos;
  };
  int64_t backwards[] = {-1};
  EXPECT_TRUE(noalias(50, nullptr));
  EXPECT_FALSE(noalias(51, nullptr));
  EXPECT_TRUE(noalias(150, nullptr));
  EXPECT_FALSE(noalias(149, nullptr));
  EXPECT_FALSE(noalias(150, backwards));
  EXPECT_TRUE(noalias(199, backwards));
}

TEST_F(FactsTest, Scalars) {
  KilnParameter n{"n", KILN_ARG_INTEGER, KILN_NONE, -1, KILN_FACTS_DEFAULT};
  llvm::json::Object one = describe(n, integer(1)), many = describe(n, integer(48)),
                     odd = describe(n, integer(47));
  EXPECT_EQ(one.getInteger("value"), 1);
  EXPECT_EQ(many.getObject("facts")->getInteger("divisor"), 16);
  EXPECT_EQ(attribute(many), "#tile.facts<divisor = 16>");
  EXPECT_EQ(attribute(odd), "");
  EXPECT_TRUE(odd.get("value")->getAsNull().has_value());
  EXPECT_EQ(type(odd), "i64");
  EXPECT_EQ(type(describe({"s", KILN_ARG_FLOAT, KILN_NONE, -1, 0}, real(1))), "f32");
  EXPECT_EQ(type(describe({"s", KILN_ARG_BOOL, KILN_NONE, -1, 0}, integer(1))), "i1");
  EXPECT_EQ(type(describe({"s", KILN_ARG_POINTER, KILN_F16, -1, 0}, pointer(&n))),
            "!tile.pointer<f16>");
}

TEST_F(FactsTest, OtherBytesAreNoKey) {
  KilnParameter parameter{"a", KILN_ARG_TENSOR, KILN_NONE, -1, KILN_FACTS_DEFAULT};
  auto function = llvm::cantFail(Function::create("k", parameter));
  int64_t shape[] = {3};
  std::string key =
      llvm::cantFail(function->key(tensor(function.get(), KILN_I8, shape, 1), nullptr));
  std::mt19937_64 random(std::random_device{}());
  for (int round = 0; round < 2000; ++round) {
    std::string other = key.substr(0, random() % (key.size() + 1));
    for (int i = 0; i < 3 && !other.empty(); ++i)
      other[random() % other.size()] = char(random());
    llvm::consumeError(describeKey(function->parameters(), other).takeError());
  }
  for (const std::string &wrong :
       {std::string(), std::string("x"), key + "12345678", key.substr(8), std::string(16, '\xff')})
    EXPECT_FALSE(bool(llvm::expectedToOptional(describeKey(function->parameters(), wrong))));
}
