"""Roles that use what an engine brings them, on the emulated chips that have one, against float64."""

from __future__ import annotations

import engine_kernels
import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
CHIPS = {"sm_90a": "wgmma", "sm_100a": "tcgen05"}


def tiles(a: np.ndarray) -> np.ndarray:
    """[n, 64, 64]: the tiles of 64 columns of [64, 64 n]."""
    return a.astype(np.float64).reshape(64, -1, 64).swapaxes(0, 1)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("way", ["warps", "copies", "waits", "turns", "shared", "persistent"])
def test_products(rng, chip: str, way: str) -> None:
    atom = "mma_sync" if way == "warps" else CHIPS[chip]
    flies = atom == "wgmma" and way != "waits"
    depth = int(rng.integers(2, 5)) + flies
    schedule = dict(atom=atom, depth=depth, stage=int(rng.integers(0, depth - flies)))
    if way != "warps":
        schedule["flight"] = int(flies)
    if way == "copies":
        schedule |= dict(copies=2, M=128)
    if way == "shared":
        schedule["shared"] = True
    if way in ("turns", "persistent"):
        schedule |= dict(programs=int(rng.integers(1, 4)), turns=1 + (way == "turns"))
    print(schedule)
    for k in (8, 72, int(rng.integers(8, 80)) * 8):
        m, n = (int(x) for x in rng.integers(1, 260, 2))
        a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (m, n))
        c = np.zeros((m, n), np.float32)
        engine_kernels.product.options(device=f"emu:{chip}")(a, b, c, **schedule)
        want = a.astype(np.float64) @ b.astype(np.float64).T
        assert np.linalg.norm(c - want) <= 1e-5 * np.linalg.norm(want), (m, n, k)


@pytest.mark.parametrize("chip", CHIPS)
def test_the_role_that_loads_and_another(rng, chip: str) -> None:
    a = rng.standard_normal((64, 64 * int(rng.integers(1, 9)))).astype(BF16)
    c, d = np.zeros((64, 64), np.float32), np.zeros((64, 64), np.float32)
    engine_kernels.both.options(device=f"emu:{chip}")(a, c, d, depth=int(rng.integers(1, 4)))
    assert np.abs(c - tiles(a).sum(0)).max() <= 1e-4
    np.testing.assert_array_equal(d, tiles(a).max(0))


@pytest.mark.parametrize("chip", CHIPS)
def test_nests(rng, chip: str) -> None:
    outer, inner, columns, rows = (int(x) for x in rng.integers(1, 5, 4))
    a = rng.standard_normal((64, 64 * columns)).astype(BF16)
    b = rng.standard_normal((64 * rows, 64 * columns)).astype(BF16)
    c = np.zeros((64, 64), np.float32)
    engine_kernels.nest.options(device=f"emu:{chip}")(a, b, c, outer=outer, inner=inner)
    below = sum(tiles(part) for part in np.split(b, rows))
    assert np.abs(c - (tiles(a) * below).sum(0)).max() <= 1e-3, (outer, inner)


@pytest.mark.parametrize("chip", CHIPS)
def test_conditions_sequences_and_trips_that_tiles_tell(rng, chip: str) -> None:
    depth, count = (int(x) for x in rng.integers(1, 5, 2))
    a = rng.standard_normal((64, 64 * count)).astype(BF16)
    c = np.zeros((64, 64), np.float32)
    engine_kernels.sequence.options(device=f"emu:{chip}")(a, c, depth=depth)
    assert np.abs(c - 3 * tiles(a).sum(0)).max() <= 1e-3
    a = np.abs(a)
    engine_kernels.until.options(device=f"emu:{chip}")(a, c, depth=depth)
    want = np.zeros((64, 64))
    for tile in tiles(a):
        want += tile * (want.max() < 4)
    assert np.abs(c - want).max() <= 1e-4
    if chip == "sm_90a":
        flags = rng.integers(0, 2, count).astype(np.int32)
        engine_kernels.chosen.options(device=f"emu:{chip}")(a, flags, c, depth=depth, atom="wgmma")
        want = sum((x @ x.T for x in tiles(a)[flags > 0]), np.zeros((64, 64)))
        assert np.abs(c - want).max() <= 1e-3


def refused(**changes) -> str:
    a, c = np.zeros((128, 128), BF16), np.zeros((128, 128), np.float32)
    schedule = dict(atom="wgmma", depth=3, stage=0, flight=0) | changes
    with pytest.raises(kiln.CompileError) as error:
        engine_kernels.product.compile(a, a, c, target="nvptx:sm_90a", **schedule)
    assert error.value.line
    return str(error.value)


def test_too_few_slots() -> None:
    assert "expected at least 4 slots ('depth') of what role \"all\" loads for itself" in refused(
        stage=3
    )
    assert "holds it for 1 more ('in_flight')" in refused(stage=2, flight=1)


def test_copies_that_lag() -> None:
    error = refused(M=128, copies=2, skew=1)
    assert "expected no 'skew' of role \"all\"" in error


@kiln.kernel
def scaled(
    a: kiln.View, b: kiln.View, scales: kiln.View, c: kiln.View,
    copies: kiln.constexpr, N: kiln.constexpr,
):  # fmt: skip
    """Copies share out a scale of each column, which nobody says who brings and how."""
    kiln.grid(1)
    mma = kiln.role("mma", warps=2, copies=copies)
    kiln.pin(roles=(mma, kiln.role("load", warps=4)))
    acc = kiln.zeros((128, N), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=3):
        x = kiln.pin(a.load((0, k), (128, 64)), role="load", atom="tma")
        w = kiln.pin(b.load((0, k), (N, 64)), role="load", atom="tma")
        s = scales.load((k // 64, 0), (1, N), squeeze=0)
        w = w.to(kiln.f32) * s[:, None]
        acc = kiln.dot(x, w.to(kiln.bf16), acc, transpose_b=True)
        acc = kiln.pin(acc, role="mma", atom="mma_sync")
    c.store((0, 0), acc)


@pytest.mark.parametrize("N", [16, 32, 64])
@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("chip", CHIPS)
def test_shares_that_begin_where_no_box_may(rng, chip: str, copies: int, N: int) -> None:
    """Half of 16 numbers begins at 32 bytes, and a box at a multiple of 128."""
    a = rng.integers(-4, 5, (128, 192)).astype(BF16)
    b, s = rng.integers(-4, 5, (N, 192)).astype(np.int8), 2.0 ** rng.integers(-2, 3, (3, N))
    c = np.full((128, N), np.nan, np.float32)
    made = scaled.options(device=f"emu:{chip}")
    made(a, b, s.astype(np.float32), c, copies, N)
    w = b.astype(np.float64) * np.repeat(s.T, 64, axis=1)
    np.testing.assert_array_equal(c, a.astype(np.float64) @ w.T)
