"""Reductions and scans along what two or three copies of a role share out, on emulated chips against
float64: in plain kernels, which keep their copies, and in pinned ones."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
DEVICE = "emu:sm_90a"


def drawn(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(BF16)


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return a.astype(np.float64) @ b.astype(np.float64).T


def near(found: np.ndarray, reference: np.ndarray, terms: int) -> None:
    """Of sums of so many normal numbers, made in f32 of what has the last places of f32."""
    scale = max(np.abs(reference).max(), 1)
    assert np.abs(found.astype(np.float64) - reference).max() <= 2e-6 * terms**0.5 * scale


def copies(kernel: Any, *args: Any, **constants: Any) -> int:
    """How many groups of four warps compute, beside those that load."""
    return kernel.compile(*args, **constants, target="nvptx:sm_90a").metadata["warps"] // 4


def tiles(x: np.ndarray, rows: int) -> list[np.ndarray]:
    return [x[i : i + rows] for i in range(0, len(x), rows)]


@kiln.kernel
def summed(
    a: kiln.View, b: kiln.View, sums: kiln.View, largest: kiln.View, places: kiln.View,
    BM: kiln.constexpr, BN: kiln.constexpr,
):  # fmt: skip
    """Of each tile of a product: sums of columns, and of each column the largest and its row."""
    i, j = kiln.grid(kiln.cdiv(a.shape[0], BM), kiln.cdiv(b.shape[0], BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1], 64):
        acc = kiln.dot(
            a.load((i * BM, k), (BM, 64)), b.load((j * BN, k), (BN, 64)), acc, transpose_b=True
        )
    sums.store((i, j * BN), kiln.sum(acc, axis=0)[None, :])
    largest.store((i, j * BN), kiln.max(acc, axis=0)[None, :])
    places.store((i, j * BN), kiln.argmax(acc, axis=0)[None, :])


@pytest.mark.parametrize("tile, groups", [((128, 64), 2), ((192, 64), 3), ((128, 96), 2)])
def test_columns_of_a_plain_product(rng, tile: tuple[int, int], groups: int) -> None:
    bm, bn = tile
    m, n, k = bm * int(rng.integers(1, 3)), int(rng.integers(2, 200)), 8 * int(rng.integers(2, 24))
    a, b = drawn(rng, m, k), drawn(rng, n, k)
    down = m // bm
    sums, largest = np.zeros((2, down, n), np.float32)
    places = np.zeros((down, n), np.int32)
    assert copies(summed, a, b, sums, largest, places, BM=bm, BN=bn) == groups
    summed.options(device=DEVICE)(a, b, sums, largest, places, BM=bm, BN=bn)
    want = tiles(product(a, b), bm)
    near(sums, np.stack([t.sum(axis=0) for t in want]), bm)
    near(largest, np.stack([t.max(axis=0) for t in want]), 1)
    # Where two are all but equal either may win.
    at = np.stack([np.take_along_axis(t, p[None], 0)[0] for t, p in zip(want, places, strict=True)])
    near(at, np.stack([t.max(axis=0) for t in want]), 1)


@kiln.kernel
def centred(a: kiln.View, b: kiln.View, c: kiln.View, totals: kiln.View, BM: kiln.constexpr):
    """A product less the means of its columns; the sum of squares of all of a tile; and each trip adds
    the largest of what it loads."""
    i = kiln.grid(kiln.cdiv(a.shape[0], BM))
    acc = kiln.zeros((BM, 64), kiln.f32)
    most = kiln.zeros((64,), kiln.f32)
    for k in range(0, a.shape[1], 64):
        x = a.load((i * BM, k), (BM, 64))
        acc = kiln.dot(x, b.load((0, k), (64, 64)), acc, transpose_b=True)
        most += kiln.max(x.to(kiln.f32), axis=0)
    acc -= kiln.sum(acc, axis=0)[None, :] / BM
    totals.store((i,), kiln.full((1,), kiln.sum(acc * acc) + kiln.sum(most), kiln.f32))
    c.store((i * BM, 0), acc)


@pytest.mark.parametrize("rows", [128, 192])
def test_what_all_copies_need(rng, rows: int) -> None:
    m, k = rows * int(rng.integers(1, 4)), 64 * int(rng.integers(1, 6))
    a, b = drawn(rng, m, k), drawn(rng, 64, k)
    c, totals = np.zeros((m, 64), np.float32), np.zeros(m // rows, np.float32)
    assert copies(centred, a, b, c, totals, BM=rows) == rows // 64
    centred.options(device=DEVICE)(a, b, c, totals, BM=rows)
    want = [t - t.mean(axis=0) for t in tiles(product(a, b), rows)]
    near(c, np.concatenate(want), 8)
    most = [t.astype(np.float64).reshape(rows, -1, 64).max(axis=0).sum() for t in tiles(a, rows)]
    squares = np.array([(t * t).sum() + m for t, m in zip(want, most, strict=True)])
    assert np.abs(totals - squares).max() <= 1e-5 * squares.max()


@kiln.kernel
def running(
    a: kiln.View, b: kiln.View, c: kiln.View, d: kiln.View, COPIES: kiln.constexpr,
    BM: kiln.constexpr, BN: kiln.constexpr,
):  # fmt: skip
    """Running sums along what the copies share out, rows or columns, from either end."""
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=COPIES)))
    i = kiln.grid(1)
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=2):
        x = kiln.pin(a.load((i, k), (BM, 64)), role="load", atom="tma")
        y = kiln.pin(b.load((0, k), (BN, 64)), role="load", atom="tma")
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), role="mma", in_flight=1, atom="wgmma")
    along = 0 if BM > 64 else 1
    c.store((0, 0), kiln.cumsum(acc, axis=along))
    d.store((0, 0), kiln.cumsum(acc, axis=along, reverse=True))


@pytest.mark.parametrize("tile, groups", [((128, 64), 2), ((64, 128), 2), ((256, 16), 4)])
def test_running_sums(rng, tile: tuple[int, int], groups: int) -> None:
    bm, bn = tile
    k = 64 * int(rng.integers(1, 5))
    a, b = drawn(rng, bm, k), drawn(rng, bn, k)
    c, d = np.zeros((2, bm, bn), np.float32)
    running.options(device=DEVICE)(a, b, c, d, COPIES=groups, BM=bm, BN=bn)
    want, axis = product(a, b), 0 if bm > 64 else 1
    near(c, want.cumsum(axis=axis), want.shape[axis])
    near(d, np.flip(np.flip(want, axis).cumsum(axis=axis), axis), want.shape[axis])
