// Tests of a driver against a stand-in for the vendor's library that records its calls.
#ifndef KILN_TEST_RUNTIME_SUPPORT_DRIVERTEST_H
#define KILN_TEST_RUNTIME_SUPPORT_DRIVERTEST_H

#include "Kernels.h"
#include "TemporaryDirectory.h"
#include "kiln/Runtime/Launch/Function.h"
#include "gmock/gmock.h"
#include <fstream>
#include <functional>
#include <sys/wait.h>
#include <unistd.h>

namespace kiln::testing {

class DriverTest : public ::testing::Test {
protected:
  /// `kind` is what its devices' names begin with; `variable` names the stand-in, `library`.
  DriverTest(std::string kind, const char *variable, const char *library) : kind(std::move(kind)) {
    ::setenv(variable, library, 1);
    ::setenv("KILN_FAKE_LOG", (temporary / "log").c_str(), 1);
  }
  /// What was called since the last time.
  std::string calls() {
    std::string text = read(temporary / "log");
    std::filesystem::remove(temporary / "log");
    return text;
  }
  /// Why there is no first device with this variable of the environment, or "opened"; and what the
  /// list of devices says. In a process of its own, because a driver is opened once.
  std::string reasonInChild(const char *variable, const char *value) {
    return saidInChild(variable, value, [&](std::ostream &out) {
      auto opened = openDevice(kind + ":0");
      out << (opened ? std::string("opened") : llvm::toString(opened.takeError())) << "\n";
      for (const llvm::json::Value &entry : describeDevices())
        if (entry.getAsObject()->getString("name").value_or("").starts_with(kind))
          out << "listed: " << entry.getAsObject()->getString("reason").value_or("available").str();
    });
  }
  /// What a function writes, in such a process.
  std::string saidInChild(const char *variable, const char *value,
                          const std::function<void(std::ostream &)> &function) {
    TemporaryDirectory place;
    pid_t child = ::fork();
    if (child == 0) {
      ::setenv(variable, value, 1);
      std::ofstream out(place / "said");
      function(out);
      out.close();
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
    return read(place / "said");
  }

  TemporaryDirectory temporary;

private:
  static std::string read(const std::string &path) {
    std::ifstream in(path);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  std::string kind;
};

} // namespace kiln::testing

#endif // KILN_TEST_RUNTIME_SUPPORT_DRIVERTEST_H
