"""Plain products as models use them, of which nobody pins anything: what stands before a product, and
what becomes of its result, on emulated chips against float64. On sm_90a each must be one of the
proposals that run on beside their warps."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
CHIPS = ["sm_90a", "sm_80", "gfx942"]


def drawn(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(BF16)


def exact(*arrays: np.ndarray) -> list[np.ndarray]:
    return [array.astype(np.float64) for array in arrays]


def check(found: np.ndarray, reference: np.ndarray, rounding: float = 1e-5) -> None:
    """`rounding` is half of the last place of the result's type, or what sums in f32 lose."""
    found = found.astype(np.float64)
    scale = np.abs(reference).max()
    assert np.linalg.norm(found - reference) <= rounding * np.linalg.norm(reference)
    assert np.abs(found - reference).max() <= 4 * rounding * scale


def run(kernel: Any, chip: str, *arrays: Any, overlaps: bool = True, **constants: Any) -> None:
    kernel.options(device=f"emu:{chip}")(*arrays, **constants)
    if chip == "sm_90a":
        compiled = kernel.compile(*arrays, target="nvptx:sm_90a", **constants)
        assert (compiled.metadata.get("proposal") in (0, 1, 2)) == overlaps, compiled.metadata


@kiln.kernel
def of_few_bits(
    a: kiln.View, b: kiln.View, s: kiln.View, c: kiln.View, BM: kiln.constexpr,
    BN: kiln.constexpr, scaled: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[1], 64):
        w = b.load((j * BN, k), (BN, 64)).to(kiln.bf16)
        if scaled:
            w = w * s.load((j * BN, k // 64), (BN, 1))
        acc = kiln.dot(a.load((i * BM, k), (BM, 64)), w, acc, transpose_b=True)
    c.store((i * BM, j * BN), acc)


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("tile", [(16, 64), (64, 128)])
@pytest.mark.parametrize("chip", CHIPS)
def test_weights_of_few_bits(rng, chip: str, tile: tuple[int, int], scaled: bool) -> None:
    m, n, k = int(rng.integers(2, 90)), int(rng.integers(2, 140)), 16 * int(rng.integers(2, 16))
    a, b = drawn(rng, m, k), rng.integers(-128, 128, (n, k)).astype(np.int8)
    s = drawn(rng, n, -(-k // 64))
    c = np.zeros((m, n), np.float32)
    run(of_few_bits, chip, a, b, s, c, BM=tile[0], BN=tile[1], scaled=scaled)
    # What one use of a ring brings another cannot: the weights have a ring of their own.
    compiled = of_few_bits.compile(
        a, b, s, c, target="nvptx:sm_80", BM=tile[0], BN=tile[1], scaled=scaled
    )
    assert compiled.metadata.get("proposal") == 3, compiled.metadata
    a, w, s = exact(a, b.astype(BF16), s)
    if scaled:
        w = (w * np.repeat(s, 64, axis=1)[:, :k]).astype(BF16).astype(np.float64)
    check(c, a @ w.T)


@kiln.kernel
def of_an_expert(
    a: kiln.View, b: kiln.View, expert: kiln.View, c: kiln.View, BM: kiln.constexpr
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], 64))
    e = expert.load((i,), (1,), squeeze=True)
    acc = kiln.zeros((BM, 64), kiln.f32)
    for k in range(0, a.shape[1], 64):
        w = b.load((e, j * 64, k), (1, 64, 64)).reshape((64, 64))
        acc = kiln.dot(a.load((i * BM, k), (BM, 64)), w, acc, transpose_b=True)
    c.store((i * BM, j * 64), acc)


@pytest.mark.parametrize("rows", [64, 128])
@pytest.mark.parametrize("chip", CHIPS)
def test_a_tile_s_expert(rng, chip: str, rows: int) -> None:
    tiles, n, k = int(rng.integers(2, 4)), int(rng.integers(2, 100)), 8 * int(rng.integers(2, 24))
    a, b = drawn(rng, tiles * rows, k), drawn(rng, 5, n, k)
    expert = rng.integers(0, 5, tiles).astype(np.int32)
    c = np.zeros((tiles * rows, n), np.float32)
    run(of_an_expert, chip, a, b, expert, c, BM=rows)
    x, w = exact(a, b)
    want = [x[i * rows : (i + 1) * rows] @ w[e].T for i, e in enumerate(expert)]
    check(c, np.concatenate(want))


@kiln.kernel
def of_pages(
    a: kiln.View, pool: kiln.View, pages: kiln.View, c: kiln.View, PAGE: kiln.constexpr
):  # fmt: skip
    """Rows of b lie in pages of a pool, as a table says: a sum over pages of products."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    for p in range(0, pages.shape[0]):
        page = pages.load((p,), (1,), squeeze=True)
        rows = pool.load((page, 0, 0), (1, PAGE, 64)).reshape((PAGE, 64))
        acc = kiln.dot(a.load((i * 64, p * PAGE), (64, PAGE)), rows, acc)
    c.store((i * 64, 0), acc)


@pytest.mark.parametrize("chip", CHIPS)
def test_pages_that_a_table_names(rng, chip: str) -> None:
    m, count = int(rng.integers(2, 150)), int(rng.integers(2, 7))
    a, pool = drawn(rng, m, 64 * count), drawn(rng, 9, 64, 64)
    pages = rng.integers(0, 9, count).astype(np.int32)
    c = np.zeros((m, 64), np.float32)
    run(of_pages, chip, a, pool, pages, c, PAGE=64)
    x, rows = exact(a, pool[pages].reshape(-1, 64))
    check(c, x @ rows)


@kiln.kernel
def in_shares(a: kiln.View, b: kiln.View, c: kiln.View, K: kiln.constexpr):
    i, j, s = kiln.grid(
        kiln.cdiv(c.shape[0], 128), kiln.cdiv(c.shape[1], 64), kiln.cdiv(a.shape[1], K)
    )
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in range(s * K, s * K + K, 64):
        acc = kiln.dot(
            a.load((i * 128, k), (128, 64)), b.load((j * 64, k), (64, 64)), acc, transpose_b=True
        )
    rows, columns = i * 128 + kiln.arange(128), j * 64 + kiln.arange(64)
    kiln.atomic_add(c, (rows[:, None], columns[None, :]), acc)


@pytest.mark.parametrize("chip", CHIPS)
def test_sums_that_programs_add_in_memory(rng, chip: str) -> None:
    m, n, k = int(rng.integers(2, 200)), int(rng.integers(2, 100)), 8 * int(rng.integers(8, 60))
    a, b, c = drawn(rng, m, k), drawn(rng, n, k), np.zeros((m, n), np.float32)
    run(in_shares, chip, a, b, c, K=128)
    a, b = exact(a, b)
    check(c, a @ b.T)


@kiln.kernel
def with_sums(
    a: kiln.View, b: kiln.View, rows: kiln.View, columns: kiln.View, total: kiln.View,
    c: kiln.View, BM: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], 64))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for k in range(0, a.shape[1], 64):
        acc = kiln.dot(
            a.load((i * BM, k), (BM, 64)), b.load((j * 64, k), (64, 64)), acc, transpose_b=True
        )
    rows.store((i * BM, j), kiln.max(acc, axis=1)[:, None])
    columns.store((i, j * 64), kiln.sum(acc, axis=0)[None, :])
    kiln.atomic_add(total, (0,), kiln.sum(acc))
    c.store((i * BM, j * 64), acc)


@pytest.mark.parametrize("rows", [64, 128])
@pytest.mark.parametrize("chip", CHIPS)
def test_reductions_along_both_axes(rng, chip: str, rows: int) -> None:
    m, n, k = int(rng.integers(2, 200)), int(rng.integers(2, 100)), 8 * int(rng.integers(2, 24))
    a, b, c = drawn(rng, m, k), drawn(rng, n, k), np.zeros((m, n), np.float32)
    across, down = -(-n // 64), -(-m // rows)
    largest, sums = np.zeros((m, across), np.float32), np.zeros((down, n), np.float32)
    total = np.zeros(1, np.float32)
    run(with_sums, chip, a, b, largest, sums, total, c, BM=rows)
    a, b = exact(a, b)
    want = a @ b.T
    check(c, want)
    padded = np.zeros((m, 64 * across))
    padded[:, :n] = want
    check(largest, padded.reshape(m, across, 64).max(axis=2))
    tiles = [want[i * rows : (i + 1) * rows].sum(axis=0) for i in range(down)]
    scale = np.abs(want).max() * rows**0.5
    assert np.abs(sums - tiles).max() <= 1e-5 * scale
    assert (
        abs(total[0] - want.sum())
        <= 1e-5 * np.abs(want).sum() ** 0.5 * np.abs(want).max() ** 0.5 * 10
    )


@kiln.kernel
def counted(
    a: kiln.View, b: kiln.View, c: kiln.View, counts: kiln.View, N: kiln.constexpr
):  # fmt: skip
    kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=2)))
    i, j = kiln.grid(kiln.cdiv(a.shape[0], 128), kiln.cdiv(b.shape[0], 64))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 64), depth=2):
        x = kiln.pin(a.load((i * 128, k), (128, 64)), role="load", atom="tma")
        y = kiln.pin(b.load((j * 64, k), (64, 64)), role="load", atom="tma")
        acc = kiln.pin(kiln.dot(x, y, acc, transpose_b=True), role="mma", in_flight=1, atom="wgmma")
    ones = kiln.full((N,), 1, kiln.i32)
    kiln.pin(kiln.atomic_add(counts, (kiln.arange(N),), ones), role="mma")
    kiln.pin(kiln.atomic_add(counts, (kiln.arange(N),), ones, kiln.arange(N) > 0), role="mma")
    c.store((i * 128, j * 64), acc)


@pytest.mark.parametrize("size", [1, 2, 8, 64])
def test_copies_of_a_role_count_once(rng, size: int) -> None:
    """Of one element each copy has all, of more each may have a part."""
    a, b = drawn(rng, 256, 64), drawn(rng, 128, 64)
    c, counts = np.zeros((256, 128), np.float32), np.zeros(size, np.int32)
    counted.options(device="emu:sm_90a")(a, b, c, counts, N=size)
    assert counts.tolist() == [4 * (1 + (i > 0)) for i in range(size)]
