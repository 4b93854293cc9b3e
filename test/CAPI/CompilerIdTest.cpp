// The compiler's id follows the library's build, and keys follow the id.
#include "Support.h"
#include <dlfcn.h>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace kiln::testing;

/// Id and key of a request, by another copy of the library, in a process of its own.
static std::string idAndKeyOf(const std::string &library, const std::string &out) {
  pid_t child = ::fork();
  if (child == 0) {
    void *handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
    if (!handle)
      ::_exit(1);
    auto id = reinterpret_cast<decltype(&kilnCompilerId)>(::dlsym(handle, "kilnCompilerId"));
    auto key = reinterpret_cast<decltype(&kilnCompileRequestKey)>(
        ::dlsym(handle, "kilnCompileRequestKey"));
    std::string source = copySource;
    KilnCompileRequest request = requestOf(source);
    KilnKey bytes{};
    bool ok = id && key && key(&request, &bytes) == nullptr;
    std::ofstream file(out, std::ios::binary);
    file << text(id()) << std::string(reinterpret_cast<char *>(bytes.bytes), 32);
    file.close();
    ::_exit(ok ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  std::ifstream in(out, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

TEST(CompilerId, IsStableAndFollowsTheBuild) {
  std::string id = text(kilnCompilerId());
  EXPECT_EQ(id.size(), 64u);
  EXPECT_EQ(text(kilnCompilerId()), id);

  TemporaryDirectory temporary;
  std::ifstream in(KILN_TEST_LIBRARY, std::ios::binary);
  std::string library(std::istreambuf_iterator<char>(in), {});
  // The note of the build id: name size 4, id size 20, type 3, "GNU", the id.
  std::string note("\4\0\0\0\24\0\0\0\3\0\0\0GNU\0", 16);
  size_t at = library.find(note);
  ASSERT_NE(at, std::string::npos);
  auto write = [&](const char *name) {
    std::ofstream(temporary / name, std::ios::binary) << library;
    return temporary / name;
  };
  std::string same = idAndKeyOf(write("same.so"), temporary / "out1");
  library[at + note.size()] ^= 1;
  std::string other = idAndKeyOf(write("other.so"), temporary / "out2");
  ASSERT_EQ(same.size(), 96u);
  ASSERT_EQ(other.size(), 96u);
  EXPECT_EQ(same.substr(0, 64), id);
  EXPECT_NE(other.substr(0, 64), id);
  EXPECT_NE(other.substr(64), same.substr(64)) << "a new compiler serves nothing of an old one";
}
