"""Roles of several copies, pinned in Python, on emulated chips, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def skewed(
    a: kiln.View, b: kiln.View, c: kiln.View,
    depth: kiln.constexpr, copy: kiln.constexpr, product: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4, copies=2, skew=1))
    acc = kiln.zeros((128, 64), kiln.f32)
    for k in kiln.pin(range(0, a.shape[1], 32), depth=depth):
        x = kiln.pin(a.load((0, k), (128, 32)), role="all", stage=0, atom=copy)
        y = kiln.pin(b.load((0, k), (64, 32)), role="all", stage=0, atom=copy)
        acc = kiln.pin(
            kiln.dot(x, y, acc, transpose_b=True), role="all", stage=depth - 1, atom=product
        )
    kiln.pin(c.store((0, 0), acc), role="all")


@pytest.mark.parametrize(
    "chip, copy, product",
    [
        ("sm_80", "cp_async", "mma_sync"),
        ("sm_90a", "cp_async", "mma_sync"),
        ("gfx942", "load_to_lds", "matrix"),
        ("gfx950", "load_to_lds", "matrix"),
    ],
)
def test_copies_lag(rng, chip: str, copy: str, product: str) -> None:
    k = 8 * int(rng.integers(0, 30))
    a, b = (rng.standard_normal((rows, k)).astype(BF16) for rows in (128, 64))
    c = np.zeros((128, 64), np.float32)
    skewed.options(device=f"emu:{chip}")(a, b, c, depth=2, copy=copy, product=product)
    reference = a.astype(np.float64) @ b.astype(np.float64).T
    assert np.linalg.norm(c - reference) <= 1e-6 * np.linalg.norm(reference), k
