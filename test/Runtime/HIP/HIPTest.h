// Devices of the runtime library that records its calls, for the tests of this folder.
#ifndef KILN_TEST_RUNTIME_HIP_HIPTEST_H
#define KILN_TEST_RUNTIME_HIP_HIPTEST_H

#include "../Support/DriverTest.h"

namespace kiln::testing {

using ::testing::AllOf;
using ::testing::HasSubstr;

class HIPTest : public DriverTest {
protected:
  HIPTest() : DriverTest("hip", "KILN_HIP_LIBRARY", KILN_FAKE_HIP) {}
  /// `more` continues the list of parameters.
  Artifact artifact(const std::string &code, const std::string &more = "]",
                    const std::string &kernel = "k") {
    llvm::json::Value value =
        llvm::cantFail(llvm::json::parse(R"({"target":"amdgpu:gfx942","kernel":")" + kernel +
                                         R"(","warps":4,"warp_size":64,"shared_bytes":2000,
        "arguments":[{"name":"n","kind":"scalar","type":"i32"}],
        "abi":[{"kind":"scalar","arg":0})" +
                                         more + "}"));
    return Artifact::create(std::move(*value.getAsObject()), {{"binary", code}});
  }
};

} // namespace kiln::testing

#endif // KILN_TEST_RUNTIME_HIP_HIPTEST_H
