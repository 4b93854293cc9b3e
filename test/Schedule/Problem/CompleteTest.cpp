// Pins completed by the rule of plain loops.
#include "kiln/Schedule/Problem/Complete.h"
#include "Build.h"

using namespace kiln::schedule;

/// "name@stage" of a role's ops, by order.
static std::string complete(const Problem &problem, unsigned role = 0) {
  Violation why;
  std::optional<Problem> completed = completePins(problem, &why);
  if (!completed)
    return why.str();
  std::string text;
  for (size_t order = 0; order < completed->ops.size(); ++order)
    for (const Op &op : completed->ops)
      if (*op.pins.order == int64_t(order) && op.pins.role.value_or(0) == role)
        text += (text.empty() ? "" : " ") + op.name + "@" + std::to_string(*op.pins.stage);
  return text;
}

TEST(Complete, KeepsTheSourceWhereNothingIsPinned) {
  Build p;
  p.addRole("all");
  unsigned a = p.addOp("a", 0), b = p.addOp("b", 0), c = p.addOp("c", 0);
  p.addOp("d", 0);
  p.need(a, c);
  p.need(c, b, 1);
  EXPECT_EQ(complete(p), "a@0 b@0 c@0 d@0");
}

TEST(Complete, RunsEarlyWhatHasNoStage) {
  Build p;
  p.addRole("all");
  unsigned a = p.addOp("a", 0), b = p.addOp("b", 0), c = p.addOp("c", 0), d = p.addOp("d", 0);
  p.ops[a].pins.stage = 0;
  p.ops[b].pins.stage = 2;
  p.need(a, b);
  p.need(b, c);    // at b's stage
  p.need(b, d, 1); // what the iteration before made, so a stage less
  EXPECT_EQ(complete(p), "a@0 b@2 c@2 d@1");
}

TEST(Complete, OrdersByPinsAndKeepsTheRestBehind) {
  // The loop of attention: the second dot is a stage later, and in front of the softmax.
  Build p;
  p.addRole("mma");
  unsigned getKeys = p.addOp("getKeys", 0), scores = p.addOp("scores", 0);
  unsigned scale = p.addOp("scale", 0), softmax = p.addOp("softmax", 0);
  unsigned getValues = p.addOp("getValues", 0), sum = p.addOp("sum", 0);
  unsigned count = p.addOp("count", 0);
  p.ops[getKeys].isLate = p.ops[getValues].isLate = true;
  p.ops[scores].pins = {{}, 0, 0, {}, {}};
  p.ops[softmax].pins = {{}, 0, 2, {}, {}};
  p.ops[sum].pins = {{}, 1, 1, {}, {}};
  p.need(getKeys, scores);
  p.need(scores, scale);
  p.need(scale, softmax);
  p.need(softmax, sum);
  p.need(getValues, sum);
  p.need(count, count, 1);
  // `scale` has the key of `scores`, and comes behind it. `count` has that of `sum`.
  EXPECT_EQ(complete(p), "getKeys@0 scores@0 scale@0 getValues@1 sum@1 count@0 softmax@0");
}

TEST(Complete, RaisesWhatNeedsALaterOrder) {
  Build p;
  p.addRole("all");
  unsigned a = p.addOp("a", 0), b = p.addOp("b", 0), c = p.addOp("c", 0), d = p.addOp("d", 0);
  p.ops[a].pins = {{}, 0, 1, {}, {}};
  p.ops[b].pins = {{}, 0, 0, {}, {}};
  p.need(a, c); // stands behind b in the source, and needs a
  (void)d;      // stands behind c in the source, and has b's key
  EXPECT_EQ(complete(p), "b@0 d@0 a@0 c@0");
}

TEST(Complete, CompletesEachRoleByItself) {
  Attention p;
  p.ops[p.softmax].pins.role = p.mma;
  p.ops[p.sum].pins.stage = 1;
  p.ops[p.scores].pins.stage = 0;
  EXPECT_EQ(complete(p, p.loads), "keys@0 values@0");
  EXPECT_EQ(complete(p, p.mma), "scores@0 softmax@0 sum@1");
}

TEST(Complete, RefusesPinsThatNeedsExclude) {
  Attention p;
  p.ops[p.softmax].pins = {p.mma, 0, {}, {}, {}};
  p.ops[p.scores].pins = {p.mma, 1, {}, {}, {}};
  EXPECT_EQ(complete(p), "op 2 'softmax': stage: expected at least 1, as 'scores', which it needs, "
                         "is at stage 1, got 0");
  p.ops[p.softmax].pins = {p.mma, 0, 0, {}, {}};
  p.ops[p.scores].pins = {p.mma, 0, 1, {}, {}};
  EXPECT_EQ(complete(p), "op 2 'softmax': order: expected more than 1, that of 'scores', which it "
                         "needs in the same trip by their stages, got 0");
}

TEST(Complete, PutsWhatIsMadeAtALaterStageInFront) {
  Build p;
  p.addRole("all");
  unsigned a = p.addOp("a", 0), b = p.addOp("b", 0);
  p.ops[a].pins.stage = 0;
  p.ops[b].pins.stage = 1;
  p.need(a, b);
  p.need(b, a, 1); // of the iteration before, which is at this stage
  EXPECT_EQ(complete(p), "b@1 a@0");
  p.dependences[1].distance = 2;
  EXPECT_EQ(complete(p), "a@0 b@1");
}
