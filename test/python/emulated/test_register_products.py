"""Products whose operands are in registers, which trips make again meanwhile or all read: on emulated
chips, against float64; how many sets of registers their code has, and what an assembler makes of it."""

from __future__ import annotations

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from cubin import ASSEMBLER
from register_kernels import (
    attended,
    attention,
    reread,
    rereading,
    weighted,
    widened_rows,
)
from sass import disassemble, overwritten_operands

import kiln

BF16 = ml_dtypes.bfloat16


def draw(rng, copy: str, copies: int) -> dict:
    # What goes through registers is in its slot a trip later.
    ahead = 0 if copy == "through_registers" else int(rng.integers(3))
    flight = int(rng.integers(4))
    return dict(
        copy=copy, copies=copies, flight=flight, ahead=ahead,
        depth=flight + 1 + ahead + (copy != "tma") + int(rng.integers(2)), BM=64 * copies,
        BN=int(rng.choice([32, 64])), BK=int(rng.choice([32, 64])),
    )  # fmt: skip


@pytest.mark.parametrize("copy", ["tma", "cp_async", "through_registers"])
@pytest.mark.parametrize("copies", [1, 2])
def test_weights_that_are_widened_in_registers(rng, copy: str, copies: int) -> None:
    for _ in range(3):
        options = draw(rng, copy, copies)
        m, n, k = (int(rng.integers(1, most)) * by for most, by in ((200, 1), (8, 16), (30, 16)))
        w = rng.integers(-8, 8, (m, k)).astype(np.int8)
        x = rng.integers(-8, 8, (n, k)).astype(BF16)
        c = np.full((m, n), np.nan, np.float32)
        widened_rows.options(device="emu:sm_90a")(w, x, c, **options)
        reference = w.astype(np.float64) @ x.astype(np.float64).T
        np.testing.assert_array_equal(c, reference, str((options, m, n, k)))


@pytest.mark.parametrize("later", [1, 2, 3])
def test_results_that_a_later_trip_adds(rng, later: int) -> None:
    copies, flight = int(rng.integers(1, 3)), int(rng.integers(2 * later + 1))
    q = rng.integers(-3, 4, (64 * copies, 64)).astype(BF16)
    x = rng.integers(-3, 4, (64 * int(rng.integers(1, 10)), 64)).astype(BF16)
    c = np.zeros((64 * copies, 64), np.float32)
    weighted.options(device="emu:sm_90a")(q, x, c, later, flight, copies)
    y = x.astype(np.float64)
    halves = (q.astype(np.float64) @ y.T * 0.5).astype(BF16).astype(np.float64)
    np.testing.assert_allclose(c, halves @ y, 1e-6, 1e-6 * np.abs(halves @ y).max())


def count_trips(flight: int, ahead: int, turned: bool = False) -> int:
    """How many trips a turn of the loop has: each starts one product of a copy's rows."""
    options = dict(
        copy="tma", copies=1, depth=flight + ahead + 1, BM=64, BN=64, BK=64, turned=turned
    )
    w, x, c = (
        np.zeros((64, 640), np.int8),
        np.zeros((64, 640), BF16),
        np.zeros((64, 64), np.float32),
    )
    made = widened_rows.compile(
        w, x, c, flight=flight, ahead=ahead, **options, target="nvptx:sm_90a",
        _pipeline="stop-after=schedule",
    )  # fmt: skip
    text = made.ir("schedule")
    loops = [at for at in text.split("scf.for")[1:] if "tile.start_dot" in at]
    body = loops[0].partition("scf.yield")[0]
    return body.count("tile.start_dot")


@pytest.mark.parametrize("flight", [0, 1, 2])
@pytest.mark.parametrize("ahead", [0, 1, 2])
def test_each_trip_in_flight_has_registers_of_its_own(flight: int, ahead: int) -> None:
    assert count_trips(flight, ahead) == (flight + ahead + 1 if flight else 1)


def test_registers_that_are_named_anew_are_the_same() -> None:
    assert count_trips(1, 1, turned=True) == 3


@kiln.kernel
def until(w: kiln.View, x: kiln.View, c: kiln.View):
    kiln.grid(1)
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    acc, k = kiln.zeros((64, 64), kiln.f32), 0
    while k < x.shape[1]:
        y = kiln.pin(w.load((0, k), (64, 64)), role="load", atom="tma", depth=4, ring="w")
        t = kiln.pin(x.load((0, k), (64, 64)), role="load", atom="tma", depth=4, ring="x")
        acc = kiln.dot(y.to(kiln.bf16), t, acc, transpose_b=True)
        kiln.pin(acc, role="mma", atom="wgmma", in_flight=1)
        k += 64 if k < 128 else 128
    kiln.pin(c.store((0, 0), acc), role="mma")


def test_trips_that_nobody_counts_have_one_set(rng) -> None:
    w, x = np.zeros((64, 640), np.int8), np.zeros((64, 640), BF16)
    with pytest.raises(kiln.CompileError, match="how many trips there are nobody knows") as refused:
        until.options(device="emu:sm_90a")(w, x, np.zeros((64, 64), np.float32))
    assert "kiln.dot(y.to" in str(refused.value)


def draw_groups(rng, groups: int, D: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q = rng.integers(-2, 3, (groups, 64, D)).astype(BF16)
    bounds = np.cumsum(np.append(0, rng.integers(1, 300, groups))).astype(np.int32)
    x = rng.integers(-1, 2, (int(bounds[-1]), D)).astype(BF16)
    return q, x, bounds


@pytest.mark.parametrize("B", [64, 128])
@pytest.mark.parametrize("D", [64, 128])
def test_rows_that_every_trip_reads(rng, B: int, D: int) -> None:
    q, x, bounds = draw_groups(rng, 3, D)
    c = np.full(q.shape, np.nan, np.float32)
    attended.options(device="emu:sm_90a")(q, x, bounds, c, B, D)
    # Weights are rounded to bf16; sums of them are not.
    np.testing.assert_allclose(
        c, attention(*(a.astype(np.float64) for a in (q, x)), bounds), 0, 0.01
    )


@pytest.mark.parametrize("looped", [False, True])
def test_weights_that_are_multiplied_again(rng, looped: bool) -> None:
    q = rng.integers(-3, 4, (64, 64)).astype(BF16)
    x = rng.integers(-3, 4, (64 * int(rng.integers(2, 6)) if looped else 128, 64)).astype(BF16)
    c = np.full((64, 64), np.nan, np.float32)
    reread.options(device="emu:sm_90a")(q, x, c, looped)
    want = rereading(*(a.astype(np.float64) for a in (q, x)))
    np.testing.assert_allclose(c, want, 0, 1e-5 * np.abs(want).max())


@pytest.mark.skipif(not ASSEMBLER.exists(), reason="there is no ptxas")
def test_assemblers_keep_what_every_trip_reads(tmp_path: Path) -> None:
    """Without copies the assembler gives weights the registers of some of these kernels' queries. If
    it no longer does, the copies that lib/Target/NVPTX/Wgmma.cpp makes may go."""
    lost_without = 0
    for B, D in ((64, 64), (128, 64), (64, 128), (128, 128)):
        types = np.zeros((3, 64, D), BF16), np.zeros((640, D), BF16), np.zeros(4, np.int32)
        code = attended.compile(
            *types, np.zeros((3, 64, D), np.float32), B, D, target="nvptx:sm_90a"
        )
        copy = re.compile(r"prmt\.b32\s+(%r\d+), (%r\d+), \2, 0x3210;")
        assert len(copy.findall(code.asm)) == D // 4, "expected a copy of each word of the queries"
        assert not overwritten_operands(disassemble(code.asm, "sm_90a", tmp_path))
        plain = copy.sub(r"mov.b32 \1, \2;", code.asm)
        lost_without += len(overwritten_operands(disassemble(plain, "sm_90a", tmp_path)))
    assert lost_without
