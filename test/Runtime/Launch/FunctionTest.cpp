// The table of specialisations: misses, hits, packing, threads.
#include "kiln/Runtime/Launch/Function.h"
#include "../Support/Kernels.h"
#include "gmock/gmock.h"
#include <random>
#include <thread>

using namespace kiln;
using namespace kiln::testing;
using ::testing::HasSubstr;

namespace {
class FunctionTest : public ::testing::Test {
protected:
  FunctionTest() {
    std::vector<KilnParameter> parameters;
    for (const char *name : {"x", "y", "z"})
      parameters.push_back({name, KILN_ARG_TENSOR, KILN_F32, 1, KILN_FACTS_DEFAULT});
    function = llvm::cantFail(Function::create("add", parameters));
    Device &cpu = *llvm::cantFail(openDevice("cpu"));
    executable = llvm::cantFail(cpu.load(addArtifact()));
    doubling = llvm::cantFail(cpu.load(addArtifact(0)));
  }

  KilnLaunchStatus launch(llvm::ArrayRef<KilnArg> args,
                          const KilnLaunchOptions *options = nullptr) {
    llvm::Error error = llvm::Error::success();
    KilnLaunchStatus status = function->launch(args, options, key, error);
    failure = failureOf(std::move(error));
    return status;
  }

  /// A launch that compiles on a miss, as a front end does.
  bool run(llvm::ArrayRef<KilnArg> args, const KilnLaunchOptions *options = nullptr) {
    KilnLaunchStatus status = launch(args, options);
    if (status == KILN_LAUNCH_MISS) {
      ++misses;
      llvm::cantFail(function->insert(key.str(), executable));
      status = launch(args, options);
    }
    return status == KILN_LAUNCH_OK;
  }

  std::unique_ptr<Function> function;
  ExecutablePtr executable, doubling; ///< z = x + y, z = x + x
  llvm::StringRef key;
  Failure failure;
  int misses = 0;
};

struct Vectors {
  explicit Vectors(int64_t n) : shape{n}, x(n), y(n), z(n, -1) {
    std::mt19937 random(std::random_device{}());
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < n; ++i) {
      x[i] = normal(random);
      y[i] = normal(random);
    }
  }
  std::vector<KilnArg> args() {
    return {tensor(x.data(), KILN_F32, shape, 1), tensor(y.data(), KILN_F32, shape, 1),
            tensor(z.data(), KILN_F32, shape, 1)};
  }
  bool isRight() const {
    for (size_t i = 0; i < x.size(); ++i)
      if (z[i] != x[i] + y[i])
        return false;
    return true;
  }
  bool isDoubled() const {
    for (size_t i = 0; i < x.size(); ++i)
      if (z[i] != x[i] + x[i])
        return false;
    return true;
  }
  int64_t shape[1];
  std::vector<float> x, y, z;
};
} // namespace

TEST_F(FunctionTest, MissThenHit) {
  Vectors a(1000), b(1000), c(1024);
  EXPECT_EQ(launch(a.args()), KILN_LAUNCH_MISS);
  llvm::cantFail(function->insert(key.str(), executable));
  EXPECT_EQ(launch(a.args()), KILN_LAUNCH_OK);
  EXPECT_TRUE(a.isRight());
  EXPECT_EQ(launch(b.args()), KILN_LAUNCH_OK) << "the same facts";
  EXPECT_TRUE(b.isRight());
  EXPECT_EQ(launch(c.args()), KILN_LAUNCH_MISS) << "an extent is a multiple of 16";
  function->clear();
  EXPECT_EQ(launch(a.args()), KILN_LAUNCH_MISS);
}

TEST_F(FunctionTest, StridedAndEmptyTensors) {
  Vectors a(300);
  int64_t shape[] = {100}, forwards[] = {3}, backwards[] = {-1}, none[] = {0};
  std::vector<KilnArg> args{tensor(a.x.data(), KILN_F32, shape, 1, forwards),
                            tensor(&a.y[99], KILN_F32, shape, 1, backwards),
                            tensor(a.z.data(), KILN_F32, shape, 1, forwards)};
  EXPECT_TRUE(run(args)) << failure.text;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(a.z[3 * i], a.x[3 * i] + a.y[99 - i]);
    EXPECT_EQ(a.z[3 * i + 1], -1);
  }
  std::vector<KilnArg> empty(3, tensor(nullptr, KILN_F32, none, 1));
  EXPECT_TRUE(run(empty)) << "zero-size tensors need no memory and launch nothing";
}

TEST_F(FunctionTest, TheGridCanBePinned) {
  Vectors a(1000);
  KilnLaunchOptions options = gridOf(2);
  EXPECT_TRUE(run(a.args(), &options));
  EXPECT_EQ(a.z[127], a.x[127] + a.y[127]);
  EXPECT_EQ(a.z[128], -1) << "two programs of 64 elements ran";
  KilnLaunchOptions nothing = gridOf(0);
  Vectors b(1000);
  EXPECT_TRUE(run(b.args(), &nothing));
  EXPECT_EQ(b.z[0], -1);
}

TEST_F(FunctionTest, VariantsAreApart) {
  Vectors a(10);
  for (uint64_t variant = 0; variant < 100; ++variant) {
    KilnLaunchOptions options{};
    options.variant = variant * 0x100000001;
    EXPECT_TRUE(run(a.args(), &options));
    EXPECT_TRUE(run(a.args(), &options));
  }
  EXPECT_EQ(misses, 100);
}

TEST_F(FunctionTest, ALaterInsertReplaces) {
  Vectors a(10);
  EXPECT_TRUE(run(a.args()));
  std::string same = llvm::cantFail(function->key(a.args(), nullptr));
  EXPECT_TRUE(a.isRight());
  EXPECT_EQ(doubling->UseCount(), 1u);
  llvm::cantFail(function->insert(same, doubling));
  EXPECT_EQ(doubling->UseCount(), 2u);
  EXPECT_TRUE(run(a.args()));
  EXPECT_TRUE(a.isDoubled());
  EXPECT_EQ(misses, 1);
}

TEST_F(FunctionTest, ShapesTakeTurns) {
  Vectors a(10), b(32);
  EXPECT_TRUE(run(b.args()));
  std::string key = llvm::cantFail(function->key(a.args(), nullptr));
  llvm::cantFail(function->insert(key, doubling));
  for (int i = 0; i < 10; ++i) {
    a.z.assign(10, -1), b.z.assign(32, -1);
    EXPECT_TRUE(run(a.args()) && run(b.args()) && run(b.args()));
    EXPECT_TRUE(a.isDoubled() && b.isRight());
  }
  EXPECT_EQ(misses, 1);
}

TEST_F(FunctionTest, WhatWasReplacedIsNotFoundAgain) {
  Vectors a(10), b(32);
  EXPECT_TRUE(run(a.args()) && run(b.args()));
  std::string key = llvm::cantFail(function->key(a.args(), nullptr));
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      Vectors a(10), b(32);
      while (!done)
        for (Vectors *each : {&a, &b}) { // in turns: each is looked for in the table
          llvm::StringRef missed;
          llvm::Error error = llvm::Error::success();
          EXPECT_EQ(function->launch(each->args(), nullptr, missed, error), KILN_LAUNCH_OK);
          llvm::cantFail(std::move(error));
        }
    });
  int wrong = 0;
  for (int round = 0; round < 20000; ++round) {
    llvm::cantFail(function->insert(key, round % 2 ? executable : doubling));
    EXPECT_TRUE(run(a.args()));
    wrong += !(round % 2 ? a.isRight() : a.isDoubled());
  }
  done = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(FunctionTest, InsertRefusesWhatTheKeyCannotRun) {
  Vectors a(10);
  std::string right = llvm::cantFail(function->key(a.args(), nullptr));
  EXPECT_THAT(failureOf(function->insert("short", executable)).text, HasSubstr("launch key"));
  EXPECT_THAT(failureOf(function->insert(right + "12345678", executable)).text,
              HasSubstr("takes the arguments"));
  ExecutablePtr count =
      llvm::cantFail(llvm::cantFail(openDevice("cpu"))->load(countArtifact("nogrid")));
  EXPECT_THAT(failureOf(function->insert(right, count)).text, HasSubstr("'nogrid'"));
  // One whose argument has more dimensions than the key's would be read beyond its end.
  std::string arguments, abi = R"({"kind":"stride","arg":0,"dim":1})";
  for (int i = 0; i < 3; ++i)
    arguments +=
        std::string(i ? "," : "") +
        R"({"name":"x","kind":"view","type":"f32","shape":[null,null],"strides":[null,1]})";
  ExecutablePtr deep =
      llvm::cantFail(llvm::cantFail(openDevice("cpu"))
                         ->load(kernelArtifact("nogrid", R"({"arguments":[)" + arguments +
                                                             R"(],"abi":[)" + abi + "]}")));
  EXPECT_THAT(failureOf(function->insert(right, deep)).text, HasSubstr("takes the arguments"));
}

TEST_F(FunctionTest, ManyThreadsLaunchAndInsert) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      std::mt19937 random(t);
      for (int round = 0; round < 500; ++round) {
        Vectors a(1 + random() % 100);
        KilnLaunchOptions options{};
        options.variant = random() % 300;
        llvm::StringRef missed;
        llvm::Error error = llvm::Error::success();
        if (function->launch(a.args(), &options, missed, error) == KILN_LAUNCH_MISS) {
          llvm::cantFail(function->insert(missed.str(), executable));
          if (function->launch(a.args(), &options, missed, error) != KILN_LAUNCH_OK)
            ++wrong;
        }
        llvm::cantFail(std::move(error));
        wrong += !a.isRight();
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(FunctionTest, ExecutablesLaunchByTheirOwnMetadata) {
  Vectors a(777);
  EXPECT_EQ(failureOf(launchExecutable(*executable, a.args(), nullptr)).text, "");
  EXPECT_TRUE(a.isRight());
}
