"""Loops whose bounds the compiler knows, of fewer trips than a ring's stages and of a last trip that
is not whole, on emulated chips, against float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import kiln

BF16 = ml_dtypes.bfloat16
COPIES = {
    "sm_80": ("cp_async", "through_registers"),
    "sm_90a": ("cp_async", "through_registers", "tma"),
    "gfx942": ("load_to_lds", "through_registers"),
    "gfx950": ("load_to_lds", "through_registers"),
    "gfx1201": ("through_registers",),
}


@kiln.kernel
def steps(
    a: kiln.View, c: kiln.View, start: kiln.constexpr, end: kiln.constexpr, step: kiln.constexpr,
    copy: kiln.constexpr, depth: kiln.constexpr, stage: kiln.constexpr,
):  # fmt: skip
    """The sum of tiles of 32 columns that begin at each of the steps."""
    kiln.grid(1)
    kiln.pin(roles=kiln.role("all", warps=4))
    s = kiln.zeros((64, 32), kiln.f32)
    for k in kiln.pin(range(start, end, step), depth=depth):
        x = kiln.pin(a.load((0, k), (64, 32)), atom=copy, stage=0)
        s = kiln.pin(s + x.to(kiln.f32), stage=stage)
    c.store((0, 0), s)


@kiln.kernel
def product(
    a: kiln.View, b: kiln.View, c: kiln.View, copy: kiln.constexpr, depth: kiln.constexpr,
    stage: kiln.constexpr,
):  # fmt: skip
    """c = a @ b, of an extent which, if it is 1, the compiler knows."""
    kiln.grid(1)
    s = kiln.zeros((64, 32), kiln.f32)
    for k in kiln.pin(range(0, b.shape[0], 32), depth=depth):
        x = kiln.pin(a.load((0, k), (64, 32)), atom=copy)
        y = kiln.pin(b.load((k, 0), (32, 32)), atom=copy)
        s = kiln.pin(s + kiln.dot(x, y), stage=stage)
    c.store((0, 0), s)


@pytest.mark.parametrize("chip", COPIES)
@pytest.mark.parametrize("copy", range(3))
def test_known_bounds(rng, chip: str, copy: int) -> None:
    if copy >= len(COPIES[chip]):
        pytest.skip("it has no such copies")
    copy = COPIES[chip][copy]
    a = rng.standard_normal((64, 512)).astype(BF16)
    for _ in range(3):
        stage = int(rng.integers(1, 4))
        depth = stage + (copy != "through_registers") + int(rng.integers(0, 2))
        start, step = 8 * int(rng.integers(0, 4)), 8 * int(rng.integers(1, 13))
        end = start + int(rng.integers(1, (stage + 1) * step))
        print(dict(start=start, end=end, step=step, depth=depth, stage=stage))
        c = np.zeros((64, 32), np.float32)
        steps.options(device=f"emu:{chip}")(
            a, c, start=start, end=end, step=step, copy=copy, depth=depth, stage=stage
        )
        wide = a.astype(np.float64)
        want = sum(wide[:, k : k + 32] for k in range(start, end, step))
        assert np.abs(c - want).max() <= 1e-4


@pytest.mark.parametrize("chip", COPIES)
def test_an_extent_of_one(rng, chip: str) -> None:
    for stage in (1, 2):
        a, b = (rng.standard_normal(shape).astype(BF16) for shape in ((64, 32), (1, 32)))
        c = np.zeros((64, 32), np.float32)
        product.options(device=f"emu:{chip}")(
            a, b, c, copy=COPIES[chip][0], depth=stage + 2, stage=stage
        )
        want = a[:, :1].astype(np.float64) @ b.astype(np.float64)
        assert np.abs(c - want).max() <= 1e-4
