// Records as programs leave them, and as no program should.
#include "kiln/Runtime/Device/Messages.h"
#include "../Support/Kernels.h"
#include "kiln/Runtime/Device/Plan.h"
#include "gmock/gmock.h"
#include <cstring>
#include <random>
#include <thread>

using namespace kiln;
using namespace kiln::testing;
using ::testing::HasSubstr;

namespace {
const char *const everything = R"([
  {"kind":"line","text":"here"},
  {"kind":"real","text":"x"},
  {"kind":"signed","text":"%d","shape":[2,3]},
  {"kind":"unsigned","text":"u","shape":[6]},
  {"kind":"hex","text":"h","digits":4},
  {"kind":"assert","text":"x < n","file":"k.py","line":7,"column":3},
  {"kind":"assert","text":""}])";
enum Number { Line = 1, Real, Signed, Unsigned, Hex, Assert, Bare };

std::shared_ptr<const MessageTable> tableOf(const std::string &text) {
  llvm::json::Value value = llvm::cantFail(llvm::json::parse(text));
  return llvm::cantFail(MessageTable::parse("k", *value.getAsArray()));
}

/// Memory for `count` records, written as a kernel writes it.
class Memory {
public:
  explicit Memory(uint64_t count)
      : bytes(sizeof(MessageHeader) + count * sizeof(MessageRecord)),
        memory(std::aligned_alloc(64, (bytes + 63) / 64 * 64)), buffer(memory, bytes) {}
  ~Memory() { std::free(memory); }

  void leave(uint32_t message, uint64_t value = 0, uint32_t element = 0, uint32_t x = 0,
             uint32_t y = 0, uint32_t z = 0) {
    uint64_t at = __atomic_fetch_add(&header()->claimed, 1, __ATOMIC_RELAXED);
    if (at < header()->capacity)
      records()[at] = {message, {x, y, z}, element, 0, value};
    else
      __atomic_fetch_add(&header()->dropped, 1, __ATOMIC_RELAXED);
  }
  MessageHeader *header() { return static_cast<MessageHeader *>(memory); }
  MessageRecord *records() { return reinterpret_cast<MessageRecord *>(header() + 1); }

  const uint64_t bytes;
  void *const memory;
  MessageBuffer buffer;
};

uint64_t bitsOf(double value) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}
} // namespace

TEST(Messages, AreSpeltAsTheHostSpellsThem) {
  auto table = tableOf(everything);
  Memory memory(16);
  memory.leave(Line, 99, 99, 4, 5, 6);
  memory.leave(Real, bitsOf(0.1f));
  memory.leave(Real, bitsOf(-std::numeric_limits<double>::quiet_NaN()));
  memory.leave(Real, bitsOf(-INFINITY));
  memory.leave(Signed, uint64_t(-7), 5);
  memory.leave(Unsigned, uint64_t(-7), 5);
  memory.leave(Hex, 0xbeef);
  memory.leave(Hex, 0xf);
  Messages found = memory.buffer.take(*table);
  EXPECT_EQ(found.lines, "(4, 5, 6) here\n"
                         "(0, 0, 0) x: 0.100000001\n"
                         "(0, 0, 0) x: nan\n"
                         "(0, 0, 0) x: -inf\n"
                         "(0, 0, 0) [1, 2] %d: -7\n"
                         "(0, 0, 0) [5] u: 18446744073709551609\n"
                         "(0, 0, 0) h: 0xbeef\n"
                         "(0, 0, 0) h: 0x000f\n");
  EXPECT_EQ(found.failure, "");
  EXPECT_EQ(found.dropped, 0u);
  EXPECT_EQ(memory.buffer.take(*table).lines, "") << "what was taken is gone";
  memory.leave(Line);
  EXPECT_EQ(memory.buffer.take(*table).lines, "(0, 0, 0) here\n") << "the room is there again";
}

/// Threads come in any order; each writes its own elements in the program's.
TEST(Messages, ElementsComeInTheTensorsOrder) {
  auto table = tableOf(everything);
  Memory memory(32);
  // Two turns of a loop that prints u and then a line, by two threads of which one is ahead.
  memory.leave(Unsigned, 11, 1);
  memory.leave(Unsigned, 21, 1);
  memory.leave(Unsigned, 10, 0);
  memory.leave(Line);
  memory.leave(Unsigned, 20, 0);
  memory.leave(Line);
  memory.leave(Unsigned, 30, 0, 1);
  EXPECT_EQ(memory.buffer.take(*table).lines, "(0, 0, 0) [0] u: 10\n"
                                              "(0, 0, 0) [1] u: 11\n"
                                              "(0, 0, 0) [0] u: 20\n"
                                              "(0, 0, 0) [1] u: 21\n"
                                              "(0, 0, 0) here\n"
                                              "(0, 0, 0) here\n"
                                              "(1, 0, 0) [0] u: 30\n");
}

TEST(Messages, TheFirstProgramsAssertionIsTheOneThatFailed) {
  auto table = tableOf(everything);
  Memory memory(8);
  memory.leave(Bare, 0, 0, 0, 0, 1);
  memory.leave(Assert, 0, 0, 3, 1, 0);
  memory.leave(Line);
  memory.leave(Bare, 0, 0, 3, 1, 0);
  Messages found = memory.buffer.take(*table);
  EXPECT_EQ(found.failure, "assertion failed: x < n at k.py:7:3 in program (3, 1, 0)");
  EXPECT_EQ(found.lines, "(0, 0, 0) here\n");
  memory.leave(Bare, 0, 0, 9);
  EXPECT_EQ(memory.buffer.take(*table).failure, "assertion failed in program (9, 0, 0)");
}

TEST(Messages, WhatFindsNoRoomIsCounted) {
  auto table = tableOf(everything);
  Memory memory(4);
  std::vector<std::thread> threads;
  for (uint32_t thread = 0; thread < 8; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 1000; ++i)
        memory.leave(Line, 0, 0, thread);
    });
  for (std::thread &thread : threads)
    thread.join();
  Messages found = memory.buffer.take(*table);
  EXPECT_EQ(std::count(found.lines.begin(), found.lines.end(), '\n'), 4);
  EXPECT_EQ(found.dropped, 7996u);
  EXPECT_EQ(memory.buffer.take(*table).dropped, 0u);
  ::testing::internal::CaptureStderr();
  writeMessages(*table, found);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "kernel 'k': 7996 lines that it printed found no room and are lost\n");
}

/// A kernel that went wrong may have written anything anywhere.
TEST(Messages, CorruptRecordsDoNoHarm) {
  auto table = tableOf(everything);
  Memory memory(64);
  unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  for (int turn = 0; turn < 200; ++turn) {
    auto *words = static_cast<uint64_t *>(memory.memory);
    for (uint64_t i = 0; i < memory.bytes / 8; ++i)
      words[i] = turn % 2 ? random() : random() & 0x0000000700000007;
    memory.buffer.take(*table);
    EXPECT_EQ(memory.header()->capacity, 64u);
  }
  memory.header()->claimed = ~uint64_t(0);
  memory.header()->capacity = ~uint64_t(0);
  memory.records()[63] = {Signed, {~0u, ~0u, ~0u}, ~0u, 0, 1};
  memory.records()[7] = {Bare + 1, {}, 0, 0, 0};
  EXPECT_EQ(memory.buffer.take(*table).lines,
            "(4294967295, 4294967295, 4294967295) [1, 0] %d: 1\n");
}

TEST(Messages, MetadataIsNotTrusted) {
  auto reasonOf = [](const std::string &messages) {
    auto plan = LaunchPlan::parse(kernelArtifact(
        "nogrid", R"({"arguments":[],"abi":[{"kind":"messages"}])" + messages + "}"));
    return plan ? std::string() : failureOf(plan.takeError()).text;
  };
  EXPECT_EQ(reasonOf(R"(,"messages":[])"), "");
  EXPECT_THAT(reasonOf(""), HasSubstr("metadata of kernel 'nogrid' cannot be used: expected "
                                      "'messages', because a parameter takes them"));
  EXPECT_THAT(reasonOf(R"(,"messages":[{"kind":"shout"}])"),
              HasSubstr("a message of unknown kind 'shout'"));
  EXPECT_THAT(reasonOf(R"(,"messages":[7])"), HasSubstr("a message of unknown kind ''"));
  for (const char *wrong : {R"("shape":[4,0])", R"("shape":[null])", R"("digits":17)"})
    EXPECT_THAT(reasonOf(std::string(R"(,"messages":[{"kind":"hex",)") + wrong + "}]"),
                HasSubstr("a message without proper shape and digits"));
}
