// Copies that lag behind one another: what verify() says of their slots is what comes about if each
// copy goes through its trips, waits for slots and meets the others.
#include "Build.h"

using namespace kiln::schedule;
using testing::HasSubstr;

namespace {
/// A loop whose dot copies start in turns: `held` later dots are under way when a slot goes back.
struct Lagging : Product {
  Lagging(int64_t lag, int64_t depth, int64_t held) {
    roles[mma].lag = lag;
    ops[load].pins = {loads, 0, 0, depth, std::nullopt};
    ops[dot].pins = {mma, 0, 0, std::nullopt, held};
    ops[dot].isInTurns = true;
  }
  std::string placed() {
    Violation why;
    std::optional<Solution> solution = placePinned(*this, &why);
    return solution ? "none" : why.str();
  }
};
} // namespace

namespace {
struct Step {
  enum { Get, Meet, Release } kind;
  int64_t slot = 0;
};
} // namespace

/// What a copy does: it meets around each dot, and gives a slot back once the dot that reads it has
/// ended. The first one meets the second at the end, as often as that one met it before.
static std::vector<Step> write(int64_t meetsBefore, int64_t meetsBehind, int64_t held,
                               int64_t trips) {
  std::vector<Step> steps(meetsBefore, {Step::Meet});
  for (int64_t trip = 0; trip < trips; ++trip) {
    steps.insert(steps.end(), {{Step::Get, trip}, {Step::Meet}, {Step::Meet}});
    if (trip >= held)
      steps.push_back({Step::Release, trip - held});
  }
  steps.insert(steps.end(), meetsBehind, {Step::Meet});
  return steps;
}

/// Whether two copies, the second of which lags, get to the end.
static bool goOn(int64_t lag, int64_t depth, int64_t held, int64_t trips) {
  std::vector<Step> steps[] = {write(0, lag, held, trips), write(lag, 0, held, trips)};
  size_t next[] = {0, 0};
  int64_t released[] = {0, 0};
  auto isAtMeeting = [&](int copy) {
    return next[copy] < steps[copy].size() && steps[copy][next[copy]].kind == Step::Meet;
  };
  for (bool moves = true; moves;) {
    bool meet = isAtMeeting(0) && isAtMeeting(1);
    moves = meet;
    for (int copy : {0, 1}) {
      next[copy] += meet;
      for (; next[copy] < steps[copy].size() && !isAtMeeting(copy); ++next[copy]) {
        Step step = steps[copy][next[copy]];
        if (step.kind == Step::Get && step.slot - depth >= std::min(released[0], released[1]))
          break;
        released[copy] += step.kind == Step::Release;
        moves = true;
      }
    }
  }
  return next[0] == steps[0].size() && next[1] == steps[1].size();
}

TEST(Lag, RingsHaveTheSlotsThatLagsAskFor) {
  for (int64_t lag = 0; lag < 7; ++lag)
    for (int64_t held = 0; held < 3; ++held)
      for (int64_t depth = 1; depth < 8; ++depth) {
        std::string said = Lagging(lag, depth, held).placed();
        EXPECT_EQ(said == "none", goOn(lag, depth, held, 12))
            << "lag " << lag << ", " << depth << " slots, " << held << " in flight: " << said;
      }
}

TEST(Lag, SaysTheLeastNumberOfSlots) {
  EXPECT_THAT(Lagging(1, 1, 0).placed(),
              HasSubstr("op 0 'load': depth: expected at least 2, since with fewer slots the roles "
                        "wait for one another: "));
  EXPECT_THAT(Lagging(1, 1, 0).placed(), HasSubstr("all copies of 'mma'"));
  EXPECT_THAT(Lagging(5, 1, 0).placed(), HasSubstr("expected at least 4"));
  EXPECT_THAT(Lagging(5, 2, 1).placed(), HasSubstr("expected at least 5"));
}

TEST(Lag, ADotBesideOthersStandsInTheirTurn) {
  // Two dots that nothing parts are one turn, and two if something does.
  Lagging p(3, 2, 1);
  unsigned second = p.addOp("second", 300, p.tensor, 256);
  p.ops[second] = p.ops[p.dot];
  p.ops[second].name = "second";
  p.ops[second].pins.order = 2;
  p.need(p.load, second);
  EXPECT_THAT(p.placed(), HasSubstr("depth: expected at least"));
  unsigned between = p.addOp("between", 0);
  p.ops[between].pins = {p.mma, 0, 1, std::nullopt, std::nullopt};
  EXPECT_THAT(p.placed(), HasSubstr("depth: expected at least"));
  p.ops[between].partsTurns = true;
  p.ops[p.load].pins.depth = 3;
  EXPECT_EQ(p.placed(), "none");
}

TEST(Lag, WhatAllCopiesMakeTheirLoaderMayNotWaitFor) {
  // The place of each load is what the copies have found in the trip: the last one finds it when
  // the first would be ahead.
  Lagging p(1, 4, 0);
  unsigned place = p.addOp("place", 0);
  p.ops[place].pins = {p.mma, 0, 0, 4, std::nullopt};
  p.ops[place].bufferBytes = 4;
  p.ops[p.dot].pins.order = 1;
  p.need(place, p.load);
  EXPECT_THAT(p.placed(), HasSubstr("skew: expected no skew of role 'mma', whose copies and other "
                                    "roles wait for one another: "));
  p.roles[p.mma].lag = 0;
  EXPECT_EQ(p.placed(), "none");
}
