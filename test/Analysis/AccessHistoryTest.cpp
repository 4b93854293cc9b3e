// What clashes with what, byte by byte.
#include "kiln/Analysis/AccessHistory.h"
#include "gtest/gtest.h"
#include <map>
#include <random>

using namespace kiln::analysis;

namespace {
class AccessHistoryTest : public testing::Test {
protected:
  using Kind = Clash::Kind;
  std::optional<Kind> read(Agent thread, size_t first = 0, size_t count = 4) {
    auto clash = history.read(thread, order.now(thread), first, count);
    return clash ? std::optional(clash->kind) : std::nullopt;
  }
  std::optional<Kind> write(Agent thread, const bool *isSame = nullptr) {
    auto clash = history.write(thread, order.now(thread), 0, 4, isSame);
    return clash ? std::optional(clash->kind) : std::nullopt;
  }
  std::optional<Kind> update(Agent thread) {
    auto clash = history.update(thread, order.now(thread), 0, 4);
    return clash ? std::optional(clash->kind) : std::nullopt;
  }
  void tell(Agent from, Agent to) {
    HappensBefore::Place place;
    order.release(from, place);
    order.acquire(to, place);
  }
  HappensBefore order{4};
  AccessHistory history{order, 64};
};
} // namespace

TEST_F(AccessHistoryTest, WhatNobodyHasWrittenIsNotRead) {
  EXPECT_EQ(write(0), std::nullopt);
  EXPECT_EQ(read(0), std::nullopt);
  EXPECT_EQ(read(0, 2, 4), Kind::Unwritten);
}

TEST_F(AccessHistoryTest, ARead) {
  EXPECT_EQ(write(0), std::nullopt);
  EXPECT_EQ(read(1), Kind::AfterWrite);
  tell(0, 1);
  EXPECT_EQ(read(1), std::nullopt);
}

TEST_F(AccessHistoryTest, AnEngineWritesBehindReadsThatAFenceHasEnded) {
  ByteHistory byte;
  Agent queue = order.addQueue();
  auto fill = [&] {
    auto clash =
        byte.write(order, 1, order.start(queue, 1, Proxy::Async), false, Reads::NeedFences);
    return clash ? std::optional(clash->kind) : std::nullopt;
  };
  EXPECT_EQ(fill(), std::nullopt);
  order.end(queue, order.close(queue), 0);
  EXPECT_EQ(byte.read(order, 0, order.now(0)), std::nullopt);
  tell(0, 1);
  order.end(queue, 1, 1);
  EXPECT_EQ(fill(), Kind::BehindFence);
  order.fence(0);
  tell(0, 1);
  EXPECT_EQ(fill(), std::nullopt);
}

TEST_F(AccessHistoryTest, AWriteFollowsAllReads) {
  EXPECT_EQ(write(0), std::nullopt);
  tell(0, 1);
  tell(0, 2);
  EXPECT_EQ(read(1), std::nullopt);
  EXPECT_EQ(read(2), std::nullopt);
  EXPECT_EQ(write(0), Kind::AfterRead);
  tell(2, 0);
  EXPECT_EQ(write(0), Kind::AfterRead) << "the read of thread 1 is not the last, but it counts";
  tell(1, 0);
  EXPECT_EQ(write(0), std::nullopt);
}

TEST_F(AccessHistoryTest, WhoWritesTheSameNeedsNoOrder) {
  const bool same[] = {true, true, true, true};
  EXPECT_EQ(write(0), std::nullopt);
  EXPECT_EQ(write(1), Kind::AfterWrite);
  EXPECT_EQ(write(1, same), std::nullopt);
  EXPECT_EQ(read(1), std::nullopt) << "it has written that itself";
  EXPECT_EQ(read(2), Kind::AfterWrite);
  tell(0, 2);
  EXPECT_EQ(read(2), std::nullopt);
}

TEST_F(AccessHistoryTest, UpdatesNeedNoOrderAmongThemselves) {
  EXPECT_EQ(update(0), Kind::Unwritten);
  EXPECT_EQ(write(0), std::nullopt);
  EXPECT_EQ(update(1), Kind::AfterWrite);
  tell(0, 1);
  tell(0, 2);
  EXPECT_EQ(update(1), std::nullopt);
  EXPECT_EQ(update(2), std::nullopt);
  EXPECT_EQ(read(1), Kind::AfterWrite);
  tell(2, 1);
  EXPECT_EQ(read(1), std::nullopt);
}

TEST_F(AccessHistoryTest, AnEngineReadsBehindAFence) {
  Agent queue = order.addQueue();
  auto start = [&] { return history.read(0, order.start(queue, 0, Proxy::Async), 0, 4); };
  EXPECT_EQ(write(0), std::nullopt);
  auto clash = start();
  ASSERT_TRUE(clash);
  EXPECT_EQ(clash->kind, Kind::BehindFence);
  order.fence(0);
  EXPECT_FALSE(start());
  EXPECT_EQ(write(0), Kind::AfterRead) << "it is still reading";
  order.end(queue, order.close(queue), 0);
  EXPECT_EQ(write(0), std::nullopt);
}

TEST_F(AccessHistoryTest, AnEngineFindsAllUpdatesOrNone) {
  Agent queue = order.addQueue();
  auto start = [&] {
    auto clash = history.read(0, order.start(queue, 0, Proxy::Async), 0, 4);
    return clash ? std::optional(clash->kind) : std::nullopt;
  };
  EXPECT_EQ(write(0), std::nullopt);
  for (Agent thread : {1, 2}) {
    tell(0, thread);
    EXPECT_EQ(update(thread), std::nullopt);
  }
  order.fence(1);
  tell(1, 0);
  tell(2, 0);
  EXPECT_EQ(start(), Kind::BehindFence) << "of thread 2's";
  order.fence(0);
  EXPECT_EQ(start(), std::nullopt);
}

TEST_F(AccessHistoryTest, WhatAnEngineBringsIsThereWhenItsEndIsKnown) {
  Agent queue = order.addQueue();
  EXPECT_FALSE(history.write(0, order.start(queue, 0, Proxy::Async), 0, 4));
  EXPECT_EQ(read(0), Kind::AfterWrite);
  HappensBefore::Place place;
  order.end(queue, order.close(queue), place);
  EXPECT_EQ(read(0), Kind::AfterWrite) << "nobody has told it";
  order.acquire(0, place);
  EXPECT_EQ(read(0), std::nullopt);
}

/// Against all that ever happened, kept whole: every earlier access of a byte must be known.
TEST_F(AccessHistoryTest, RandomAccessesClashAsAllThatEverHappenedDoes) {
  unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  auto draw = [&](unsigned below) { return unsigned(random() % below); };
  struct Past {
    std::vector<Event> reads, writes;
  };
  std::map<size_t, Past> past;
  for (unsigned step = 0; step < 20000; ++step) {
    Agent thread = draw(4);
    if (draw(3) == 0) {
      tell(thread, draw(4));
      continue;
    }
    size_t first = draw(60), count = 1 + draw(4);
    bool writes = draw(3) == 0, clashes = false;
    for (size_t at = first; at < first + count; ++at) {
      Past &byte = past[at];
      auto isUnknown = [&](const Event &event) { return !order.knows(thread, event); };
      clashes |= std::any_of(byte.writes.begin(), byte.writes.end(), isUnknown);
      clashes |= writes ? std::any_of(byte.reads.begin(), byte.reads.end(), isUnknown)
                        : byte.writes.empty();
    }
    Event event = order.now(thread);
    auto clash = writes ? history.write(thread, event, first, count)
                        : history.read(thread, event, first, count);
    ASSERT_EQ(clash.has_value(), clashes) << "at step " << step;
    for (size_t at = first; at < first + count && !clashes; ++at)
      (writes ? past[at].writes : past[at].reads).push_back(event);
  }
}

TEST_F(AccessHistoryTest, AnAccessIsThatOfEachOfItsBytes) {
  unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  auto draw = [&](unsigned below) { return unsigned(random() % below); };
  std::vector<AccessHistory> bytes(64, AccessHistory(order, 1));
  for (unsigned step = 0; step < 5000; ++step) {
    Agent thread = draw(4);
    if (draw(3) == 0) {
      tell(thread, draw(4));
      continue;
    }
    size_t count = draw(2) ? 1 + draw(4) : 1 + draw(32), first = draw(65 - count);
    bool isSame[32];
    for (bool &same : isSame)
      same = draw(8) != 0;
    unsigned kind = draw(4);
    Event event = order.now(thread);
    auto access = [&](AccessHistory &of, size_t at, size_t size, const bool *same) {
      return kind == 0   ? of.read(thread, event, at, size)
             : kind == 1 ? of.write(thread, event, at, size)
             : kind == 2 ? of.write(thread, event, at, size, same)
                         : of.update(thread, event, at, size);
    };
    // What clashes leaves all as it was.
    std::vector<AccessHistory> before = bytes;
    std::optional<Clash> expected;
    for (size_t i = 0; i < count && !expected; ++i)
      if ((expected = access(bytes[first + i], 0, 1, isSame + i)))
        expected->offset = first + i;
    if (expected)
      bytes = before;
    std::optional<Clash> got = access(history, first, count, isSame);
    ASSERT_EQ(got.has_value(), expected.has_value()) << "at step " << step;
    if (got) {
      ASSERT_EQ(got->kind, expected->kind) << "at step " << step;
      ASSERT_EQ(got->offset, expected->offset) << "at step " << step;
      ASSERT_EQ(got->other, expected->other) << "at step " << step;
    }
  }
}
