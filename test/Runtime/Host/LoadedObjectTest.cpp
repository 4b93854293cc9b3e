// Objects become callable, and what cannot be linked is an error.
#include "kiln/Runtime/Host/LoadedObject.h"
#include "../Support/Kernels.h"
#include "kiln/Runtime/Host/Services.h"
#include "gmock/gmock.h"
#include <cmath>
#include <random>

using namespace kiln;
using namespace kiln::testing;
using ::testing::HasSubstr;

TEST(LoadedObject, FindsWhatItDefines) {
  auto object = llvm::cantFail(LoadedObject::load(objectOf("add"), "add"));
  auto grid = object->find<HostGrid>("kiln_grid");
  ASSERT_TRUE(grid && object->find<HostEntry>("kiln_entry"));
  EXPECT_EQ(object->find<HostGrid>("something_else"), nullptr);
  uint64_t slots[] = {0, 129};
  int64_t shape[3] = {};
  grid(slots, shape);
  EXPECT_EQ(shape[0], 3);
}

TEST(LoadedObject, CallsTheMathLibraryAndTheBuiltins) {
  auto object = llvm::cantFail(LoadedObject::load(objectOf("builtins"), "builtins"));
  std::mt19937_64 random(std::random_device{}());
  std::uniform_real_distribution<double> uniform(-70000, 70000);
  std::vector<double> values{0.0,     -0.0,     1.0,      65504,
                             65520,   65519.99, 1e-7,     5.9604644775390625e-8,
                             2.98e-8, INFINITY, -INFINITY};
  for (int i = 0; i < 1000; ++i)
    values.push_back(std::ldexp(uniform(random), -int(random() % 40)));
  std::vector<double> given = values;
  std::vector<uint16_t> halves(values.size());
  uint64_t slots[] = {reinterpret_cast<uint64_t>(values.data()), values.size(),
                      reinterpret_cast<uint64_t>(halves.data())};
  int64_t grid[] = {1, 1, 1};
  EXPECT_EQ(object->find<HostEntry>("kiln_entry")(slots, 0, 1, grid, nullptr, nullptr), 0);
  for (size_t i = 0; i < given.size(); ++i) {
    if (std::isfinite(given[i])) {
      EXPECT_EQ(values[i], std::sin(given[i]));
    }
    // The compiler's own conversion is the reference.
    volatile _Float16 half = _Float16(given[i]);
    _Float16 read = half;
    uint16_t bits;
    std::memcpy(&bits, &read, 2);
    EXPECT_EQ(halves[i], bits) << given[i];
  }
}

TEST(LoadedObject, MissingFunctionsAreNamed) {
  auto object = LoadedObject::load(objectOf("missing"), "missing");
  ASSERT_FALSE(bool(object));
  Failure failure = failureOf(object.takeError());
  EXPECT_EQ(failure.code, KILN_ERROR_UNSUPPORTED);
  EXPECT_THAT(failure.text, HasSubstr("'no_such_function_anywhere'"));
  EXPECT_THAT(failure.text, HasSubstr("'missing'"));
}

TEST(LoadedObject, BytesThatAreNoObjectAreAnError) {
  std::string whole = objectOf("add");
  for (const std::string &bytes : {std::string(), std::string("junk"), whole.substr(0, 100)}) {
    auto object = LoadedObject::load(bytes, "broken");
    ASSERT_FALSE(bool(object));
    EXPECT_NE(failureOf(object.takeError()).code, KILN_OK);
  }
}

TEST(LoadedObject, ManyCanLiveAtOnceAndGo) {
  std::string object = objectOf("add");
  std::vector<std::unique_ptr<LoadedObject>> all;
  for (int i = 0; i < 200; ++i)
    all.push_back(llvm::cantFail(LoadedObject::load(object, "add")));
  for (int i = 0; i < 200; i += 2)
    all[i].reset();
  uint64_t slots[] = {0, 64};
  int64_t shape[3] = {};
  all[199]->find<HostGrid>("kiln_grid")(slots, shape);
  EXPECT_EQ(shape[0], 1);
}
