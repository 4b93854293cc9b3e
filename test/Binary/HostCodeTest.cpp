// The host's code generator: what is done to a module before it.
#include "kiln/Binary/HostCode.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "gtest/gtest.h"

using namespace kiln;
using namespace llvm;

namespace {
/// A function of one long block with room on the stack at its middle, which other blocks branch to.
std::string writeLongBlock(unsigned instructions) {
  std::string text = "define i32 @f(i32 %x, ptr %p, i1 %c) {\n"
                     "  br i1 %c, label %long, label %other\nother:\n  br label %long\n"
                     "long:\n  %v0 = phi i32 [%x, %0], [7, %other]\n";
  for (unsigned i = 1; i <= instructions; ++i) {
    std::string number = std::to_string(i), before = std::to_string(i - 1);
    text +=
        "  store i32 %v" + before + ", ptr %p\n  %v" + number + " = mul i32 %v" + before + ", %x\n";
  }
  return text + "  ret i32 %v" + std::to_string(instructions) + "\n}\n";
}

std::string writeRoomInEntry(unsigned instructions) {
  std::string text = "define void @f(i32 %x) {\n  %a = alloca i32\n";
  for (unsigned i = 0; i < instructions; ++i)
    text += "  store i32 %x, ptr %a\n";
  text += "  %b = alloca i32\n";
  for (unsigned i = 0; i < instructions; ++i)
    text += "  store volatile i32 %x, ptr %b\n";
  return text + "  ret void\n}\n";
}

/// The function of a module that was prepared for the machine at hand.
Function &prepare(StringRef text, int optLevel, LLVMContext &context,
                  std::unique_ptr<Module> &module) {
  SMDiagnostic error;
  module = parseAssemblyString(text, error, context);
  auto machine = cantFail(lendHostMachine(getHostCPU(), optLevel));
  optimizeForHost(*module, *machine, optLevel);
  EXPECT_FALSE(verifyModule(*module, &errs()));
  EXPECT_FALSE(cantFail(emitHostObject(*module, *machine, nullptr)).empty());
  return *module->getFunction("f");
}
} // namespace

TEST(HostCode, LongBlocksAreCutWhereNothingIsOptimised) {
  LLVMContext context;
  std::unique_ptr<Module> module;
  Function &function = prepare(writeLongBlock(1000), 0, context, module);
  size_t all = 0;
  for (BasicBlock &block : function) {
    EXPECT_LE(block.size(), 258u); // and a phi, and a branch
    all += block.size();
  }
  EXPECT_EQ(all, 2004u + function.size() - 3);
  EXPECT_EQ(function.size(), 3u + 7);
}

TEST(HostCode, LongBlocksStayWhereTheyAreOptimised) {
  LLVMContext context;
  std::unique_ptr<Module> module;
  EXPECT_LE(prepare(writeLongBlock(1000), 3, context, module).size(), 3u);
}

TEST(HostCode, RoomStaysInTheEntry) {
  LLVMContext context;
  std::unique_ptr<Module> module;
  Function &function = prepare(writeRoomInEntry(600), 0, context, module);
  EXPECT_EQ(function.size(), 3u);
  for (BasicBlock &block : function)
    for (Instruction &instruction : block)
      if (auto *room = dyn_cast<AllocaInst>(&instruction)) {
        EXPECT_TRUE(room->isStaticAlloca());
      }
}
