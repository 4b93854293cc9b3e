// Threads that add code generators beside one another.
#include "kiln/Support/CodeGenerators.h"
#include "llvm/MC/TargetRegistry.h"
#include "gtest/gtest.h"
#include <thread>
#include <vector>

TEST(CodeGenerators, NoneIsLostThatThreadsAddTogether) {
  constexpr int threads = 8, ofEach = 500;
  // LLVM's list keeps them as long as the process lives.
  static llvm::Target targets[threads][ofEach];
  auto isForNone = [](llvm::Triple::ArchType) { return false; };
  std::vector<std::thread> running;
  for (auto &own : targets)
    running.emplace_back([&own, isForNone] {
      for (llvm::Target &target : own) {
        kiln::registerCodeGenerators([&] {
          llvm::TargetRegistry::RegisterTarget(target, "none", "none", "none", isForNone);
        });
        std::string error;
        EXPECT_EQ(kiln::findCodeGenerator(llvm::Triple("none"), error), nullptr);
        EXPECT_FALSE(error.empty());
      }
    });
  for (std::thread &each : running)
    each.join();
  int found = 0;
  for (const llvm::Target &target : llvm::TargetRegistry::targets())
    found += llvm::StringRef(target.getName()) == "none";
  EXPECT_EQ(found, threads * ofEach);
}
