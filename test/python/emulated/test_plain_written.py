"""Plain products both of whose operands are computed, on emulated chips: where writing one to shared
memory pays, products run on beside their warps all the same."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def touched(
    a: kiln.View, b: kiln.View, s: kiln.View, c: kiln.View, BM: kiln.constexpr, BN: kiln.constexpr,
    BK: kiln.constexpr, TA: kiln.constexpr, TB: kiln.constexpr, SCALED: kiln.constexpr,
):  # fmt: skip
    i, j = kiln.grid(kiln.cdiv(c.shape[0], BM), kiln.cdiv(c.shape[1], BN))
    acc = kiln.zeros((BM, BN), kiln.f32)
    for k in range(0, a.shape[0] if TA else a.shape[1], BK):
        x = a.load((k, i * BM), (BK, BM)) if TA else a.load((i * BM, k), (BM, BK))
        y = b.load((j * BN, k), (BN, BK)) if TB else b.load((k, j * BN), (BK, BN))
        x = kiln.maximum(x.to(kiln.bf16), 0)
        if SCALED:
            w = s.load((j * BN,), (BN,))
            y = (y.to(kiln.f32) * (w[:, None] if TB else w[None, :])).to(kiln.bf16)
        else:
            y = y.to(kiln.bf16) * 2
        acc = kiln.dot(x, y, acc, transpose_a=TA, transpose_b=TB)
    c.store((i * BM, j * BN), acc)


# By chip, the tiles by which a product of both runs on beside its warps.
BESIDE = {
    "sm_100a": [(128, 128, 64), (128, 256, 32), (256, 128, 64), (128, 64, 64)],
    "sm_90a": [],
}


@pytest.mark.parametrize("turn", range(6))
@pytest.mark.parametrize("chip", BESIDE)
def test_both_operands_are_computed(rng: np.random.Generator, chip: str, turn: int) -> None:
    BM, BN, BK = BESIDE["sm_100a"][turn % 4]
    TA, TB, SCALED = bool(turn % 3 == 2), bool(rng.integers(2)), bool(rng.integers(2))
    m, n, k = (16 * int(rng.integers(1, 20)) for _ in range(3))
    narrow = np.int8 if rng.integers(2) else BF16
    a, b = (rng.integers(-8, 9, shape).astype(narrow) for shape in ((m, k), (n, k)))
    a = np.ascontiguousarray(a.T) if TA else a
    b = b if TB else np.ascontiguousarray(b.T)
    s = (0.5 + rng.integers(0, 2, n)).astype(np.float32)
    c = np.full((m, n), np.nan, np.float32)
    constants = dict(BM=BM, BN=BN, BK=BK, TA=TA, TB=TB, SCALED=SCALED)
    target = f"emu:{chip}"
    made = touched.compile(a, b, s, c, target=target, _pipeline="stop-after=layout", **constants)
    if (BM, BN, BK) in BESIDE[chip] and not TA:
        assert "atom = #nvptx.tcgen05" in made.ir("layout"), constants
    touched.options(device=target)(a, b, s, c, **constants)
    x, y = (t.astype(np.float64) for t in (a.T if TA else a, b if TB else b.T))
    y = (y * s[:, None]).astype(BF16).astype(np.float64) if SCALED else 2 * y
    want = np.maximum(x, 0) @ y.T
    assert np.abs(c - want).max() <= 1e-5 * np.abs(want).max() + 1e-6, (m, n, k, constants)
