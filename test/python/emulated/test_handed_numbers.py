"""Numbers that one role makes and others use: a tile number popped from a counter that programs
share, and a loop's bound that another role adds up. On emulated chips, against float64."""

from __future__ import annotations

import numpy as np
import pytest
from pinned import build

# By chip: what copies and multiplies there, and whether products run on beside their warps.
CHIPS = {
    "sm_80": ("#nvptx.cp_async<16>", '#nvptx.mma_sync<"m16n8k16", f16, f32>', False),
    "sm_89": ("#tile.through_registers", '#nvptx.mma_sync<"m16n8k16", f16, f32>', False),
    "gfx950": (
        "#tile.through_registers",
        '#amdgcn.matrix<"mfma.f32.16x16x32.f16", "gfx950", f16>',
        False,
    ),
    "sm_90a": ("#nvptx.tma", '#nvptx.wgmma<"m64n64k16", f16, f32>', True),
}


def build_for(chip: str, text: str, flight: int, **names):
    copy, product, runs_on = CHIPS[chip]
    in_flight = f", in_flight = {flight}" if runs_on else ""
    names |= {"COPY": copy, "PRODUCT": product, "FLIGHT": in_flight, "CHIP": chip}
    names["DIALECT"] = "amdgcn" if chip.startswith("gfx") else "nvptx"
    for name, value in names.items():
        text = text.replace(name, str(value))
    return build(text.encode(), chip)


HEAD = """
#copy = COPY
#mma = PRODUCT
!view = !tile.view<?x?xf16>
!out = !tile.view<?x?xf32>
!numbers = !tile.view<?xi32>
!sums = tensor<64x64xf32>
#facts = #tile.facts<pointer = 16, strides = [16, 2]>
module attributes {tile.target = #DIALECT.target<chip = "CHIP">} {
"""

# Each program takes the next tile that nobody has: whoever is quick takes more.
SCHEDULED = (
    HEAD
    + """
tile.kernel @scheduled(%a: !view {tile.facts = #facts}, %b: !view {tile.facts = #facts}, %c: !out,
                       %counter: !numbers)
    attributes {tile.roles = [#tile.role<"mma", warps = 4, copies = COUNT>, #tile.role<"load", warps = WARPS>]} grid {
  %c3 = arith.constant 3 : index
  tile.grid %c3
} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %rows = arith.constant ROWS : index
  %m = tile.dim %c, 0 : !out
  %n = tile.dim %c, 1 : !out
  %k = tile.dim %a, 1 : !view
  %tm = arith.ceildivui %m, %rows : index
  %tn = arith.ceildivui %n, %c64 : index
  %tiles = arith.muli %tm, %tn : index
  %first = tile.program_id x
  %programs = tile.num_programs x
  %zero = arith.constant dense<0.0> : tensor<ROWSx64xf32>
  %last = scf.while (%t = %first) : (index) -> index {
    %more = arith.cmpi ult, %t, %tiles : index
    scf.condition(%more) %t : index
  } do {
  ^bb0(%t: index):
    %i = arith.divui %t, %tn : index
    %j = arith.remui %t, %tn : index
    %row = arith.muli %i, %rows : index
    %column = arith.muli %j, %c64 : index
    %sum = scf.for %kk = %c0 to %k step %c64 iter_args(%s = %zero) -> tensor<ROWSx64xf32> {
      %x = tile.load %a[%row, %kk] {atom = #copy, stage = 0, role = "load"} : !view -> tensor<ROWSx64xf16>
      %y = tile.load %b[%column, %kk] {atom = #copy, stage = 0, role = "load"} : !view -> tensor<64x64xf16>
      %d = tile.dot %x, %y, %s transpose_b {atom = #mma, role = "mma"FLIGHT}
         : tensor<ROWSx64xf16>, tensor<64x64xf16> -> tensor<ROWSx64xf32>
      scf.yield %d : tensor<ROWSx64xf32>
    } {tile.depth = 3}
    tile.store %sum, %c[%row, %column] {role = "mma"} : tensor<ROWSx64xf32>, !out
    %one = arith.constant 1 : i32
    %popped = tile.atomic_rmw addi %counter[%c0], %one order = relaxed {role = "load"} : !numbers, [index], i32
    %taken = arith.index_cast %popped : i32 to index
    %next = arith.addi %taken, %programs : index
    scf.yield %next : index
  }
  tile.return
}
}
"""
)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("warps, copies", [(1, 1), (4, 2)])
def test_tiles_are_popped_from_a_counter(rng, warps: int, copies: int, chip: str) -> None:
    rows = 64 * copies
    kernel = build_for(chip, SCHEDULED, flight=1, WARPS=warps, COUNT=copies, ROWS=rows)
    for m, n, k in ((64, 64, 64), (300, 200, 136), (1, 700, 8)):
        a = rng.integers(-2, 3, (m, k)).astype(np.float16)
        b = rng.integers(-2, 3, (n, k)).astype(np.float16)
        c = np.full((m, n), np.nan, np.float32)
        counter = np.zeros(1, np.int32)
        kernel(a, b, c, counter)
        np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64).T)
        tiles = -(-m // rows) * -(-n // 64)
        assert counter[0] == tiles, "each tile that was run, and no other, was popped behind one"


# How many tiles there are, one role adds up; the others load and multiply so many.
COUNTED = (
    HEAD
    + """
tile.kernel @counted(%a: !view {tile.facts = #facts}, %c: !out, %lengths: !numbers)
    attributes {tile.roles = [#tile.role<"load", warps = 4>, #tile.role<"mma", warps = 4>,
                              #tile.role<"count", warps = WARPS>]} grid {
  %c1 = arith.constant 1 : index
  tile.grid %c1
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant dense<0.0> : !sums
  %all = tile.load %lengths[%c0] {role = "count"} : !numbers -> tensor<128xi32>
  %added = tile.reduce %all axis = 0 : tensor<128xi32> -> tensor<i32> {
  ^bb0(%x: i32, %y: i32):
    %z = arith.addi %x, %y : i32
    tile.yield %z : i32
  }
  %count = tile.to_scalar %added : tensor<i32>
  %tiles = arith.index_cast %count : i32 to index
  %sum = scf.for %i = %c0 to %tiles step %c1 iter_args(%s = %zero) -> !sums {
    %row = arith.muli %i, %c64 : index
    %x = tile.load %a[%row, %c0] {atom = #copy, role = "load"} : !view -> tensor<64x64xf16>
    %d = tile.dot %x, %x, %s transpose_b {atom = #mma, role = "mma"FLIGHT}
       : tensor<64x64xf16>, tensor<64x64xf16> -> !sums
    scf.yield %d : !sums
  } {tile.depth = 2}
  tile.store %sum, %c[%c0, %c0] {role = "mma"} : !sums, !out
  tile.return
}
}
"""
)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("warps", [1, 4])
def test_a_bound_is_what_another_role_adds_up(rng, warps: int, chip: str) -> None:
    kernel = build_for(chip, COUNTED, flight=1, WARPS=warps)
    for lengths in ([0], [1], [2, 0, 3], [1] * 7):
        tiles = sum(lengths)
        a = rng.integers(-2, 3, (64 * max(tiles, 1), 64)).astype(np.float16)
        c = np.full((64, 64), np.nan, np.float32)
        kernel(a, c, np.array(lengths, np.int32))
        x = a.astype(np.float64).reshape(-1, 64, 64)[:tiles]
        np.testing.assert_array_equal(c, (x @ x.transpose(0, 2, 1)).sum(0))


# Whether to go on stands in memory that the kernel changes, so one role alone may ask.
CHANGING = (
    HEAD
    + """
tile.kernel @changing(%a: !view {tile.facts = #facts}, %c: !out, %left: !numbers)
    attributes {tile.roles = [#tile.role<"mma", warps = 4>, #tile.role<"load", warps = 1>]} grid {
  %c1 = arith.constant 1 : index
  tile.grid %c1
} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %yes = arith.constant true
  %zero = arith.constant dense<0.0> : !sums
  %end:3 = scf.while (%go = %yes, %i = %c0, %s = %zero) : (i1, index, !sums) -> (i1, index, !sums) {
    scf.condition(%go) %go, %i, %s : i1, index, !sums
  } do {
  ^bb0(%went: i1, %i: index, %s: !sums):
    %row = arith.muli %i, %c64 : index
    %x = tile.load %a[%row, %c0] {atom = #copy, ring = "rows", depth = 2, role = "load"} : !view -> tensor<64x64xf16>
    %d = tile.dot %x, %x, %s transpose_b {atom = #mma, role = "mma"FLIGHT}
       : tensor<64x64xf16>, tensor<64x64xf16> -> !sums
    %t1 = tile.load %left[%c0] {role = "load"} : !numbers -> tensor<1xi32>
    %t0 = tile.reshape %t1 : tensor<1xi32> -> tensor<i32>
    %before = tile.to_scalar %t0 : tensor<i32>
    %after = arith.subi %before, %one : i32
    %put = tile.splat %after : tensor<1xi32>
    tile.store %put, %left[%c0] {role = "load"} : tensor<1xi32>, !numbers
    %is = arith.cmpi sgt, %before, %one : i32
    %next = arith.addi %i, %c1 : index
    scf.yield %is, %next, %d : i1, index, !sums
  }
  tile.store %end#2, %c[%c0, %c0] {role = "mma"} : !sums, !out
  tile.return
}
}
"""
)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("tiles", [1, 2, 5])
def test_memory_that_changes_is_asked_by_one_role(rng, tiles: int, chip: str) -> None:
    kernel = build_for(chip, CHANGING, flight=0)
    a = rng.integers(-2, 3, (64 * tiles, 64)).astype(np.float16)
    c = np.full((64, 64), np.nan, np.float32)
    left = np.array([tiles], np.int32)
    kernel(a, c, left)
    x = a.astype(np.float64).reshape(-1, 64, 64)
    np.testing.assert_array_equal(c, (x @ x.transpose(0, 2, 1)).sum(0))
    assert left[0] == 0
