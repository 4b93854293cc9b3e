// A directory of a test's own, removed with all it holds.
#ifndef KILN_TEST_RUNTIME_SUPPORT_TEMPORARYDIRECTORY_H
#define KILN_TEST_RUNTIME_SUPPORT_TEMPORARYDIRECTORY_H

#include <cstdlib>
#include <filesystem>
#include <string>

namespace kiln::testing {

class TemporaryDirectory {
public:
  TemporaryDirectory() {
    std::string name = (std::filesystem::temp_directory_path() / "kiln-test-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  TemporaryDirectory(const TemporaryDirectory &) = delete;
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(const std::string &name) const { return (path / name).string(); }

  std::filesystem::path path;
};

} // namespace kiln::testing

#endif // KILN_TEST_RUNTIME_SUPPORT_TEMPORARYDIRECTORY_H
