// An error about a kernel's decision stands where the kernel's location says that it was pinned.
// RUN: not tile-opt %s --tile-check-decisions --split-input-file 2>&1 | FileCheck %s

// CHECK: k.py:5:3: error: 'tile.kernel' op expected 'tile.cluster' of at most 8 programs on nvptx:sm_90a, got 16
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @clusters() attributes {tile.cluster = array<i64: 16, 1, 1>, tile.warps = 4 : i64} {
    tile.return
  } loc(fused<{tile.cluster = loc("k.py":5:3), tile.warps = loc("k.py":6:3)}>["k.py":2:1])
}

// -----

// Nobody has pinned it: the kernel's own place.
// CHECK: k.py:2:1: error: 'tile.kernel' op expected 'tile.cluster' of at most 8 programs on nvptx:sm_90a, got 32
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
  tile.kernel @clusters() attributes {tile.cluster = array<i64: 32, 1, 1>, tile.warps = 4 : i64} {
    tile.return
  } loc(fused<{tile.warps = loc("k.py":6:3)}>["k.py":2:1])
}
