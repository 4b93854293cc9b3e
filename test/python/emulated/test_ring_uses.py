"""Rings that random schedules (utils/fuzz schedules) found refused: tiles of which nobody says that
they share one and that cannot, and a tile that a mask changes in the last trip alone. On emulated
chips, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
OWN = {
    "sm_80": ("cp_async", "mma_sync"), "gfx942": ("through_registers", "matrix"),
    "gfx950": ("load_to_lds", "matrix"), "gfx1201": ("through_registers", "matrix"),
}  # fmt: skip


@kiln.kernel
def chained(
    q: kiln.View, k: kiln.View, v: kiln.View, c: kiln.View,
    copy: kiln.constexpr, product: kiln.constexpr, late: kiln.constexpr,
):  # fmt: skip
    """The loop says how deep its rings are, and nobody whether there is one: keys are read as they
    lie and values transposed, so on AMD's chips they lie otherwise in memory."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    kiln.pin(roles=kiln.role("all", warps=4))
    x = q.load((i * 64, 0), (64, 64))
    acc = kiln.zeros((64, 64), kiln.f32)
    for j in kiln.pin(range(0, k.shape[0], 32), depth=6):
        y = kiln.pin(k.load((j, 0), (32, 64)), atom=copy, stage=0)
        s = kiln.pin(kiln.dot(x, y, transpose_b=True), atom=product, stage=2)
        z = kiln.pin(v.load((j, 0), (32, 64)), atom=copy, stage=late)
        acc = kiln.pin(kiln.dot(s.to(kiln.bf16), z, acc), atom=product, stage=2)
    c.store((i * 64, 0), acc)


@pytest.mark.parametrize("late", [0, 1])
@pytest.mark.parametrize("chip", OWN)
def test_tiles_that_lie_otherwise(rng, chip: str, late: int) -> None:
    copy, product = OWN[chip]
    for trips in (1, 2, int(rng.integers(3, 7))):
        rows = int(rng.integers(1, 130))
        q, k, v = (
            rng.standard_normal((n, 64)).astype(BF16) for n in (rows, 32 * trips, 32 * trips)
        )
        c = np.full((rows, 64), np.nan, np.float32)
        chained.options(device=f"emu:{chip}")(q, k, v, c, copy=copy, product=product, late=late)
        x, y, z = (t.astype(np.float64) for t in (q, k, v))
        want = x @ y.T @ z
        assert np.abs(c - want).max() <= 2**-7 * (np.abs(x @ y.T) @ np.abs(z)).max(), (rows, trips)


@kiln.kernel
def segment(
    a: kiln.View, b: kiln.View, c: kiln.View, n: kiln.i32,
    copy: kiln.constexpr, product: kiln.constexpr, loader: kiln.constexpr,
):  # fmt: skip
    """Rows behind the last are masked, so the compiler asks in the last trip alone."""
    i = kiln.grid(kiln.cdiv(c.shape[0], 64))
    if loader:
        kiln.pin(roles=(kiln.role("load", warps=4), kiln.role("mma", warps=4)))
    else:
        kiln.pin(roles=kiln.role("mma", warps=4))
    acc = kiln.zeros((64, 64), kiln.f32)
    for t in kiln.pin(range(0, n, 32), depth=3):
        x, y = a.load((t, i * 64), (32, 64)), b.load((t, 0), (32, 64))
        kiln.pin(x, role="load" if loader else "mma", atom=copy)
        kiln.pin(y, role="load" if loader else "mma", atom=copy)
        inside = t.to(kiln.i32) + kiln.arange(32) < n
        x = kiln.where(inside[:, None], x, 0.0)
        acc = kiln.dot(x, y, acc, transpose_a=True)
        kiln.pin(acc, role="mma", atom=product)
        if product == "wgmma":
            kiln.pin(acc, in_flight=0)
    c.store((i * 64, 0), acc)


@pytest.mark.parametrize("chip", ["sm_90a", *OWN])
def test_a_mask_of_a_ring_s_tile(rng, chip: str) -> None:
    loader = chip == "sm_90a"
    copy, product = ("tma", "wgmma") if loader else OWN[chip]
    for n in (0, int(rng.integers(1, 32)), 32, int(rng.integers(33, 200))):
        m = 8 * int(rng.integers(1, 20))
        a, b = (rng.standard_normal((200, columns)).astype(BF16) for columns in (m, 64))
        c = np.full((m, 64), np.nan, np.float32)
        kernel = segment.options(device=f"emu:{chip}")
        kernel(a, b, c, n, copy=copy, product=product, loader=loader)
        want = a[:n].astype(np.float64).T @ b[:n].astype(np.float64)
        assert np.abs(c - want).max() <= 1e-3, (m, n)
