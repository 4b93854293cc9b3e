"""Rows that are gathered, as of tokens that go to one expert or of pages, and multiplied beside
tiles that rings bring, or one another: they are fetched a trip ahead. On emulated chips, against
float64."""

from __future__ import annotations

import isa
import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
TARGETS = {
    "sm_90a": "nvptx", "sm_100a": "nvptx", "sm_80": "nvptx",
    "gfx942": "amdgpu", "gfx950": "amdgpu", "gfx1201": "amdgpu",
}  # fmt: skip


@kiln.kernel
def experts(a: kiln.View, b: kiln.View, c: kiln.View, rows: kiln.View):
    """Rows that one load in front of the loop names."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    at = rows.load((i * 64,), (64,))
    for k in range(0, a.shape[1], 64):
        x = a.gather((at[:, None], k + kiln.arange(0, 64)[None, :]))
        acc = kiln.dot(x, b.load((j * 64, k), (64, 64)), acc, transpose_b=True)
    c.store((i * 64, j * 64), acc)


@kiln.kernel
def pages(a: kiln.View, b: kiln.View, c: kiln.View, rows: kiln.View):
    """Rows that each trip loads the numbers of."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    for k in range(0, rows.shape[0], 64):
        at = rows.load((k,), (64,))
        y = b.gather((at[:, None], j * 64 + kiln.arange(0, 64)[None, :]))
        acc = kiln.dot(a.load((i * 64, k), (64, 64)), y, acc)
    c.store((i * 64, j * 64), acc)


@kiln.kernel
def pairs(a: kiln.View, b: kiln.View, c: kiln.View, rows: kiln.View, others: kiln.View):
    """Both operands' rows are gathered: no ring brings anything."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], 64), kiln.cdiv(c.shape[1], 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    at = rows.load((i * 64,), (64,))
    other = others.load((j * 64,), (64,))
    for k in range(0, a.shape[1], 64):
        column = k + kiln.arange(0, 64)[None, :]
        x = a.gather((at[:, None], column))
        y = b.gather((other[:, None], column))
        acc = kiln.dot(x, y, acc, transpose_b=True)
    c.store((i * 64, j * 64), acc)


def trips_apart(schedule: str) -> bool:
    """Whether the loop of products carries what it gathers: it is fetched for the next trip."""
    loop = schedule[schedule.index("scf.for") :]
    gather = loop.index("tile.gather")
    return "tile.gather" in schedule[: schedule.index("scf.for")] and gather < loop.index("dot ")


@pytest.mark.parametrize("chip", TARGETS)
def test_rows_of_experts(rng: np.random.Generator, chip: str) -> None:
    for k in (8, 64, 72, 8 * int(rng.integers(20, 40))):
        m, n, all_rows = (int(rng.integers(1, 150)) for _ in "mne")
        a, b = (rng.standard_normal((count, k)).astype(BF16) for count in (all_rows, n))
        rows = rng.integers(0, all_rows, m).astype(np.int32)
        c = np.full((m, n), np.nan, np.float32)
        experts.options(device=f"emu:{chip}")(a, b, c, rows)
        reference = a.astype(np.float64)[rows] @ b.astype(np.float64).T
        assert np.abs(c - reference).max() <= 1e-3, (m, n, k)
    check(experts, chip, a, b, c, rows)


@pytest.mark.parametrize("chip", TARGETS)
def test_rows_of_pages(rng: np.random.Generator, chip: str) -> None:
    for k in (8, 64, 72, 8 * int(rng.integers(20, 40))):
        m, n, all_rows = (int(rng.integers(1, 150)) for _ in "mne")
        a, b = (rng.standard_normal(shape).astype(BF16) for shape in ((m, k), (all_rows, n)))
        rows = rng.integers(0, all_rows, k).astype(np.int32)
        c = np.full((m, n), np.nan, np.float32)
        pages.options(device=f"emu:{chip}")(a, b, c, rows)
        reference = a.astype(np.float64) @ b.astype(np.float64)[rows]
        assert np.abs(c - reference).max() <= 1e-3, (m, n, k)
    check(pages, chip, a, b, c, rows)


@pytest.mark.parametrize("chip", TARGETS)
def test_rows_of_both_operands(rng: np.random.Generator, chip: str) -> None:
    for k in (8, 64, 72, 8 * int(rng.integers(20, 40))):
        m, n, all_rows = (int(rng.integers(1, 150)) for _ in "mne")
        a, b = (rng.standard_normal((all_rows, k)).astype(BF16) for _ in "ab")
        rows, others = (rng.integers(0, all_rows, count).astype(np.int32) for count in (m, n))
        c = np.full((m, n), np.nan, np.float32)
        pairs.options(device=f"emu:{chip}")(a, b, c, rows, others)
        reference = a.astype(np.float64)[rows] @ b.astype(np.float64)[others].T
        assert np.abs(c - reference).max() <= 1e-3, (m, n, k)
    check(pairs, chip, a, b, c, rows, others)


def check(kernel, chip: str, *args) -> None:
    aligned = [np.zeros((256,) * array.ndim, array.dtype) for array in args]
    made = kernel.compile(*aligned, target=f"{TARGETS[chip]}:{chip}")
    assert made.metadata["proposal"] in (0, 3)
    assert trips_apart(made.ir("schedule"))
    if TARGETS[chip] == "amdgpu":
        isa.prove_waits(made.ir("tile"), chip)
