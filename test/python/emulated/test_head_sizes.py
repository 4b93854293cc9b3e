"""Attention over heads whose size is no power of two, and rows of odd lengths, on emulated chips,
against float64."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from chip_kernels import softmax

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
CHIPS = ["sm_80", "sm_90a", "gfx90a", "gfx942", "gfx950", "gfx1100", "gfx1201"]
TOLERANCE = {ml_dtypes.bfloat16: 6e-3, np.float16: 1e-3, np.float32: 2e-6}


@pytest.fixture
def attention(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    yield importlib.import_module("06_attention")
    sys.modules.pop("06_attention")


def check(got: np.ndarray, want: np.ndarray, tolerance: float) -> None:
    difference = np.abs(got.astype(np.float64) - want)
    norm = np.linalg.norm(want.ravel())
    assert np.linalg.norm(difference.ravel()) <= tolerance * norm
    assert difference.max() <= 32 * tolerance * norm / np.sqrt(want.size)


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("size", [80, 96, 192])
@pytest.mark.parametrize("causal", [False, True])
def test_attention(attention, chip: str, size: int, causal: bool, rng) -> None:
    """The tile is as wide as the head: what it is padded with is no part of any sum."""
    queries, keys = 37, 45
    dtype = ml_dtypes.bfloat16 if causal else np.float16
    q = rng.standard_normal((1, 2, queries, size)).astype(dtype)
    k, v = (rng.standard_normal((1, 1, keys, size)).astype(dtype) for _ in range(2))
    out = np.full_like(q, np.nan)
    scale = size**-0.5
    attention.attention(
        q, k, v, out, scale, CAUSAL=causal, D=size, BM=32, BN=32, _device=f"emu:{chip}"
    )
    check(out, attention.reference(q, k, v, scale, causal), TOLERANCE[dtype])


@pytest.mark.parametrize("chip", CHIPS)
@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("columns", [1, 3, 77, 80, 127, 192, 1000])
def test_rows_of_any_length(chip: str, dtype: type, columns: int, rng) -> None:
    """Tiles exactly as wide as the rows, whose starts are of any alignment."""
    x = rng.standard_normal((3, columns)).astype(dtype)
    y = np.full(x.shape, np.nan, dtype)
    softmax(x, y, N=columns, _device=f"emu:{chip}")
    e = np.exp(x.astype(np.float64) - x.astype(np.float64).max(axis=1, keepdims=True))
    check(y, e / e.sum(axis=1, keepdims=True), TOLERANCE[dtype])
