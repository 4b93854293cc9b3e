"""Roles of unlike copies: the one shares out rows of a tensor, the other columns. On emulated chips,
against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16


@kiln.kernel
def cross(
    a: kiln.View, c: kiln.View,
    makers: kiln.constexpr, users: kiln.constexpr, M: kiln.constexpr, how: kiln.constexpr,
):  # fmt: skip
    kiln.grid(1)
    kiln.pin(
        roles=(
            kiln.role("make", warps=4, copies=makers),
            kiln.role("use", warps=4, copies=users),
        )
    )
    x = kiln.pin(a.load((0, 0), (M, 32)), role="make")
    s = kiln.pin(kiln.dot(x, x, transpose_b=True), role="make")
    if how == "turned":
        kiln.pin(c.store((0, 0), (s + 1.0).T), role="use")
    elif how == "reshaped":
        kiln.pin(c.store((0, 0), kiln.pin(s.reshape(M * 2, M // 2), role="use")), role="use")
    else:
        t = kiln.pin(kiln.dot(s.to(kiln.bf16), s.to(kiln.bf16)), role="use")
        kiln.pin(c.store((0, 0), t), role="use")


@pytest.mark.parametrize("how", ["turned", "reshaped", "multiplied"])
@pytest.mark.parametrize("makers, users", [(2, 2), (2, 1), (1, 2), (2, 4), (4, 2), (3, 2), (2, 3)])
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_rows_against_columns(rng, chip: str, makers: int, users: int, how: str) -> None:
    M = 96 if 3 in (makers, users) and how != "reshaped" else 64
    a = (rng.integers(-2, 3, (M, 32)) / 4).astype(BF16)
    s = a.astype(np.float64) @ a.astype(np.float64).T
    low = s.astype(BF16).astype(np.float64)
    want = {"turned": (s + 1).T, "reshaped": s.reshape(M * 2, M // 2), "multiplied": low @ low}[how]
    c = np.full(want.shape, np.nan, np.float32)
    cross.options(device=f"emu:{chip}")(a, c, makers=makers, users=users, M=M, how=how)
    assert np.abs(c - want).max() <= 1e-2
