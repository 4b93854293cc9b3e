"""Products that run on beside their warps and read from shared memory what warps compute: another role
makes it, or the product's own. On emulated chips, against float64; and what is refused."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16, F16, F32 = ml_dtypes.bfloat16, np.float16, np.float32
E4M3 = ml_dtypes.float8_e4m3fn
CHIPS = {"wgmma": "emu:sm_90a", "tcgen05": "emu:sm_100a"}


def wide(x: np.ndarray) -> np.ndarray:
    return x.astype(np.float64)


def assert_near(got: np.ndarray, want: np.ndarray, what: object, tolerance: float = 1e-5) -> None:
    error = np.linalg.norm(wide(got) - want)
    assert error <= tolerance * np.linalg.norm(want) + 1e-30, (error, what)


@kiln.kernel
def widened(
    x: kiln.View, w: kiln.View, s: kiln.View, c: kiln.View, atom: kiln.constexpr,
    maker: kiln.constexpr, makers: kiln.constexpr, copies: kiln.constexpr, tb: kiln.constexpr,
    flight: kiln.constexpr, depth: kiln.constexpr, BM: kiln.constexpr, BN: kiln.constexpr,
    BK: kiln.constexpr, precision: kiln.constexpr, persistent: kiln.constexpr,
):  # fmt: skip
    """Weights of a byte, widened and scaled, are operand b."""
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    load, mma = kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)
    if maker == "mma":
        kiln.pin(roles=(load, mma))
    else:
        kiln.pin(roles=(load, kiln.role("cast", warps=4, copies=makers), mma))
    if persistent:
        kiln.pin(persistent=(2, 1))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in kiln.pin(range(0, x.shape[1], BK), depth=depth):
        a = kiln.pin(x.load((i * BM, k), (BM, BK)), role="load", atom="tma")
        if tb:
            y = kiln.pin(w.load((j * BN, k), (BN, BK)), role="load", atom="tma")
            scale = s.load((j * BN,), (BN,))[:, None]
        else:
            y = kiln.pin(w.load((k, j * BN), (BK, BN)), role="load", atom="tma")
            scale = s.load((j * BN,), (BN,))[None, :]
        b = kiln.pin(y.to(x.dtype) * scale, role=maker)
        acc = kiln.pin(
            kiln.dot(a, b, acc, transpose_b=tb, precision=precision),
            role="mma", atom=atom, in_flight=flight,
        )  # fmt: skip
    kiln.pin(c.store((i * BM, j * BN), acc), role="mma")


@pytest.mark.parametrize("draw", range(4))
@pytest.mark.parametrize("maker", ["cast", "mma"])
@pytest.mark.parametrize("atom", ["wgmma", "tcgen05"])
def test_weights_that_are_widened(
    rng: np.random.Generator, atom: str, maker: str, draw: int
) -> None:
    dtype = (BF16, F16, F32)[rng.integers(3)]
    isOver = atom == "wgmma" and bool(draw % 2)
    copies = int(rng.integers(1, 3))
    tile = dict(
        atom=atom, maker=maker, makers=int(rng.integers(1, 3)), copies=copies,
        tb=dtype == F32 or bool(rng.integers(2)), flight=int(isOver),
        depth=int(rng.integers(1 + isOver, 4)), BM=(64 if atom == "wgmma" else 128) * copies,
        BN=int(rng.choice([32, 64])), BK=int(rng.choice([32, 64])),
        precision="tf32" if dtype == F32 else "ieee", persistent=bool(rng.integers(2)),
    )  # fmt: skip
    m, n, k = rng.integers(1, 300), 16 * rng.integers(1, 10), 64 * rng.integers(0, 4)
    x = rng.integers(-8, 9, (m, max(k, 64))).astype(dtype)[:, :k]
    w = rng.integers(-8, 9, (n, max(k, 64)) if tile["tb"] else (max(k, 64), n)).astype(np.int8)
    w = w[:, :k] if tile["tb"] else w[:k]
    s = rng.choice([0.5, 1, 2], n).astype(dtype)
    c = np.full((m, n), np.nan, F32)
    widened.options(device=CHIPS[atom])(x, w, s, c, **tile)
    y = wide(w if tile["tb"] else w.T) * wide(s)[:, None]
    assert_near(c, wide(x) @ y.T, (tile, m, n, k))


@kiln.kernel
def left(
    x: kiln.View, w: kiln.View, c: kiln.View, atom: kiln.constexpr, maker: kiln.constexpr,
    copies: kiln.constexpr, ta: kiln.constexpr, flight: kiln.constexpr, BM: kiln.constexpr,
):  # fmt: skip
    """What is computed is operand a, which is read from shared memory since that is said."""
    kiln.grid(1)
    load, mma = kiln.role("load", warps=4), kiln.role("mma", warps=4, copies=copies)
    if maker == "mma":
        kiln.pin(roles=(load, mma))
    else:
        kiln.pin(roles=(load, kiln.role("cast", warps=4), mma))
    acc = kiln.zeros((BM, 64), kiln.f32)
    for k in kiln.pin(range(0, w.shape[1], 64), depth=2):
        if ta:
            y = kiln.pin(x.load((k, 0), (64, BM)), role="load", atom="tma")
        else:
            y = kiln.pin(x.load((0, k), (BM, 64)), role="load", atom="tma")
        b = kiln.pin(w.load((0, k), (64, 64)), role="load", atom="tma")
        a = kiln.pin((y * 2.0 + 1.0).to(w.dtype), role=maker, residency="shared")
        acc = kiln.pin(
            kiln.dot(a, b, acc, transpose_a=ta, transpose_b=True),
            role="mma", atom=atom, in_flight=flight,
        )  # fmt: skip
    kiln.pin(c.store((0, 0), acc), role="mma")


@pytest.mark.parametrize("ta", [False, True])
@pytest.mark.parametrize("maker", ["cast", "mma"])
@pytest.mark.parametrize("atom", ["wgmma", "tcgen05"])
def test_the_first_operand_where_it_is_said(rng, atom: str, maker: str, ta: bool) -> None:
    copies = 1 if ta and maker == "mma" else int(rng.integers(1, 3))
    rows = (64 if atom == "wgmma" else 128) * copies
    k = 64 * int(rng.integers(1, 5))
    x = rng.integers(-8, 9, (k, rows) if ta else (rows, k)).astype(BF16)
    w, c = rng.integers(-8, 9, (64, k)).astype(BF16), np.full((rows, 64), np.nan, F32)
    flight = int(atom == "wgmma" and rng.integers(2))
    tile = dict(atom=atom, maker=maker, copies=copies, ta=ta, flight=flight, BM=rows)
    left.options(device=CHIPS[atom])(x, w, c, **tile)
    y = 2 * wide(x) + 1
    assert_near(c, (y.T if ta else y) @ wide(w).T, tile)


@kiln.kernel
def gathered(
    x: kiln.View, rows: kiln.View, pages: kiln.View, c: kiln.View, atom: kiln.constexpr,
    maker: kiln.constexpr, BM: kiln.constexpr,
):  # fmt: skip
    """Rows that a list names are operand b."""
    kiln.grid(1)
    load, mma = kiln.role("load", warps=4), kiln.role("mma", warps=4)
    if maker == "mma":
        kiln.pin(roles=(load, mma))
    else:
        kiln.pin(roles=(load, kiln.role("gather", warps=4), mma))
    a = kiln.pin(x.load((0, 0), (BM, 64)), role="load", atom="tma")
    for p in kiln.pin(range(0, pages.shape[0], 32), depth=2):
        at = pages.load((p,), (32,))
        b = kiln.pin(kiln.gather(rows, (at[:, None], kiln.arange(0, 64)[None, :])), role=maker)
        d = kiln.pin(
            kiln.dot(a, b, kiln.zeros((BM, 32), kiln.f32), transpose_b=True),
            role="mma", atom=atom, in_flight=0,
        )  # fmt: skip
        kiln.pin(c.store((0, p), d), role="mma")


@pytest.mark.parametrize("maker", ["gather", "mma"])
@pytest.mark.parametrize("atom", ["wgmma", "tcgen05"])
def test_rows_that_a_list_names(rng, atom: str, maker: str) -> None:
    m = 64 if atom == "wgmma" else 128
    x, rows = (rng.integers(-8, 9, (n, 64)).astype(BF16) for n in (m, 100))
    pages = rng.integers(0, 100, 32 * rng.integers(1, 5)).astype(np.int32)
    c = np.full((m, len(pages)), np.nan, F32)
    gathered.options(device=CHIPS[atom])(x, rows, pages, c, atom=atom, maker=maker, BM=m)
    assert_near(c, wide(x) @ wide(rows)[pages].T, (m, len(pages)))
