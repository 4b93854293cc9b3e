"""Copies of a role that need what others have of a tensor, which they share out otherwise behind a
reshape or a transpose; and tiles that have grown. On emulated chips, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
CHIPS = ["sm_80", "sm_90a", "gfx942", "gfx1201"]


@kiln.kernel
def turned(
    a: kiln.View, c: kiln.View,
    copies: kiln.constexpr, rows: kiln.constexpr, depth: kiln.constexpr, wide: kiln.constexpr,
):  # fmt: skip
    """A product's sum, turned, its elements in rows of another length."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4, copies=copies))
    x = a.load((0, 0), (rows, depth))
    s = kiln.dot(x, x, transpose_b=True)
    c.store((0, 0), (s + 1.0).T.reshape(rows * rows // wide, wide))


@pytest.mark.parametrize("copies", [2, 3, 4])
@pytest.mark.parametrize("rows, wide", [(64, 128), (64, 32), (128, 256)])
@pytest.mark.parametrize("chip", CHIPS)
def test_turned_sums(rng, chip: str, rows: int, wide: int, copies: int) -> None:
    if chip.startswith("gfx") and rows > 64:
        pytest.skip("twice 64 KB of sums")
    a = rng.standard_normal((rows, 32)).astype(BF16)
    c = np.full((rows * rows // wide, wide), np.nan, np.float32)
    turned.options(device=f"emu:{chip}")(a, c, copies=copies, rows=rows, depth=32, wide=wide)
    x = a.astype(np.float64)
    assert np.abs(c - (x @ x.T + 1).T.reshape(c.shape)).max() <= 1e-3


@kiln.kernel
def in_trips(a: kiln.View, c: kiln.View, copies: kiln.constexpr):
    """Each trip exchanges, and so writes where others may have read the last one's."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4, copies=copies))
    total = kiln.zeros((32, 128), kiln.f32)
    for k in range(0, a.shape[1], 32):
        x = a.load((0, k), (64, 32))
        s = kiln.dot(x, x, transpose_b=True)
        total = total + s.T.reshape(32, 128)
    c.store((0, 0), total)


@pytest.mark.parametrize("copies", [2, 4])
@pytest.mark.parametrize("chip", CHIPS)
def test_exchanges_of_trips(rng, chip: str, copies: int) -> None:
    a = rng.standard_normal((64, 32 * int(rng.integers(1, 5)))).astype(BF16)
    c = np.full((32, 128), np.nan, np.float32)
    in_trips.options(device=f"emu:{chip}")(a, c, copies=copies)
    x = a.astype(np.float64)
    assert np.abs(c - (x @ x.T).T.reshape(c.shape)).max() <= 1e-3


@kiln.kernel
def lagging(a: kiln.View, c: kiln.View):
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4, copies=2, skew=1))
    total = kiln.zeros((32, 128), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=3):
        x = kiln.pin(a.load((0, k), (64, 32)), atom="cp_async")
        s = kiln.dot(x, x, transpose_b=True)
        total = total + s.T.reshape(32, 128)
    c.store((0, 0), total)


def test_copies_that_lag_exchange_nothing() -> None:
    a, c = np.zeros((64, 64), BF16), np.zeros((32, 128), np.float32)
    message = (
        "expected a role whose copies come to it together, since each takes what others have of a "
        'tensor, got role "all" with a skew of 1'
    )
    with pytest.raises(kiln.CompileError, match=message) as error:
        lagging.compile(a, c, target="nvptx:sm_80")
    assert error.value.line


@kiln.kernel
def grown(
    a: kiln.View, b: kiln.View, c: kiln.View,
    M: kiln.constexpr, N: kiln.constexpr, K: kiln.constexpr, copies: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], M), kiln.cdiv(c.shape[1], N))
    kiln.pin(roles=kiln.role("all", warps=4, copies=copies))
    acc = kiln.zeros((M, N), kiln.f32)
    for k in range(0, a.shape[1], K):
        x, y = a.load((i * M, k), (M, K)), b.load((k, j * N), (K, N))
        acc = kiln.dot(x, (y.T * 2.0).to(kiln.bf16), acc, transpose_b=True)
    c.store((i * M, j * N), acc + kiln.arange(M).to(kiln.f32)[:, None])


@pytest.mark.parametrize("copies", [2, 3])
@pytest.mark.parametrize(
    "M, N, K",
    [(96, 48, 32), (80, 48, 16), (48, 96, 48), (72, 40, 32), (64, 80, 16), (24, 24, 80)],
)
@pytest.mark.parametrize("chip", CHIPS)
def test_tiles_that_have_grown(rng, chip: str, M: int, N: int, K: int, copies: int) -> None:
    m, n, k = (int(rng.integers(1, 150)) for _ in range(3))
    a, b = rng.standard_normal((m, k)).astype(BF16), rng.standard_normal((k, n)).astype(BF16)
    c = np.full((m, n), np.nan, np.float32)
    grown.options(device=f"emu:{chip}")(a, b, c, M=M, N=N, K=K, copies=copies)
    want = 2 * a.astype(np.float64) @ b.astype(np.float64) + (np.arange(m) % M)[:, None]
    assert np.abs(c - want).max() <= 1e-2, (m, n, k)
