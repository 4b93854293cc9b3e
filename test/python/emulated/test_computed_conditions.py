"""Loops and conditions around rings that numbers of a role's own tensors decide, where it is the only
role: nobody else has to know. On emulated chips, against NumPy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
COPIES = {
    "sm_80": "cp_async", "sm_90a": "cp_async", "sm_100a": "cp_async", "gfx942": "load_to_lds",
    "gfx950": "load_to_lds",
}  # fmt: skip


@kiln.kernel
def until_large(
    x: kiln.View, c: kiln.View, counts: kiln.View, atom: kiln.constexpr, depth: kiln.constexpr,
    copies: kiln.constexpr,
):  # fmt: skip
    """Adds tiles until an element is 4 or more."""
    i = kiln.grid(x.shape[0] // 64)
    kiln.pin(roles=kiln.role("all", warps=4, copies=copies))
    acc, trips = kiln.zeros((64, 32), kiln.f32), 0
    largest = kiln.max(kiln.max(acc, axis=1), axis=0)
    while largest < 4.0:
        t = kiln.pin(x.load((i * 64, trips * 32), (64, 32)), atom=atom, depth=depth, ring="t")
        acc = acc + t.to(kiln.f32)
        largest = kiln.max(kiln.max(acc, axis=1), axis=0)
        trips += 1
    c.store((i * 64, 0), acc)
    counts[i] = trips


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("chip", COPIES)
def test_a_while_that_a_tensor_ends(rng: np.random.Generator, chip: str, copies: int) -> None:
    x = np.abs(rng.standard_normal((128, 1024)) / 4).astype(BF16)
    c, counts = np.zeros((128, 32), np.float32), np.zeros(2, np.int32)
    run = until_large.options(device=f"emu:{chip}")
    run(x, c, counts, atom=COPIES[chip], depth=int(rng.integers(1, 4)), copies=copies)
    for i in range(2):
        rows, acc, trips = x[64 * i : 64 * i + 64].astype(np.float32), np.zeros((64, 32), "f4"), 0
        while acc.max() < 4:
            acc += rows[:, 32 * trips : 32 * trips + 32]
            trips += 1
        assert counts[i] == trips
        np.testing.assert_allclose(c[64 * i : 64 * i + 64], acc, rtol=1e-6)


@kiln.kernel
def where_large(
    x: kiln.View, c: kiln.View, atom: kiln.constexpr, depth: kiln.constexpr, copies: kiln.constexpr
):  # fmt: skip
    """Tiles with an element above a half are loaded again, and their squares are added."""
    i = kiln.grid(x.shape[0] // 64)
    kiln.pin(roles=kiln.role("all", warps=4, copies=copies))
    acc = kiln.zeros((64, 32), kiln.f32)
    for p in range(0, x.shape[1], 32):
        t = kiln.pin(x.load((i * 64, p), (64, 32)), atom=atom, depth=depth, ring="t").to(kiln.f32)
        if kiln.max(kiln.max(t, axis=1), axis=0) > 0.5:
            u = kiln.pin(x.load((i * 64, p), (64, 32)), atom=atom, depth=1, ring="u")
            acc = acc + t * u.to(kiln.f32)
    c.store((i * 64, 0), acc)


@pytest.mark.parametrize("copies", [1, 2])
@pytest.mark.parametrize("chip", COPIES)
def test_a_condition_of_a_tensor(rng: np.random.Generator, chip: str, copies: int) -> None:
    x = (rng.standard_normal((128, 32 * int(rng.integers(1, 12)))) / 6).astype(BF16)
    c = np.zeros((128, 32), np.float32)
    run = where_large.options(device=f"emu:{chip}")
    run(x, c, atom=COPIES[chip], depth=int(rng.integers(1, 4)), copies=copies)
    tiles = x.astype(np.float64).reshape(2, 64, -1, 32).transpose(0, 2, 1, 3)
    large = (tiles.max(axis=(2, 3)) > 0.5)[:, :, None, None]
    np.testing.assert_allclose(c, (tiles**2 * large).sum(axis=1).reshape(128, 32), atol=1e-5)
