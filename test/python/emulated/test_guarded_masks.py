"""Masks of attention, as authors write them: only the trips that need one run it."""

import re

import ml_dtypes
import numpy as np
import pytest

import kiln

ROWS, KEYS, D = 128, 448, 64


@kiln.kernel
def attention(
    q: kiln.View, k: kiln.View, v: kiln.View, out: kiln.View, window,
    MASK: kiln.constexpr, WIDE: kiln.constexpr,
    BM: kiln.constexpr, BN: kiln.constexpr = 64,
):  # fmt: skip
    i = kiln.grid(kiln.cdiv(q.shape[0], BM))
    queries = q.load((i * BM, 0), (BM, 64))
    n, w = k.shape[0], window
    row = i * BM + n - q.shape[0] + kiln.arange(BM)[:, None]
    if not WIDE:
        n, w, row = n.to(kiln.i32), w.to(kiln.i32), row.to(kiln.i32)
    highest = kiln.full((BM,), -1e30, kiln.f32)
    total = kiln.zeros((BM,), kiln.f32)
    acc = kiln.zeros((BM, 64), kiln.f32)
    for j in range(0, k.shape[0], BN):
        score = kiln.dot(queries, k.load((j, 0), (BN, 64)), transpose_b=True) * 0.125
        first = j if WIDE else j.to(kiln.i32)
        key = first + kiln.arange(BN)[None, :]
        if MASK == "end":
            score = kiln.where(key < n, score, -1e30)
        elif MASK == "hidden":
            score = kiln.where((key >= n) | (key > row), -1e30, score)
        elif MASK == "apart":
            score = kiln.where(key < n, score, -1e30)
            score = kiln.where(key <= row, score, -1e30)
        elif MASK == "window":
            sees = (key < n) & (row - key < w) & (key <= row)
            score = kiln.where(sees, score, -1e30)
        most = kiln.maximum(highest, kiln.max(score, axis=1))
        p = kiln.exp(score - most[:, None])
        if MASK == "window":  # a row may see no key of a block yet
            p = kiln.where(sees, p, 0.0)
        shrink = kiln.exp(highest - most)
        total = total * shrink + kiln.sum(p, axis=1)
        acc = kiln.dot(p.to(v.dtype), v.load((j, 0), (BN, 64)), acc * shrink[:, None])
        highest = most
    out.store((i * BM, 0), (acc / total[:, None]).to(out.dtype))


def reference(q, k, v, sees):
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    score = np.where(sees, q @ k.T * 0.125, -np.inf)
    p = np.exp(score - score.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True) @ v


def count_loops(kernel):
    """Loops that carry the sums of the first copy of the computing role."""
    return len(re.findall(r"scf\.for .*tensor<\d+x64xf32", kernel.ir("schedule")))


@pytest.mark.parametrize(
    ("chip", "mask", "wide", "loops"),
    [
        ("sm_90a", "none", False, 1),
        ("sm_90a", "end", True, 2),
        ("sm_90a", "hidden", False, 2),
        ("sm_90a", "apart", False, 4),
        ("sm_90a", "apart", True, 4),
        ("sm_90a", "window", False, 3),
        ("sm_90a", "window", True, 3),
        ("sm_100a", "window", True, 3),
    ],
)
def test_only_the_trips_that_need_it_mask(chip, mask, wide, loops, rng):
    keys = KEYS if mask == "none" else KEYS - int(rng.integers(0, 64))
    window = int(rng.integers(1, 300))
    q = rng.standard_normal((ROWS, D)).astype(ml_dtypes.bfloat16)
    k, v = (rng.standard_normal((keys, D)).astype(ml_dtypes.bfloat16) for _ in range(2))
    out = np.empty((ROWS, D), ml_dtypes.bfloat16)
    constants = dict(MASK=mask, WIDE=wide, BM=ROWS)
    attention.options(device=f"emu:{chip}")(q, k, v, out, window, **constants)
    row, key = np.arange(ROWS)[:, None] + keys - ROWS, np.arange(keys)[None, :]
    sees = {
        "none": row >= 0,
        "end": row >= 0,
        "hidden": key <= row,
        "apart": key <= row,
        "window": (key <= row) & (row - key < window),
    }[mask]
    expected = reference(q, k, v, np.broadcast_to(sees, (ROWS, keys)))
    error = np.abs(out.astype(np.float64) - expected)
    assert np.linalg.norm(error) / np.linalg.norm(expected) < 8e-3
    assert error.max() < 3e-2 * np.abs(expected).max()
    compiled = attention.compile(q, k, v, out, window, target=f"nvptx:{chip}", **constants)
    assert count_loops(compiled) == loops
