// Attention's forward loop, as `tile-decide-stages` asks for it: 128 queries of one head of 128
// against 128 keys a trip.
#ifndef KILN_TEST_SCHEDULE_PROBLEM_ATTENTION_H
#define KILN_TEST_SCHEDULE_PROBLEM_ATTENTION_H

#include "Build.h"

namespace kiln::schedule {

/// On an H200: products run on beside the role that starts them; keys and values come through rings
/// of two slots.
struct HopperAttention : Build {
  unsigned loads = addRole("load"), mma = addRole("mma");
  unsigned tensor = addUnit("matrix units"), lanes = addUnit("lanes");
  unsigned dots = addCounter("dots");
  static constexpr int64_t kTile = 65536, kRow = 512;
  unsigned keys = addLoad("keys", 1206), left = addDot("left", 512), right = addDot("right", 512),
           masked = addLanes("masked", 0, 0, kTile), most = addLanes("most", 128, 180, kRow),
           highest = addLanes("highest", 1, 5, kRow), fall = addLanes("fall", 1, 5, kRow),
           scaledFall = addLanes("scaled fall", 1, 5, kRow),
           shrink = addLanes("shrink", 8, 12, kRow), scaled = addLanes("scaled", 1, 5, kRow),
           down = addLanes("down", 1, 5, kRow), exponents = addLanes("exponents", 128, 132, kTile),
           weights = addLanes("weights", 1024, 1028, kTile), sum = addLanes("sum", 128, 180, kRow),
           less = addLanes("less", 1, 5, kRow), total = addLanes("total", 1, 5, kRow),
           rounded = addLanes("rounded", 128, 132, kTile / 2),
           shrunk = addLanes("shrunk", 128, 132, kTile), values = addLoad("values", 1718),
           out = addDot("out", 1024);

  HopperAttention() {
    roles[mma].registerBytes = 221184;
    mostStages = 3;
    need(keys, left);
    dependences.push_back({left, right, 0, Dependence::Chain, {}, /*isInPlace=*/true});
    need(keys, right);
    for (auto [from, to] : {std::pair(right, masked),
                            {masked, most},
                            {most, highest},
                            {highest, fall},
                            {fall, scaledFall},
                            {scaledFall, shrink},
                            {highest, scaled},
                            {scaled, down},
                            {down, exponents},
                            {masked, exponents},
                            {exponents, weights},
                            {weights, sum},
                            {shrink, less},
                            {sum, total},
                            {less, total},
                            {weights, rounded},
                            {shrink, shrunk},
                            {values, out},
                            {rounded, out}})
      need(from, to);
    for (auto [from, to] :
         {std::pair(highest, highest), {highest, fall}, {total, less}, {out, shrunk}})
      need(from, to, 1);
    dependences.push_back({shrunk, out, 0, Dependence::Value, {}, /*isInPlace=*/true});
  }

private:
  unsigned addLoad(const char *name, int64_t latency) {
    Op &op = ops[addOp(name, latency)];
    op.completion = Completion::Signalled;
    op.bufferBytes = 32784;
    op.pins.role = loads;
    op.pins.depth = 2;
    return ops.size() - 1;
  }
  unsigned addDot(const char *name, int64_t cycles) {
    Op &op = ops[addOp(name, cycles + 36, tensor, cycles)];
    op.completion = Completion::Counted;
    op.registerBytes = kTile;
    op.pins.role = mma;
    return ops.size() - 1;
  }
  unsigned addLanes(const char *name, int64_t cycles, int64_t latency, int64_t bytes) {
    unsigned op = addOp(name, latency);
    if (cycles)
      ops[op].reservations.push_back({lanes, cycles});
    ops[op].registerBytes = bytes;
    ops[op].pins.role = mma;
    return op;
  }
};

} // namespace kiln::schedule

#endif // KILN_TEST_SCHEDULE_PROBLEM_ATTENTION_H
