"""Loops of products whose tiles have room for one slot of a ring each: trips copy past the registers
what they read themselves. On emulated chips, against float64; and which proposal is taken for them."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def chained(x: kiln.View, w: kiln.View, u: kiln.View, v: kiln.View, o: kiln.View):
    """Three products of 128 by 128 a trip: three tiles of 32 KB."""
    i = kiln.grid(kiln.cdiv(o.shape[0], 128))
    t = x.load((i * 128, 0), (128, 128))
    acc = kiln.zeros((128, 128), kiln.f32)
    for h in range(0, w.shape[0], 128):
        p = kiln.dot(t, w.load((h, 0), (128, 128)), transpose_b=True)
        p = kiln.dot(p.to(kiln.bf16), u.load((h, 0), (128, 128)))
        acc = kiln.dot(p.to(kiln.bf16), v.load((h, 0), (128, 128)), acc)
    o.store((i * 128, 0), acc)


@kiln.kernel
def product(a: kiln.View, b: kiln.View, c: kiln.View):
    """Two tiles of 64 KB a trip."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 128))
    acc = kiln.zeros((128, 128), kiln.f32)
    for k in range(0, a.shape[1], 256):
        x, y = a.load((i * 128, k), (128, 256)), b.load((0, k), (128, 256))
        acc = kiln.dot(x, y, acc, transpose_b=True)
    c.store((i * 128, 0), acc)


def few(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Small numbers, whose sums of products bf16 has exactly where they are rounded."""
    return (rng.integers(-1, 2, shape) * (rng.random(shape) < 0.1)).astype(BF16)


@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_three_chained_products(rng: np.random.Generator, chip: str) -> None:
    rows, hidden = int(rng.integers(1, 200)), 128 * int(rng.integers(0, 4))
    x = few(rng, rows, 128)
    w, u, v = (few(rng, max(hidden, 128), 128)[:hidden] for _ in range(3))
    o = np.full((rows, 128), np.nan, np.float32)
    chained.options(device=f"emu:{chip}")(x, w, u, v, o)
    x, w, u, v = (t.astype(np.float64) for t in (x, w, u, v))
    want = np.zeros((rows, 128))
    for h in range(0, hidden, 128):
        p = (x @ w[h : h + 128].T).astype(BF16).astype(np.float64)
        p = (p @ u[h : h + 128]).astype(BF16).astype(np.float64)
        want += p @ v[h : h + 128]
    assert np.linalg.norm(o - want) <= 1e-5 * np.linalg.norm(want) + 1e-6


def test_a_few_words_are_no_reason_to_stand_still() -> None:
    """The loop as it stands keeps a few words less in local memory than the one with rings."""
    x, o = np.zeros((256, 128), BF16), np.zeros((256, 128), np.float32)
    compiled = chained.compile(x, x, x, x, o, target="nvptx:sm_80")
    assert compiled.metadata["proposal"] == 3
    assert compiled.metadata["shared_bytes"] >= 3 * 32768
    assert "cp.async" in compiled.asm


@pytest.mark.parametrize("chip", ["sm_80", "gfx950"])
def test_one_product(rng: np.random.Generator, chip: str) -> None:
    rows, k = int(rng.integers(1, 200)), 8 * int(rng.integers(1, 100))
    a, b = (rng.standard_normal((n, k)).astype(BF16) for n in (rows, 128))
    c = np.full((rows, 128), np.nan, np.float32)
    product.options(device=f"emu:{chip}")(a, b, c)
    want = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.linalg.norm(c - want) <= 1e-5 * np.linalg.norm(want)
