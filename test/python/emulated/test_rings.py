"""What roles may do with rings beyond one loop of loads: use a slot in nested loops and conditions,
and run as many trips as memory says. On the emulated chip, against float64."""

from __future__ import annotations

import numpy as np
import pytest
from pinned import build

KERNEL = """
#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n64k16", f16, f32>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#one = #tile.layout<register = []>
!view = !tile.view<?x?xf16>
!box = !tile.buffer<64x64xf16, #rows>
!sums = tensor<64x64xf32, #acc>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @sums(%a: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>, %counts: !tile.view<?xi32>)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>]} grid {
  %c1 = arith.constant 1 : index
  tile.grid %c1
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !sums
  // How many tiles there are.
  %t1 = tile.load %counts[%c0] : !tile.view<?xi32> -> tensor<1xi32, #one>
  %t0 = tile.reshape %t1 : tensor<1xi32, #one> -> tensor<i32, #one>
  %t32 = tile.to_scalar %t0 : tensor<i32, #one>
  %tiles = arith.index_cast %t32 : i32 to index
  %sum = scf.for %i = %c0 to %tiles step %c1 iter_args(%s = %zero) -> !sums {
    %row = arith.muli %i, %c64 : index
    %x = tile.load %a[%row, %c0] {atom = #copy, buffer = !box, stage = 0, role = "load"}
        : !view -> tensor<64x64xf16>
    // How often this one counts.
    %after = arith.addi %i, %c1 : index
    %n1 = tile.load %counts[%after] : !tile.view<?xi32> -> tensor<1xi32, #one>
    %n0 = tile.reshape %n1 : tensor<1xi32, #one> -> tensor<i32, #one>
    %n32 = tile.to_scalar %n0 : tensor<i32, #one>
    %times = arith.index_cast %n32 : i32 to index
    %isOdd = arith.trunci %n32 : i32 to i1
    %more = scf.if %isOdd -> !sums {
      %d = tile.dot %x, %x, %s transpose_b {atom = #mma, role = "mma", in_flight = 0}
         : tensor<64x64xf16>, tensor<64x64xf16> -> !sums
      scf.yield %d : !sums
    } else {
      %all = scf.for %j = %c0 to %times step %c1 iter_args(%u = %s) -> !sums {
        %d = tile.dot %x, %x, %u transpose_b {atom = #mma, role = "mma", in_flight = FLIGHT}
           : tensor<64x64xf16>, tensor<64x64xf16> -> !sums
        scf.yield %d : !sums
      }
      scf.yield %all : !sums
    }
    scf.yield %more : !sums
  } {tile.depth = 2}
  tile.store %sum, %c[%c0, %c0] {role = "mma"} : !sums, !tile.view<?x?xf32>
  tile.return
}
}
"""


@pytest.fixture(scope="module", params=[0, 1])
def sums(request):
    return build(KERNEL.replace("FLIGHT", str(request.param)).encode(), "sm_90a")


@pytest.mark.parametrize("counts", [[], [1], [0], [4], [2, 3, 0, 0, 6, 1, 2]])
def test_slots_in_nested_loops_of_loaded_bounds(sums, rng, counts: list[int]) -> None:
    a = rng.integers(-2, 3, (64 * max(len(counts), 1), 64)).astype(np.float16)
    out = np.full((64, 64), np.nan, np.float32)
    sums(a, out, np.array([len(counts), *counts, 7], np.int32))
    tiles = a.astype(np.float64).reshape(-1, 64, 64)
    want = np.zeros((64, 64))
    for tile, count in zip(tiles, counts, strict=False):
        want += (1 if count % 2 else count) * (tile @ tile.T)
    np.testing.assert_array_equal(out, want)


def as_while(text: str) -> str:
    """The same, whose outer loop is an scf.while."""
    for old, new in {
        "  %sum = scf.for %i = %c0 to %tiles step %c1 iter_args(%s = %zero) -> !sums {": """
  %ends:2 = scf.while (%s0 = %zero, %i0 = %c0) : (!sums, index) -> (!sums, index) {
    %goes = arith.cmpi slt, %i0, %tiles : index
    scf.condition(%goes) %s0, %i0 : !sums, index
  } do {
  ^bb0(%s: !sums, %i: index):""",
        'stage = 0, role = "load"}': 'depth = 2, role = "load"}',
        "    scf.yield %more : !sums\n  } {tile.depth = 2}": "    scf.yield %more, %after : !sums, index\n  }",
        "tile.store %sum,": "tile.store %ends#0,",
    }.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize("flight", [0, 1])
def test_loads_in_a_while(rng, flight: int) -> None:
    kernel = build(as_while(KERNEL.replace("FLIGHT", str(flight))).encode(), "sm_90a")
    for counts in ([], [1], [2, 3, 0, 6, 1]):
        test_slots_in_nested_loops_of_loaded_bounds(kernel, rng, counts)


HANDED = """
#copy = #nvptx.tma
#mma = #nvptx.wgmma<"m64n64k16", f16, f32>
#rows = #tile.layout<offset = [[0,1],[0,2],[0,4],[0,8],[0,16],[0,32],[1,8],[2,16],[4,32],[8,0],[16,0],[32,0]]>
#acc = #tile.layout<register = [[0,1],[8,0],[0,8],[0,16],[0,32]], lane = [[0,2],[0,4],[1,0],[2,0],[4,0]], warp = [[16,0],[32,0]]>
#wide = #tile.layout<register = [[0,1],[0,2],[16,0],[32,0]], lane = [[0,4],[0,8],[0,16],[0,32],[1,0]], warp = [[2,0],[4,0],[8,0]]>
!view = !tile.view<?x?xf16>
!box = !tile.buffer<64x64xf16, #rows>
!sums = tensor<64x64xf32, #acc>
!post = tensor<64x64xf32, #LAYOUT>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>
module attributes {tile.target = #nvptx.target<chip = "sm_90a">} {
tile.kernel @handed(%a: !view {tile.facts = #facts}, %c: !tile.view<?x?xf32>, %d: !tile.view<?x?xf32>)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>,
                              #tile.role<"post", warps = WARPS>]} grid {
  %c1 = arith.constant 1 : index
  tile.grid %c1
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !sums
  %none = arith.constant dense<0.0> : !post
  %n = tile.dim %a, 0 : !view
  %total:2 = scf.for %i = %c0 to %n step %c64 iter_args(%s = %zero, %most = %none) -> (!sums, !post) {
    %x = tile.load %a[%i, %c0] {atom = #copy, buffer = !box, stage = 0, role = "load"}
        : !view -> tensor<64x64xf16>
    %p = tile.dot %x, %x, %zero transpose_b {atom = #mma, stage = 0, role = "mma", in_flight = 0}
       : tensor<64x64xf16>, tensor<64x64xf16> -> !sums
    %q = arith.negf %p : !sums
    %sum = arith.addf %s, %p {tile.stage = STAGE, tile.role = "mma"} : !sums
CONVERT
    %more = arith.maximumf %most, %r {tile.stage = 0, tile.role = "post"} : !post
    tile.store %r, %c[%i, %c0] {stage = LATE, role = "post"} : !post, !tile.view<?x?xf32>
    scf.yield %sum, %more : !sums, !post
  } {tile.depth = DEPTH}
  tile.store %total#0, %d[%c0, %c0] {role = "mma"} : !sums, !tile.view<?x?xf32>
  // A loop's result goes over too.
  %last = tile.convert_layout %total#0 {role = "post"} : !sums -> !post
  %best = arith.addf %total#1, %last {tile.role = "post"} : !post
  tile.store %best, %d[%c64, %c0] {role = "post"} : !post, !tile.view<?x?xf32>
  tile.return
}
}
"""


@pytest.mark.parametrize("warps, depth, stage, late", [(4, 1, 0, 0), (4, 2, 1, 1), (8, 3, 0, 2)])
def test_a_tensor_goes_to_another_role(rng, warps: int, depth: int, stage: int, late: int) -> None:
    convert = '    %r = tile.convert_layout %q {role = "post"} : !sums -> !post'
    text = HANDED.replace("CONVERT", convert)
    for name, value in {
        "#LAYOUT": "#wide" if warps == 8 else "#acc", "WARPS": warps, "DEPTH": depth,
        "STAGE": stage, "LATE": late,
    }.items():  # fmt: skip
        text = text.replace(name, str(value))
    kernel = build(text.encode(), "sm_90a")
    for tiles in (1, 2, 5):
        a = rng.integers(-2, 3, (64 * tiles, 64)).astype(np.float16)
        c = np.full((64 * tiles, 64), np.nan, np.float32)
        d = np.full((128, 64), np.nan, np.float32)
        kernel(a, c, d)
        x = a.astype(np.float64).reshape(-1, 64, 64)
        products = x @ x.transpose(0, 2, 1)
        np.testing.assert_array_equal(c, -products.reshape(-1, 64))
        np.testing.assert_array_equal(d[:64], products.sum(0))
        best = np.maximum(0, (-products).max(0))
        np.testing.assert_array_equal(d[64:], best + products.sum(0))
