// A device of the driver that records its calls, for the tests of this folder.
#ifndef KILN_TEST_RUNTIME_CUDA_CUDATEST_H
#define KILN_TEST_RUNTIME_CUDA_CUDATEST_H

#include "../Support/DriverTest.h"

namespace kiln::testing {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// Sets a variable of the environment for as long as this lives.
class Setting {
public:
  Setting(const char *name, const char *value) : name(name) { ::setenv(name, value, 1); }
  ~Setting() { ::unsetenv(name); }

private:
  const char *name;
};

class CUDATest : public DriverTest {
protected:
  CUDATest() : DriverTest("cuda", "KILN_CUDA_LIBRARY", KILN_FAKE_CUDA) {}
  static Device &device(const char *name = "cuda:0") { return *llvm::cantFail(openDevice(name)); }
  Artifact artifact(const std::string &code, const std::string &more = "",
                    const std::string &kernel = "k") {
    llvm::json::Value value = llvm::cantFail(llvm::json::parse(
        R"({"target":"nvptx:sm_90a","kernel":")" + kernel + R"(","warps":4,"warp_size":32,
        "arguments":[{"name":"p","kind":"pointer","type":"i64"},
                     {"name":"n","kind":"scalar","type":"i64"}],
        "abi":[{"kind":"pointer","arg":0},{"kind":"scalar","arg":1})" +
        more + "}"));
    return Artifact::create(std::move(*value.getAsObject()),
                            {{"asm", code}, {"host", objectOf("add")}});
  }
  Failure run(const Artifact &what, const KilnLaunchOptions *options = nullptr) {
    auto executable = device().load(what);
    if (!executable)
      return failureOf(executable.takeError());
    return failureOf(launchExecutable(**executable, {pointer(address), integer(130)}, options));
  }

  void *address = reinterpret_cast<void *>(0x1000);
};

} // namespace kiln::testing

#endif // KILN_TEST_RUNTIME_CUDA_CUDATEST_H
