"""Loops and conditions around the loads of one role that a number of another role's tensors decides:
it is handed over, and whoever loads waits for it. On emulated chips, against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
COPIES = [
    ("sm_80", "cp_async"), ("sm_80", "through_registers"), ("sm_90a", "tma"), ("sm_90a", "cp_async"),
    ("sm_90a", "through_registers"), ("sm_100a", "tma"), ("sm_100a", "cp_async"),
]  # fmt: skip


@kiln.kernel
def until_large(
    x: kiln.View, c: kiln.View, counts: kiln.View, atom: kiln.constexpr, depth: kiln.constexpr,
    copies: kiln.constexpr, warps: kiln.constexpr,
):  # fmt: skip
    """Adds tiles until an element is 4 or more."""
    i = kiln.grid(x.shape[0] // 64)
    kiln.pin(roles=(kiln.role("load", warps=warps), kiln.role("use", warps=4, copies=copies)))
    acc, trips = kiln.zeros((64, 32), kiln.f32), 0
    largest = kiln.max(kiln.max(acc, axis=1), axis=0)
    while largest < 4.0:
        t = kiln.pin(
            x.load((i * 64, trips * 32), (64, 32)), atom=atom, depth=depth, ring="t", role="load"
        )
        acc = kiln.pin(acc + t.to(kiln.f32), role="use")
        largest = kiln.max(kiln.max(acc, axis=1), axis=0)
        trips += 1
    kiln.pin(c.store((i * 64, 0), acc), role="use")
    kiln.pin(counts.store((i,), kiln.full((1,), trips, kiln.i32)), role="load")


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("chip, atom", COPIES)
def test_a_while_that_another_role_ends(
    rng: np.random.Generator, chip: str, atom: str, copies: int
) -> None:
    x = np.abs(rng.standard_normal((128, 1024)) / 4).astype(BF16)
    c, counts = np.zeros((128, 32), np.float32), np.zeros(2, np.int32)
    until_large.options(device=f"emu:{chip}")(
        x, c, counts, atom=atom, depth=int(rng.integers(1, 4)), copies=copies,
        warps=int(rng.choice([1, 2, 4])),
    )  # fmt: skip
    for i in range(2):
        rows, acc, trips = x[64 * i : 64 * i + 64].astype(np.float32), np.zeros((64, 32), "f4"), 0
        while acc.max() < 4:
            acc += rows[:, 32 * trips : 32 * trips + 32]
            trips += 1
        assert counts[i] == trips
        np.testing.assert_allclose(c[64 * i : 64 * i + 64], acc, rtol=1e-6)


@kiln.kernel
def where_large(
    x: kiln.View, c: kiln.View, atom: kiln.constexpr, depth: kiln.constexpr, copies: kiln.constexpr,
    warps: kiln.constexpr,
):  # fmt: skip
    """Tiles with an element above a half are loaded again, and their squares are added."""
    i = kiln.grid(x.shape[0] // 64)
    kiln.pin(roles=(kiln.role("load", warps=warps), kiln.role("use", warps=4, copies=copies)))
    acc = kiln.zeros((64, 32), kiln.f32)
    for p in range(0, x.shape[1], 32):
        t = kiln.pin(
            x.load((i * 64, p), (64, 32)), atom=atom, depth=depth, ring="t", role="load"
        ).to(kiln.f32)
        if kiln.max(kiln.max(t, axis=1), axis=0) > 0.5:
            u = kiln.pin(x.load((i * 64, p), (64, 32)), atom=atom, depth=1, ring="u", role="load")
            acc = kiln.pin(acc + t * u.to(kiln.f32), role="use")
    kiln.pin(c.store((i * 64, 0), acc), role="use")


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("chip, atom", COPIES)
def test_a_condition_of_another_role(
    rng: np.random.Generator, chip: str, atom: str, copies: int
) -> None:
    x = (rng.standard_normal((128, 32 * int(rng.integers(1, 12)))) / 6).astype(BF16)
    c = np.zeros((128, 32), np.float32)
    where_large.options(device=f"emu:{chip}")(
        x, c, atom=atom, depth=int(rng.integers(1, 4)), copies=copies,
        warps=int(rng.choice([1, 2, 4])),
    )  # fmt: skip
    tiles = x.astype(np.float64).reshape(2, 64, -1, 32).transpose(0, 2, 1, 3)
    large = (tiles.max(axis=(2, 3)) > 0.5)[:, :, None, None]
    np.testing.assert_allclose(c, (tiles**2 * large).sum(axis=1).reshape(128, 32), atol=1e-5)


@kiln.kernel
def so_many(
    x: kiln.View, c: kiln.View, atom: kiln.constexpr, depth: kiln.constexpr, copies: kiln.constexpr,
    warps: kiln.constexpr, dtype: kiln.constexpr,
):  # fmt: skip
    """Adds as many tiles as four times the largest of the first."""
    i = kiln.grid(x.shape[0] // 64)
    kiln.pin(roles=(kiln.role("load", warps=warps), kiln.role("use", warps=4, copies=copies)))
    first = kiln.pin(x.load((i * 64, 0), (64, 32)), role="use").to(dtype)
    acc = kiln.zeros((64, 32), kiln.f32)
    trips = (kiln.max(kiln.max(first * 4, axis=1), axis=0)).to(kiln.i32)
    for p in range(0, trips):
        t = kiln.pin(
            x.load((i * 64, p * 32), (64, 32)), atom=atom, depth=depth, ring="t", role="load"
        )
        acc = kiln.pin(acc + t.to(kiln.f32), role="use")
    kiln.pin(c.store((i * 64, 0), acc), role="use")


@pytest.mark.parametrize("dtype", ["f32", "bf16", "i32", "i8"])
@pytest.mark.parametrize("chip, atom", COPIES)
def test_trips_that_another_role_counts(
    rng: np.random.Generator, chip: str, atom: str, dtype: str
) -> None:
    x = rng.integers(-3, int(rng.integers(-2, 4)) + 1, (128, 512)).astype(BF16)
    c = np.zeros((128, 32), np.float32)
    so_many.options(device=f"emu:{chip}")(
        x, c, atom=atom, depth=int(rng.integers(1, 4)), copies=int(rng.integers(1, 3)),
        warps=int(rng.choice([1, 2, 4])), dtype=getattr(kiln, dtype),
    )  # fmt: skip
    for i in range(2):
        tiles = x[64 * i : 64 * i + 64].astype(np.float64).reshape(64, -1, 32)
        trips = max(int(4 * tiles[:, 0].max()), 0)
        np.testing.assert_array_equal(c[64 * i : 64 * i + 64], tiles[:, :trips].sum(axis=1))


@kiln.kernel
def iterated(
    a: kiln.View, c: kiln.View, trips: kiln.View, atom: kiln.constexpr, copy: kiln.constexpr,
    copies: kiln.constexpr, flight: kiln.constexpr,
):  # fmt: skip
    """Adds products of what is loaded until the largest sum is past a bound; a third role stores."""
    rows = 64 * copies
    i = kiln.grid(a.shape[0] // rows)
    kiln.pin(
        roles=(
            kiln.role("load", warps=4),
            kiln.role("mma", warps=4, copies=copies),
            kiln.role("store", warps=4),
        )
    )
    acc, n, most = kiln.zeros((rows, 64), kiln.f32), 0, kiln.f32(0.0)
    while (most < 100.0) & (n * 64 < a.shape[1]):
        x = kiln.pin(a.load((i * rows, n * 64), (rows, 64)), atom=copy, role="load", depth=2)
        y = kiln.pin(a.load((0, n * 64), (64, 64)), atom=copy, role="load", depth=2)
        if flight is None:
            acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), atom=atom, role="mma")
        else:
            acc = kiln.pin(
                kiln.dot(x, y, acc, transpose_b=True), atom=atom, in_flight=flight, role="mma"
            )
        most = kiln.max(kiln.max(acc, axis=1), axis=0)
        n += 1
    kiln.pin(c.store((i * rows, 0), acc), role="store")
    kiln.pin(trips.store((i,), kiln.full((1,), n, kiln.i32)), role="store")


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize(
    "chip, atom, copy, flight",
    [
        ("sm_80", "mma_sync", "cp_async", None), ("sm_90a", "wgmma", "tma", 0),
        ("sm_90a", "mma_sync", "cp_async", None),
    ],
)  # fmt: skip
def test_products_until_they_are_large(rng, chip, atom, copy, flight, copies: int) -> None:
    rows = 64 * copies
    a = rng.integers(-2, 3, (2 * rows, 64 * int(rng.integers(1, 9)))).astype(BF16)
    c, trips = np.full((2 * rows, 64), np.nan, np.float32), np.zeros(2, np.int32)
    iterated.options(device=f"emu:{chip}")(
        a, c, trips, atom=atom, copy=copy, copies=copies, flight=flight
    )
    x = a.astype(np.float64)
    for i in range(2):
        mine, acc, n = x[rows * i : rows * i + rows], np.zeros((rows, 64)), 0
        while acc.max() < 100 and 64 * n < a.shape[1]:
            k = slice(64 * n, 64 * n + 64)
            acc, n = acc + mine[:, k] @ x[:64, k].T, n + 1
        assert trips[i] == n
        np.testing.assert_array_equal(c[rows * i : rows * i + rows], acc)
