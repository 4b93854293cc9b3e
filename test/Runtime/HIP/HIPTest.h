// Devices of the runtime library that records its calls, for the tests of this folder.
#ifndef KILN_TEST_RUNTIME_HIP_HIPTEST_H
#define KILN_TEST_RUNTIME_HIP_HIPTEST_H

#include "../Support/Kernels.h"
#include "../Support/TemporaryDirectory.h"
#include "kiln/Runtime/Launch/Function.h"
#include "gmock/gmock.h"
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

namespace kiln::testing {

using ::testing::AllOf;
using ::testing::HasSubstr;

class HIPTest : public ::testing::Test {
protected:
  HIPTest() {
    ::setenv("KILN_HIP_LIBRARY", KILN_FAKE_HIP, 1);
    ::setenv("KILN_FAKE_LOG", (temporary / "log").c_str(), 1);
  }
  std::string calls() {
    std::ifstream in(temporary / "log");
    std::string text(std::istreambuf_iterator<char>(in), {});
    std::filesystem::remove(temporary / "log");
    return text;
  }
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
  static std::string reasonInChild(const char *variable, const char *value) {
    TemporaryDirectory place;
    pid_t child = ::fork();
    if (child == 0) {
      ::setenv(variable, value, 1);
      std::ofstream out(place / "reason");
      auto opened = openDevice("hip:0");
      out << (opened ? std::string("opened") : llvm::toString(opened.takeError())) << "\n";
      for (const llvm::json::Value &entry : describeDevices())
        if (entry.getAsObject()->getString("name").value_or("").starts_with("hip"))
          out << "listed: " << entry.getAsObject()->getString("reason").value_or("available").str();
      out.close();
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    std::ifstream in(place / "reason");
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  TemporaryDirectory temporary;
};

} // namespace kiln::testing

#endif // KILN_TEST_RUNTIME_HIP_HIPTEST_H
