"""Kernels whose loads by an instruction read parts of views: rows that belong to one sequence."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
LOG2E = 1.4426950408889634


@kiln.kernel
def attention(
    q: kiln.View, k: kiln.View, v: kiln.View, ends: kiln.View, o: kiln.View, most: kiln.i32,
    ATOM: kiln.constexpr, COPIES: kiln.constexpr, D: kiln.constexpr = 64,
):  # fmt: skip
    """Causal, of sequences that lie behind one another: [rows, heads, D], and where each ends."""
    BM = 64 * COPIES
    i, h, s = kiln.grid(kiln.cdiv(most, BM), q.shape[1], ends.shape[0] - 1)
    kiln.pin(roles=kiln.role("all", warps=4, copies=COPIES))
    first, end = ends[s], ends[s + 1]
    n = end - first
    keys, values = k[first:end, h], v[first:end, h]
    queries = q[first:end, h].load((i * BM, 0), (BM, D))
    largest = kiln.full((BM,), -kiln.inf, kiln.f32)
    total = kiln.zeros((BM,), kiln.f32)
    acc = kiln.zeros((BM, D), kiln.f32)
    row = i * BM + kiln.arange(BM)
    for j in kiln.pin(range(0, kiln.minimum(n, (i + 1) * BM), 32), depth=2):
        x = kiln.pin(keys.load((j, 0), (32, D)), stage=0, atom=ATOM)
        y = kiln.pin(values.load((j, 0), (32, D)), stage=0, atom=ATOM)
        scores = kiln.pin(kiln.dot(queries, x, transpose_b=True), stage=1) * (D**-0.5 * LOG2E)
        column = j + kiln.arange(32)
        seen = (column[None, :] <= row[:, None]) & (column < n)[None, :]
        scores = kiln.where(seen, scores, -kiln.inf)
        now = kiln.maximum(largest, kiln.max(scores, axis=1))
        safe = kiln.where(now == -kiln.inf, 0.0, now)
        weights = kiln.exp2(scores - safe[:, None])
        old = kiln.exp2(largest - safe)
        total = total * old + kiln.sum(weights, axis=1)
        acc = kiln.pin(kiln.dot(weights.to(y.dtype), y, acc * old[:, None]), stage=1)
        largest = now
    o[first:end, h].store((i * BM, 0), (acc / total[:, None]).to(o.dtype))


@pytest.mark.parametrize(
    "chip, atom, copies",
    [("sm_80", "cp_async", 1), ("gfx942", "load_to_lds", 1), ("gfx942", "load_to_lds", 2),
     ("gfx950", "load_to_lds", 1), ("gfx1201", "through_registers", 1)],
)  # fmt: skip
def test_sequences_behind_one_another(rng, chip: str, atom: str, copies: int) -> None:
    ends = np.cumsum([0, 3, 0, 65, 100]).astype(np.int32)
    q, k, v = rng.standard_normal((3, ends[-1], 2, 64)).astype(BF16)
    o = np.full_like(q, np.nan)
    attention.options(device=f"emu:{chip}")(q, k, v, ends, o, 100, ATOM=atom, COPIES=copies)
    for first, end in zip(ends, ends[1:], strict=False):
        for h in range(2):
            x, y, z = (t[first:end, h].astype(np.float64) for t in (q, k, v))
            scores = np.where(np.tri(len(x), dtype=bool), x @ y.T / 8, -np.inf)
            weights = np.exp(scores - scores.max(axis=1, keepdims=True, initial=-1e9))
            want = weights / weights.sum(axis=1, keepdims=True) @ z
            difference = np.abs(o[first:end, h].astype(np.float64) - want)
            assert np.linalg.norm(difference) <= 1e-2 * np.linalg.norm(want)
            assert difference.max(initial=0) <= 0.1
