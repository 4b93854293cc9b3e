// Arguments that are wrong: each is an error that names the kernel and the argument.
#include "../Support/Kernels.h"
#include "kiln/Runtime/Launch/Function.h"
#include "gmock/gmock.h"

using namespace kiln;
using namespace kiln::testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {
class ValidationTest : public ::testing::Test {
protected:
  std::string errorOf(KilnParameter parameter, KilnArg arg) {
    return errorOf(llvm::ArrayRef(parameter), llvm::ArrayRef(arg));
  }
  std::string errorOf(llvm::ArrayRef<KilnParameter> parameters, llvm::ArrayRef<KilnArg> args) {
    auto function = llvm::cantFail(Function::create("mykernel", parameters));
    llvm::Error error = llvm::Error::success();
    llvm::StringRef key;
    KilnLaunchStatus status = function->launch(args, nullptr, key, error);
    Failure failure = failureOf(std::move(error));
    EXPECT_EQ(status == KILN_LAUNCH_FAILED, failure.code != KILN_OK);
    if (failure.code != KILN_OK) {
      EXPECT_THAT(failure.text, HasSubstr("kernel 'mykernel'"));
    }
    return failure.text;
  }
  std::string tensorError(KilnArg arg, int32_t dtype = KILN_NONE, int32_t rank = -1) {
    return errorOf({"arg", KILN_ARG_TENSOR, dtype, rank, KILN_FACTS_DEFAULT}, arg);
  }
  alignas(64) char memory[1024] = {};
};
} // namespace

static constexpr int64_t large = int64_t(1) << 40;

TEST_F(ValidationTest, CountOfArguments) {
  EXPECT_THAT(errorOf(llvm::ArrayRef<KilnParameter>(), integer(1)),
              HasSubstr("expected 0 arguments, got 1"));
}

TEST_F(ValidationTest, Kinds) {
  EXPECT_THAT(tensorError(integer(3)), AllOf(HasSubstr("'arg'"), HasSubstr("expected a tensor"),
                                             HasSubstr("got an integer")));
  KilnParameter n{"n", KILN_ARG_INTEGER, KILN_I32, -1, 0}, s{"s", KILN_ARG_FLOAT, 0, -1, 0},
      p{"p", KILN_ARG_POINTER, 0, -1, 0};
  EXPECT_THAT(errorOf(n, real(1.5)), HasSubstr("expected an integer, got a float"));
  EXPECT_THAT(errorOf(n, integer(int64_t(1) << 31)), HasSubstr("i32 can hold, got 2147483648"));
  EXPECT_THAT(errorOf(s, pointer(memory)), HasSubstr("expected a float, got a pointer"));
  EXPECT_THAT(errorOf(s, real(1e300)), HasSubstr("f32 can hold"));
  EXPECT_THAT(errorOf(p, real(1)), HasSubstr("expected a pointer, got a float"));
  EXPECT_EQ(errorOf(s, integer(3)), "");
  KilnArg unknown{};
  unknown.kind = 77;
  EXPECT_THAT(errorOf(n, unknown), HasSubstr("unknown kind"));
}

TEST_F(ValidationTest, RanksAndTypes) {
  int64_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
  EXPECT_THAT(tensorError(tensor(memory, KILN_F32, shape, 3), KILN_NONE, 2),
              HasSubstr("expected a tensor of rank 2, got rank 3"));
  EXPECT_THAT(tensorError(tensor(memory, KILN_F32, shape, 9)), HasSubstr("rank 0 to 8"));
  EXPECT_THAT(tensorError(tensor(memory, KILN_F32, shape, -1)), HasSubstr("rank 0 to 8"));
  EXPECT_THAT(tensorError(tensor(memory, KILN_F16, shape, 1), KILN_F32),
              HasSubstr("expected elements of type f32, got f16"));
  EXPECT_THAT(tensorError(tensor(memory, 99, shape, 1)), HasSubstr("number 99"));
  EXPECT_THAT(tensorError(tensor(memory, KILN_F32, nullptr, 1)), HasSubstr("a shape, got null"));
}

TEST_F(ValidationTest, Devices) {
  int64_t shape[] = {4};
  KilnLaunchOptions options{};
  options.device = reinterpret_cast<KilnDevice *>(llvm::cantFail(openDevice("cpu")));
  KilnParameter parameter{"arg", KILN_ARG_TENSOR, KILN_NONE, -1, 0};
  auto function = llvm::cantFail(Function::create("mykernel", parameter));
  auto keyWith = [&](int32_t type) {
    auto key = function->key(tensor(memory, KILN_F32, shape, 1, nullptr, type), &options);
    return key ? std::string() : failureOf(key.takeError()).text;
  };
  EXPECT_EQ(keyWith(1), "");
  EXPECT_EQ(keyWith(0), "") << "not stated, not checked";
  EXPECT_EQ(keyWith(3), "") << "pinned memory is the host's too";
  EXPECT_THAT(keyWith(8), AllOf(HasSubstr("'arg'"), HasSubstr("'cpu' can reach"),
                                HasSubstr("device type 8 and id 0")));
  // Without a device asked for, the first tensor says which: none knows this one.
  auto key = function->key(tensor(memory, KILN_F32, shape, 1, nullptr, 31), nullptr);
  EXPECT_THAT(failureOf(key.takeError()).text, HasSubstr("no driver knows"));
}

TEST_F(ValidationTest, Extents) {
  int64_t negative[] = {4, -1}, zero[] = {0, 5};
  EXPECT_THAT(tensorError(tensor(memory, KILN_F32, negative, 2)),
              HasSubstr("got -1 along dimension 1"));
  EXPECT_THAT(tensorError(tensor(nullptr, KILN_F32, negative, 1)), HasSubstr("got null"));
  EXPECT_EQ(tensorError(tensor(nullptr, KILN_F32, zero, 2)), "");
}

TEST_F(ValidationTest, AddressSpace) {
  int64_t huge[] = {large, large}, wide[] = {large}, two[] = {2};
  int64_t stride[] = {int64_t(1) << 61}, back[] = {-large};
  EXPECT_THAT(tensorError(tensor(memory, KILN_I8, huge, 2)), HasSubstr("address space"));
  EXPECT_THAT(tensorError(tensor(memory, KILN_F64, wide, 1, stride)), HasSubstr("address space"));
  EXPECT_THAT(tensorError(tensor(memory, KILN_F32, two, 1, stride)), HasSubstr("address space"));
  EXPECT_THAT(tensorError(tensor(reinterpret_cast<void *>(64), KILN_F32, two, 1, back)),
              HasSubstr("address space"));
  EXPECT_THAT(tensorError(tensor(reinterpret_cast<void *>(~uint64_t(63)), KILN_F32,
                                 (const int64_t[]){100}, 1)),
              HasSubstr("address space"));
  EXPECT_EQ(tensorError(tensor(memory, KILN_I8, wide, 1)), "") << "more than 2^31 elements";
}

TEST_F(ValidationTest, ElementsAreAligned) {
  int64_t shape[] = {4};
  EXPECT_THAT(tensorError(tensor(memory + 2, KILN_F32, shape, 1)),
              HasSubstr("multiple of its element size, 4 bytes"));
  EXPECT_EQ(tensorError(tensor(memory + 1, KILN_I8, shape, 1)), "");
  EXPECT_EQ(tensorError(tensor(memory + 1, KILN_F4E2M1FN, shape, 1)), "");
}

TEST_F(ValidationTest, FunctionsThemselves) {
  auto errorWith = [&](KilnParameter parameter) {
    auto function = Function::create("mykernel", parameter);
    return function ? std::string() : failureOf(function.takeError()).text;
  };
  EXPECT_THAT(errorWith({"a", 9, 0, -1, 0}), AllOf(HasSubstr("'mykernel'"), HasSubstr("'a'")));
  EXPECT_NE(errorWith({"a", KILN_ARG_TENSOR, 99, -1, 0}), "");
  EXPECT_NE(errorWith({"a", KILN_ARG_TENSOR, 0, 9, 0}), "");
  EXPECT_NE(errorWith({"a", KILN_ARG_INTEGER, KILN_F32, -1, 0}), "");
  EXPECT_NE(errorWith({"a", KILN_ARG_FLOAT, KILN_I32, -1, 0}), "");
}

//===- What an executable was promised ------------------------------------------------------===//

TEST_F(ValidationTest, PromisesOfAnExecutableAreKept) {
  auto load = [](const std::string &argument) {
    return llvm::cantFail(llvm::cantFail(openDevice("cpu"))
                              ->load(kernelArtifact("nogrid", R"({"arguments":[{"name":"a",)" +
                                                                  argument + R"(}],"abi":[]})")));
  };
  auto errorWith = [&](const std::string &argument, KilnArg arg) {
    KilnLaunchOptions options = gridOf(0);
    return failureOf(launchExecutable(*load(argument), arg, &options)).text;
  };
  int64_t shape[] = {8, 20}, strides[] = {20, 1}, other[] = {21, 1};
  std::string view = R"("kind":"view","type":"f32",)";
  KilnArg fine = tensor(memory, KILN_F32, shape, 2, strides);
  EXPECT_EQ(errorWith(view + R"("shape":[8,null],"strides":[null,1])", fine), "");
  EXPECT_THAT(errorWith(view + R"("shape":[9,null],"strides":[null,1])", fine),
              AllOf(HasSubstr("kernel 'nogrid': argument 'a'"), HasSubstr("expected extent 9")));
  EXPECT_THAT(errorWith(view + R"("shape":[null,null],"strides":[null,2])", fine),
              HasSubstr("expected stride 2"));
  std::string open = view + R"("shape":[null,null],"strides":[null,null],"facts":)";
  EXPECT_EQ(errorWith(open + R"({"pointer":16,"strides":[16,4],"extents":[8,0]})", fine), "");
  EXPECT_THAT(errorWith(open + R"({"extents":[0,16]})", fine), HasSubstr("multiple of 16"));
  int64_t none[] = {8, 0};
  KilnLaunchOptions some = gridOf(1);
  KilnArg empty = tensor(memory, KILN_F32, none, 2, strides);
  std::string sixteen = open + R"({"extents":[8,16]})";
  EXPECT_EQ(errorWith(sixteen, empty), "") << "no program runs";
  EXPECT_THAT(failureOf(launchExecutable(*load(sixteen), empty, &some)).text,
              HasSubstr("a positive multiple of 16 along dimension 1, got 0"));
  EXPECT_THAT(errorWith(open + R"({"strides":[16,4]})", tensor(memory, KILN_F32, shape, 2, other)),
              HasSubstr("multiple of 16 bytes"));
  EXPECT_THAT(
      errorWith(open + R"({"pointer":16})", tensor(memory + 4, KILN_F32, shape, 2, strides)),
      HasSubstr("address that is a multiple of 16"));
  int64_t far[] = {large, 1};
  EXPECT_THAT(errorWith(open + R"({"index32":true})", tensor(memory, KILN_F32, shape, 2, far)),
              HasSubstr("2^31 bytes"));
  EXPECT_THAT(errorWith(open + "{}", tensor(memory, KILN_F16, shape, 2)),
              HasSubstr("expected elements of type f32, got f16"));
  EXPECT_THAT(errorWith(R"("kind":"scalar","type":"i64","facts":{"divisor":16})", integer(17)),
              HasSubstr("expected a multiple of 16, got 17"));
}
